"""Speed of baskets in memory: python benchmarks/baskets.py RECORDS ITEMS [--mean 5] [--times 3].

It makes FIMI lines of about `mean` items each, skewed as sales are, publishes them by method `baskets` with epsilon 1,
and prints the core-seconds of each call and peak memory. The first call also loads compiled kernels.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

import cantle

LONGEST = 200


def make(path: Path, records: int, items: int, mean: float) -> None:
    """Writes one record per line; the support of an item is proportional to about 1 / rank."""
    dice = np.random.default_rng(1)
    sizes = dice.geometric(1 / mean, records).clip(1, LONGEST)
    share = 1 / np.arange(1, items + 1) ** 1.05
    drawn = np.searchsorted(np.cumsum(share / share.sum()), dice.random(sizes.sum())).clip(max=items - 1) + 1
    with path.open("w", encoding="ascii") as file:
        for record in np.split(drawn, np.cumsum(sizes)[:-1]):
            file.write(" ".join(map(str, np.unique(record).tolist())) + "\n")


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("records", type=int)
    ask.add_argument("items", type=int)
    ask.add_argument("--mean", type=float, default=5.0)
    ask.add_argument("--times", type=int, default=3)
    options = ask.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "baskets.dat"
        make(path, options.records, options.items, options.mean)
        schema = {"kind": "sets", "items": {"minimum": 1, "maximum": options.items}}
        for _ in range(options.times):
            start = time.process_time()
            cantle.publish(path, schema, epsilon=1, method="baskets")
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            print(f"{time.process_time() - start:.2f} core-seconds, {peak:.2f} GB at most", flush=True)


if __name__ == "__main__":
    main()
