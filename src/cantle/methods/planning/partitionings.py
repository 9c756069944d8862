"""Plans of somebody's own partitioning: a rehearsal on made-up records, because what it asks depends on answers.

The leaves of the rehearsal divide a column into some number of spans on average; a plan counts in such spans.
"""

from __future__ import annotations

from collections import Counter
from math import sqrt

import numpy as np

from cantle.drawing.counts import variance
from cantle.framework.rehearsal import rehearse
from cantle.framework.run import PartitioningRun
from cantle.methods.planning.outline import MEAN_ERROR, Outline, Part
from cantle.methods.planning.tables import table_cost
from cantle.methods.question_words import question_in_words
from cantle.methods.rps.results import summarise
from cantle.trusted.core.budget import NANO

MOST_REHEARSED = 100_000
"""The most records of a rehearsal; a longer one would hardly say more."""


def plan_partitioning(method: PartitioningRun, epsilon: float, records: int, persons: int) -> Outline:
    """The budget of the kind of path on which most records are, and the noise in counts of leaves."""
    tried = min(records, MOST_REHEARSED)
    run, receipt = rehearse(method, round(epsilon * NANO), persons, tried, crowded=0.0)
    leaves = summarise(run.tree, least_squares=True, by_depth=False, label="counts")
    on_path = np.bincount(leaves.path, leaves.count.sum(axis=1) + 1e-3)
    charges = {path["path"]: path["charges"] for path in receipt["paths"]}[int(np.argmax(on_path))]
    spent = Counter[str]()
    for charge in charges:
        spent[charge["why"]] += charge["epsilon_nano"]
    spread = variance(leaves.rate_num / leaves.rate_den) * leaves.count.shape[1]
    noise = float(np.sqrt(np.mean(spread)))
    shares = {why: nano / receipt["epsilon_nano"] for why, nano in spent.items()}
    budget = [Part(question_in_words(why), share, noise if why == "leaf" else None) for why, share in shares.items()]
    spans = [size / float(np.mean(leaves.hi[:, a] - leaves.lo[:, a])) for a, size in enumerate(run.sizes)]
    errors = [
        min(MEAN_ERROR * noise * sqrt(len(leaves.ids) / many), records / size)
        for many, size in zip(spans, run.sizes, strict=True)
    ]
    cells = sum(spans) / len(spans) if spans else 1.0
    said = (
        f"rehearsed on {tried:,} made-up records that are spread evenly: {len(leaves.ids):,} regions, "
        f"{run.tree.levels[-1].depth} cuts deep; what it asks of real records may differ, and so may the errors"
    )
    return Outline(
        method=method.name,
        budget=tuple(budget),
        value_noise=noise * sqrt(len(leaves.ids) / cells),
        one_way=sum(errors) / max(1, len(errors)),
        cells=cells,
        remarks=(said,),
        **table_cost("rps", records, len(run.sizes), 0),
    )
