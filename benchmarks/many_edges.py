"""Graphs larger than memory: python benchmarks/many_edges.py [--edges N] [--nodes N] [--engine duckdb] [--memory 1GiB].

It makes an edge list of N lines in no order, with skewed degrees, publishes its degrees by `cantle publish` for
`unit: edge`, and prints core-seconds, wall time and peak memory of that process.
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

BLOCK = 1_000_000
"""The number of lines that are made at a time."""


def make(path: Path, edges: int, nodes: int) -> None:
    """Writes lines of two numbers; a few edges are loops or written twice."""
    import polars as pl

    dice = np.random.default_rng(1)
    with path.open("wb") as file:
        for first in range(0, edges, BLOCK):
            ends = (nodes * dice.random((min(BLOCK, edges - first), 2)) ** 2).astype(np.int64)
            pl.DataFrame(ends, schema=["one", "two"]).write_csv(file, include_header=False, separator=" ")


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--edges", type=int, default=20_000_000)
    ask.add_argument("--nodes", type=int, default=1_000_000)
    ask.add_argument("--engine", default="duckdb", choices=["memory", "duckdb"])
    ask.add_argument("--memory", default="1GiB", help="of engine duckdb")
    ask.add_argument("--folder", default=None, help="where files are made; by default the temporary folder")
    options = ask.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        folder = Path(place)
        nodes = f"{{minimum: 0, maximum: {options.nodes - 1}}}"
        (folder / "schema.yaml").write_text(f"kind: graph\nunit: edge\nnodes: {nodes}\n", encoding="utf-8")
        make(folder / "edges.txt", options.edges, options.nodes)
        arguments = ["publish", "edges.txt", "--schema", "schema.yaml", "--epsilon", "1", "--output", "release"]
        arguments += ["--engine", "duckdb", "--memory", options.memory] if options.engine == "duckdb" else []
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", "from cantle.interfaces.cli import main; main()", *arguments], cwd=folder, check=True
        )
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds, wall = used.ru_utime + used.ru_stime, time.perf_counter() - start
        print(
            f"{options.edges:,} edges: {seconds:.1f} core-seconds, {wall:.0f} s, {used.ru_maxrss / 1e6:.2f} GB at most"
        )


if __name__ == "__main__":
    main()
