"""What a second core is good for: python benchmarks/cores.py TABLE.csv SCHEMA [--times K] [--method rps].

Publishes and saves the table with and without threads (cantle.together): wall and core-seconds, the best of K runs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import cantle
from cantle import fast, together


def run(table: Path, schema: Path, method: str) -> tuple[float, ...]:
    """Wall and core-seconds of publishing, then of saving."""
    with tempfile.TemporaryDirectory() as folder:
        marks = [(time.perf_counter(), time.process_time())]
        release = cantle.publish(table, schema, epsilon=1, method=method)
        marks.append((time.perf_counter(), time.process_time()))
        release.save(Path(folder) / "release")
        marks.append((time.perf_counter(), time.process_time()))
    return tuple(
        b - a for before, after in zip(marks, marks[1:], strict=False) for a, b in zip(before, after, strict=True)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("schema", type=Path)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--method", default="rps")
    given = parser.parse_args()
    fast.FROM, usual = 0, together.threads
    run(given.table, given.schema, given.method)  # loads kernels
    print(f"{'threads':>8}  {'publish wall':>12}  {'core s':>7}  {'save wall':>9}  {'core s':>7}")
    for name, threads in (("none", lambda _: 0), ("usual", usual)):
        together.threads = threads
        runs = [run(given.table, given.schema, given.method) for _ in range(given.times)]
        best = [min(column) for column in zip(*runs, strict=True)]
        print(f"{name:>8}  {best[0]:12.3f}  {best[1]:7.3f}  {best[2]:9.3f}  {best[3]:7.3f}")


if __name__ == "__main__":
    main()
