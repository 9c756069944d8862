"""The commands check and evaluate, which show private facts and are for the curator only."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from cantle.interfaces.cli.options import (
    Json,
    NodesFile,
    SchemaFile,
    argument,
    internal_file,
    option,
    output,
    print_result,
    schema_for,
    write_internal,
)
from cantle.interfaces.cli.release import ReleaseDirOrDefault, release_folder


def check_command(
    data: Annotated[Path, argument("A file: a table, sets of items, or edges.", "DATA")],
    schema: SchemaFile = None,
    limit: Annotated[
        str, option("Exit with 1 if a larger share of values or records is changed or lost.", "SHARE")
    ] = "5%",
    nodes: NodesFile = None,
    to: Annotated[Path | None, output("A new file named *.internal.json or *.internal.txt.")] = None,
    as_json: Json = False,
) -> None:
    """Show what a schema does to your data, before you publish. INTERNAL: it shows private facts.

    For each column it counts missing values, undeclared categories, and values out of bounds or unreadable. It also
    counts the records that would be dropped. It reads the file as publish would, spends nothing, and writes nothing
    unless you ask for it.

    Example: cantle check adult.csv --schema schema.yaml --limit 2%
    """
    from cantle.internal import WARNING
    from cantle.internal.check_and_evaluate import check, conclusion, limit_of
    from cantle.schema import load_schema

    most, public = limit_of(limit), schema_for(str(data), schema)
    target = None if to is None else internal_file(to, (".json", ".txt"))
    warn()
    checked = check(data, load_schema(public), nodes)
    good, words = conclusion(checked, most)
    facts = {"internal": WARNING, "ok": good, "limit": most, "conclusion": words, **checked.to_dict()}

    def show(say: Callable[[str], None] = print) -> None:
        for line in (*checked.lines(), "", words):
            say(line)

    if target is not None:
        lines = [WARNING, ""]
        show(lines.append)
        write_internal(target, json.dumps(facts) if target.suffix == ".json" else "\n".join(lines) + "\n")
    print_result(as_json, facts, show)
    if not good:
        raise typer.Exit(1)


def evaluate_command(
    data: Annotated[Path, argument("The file that was published.", "DATA")],
    folder: ReleaseDirOrDefault = None,
    nodes: NodesFile = None,
    as_json: Json = False,
) -> None:
    """Compare a release with the data it was made from. INTERNAL: do not publish what it prints.

    It compares columns and pairs of columns, and sets the error of 200 random counting questions beside the error that
    the release predicts. For a table with a target, it trains a classifier on the release and tests it on private
    records.

    Example: cantle evaluate adult.csv release
    """
    from cantle.internal import WARNING
    from cantle.internal.check_and_evaluate import evaluate
    from cantle.release import Release
    from cantle.release.kinds import texts_of

    where = release_folder(folder)
    warn()
    release = Release.load(where)
    comparison, stated = evaluate(data, release, nodes), texts_of(release.manifest).accuracy
    facts = {"internal": WARNING, "release": str(where), "stated": stated, **comparison.to_dict()}
    said = ["", "What the release says of itself:", *stated] if stated else []
    print_result(as_json, facts, lambda: print("\n".join([*comparison.lines(), *said])))


def warn() -> None:
    """Warns on stderr, in red on a terminal, that what follows is private."""
    from cantle.internal import WARNING

    typer.secho(WARNING, fg=typer.colors.RED, bold=True, err=True)
