"""Releases of degree sequences: how degrees are stored, returned and described."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from cantle.drawing.counts import Dice
from cantle.drawing.records import csv_of, give_back
from cantle.drawing.results import Results
from cantle.errors import VerifyError
from cantle.release.manifest import Manifest
from cantle.release.words import declared_names, write_plain
from cantle.schema.graph import GraphSchema

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

UNSAID: dict[str, JSON] = {}
FORMATS: tuple[str, ...] = ("csv", "parquet")
NOUN, RECORD, RECORDS = "a graph", "record", "degrees, one per node"
PRODUCT, BARE = "Summary statistics", "Statistics"
COUNTED, PART, COLUMNS = "nodes", "degree", ""
ONE_NUMBER = False
NOISE_NOTE = "the interval covers the noise in the counts, not what the bound on degrees removed or the fit changed"
MADE = "the degree sequence of a graph, made from noisy counts"


def default_format(manifest: Manifest) -> str:  # noqa: ARG001
    return "csv"


def require_format(schema: GraphSchema, asked: str) -> None:
    """Accepts every format: degrees can be stored in all of them, whatever the schema."""


def column_types(manifest: Manifest) -> dict[str, pl.DataType]:  # noqa: ARG001
    import polars as pl

    return {"degree": pl.Int64()}


def write(frame: pl.DataFrame, path: Path, data: str, manifest: Manifest) -> None:
    write_plain(frame, path, data, manifest)


def read(path: Path, stored: str, manifest: Manifest, schema: GraphSchema) -> pl.DataFrame:  # noqa: ARG001
    import polars as pl

    return pl.read_parquet(path) if stored == "parquet" else pl.read_csv(path, schema=column_types(manifest))


def as_text(frame: pl.DataFrame, manifest: Manifest) -> str:  # noqa: ARG001
    return csv_of(frame)


def number_of(frame: pl.DataFrame, manifest: Manifest) -> int:  # noqa: ARG001
    return len(frame)


def given_back(results: Results, form: dict[str, str], schema: GraphSchema) -> Drawn | NativeFrame:  # noqa: ARG001
    return results.drawn


def in_frame(frame: pl.DataFrame, kind: str, manifest: Manifest) -> NativeFrame:  # noqa: ARG001
    return give_back(frame, kind)


def attributes(schema: GraphSchema) -> dict[str, Attribute]:  # noqa: ARG001
    return {}


def code_reader(frame: pl.DataFrame, manifest: Manifest, schema: GraphSchema) -> Callable[[Key], Codes]:  # noqa: ARG001
    return lambda _: frame["degree"].to_numpy()


def broken_rules(frame: pl.DataFrame, manifest: Manifest, schema: GraphSchema) -> Iterator[str]:  # noqa: ARG001
    """Schemas of graphs have no rules."""
    return iter(())


def own_questions(frame: pl.DataFrame, release: Release, schema: GraphSchema, dice: Dice) -> NoReturn:  # noqa: ARG001
    raise VerifyError("release.json states an accuracy, which is not measured for graphs")


def pairs_of(release: Release) -> tuple[set[Pair], set[Pair]]:  # noqa: ARG001
    return set(), set()


def column_lines(
    frame: pl.DataFrame,  # noqa: ARG001
    manifest: Manifest,  # noqa: ARG001
    schema: GraphSchema,  # noqa: ARG001
    everything: bool = True,  # noqa: ARG001
) -> Iterator[str]:
    """The method shows the degrees."""
    return iter(())


def redraw(frame: pl.DataFrame, n: int, dice: Dice, manifest: Manifest) -> pl.DataFrame:  # noqa: ARG001
    return frame[np.sort(dice.integers(0, max(1, len(frame)), n if len(frame) else 0))]


def accuracy_sentence(manifest: Manifest) -> str:  # noqa: ARG001
    return ""


def more_accuracy(manifest: Manifest) -> Iterator[str]:  # noqa: ARG001
    """The error of degrees is not measured."""
    return iter(())


def verdict_notes(release: Release) -> Iterator[str]:  # noqa: ARG001
    """Notes on graphs follow from the summary alone (interfaces/notes.py)."""
    return iter(())


def uses(release: Release) -> Uses:
    from cantle.release import graph_verdict  # which imports the kinds of data

    return graph_verdict.uses(release)


def outcome(manifest: Manifest, regions: str) -> str:
    how = fitted(manifest) or "degrees are drawn inside these ranges at random"
    counts = f"A sequence of {manifest.summary['records']:,} degrees, made from the noisy counts of {regions}"
    return f"{counts}. {how[0].upper()}{how[1:]}.\nNo edge is released.{_number_of_nodes(manifest)}{_guessed(manifest)}"


def _number_of_nodes(manifest: Manifest) -> str:
    """A sentence about how far the released number of nodes may be off, if it was measured."""
    error = manifest.summary.get("nodes_error", 0)
    if not error:
        return ""
    number = manifest.summary["records"]
    said = f"The number of nodes, {number:,}, is noisy: in about 19 of 20 releases the noise is at most {error:,}."
    lost = "Nodes without edges are missing too, and so are nodes that lost all their edges to the bound on degrees."
    return f"\n{said}" + ("" if manifest.summary["nodes_listed"] else f" {lost}")


def _guessed(manifest: Manifest) -> str:
    """A sentence that says that the largest degrees are a guess, because degrees were counted only up to the bound."""
    number, bound = manifest.summary.get("guessed", 0), manifest.summary["theta"]
    if not number:
        return ""
    what = f"{number} degrees above {bound} are a guess" if number > 1 else f"The degree above {bound} is a guess"
    return f"\n**{what}**: degrees were counted up to {bound}; of larger ones only the noisy number of edges is known."


def fitted(manifest: Manifest) -> str:
    ranges = "leaves" in manifest.summary
    if ranges and manifest.parameters["preset"] != "paper":
        return ""
    how = "nodes have the lowest degree of their range" if ranges else "degrees are fitted to the noisy counts"
    return f"{how}; nothing is drawn at random"


def described(manifest: Manifest, stored: str) -> dict[str, JSON]:  # noqa: ARG001
    return {"schema": {"fields": [{"name": "degree", "type": "integer"}]}}


def data_domain(manifest: Manifest) -> str:
    return f"All undirected graphs without loops on public names of nodes ({declared_names(manifest, 'nodes')})."
