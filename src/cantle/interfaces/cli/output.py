"""Options that several commands share, and output: results as JSON or for people, tables, progress."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from cantle.errors import OutputError, raise_alone

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]
SchemaFile = Annotated[Path | None, typer.Option("--schema", metavar="FILE", help="The public schema, YAML or JSON.")]
NodesFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File listing all nodes, one per line (graphs only).")
]
Parameters = Annotated[list[str], typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the method.")]


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


def write_internal(target: Path, text: str) -> None:
    """Writes private facts to a new file that only its owner can read."""
    try:
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise_alone(OutputError(f"cannot write {target}: {error.strerror}"))
