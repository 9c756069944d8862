"""NOT PRIVATE, on purpose: known ways to get baskets wrong, to show that the audit catches them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cantle.audit.exact import Breakage
from cantle.audit.sets import ALWAYS, POOR, RICH
from cantle.methods.curator_asker import CuratorAsker
from cantle.trusted.claims.set_queries import HeadPatterns, SetApart
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.core.draws import Draws, Segments
from cantle.trusted.counting import basket_counts, sets
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import PARTS
from cantle.trusted.noise import Lanes, Rate
from cantle_lab.mutants.patches import INFINITE, Call, inside, instead, variant


@variant
def _cut_by_popularity(
    _original: Call, starts: Ints, items: Ints, universe: int, most: int, strata: bool, singles: bool, **_: object
) -> Ints:
    """Long records count in full for their most popular items, instead of in parts for all their items."""
    held = np.bincount(items, minlength=universe)
    counts = np.zeros((1 + singles + strata) * universe, dtype=np.int64)
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        mine = sorted(items[first:last].tolist(), key=lambda item: (-held[item], item))[:most]
        stratum = int(singles and last - first > 1) + int(strata and last - first > most)
        times = most if singles and last - first == 1 else 1
        counts[np.array(mine) + universe * stratum] += times * PARTS
    return counts


def _whole_items(_original: object) -> Callable[..., Ints]:
    """Every item of a long record counts in full."""
    return lambda size, _most: np.full_like(size, PARTS)


@variant
def _head_of_the_data(original: Call, self: CuratorAsker, query: object, price: int, **about: object) -> Noisy:
    """The head consists of the items that are in most records, instead of those with the largest noisy supports."""
    held = inside(self.curator, "engine")._used
    number = np.bincount(held.codes, minlength=int(self.curator.root().tree.size))
    if isinstance(query, HeadPatterns) and number.any():
        query = HeadPatterns(tuple(np.flatnonzero(number == number.max()).tolist()))
    return original(self, query, price, **about)


def _whole_pairs(_original: object) -> Callable[..., Ints]:
    """Every pair counts `most` + 1 times, however many pairs its record has, so that the cap is exceeded."""
    return lambda top, most: np.where(top >= 2, PARTS * (most + 1), 0)


@variant
def _always_drawn_again(
    _original: Call, self: Draws, exact_occupied: tuple[Ints, Ints, Ints], segments: Segments, apart: SetApart
) -> NoisyCells:
    """Cells that are always given are drawn a second time, with the other cells in the sparse draw."""
    _, exact_cells, exact_counts = exact_occupied
    _, _, exact_listed = apart.divide(exact_cells, exact_counts)
    _, cells, values = self.noise.sparse(
        Lanes(self.number, segments.ids), *exact_occupied, segments.total, segments.rate, segments.at_least
    )
    self.number += 1
    lanes = Lanes(self.number, np.repeat(segments.ids, len(apart.always)), apart.always)
    listed = self.noise.laplace(lanes, exact_listed, Rate(*segments.rate.exact(0)))
    both = np.concatenate([cells, apart.always])
    order = np.argsort(both, kind="stable")
    noisy = np.concatenate([values, listed])[order]
    return segments.answer(np.array([0, len(both)]), both[order], noisy)


BASKET_BREAKAGES: tuple[Breakage, ...] = (
    Breakage("Baskets: long records cut by what others have", "Claim 51: a function of the record", POOR,
             ((0, 1), (0, 1)), (1,), 50, instead(sets, "count_items", _cut_by_popularity)),
    Breakage("Baskets: every item of a long record counts in full", "Claim 51: parts", POOR,
             (), (0, 1, 2), 49, instead(basket_counts, "item_parts", _whole_items)),
    Breakage("Baskets: head chosen from exact counts", "Claim 52: a public list", RICH,
             ((0,),), (1,), INFINITE, instead(CuratorAsker, "ask", _head_of_the_data)),
    Breakage("Baskets: pairs without the cap", "Claim 53: at most S * PARTS", RICH,
             (), (0, 1), 601, instead(basket_counts, "pair_parts", _whole_pairs)),
    Breakage("Baskets: always given cells drawn again in the sparse answer", "Claim 54: drawn once", ALWAYS,
             (), (0, 1, 2), 2406, instead(Draws, "_cells_apart", _always_drawn_again)),
)  # fmt: skip
