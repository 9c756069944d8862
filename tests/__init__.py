"""All tests. This runs before numpy is imported, and so decides how many threads its linear algebra has."""

import os

# The last digits of sums depend on the number of threads. It would be one in processes that inherit the setting, and
# that of the machine in others. Threads of scikit-learn would also wait for one another in busy loops.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[_name] = "1"
