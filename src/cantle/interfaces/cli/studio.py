"""The command `cantle studio`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from cantle.errors import MissingExtra, OutputError, ParameterError, install_command, raise_alone


def studio_command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A project folder (made if it is new), or a finished release.")
    ] = Path("."),
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="A port of this machine; 0: any that is free.")
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Make a release, or look at one, in a browser.

    Only this machine can reach the page, with the address that is printed. The studio writes schema.yaml, cantle.toml,
    a ledger and releases into the project folder, where the other commands read them. End it with Ctrl-C.

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
    from cantle.interfaces.studio.server import serve

    try:
        serve(folder, port, browser=browser, say=_say)
    except KeyboardInterrupt:
        typer.echo("The studio has ended.")


def _say(words: str) -> None:
    typer.echo(f"cantle studio: {words}\nEnd it with Ctrl-C." if words.startswith("http") else words)
