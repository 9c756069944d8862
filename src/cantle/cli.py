"""The command line. Heavy modules are imported by the command that needs them, so that --help is quick."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cantle.errors import CantleError, ParameterError

app = typer.Typer(
    name="cantle",
    help="Publish private data under pure differential privacy.",
    no_args_is_help=True,
    add_completion=False,
    # Tracebacks with local variables would print records.
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]
ReleaseDir = Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.")]


def main() -> None:
    """Runs a command; exit codes: 0 done, 1 refused or failed, 2 usage."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as an exception, so that private folders are deleted
    try:
        app()
    except ParameterError as error:
        _complain(error, 2)
    except CantleError as error:
        _complain(error, 1)
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 - whatever it says may quote a record, so it is not shown
        print(f"error: unexpected {type(error).__name__}; nothing was released", file=sys.stderr)
        sys.exit(1)


def _complain(error: CantleError, code: int) -> None:
    message = "; ".join([str(error), *getattr(error, "__notes__", [])])
    if "--json" in sys.argv:
        print(json.dumps({"error": type(error).__name__, "message": message}))
    print(f"error: {message}", file=sys.stderr)
    sys.exit(code)


def _tell(as_json: bool, facts: dict[str, Any], text: Callable[[], None]) -> None:
    """Prints facts as JSON, or runs the printer for people."""
    if as_json:
        print(json.dumps(facts))
    else:
        text()


def _table(title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right")
    for row in rows:
        table.add_row(*row)
    Console(soft_wrap=True).print(table)


@contextmanager
def _progress() -> Iterator[None]:
    """Phases and levels on stderr while it lasts; silent when stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    import logging

    from rich.console import Console

    logger = logging.getLogger("cantle")
    with Console(stderr=True).status("starting") as status:

        class Show(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                status.update(record.getMessage())

        handler = Show()
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(handler)


def _settings(pairs: list[str]) -> dict[str, Any]:
    """key=value pairs, the value read as a YAML scalar."""
    import yaml

    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.isidentifier():
            raise ParameterError(f"--set takes key=value, got {pair!r}; for example --set depth=6")
        try:
            settings[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise ParameterError(f"--set {key}: the value is not a YAML scalar") from None
        if isinstance(settings[key], (dict, list)):
            raise ParameterError(f"--set {key}: the value is not a YAML scalar")
    return settings


@app.command()
def demo(
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where the release goes.")
    ] = None,
    epsilon: Annotated[str, typer.Option(help="The privacy budget.")] = "1",
    as_json: Json = False,
) -> None:
    """Make a small private population, publish it, and show what came out.

    Example: cantle demo
    """
    from cantle import demo as made
    from cantle.publishing import publish
    from cantle.release import check_free

    folder = check_free(output) if output else _free_name("cantle-demo")
    truth = made.population()
    with _progress():
        release = publish(truth, made.SCHEMA, epsilon=epsilon, method="rps")
        release.save(folder)
    rows = made.comparison(truth, release.records)

    def show() -> None:
        print(f"{len(truth):,} made-up people, published with epsilon {release.manifest['epsilon']} in {folder}/\n")
        _table("What went in (shown only because this is a demo) and what came out", ("", "private", "released"), rows)
        print(f"\nRead {folder}/statement.md for the promise, then try:")
        print(f"  cantle show {folder}\n  cantle verify {folder}\n  cantle sample {folder} -n 5")

    facts = [{"fact": name, "private": private, "released": released} for name, private, released in rows]
    _tell(as_json, {"release": str(folder), "comparison": facts}, show)


def _free_name(stem: str) -> Path:
    """stem, or stem-2, stem-3, …: the first that does not exist."""
    number, folder = 1, Path(stem)
    while folder.exists():
        number += 1
        folder = Path(f"{stem}-{number}")
    return folder


@app.command()
def init(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The file: a table, sets (FIMI, …), or edges.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Default: print it.")] = None,
    kind: Annotated[str | None, typer.Option(help="table, sets or graph; default: by the file's name.")] = None,
    infer: Annotated[bool, typer.Option(help="Of a table: read bounds and categories off it, no guarantee.")] = False,
    as_json: Json = False,
) -> None:
    """Write a commented schema, of a table from its header and column types, with blanks for what only you know.

    Example: cantle init adult.csv -o schema.yaml

    Example: cantle init baskets.dat --kind sets -o schema.yaml
    """
    from cantle.blanks import blank, kind_of
    from cantle.draft import draft
    from cantle.errors import OutputError

    kind = kind_of(data, kind)
    if infer and kind != "table":
        raise ParameterError(f"--infer is for tables; for {kind} fill in the schema from what could occur")
    text = draft(data, infer=infer) if kind == "table" else blank(data, kind)
    if output is None:
        _tell(as_json, {"schema": text, "guarantee": not infer}, lambda: print(text, end=""))
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise OutputError(f"{output} exists already; choose another -o file") from None
    except OSError as error:
        raise OutputError(f"cannot write {output}: {error.strerror}") from None
    todo = "It was read off the data: NO GUARANTEE." if infer else "Fill the blanks (???), then: cantle publish"
    _tell(as_json, {"schema": str(output), "guarantee": not infer}, lambda: print(f"wrote {output}. {todo}"))


@app.command("publish")
def publish_command(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A table (CSV, Parquet), sets (FIMI, …), or edges.")],
    schema: Annotated[Path, typer.Option("--schema", metavar="FILE", help="The public schema, YAML or JSON.")],
    epsilon: Annotated[str, typer.Option(help="The whole privacy budget of this release.")],
    method: Annotated[str, typer.Option(help="auto, rps, diffgen, diffpart or degrees.")] = "auto",
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="A new folder.")] = Path("release"),
    engine: Annotated[str, typer.Option(help="memory, duckdb, spark or database.")] = "memory",
    memory: Annotated[str | None, typer.Option(metavar="SIZE", help="Limit of engine duckdb, such as 4GB.")] = None,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="Of a database: which table.")] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="csv, parquet or fimi (sets); default: csv, sets as they came in.")
    ] = None,
    nodes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Of a graph: a private list of all nodes, one a line.")
    ] = None,
    settings: Annotated[list[str], typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the method.")] = [],  # noqa: B006
    ledger: Annotated[str | None, typer.Option(metavar="FILE", help="Charge epsilon there first: file or URL.")] = None,
    dataset: Annotated[str | None, typer.Option(metavar="NAME", help="The data set's name in the ledger.")] = None,
    insecure_seed: Annotated[int | None, typer.Option(help="Repeatable, and NOT PRIVATE: for tests.")] = None,
    as_json: Json = False,
) -> None:
    """Publish a table, sets of items, or the degrees of a graph, as the schema says (kind: table, sets or graph).

    Example: cantle publish adult.csv --schema schema.yaml --epsilon 1 -o release

    Example: cantle publish baskets.dat --schema sets.yaml --epsilon 1 -o baskets

    Example: cantle publish friends.txt --schema graph.yaml --epsilon 1 -o degrees
    """
    from cantle.forms import require_storable
    from cantle.publishing import publish
    from cantle.release import check_free, check_writable
    from cantle.schema import Schema

    check_writable(check_free(output))
    declared = Schema.load(schema)
    require_storable(declared, form)
    parameters = _settings(settings)
    own = {"data", "schema", "epsilon", "method", "engine", "memory", "table", "ledger", "dataset", "nodes"}
    reserved = (own | {"insecure_seed"}) & set(parameters)
    if reserved:
        raise ParameterError(f"--set {min(reserved)}: this is an option of its own, not a parameter of the method")
    with _progress():
        options: dict[str, Any] = {
            "engine": engine,
            "memory": memory,
            "table": table,
            "ledger": ledger,
            "dataset": dataset,
            "nodes": nodes,
            "insecure_seed": insecure_seed,
        }
        release = publish(data, declared, epsilon=epsilon, method=method, **options, **parameters)
        release.save(output, data=form)
    from cantle.show import overview

    facts = overview(release)

    def show() -> None:
        print(f"wrote {output}/")
        for name, value in facts:
            print(f"  {name:10} {value}")

    _tell(as_json, {"release": str(output), **dict(facts), "private": release.private}, show)


@app.command("show")
def show_command(
    folder: ReleaseDir,
    depth: Annotated[int, typer.Option(min=0, help="How deep the tree is drawn.")] = 3,
    as_json: Json = False,
) -> None:
    """The statement's main facts, the budget by path, and the tree of regions, the largest sets or the degrees.

    Example: cantle show release
    """
    from cantle.release import Release
    from cantle.show import budget_lines, overview, tree_lines

    release = Release.load(folder)

    def show() -> None:
        for name, value in overview(release):
            print(f"{name:10} {value}")
        print("\nBudget")
        for line in budget_lines(release.manifest):
            print(line)
        print("\n" + {"sets": "Sets", "graph": "Nodes by degree"}.get(release.manifest["kind"], "Regions"))
        for line in tree_lines(release, depth):
            print(line)

    _tell(as_json, release.manifest, show)


@app.command("verify")
def verify_command(folder: ReleaseDir, as_json: Json = False) -> None:
    """Re-add every path of the receipt, check hashes, schema, statement and counts.

    Example: cantle verify release
    """
    from cantle.verify import verify_folder

    found = verify_folder(folder)

    def show() -> None:
        for problem in found:
            print(f"off: {problem}")
        print(f"{folder}: {'does not add up' if found else 'adds up'}")

    _tell(as_json, {"release": str(folder), "ok": not found, "problems": found}, show)
    if found:
        raise typer.Exit(1)


@app.command("sample")
def sample_command(
    folder: ReleaseDir,
    n: Annotated[int, typer.Option("-n", min=0, help="How many records (of a graph: degrees).")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="A CSV, of sets FIMI lines; default: print.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Any; drawing from released counts costs nothing.")] = None,
    as_json: Json = False,
) -> None:
    """Draw more synthetic records from a release; post-processing, costs nothing.

    Example: cantle sample release -n 1000 -o more.csv
    """
    from cantle.errors import OutputError
    from cantle.forms import as_text, number_of
    from cantle.release import Release

    release = Release.load(folder)
    records = release.sample(n, seed=seed)
    text, drawn = as_text(records, release.manifest), number_of(records, release.manifest)
    if output is None:
        _tell(as_json, {"records": drawn, "csv": text}, lambda: print(text, end=""))
        return
    if output.exists():
        raise OutputError(f"{output} exists already; choose another -o file")
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write {output}: {error.strerror}") from None
    _tell(as_json, {"records": drawn, "file": str(output)}, lambda: print(f"wrote {output}: {drawn} records"))


@app.command("graph")
def graph_command(
    folder: ReleaseDir,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="A new edge list.")],
    seed: Annotated[int | None, typer.Option(min=0, help="Any; the degrees are already public.")] = None,
    as_json: Json = False,
) -> None:
    """Regenerate a graph from a released degree sequence. Its degrees are those released; its clustering is not.

    Example: cantle graph release -o graph.txt
    """
    from cantle.errors import OutputError
    from cantle.forms import as_polars
    from cantle.regenerate import regenerate, write_edges
    from cantle.release import Release

    release = Release.load(folder)
    if release.manifest["method"] != "degrees":
        raise ParameterError("only a degrees release can be made a graph; this one is by another method")
    if output.exists():
        raise OutputError(f"{output} exists already; choose another -o file")
    degrees = as_polars(release.records)["degree"].to_numpy()
    edges = regenerate(degrees, seed)
    try:
        write_edges(edges, output, nodes=len(degrees))
    except OSError as error:
        raise OutputError(f"cannot write {output}: {error.strerror}") from None
    note = "degrees as released (made graphical); who is joined with whom, and clustering, are made up"
    told = {"file": str(output), "nodes": len(degrees), "edges": len(edges), "note": note}
    _tell(as_json, told, lambda: print(f"wrote {output}: {len(degrees)} nodes, {len(edges)} edges; {note}"))


@app.command("apply")
def apply_command(
    folder: ReleaseDir,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Another table of the same schema.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Named *.internal.csv.")] = None,
    as_json: Json = False,
) -> None:
    """Generalise another file (a test set, next year's data) with the cuts of a diffgen release. NOT PRIVATE.

    Example: cantle apply release test.csv -o test.internal.csv
    """
    from cantle.errors import OutputError
    from cantle.release import Release

    target = output or Path(f"{data.stem}.internal.csv")
    if not target.name.endswith(".internal.csv"):
        raise ParameterError(f"the output is not private and must be named *.internal.csv, got {target.name!r}")
    if target.exists():
        raise OutputError(f"{target} exists already; choose another -o file")
    if folder.resolve() in target.resolve().parents:
        raise OutputError("the output is not private and must not lie in the release folder; choose another -o file")
    print("NOT PRIVATE: made from the records of the data without noise; for internal use", file=sys.stderr)
    table = Release.load(folder).generalise(data)
    try:
        table.write_csv(target)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror}") from None
    _tell(as_json, {"file": str(target), "private": False}, lambda: print(f"wrote {target}"))


@app.command("reproduce")
def reproduce_command(
    figures: Annotated[
        list[str] | None, typer.Argument(metavar="FIGURE...", help="Default: list them; or all.")
    ] = None,
    data: Annotated[Path | None, typer.Option("--data", metavar="DIR", help="Where the data sets lie.")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR")] = Path("figures"),
    repeats: Annotated[int, typer.Option(min=1, help="Repetitions of each point.")] = 5,
    quick: Annotated[bool, typer.Option(help="One repetition, few points.")] = False,
    seed: Annotated[int | None, typer.Option(help="Repeatable evaluation.")] = None,
    as_json: Json = False,
) -> None:
    """Rebuild figures of the papers: a table, a CSV and a picture each.

    Example: cantle reproduce rps-fig1 rps-fig2 rps-fig3 --data data/
    """
    from cantle.evaluate.figures import FIGURES, reproduce

    if not figures:
        _tell(as_json, {"figures": list(FIGURES)}, lambda: print("\n".join(FIGURES)))
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
    _tell(as_json, {"files": [str(path) for path in files]}, lambda: print("wrote " + ", ".join(map(str, files))))


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        from importlib.metadata import version as of

        print(of("cantle"))
        raise typer.Exit


from cantle.cli_ledger import ledger_app  # noqa: E402 - its commands print with the functions above

app.add_typer(ledger_app, name="ledger")

from cantle.cli_bench import bench_command  # noqa: E402 - as above

app.command("bench")(bench_command)

from cantle.cli_audit import audit_command  # noqa: E402 - as above

app.command("audit")(audit_command)
