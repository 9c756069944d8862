"""NOT PRIVATE, on purpose: known ways to get DiffGen wrong, to show that the audit catches them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace

import numpy as np

from cantle.audit import diffgen as configs
from cantle.audit.enumerating import Enumerating
from cantle.audit.exact import Breakage, Table, replaced
from cantle.methods.diffgen.method import DiffGen
from cantle.trusted.claims import specialisations
from cantle.trusted.claims.queries import Cells, Query, Size
from cantle.trusted.claims.scores import Max, Quality
from cantle.trusted.claims.specialisations import JointSplits, ScoredSplits, SplitPoints
from cantle.trusted.core.answers import Noisy, NoisyCells, Pick
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.keys import CodeTable
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.noise import Lanes, Rate
from cantle_lab.mutants.patches import INFINITE, Call, exact_of, inside, instead, leak, variant

Sparse = tuple[Ints, Ints, Ints]
"""Where each list starts, its cells, and their noisy counts."""
Measured = Noisy | NoisyCells


def _doubled(original: Callable[..., Ints]) -> Callable[..., Ints]:
    return lambda self, part: 2 * original(self, part)


# ---- cells ----------------------------------------------------------------------------------------------------------


@variant
def occupied_only(
    original: Call,
    self: Enumerating,
    lanes: Lanes,
    starts: Ints,
    cells: Ints,
    counts: Ints,
    total: Ints,
    rate: Rate,
    least: Ints,
) -> Sparse:
    """Empty groups are dropped before noise is added."""
    number, total = np.arange(len(cells)), np.array([len(cells)])
    at, listed, values = original(self, lanes, starts, number, counts, total, rate, least)
    return at, cells[listed], values


@variant
def _threshold_of_occupied(
    original: Call, self: Curator, root: Frontier, query: Query | Cells, epsilon: int, **about: str | int
) -> Measured:
    """Counts are listed only from the number of occupied cells on."""
    if isinstance(query, Cells):
        exact_cells, _ = inside(self, "engine").occupied(query.key)
        about["at_least"] = max(1, len(exact_cells))
    return original(self, root, query, epsilon, **about)


@variant
def _refund_twice(
    original: Call, self: Curator, root: Frontier, query: Query | Cells, epsilon: int, **about: str | int
) -> Measured:
    """What the rounds left of their half of the budget is given to the cells twice."""
    if isinstance(query, Cells):
        budget = inside(self, "budget")
        refund = epsilon - budget.total // 2
        budget._balance += refund
        epsilon += refund
    return original(self, root, query, epsilon, **about)


# ---- candidates -----------------------------------------------------------------------------------------------------


@variant
def _no_end_runs(original: Call, code: Ints, span: tuple[int, int]) -> tuple[Ints, Ints, Ints]:
    """Only points between the smallest and the largest occupied code are candidates, or all if there are none."""
    left, many, point = original(code, span)
    middle = (left > 0) & (left < len(code))
    return (left[middle], many[middle], point[middle]) if middle.any() else (left, many, point)


@contextmanager
def _four_for_one() -> Iterator[None]:
    """One question for split points asks for the same span four times and is paid once; all four points are shown."""
    ask: Callable[..., list[Pick]] = Curator.__dict__["choose"]

    def choose(self: Curator, root: Frontier, candidates: object, *rest: object, **about: str) -> list[Pick]:
        if isinstance(candidates, SplitPoints):
            candidates = SplitPoints(candidates.values * 4, candidates.size, candidates.classes)
        picks = ask(self, root, candidates, *rest, **about)
        leak(inside(self, "draws").noise, [pick.point for pick in picks[1:]])
        return picks[:1]

    with ExitStack() as stack:
        stack.enter_context(replaced(Curator, "choose", choose))
        stack.enter_context(replaced(SplitPoints, "fits", lambda *_: True))
        yield


@variant
def _observed_points(original: Call, self: JointSplits, look: WordEngine, quality: Quality) -> ScoredSplits:
    """Only codes that occur in the data are candidates for a split of a number."""
    runs = original(self, look, quality)
    seen, _ = specialisations.code_table(look, CodeTable(0, int(self.grid.edges[0][-1]), self.classes))
    kept = np.isin(runs.point, seen) if np.isin(runs.point, seen).any() else runs.point > 0
    starts, point = np.array([0, kept.sum()]), runs.point[kept]
    return replace(runs, starts=starts, scores=runs.scores[kept], value=runs.value[kept], point=point)


@variant
def _exact_records(original: Call, self: DiffGen, root: Frontier, curator: Curator, total: int) -> list[int]:
    """Rounds and cells are planned from the exact number of records, although a noisy one was paid for."""
    totals = original(self, root, curator, total)
    self.noisy_records = int(exact_of(curator, root, Size())[0, 0])
    return totals


@variant
def _uncharged(original: Call, self: Curator, *asked: object, **about: str) -> list[Pick]:
    """Selections after the first are in the receipt but not taken from the balance, so the cells spend it again."""
    budget = inside(self, "budget")
    before = budget._balance.copy()
    picks = original(self, *asked, **about)
    if before[0] < budget.total:
        budget._balance = before
    return picks


# ---- the table ------------------------------------------------------------------------------------------------------

Patch = Callable[[], AbstractContextManager[None]]
_APART: Table = ((1, 0),) * 4 + ((2, 1),) * 4
"""Classes that are separated at 2. A record of class 1 at 0 raises only the scores of the points 1 and 3."""
_APART_TWICE: Table = ((1, 1, 0),) * 4 + ((2, 2, 1),) * 4
_BY_GROUP: Table = ((0, 0, 0),) * 4 + ((0, 1, 1),) * 4
NO_EMPTY, NO_ENDS = "DiffGen: empty groups dropped", "DiffGen: end runs missing"

DIFFGEN_BREAKAGES: tuple[Breakage, ...] = (
    Breakage(NO_EMPTY, "4.2: all cells take part (I9)", configs.TOP, (), (0, 0),
             INFINITE, instead(Enumerating, "sparse", occupied_only), enumerate_leaves=True),
    Breakage(NO_ENDS, "4.1: points cover the domain (I9)", configs.WIDE, ((3, 0), (5, 0)), (9, 0),
             INFINITE, instead(specialisations, "_runs", _no_end_runs)),
    Breakage("DiffGen: threshold from the number of occupied cells", "2.7: from the number of all cells",
             configs.THRESHOLD, ((0, 0),), (3, 1), INFINITE, instead(Curator, "measure", _threshold_of_occupied)),
    Breakage("DiffGen: overlapping spans charged once", "Claim 21: disjoint spans", configs.POINT, _APART, (0, 1),
             5.3, _four_for_one),
    Breakage("DiffGen: selection weight doubled, joint", "2.1, Claim 4", configs.JOINT, _APART, (0, 1),
             2.99, instead(Max, "value", _doubled)),
    Breakage("DiffGen: selection weight doubled, paper", "2.1, Claim 3", configs.TWO, _APART_TWICE, (0, 0, 1),
             6.9, instead(Max, "value", _doubled)),
    Breakage("DiffGen: points from observed codes", "2.1: public candidates", configs.JOINT, ((1, 0),), (3, 1),
             INFINITE, instead(JointSplits, "score", _observed_points)),
    Breakage("DiffGen: refund of categorical rounds spent twice", "4.1: what is left is left", configs.CATEGORIES,
             _BY_GROUP, (0, 0, 1), 6.4, instead(Curator, "measure", _refund_twice)),
    Breakage("DiffGen: rounds from the exact number of records", "4.2: a charged number", configs.AUTO, (), (0, 0),
             INFINITE, instead(DiffGen, "_class_totals", _exact_records)),
    Breakage("DiffGen: later selections not charged", "Claim 11: every question is paid", configs.TWO, _APART_TWICE,
             (0, 0, 1), 6.5, instead(Curator, "choose", _uncharged)),
)  # fmt: skip
