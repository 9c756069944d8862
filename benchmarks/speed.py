"""Whole runs as a ratio to reading the same file: python benchmarks/speed.py --data DIR [--records N ...] [--times K].

    --beside FOLDER      a checkout of another commit: the same runs with its code, in turns, and the factor
    --parquet            read Parquet, and keep the records in files (engine duckdb)

Adult is enlarged by copies with randomly replaced values, published and saved. The ratio is the user and system seconds
of the process, without imports, divided by those of `polars.read_csv` with default arguments (best of five, warm
cache). DIR contains adult/ and adult_hierarchies/. Each run is a separate process, so that peak memory is that of one
run; the best of K runs counts.

Memory is the peak of all pages of the process, those of mapped files included, and beside it that of its own memory
(Linux only). Imports, kernels (the extra `fast`) included, are loaded by a run over the first lines of the file before
times are taken; the column "load s" shows how long this takes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
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
    if table.suffix == ".parquet":
        options = {**options, "engine": "duckdb"}
    with tempfile.TemporaryDirectory() as folder:
        cantle.publish(_head(table, Path(folder)), schema, epsilon=1, **options).save(Path(folder) / "head")
        own = OwnMemory()
        loaded = time.process_time()
        release = cantle.publish(table, schema, epsilon=1, **options)
        published = time.process_time()
        release.save(Path(folder) / "release")
        saved = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    times = {"load": loaded - began, "publish": published - loaded, "save": saved - published}
    return times | {"peak": peak, "own": own.most / 1e6}


def _head(table: Path, folder: Path) -> Path:
    """A file of the first records."""
    head = folder / f"head{table.suffix}"
    if table.suffix == ".parquet":
        import polars as pl

        pl.read_parquet(table, n_rows=FEW).write_parquet(head)
    else:
        with table.open("rb") as lines:
            head.write_bytes(b"".join(islice(lines, FEW)))
    return head


class OwnMemory:
    """The most memory that this process holds besides mapped files, in kB; looked at twenty times a second."""

    def __init__(self) -> None:
        self.most, self._status = 0, Path("/proc/self/status")
        if self._status.exists():
            threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            (line,) = (one for one in self._status.read_text().splitlines() if one.startswith("RssAnon"))
            self.most = max(self.most, int(line.split()[1]))
            time.sleep(0.05)


def reading(table: Path) -> float:
    """Core-seconds that polars takes to read the file, the best of five."""
    import polars as pl

    best, read = float("inf"), pl.read_parquet if table.suffix == ".parquet" else pl.read_csv
    for _ in range(5):
        start = time.process_time()
        read(table)
        best = min(best, time.process_time() - start)
    return best


def in_a_process(*arguments: str, tree: Path | None = None) -> dict[str, float]:
    """The result of this script, or of that of another checkout."""
    script, environment = Path(__file__), dict(os.environ)
    if tree is not None:
        script, environment["PYTHONPATH"] = tree / "benchmarks" / script.name, str(tree / "src")
    words = [sys.executable, str(script), *arguments]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True, env=environment).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--records", type=int, nargs="*", default=[45_222, 1_000_000])
    parser.add_argument("--runs", nargs="*", choices=RUNS, default=list(RUNS))
    parser.add_argument("--kernels", nargs="*", choices=("no", "yes"), default=["no", "yes"])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--parquet", action="store_true")
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
        options.kernels = kernels
        table_of_ratios(options)


def table_of_ratios(options: argparse.Namespace) -> None:
    import numpy as np
    import polars as pl

    from cantle_lab.papers import adult
    from cantle_lab.papers.diffgen_figures import blow_up

    data, columns = options.data, ("read s", "load s", "publish s", "save s", "ratio", "peak GB", "own GB")
    columns += ("beside s", "factor") if options.beside else ()
    print(f"{'records':>10}  {'run':14}  {'kernels':7}" + "".join(f"  {name:>9}" for name in columns))
    with tempfile.TemporaryDirectory() as folder:
        schema = Path(folder) / "schema.json"
        schema.write_text(json.dumps(adult.schema("all", data)))
        for number in options.records:
            table = Path(folder) / f"{number}.csv"
            if number == 45_222:
                adult.load(data, "all").write_csv(table)
            else:
                blow_up(adult.load(data, "all"), adult.schema("all"), number, table, np.random.default_rng(0))
            if options.parquet:
                pl.scan_csv(table).sink_parquet(table.with_suffix(".parquet"))
                table.unlink()
                table = table.with_suffix(".parquet")
            for run in options.runs:
                for used in options.kernels:
                    print_ratio(number, table, (str(table), str(schema), run, used), options)
            table.unlink()


def print_ratio(number: int, table: Path, case: tuple[str, str, str, str], options: argparse.Namespace) -> None:
    """Prints one line: the best of some runs, and its ratio to reading the file just before them."""
    read = in_a_process("--read", str(table))["read"]
    took, beside = [], []
    for _ in range(options.times):
        took.append(in_a_process("--one", *case))
        if options.beside:
            beside.append(in_a_process("--one", *case, tree=options.beside))
    best, *other = (min(some, key=whole) for some in (took, beside) if some)
    numbers = [best["load"], best["publish"], best["save"], whole(best) / read]
    numbers += [max(one[key] for one in took) for key in ("peak", "own")]
    numbers += [number for one in other for number in (whole(one), whole(best) / whole(one))]
    shown = "".join(f"  {one:9.2f}" for one in numbers)
    print(f"{number:>10,}  {case[2]:14}  {case[3]:7}  {read:9.3f}{shown}", flush=True)


def whole(took: dict[str, float]) -> float:
    """The core-seconds of publishing and saving."""
    return took["publish"] + took["save"]


if __name__ == "__main__":
    main()
