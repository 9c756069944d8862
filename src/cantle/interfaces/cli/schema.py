"""The commands init, which drafts a schema, and schema, which prints the JSON Schema that editors check it with.

`init --ask` asks about the columns of a table. It shows names of columns; no value is read.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cantle.errors import ParameterError, SchemaError
from cantle.interfaces.cli.options import Json, argument, new_file, option, output, print_result, switch, writing
from cantle.schema.declared_values import BLANK

if TYPE_CHECKING:
    from cantle.schema.canonical_json import JSON

_MOST_NAMED = 8
"""At most this many of the columns with blanks are named."""


def init_command(
    data: Annotated[
        Path | None,
        argument(
            "A table (CSV, Excel, Parquet), sets of items (FIMI lines, …), or edges. Not needed with --codebook.",
            "DATA",
            show_default=False,
        ),
    ] = None,
    to: Annotated[Path | None, output("A new file. Default: print the schema.")] = None,
    child: Annotated[
        Path | None, option("The second of two linked tables, whose rows belong to rows of DATA.", "FILE")
    ] = None,
    key: Annotated[
        str | None, option("With --child: the column that links both tables (or PARENT=CHILD).", "COLUMN")
    ] = None,
    kind: Annotated[str | None, option("Default: by the file's name.", "table|sets|sequences|graph")] = None,
    header: Annotated[
        str | None,
        option("CSV and Excel files: whether the first line holds column names, or the line that does.", "yes|no|LINE"),
    ] = None,
    codebook: Annotated[
        Path | None,
        option(
            "Tables: a public description of the columns: a CSV table of name, type, min, max, values; a "
            "Frictionless schema; SDV or SmartNoise metadata; a NIST data dictionary; DDI XML.",
            "FILE",
        ),
    ] = None,
    ask: Annotated[bool, switch("Tables: ask about each column in the terminal. No value is read.", "--ask")] = False,
    infer: Annotated[
        bool,
        option("Tables: guess bounds and categories from the data. Releases made with this schema are NOT private."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a draft of a schema.

    The draft has blanks (???) for what only you know. For a table it lists the columns of the header, with the types
    that a Parquet file declares, or the columns of a code book. Beside the draft, init writes cantle.schema.json, with
    which editors complete and check the schema.

    Example: cantle init adult.csv --header yes -o schema.yaml

    Example: cantle init --codebook variables.csv -o schema.yaml

    Example: cantle init baskets.dat --kind sets -o schema.yaml

    Example: cantle init households.csv --child persons.csv --key hid --header yes -o datapackage.yaml
    """
    from cantle.schema.json_schema import FILE_NAME

    if sum((codebook is not None, ask, infer)) > 1:
        raise ParameterError("--codebook, --ask and --infer are three ways to fill in a schema; choose one")
    if child is not None or key is not None:
        if any((kind, codebook, ask, infer)):
            raise ParameterError(
                "--child drafts a data package of two tables; leave out --kind, --codebook, --ask and --infer"
            )
        text = _package(data, child, key, header, as_json)
    else:
        text = _draft(data, kind, header, codebook, ask, infer, as_json)
    if to is None:
        print_result(as_json, {"schema": text, "guarantee": not infer}, lambda: print(text, end=""))
        return
    _write_new(to, text)
    beside = to.with_name(FILE_NAME)
    if not beside.exists():
        _write_new(beside, _json_schema())
    todo = _to_do(to, data, infer, package=child is not None)
    print_result(as_json, {"schema": str(to), "guarantee": not infer}, lambda: print(f"wrote {to}. {todo}"))


def _package(data: Path | None, child: Path | None, key: str | None, header: str | None, as_json: bool) -> str:
    """The text of the draft of a data package."""
    from cantle.data.draft_schema.families import draft_package, needs_header
    from cantle.errors import DataError

    if data is None or child is None or key is None:
        raise ParameterError("two linked tables need DATA (the parents), --child FILE and --key COLUMN")
    for path in (data, child):
        if not os.path.exists(path):
            raise DataError(f"there is no file {path.name!r}; check the path.")
    asked = any(needs_header(path) for path in (data, child))
    return draft_package(data, child, key, _header_row(data, header, as_json) if asked else None)


def _draft(
    data: Path | None,
    kind: str | None,
    header: str | None,
    codebook: Path | None,
    ask: bool,
    infer: bool,
    as_json: bool,
) -> str:
    """The text of the draft."""
    from cantle.data.draft_schema import draft
    from cantle.data.draft_schema.columns import declared
    from cantle.data.draft_schema.kinds import KINDS, kind_of
    from cantle.data.draft_schema.tables import text_of
    from cantle.data.file_forms import STATISTICS, ending
    from cantle.data.sheets import book_of
    from cantle.errors import DataError
    from cantle.schema import DEFAULT
    from cantle.schema.code_books import read_code_book

    book = [] if codebook is None else book_of(codebook) if ending(codebook) in STATISTICS else read_code_book(codebook)
    if data is None:
        if codebook is None:
            raise ParameterError("init needs DATA, whose columns it lists, or --codebook FILE, which describes them")
        if header is not None or kind not in (None, DEFAULT):
            raise ParameterError("--header and --kind are about DATA; without it a code book describes a table")
        return text_of([one.entry() for one in book])
    kind = kind_of(data, kind)
    drafted = KINDS[kind]
    if not os.path.exists(data):
        raise DataError(f"there is no file {data.name!r}; check the path.")
    for name, given in (("--infer", infer), ("--ask", ask), ("--codebook", codebook is not None)):
        if given and not drafted.lists_columns:
            raise ParameterError(f"{name} is for tables; for {kind} fill in the schema from what could occur")
    if header is not None and not drafted.needs_header(data):
        raise ParameterError("--header is for tables and sets in CSV files; leave it out")
    if not drafted.lists_columns:
        return drafted.draft_of(data, 0 if header is None else _header_row(data, header, as_json))
    named = _header_row(data, header, as_json) if drafted.needs_header(data) else None
    if ask:
        columns, dialect = declared(data, named)
        return text_of(ask_about([(one.name, one.type) for one in columns]), dialect=dialect)
    return draft(data, header=named, infer=infer, book=book)


def _to_do(output: Path, data: Path | None, infer: bool, *, package: bool) -> str:
    """A sentence that says what is left to do with a draft."""
    from cantle.schema import load_schema

    schema = shlex.quote(str(output))
    after = (
        f"cantle check {schema}" if package else f"cantle check {shlex.quote(str(data or 'DATA'))} --schema {schema}"
    )
    if infer:
        return "It was inferred from the data: NO GUARANTEE."
    try:
        load_schema(output)
    except SchemaError as error:
        fields = dict.fromkeys(name for one in error.problems for name in re.findall("field '(.*?)'[,:]", one.text))
        named = ", ".join(list(fields)[:_MOST_NAMED]) + (", …" if len(fields) > _MOST_NAMED else "")
        of = f" of {len(fields)} column{'s' * (len(fields) != 1)} ({named})" if fields else ""
        title = " If that is a title, delete the draft, and say in which line the names are: --header 3."
        return f"Fill in the blanks (???){of}.{title if len(fields) == 1 else ''} Next: {after}"
    return f"It is complete; read it through. Next: {after}"


def _header_row(data: Path, given: str | None, as_json: bool) -> int:
    """The line that holds column names, 0 if there is none: as given, or as the user answers.

    It is never guessed, because a record mistaken for names would be published with the schema.
    """
    if given is None and sys.stdin.isatty() and sys.stderr.isatty() and not as_json:
        asked = f"Does the first line of {data.name} hold column names? (yes, no, or the number of the line that does)"
        given = typer.prompt(asked, err=True).strip()
    said = (given or "").strip().lower()
    if said.isascii() and said.isdigit() and int(said[:9]) > 0:
        return int(said[:9])
    answer = {"yes": 1, "y": 1, "no": 0, "n": 0}.get(said)
    if answer is None:
        rule = "a schema is public, and the first line of a CSV file or a sheet may hold column names or a record"
        names = "--header yes if it holds names, --header 3 if the third line does (below titles)"
        raise ParameterError(f"{rule}; add {names}, --header no if it holds a record")
    return answer


def schema_command(
    to: Annotated[Path | None, output("A new file. Default: print it.")] = None,
) -> None:
    """Print the JSON Schema of schema files.

    Editors complete and check schemas with it. `cantle init -o` writes it beside a draft, whose first line names it.

    Example: cantle schema -o cantle.schema.json
    """
    if to is None:
        print_result(False, {}, lambda: print(_json_schema(), end=""))
    else:
        _write_new(to, _json_schema())


def _json_schema() -> str:
    from cantle.schema.json_schema import json_schema

    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


def _write_new(target: Path, text: str) -> None:
    with writing(new_file(target)), target.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


_KINDS = {
    "i": "integer",
    "n": "number",
    "c": "string",
    "b": "boolean",
    "d": "date",
    "t": "datetime",
    "x": "identifier",
    "": BLANK,
}
_HELP = "i integer, n number, c categories, b boolean, d date, t datetime, x identifier (never published), empty: later"
_LETTERS = {word: letter for letter, word in _KINDS.items()} | {"categories": "c", "string": "c"}


def ask_about(columns: Sequence[tuple[str, str | None]]) -> list[dict[str, JSON]]:
    """The entries of a schema from the user's answers; each is checked at once, and asked for again if it is wrong."""
    entries = []
    typer.echo(f"Answer from what could occur, never from the data. Types: {_HELP}.", err=True)
    for number, (name, kind) in enumerate(columns, 1):
        entries.append(_ask_until_right(f"{name} ({number} of {len(columns)})", name, kind))
    listed = [entry for entry in entries if "categories" in entry or "hierarchy" in entry]
    wanted = _ask("Which column should a classifier predict? (empty: none)", "") if listed else ""
    for entry in listed:
        if entry["name"] == wanted:
            entry["role"] = "target"
    return entries


def _ask(text: str, default: str | None = None) -> str:
    more: dict[str, Any] = {} if default is None else {"default": default, "show_default": bool(default)}
    return str(typer.prompt(text, err=True, **more)).strip()


def _ask_until_right(title: str, name: str, kind: str | None) -> dict[str, JSON]:
    """The schema entry of a column; asks again until its parser accepts it, or it has blanks."""
    from cantle.schema.field_parser import parse_field

    while True:
        entry = _ask_once(title, name, kind)
        if BLANK in entry.values():
            return entry
        try:
            parse_field(entry, 1, ("",))
        except SchemaError as error:
            if "hierarchy" in entry and "there is no file" in str(error):  # it may be in the schema's future folder
                return entry
            typer.echo(f"{error}\nOnce more:", err=True)
        else:
            return entry


def _ask_once(title: str, name: str, kind: str | None) -> dict[str, JSON]:
    """The schema entry of a column from one round of questions."""
    from cantle.interfaces.studio.column_form import entry_of  # the same boxes, filled in

    letter = _ask(f"{title}: type", _LETTERS.get(kind or "", "")).lower()
    chosen = _KINDS.get(_LETTERS.get(letter, letter))
    if chosen is None:
        typer.echo(_HELP, err=True)
        return _ask_once(title, name, kind)
    if chosen == "identifier":
        return {"name": name, "role": "identifier"}
    form = {"type": "" if chosen == BLANK else chosen}
    if chosen == "string":
        answer = _ask("  every value that could occur, separated by commas, or a hierarchy file (job.csv)")
        is_file = "," not in answer and answer.lower().endswith(_HIERARCHIES)
        form |= {"hierarchy_file": answer} if is_file else {"categories": answer.replace(",", "\n")}
    elif chosen not in ("boolean", BLANK):
        form["minimum"] = _ask("  lowest value that could occur")
        form["maximum"] = _ask("  highest value that could occur")
        if chosen in ("number", "datetime"):
            example = "0.1" if chosen == "number" else "15min"
            form["step"] = _ask(f"  precision worth keeping, such as {example}")
    if chosen != BLANK:
        may = _ask("  may it be missing? (yes or no; with no, records without it are dropped)", "yes").lower()
        form["required"] = "yes" if may in ("no", "n") else ""
    return cast("dict[str, JSON]", entry_of(form, {"name": name}))


_HIERARCHIES = (".csv", ".txt", ".hchy", ".hrc", ".yaml", ".yml", ".json")
