"""Which connections between columns would survive: how many pairs of columns mosaic would measure together.

The number follows from the schema, epsilon and a declared number of records. Which tables a run chooses depends on the
data, so their choice is played with public dice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from cantle.drawing.counts import Dice, public_dice
from cantle.methods.mosaic.model.table_sets import Survivors, candidates
from cantle.methods.mosaic.plan import Plan as Shares

LARGE = {"coarse": 0.3, "fine": 0.15}
"""How often a run chooses a table of three or more columns, if columns have few cells or many, on average. Such a table
has few groups per column, so that it wins less often where columns have many cells. Chosen on Adult, bank, nltcs and
generated surveys."""

FINE = 10
"""The mean number of cells from which on columns are fine."""

FEW = 0.1
"""The share of all pairs below which nearly all pairs of columns come out unrelated."""

WHOLE = 0.95
"""The share of all pairs above which a plan says that all of them would be measured together."""


MEANT = 3
"""The smallest number of columns that is recommended."""


@dataclass(frozen=True)
class Relations:
    """The pairs of columns that would be measured together.

    Attributes
    ----------
    together, pairs : int
        Their expected number, and the number of all pairs.
    lead : str or None
        A column that would be measured together with every other one: the target.
    columns, half, whole : int
        The number of columns, and about how many columns could be kept so that half of their pairs, or all of them,
        would be measured together.
    """

    together: int
    pairs: int
    lead: str | None
    columns: int
    half: int
    whole: int

    @property
    def share(self) -> float:
        return self.together / max(1, self.pairs)

    def in_short(self) -> str:
        return f"about {self.together:,} of {self.pairs:,}"

    def sentences(self) -> str:
        """What happens to the connections between columns, and how few columns would keep them."""
        lead = f", each column with {self.lead} among them" if self.lead is not None else ""
        said = f"about {self.together:,} of {self.pairs:,} pairs of columns will be measured together{lead}"
        if self.share >= WHOLE:
            return said
        if self.share < FEW:
            said += "; nearly all pairs will come out unrelated, whatever they are"
        else:
            said += "; connections of other pairs come out weaker than they are, or are lost"
        if MEANT <= self.half < self.columns:
            left_out = f"leave out about {self.columns - self.half} columns"
            said += f"; {left_out}, and half of the remaining pairs are measured together"
        if self.whole >= MEANT:
            said += f"; with at most about {self.whole} columns all pairs would be measured together"
        return said


def relations(columns: int, lead: str | None, together: Callable[[int], int], fewest: int = 2) -> Relations | None:
    """The relations of a table; `together` gives the expected number of pairs if so many columns are kept."""
    if columns < fewest + 1:
        return None

    def share(kept: int) -> float:
        return together(kept) / (kept * (kept - 1) / 2)

    def most(wanted: float) -> int:
        """The largest number of columns with this share of pairs; the share falls as the number grows."""
        low, high = fewest, columns
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if share(middle) >= wanted else (low, middle - 1)
        return low

    pairs = columns * (columns - 1) // 2
    return Relations(together(columns), pairs, lead, columns, most(0.5), most(WHOLE))


def pairs_together(sizes: Sequence[int], lead: int | None, shares: Shares) -> int:
    """The expected number of pairs of columns in the first tables and the chosen ones.

    `sizes` has the number of cells of each column, and `lead` is the column that all first tables contain.
    """
    dice = public_dice(0)
    known = set() if lead is None else {frozenset((lead, one)) for one in range(len(sizes)) if one != lead}
    taken = set[tuple[int, ...]]()
    large = LARGE["fine" if sum(sizes) > FINE * len(sizes) else "coarse"]
    for number in range(shares.rounds):
        found = [members for members, _ in candidates(sizes, lead, shares.label > 0, shares.cap, taken, dice)]
        survivors = Survivors(found, len(sizes), joining=number == 0)
        while len(taken) < shares.count * (number + 1) // shares.rounds and len(left := survivors.left()):
            chosen = _played(found, left.tolist(), large, dice)
            survivors.choose(chosen)
            taken.add(found[chosen])
    return len(known.union(frozenset(pair) for members in taken for pair in combinations(members, 2)))


def _played(found: Sequence[tuple[int, ...]], left: Sequence[int], often: float, dice: Dice) -> int:
    """One of the candidates that are left: `often` a large set, otherwise a pair, at random."""
    large = [one for one in left if len(found[one]) > 2]
    small = [one for one in left if len(found[one]) == 2]
    chosen = (large if dice.random() < often else small) or large or small
    return int(dice.choice(chosen))
