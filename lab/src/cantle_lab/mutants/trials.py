"""NOT PRIVATE, on purpose: trials of the publisher with known flaws, which the black-box audit must catch."""

from __future__ import annotations

from cantle.audit.black_box import Trial
from cantle.audit.exact import Patch
from cantle.audit.trials import (
    GRAPH,
    LABELLED,
    LOW,
    SETS,
    STAR,
    Observation,
    by_cell,
    by_region,
    by_table,
    by_total,
    published,
    schema_of,
    table,
)
from cantle.trusted.noise.samplers import Sampler
from cantle_lab.mutants import BREAKAGES
from cantle_lab.mutants.diffgen import NO_ENDS, occupied_only
from cantle_lab.mutants.patches import instead
from cantle_lab.mutants.rps import doubled_laplace

Options = dict[str, object]


def _flaw(name: str) -> tuple[str, Patch]:
    """The rule that a known flaw breaks, and the patch that puts it into the shipped code."""
    flaw = next(one for one in BREAKAGES if one.name == name)
    return flaw.breaks, flaw.patch


def broken_methods() -> list[Trial]:
    """Trials of the publisher with flaws from the exact audit, and with flaws of the samplers, which only the black-box
    audit can see."""
    one, ten, classes = schema_of(3), schema_of(10), schema_of(4, classes=True)
    plain = {"method": "rps", "attributes": "all", "depth": 1, "count_share": 0}
    leaf = plain | {"depth": 0}
    sized = leaf | {"summary": "depth", "count_share": "1/2"}
    joint = {"method": "diffgen", "rounds": 1, "records": 3, "count_share": 0, "cells": 9}
    laplace = "2.2, Claim 14", instead(Sampler, "laplace", doubled_laplace)
    dropped = "4.2: all cells take part (I9)", instead(Sampler, "sparse", occupied_only)
    edges, hub = [(2 * i, 2 * i + 1) for i in range(6)], [(i, 12) for i in range(12)]
    cases: list[tuple[str, int, tuple[str, Patch], Options, object, object, Observation, Options]] = [
        ("rps: Laplace sampler at twice its rate", 400, laplace, one, table([]), table([0]), by_region, leaf),
        ("rps: exact number of records released", 100, _flaw("exact number of records released"), one,
         table([]), table([0]), by_total, sized),
        ("rps: narrow judged on the data", 100, _flaw("narrow judged on the data"), one, table([0]), table([0, 1]),
         by_region, plain),
        ("rps: cuts from observed values", 300, _flaw("cuts from observed values"), ten, table([5]), table([5, 7]),
         by_region, plain),
        ("diffgen: empty groups dropped", 100, dropped, classes, table([], LABELLED), table([(0, "n")], LABELLED),
         by_cell, joint | {"rounds": 0}),
        ("diffgen: points from observed codes", 150, _flaw("DiffGen: points from observed codes"), classes,
         table([(1, "n")], LABELLED), table([(1, "n"), (3, "p")], LABELLED), by_cell, joint),
        ("diffgen paper: end runs missing", 150, _flaw(NO_ENDS), classes, table([(1, "n"), (2, "n")], LABELLED),
         table([(1, "n"), (2, "n"), (3, "n")], LABELLED), by_cell,
         {"method": "diffgen", "preset": "paper", "rounds": 1}),
        ("mosaic: Laplace sampler at twice its rate", 400, laplace, one, table([]), table([0]), by_table,
         {"method": "mosaic"}),
        ("baskets: Laplace sampler at twice its rate", 5000, laplace, SETS, [], [[1, 2]], by_cell,
         {"method": "baskets"}),
        ("diffpart: records cut by what others have", 400, _flaw("DiffPart: records cut by what others have"),
         SETS | {"items": [1, 2]}, [[1, 2], [1, 2]], [[1, 2], [1, 2], [1]], by_cell,
         LOW | {"cells": "tree", "eta": "off", "m": 1}),
        ("degrees: the true maximum degree as bound", 100, _flaw("degrees: the true maximum degree as bound"), GRAPH,
         [(1, 2)], [(1, 2), *STAR], by_cell, {}),
        ("degrees: nodes of large degree pruned", 250, _flaw("degrees: nodes of large degree pruned"), GRAPH,
         edges, [*edges, *hub], by_cell, {"theta": 1}),
        ("degrees: a node as one record", 200, _flaw("degrees: a node as one record"), GRAPH, [],
         [(0, i) for i in range(1, 9)], by_region, {"preset": "paper", "theta": 4}),
    ]  # fmt: skip
    return [
        Trial(name, 1.0, published(schema, less, more, observe, options, epsilon=1, patch=patch), runs, breaks)
        for name, runs, (breaks, patch), schema, less, more, observe, options in cases
    ]
