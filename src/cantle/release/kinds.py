"""The differences between releases of tables, sets and graphs: one module per kind of data, by its name in schemas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from cantle.drawing.counts import Dice
from cantle.drawing.results import Results
from cantle.release import graphs, sets, tables
from cantle.release.manifest import Manifest

if TYPE_CHECKING:
    import polars as pl

    from cantle.data.frames import NativeFrame
    from cantle.drawing.records import Drawn
    from cantle.methods.own_error.measured_pairs import Pair
    from cantle.release import Release
    from cantle.release.verdict_words import Uses
    from cantle.schema.canonical_json import JSON
    from cantle.schema.code_sets import Key
    from cantle.schema.domain import Attribute
    from cantle.trusted.core.arrays import Codes
    from cantle.trusted.geometry.workloads import SetWorkload, TableWorkload

    Workload = TableWorkload | SetWorkload

Kind = TypeVar("Kind", contravariant=True)


class ReleasedKind(Protocol[Kind]):
    """What the module of a kind of data provides; `Kind` is the type of its schema."""

    @property
    def FORMATS(self) -> tuple[str, ...]:  # noqa: N802 - constants of the module, as those below
        """The formats in which records can be stored."""

    @property
    def NOUN(self) -> str: ...  # noqa: N802

    @property
    def RECORD(self) -> str:  # noqa: N802
        """The unit of the promise where the receipt says `record`."""

    @property
    def RECORDS(self) -> str:  # noqa: N802
        """The noun after the number of records in an overview."""

    @property
    def PRODUCT(self) -> str:  # noqa: N802
        """The type of data product in the registry."""

    @property
    def BARE(self) -> str:  # noqa: N802
        """The product in a word, for releases that promise nothing."""

    @property
    def MADE(self) -> str:  # noqa: N802
        """How {n} records were made, for the registry."""

    @property
    def COUNTED(self) -> str:  # noqa: N802
        """What a count counts: records, sets or nodes."""

    @property
    def PART(self) -> str:  # noqa: N802
        """What a question names, in the singular: a column, an item or a degree."""

    @property
    def UNSAID(self) -> dict[str, JSON]:  # noqa: N802
        """Keys of the schemas of releases that were made before cantle wrote them."""

    @property
    def ONE_NUMBER(self) -> bool:  # noqa: N802
        """Whether one number about a release's own error is measured where three are too many."""

    @property
    def NOISE_NOTE(self) -> str:  # noqa: N802
        """What an interval covers if the error of the released records was not measured."""

    @property
    def COLUMNS(self) -> str:  # noqa: N802
        """The title of what `column_lines` shows; empty if it shows nothing."""

    def default_format(self, manifest: Manifest) -> str:
        """The format of records if none is requested."""

    def require_format(self, schema: Kind, asked: str) -> None:
        """Refuses a format that the schema does not allow."""

    def column_types(self, manifest: Manifest) -> dict[str, pl.DataType]:
        """The types of the columns of records, in their order."""

    def write(self, frame: pl.DataFrame, path: Path, data: str, manifest: Manifest) -> None:
        """Writes the records in a format."""

    def read(self, path: Path, stored: str, manifest: Manifest, schema: Kind) -> pl.DataFrame:
        """The records of a saved release, in the shape in which they were released."""

    def as_text(self, frame: pl.DataFrame, manifest: Manifest) -> str:
        """Records as lines to print."""

    def number_of(self, frame: pl.DataFrame, manifest: Manifest) -> int:
        """The number of records."""

    def accuracy_sentence(self, manifest: Manifest) -> str:
        """The accuracy in one sentence; empty for kinds of data whose error is not measured."""

    def more_accuracy(self, manifest: Manifest) -> Iterator[str]:
        """What else the statement says about accuracy."""

    def verdict_notes(self, release: Release) -> Iterator[str]:
        """Notes for the person who publishes about what the release has lost."""

    def uses(self, release: Release) -> Uses:
        """What a release is good for, and what it is not good for."""

    def given_back(self, results: Results, form: dict[str, str], schema: Kind) -> Drawn | NativeFrame:
        """The records in the form and the kind of frame of the input."""

    def in_frame(self, frame: pl.DataFrame, kind: str, manifest: Manifest) -> NativeFrame:
        """Drawn records in another kind of frame."""

    def attributes(self, schema: Kind) -> dict[str, Attribute]:
        """The columns of a table by name; other kinds of data have none."""

    def code_reader(self, frame: pl.DataFrame, manifest: Manifest, schema: Kind) -> Callable[[Key], Codes]:
        """A function that gives the codes of released records in the columns that questions name."""

    def broken_rules(self, frame: pl.DataFrame, manifest: Manifest, schema: Kind) -> Iterator[str]:
        """Sentences about the rules of the schema that released records break."""

    def own_questions(self, frame: pl.DataFrame, release: Release, schema: Kind, dice: Dice) -> Workload | None:
        """The questions that these dice draw for the released records, whose error a release measures; None if there is
        none."""

    def pairs_of(self, release: Release) -> tuple[set[Pair], set[Pair]]:
        """All pairs of columns of a table, and those that were measured together; none of other kinds of data."""

    def column_lines(
        self, frame: pl.DataFrame, manifest: Manifest, schema: Kind, everything: bool = True
    ) -> Iterator[str]:
        """The released records as small bars; without `everything`, only the first ones of many columns."""

    def redraw(self, frame: pl.DataFrame, n: int, dice: Dice, manifest: Manifest) -> pl.DataFrame:
        """n records drawn from the released ones, with replacement."""

    def outcome(self, manifest: Manifest, regions: str) -> str:
        """The sentence of the statement that says what was released."""

    def fitted(self, manifest: Manifest) -> str:
        """A sentence about how records follow from the noisy counts, if none is drawn at random; otherwise empty."""

    def described(self, manifest: Manifest, stored: str) -> dict[str, JSON]:
        """The schema of the data file in datapackage.json."""

    def data_domain(self, manifest: Manifest) -> str:
        """A description of all data sets that the schema allows, for the registry."""


KINDS: dict[str, ReleasedKind[Any]] = {"table": tables, "sets": sets, "graph": graphs}


def accuracy_lines(manifest: Manifest) -> list[str]:
    """All sentences about the accuracy of a release; none for kinds of data whose error is not measured."""
    kind = KINDS[manifest.kind]
    return [line for line in (kind.accuracy_sentence(manifest), *kind.more_accuracy(manifest)) if line]
