"""What each group of compiled kernels gains in a whole run: python benchmarks/kernels.py --data DIR [--records N].

Adult is enlarged as in speed.py and published with all kernels, then with one group switched off after the other; the
factor is the core-seconds without the group by those with all. Each run is a process of its own, and runs with all
kernels alternate with the others, so that both see the same machine. The best of K runs counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from speed import RUNS, measure


def engine() -> None:
    """Regions are counted and divided, and grids counted, without kernels."""
    from cantle.trusted.counting.words import WordEngine

    def plainly(method: Callable[..., Any]) -> Callable[..., Any]:
        def run(self: WordEngine, *asked: object) -> Any:
            held, self.compiled = self.compiled, False
            try:
                return method(self, *asked)
            finally:
                self.compiled = held

        return run

    for name in ("count", "split", "dense"):
        setattr(WordEngine, name, plainly(getattr(WordEngine, name)))


def tables() -> None:
    """Cross tables are counted without kernels."""
    from cantle.trusted.geometry import _count_kernels, cross_tables

    _count_kernels.count_tables = cross_tables.count_tables_plainly


def drawing() -> None:
    """Records are drawn from counts without kernels (rps and diffgen)."""
    from cantle.drawing.counts import public_dice
    from cantle.interfaces import publishing

    publishing.public_dice = lambda seed, **_: public_dice(seed)


def generators() -> None:
    """Records and targets are drawn from a model without kernels (mosaic)."""
    from cantle.methods.mosaic.model import generate, label

    generate.COMPILED_FROM = label.COMPILED_FROM = 1 << 62


def writer() -> None:
    """CSV is written without a kernel."""
    from cantle.drawing.records import Drawn

    Drawn._words = lambda _: None


GROUPS = {one.__name__: one for one in (engine, tables, drawing, generators, writer)}


def seconds(table: Path, schema: Path, run: str, off: str) -> float:
    """The core-seconds of a run in a process of its own."""
    arguments = [sys.executable, __file__, "--one", str(table), str(schema), run, off]
    took = json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)
    return took["publish"] + took["save"]


def compare(data: Path, records: int, runs: list[str], groups: list[str], times: int) -> None:
    import numpy as np

    from cantle_lab.papers import adult
    from cantle_lab.papers.diffgen_figures import blow_up

    with tempfile.TemporaryDirectory() as folder:
        table, schema = Path(folder) / "table.csv", Path(folder) / "schema.json"
        schema.write_text(json.dumps(adult.schema("all", data)))
        blow_up(adult.load(data, "all"), adult.schema("all"), records, table, np.random.default_rng(0))
        print(f"{'off':12}" + "".join(f"  {run:>22}" for run in runs))
        for group in groups:
            cells = []
            for run in runs:
                pairs = [[seconds(table, schema, run, off) for off in ("", group)] for _ in range(times)]
                with_all, without = (min(column) for column in zip(*pairs, strict=True))
                cells.append(f"{with_all:.2f} -> {without:.2f}: {without / with_all:.2f}")
            print(f"{group:12}" + "".join(f"  {cell:>22}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--runs", nargs="*", choices=RUNS, default=["mosaic", "rps", "diffgen"])
    parser.add_argument("--groups", nargs="*", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--one", nargs=4, metavar=("TABLE", "SCHEMA", "RUN", "OFF"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        table, schema, run, off = options.one
        GROUPS.get(off, lambda: None)()
        print(json.dumps(measure(Path(table), Path(schema), RUNS[run] | {"insecure_seed": 3}, kernels=True)))
    elif options.data is None:
        print("skipped: --data DIR with adult/ and adult_hierarchies/ is needed")
    else:
        compare(options.data, options.records, options.runs, options.groups, options.times)


if __name__ == "__main__":
    main()
