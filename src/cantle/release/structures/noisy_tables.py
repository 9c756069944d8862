"""Noisy tables over cells of columns, as releases of tables and of families hold them: their checks, lines and report.

`structure.tables` in release.json says what each was measured for, and `tables.parquet` has the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from math import prod

import numpy as np
import polars as pl

from cantle.errors import VerifyError, raise_alone
from cantle.methods.mosaic.model.answers import LIST_PAIRS
from cantle.methods.words import question_in_words
from cantle.release import Release
from cantle.release.document_fields import Document
from cantle.release.structures.checks import rate_paid
from cantle.schema.domain import Domain
from cantle.trusted.geometry.grid import are_edges

_MOST_LINES = 20  # tables that are shown, unless all are requested


def cells_cover(stated: Mapping[str, Sequence[int]], domain: Domain) -> bool:
    """Whether the edges of cells by column are those of all columns of a domain, and cover each once, in order."""
    sizes = {one.name: one.size for one in domain.attributes}
    edges = {name: np.array(some, dtype=np.int64) for name, some in stated.items()}
    return set(edges) == set(sizes) and all(are_edges(edges[name], size) for name, size in sizes.items())


def table_problems(release: Release, sizes_of: Callable[[Document], Mapping[str, int]]) -> Iterator[str]:
    """Checks that the tables are those that were paid for, and that each has its shape; `sizes_of` says how many codes
    the columns of a table have."""
    stated = release.manifest.structure["tables"]
    yield from table_rates(release, stated)
    tables = {number: frame for (number,), frame in release.frames["tables"].group_by("table")}
    if not set(tables) <= set(range(len(stated))) or len(stated) != release.manifest.summary["tables"]:
        raise VerifyError("there are other noisy tables than stated")
    for number, about in enumerate(stated):
        yield from shape_problems(number, about, tables.get(number), sizes_of(about))


def table_rates(release: Release, stated: Sequence[Document]) -> Iterator[str]:
    """Checks that the measurements of noisy tables are in the order of their charges, with the noise that was paid
    for."""
    charges = [charge for charge in release.manifest.receipt.charges() if charge.verb == "measure"]
    runs = [why for why, _ in groupby(about["why"] for about in stated)]
    if runs != [charge.why for charge in charges]:
        raise VerifyError("the noisy tables are not those that the receipt paid for")
    paid = {charge.why: rate_paid(charge) for charge in charges}
    for why, num, den in release.frames["tables"].select("why", "rate_num", "rate_den").unique().rows():
        if paid.get(why) != (num, den):
            yield f"the noise of {why!r} is not what the receipt paid for"


def shape_problems(number: int, about: Document, frame: pl.DataFrame | None, sizes: Mapping[str, int]) -> Iterator[str]:
    """Checks that a table lists every cell once, in order, and that frequent values reached their threshold."""
    listed = np.zeros(0, np.int64) if frame is None else frame["cell"].to_numpy()
    if frame is not None and set(frame["why"].to_list()) != {about["why"]}:
        yield f"noisy table {number} does not say what it was measured for"
    if "at_least" in about:
        if (np.diff(listed) <= 0).any() or (listed < 0).any() or (listed >= sizes[about["column"]]).any():
            yield f"noisy table {number} does not list values of its column in order"
        elif frame is not None and (frame["noisy"] < min(about["at_least"])).any():
            yield f"noisy table {number} lists a value below the threshold"
        return
    if not np.array_equal(listed, np.arange(len(listed))):
        yield f"noisy table {number} does not list every cell once in order"
    elif "columns" in about or "of" in about:
        names, edges = about.get("columns") or about.get("by") or [], about.get("edges") or []
        good = len(edges) == len(names)
        good &= all(are_edges(np.array(e), sizes[name]) for e, name in zip(edges, names, strict=False))
        if not good or len(listed) != _rows(about) * prod(len(edge) - 1 for edge in edges):
            yield f"noisy table {number} does not have the cells it states"
    elif "tree" in about and len(listed) % sum("leaf" in node for node in about["tree"]):
        yield f"noisy table {number} does not have the leaves it states"


def _rows(about: Document) -> int:
    """How many times a table has the cells of its columns: for each item of lists, each two of them, or each size."""
    number = len(about.get("of", []))
    if not number:
        return 1
    if about["why"] == LIST_PAIRS:
        return number * (number - 1) // 2
    return len(about["sizes"]) if "sizes" in about else number


@contextmanager
def refusing_other_forms() -> Iterator[None]:
    """Raises a VerifyError instead of whatever error tables of another form lead to."""
    try:
        yield
    except (VerifyError, MemoryError):
        raise
    except Exception as error:
        raise_alone(VerifyError(f"the noisy tables are not of the expected form ({type(error).__name__})"))


def in_words(about: Document) -> str:
    """What a table is over: its columns with the numbers of their cells, or the column whose values it lists."""
    if "of" in about:
        by = "".join(f", by {name}" for name in about.get("by", []))
        return f"{about['of'][0]} and so on ({len(about['of'])} items{by})"
    if "columns" not in about:
        return str(about["column"])
    shape = " x ".join(str(len(edges) - 1) for edges in about["edges"])
    return f"{', '.join(about['columns'])} ({shape})" if about["columns"] else "all"


def table_lines(said: Sequence[tuple[str, str]], everything: bool) -> list[str]:
    """A line for each table: what it was measured for, and what it is over."""
    lines = [f"{question_in_words(why)}: {words}" for why, words in said]
    left = len(lines) - _MOST_LINES
    return lines if everything or left < 2 else [*lines[:_MOST_LINES], f"… and {left:,} more; see them with --all"]


def spreads(release: Release, parts_of: Callable[[Document], int] = lambda _: 1) -> Iterator[tuple[str, str]]:
    """What each table was measured for, and how far 95 of 100 of its counts are off; a record counts so many parts."""
    rates = release.frames["tables"].group_by("table", maintain_order=True).first()
    noise = {row["table"]: row["rate_den"] / max(1, row["rate_num"]) for row in rates.iter_rows(named=True)}
    for number, about in enumerate(release.manifest.structure["tables"]):
        spread = f"±{3 * noise[number] / parts_of(about):,.0f}" if number in noise else ""
        yield question_in_words(about["why"]), spread
