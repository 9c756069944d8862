"""The interface of methods, and what methods for tables share."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from cantle.drawing.counts import Dice
from cantle.drawing.group_frames import check_names
from cantle.drawing.records import Results
from cantle.errors import ParameterError, SchemaError
from cantle.methods.settings import Echo, echo
from cantle.schema.domain import Attribute, Domain, Steps
from cantle.schema.table import TableSchema
from cantle.trusted.core.budget import words_of
from cantle.trusted.core.curator import Curator

MOST_CLASSES = 1000
LEAST_NANO = 10_000
"""The smallest epsilon for a table, in nano-units per record of a unit.

A noisy number of records that gets 2 % of it has noise of scale five million. Noise of ten times that, about as many
records as can be drawn, occurs in one of 44,000 releases.
"""


class Method(Protocol):
    """One run of an algorithm: it sees public values and noisy answers, never a record.

    A new method is one file with such a class, named in `methods/catalogue.py`. Further attributes that a kind of data
    needs are declared where the data is opened: cantle.data.engines_for_tables.AsksTable, cantle.data.sets.AsksSets.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    """The kind of data that it publishes, as schemas name it."""
    Settings: ClassVar[type]
    """The frozen dataclass of its parameters (cantle.methods.settings)."""

    @classmethod
    def for_schema(cls, schema: Any, *, preset: str, **given: object) -> Self:
        """The method with its settings checked; raises an error for whatever can be refused without the data."""

    def parameters(self) -> Echo:
        """The value of every parameter, given or default; all are public."""

    def run(self, curator: Curator) -> None:
        """Asks the curator all questions, and keeps the noisy answers."""

    def results(self, dice: Dice, /) -> Results:
        """Records and groups, computed from the noisy answers alone."""


@runtime_checkable
class UsesDice(Protocol):
    """A method that uses public dice between its questions; their seed is set before the run."""

    seed: int


@runtime_checkable
class Authored(Protocol):
    """A method that is not ours: what releases say of its author's class."""

    author: dict[str, Any]


@runtime_checkable
class ChecksBudget(Protocol):
    """A method that cannot run with every epsilon, and refuses others before anything is charged."""

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:
        """Raises a ParameterError if the settings cannot be used with this epsilon and units of `max_records`
        records."""


class Configured:
    """The base class of methods: settings, which are public, and the name of the preset that they started from."""

    settings: Any
    preset: str

    def __init__(self, about: Any, *, preset: str = "default", **given: object) -> None:
        raise NotImplementedError

    @classmethod
    def for_schema(cls, schema: Any, *, preset: str, **given: object) -> Self:
        """The method for this schema, with its settings checked."""
        return cls(schema, preset=preset, **given)

    def parameters(self) -> Echo:
        """The value of every parameter, given or default."""
        return {"preset": self.preset, **echo(self.settings)}


class TableMethod(Configured):
    """The base class of methods for tables: the domain of the codes.

    The domain that the schema declares has one code per value; `Domain.coarsen` groups values into bins.
    """

    kind: ClassVar[str] = "table"
    predicts_numbers: ClassVar[bool] = False
    """Whether a target may be a number or date of any number of values."""
    keeps_weights: ClassVar[bool] = False
    """Whether weights stay with the records that have them."""
    domain: Domain

    @classmethod
    def for_schema(cls, schema: TableSchema, *, preset: str, **given: object) -> Self:
        """The method for the domain that the schema declares."""
        return cls(cls.declared(schema), preset=preset, **given)

    @classmethod
    def declared(cls, schema: TableSchema) -> Domain:
        """The domain that the schema declares, if its records can be released in groups."""
        domain = schema.domain()
        check_names(domain)
        if schema.weight is not None and not cls.keeps_weights:
            raise SchemaError(
                f"field {schema.weight}: this method does not keep weights with their records; use method mosaic, or "
                "leave out role: weight to publish it as any other column"
            )
        if domain.target and domain.target.size > MOST_CLASSES and not cls._predicts(domain.target):
            numeric = isinstance(domain.target.scale, Steps)
            fix = "use method mosaic, a wider step" if numeric else "use fewer categories"
            raise SchemaError(
                f"field {domain.target.name}: a target {'of this method ' * numeric}has at most {MOST_CLASSES} "
                f"classes, this one {domain.target.size}; {fix}, or drop role: target"
            )
        return domain

    @classmethod
    def _predicts(cls, target: Attribute) -> bool:
        return cls.predicts_numbers and isinstance(target.scale, Steps)

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:
        """Refuses an epsilon so small that noise alone may require more records than can be drawn."""
        if epsilon_nano < LEAST_NANO * max_records:
            of_a_unit = "" if max_records == 1 else f" for {max_records} records per person"
            raise ParameterError(
                f"epsilon is too small: a table needs at least {words_of(LEAST_NANO * max_records)}{of_a_unit}, or "
                "noise alone may require more records than can be drawn; raise epsilon"
            )

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of codes of each attribute."""
        return tuple(attribute.size for attribute in self.domain.attributes)

    @cached_property
    def classes(self) -> int:
        """The number of classes of the target; 1 without a target."""
        return self.domain.target.size if self.domain.target else 1
