"""The command `cantle studio`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from cantle.errors import MissingExtra, OutputError, ParameterError, install_command, raise_alone


def studio_command(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="A project folder (made if it is new), or a finished release.")
    ] = Path("."),
    port: Annotated[int, typer.Option(min=0, max=65535, help="A port of this machine. Default: any that is free.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Work in a browser on this machine: from a private file to a checked release, or look at a finished one.

    The page is reachable from this machine alone, with the address that is printed. What it writes into the project
    folder (schema.yaml, cantle.toml, a ledger, releases) is what the other commands read. End it with Ctrl-C.

    Example: cantle studio patients

    Example: cantle studio patients/release
    """
    missing = [name for name in ("starlette", "uvicorn", "jinja2") if find_spec(name) is None]
    if missing:
        raise MissingExtra(f"the studio needs {' and '.join(missing)}; {install_command('studio')}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise_alone(ParameterError(f"{folder} is a file; give a project folder, or the folder of a release"))
    except OSError as error:
        raise_alone(OutputError(f"cannot make the folder {folder}: {error.strerror}"))
    from cantle.studio.server import serve

    try:
        serve(folder, port, browser=browser, say=_say)
    except KeyboardInterrupt:
        typer.echo("The studio has ended.")


def _say(words: str) -> None:
    typer.echo(f"cantle studio: {words}\nEnd it with Ctrl-C." if words.startswith("http") else words)
