"""A mosaic release as frames: the noisy answers with their rates, the cells of the columns, and the drawn records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl

from cantle import kernel_choice
from cantle.drawing.counts import Dice
from cantle.drawing.obey_rules import obey_in_steps
from cantle.drawing.records import Drawn, Results
from cantle.methods.mosaic.model.answers import CellsOf, NoisyAnswer, TreeNode
from cantle.methods.mosaic.model.bands import Bands
from cantle.schema.domain import Domain, unsigned
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.grid import LOOKED_UP

if TYPE_CHECKING:
    from cantle.schema.canonical_json import JSON


def drawn_codes(domain: Domain, codes: Sequence[Codes], dice: Dice) -> Drawn:
    """Records from their codes by column; public dice draw a place evenly inside each step."""
    records = len(codes[0]) if codes else 0
    places = zip(domain.attributes, placed(domain, codes, dice), strict=True)
    drawn = domain.as_written({one.name: (one, part) for one, part in places})
    return Drawn.of(drawn, records, compiled=kernel_choice.worth_loading(records))


def placed(domain: Domain, codes: Sequence[Codes], dice: Dice) -> list[Codes]:
    """The places of the records. Columns in which each code is a place need no dice.

    A rule about a sum of columns may cut steps; places that break one are drawn again inside their steps.
    """
    places = [
        one.fine(part, dice.random(len(part))) if one.width > 1 else part.astype(unsigned(one.size + 1), copy=False)
        for one, part in zip(domain.attributes, codes, strict=True)
    ]
    if domain.rules is not None and domain.rules.sums and any(one.width > 1 for one in domain.attributes):
        obey_in_steps(domain, domain.rules, codes, places, dice)
    return places


def mosaic_results(
    domain: Domain,
    edges: Sequence[Ints],
    codes: Sequence[Codes],
    answers: Sequence[NoisyAnswer],
    lead: str | None,
    classes: bool,
    places: Dice,
    bands: Bands | None = None,
) -> Results:
    """Everything a mosaic release holds: the records, `groups` with the cells of every column, and `tables` with every
    noisy count.

    `lead` is the leading column; `classes` says whether learned classes drew the records; `places` are the dice that
    draw values inside their steps. `bands` are those of a numeric target, whose cells are finer.
    """
    drawn = drawn_codes(domain, codes, places)
    records = len(codes[0]) if codes else 0
    names = [attribute.name for attribute in domain.attributes]
    tables = answer_frames(answers)
    summary = {"records": records, "tables": len(answers), "cells": sum(len(edge) - 1 for edge in edges)}
    structure: dict[str, JSON] = {
        "lead": lead,
        "classes": classes,
        "cells": {name: edge.tolist() for name, edge in zip(names, edges, strict=True)},
        "tables": [{"why": answer.why, **with_names(answer.about, names)} for answer in answers],
    }
    if domain.scores:
        structure["groups"] = [group.name for group in domain.scores]
    if bands is not None:
        structure["bands"] = bands.outer.tolist()
    return Results(drawn, cell_frame(domain, edges, codes), {"tables": tables}, summary, structure)


def cell_frame(domain: Domain, edges: Sequence[Ints], codes: Sequence[Codes]) -> pl.DataFrame:
    """The cells of every column, and how many of the released records are in each."""
    parts = []
    for attribute, edge, part in zip(domain.attributes, edges, codes, strict=True):
        spans = list(zip(edge[:-1].tolist(), edge[1:].tolist(), strict=True))
        parts.append(
            pl.DataFrame(
                {
                    "column": [attribute.name] * len(spans),
                    "cell": pl.Series(np.arange(len(spans)), dtype=pl.Int64),
                    "lo": pl.Series(edge[:-1], dtype=pl.Int64),
                    "hi": pl.Series(edge[1:], dtype=pl.Int64),
                    "values": [attribute.describe(lo, hi) for lo, hi in spans],
                    "count": pl.Series(_counts(edge, part), dtype=pl.Int64),
                }
            )
        )
    return pl.concat(parts)


def _counts(edges: Ints, codes: Codes) -> Ints:
    """How many of the codes are in each cell."""
    if edges[-1] <= LOOKED_UP:
        return np.add.reduceat(np.bincount(codes, minlength=int(edges[-1])), edges[:-1])
    return np.bincount(np.searchsorted(edges, codes, side="right") - 1, minlength=len(edges) - 1)


def answer_frames(answers: Sequence[NoisyAnswer]) -> pl.DataFrame:
    """All noisy counts, table after table."""
    return pl.concat([_answer_frame(number, answer) for number, answer in enumerate(answers)])


def _answer_frame(number: int, answer: NoisyAnswer) -> pl.DataFrame:
    size = len(answer.noisy)
    return pl.DataFrame(
        {
            "table": pl.Series(np.full(size, number), dtype=pl.Int64),
            "why": pl.Series([answer.why] * size, dtype=pl.String),
            "cell": pl.Series(answer.cells, dtype=pl.Int64),
            "noisy": pl.Series(answer.noisy, dtype=pl.Int64),
            "rate_num": pl.Series(np.full(size, answer.rate_num), dtype=pl.Int64),
            "rate_den": pl.Series(np.full(size, answer.rate_den), dtype=pl.Int64),
        }
    )


def with_names(about: CellsOf, names: Sequence[str]) -> dict[str, JSON]:
    """The description with names of columns instead of their numbers."""
    named = cast("dict[str, JSON]", dict(about))
    for key in ("columns", "of", "by"):
        if key in about:
            named[key] = [names[number] for number in about[key]]
    if "column" in about:
        named["column"] = names[about["column"]]
    if "tree" in about:
        named["tree"] = [_node_with_name(node, names) for node in about["tree"]]
    return named


def _node_with_name(node: TreeNode, names: Sequence[str]) -> dict[str, JSON]:
    named = cast("dict[str, JSON]", dict(node))
    if "column" in node:
        named["column"] = names[node["column"]]
    return named
