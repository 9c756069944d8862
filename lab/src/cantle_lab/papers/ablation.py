"""What the parts of methods are worth: releases with one part switched off, or done otherwise, beside whole ones.

A part is switched off by replacing a constant or a function of its module. What it would have cost goes to the other
questions, unless the part costs nothing or its question is still asked (split cells and spikes, 2 % of epsilon each).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from fractions import Fraction
from types import ModuleType

import numpy as np
import polars as pl

from cantle.audit.exact import replaced
from cantle.methods.mosaic import plan, wide_cells
from cantle.methods.mosaic.model import fitted
from cantle_lab.papers import made_tables, table_measures, table_sets
from cantle_lab.papers.classify import halves
from cantle_lab.papers.coding import Coded, Coder
from cantle_lab.papers.harness import Options, Row, Setting, rows
from cantle_lab.papers.table_figures import split_seed

Part = tuple[tuple[type | ModuleType, str, object], ...]
"""What is replaced: owner, name, and the new value."""

WHOLE = "all parts"
EPSILONS = (0.1, 1)

MOSAIC: dict[str, Part] = {
    WHOLE: (),
    "no label step": ((plan, "LABEL", Fraction(0)),),
    "label step of a quarter": ((plan, "LABEL", Fraction(1, 4)),),
    "label step of a half": ((plan, "LABEL", Fraction(1, 2)),),
    "no latent classes": ((fitted, "MOST_MEAN_CELLS", 0),),
    "no split cells": ((wide_cells, "split_edges", lambda edges, _noisy, _rate: edges),),
    "no spikes": ((wide_cells, "largest_spikes", lambda codes, _counts: codes[:0]),),
}

OF_TABLES = ("TVD2", "values", "q95 k=1", "q95 k=2", "boosting accuracy", "boosting AUC")

CUTS: dict[str, Options] = {
    "declared order": {},
    "random order": {"order": "random"},
    "subsets": {"cuts": "subsets"},
    "paper, random order": {"preset": "paper"},
    "paper, subsets": {"preset": "paper", "cuts": "subsets"},
}


def tables(setting: Setting) -> Iterator[Row]:
    """Mosaic without its label step, or with a larger one, without latent classes, split cells or spikes, on Adult,
    bank and nltcs."""
    some = table_sets.present(setting.data_dir, "ablation", setting.echo)
    yield from _of_tables(
        setting, "ablation", some, {name: ({"method": "mosaic"}, part) for name, part in MOSAIC.items()}
    )


def subsets(setting: Setting) -> Iterator[Row]:
    """rps with small categories cut into any two subsets, in a random order, or in the declared one."""
    some = [made_tables.insurance(), made_tables.hospital()]
    if setting.data_dir is not None:
        some += [table_sets.load_adult(setting.data_dir), table_sets.load_bank(setting.data_dir)]
    yield from _of_tables(setting, "rps-subsets", some, {name: (options, ()) for name, options in CUTS.items()})


def _of_tables(
    setting: Setting, figure: str, some: Iterable[table_sets.TableSet], series: Mapping[str, tuple[Options, Part]]
) -> Iterator[Row]:
    """The scores of releases of halves of these tables."""
    for table in some:
        coder = Coder(table.schema)
        for epsilon, repeat in setting.points(EPSILONS):
            learn, held = halves(table.frame.height, split_seed(setting, repeat))
            truth, test = coder.encode(table.frame[learn]), coder.encode(table.frame[held])
            for name, (options, part) in series.items():
                with without(part):
                    release = setting.release(table.frame[learn], table.schema, epsilon, options, repeat)
                scores = of_table(coder, truth, coder.encode(pl.DataFrame(release.records)), test, repeat)
                shown = {measure: scores[measure] for measure in OF_TABLES if measure in scores}
                yield from rows(figure, f"{table.name}: {{}}", name, epsilon, repeat, shown)


def of_table(coder: Coder, truth: Coded, release: Coded, test: Coded, seed: int) -> dict[str, float]:
    """Distances, counting questions, models, and the distance of single values of numbers (`values`)."""
    scores = dict(table_measures.fidelity(coder, truth, release, seed))
    scores |= dict(table_measures.model_scores(coder, release, test, ("boosting",)))
    numbers = [
        i for i, grid in enumerate(coder.attributes) if grid.kind == "number" and grid.size > table_measures.BINS
    ]
    apart = [
        table_measures.total_variation(truth.codes, release.codes, [grid.size for grid in coder.attributes], (i,))
        for i in numbers
    ]
    return scores | ({"values": float(np.mean(apart))} if apart else {})


def without(part: Part) -> ExitStack:
    """A context in which the part is switched off."""
    stack = ExitStack()
    for owner, name, new in part:
        stack.enter_context(replaced(owner, name, new))
    return stack
