"""Many sets: python benchmarks/many_items.py [--rows N] [--engine duckdb] [--method auto] [--memory 4GB].

It makes a Parquet table of N rows (basket, item), with about ten items per basket out of 10,000 and in no order within
blocks, publishes it by `cantle publish`, and prints core-seconds, wall time and peak memory of that process (for engine
spark without the processes that it starts).
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ITEMS, MEAN, BLOCK = 10_000, 10, 500_000
"""Items of the universe, mean rows per basket, and baskets that are made at a time."""

SCHEMA = f"kind: sets\nform: long\nitems: {{minimum: 1, maximum: {ITEMS}}}\n"


def make(path: Path, rows: int) -> None:
    """Writes a table with one item per row; items are skewed, and some rows are written twice."""
    import pyarrow as pa
    import pyarrow.parquet

    dice, first = np.random.default_rng(1), 0
    types = pa.schema([("id", pa.int64()), ("item", pa.int64())])
    with pa.parquet.ParquetWriter(path, types) as writer:
        while rows > 0:
            sizes = dice.poisson(MEAN - 1, BLOCK) + 1
            ids = np.repeat(np.arange(first, first + BLOCK), sizes)[:rows]
            items = (ITEMS * dice.random(len(ids)) ** 3).astype(np.int64) + 1
            order = dice.permutation(len(ids))
            writer.write_table(pa.table([ids[order], items[order]], schema=types))
            first, rows = first + BLOCK, rows - len(ids)


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--rows", type=int, default=100_000_000)
    ask.add_argument("--engine", default="duckdb", choices=["memory", "duckdb", "spark"])
    ask.add_argument("--method", default="auto", choices=["auto", "baskets"])
    ask.add_argument("--memory", default="4GB", help="of engine duckdb")
    ask.add_argument("--folder", default=None, help="where files are made; by default the temporary folder")
    options = ask.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        folder = Path(place)
        (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
        make(folder / "baskets.parquet", options.rows)
        arguments = ["publish", "baskets.parquet", "--schema", "schema.yaml", "--epsilon", "1", "--output", "release"]
        arguments += ["--engine", options.engine, "--method", options.method]
        arguments += ["--memory", options.memory] if options.engine == "duckdb" else []
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", "from cantle.interfaces.cli import main; main()", *arguments], cwd=folder, check=True
        )
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds, wall = used.ru_utime + used.ru_stime, time.perf_counter() - start
        print(f"{options.rows:,} rows: {seconds:.1f} core-seconds, {wall:.0f} s, {used.ru_maxrss / 1e6:.2f} GB at most")


if __name__ == "__main__":
    main()
