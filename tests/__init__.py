"""All tests. This runs before numpy is imported, and so decides how many threads its linear algebra has."""

import os

# Records do not depend on the number of threads (tests/architecture/test_same_sums.py). But threads of scikit-learn and
# of several workers of pytest would wait for one another in busy loops.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[_name] = "1"
