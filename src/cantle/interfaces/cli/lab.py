"""What the package cantle-lab adds to the commands. It is installed beside cantle, and found by its entry points."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import typer

from cantle.errors import MissingExtra

COMMANDS = {
    "reproduce": "Rebuild figures of the papers (needs cantle-lab).",
    "experiment": "Try methods on a table of yours (needs cantle-lab).",
    "bench": "Measure speed and memory of whole runs (needs cantle-lab).",
}
"""The commands of the lab, and their lines in the list of all commands."""
GROUP = "cantle.lab"


def found(name: str) -> Any:
    """What the lab offers under a name; None if the lab is not installed."""
    return next((one.load() for one in entry_points(group=GROUP, name=name)), None)


def missing(subject: str) -> str:
    """Says where something of the lab is, and how to install it; the subject is "it is", for example."""
    return f"{subject} in the package cantle-lab, which is not installed; in a checkout: pip install ./lab"


def command_of(name: str) -> Any:
    """The parser of a command of the lab; MissingExtra if the lab is not installed."""
    function = found(name)
    if function is None:
        raise MissingExtra(missing(f"cantle {name} is"))
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name)(function)
    return typer.main.get_command(alone)


def unloaded() -> None:
    """Stands in the list of commands for one of the lab."""
