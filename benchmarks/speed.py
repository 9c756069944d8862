"""Whole runs as a ratio to reading the same file: python benchmarks/speed.py --data DIR [--records N ...].

Adult, blown up by replacing values at random, published and saved; user and system seconds of this process, imports
taken off, over those of `polars.read_csv` with default arguments (best of five, warm cache). DIR holds adult/ and
adult_hierarchies/. Each run is a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = {
    "rps": {"method": "rps"},
    "rps paper": {"method": "rps", "preset": "paper"},
    "diffgen": {"method": "diffgen"},
    "diffgen paper": {"method": "diffgen", "preset": "paper"},
}


def measure(table: Path, schema: Path, options: dict[str, str]) -> dict[str, float]:
    """One run in this process."""
    import cantle
    import cantle.publishing  # noqa: F401 - imports are not part of the run

    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        release = cantle.publish(table, schema, epsilon=1, **options)
        published = time.process_time()
        release.save(Path(folder) / "release")
        saved = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"publish": published - start, "save": saved - published, "peak": peak}


def reading(table: Path) -> float:
    """Seconds that polars takes to read the file."""
    import polars as pl

    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        pl.read_csv(table)
        best = min(best, time.process_time() - start)
    return best


def in_a_process(*arguments: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--records", type=int, nargs="*", default=[45_222, 1_000_000])
    parser.add_argument("--one", nargs=3, metavar=("TABLE", "SCHEMA", "RUN"), help=argparse.SUPPRESS)
    parser.add_argument("--read", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        table, schema, run = given.one
        print(json.dumps(measure(Path(table), Path(schema), RUNS[run])))
    elif given.read:
        print(json.dumps({"read": reading(Path(given.read))}))
    elif given.data is None:
        print("skipped: --data DIR with adult/ and adult_hierarchies/ is needed")
    else:
        table_of_ratios(given.data, given.records)


def table_of_ratios(data: Path, records: list[int]) -> None:
    import numpy as np

    from cantle.evaluate import adult
    from cantle.evaluate.diffgen_figures import blow_up

    print(f"{'records':>10}  {'run':14}  {'read s':>7}  {'publish s':>9}  {'save s':>7}  {'ratio':>6}  {'peak GB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        schema = Path(folder) / "schema.json"
        schema.write_text(json.dumps(adult.schema("all", data)))
        for number in records:
            table = Path(folder) / f"{number}.csv"
            if number == 45_222:
                adult.load(data, "all").write_csv(table)
            else:
                blow_up(adult.load(data, "all"), adult.schema("all"), number, table, np.random.default_rng(0))
            read = in_a_process("--read", str(table))["read"]
            for run in RUNS:
                took = in_a_process("--one", str(table), str(schema), run)
                ratio = (took["publish"] + took["save"]) / read
                print(
                    f"{number:>10,}  {run:14}  {read:7.3f}  {took['publish']:9.2f}  {took['save']:7.2f}  "
                    f"{ratio:6.1f}  {took['peak']:8.2f}"
                )


if __name__ == "__main__":
    main()
