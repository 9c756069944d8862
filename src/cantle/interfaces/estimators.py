"""The methods for tables as scikit-learn estimators: parameters, `fit`, `sample`, and for DiffGen `transform`.

They follow scikit-learn's rules, so that `clone`, `Pipeline` and `ColumnTransformer` can use them: every parameter is a
keyword of `__init__` and kept as given, and the names of attributes that `fit` sets end in an underscore. They do not
import scikit-learn.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import polars as pl

from cantle.data.frames import as_frame, as_polars, collected, unreadable
from cantle.errors import ParameterError
from cantle.interfaces.opening import preflight
from cantle.interfaces.publishing import EngineName, MethodName, PresetName, carry_out
from cantle.release import Release
from cantle.release.schemas import schema_as
from cantle.release.structures.cells import generalise
from cantle.schema import Schema, as_schema
from cantle.schema.table import TableSchema

if TYPE_CHECKING:
    import numpy.typing as npt
    from sklearn.utils import Tags

    from cantle.data.frames import NativeFrame
    from cantle.trusted.ledger import Ledger


class MisusedEstimator(ParameterError, ValueError):
    """A parameter that an estimator does not have, or a call before `fit`: scikit-learn expects a ValueError."""


@dataclass(eq=False, repr=False, kw_only=True)
class Publisher:
    """The base class of the estimators: shared parameters, `fit` and `sample`."""

    method: ClassVar[MethodName]
    schema: Schema | Mapping[str, object] | str | os.PathLike[str] | None = field(default=None, kw_only=False)
    epsilon: float | str | Fraction = 1.0
    preset: PresetName = "default"
    engine: EngineName = "memory"
    ledger: Ledger | str | os.PathLike[str] | None = None
    dataset: str | None = None
    insecure_seed: int | None = None
    release_: Release = field(init=False)

    def fit(self, X: object, y: Iterable[object] | None = None) -> Self:
        """Publishes the table; spends epsilon every time it is called.

        Parameters
        ----------
        X : data frame or path
            The private table, with the columns that the schema declares.
        y : array, optional
            The target, if the schema declares one and X does not hold it. Ignored if the schema declares none.

        Returns
        -------
        The estimator itself; its attribute `release_` holds released values only.
        """
        if self.schema is None:
            raise ParameterError(f"{type(self).__name__} needs a schema: {type(self).__name__}(schema=...)")
        schema, shared = as_schema(self.schema), Publisher._names()
        given = {name: value for name, value in self.get_params().items() if name not in shared and value is not None}
        order = preflight(
            _with_target(X, y, schema.target),
            schema,
            epsilon=self.epsilon,
            method=self.method,
            preset=self.preset,
            engine=self.engine,
            ledger=self.ledger,
            dataset=self.dataset,
            insecure_seed=self.insecure_seed,
            parameters=given,
        )
        self.release_ = carry_out(order)
        return self

    def sample(self, n: int, *, seed: int | None = None, where: str | None = None) -> NativeFrame:
        """Draws n more synthetic records from the release, all of which satisfy the question `where`, if one is given.
        Sampling does not use any privacy budget."""
        return self._fitted().sample(n, seed=seed, where=where)

    def get_params(self, deep: bool = True) -> dict[str, object]:  # noqa: ARG002
        """Every parameter by name, as it was given."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **given: object) -> Self:
        """Changes parameters; unknown ones are refused."""
        for name in given:
            if name not in self._names():
                known = ", ".join(self._names())
                raise MisusedEstimator(f"{type(self).__name__} has no parameter {name!r}; use one of {known}")
        for name, value in given.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self._shown().items())})"

    def _shown(self) -> dict[str, str]:
        """The parameters that differ from the default, as text."""
        usual = {name: one.default for name, one in inspect.signature(type(self)).parameters.items()}
        given = {name: value for name, value in self.get_params().items() if repr(value) != repr(usual[name])}
        hidden = ("schema", "ledger")  # long, and perhaps with a password in its URL
        return {name: "..." if name in hidden else repr(value) for name, value in given.items()}

    def _repr_html_(self) -> str:
        """The parameters that differ from the default, and after `fit` the main facts of the release."""
        from cantle.schema.taxonomy import table

        given = table(f"cantle {type(self).__name__}", self._shown().items())
        return given + (self.release_._repr_html_() if hasattr(self, "release_") else "")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "release_")

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer" if hasattr(self, "transform") else None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            input_tags=InputTags(categorical=True, string=True, allow_nan=True),
        )

    def _fitted(self) -> Release:
        if not hasattr(self, "release_"):
            raise MisusedEstimator("nothing was published yet; call fit first")
        return self.release_

    @classmethod
    def _names(cls) -> list[str]:
        return list(inspect.signature(cls).parameters)


@dataclass(eq=False, repr=False, kw_only=True)
class Mosaic(Publisher):
    """Publishes a table by noisy tables of the columns that belong together: the default method of `cantle.publish`.

    Parameters
    ----------
    schema : Schema, dict or path
        What is public about the table.
    epsilon : number, text or Fraction
        The whole privacy budget of one call of `fit`.
    accuracy_share
        The share of epsilon with which the release measures its own error; None means 1/25.
    preset, engine, ledger, dataset, insecure_seed
        As in `cantle.publish`.

    Attributes
    ----------
    release_ : Release
        What was published.

    Examples
    --------
    >>> import polars as pl
    >>> schema = {"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}]}
    >>> estimator = Mosaic(schema, epsilon=2, insecure_seed=1).fit(pl.DataFrame({"age": [31, 42, 42, 58] * 50}))
    >>> estimator.release_.epsilon, estimator.sample(3, seed=1).shape
    (2.0, (3, 1))
    """

    method: ClassVar[MethodName] = "mosaic"

    accuracy_share: float | str | Fraction | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class RPS(Publisher):
    """Publishes a table by recursive partitioning (Qardaji and Li 2012).

    Parameters
    ----------
    schema : Schema, dict or path
        What is public about the table.
    epsilon : number, text or Fraction
        The whole privacy budget of one call of `fit`.
    preset : {"default", "paper"}
        The method as improved here, or as it was published.
    depth, attributes, quality, stop, bins, values, records, accuracy_share, …
        All parameters of the method (docs/reference.md); None leaves the choice to the preset.
    engine, ledger, dataset, insecure_seed
        As in `cantle.publish`.

    Attributes
    ----------
    release_ : Release
        What was published.

    Examples
    --------
    >>> import polars as pl
    >>> schema = {"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}]}
    >>> estimator = RPS(schema, epsilon=2, insecure_seed=1).fit(pl.DataFrame({"age": [31, 42, 42, 58] * 50}))
    >>> estimator.release_.epsilon, estimator.sample(3, seed=1).shape
    (2.0, (3, 1))
    """

    method: ClassVar[MethodName] = "rps"

    depth: int | str | None = None
    attributes: str | None = None
    cuts: str | None = None
    quality: str | None = None
    stop: str | None = None
    skip: int | None = None
    leaf_share: float | str | Fraction | None = None
    oneway_share: float | str | Fraction | None = None
    count_share: float | str | Fraction | None = None
    stop_share: float | str | Fraction | None = None
    levels: str | None = None
    summary: str | None = None
    label: str | None = None
    values: str | None = None
    consistency: bool | None = None
    bins: int | None = None
    order: str | None = None
    order_seed: int | None = None
    records: int | str | None = None
    literal: bool | None = None
    accuracy_share: float | str | Fraction | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class DiffGen(Publisher):
    """Publishes a table whose generalised records train classifiers (Mohammed et al. 2011). It is a transformer.

    `transform` generalises any table with the released cuts: each value becomes the number of its group, so that any
    classifier can be the next step of a pipeline. Its result is NOT PRIVATE, because it is derived from its input
    without noise; neither is a model that later steps of a pipeline learn from the private table. To train a model
    under the promise of the release, use `release_.records`, or `release_.generalised()` with test data from
    `release_.generalise(X)`, which both have labels. Every call of `fit` spends epsilon; `cross_val_score` makes one
    per fold.

    Parameters
    ----------
    schema : Schema, dict or path
        What is public about the table; its target, if it declares one, guides the cuts.
    epsilon : number, text or Fraction
        The whole privacy budget of one call of `fit`.
    preset : {"default", "paper"}
        The method as improved here, or as it was published.
    rounds, cells, score, objective, records, accuracy_share, …
        All parameters of the method (docs/reference.md); None leaves the choice to the preset.
    engine, ledger, dataset, insecure_seed
        As in `cantle.publish`.

    Attributes
    ----------
    release_ : Release
        What was published.

    Examples
    --------
    >>> import polars as pl
    >>> schema = {"fields": [
    ...     {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99, "required": True}},
    ...     {"name": "ill", "type": "string", "categories": ["no", "yes"], "role": "target"},
    ... ]}
    >>> ages, ill = pl.DataFrame({"age": [25, 70] * 200}), ["no", "yes"] * 200
    >>> estimator = DiffGen(schema, epsilon=5, rounds=1, insecure_seed=1).fit(ages, ill)
    >>> estimator.transform(ages.head(2))["age"].n_unique(), estimator.get_feature_names_out().tolist()
    (2, ['age'])
    """

    method: ClassVar[MethodName] = "diffgen"

    rounds: int | str | None = None
    cells: int | str | None = None
    score: str | None = None
    objective: str | None = None
    structure_share: float | str | Fraction | None = None
    count_share: float | str | Fraction | None = None
    oneway_share: float | str | Fraction | None = None
    records: int | str | None = None
    literal: bool | None = None
    accuracy_share: float | str | Fraction | None = None

    def transform(self, X: object) -> NativeFrame:
        """The table with every value replaced by the number of its group; NOT PRIVATE.

        Parameters
        ----------
        X : data frame or path
            A table with the columns of the schema; the target may be missing, and is left out.

        Returns
        -------
        A data frame of the same library as X, with one row per record and one column of floats per feature: the groups
        of a column are 0, 1, 2 and so on in its order. A value that the schema drops has no group (null).
        """
        return generalise(self._fitted(), X, target=False, numbered=True)

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:  # noqa: ARG002
        """The names of the columns that `transform` returns."""
        attributes = schema_as(self._fitted().manifest, TableSchema).domain().attributes
        return np.array([attribute.name for attribute in attributes], dtype=object)


def _with_target(X: object, y: Iterable[object] | None, target: str | None) -> object:
    """The table with its target, which scikit-learn passes separately."""
    if y is None or target is None:
        return X
    if isinstance(X, str | os.PathLike):
        raise ParameterError("y is given, but X is a path; put the target into the file, and leave out y")
    with unreadable("X cannot be read; give a pandas, polars or pyarrow frame."):
        frame = collected(as_frame(X))
    if target in frame.columns:
        raise ParameterError(f"the target {target!r} is given twice: as y and as a column of X; leave one out")
    values = list(y)
    if len(values) != len(frame):
        raise ParameterError("X and y have different numbers of records; give one value of y per record of X")
    # As Python objects, values are read one by one. A library would choose a type from all values, or quote one it
    # refuses.
    if frame.implementation.is_pandas_like():
        objects = np.fromiter(values, dtype=object, count=len(values))
        return frame.to_native().assign(**{target: objects})  # assigned by position, whatever the index is
    whole = pl.DataFrame([as_polars(column) for column in frame.iter_columns()])
    return whole.with_columns(pl.Series(target, values, dtype=pl.Object))
