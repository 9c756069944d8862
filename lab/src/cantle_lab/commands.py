"""The commands reproduce, experiment and bench, which cantle finds by the entry points of this package."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from cantle.errors import ParameterError, raise_alone
from cantle.interfaces.cli.options import Json, print_result

Number = TypeVar("Number", int, float)


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
    from cantle_lab.bench import page as pages
    from cantle_lab.bench import running as cases

    chosen, records = cases.methods_of(methods), _numbers(rows, "--rows", int, least=16)
    axes = [axis for text in grow for axis in cases.words_of(text, cases.AXES, "--grow")]
    pages.check(page)
    able, missing = cases.available(cases.engines_of(engines))
    fixed, skipped = cases.sizes(chosen, able, records)
    everything = [*fixed, *cases.growth(axes, chosen, max(records))]

    def say(text: str) -> None:
        if sys.stderr.isatty():
            print(text, file=sys.stderr)

    bench = cases.run(everything, [*missing, *skipped], repeat=repeat, data=data, say=say)
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


def experiment_command(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A table: CSV, Excel, Parquet, SPSS, …")],
    schema: Annotated[Path, typer.Option("--schema", metavar="FILE", help="Its public schema, with a role: target.")],
    epsilon: Annotated[str, typer.Option(metavar="LIST", help="Privacy budgets to compare.")] = "0.1,0.25,0.5,1",
    rounds: Annotated[
        str, typer.Option(metavar="LIST", help="Numbers h of specialisations of the published DiffGen.")
    ] = "4,7,10,13,16",
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="Random splits into training and test records.")] = 3,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Random seed, for repeatable figures.")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR")] = Path("experiment"),
    as_json: Json = False,
) -> None:
    """Compare on a table of your own how well classifiers learn from releases. INTERNAL: it shows private facts.

    It publishes two thirds of the records with each epsilon and number of specialisations, trains C4.5* on each
    release, and tests it on the other third, beside raw records (the baseline) and the majority class (the lower
    bound). Tables and pictures are those of the DiffGen paper. No ledger is charged, because nothing may be passed on.
    Settings that you choose by the result depend on the data: use a table that is public, or not the one you publish.

    Example: cantle experiment adult.csv --schema adult.yaml --epsilon 0.5,1 --rounds 4,10
    """
    from cantle_lab.papers.experiment import WARNING, experiment

    budgets, numbers = _numbers(epsilon, "--epsilon", float), _numbers(rounds, "--rounds", int)
    print(WARNING, file=sys.stderr)
    printed: list[str] = []
    echo = printed.append if as_json else print
    files = experiment(data, schema, output, epsilons=budgets, rounds=numbers, repeats=repeats, seed=seed, echo=echo)
    answer = {"internal": WARNING, "files": [str(path) for path in files], "table": "\n".join(printed)}
    print_result(as_json, answer, lambda: print("wrote " + ", ".join(map(str, files))))


def _numbers(text: str, option: str, kind: Callable[[str], Number], least: float = 0) -> list[Number]:
    """The numbers of a list with commas, which are positive and at least `least`."""
    try:
        given = [kind(word) for word in text.split(",")]
    except ValueError:
        given = []
    if not given or any(not 0 < one < float("inf") or one < least for one in given):
        at_least = f" from {least} on" if least else ""
        raise_alone(
            ParameterError(f"{option} takes positive numbers{at_least} with commas, such as 100,400; got {text!r}")
        )
    return given
