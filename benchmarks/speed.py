"""Whole runs as a ratio to reading the same file: python benchmarks/speed.py --data DIR [--records N ...] [--times K].

Adult is enlarged by copies with randomly replaced values, published and saved. The ratio is the user and system seconds
of the process, without imports, divided by those of `polars.read_csv` with default arguments (best of five, warm
cache). DIR contains adult/ and adult_hierarchies/. Each run is a separate process, so that peak memory is that of one
run; the best of K runs counts.

Imports, kernels (the extra `fast`) included, are loaded by a run over the first lines of the file before times are
taken; the column "load s" shows how long this takes.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

RUNS = {
    "mosaic": {"method": "mosaic"},
    "rps depth 20": {"method": "rps", "depth": 20, "stop": "count:5", "stop_share": "1/2"},
    "rps": {"method": "rps"},
    "rps paper": {"method": "rps", "preset": "paper"},
    "diffgen": {"method": "diffgen"},
    "diffgen paper": {"method": "diffgen", "preset": "paper"},
}
FEW = 5000
"""Number of lines of a first run, which loads all modules that are imported late: enough (3,750) that it measures its
own error too."""


def measure(table: Path, schema: Path, options: dict[str, object], kernels: bool) -> dict[str, float]:
    """Makes one run in this process; returns seconds by stage and peak memory in GB."""
    if not kernels:
        sys.modules["numba"] = None  # as if it were not installed
    began = time.process_time()
    import cantle
    from cantle import kernel_choice

    kernel_choice.FROM = 0 if kernels else sys.maxsize
    with tempfile.TemporaryDirectory() as folder:
        head = Path(folder) / "head.csv"
        with table.open("rb") as lines:
            head.write_bytes(b"".join(islice(lines, FEW)))
        cantle.publish(head, schema, epsilon=1, **options).save(Path(folder) / "head")
        loaded = time.process_time()
        release = cantle.publish(table, schema, epsilon=1, **options)
        published = time.process_time()
        release.save(Path(folder) / "release")
        saved = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"load": loaded - began, "publish": published - loaded, "save": saved - published, "peak": peak}


def reading(table: Path) -> float:
    """Core-seconds that polars takes to read the file, the best of five."""
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--records", type=int, nargs="*", default=[45_222, 1_000_000])
    parser.add_argument("--runs", nargs="*", choices=RUNS, default=list(RUNS))
    parser.add_argument("--kernels", nargs="*", choices=("no", "yes"), default=["no", "yes"])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--one", nargs=4, metavar=("TABLE", "SCHEMA", "RUN", "KERNELS"), help=argparse.SUPPRESS)
    parser.add_argument("--read", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        table, schema, run, kernels = options.one
        print(json.dumps(measure(Path(table), Path(schema), RUNS[run], kernels == "yes")))
    elif options.read:
        print(json.dumps({"read": reading(Path(options.read))}))
    elif options.data is None:
        print("skipped: --data DIR with adult/ and adult_hierarchies/ is needed")
    else:
        kernels = options.kernels if find_spec("numba") else ["no"]
        table_of_ratios(options.data, options.records, options.runs, kernels, options.times)


def table_of_ratios(data: Path, records: list[int], runs: list[str], kernels: list[str], times: int) -> None:
    import numpy as np

    from cantle_lab.papers import adult
    from cantle_lab.papers.diffgen_figures import blow_up

    columns = ("read s", "load s", "publish s", "save s", "ratio", "peak GB")
    print(f"{'records':>10}  {'run':14}  {'kernels':7}" + "".join(f"  {name:>9}" for name in columns))
    with tempfile.TemporaryDirectory() as folder:
        schema = Path(folder) / "schema.json"
        schema.write_text(json.dumps(adult.schema("all", data)))
        for number in records:
            table = Path(folder) / f"{number}.csv"
            if number == 45_222:
                adult.load(data, "all").write_csv(table)
            else:
                blow_up(adult.load(data, "all"), adult.schema("all"), number, table, np.random.default_rng(0))
            for run in runs:
                for used in kernels:
                    print_ratio(number, table, schema, run, used, times)
            table.unlink()


def print_ratio(number: int, table: Path, schema: Path, run: str, kernels: str, times: int) -> None:
    """Prints one line: the best of some runs, and its ratio to reading the file just before them."""
    read = in_a_process("--read", str(table))["read"]
    took = [in_a_process("--one", str(table), str(schema), run, kernels) for _ in range(times)]
    best = min(took, key=lambda one: one["publish"] + one["save"])
    ratio, peak = (best["publish"] + best["save"]) / read, max(one["peak"] for one in took)
    print(
        f"{number:>10,}  {run:14}  {kernels:7}  {read:9.3f}  {best['load']:9.2f}  {best['publish']:9.2f}  "
        f"{best['save']:9.2f}  {ratio:9.1f}  {peak:9.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
