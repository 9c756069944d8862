"""Questions about regions: a thin face of the curator, which charges each of them before it looks at a record."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cantle.errors import ParameterError, raise_alone
from cantle.framework.regions import Column, Cut, Regions
from cantle.framework.terms import Term
from cantle.methods import settings
from cantle.trusted.claims.cut_candidates import AllCuts, CutsOf
from cantle.trusted.claims.queries import Histogram, Marginals, Size
from cantle.trusted.claims.scores import BALANCE, CLASS_AWARE, Mix
from cantle.trusted.claims.terms import TermScore
from cantle.trusted.core.arrays import Bools, Ints
from cantle.trusted.core.budget import NANO
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.keys import OneWays
from cantle.trusted.core.stop_test import PrivTree

if TYPE_CHECKING:
    from cantle.framework.run import TreeRun

Share = str | float | Fraction | None
"""A share of the whole epsilon; a text, a fraction, or a float, which is taken as the decimal that it prints as."""

_read_share, _SHARE = settings.share(positive=True)


class Ask:
    """The questions of one run. A verb that pays takes a share of the whole epsilon, or an exact `epsilon`, and notes
    its answer in the tree by itself."""

    def __init__(self, curator: Curator, run: TreeRun) -> None:
        self.curator, self.run = curator, run
        self._total = int(curator.left(curator.root())[0])
        self._decided, self._tests = False, dict[tuple[int, int, int], PrivTree]()

    def __repr__(self) -> str:
        return "Ask()"

    # ---- public facts -------------------------------------------------------------------------------------

    @property
    def epsilon(self) -> Fraction:
        """The whole epsilon of the release."""
        return Fraction(self._total, NANO)

    @property
    def unit(self) -> int:
        """The largest number of records of one protected person; noise grows with it."""
        return self.curator.unit.max_records

    def left(self, regions: Regions) -> list[Fraction]:
        """What is left of epsilon on the path of each region, exactly."""
        self.decide()
        return [Fraction(nano, NANO) for nano in self.curator.left(regions.nodes).tolist()]

    def coin(self, regions: Regions, sides: Ints) -> Ints:
        """The roll of one public die per region, 0 to sides - 1; free."""
        return self.curator.coin(regions.nodes, sides)

    # ---- questions ----------------------------------------------------------------------------------------

    def sizes(self, regions: Regions, share: Share = None, *, epsilon: Fraction | None = None) -> Ints:
        """A noisy number of records of each region; it also improves the counts of the leaves below.

        Asked about the root in `begin`, it decides whether the release can afford to measure its own error.
        """
        first = not regions.depth and not self._decided
        why = "number of records" if first else "stop test"
        self.run.admit_sizes(regions)
        noisy = self.curator.measure(regions.nodes, Size(), self._price(share, epsilon), why=why)
        self.run.tree.note_sizes(regions.nodes, noisy)
        if first:
            self.decide(int(noisy.value[0, 0]))
        return noisy.value[:, 0]

    def one_ways(
        self, root: Regions, share: Share = None, *, epsilon: Fraction | None = None, records: int | None = None
    ) -> None:
        """Noisy one-way tables of all columns, which the values inside leaves will follow.

        They are coarser if there are few records (by `records`, a noisy number) for the noise.
        """
        self.decide()
        sizes, price = self.run.sizes, self._price(share, epsilon)
        scale = NANO * len(sizes) * self.unit / price
        cells = self.run.cells_of(None if records is None else max(0, records) / scale)
        tables = OneWays(tuple(range(len(sizes))), sizes, 1)
        first_codes = zip(tables.offsets.tolist(), cells, strict=False)
        starts = tuple(offset + code for offset, edges in first_codes for code in edges[:-1].tolist())
        noisy = self.curator.measure(root.nodes, Marginals(tables, starts), price, why="one-way tables")
        self.run.cells, self.run.oneways = cells, noisy

    def worth_splitting(
        self, regions: Regions, share: Share = None, *, above: int = 0, into: int = 2, epsilon: Fraction | None = None
    ) -> Bools:
        """Whether each region holds more than about `above` records: the tests of PrivTree.

        A path pays the share once, however many tests it has. All tests of a run are alike, and a region that got "no"
        cannot be tested again. `into` is the number of children to expect; it affects how soon empty regions stop.
        """
        self.decide()
        wanted = self._price(share, epsilon), above, into
        if wanted not in self._tests:
            self._tests[wanted] = PrivTree.within(*wanted, records=self.unit)
        return self.curator.test(regions.nodes, self._tests[wanted], why="stop test")

    def choose(
        self,
        regions: Regions,
        share: Share = None,
        *,
        column: Column | None = None,
        score: str | Term | Mix = "auto",
        epsilon: Fraction | None = None,
        literal: bool = False,
    ) -> Cut:
        """A noisy choice of a good cut for each region, among those of all columns or of one column per region.

        The score is "balance" (both sides even), "class" (classes apart too), "auto", or a term. Among all columns, a
        region with a single cut pays nothing; with a given column all pay, so that receipts stay short. With `literal`
        the choice is that of the paper, which needs more noise.
        """
        self.decide()
        nodes, price, judge = regions.nodes, self._price(share, epsilon), self._score(score)
        seen = self.run.classes if isinstance(judge, Mix) and judge.apart else 1
        if column is not None:
            each = CutsOf(regions.numbers(column), max(self.run.sizes), seen, literal, self.run.sets)
            return Cut(regions, self.curator.choose(nodes, each, judge, price, why="split"))
        candidates = AllCuts(self.run.sizes, seen, literal, self.run.sets)
        open_ = candidates.counts(nodes) > 1  # with a single candidate there is no choice, and nothing to pay
        if open_.all():
            return Cut(regions, self.curator.choose(nodes, candidates, judge, price, why="split"))
        first = candidates.cuts(nodes, np.zeros(len(nodes), np.int64))
        if open_.any():
            chosen = self.curator.choose(nodes.take(open_), candidates, judge, price, why="split")
            for name, part in vars(chosen).items():
                if part is not None:
                    getattr(first, name)[open_] = part
        return Cut(regions, first)

    def counts(self, leaves: Regions) -> None:
        """A noisy number of records of each leaf, per class if there is a target, with all that is left on its path.

        A histogram over classes costs as much as one count, because a record has one class.
        """
        nodes = leaves.nodes
        noisy = self.curator.measure(nodes, Histogram(self.run.classes), self.curator.left(nodes), why="leaf")
        self.run.tree.note_leaves(nodes, noisy, self.curator.path(nodes))

    # ---- for the run --------------------------------------------------------------------------------------

    def root(self) -> Regions:
        """The whole domain as one region."""
        return Regions(self.curator.root(), self.run.domain)

    def split(self, cut: Cut) -> Regions:
        """The children of regions; all other open regions are closed."""
        return Regions(self.curator.split(cut.regions.nodes, cut.rule), self.run.domain)

    def decide(self, records: int | None = None) -> None:
        """Decides, once and before the first question that depends on it, whether the release measures its own error:
        by this number of records, or by a noisy one that is paid for."""
        if not self._decided:
            self._decided = True
            self.run.own_accuracy.decide(self.curator, self._total, records)

    def _price(self, share: Share, epsilon: Fraction | None) -> int:
        """A price in nano-units."""
        if (share is None) == (epsilon is None):
            raise ParameterError('a question is paid with a share ("1/4") or with epsilon=Fraction(...), one of them')
        if epsilon is not None:
            nano = Fraction(epsilon) * NANO
            if nano < 1 or nano.denominator != 1:
                raise ParameterError(f"epsilon of a question is a whole number of billionths, at least one: {epsilon}")
            return int(nano)
        try:
            wanted = _read_share(share)
        except (ValueError, TypeError, OverflowError, ZeroDivisionError):
            raise_alone(ParameterError(f"the price of a question must be {_SHARE}, got {share!r}"))
        assert isinstance(wanted, Fraction)
        price = settings.portion(self._total, wanted)
        if price < 1:
            raise ParameterError(f"epsilon is too small for a share of {wanted}; raise either")
        return price

    def _score(self, score: str | Term | Mix) -> Mix | TermScore:
        """The score that is meant. What else is given is passed on, for the curator to refuse."""
        if isinstance(score, Term):
            return score.score
        if not isinstance(score, str):
            return score
        named = {"balance": BALANCE, "class": CLASS_AWARE, "auto": CLASS_AWARE if self.run.classes > 1 else BALANCE}
        if score not in named:
            raise ParameterError(f"a score is one of {', '.join(named)}, or a term such as -abs(fw.left - fw.right)")
        return named[score]
