"""Options that several commands share, where their values come from, and output: JSON or text, tables, progress.

Values come from the command line (--set key=value among them), from `cantle.toml` in the working folder, or from the
environment variable CANTLE_LEDGER. An option on the command line takes precedence over `cantle.toml`, and `cantle.toml`
over the environment.

    schema = "schema.yaml"
    epsilon = 0.5
    out = "release"
    ledger = "ledger.db"
    dataset = "patients"
    [statement]
    curator = "Example Health Office"

The table `statement` has the public facts for the statement (docs/reference.md, facts).
"""

from __future__ import annotations

import io
import json
import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, overload

import typer

from cantle.errors import OutputError, ParameterError, raise_alone, replacing

if TYPE_CHECKING:
    from cantle.release.facts import Facts


FILE = "cantle.toml"
LEDGER_VARIABLE = "CANTLE_LEDGER"
KEYS = ("schema", "epsilon", "method", "out", "engine", "memory", "table", "format", "ledger", "dataset")
STATEMENT = "statement"
"""The table of public facts."""


def defaults() -> dict[str, str]:
    """The values of options that `cantle.toml` and the environment set, by key."""
    values = {"ledger": os.environ[LEDGER_VARIABLE]} if os.environ.get(LEDGER_VARIABLE) else {}
    for key, value in _document().items():
        if key == STATEMENT:
            continue
        if key not in KEYS:
            raise ParameterError(f"{FILE}: key {key!r} is not known; use {', '.join((*KEYS, STATEMENT))}")
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ParameterError(f'{FILE}: {key} is neither a text nor a number; write {key} = "…"')
        values[key] = str(value)
    return values


def _document() -> dict[str, object]:
    """What `cantle.toml` says; nothing if there is none."""
    path = Path(FILE)
    if not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"), parse_float=str)  # budgets are exact decimals
    except tomllib.TOMLDecodeError as broken:
        raise_alone(ParameterError(f"{FILE} is not valid TOML: {broken}"))
    except (OSError, ValueError):
        raise_alone(ParameterError(f"{FILE} cannot be read as UTF-8 text; check it and its permissions"))


def public_facts(option: Path | None) -> Facts:
    """The facts for the statement: from the file of the option, else from the table `statement` of `cantle.toml`."""
    from cantle.release.facts import Facts, facts_from

    if option is not None:
        return facts_from(option)
    return Facts.from_dict(_document().get(STATEMENT, {}), f"{FILE}: [{STATEMENT}]")


@overload
def chosen(option: str | None, key: str) -> str | None: ...
@overload
def chosen(option: str | None, key: str, otherwise: str) -> str: ...
def chosen(option: str | None, key: str, otherwise: str | None = None) -> str | None:
    """The value of an option: as given, else from `cantle.toml` or the environment, else `otherwise`."""
    return option if option is not None else defaults().get(key, otherwise)


def needed(option: str | Path | None, key: str, flag: str) -> str:
    """The same for an option that a command needs; raises a ParameterError if it has no value."""
    value = chosen(None if option is None else str(option), key)
    if value is None:
        first = "; `cantle init DATA -o schema.yaml` drafts one" if key == "schema" else ""
        raise ParameterError(f'{flag} is missing; give it, or write {key} = "…" in {FILE}{first}')
    return value


PACKAGES = (".yaml", ".yml", ".json")
"""The endings of data packages, which name their data themselves."""


def schema_for(data: str, option: Path | None) -> str:
    """The schema of the data: as given, or the data package itself; else from `cantle.toml`."""
    if option is None and data.lower().endswith(PACKAGES):
        return data
    return needed(option, "schema", "--schema")


Scalar = str | int | float | bool | None


def settings_of(pairs: list[str], preset: str) -> dict[str, Scalar]:
    """The preset, and the settings in a list of key=value pairs; each value is read as a YAML scalar."""
    import yaml

    settings: dict[str, Scalar] = {"preset": preset}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.isidentifier():
            raise ParameterError(f"--set takes key=value, got {pair!r}; for example --set depth=6")
        if key == "preset":
            raise ParameterError("--set preset: this is an option of its own; write --preset NAME")
        try:
            parsed = yaml.safe_load(value)
        except yaml.YAMLError:
            raise_alone(ParameterError(f"--set {key}: the value is not a YAML scalar"))
        if isinstance(parsed, dict | list):
            raise ParameterError(f"--set {key}: the value is not a YAML scalar")
        settings[key] = parsed
    return settings


def option(words: str, metavar: str | None = None, *flags: str, choices: Sequence[str] = (), **more: Any) -> Any:
    """An option of a command: what it says of itself and of its value, its flags if they are not its name, and the
    values that a shell offers."""
    offered = (lambda: list(choices)) if choices else None
    return typer.Option(*flags, metavar=metavar, help=words, autocompletion=offered, **more)


def switch(words: str, flag: str) -> Any:
    """An option without a value, that cannot be switched off."""
    return option(words, None, flag)


def argument(words: str, metavar: str, **more: Any) -> Any:
    """A value of a command that has no flag."""
    return typer.Argument(metavar=metavar, help=words, **more)


def output(words: str, metavar: str = "FILE") -> Any:
    """The option -o; what it says of the file or folder."""
    return option(words, metavar, "-o", "--output")


Json = Annotated[bool, switch("Print one JSON object for machines.", "--json")]
SchemaFile = Annotated[Path | None, option("The public schema, YAML or JSON.", "FILE", "--schema")]
NodesFile = Annotated[Path | None, option("File listing all nodes, one per line (graphs only).", "FILE")]
Parameters = Annotated[list[str], option("A parameter of the method.", "KEY=VALUE", "--set")]
DataSet = Annotated[str | None, option("The data set's name in the ledger.", "NAME", "--dataset")]


def speak_utf8() -> None:
    """Makes the standard output UTF-8 in every locale, because records and trees may contain any character."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def print_result(as_json: bool, facts: Mapping[str, object], text: Callable[[], None]) -> None:
    """Prints `facts` as JSON, or calls `text`, which prints the result for people."""
    try:
        if as_json:
            print(json.dumps(facts))
        else:
            text()
        print(end="", flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        sys.stdout = None  # otherwise Python would try to flush it again at exit, and fail
        raise_alone(OutputError(f"cannot write to the standard output: {error.strerror}; everything else is done"))


def table(title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Prints a table; the first column is aligned left, the others right."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right")
    for row in rows:
        table.add_row(*row)
    Console(soft_wrap=True).print(table)


@contextmanager
def progress() -> Iterator[None]:
    """Shows phases and levels on stderr while a command runs; silent if stderr is not a terminal.

    With CANTLE_PROGRESS=lines it prints one line per phase instead, for a program that started the command.
    """
    if os.environ.get("CANTLE_PROGRESS") == "lines":
        with _each_phase(lambda words: print(f"progress: {words}", file=sys.stderr, flush=True)):
            yield
        return
    if not sys.stderr.isatty():
        yield
        return

    from rich.console import Console

    with Console(stderr=True).status("starting") as status, _each_phase(status.update):
        yield


@contextmanager
def _each_phase(show: Callable[[str], None]) -> Iterator[None]:
    """Calls `show` with each progress message that the library logs; these messages are public."""
    import logging

    class Show(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            with suppress(OSError):  # the program that reads them may have ended
                show(record.getMessage())

    logger, handler = logging.getLogger("cantle"), Show()
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)


# ---- files ----------------------------------------------------------------------------------------------------


def new_file(target: Path, what: str = "file") -> Path:
    """A path at which nothing is yet."""
    if target.exists():
        raise OutputError(f"{target} exists already; choose another -o {what}")
    return target


def writing(target: Path) -> replacing:
    """A block that writes a file."""
    return replacing(OSError, lambda error: OutputError(f"cannot write {target}: {cast(OSError, error).strerror}"))


def write_file(target: Path, text: str) -> None:
    with writing(target):
        target.write_text(text, encoding="utf-8", newline="\n")


def print_or_write(text: str, key: str, target: Path | None, facts: Mapping[str, object], as_json: bool) -> None:
    """Prints a text (as `key` of the JSON object), or writes it to a file."""
    if target is None:
        print_result(as_json, {**facts, key: text}, lambda: print(text.removesuffix("\n")))
        return
    write_file(target, text)
    print_result(as_json, {**facts, "file": str(target)}, lambda: print(f"wrote {target}"))


def internal_file(target: Path, endings: tuple[str, ...], folder: Path | None = None) -> Path:
    """Checks the path of a file with private facts: its name must say so, it must not exist, and it must not be in the
    release `folder`."""
    allowed = tuple(f".internal{ending}" for ending in endings)
    if not target.name.endswith(allowed):
        named = " or ".join(f"*{ending}" for ending in allowed)
        raise ParameterError(f"the output is not private and must be named {named}, got {target.name!r}")
    if folder is not None and folder.resolve() in new_file(target).resolve().parents:
        raise OutputError("the output is not private and must not lie in the release folder; choose another -o file")
    return new_file(target)


def write_internal(target: Path, text: str) -> None:
    """Writes private facts to a new file that only its owner can read."""
    with writing(target):
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
