"""The commands reproduce and bench, which cantle finds by the entry points of this package."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cantle.interfaces.cli.output import Json, print_result


def bench_command(
    methods: Annotated[
        str,
        typer.Option(
            metavar="LIST", help="Some of mosaic, rps, diffgen, diffpart, baskets, degrees; with a preset: rps:paper."
        ),
    ] = "rps,diffgen,diffpart,degrees",
    rows: Annotated[str, typer.Option(metavar="LIST", help="Numbers of records (graphs: of edges).")] = (
        "45222,1000000"
    ),
    engines: Annotated[str, typer.Option(metavar="LIST", help="Some of memory, duckdb, spark.")] = "memory",
    repeat: Annotated[int, typer.Option(min=1, metavar="N", help="Runs per case; the best one counts.")] = 3,
    grow: Annotated[
        list[str],
        typer.Option(metavar="AXIS", help="Measure growth with rows, attributes or universe; may be repeated."),
    ] = [],  # noqa: B006
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="A folder with adult/: enlarge Adult instead of making up tables."),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR")] = Path("bench"),
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the numbers into this page, between its markers.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure speed and memory of whole runs.

    The data is made up. Times are also given as ratios to reading the same file.

    Example: cantle bench --rows 45222,1000000 --engines memory,duckdb --grow rows
    """
    from cantle_lab.bench import cases
    from cantle_lab.bench import page as pages
    from cantle_lab.bench.running import run

    chosen, records = cases.methods_of(methods), cases.numbers_of(rows, "--rows")
    axes = [axis for text in grow for axis in cases.words_of(text, cases.AXES, "--grow")]
    pages.check(page)
    able, missing = cases.available(cases.engines_of(engines))
    fixed, skipped = cases.sizes(chosen, able, records)
    everything = [*fixed, *cases.growth(axes, chosen, max(records))]

    def note(text: str) -> None:
        print(text, file=sys.stderr)

    quiet = not sys.stderr.isatty()
    bench = run(everything, [*missing, *skipped], repeat=repeat, data=data, say=(lambda _: None) if quiet else note)
    files = pages.write(bench, output)
    if page is not None:
        given = ["--data DIR"] if data is not None else []
        given += [f"--methods {methods}", f"--rows {rows}", f"--engines {engines}", f"--repeat {repeat}"]
        given += [f"--grow {axis}" for axis in axes]
        pages.put(bench, page, " ".join(["cantle bench", *given, f"--page {page.parent.name}/{page.name}"]))
        files.append(page)

    def show() -> None:
        print(pages.report(bench))
        print("wrote " + ", ".join(map(str, files)))

    print_result(as_json, pages.facts(bench) | {"files": [str(path) for path in files]}, show)


def reproduce_command(
    figures: Annotated[
        list[str] | None, typer.Argument(metavar="FIGURE...", help="Names of figures, or all. Default: list them.")
    ] = None,
    data: Annotated[Path | None, typer.Option("--data", metavar="DIR", help="The folder with the data sets.")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR")] = Path("figures"),
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="Repetitions of each point.")] = 5,
    quick: Annotated[bool, typer.Option(help="One repetition, few points.")] = False,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Random seed, for repeatable figures.")] = None,
    as_json: Json = False,
) -> None:
    """Rebuild figures of the papers. Each gives a table, a CSV file and a picture.

    Example: cantle reproduce rps-fig1 rps-fig2 rps-fig3 --data data/
    """
    from cantle_lab.papers.figures import FIGURES, reproduce

    if not figures:
        about = {name: figure.about for name, figure in FIGURES.items()}
        listed = [f"{name:20} {text}" for name, text in about.items()]
        print_result(as_json, {"figures": about}, lambda: print("\n".join(listed)))
        return

    def note(text: str) -> None:
        print(text, file=sys.stderr)

    # With --json the tables go to stderr, so that stdout holds one object.
    files = reproduce(
        figures,
        out=output,
        data_dir=data,
        repeats=repeats,
        quick=quick,
        seed=seed,
        echo=note if as_json else print,
        progress=note if sys.stderr.isatty() else lambda _: None,
    )
    print_result(
        as_json, {"files": [str(path) for path in files]}, lambda: print("wrote " + ", ".join(map(str, files)))
    )
