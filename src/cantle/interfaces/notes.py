"""Notes for the person who publishes: the release may be too noisy, or the data may not fit the schema.

Notes are made from public input and from released values, so they cost nothing and reveal nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cantle.drawing.records import ITEMS_WANTED, MOST_ITEMS, RECORDS_WANTED, Drawn, Results, share_drawn
from cantle.schema import Schema

NONE = 200
"""Records times epsilon below which the number of records itself is mostly noise."""

SMALL = 1_000
"""Records times epsilon below which a table's columns are known roughly at best."""

NEEDS_TARGET = 10_000
"""Records times epsilon below which a column without a target may come out unrelated to the rest."""

MOST_MISSING = 0.5


@dataclass(frozen=True)
class Run:
    """What is known of a run: `strength` is records times epsilon, divided by the records per person."""

    schema: Any
    method: str
    results: Results
    strength: float

    @property
    def summary(self) -> dict[str, int]:
        return self.results.summary

    @property
    def records(self) -> int:
        return self.summary["records"]

    @property
    def noun(self) -> str:
        """What a record is called."""
        return {"sets": "set", "sequences": "sequence"}.get(self.schema.kind, "record")


def notes_of(schema: Schema, method: str, results: Results, epsilon: float, persons: int) -> tuple[str, ...]:
    """All notes; `persons` is the number of records per person, by which the noise grows."""
    run = Run(schema, method, results, results.summary["records"] * epsilon / persons)
    return tuple(note for look in KINDS[schema.kind] for note in look(run))


def _nothing(run: Run) -> Iterator[str]:
    if not run.records:
        yield (
            "Nothing was released: no count stood out from the noise. "
            "Check whether the schema fits the data, or raise epsilon."
        )


def _fewer_drawn(run: Run) -> Iterator[str]:
    """A note if fewer records were drawn than were counted."""
    if (share := share_drawn(run.summary)) == 1:
        return
    if ITEMS_WANTED in run.summary:
        wanted = f"{run.summary[ITEMS_WANTED]:,} items, and a release holds at most {MOST_ITEMS:,}"
        advice = "If the data has fewer items, epsilon is too small for it."
    else:
        most = f"{run.records:,} are the most that a release of this table holds"
        wanted = f"{run.summary[RECORDS_WANTED]:,} records, and {most}"
        advice = "If the data has fewer records, these settings leave little but noise: raise epsilon, or make fewer "
        advice += "regions."
    yield (
        f"The noisy counts call for {wanted}: each released {run.noun} stands for {1 / share:.3g} {run.noun}s. "
        f"Multiply counts by that; `cantle query` does so. {advice}"
    )


def _fewer_nodes(run: Run) -> Iterator[str]:
    """A note if fewer degrees were drawn than nodes were counted."""
    if "nodes_wanted" in run.summary:
        yield (
            f"The noisy counts call for {run.summary['nodes_wanted']:,} nodes, more than a release holds: "
            f"{run.records:,} degrees stand for them. If the graph has fewer nodes, epsilon is too small for it."
        )


def _noise_alone(run: Run) -> Iterator[str]:
    """A note if the released records may be nothing but noise."""
    if run.method != "diffpart" and 0 < run.strength < NONE:
        yield (
            f"Noise alone may make as many {run.noun}s as were released. Either the data is tiny for this epsilon, or "
            "hardly any item fits the schema."
        )


def _unlisted(run: Run) -> Iterator[str]:
    """A note if a list of the nodes would help: without one, their number is known only through their edges."""
    summary, asked = run.summary, run.schema.unit == "node" and run.schema.node_count is None
    if asked and not summary.get("nodes_listed", 1):
        error = f": it may be off by about {summary['nodes_error']:,}" if "nodes_error" in summary else ""
        yield (
            "No list of the nodes was given, so nodes were counted by their edges. That needs more noise than counting "
            f"a list{error}. Nodes without edges are missing, and so are nodes whose edges were all removed by the "
            "bound on degrees: many, if most neighbours of a hub have no other edge. If you have a list of the nodes, "
            "give it with --nodes (in Python: nodes=…)."
        )


def _strength(run: Run) -> Iterator[str]:
    """A note if there are few records for this amount of noise."""
    if run.strength < NONE:
        yield (
            f"Only {run.records:,} records were released, and noise alone may make as many. Either the data is tiny "
            "for this epsilon, or hardly any record fits the schema: a record without a required value is dropped. "
            "Check names, categories, bounds and formats."
        )
    elif run.strength < SMALL:
        yield (
            "The table is small for this epsilon: single columns are known roughly, and most connections between "
            f"columns are lost. Records times epsilon is {run.strength:,.0f}; a table is small below {SMALL:,}. Use "
            "more records, a higher epsilon, or fewer and coarser columns."
        )


def _missing(run: Run) -> Iterator[str]:
    """A note about columns that are mostly null in the release."""
    drawn = run.results.drawn
    if not isinstance(drawn, Drawn) or not drawn.records:
        return
    for attribute, codes in zip(drawn.attributes, drawn.codes, strict=True):
        share = np.count_nonzero(codes == attribute.grid) / drawn.records if attribute.nullable else 0.0
        if share > MOST_MISSING:
            yield (
                f"Column {attribute.name}: {100 * share:.0f} % of the released values are missing. If the data has "
                "more values than that, they do not fit the schema: check type, format, categories and their case."
            )


def _no_target(run: Run) -> Iterator[str]:
    if run.method == "mosaic" and run.schema.target is None and run.strength < NEEDS_TARGET:
        yield (
            "No column is declared as the target (role: target). In a table of this size a column may come out "
            "unrelated to the others. Declare the column that matters most as the target: its connection with each of "
            "the others is then measured."
        )


def _no_order(run: Run) -> Iterator[str]:
    """A note about sequences if it is not known well which symbol follows which."""
    from cantle.methods.journeys.model.questions import SMALL_LOG  # other releases load no model of sequences

    if run.records and run.summary["order"] == 1:
        yield (
            "No order of symbols was measured: the sequences are too few for this epsilon. The release knows lengths "
            "and how frequent symbols are, but not which symbol follows which."
        )
    elif run.strength < SMALL_LOG:
        yield (
            f"No order of symbols was measured well: sequences times epsilon is {run.strength:,.0f}, and a log is "
            f"small below {SMALL_LOG:,}. Which symbol follows which is known roughly at best; use more sequences, a "
            "higher epsilon, or fewer symbols."
        )


KINDS: dict[str, tuple[Callable[[Run], Iterator[str]], ...]] = {
    "table": (_strength, _fewer_drawn, _missing, _no_target),
    "sets": (_nothing, _fewer_drawn, _noise_alone),
    "sequences": (_nothing, _fewer_drawn, _noise_alone, _no_order),
    "graph": (_nothing, _fewer_nodes, _unlisted),
    "families": (_strength, _fewer_drawn),
}
"""For each kind of data its notes."""
