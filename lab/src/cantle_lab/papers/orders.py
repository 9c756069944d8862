"""Made-up orders of a shop with planted bundles of two and three products, to see what releases keep of them.

Products are drawn by a falling popularity; each bundle is added as a whole to a share of the orders. Bundles consist of
products of middling popularity, so that nothing but the bundle brings them together. Public: no person is behind it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle_lab.papers.sets import Sets, gather


@dataclass(frozen=True)
class Shop:
    """How orders are made; two shops that differ much tell whether a rule fits more than one."""

    seed: int
    orders: int
    products: int
    fall: float  # popularity of product i falls as (i + 1) ** -fall
    others: float  # products of an order besides its bundles, on average
    bundles: tuple[int, ...]  # how many bundles of two, of three products
    share: tuple[float, float]  # smallest and largest share of the orders that a bundle is added to


SHOPS = {
    "orders": Shop(2026, 40_000, 200, 0.8, 3.0, (6, 4), (0.01, 0.1)),
    "other orders": Shop(1126, 75_000, 900, 1.1, 1.6, (10, 8), (0.004, 0.05)),
}


def make(shop: Shop) -> tuple[Sets, list[tuple[int, ...]]]:
    """The orders of a shop, and its bundles as codes of products in ascending order."""
    rng = np.random.default_rng(shop.seed)
    weight = np.arange(1, shop.products + 1) ** -shop.fall
    lengths = 1 + rng.poisson(shop.others - 1, shop.orders)
    owner = np.repeat(np.arange(shop.orders), lengths)
    product = rng.choice(shop.products, len(owner), p=weight / weight.sum())
    middling = rng.permutation(np.arange(shop.products // 20, shop.products // 2))
    bundles, owners, products, first = list[tuple[int, ...]](), [owner], [product], 0
    for size, number in zip((2, 3), shop.bundles, strict=True):
        for share in np.geomspace(*shop.share, number):
            bundle = np.sort(middling[first : first + size])
            first += size
            mine = np.flatnonzero(rng.random(shop.orders) < share)
            bundles.append(tuple(bundle.tolist()))
            owners.append(np.repeat(mine, size))
            products.append(np.tile(bundle, len(mine)))
    every = np.unique(np.concatenate(owners) * shop.products + np.concatenate(products))  # no product twice
    return gather(every // shop.products, (every % shop.products).astype(np.int32), shop.products), bundles
