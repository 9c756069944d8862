"""The commands demo and publish, and the entry point. Commands import heavy modules only when run."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from cantle.errors import CHARGE_NOTE, CantleError, ParameterError, SchemaError
from cantle.interfaces.cli import audit, begin, budget, documents, internal, release
from cantle.interfaces.cli import schema as schemas
from cantle.interfaces.cli.budget import MethodName, Preset
from cantle.interfaces.cli.options import (
    DataSet,
    Json,
    NodesFile,
    Parameters,
    SchemaFile,
    argument,
    chosen,
    needed,
    option,
    output,
    print_result,
    progress,
    public_facts,
    schema_for,
    settings_of,
    speak_utf8,
    switch,
)

_NO_LEDGER = "no ledger is charged, so earlier releases of this data are unknown; see `cantle ledger`"


class _Commands(typer.core.TyperGroup):
    """The commands, of which those of the lab are loaded when they are called.

    The type of a context depends on the version of typer.
    """

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, audit.command_of(name) if name in audit.COMMANDS else command, rest


app = typer.Typer(
    name="cantle",
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Publish private data under pure differential privacy.",
    no_args_is_help=True,
    # Tracebacks with local variables could print records.
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Runs a command. Exit codes: 0 done, 2 wrong usage, 3 schema, 4 data, 5 not verified, 130 Ctrl-C, 143 SIGTERM, and
    1 for all else."""
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # as an exception, so that temporary private folders are deleted
    speak_utf8()
    try:
        app()
    except CantleError as error:
        _complain(error)
    except BrokenPipeError:
        sys.exit(1)
    except (SystemExit, KeyboardInterrupt):
        raise
    except (
        BaseException
    ) as error:  # its text may quote a record, so it is not shown; panics of polars are not Exceptions
        words = [f"unexpected {type(error).__name__}", "nothing was released", *_charge_notes(error)]
        print(f"error: {'; '.join(words)}", file=sys.stderr)
        sys.exit(1)


def _charge_notes(error: BaseException) -> list[str]:
    """Our own notes that a ledger was charged; those of libraries may quote a record."""
    return [note for note in getattr(error, "__notes__", []) if note.startswith(CHARGE_NOTE)]


@contextmanager
def _stoppable() -> Iterator[None]:
    """Reports a charge that remains in the ledger when a command is stopped; click would only print "Aborted!"."""
    try:
        yield
    except KeyboardInterrupt as stop:
        words, code = ["interrupted", *_charge_notes(stop)], 130
    except SystemExit as stop:
        if not _charge_notes(stop):
            raise
        words, code = ["ended by a signal", *_charge_notes(stop)], 143
    else:
        return
    print(f"error: {'; '.join(words)}", file=sys.stderr)
    sys.exit(code)


def _complain(error: CantleError) -> None:
    notes = getattr(error, "__notes__", [])
    message = "; ".join([str(error).rstrip("."), *notes]) if notes else str(error)
    if "--json" in sys.argv:
        more = {"problems": [one.text for one in error.problems]} if isinstance(error, SchemaError) else {}
        print(json.dumps({"error": type(error).__name__, "message": message, **more}))
    print(f"error: {message}", file=sys.stderr)
    sys.exit(error.exit_code)


def publish_command(
    data: Annotated[str, argument("A table (CSV, Excel, Parquet), sets of items (FIMI lines, …), or edges.", "DATA")],
    schema: SchemaFile = None,
    epsilon: Annotated[str | None, option("The whole privacy budget of this release.", "E")] = None,
    method: MethodName = None,
    preset: Preset = "default",
    to: Annotated[Path | None, output("A new folder. Default: release.", "DIR")] = None,
    engine: Annotated[
        str | None,
        option(
            "memory (default), duckdb, spark or database.", "NAME", choices=("memory", "duckdb", "spark", "database")
        ),
    ] = None,
    memory: Annotated[
        str | None, option("Memory that engine duckdb may use to put sets and edges together, such as 4GB.", "SIZE")
    ] = None,
    table: Annotated[str | None, option("The table (databases only).", "NAME")] = None,
    form: Annotated[
        str | None,
        option(
            "csv, parquet, fimi (for sets and sequences) or xes. Default: csv, or the form of the data.",
            "NAME",
            "--format",
            choices=("csv", "parquet", "fimi", "xes"),
        ),
    ] = None,
    nodes: NodesFile = None,
    settings: Parameters = [],  # noqa: B006
    ledger: Annotated[
        str | None, option("The ledger to charge first: a SQLite file or postgresql:// URL.", "FILE")
    ] = None,
    dataset: DataSet = None,
    statement: Annotated[
        Path | None, option("Public facts for the statement (curator, purpose, licence, …), YAML.", "FILE")
    ] = None,
    insecure_seed: Annotated[int | None, option("Make the release repeatable and NOT PRIVATE, for tests.", "N")] = None,
    yes: Annotated[bool, switch("Publish even with an epsilon above 20.", "--yes")] = False,
    dry_run: Annotated[
        bool, switch("Check everything and show the plan; read no data, spend nothing.", "--dry-run")
    ] = False,
    records: Annotated[
        int | None, option("With --dry-run: about how many records there are, from public knowledge.", "N", min=1)
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a private release of a table, sets of items, sequences, a graph, or two linked tables.

    Only the degrees of a graph are released.

    Example: cantle publish adult.csv --schema schema.yaml --epsilon 1 -o release

    Example: cantle publish baskets.dat --schema sets.yaml --epsilon 1 -o baskets

    Example: cantle publish friends.txt --schema graph.yaml --epsilon 1 -o degrees

    Example: cantle publish datapackage.yaml --epsilon 1 -o households

    Example: cantle publish adult.csv --schema schema.yaml --epsilon 1 --dry-run --records 45000

    Options may also be set in cantle.toml in the working folder (schema, epsilon, out, ledger, dataset, …).

    Parameters that --set takes (docs/reference.md has all):

    mosaic: accuracy_share.

    rps: depth, attributes, cuts, quality, stop, leaf_share, oneway_share, bins, records, accuracy_share.

    diffgen: rounds, cells, score, objective, records, accuracy_share.

    baskets: pairs, accuracy_share.

    diffpart: fanout, c1, c2, eta, m, leaf_share, max_cells, accuracy_share. All but the last need preset paper or
    cells=tree.

    journeys: accuracy_share.

    families: accuracy_share.

    degrees: theta.
    """
    from cantle.interfaces.opening import preflight
    from cantle.interfaces.publishing import carry_out, noting_the_charge
    from cantle.trusted.core.budget import NANO

    parameters = settings_of(settings, preset)
    public, whole = Path(schema_for(data, schema)), needed(epsilon, "epsilon", "--epsilon")
    method, engine = budget.method_named(method), chosen(engine, "engine", "memory")
    memory, table, form = chosen(memory, "memory"), chosen(table, "table"), chosen(form, "format")
    ledger, dataset = chosen(ledger, "ledger"), chosen(dataset, "dataset")
    folder = Path(chosen(None if to is None else str(to), "out", "release"))
    own = {"data", "schema", "epsilon", "method", "engine", "memory", "table", "ledger", "dataset", "nodes"}
    reserved = (own | {"insecure_seed"}) & set(parameters)
    if reserved:
        raise ParameterError(f"--set {min(reserved)}: this is an option of its own, not a parameter of the method")
    shared = dict(parameters)
    with _stoppable(), progress():
        order = preflight(
            data,
            public,
            epsilon=whole,
            method=method,
            preset=str(parameters.pop("preset")),
            engine=engine,
            memory=memory,
            table=table,
            ledger=ledger,
            dataset=dataset,
            nodes=nodes,
            insecure_seed=insecure_seed,
            facts=public_facts(statement),
            parameters=parameters,
            output=folder,
            stored_as=form,
        )
        if dry_run:
            guess = records or order.method.parameters().get("records")
            if guess is None:
                raise ParameterError("--dry-run needs --records N: about how many there are, from public knowledge")
            budget.show_plans(budget.make_plans(public, int(guess), [whole], None, method, shared), as_json)
            return
        if records is not None:
            raise ParameterError("--records is for --dry-run; a public number of records is --set records=N")
        spent = order.epsilon_nano / NANO
        if insecure_seed is None:
            budget.require_yes(spent, yes)
            budget.note_caution(spent)
        _name_files(data, engine)
        made = carry_out(order)
        with noting_the_charge(made.ticket):
            made.save(folder, data=form)
    for note in (*made.notes, *([] if ledger else [_NO_LEDGER])):
        print(f"note: {note}", file=sys.stderr)
    from cantle.release.show import facts, overview

    def show() -> None:
        print(f"wrote {folder}/")
        for name, value in overview(made):
            print(f"  {name:10} {value}")
        print(f"next: cantle show {folder} or cantle report {folder}, and cantle verify {folder}")

    print_result(as_json, {"release": str(folder), **facts(made)}, show)


def _name_files(data: str, engine: str) -> None:
    """Says which files are about to be read, if a folder or pattern was given; Spark and databases list their own."""
    from cantle.data.file_forms import taken

    if engine in ("memory", "duckdb") and (words := taken(data)):
        print(f"note: {words}", file=sys.stderr)


_FUNCTIONS = (
    begin.demo_command, schemas.init_command, schemas.schema_command, internal.check_command, budget.plan_command,
    publish_command, release.show_command, release.query_command, documents.report_command,
    documents.statement_command, documents.sign_command, documents.metadata_command, documents.bundle_command,
    release.verify_command, release.sample_command, release.apply_command, release.graph_command,
    release.map_command, internal.evaluate_command, begin.studio_command, audit.audit_command,
)  # fmt: skip
"""The commands in the order in which people need them."""
for command in _FUNCTIONS:
    app.command(command.__name__.removesuffix("_command"))(command)
for name, words in audit.COMMANDS.items():
    app.command(name, help=words)(audit.unloaded)
app.add_typer(budget.ledger_app, name="ledger")


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, switch("Print the version.", "--version")] = False) -> None:
    if version:
        from importlib.metadata import version as of

        print(of("cantle"))
        raise typer.Exit
