"""Notes for the person who publishes: the release may be too noisy, or the data may not fit the schema.

Notes are made from public input and from released values, so they cost nothing and reveal nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle.drawing.records import ITEMS_WANTED, MOST_ITEMS, RECORDS_WANTED, Drawn, share_drawn
from cantle.drawing.results import Results
from cantle.schema import Schema

if TYPE_CHECKING:
    from cantle.schema.graph import GraphSchema
    from cantle.schema.sets import SetSchema
    from cantle.schema.table import TableSchema

NONE = 200
"""Records times epsilon below which the number of records itself is mostly noise."""

SMALL = 1_000
"""Records times epsilon below which a table's columns are known roughly at best."""

NEEDS_TARGET = 10_000
"""Records times epsilon below which a column without a target may come out unrelated to the rest."""

MOST_MISSING = 0.5
MOST_FILLED_IN = 0.5


def notes_of(schema: Schema, method: str, results: Results, epsilon: float, persons: int) -> tuple[str, ...]:
    """All notes; `persons` is the number of records per person, by which the noise grows."""
    strength = results.summary["records"] * epsilon / persons
    return tuple(KINDS[schema.kind](schema, method, results, strength))


def _of_table(schema: TableSchema, method: str, results: Results, strength: float) -> Iterator[str]:
    yield from _strength(results.summary["records"], strength)
    yield from _fewer_records(results.summary)
    yield from _missing(results.drawn)
    if method == "mosaic" and schema.target is None:
        yield from _no_target(strength)


def _of_sets(schema: SetSchema, method: str, results: Results, strength: float) -> Iterator[str]:  # noqa: ARG001
    yield from _nothing(results.summary["records"])
    yield from _thinned(results.summary)
    if method == "baskets":
        yield from _noise_alone(strength)
    yield from _filled_in(results.summary)


def _of_graph(schema: GraphSchema, method: str, results: Results, strength: float) -> Iterator[str]:  # noqa: ARG001
    yield from _nothing(results.summary["records"])
    yield from _fewer_nodes(results.summary)
    if schema.unit == "node" and schema.node_count is None:
        yield from _unlisted(results.summary)


KINDS: dict[str, Callable[[Any, str, Results, float], Iterator[str]]] = {
    "table": _of_table,
    "sets": _of_sets,
    "graph": _of_graph,
}
"""For each kind of data its notes, from schema, method, results, and records times epsilon."""


def _nothing(records: int) -> Iterator[str]:
    if not records:
        yield (
            "Nothing was released: no count stood out from the noise. "
            "Check whether the schema fits the data, or raise epsilon."
        )


def _thinned(summary: dict[str, int]) -> Iterator[str]:
    """A note if fewer records were drawn than were counted."""
    share = share_drawn(summary)
    if share < 1:
        yield (
            f"The noisy counts call for {summary[ITEMS_WANTED]:,} items, and a release holds at most {MOST_ITEMS:,}: "
            f"each released set stands for {1 / share:.3g} sets. Multiply counts by that; `cantle query` does so. "
            "If the data has fewer items, epsilon is too small for it."
        )


def _fewer_records(summary: dict[str, int]) -> Iterator[str]:
    """A note if fewer records of a table were drawn than were counted."""
    share = share_drawn(summary)
    if share < 1:
        yield (
            f"The noisy counts call for {summary[RECORDS_WANTED]:,} records, and {summary['records']:,} are the most "
            f"that a release of this table holds: each released record stands for {1 / share:.3g} records. Multiply "
            "counts by that; `cantle query` does so. If the data has fewer records, these settings leave little but "
            "noise: raise epsilon, or make fewer regions."
        )


def _fewer_nodes(summary: dict[str, int]) -> Iterator[str]:
    """A note if fewer degrees were drawn than nodes were counted."""
    if "nodes_wanted" in summary:
        yield (
            f"The noisy counts call for {summary['nodes_wanted']:,} nodes, more than a release holds: "
            f"{summary['records']:,} degrees stand for them. If the graph has fewer nodes, epsilon is too small for it."
        )


def _noise_alone(strength: float) -> Iterator[str]:
    """A note if the released sets may be nothing but noise."""
    if 0 < strength < NONE:
        yield (
            "Noise alone may make as many sets as were released. Either the data is tiny for this epsilon, or hardly "
            "any item fits the schema."
        )


def _filled_in(summary: dict[str, int]) -> Iterator[str]:
    """A note if most records of diffpart were drawn for groups of items that were too small to cut further."""
    share = summary.get("refilled", 0) / max(1, summary["records"])
    if share > MOST_FILLED_IN:
        yield (
            f"{100 * share:.0f} % of the records are filled in at random: the sets that they stand for are too rare "
            "to be counted at this epsilon. Method baskets keeps items, pairs and sizes of such data."
        )


def _unlisted(summary: dict[str, int]) -> Iterator[str]:
    """A note if a list of the nodes would help: without one, their number is known only through their edges."""
    if not summary.get("nodes_listed", 1):
        error = f": it may be off by about {summary['nodes_error']:,}" if "nodes_error" in summary else ""
        yield (
            "No list of the nodes was given, so nodes were counted by their edges. That needs more noise than counting "
            f"a list{error}. Nodes without edges are missing, and so are nodes whose edges were all removed by the "
            "bound on degrees: many, if most neighbours of a hub have no other edge. If you have a list of the nodes, "
            "give it with --nodes (in Python: nodes=…)."
        )


def _strength(records: int, strength: float) -> Iterator[str]:
    """A note if there are few records for this amount of noise."""
    if strength < NONE:
        yield (
            f"Only {records:,} records were released, and noise alone may make as many. Either the data is tiny for "
            "this epsilon, or hardly any record fits the schema: a record without a required value is dropped. "
            "Check names, categories, bounds and formats."
        )
    elif strength < SMALL:
        yield (
            "The table is small for this epsilon: single columns are known roughly, and most connections between "
            f"columns are lost. Records times epsilon is {strength:,.0f}; a table is small below {SMALL:,}. Use more "
            "records, a higher epsilon, or fewer and coarser columns."
        )


def _missing(drawn: object) -> Iterator[str]:
    """A note about columns that are mostly null in the release."""
    if not isinstance(drawn, Drawn) or not drawn.records:
        return
    for attribute, codes in zip(drawn.attributes, drawn.codes, strict=True):
        share = np.count_nonzero(codes == attribute.grid) / drawn.records if attribute.nullable else 0.0
        if share > MOST_MISSING:
            yield (
                f"Column {attribute.name}: {100 * share:.0f} % of the released values are missing. If the data has "
                "more values than that, they do not fit the schema: check type, format, categories and their case."
            )


def _no_target(strength: float) -> Iterator[str]:
    if strength < NEEDS_TARGET:
        yield (
            "No column is declared as the target (role: target). In a table of this size a column may come out "
            "unrelated to the others. Declare the column that matters most as the target: its connection with each of "
            "the others is then measured."
        )
