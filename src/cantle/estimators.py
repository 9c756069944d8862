"""The methods in the shape of scikit-learn estimators, for those who like it: parameters, `fit`, `sample`."""

from __future__ import annotations

from typing import Any, ClassVar

from cantle._publish import MethodName, publish
from cantle.errors import ParameterError
from cantle.release import Release


class Publisher:
    """Publishes with one method; `release_` holds released values only."""

    method: ClassVar[MethodName]

    def __init__(self, epsilon: Any = 1.0, **parameters: Any) -> None:
        self.epsilon = epsilon
        self.parameters = parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Every keyword that was given."""
        return {"epsilon": self.epsilon, **self.parameters}

    def set_params(self, **given: Any) -> Publisher:
        """Changes keywords; unknown ones are refused by `fit`."""
        self.epsilon = given.pop("epsilon", self.epsilon)
        self.parameters.update(given)
        return self

    def fit(self, data: Any, schema: Any) -> Publisher:
        """Publishes the data: spends epsilon, every time it is called."""
        self.release_: Release = publish(data, schema, epsilon=self.epsilon, method=self.method, **self.parameters)
        return self

    def sample(self, n: int, *, seed: int | None = None) -> Any:
        """More synthetic records from the release; costs nothing."""
        if not hasattr(self, "release_"):
            raise ParameterError("nothing was published yet; call fit first")
        return self.release_.sample(n, seed=seed)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({given})"


class RPS(Publisher):
    """Tables by balanced partitioning (Qardaji and Li 2012)."""

    method: ClassVar[MethodName] = "rps"


class DiffGen(Publisher):
    """Tables that train classifiers (Mohammed et al. 2011)."""

    method: ClassVar[MethodName] = "diffgen"
