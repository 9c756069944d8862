"""Releases of tables: how their records are stored, returned and described, how accurate they are, what they are good
for.

The last two follow from public numbers: the share of pairs of columns that were measured together, the strength of a
connection that may be missing, and noise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cantle.drawing.records import records_meant
from cantle.methods.own_error.accuracy import Accuracy, Pair, all_pairs, measured_pairs
from cantle.methods.own_error.table_workload import released_columns
from cantle.release.accuracy import DOUBT, ShareErrors, bound_of, noise_scale, share_errors
from cantle.release.answers.asking import bins_of
from cantle.release.kinds import DRAWN, Texts, worded
from cantle.release.manifest import Manifest
from cantle.release.schemas import domain_of, schema_as
from cantle.release.structures import traits_of
from cantle.release.words import Right, Uses, drawn_records, groups, points, printable, sentence
from cantle.schema.declared_values import plain
from cantle.schema.fields import DELIMITER, LIST, WRITING
from cantle.schema.items import parse_items
from cantle.schema.table import TableSchema

if TYPE_CHECKING:
    from cantle.release import Release
    from cantle.schema.canonical_json import JSON

WEAK = 0.15
"""A release is good for any two columns if connections that may be missing are at most this strong (Cramér's V)."""

STRONG = 0.4
"""A release does not know the pairs not measured together if connections stronger than this may be missing."""

FEW = 0.1
"""The share of all pairs below which nearly all pairs come out unrelated, unless the measured error is small."""

ROUGH = 0.05
"""The error of a share of 10 % above which pairs measured together are known without their fine detail."""

WEAKER = "Connections between columns tend to come out weaker than they are."
SCALE = "Cramér's V: 0 is none, 1 means that one column determines the other"


@dataclass(frozen=True)
class Connections:
    """What a release knows about the connections between its columns: the pairs measured together, and the error.

    `errors` is None if it was not measured. `by_tables` says that columns are related by noisy tables of pairs, not by
    regions over all columns.
    """

    columns: int
    has_target: bool
    by_tables: bool
    together: Collection[Pair]
    errors: ShareErrors | None
    detail: float | None
    """The error of a share of 10 % in two columns measured together, if that was measured by itself."""

    @staticmethod
    def of(manifest: Manifest) -> Connections:
        """The connections of a release."""
        every, together = pairs_of(manifest)
        errors = share_errors(manifest.accuracy, records_meant(manifest.summary))
        has_target = any(one.role == "target" for one in schema_as(manifest, TableSchema).fields)
        by_tables = "tables" in manifest.structure
        own = manifest.accuracy is not None and manifest.accuracy.together is not None
        detail = errors.together if own and errors is not None else None
        return Connections(len(frozenset().union(*every)), has_target, by_tables, together, errors, detail)

    @property
    def pairs(self) -> int:
        return self.columns * (self.columns - 1) // 2

    @property
    def missing(self) -> float:
        """The strength of a connection that may be missing between columns not measured together; 1 if unknown."""
        if len(self.together) == self.pairs:
            return 0.0
        return 1.0 if self.errors is None else self.errors.missing

    @property
    def are_lost(self) -> bool:
        """Whether nearly all pairs of columns come out unrelated."""
        few = self.by_tables and self.columns > 2 and len(self.together) < FEW * self.pairs
        return few and self.missing > WEAK

    @property
    def others(self) -> str:
        """The columns whose connections may be lost."""
        return "columns that were not measured together" if self.together else "columns"

    @property
    def in_words(self) -> str:
        """The pairs that were measured together."""
        hub = frozenset.intersection(*self.together)
        if len(self.together) == 1:
            return " and ".join(sorted(hub))
        if hub and len(self.together) == self.columns - 1:
            return f"each column with {next(iter(hub))}"
        return f"{len(self.together):,} of {self.pairs:,} pairs"


def pairs_of(manifest: Manifest) -> tuple[set[Pair], set[Pair]]:
    """All pairs of columns of a release of a table, and those that it measured together."""
    every = all_pairs(released_columns(domain_of(manifest)))
    return every, every & measured_pairs(manifest.structure)


# ---- sentences ------------------------------------------------------------------------------------------------


def rights(accuracy: Accuracy | None, released: int) -> list[Right]:
    """The measured errors of a share of 10 %."""
    if accuracy is None or not accuracy.bought:
        return []
    if (errors := share_errors(accuracy, released)) is not None:
        return list(_parts(accuracy, errors))
    if (one := accuracy.one_column) is None:
        return []
    bound = bound_of(one)  # of a table that has no other column
    return [Right(bound / max(1, released), "in one column", 2 * DOUBT * noise_scale(one) > bound)]


def _parts(accuracy: Accuracy, errors: ShareErrors) -> Iterator[Right]:
    if errors.one_column is not None:
        yield Right(errors.one_column, "in one column", "one_column" in errors.noisy)
    both = accuracy.together is not None and accuracy.apart is not None
    if not both:
        yield Right(errors.apart, "in two columns", "apart" in errors.noisy)
        return
    share = 100 * accuracy.pairs_together / max(1, accuracy.all_pairs)
    shown = f"{share:.0f}" if share >= 1 else f"{share:.1g}"
    measured = f"in two columns measured together ({shown} % of all pairs)"
    yield Right(errors.together, measured, "together" in errors.noisy)
    yield Right(errors.apart, "in other pairs", "apart" in errors.noisy)


def weaker(accuracy: Accuracy | None, released: int) -> str:
    """Says that connections come out weaker than they are, and by how much, if that was measured."""
    errors = share_errors(accuracy, released)
    if accuracy is None or errors is None:
        return f"{WEAKER} By how much was not measured."
    both = accuracy.apart is not None and accuracy.together is not None
    between = " between columns that were not measured together" if both else ""
    if errors.missing >= 1:
        return f"{WEAKER} Any connection{between} may be missing, however strong it is."
    strength = f"a strength of about {errors.missing:.2g} ({SCALE})"
    return f"{WEAKER} Connections{between} may be missing up to {strength}, and stronger ones of small groups."


# ---- the verdict ----------------------------------------------------------------------------------------------


def uses(known: Connections, released: int) -> Uses:
    """What the records are good for and what they are not good for."""
    bad = ["looking up or matching single records: they are made up"]
    if not released:
        return Uses(("nothing: no record was released",), tuple(bad))
    if known.errors is None and not known.by_tables:
        good = ["nothing that is known: how far the records are off was not measured"]
        return Uses(tuple(good), (*bad, *_lost(known)))
    one = None if known.errors is None else known.errors.one_column
    right = "how far they are off was not measured" if one is None else f"right to ±{points(one)} percentage points"
    good = [f"shares of one column: {right}"]
    if one is not None:
        sizes = groups(one, released, "records", "in one column")
        good, bad = [*good, *sizes.good], [*bad, *sizes.bad]
    if known.columns > 1:
        good, bad = [*good, *_kept(known)], [*bad, *_lost(known)]
    if known.columns > 3:
        bad.append("connections among four and more columns at once")
    return Uses(tuple(good), tuple(bad))


def _kept(known: Connections) -> Iterator[str]:
    """The connections between columns that a release is good for."""
    if known.missing <= WEAK:
        yield "tables of any two columns, for groups that are not small"
    elif known.together:
        yield f"tables of two columns that were measured together ({known.in_words})"


def _lost(known: Connections) -> Iterator[str]:
    """The connections between columns that a release has lost, or may have lost."""
    if known.missing > STRONG:
        yield f"connections between {known.others}: the release does not know them"
    elif known.missing > WEAK:
        yield (
            f"connections weaker than about {known.missing:.2g} ({SCALE}) between {known.others}: they may be missing"
        )
    if known.are_lost:
        yield "nearly all pairs of columns come out unrelated, whatever they were"
    if known.detail is not None and known.detail > ROUGH:
        yield f"fine detail of two columns: shares are right to ±{points(known.detail)} percentage points"


def notes(manifest: Manifest) -> tuple[str, ...]:
    """The notes of `note` for a release of a table; none for other kinds of data."""
    return () if traits_of(manifest).counted is None else tuple(note(Connections.of(manifest)))


def note(known: Connections) -> Iterator[str]:
    """A note for the person who publishes if nearly all connections between columns are lost."""
    if known.are_lost:
        or_target = "" if known.has_target else ". Or declare the column that matters most as the target"
        yield (
            "Nearly all pairs of columns come out unrelated, whatever they were: "
            f"only {len(known.together):,} of {known.pairs:,} pairs were measured together. To keep connections, "
            f"publish fewer columns; `cantle plan` says how many{or_target}."
        )


_NAMED = 8  # most columns that a sentence names


def _uses(release: Release) -> Uses:
    return uses(Connections.of(release.manifest), records_meant(release.manifest.summary))


def _texts(manifest: Manifest) -> Texts:
    traits, rules = traits_of(manifest), manifest.schema.get("rules")
    outcome = drawn_records(manifest, "record", traits.in_words)
    if isinstance(rules, list) and not traits.of_ranges:
        known = "the public rule" if len(rules) == 1 else f"any of the {len(rules)} public rules"
        outcome += f"\nNo released record breaks {known} in the schema, whatever the input records do."
    for one in schema_as(manifest, TableSchema).fields:
        if one.role == "weight":
            most = printable(plain(one.maximum))
            outcome += (
                f"\nColumn {printable(one.name)} holds weights: in weighted answers a record counts for up to {most}."
            )
    fields: list[JSON] = [
        one
        for declared in _published(manifest)
        for one in _in_files({key: declared[key] for key in declared if key not in WRITING})
    ]
    listed = "\n".join(f"- {printable(one['name'])}: {_values(one)}" for one in _published(manifest))
    described: dict[str, JSON] = {"schema": {"fields": fields, "missingValues": [""]}}
    errors = share_errors(manifest.accuracy, records_meant(manifest.summary))
    return Texts(
        outcome + traits.besides,
        DRAWN,
        f"Data sets of any number of records (also zero) with these public fields:\n{listed}",
        {"csv": described, "parquet": described},
        tuple(_accuracy(manifest)),
        None if errors is None else errors.together,
    )


def _accuracy(manifest: Manifest) -> Iterator[str]:
    """How accurate the release is: one sentence, and what else there is to say."""
    accuracy, meant = manifest.accuracy, records_meant(manifest.summary)
    yield sentence("A share of 10 %", accuracy, rights(accuracy, meant))
    if len(_published(manifest)) > 1:
        yield weaker(accuracy, meant)
    if accuracy is not None and accuracy.bought and (binned := bins_of(manifest)):
        what = f"All of this is about whole bins of {_named(list(map(str, binned)))}"
        yield f"{what}: which value inside its bin a record has is a guess."


def _named(columns: Sequence[str]) -> str:
    if len(columns) > _NAMED:
        return f"{len(columns)} columns"
    return f"column {columns[0]}" if len(columns) == 1 else f"columns {', '.join(columns)}"


def _published(manifest: Manifest) -> list[Mapping[str, JSON]]:
    """The declared columns without identifiers, as the schema writes them."""
    fields = manifest.schema["fields"]
    assert isinstance(fields, list)
    return [one for one in fields if isinstance(one, Mapping) and one.get("role") != "identifier"]


def _in_files(one: Mapping[str, JSON]) -> list[Mapping[str, JSON]]:
    """A field as other tools read the file: a place in two columns is two numbers, and lists have one delimiter."""
    columns, corners = one.get("columns"), one.get("bounds")
    if not isinstance(columns, list) or not isinstance(corners, list):
        return [{**one, "delimiter": DELIMITER} if one["type"] == LIST else one]
    ends = zip(columns, *(corner for corner in corners if isinstance(corner, list)), strict=True)
    return [
        {"name": name, "type": "number", "constraints": {"minimum": low, "maximum": high}} for name, low, high in ends
    ]


def _values(one: Mapping[str, JSON]) -> str:
    bounds = one.get("constraints")
    bounds = bounds if isinstance(bounds, Mapping) else {}
    text, listed = str(one["type"]), one.get("categories") or bounds.get("enum")
    if isinstance(listed, list):
        text += f", {len(listed)} categories"
    elif "minimum" in bounds and "maximum" in bounds:
        text += f", {printable(bounds['minimum'])} to {printable(bounds['maximum'])}"
    elif isinstance(corners := one.get("bounds"), list):
        ends = (" ".join(map(printable, corner)) for corner in corners if isinstance(corner, list))
        text += f", latitude and longitude from {' to '.join(ends)}"
    elif one["type"] == LIST:
        most = f", at most {printable(one['max_items'])} in each" if "max_items" in one else ""
        text += f" of {parse_items(one['items']).size} items{most}"
    if "step" in one:
        text += f", in steps of {printable(one['step'])}"
    if "multipleOf" in bounds:
        text += f", multiples of {printable(bounds['multipleOf'])}"
    return f"{text} ({one['role']})" if "role" in one else text


KIND = worded("table", _uses, _texts)
