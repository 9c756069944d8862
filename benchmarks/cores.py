"""Gain from a second core: python benchmarks/cores.py TABLE.csv SCHEMA [--times K] [--method rps].

It publishes and saves the table with and without threads (cantle.drawing.records), and prints wall and
core-seconds, the best of K runs. Each run is a separate process that loads the kernels before times are taken.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

FEW = 3000
"""Number of lines of a first run, which loads all modules that are imported late."""


def measure(table: Path, schema: Path, method: str, threads: str) -> list[float]:
    """Wall and core-seconds of publishing, then of saving, in this process."""
    import cantle
    from cantle import kernel_choice
    from cantle.drawing import records

    kernel_choice.FROM = 0
    if threads == "none":
        records.worth_a_thread = lambda _: False
    with tempfile.TemporaryDirectory() as folder:
        head = Path(folder) / "head.csv"
        with table.open("rb") as lines:
            head.write_bytes(b"".join(islice(lines, FEW)))
        cantle.publish(head, schema, epsilon=1, method=method).save(Path(folder) / "head")
        began = time.perf_counter(), time.process_time()
        release = cantle.publish(table, schema, epsilon=1, method=method)
        published = time.perf_counter(), time.process_time()
        release.save(Path(folder) / "release")
        saved = time.perf_counter(), time.process_time()
    return [published[0] - began[0], published[1] - began[1], saved[0] - published[0], saved[1] - published[1]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("schema", type=Path)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--method", default="rps")
    parser.add_argument("--one", choices=("none", "usual"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.table, options.schema, options.method, options.one)))
        return
    print(f"{'threads':>8}  {'publish wall':>12}  {'core s':>7}  {'save wall':>9}  {'core s':>7}")
    for threads in ("none", "usual"):
        command = [sys.executable, __file__, str(options.table), str(options.schema), "--method", options.method]
        runs = [
            json.loads(subprocess.run([*command, "--one", threads], check=True, capture_output=True, text=True).stdout)
            for _ in range(options.times)
        ]
        best = [min(column) for column in zip(*runs, strict=True)]
        print(f"{threads:>8}  {best[0]:12.3f}  {best[1]:7.3f}  {best[2]:9.3f}  {best[3]:7.3f}", flush=True)


if __name__ == "__main__":
    main()
