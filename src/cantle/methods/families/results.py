"""A release of families as frames: the noisy answers, the cells of the columns, and the drawn families.

Families are one frame: a row per parent, and its children as a list in a column with the name of their table. Both
linked tables follow from it (`linked`), with keys from 1 on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from cantle.drawing.counts import Dice
from cantle.drawing.linked_frames import joined
from cantle.drawing.records import RECORDS_WANTED, Results
from cantle.drawing.records import Drawn as Written
from cantle.methods.families.layout import Layout
from cantle.methods.families.model.draw import Drawn, in_order
from cantle.methods.mosaic.model.answers import NoisyAnswer
from cantle.methods.mosaic.results import answer_frames, cell_frame, placed, with_names
from cantle.schema.domain import Domain
from cantle.schema.families import FamilySchema
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.views import in_rank

if TYPE_CHECKING:
    from cantle.schema.canonical_json import JSON


def family_results(
    schema: FamilySchema,
    layout: Layout,
    edges: tuple[Sequence[Ints], Sequence[Ints]],
    drawn: Drawn,
    wanted: int,
    answers: Sequence[NoisyAnswer],
    places: Dice,
) -> Results:
    """Everything a release holds; `wanted` is the number of families that the noisy counts call for."""
    frame, codes = frame_of(schema, drawn, places)
    summary = {"records": len(frame), "children": int(drawn.size.sum()), "tables": len(answers)}
    summary |= {"cells": sum(len(edge) - 1 for own in edges for edge in own)}
    if wanted > len(frame):
        summary[RECORDS_WANTED] = wanted
    cells: dict[str, JSON] = {}
    for name, domain, own in zip(schema.names, schema.domains, edges, strict=True):
        cells[name] = {one.name: edge.tolist() for one, edge in zip(domain.attributes, own, strict=True)}
    structure: dict[str, JSON] = {
        "name": "families",
        "version": 1,
        "cells": cells,
        "tables": [_described(answer, layout) for answer in answers],
    }
    tables = answer_frames(answers)
    groups, families = family_cells(schema, edges, codes), (codes[0], drawn.size, codes[1])
    return Results(frame, groups, {"tables": tables}, summary, structure, families=families)


def frame_of(
    schema: FamilySchema, drawn: Drawn, dice: Dice
) -> tuple[pl.DataFrame, tuple[Sequence[Codes], Sequence[Codes]]]:
    """The drawn families as one frame, children in their order, and the codes of both tables' columns."""
    above, below = schema.domains
    parent = _written(above, placed(above, drawn.parent, dice), len(drawn.size))
    places = placed(below, drawn.child, dice)
    at = {one.name: number for number, one in enumerate(below.attributes)}
    ordered = [(at[name], falls) for name, falls in schema.order]
    ranks = [in_rank(places[number], below.attributes[number].grid, falls) for number, falls in ordered]
    sorted_rows = in_order(drawn.size, ranks)
    child = _written(below, [part[sorted_rows] for part in places], len(sorted_rows))
    codes = drawn.parent, [part[sorted_rows] for part in drawn.child]
    return joined(parent.frame(), child.frame(), drawn.size, schema.names[1]), codes


def _written(domain: Domain, places: Sequence[Codes], rows: int) -> Written:
    named = {one.name: (one, part) for one, part in zip(domain.attributes, places, strict=True)}
    return Written.of(domain.as_written(named), rows)


def family_cells(
    schema: FamilySchema, edges: tuple[Sequence[Ints], Sequence[Ints]], codes: tuple[Sequence[Codes], Sequence[Codes]]
) -> pl.DataFrame:
    """The cells of every column of both tables, and how many released rows are in each."""
    parts = []
    for name, domain, own, part in zip(schema.names, schema.domains, edges, codes, strict=True):
        parts.append(cell_frame(domain, own, part).insert_column(0, pl.lit(name).alias("table")))
    return pl.concat(parts)


def _described(answer: NoisyAnswer, layout: Layout) -> dict[str, JSON]:
    """A noisy answer with the names of its columns."""
    names = [column.name for column in layout.columns(answer.view)]
    return {"why": answer.why, "view": answer.view, **with_names(answer.about, names)}
