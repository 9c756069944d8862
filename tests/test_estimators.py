"""The estimator shape: parameters, fit, sample."""

from __future__ import annotations

import pytest

import cantle
from cantle.errors import ParameterError
from tests.release.people import SCHEMA, people


@pytest.mark.parametrize("kind", [cantle.RPS, cantle.DiffGen])
def test_fit_publishes_with_the_given_parameters(kind: type) -> None:
    estimator = kind(epsilon=2, records=400)
    assert estimator.get_params() == {"epsilon": 2, "records": 400}
    assert estimator.set_params(epsilon="0.5") is estimator
    assert repr(estimator) == f"{kind.__name__}(epsilon='0.5', records=400)"
    with pytest.raises(ParameterError, match="call fit first"):
        estimator.sample(3)
    release = estimator.fit(people(), SCHEMA).release_
    assert release.manifest.method == kind.method
    assert release.manifest.epsilon == "0.5"
    assert release.manifest.parameters["records"] == 400
    assert len(estimator.sample(7)) == 7


def test_unknown_parameters_are_refused_by_fit() -> None:
    with pytest.raises(ParameterError, match="no parameter"):
        cantle.RPS(dept=3).fit(people(5), SCHEMA)
