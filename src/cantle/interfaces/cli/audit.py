"""The command `cantle audit`, and what the package cantle-lab adds to the commands, found by its entry points."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cantle.errors import MissingExtra
from cantle.interfaces.cli.options import Json, option, print_result, progress, switch, table

if TYPE_CHECKING:
    from cantle.audit import Row


COMMANDS = {
    "reproduce": "Rebuild figures of the papers (needs cantle-lab).",
    "experiment": "Try methods on a table of yours (needs cantle-lab).",
    "bench": "Measure speed and memory of whole runs (needs cantle-lab).",
}
"""The commands of the lab, and their lines in the list of all commands."""
GROUP = "cantle.lab"


def found(name: str) -> Any:
    """What the lab offers under a name; None if the lab is not installed."""
    from importlib.metadata import entry_points

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


All = Annotated[bool, switch("All small data sets instead of the smallest; takes minutes.", "--all")]
Sampled = Annotated[
    bool, switch("Also audit the publisher from outside, with its real noise; takes minutes.", "--statistical")
]
Runs = Annotated[int | None, option("Runs per data set, with --statistical.", "N", min=50)]

_KINDS: dict[str, tuple[str, str, tuple[str, ...], tuple[str, str]]] = {
    "exact": (
        "exact audits, measured at most the claim",
        "Exact audits of the shipped code: worst loss over small data sets and all their neighbours (epsilon in units "
        "of ln 2)",
        ("claim", "epsilon", "measured", ""),
        ("holds", "DOES NOT HOLD"),
    ),
    "instance": (
        "numbers of known instances, as stated",
        "Known instances: losses computed by hand, and as measured (units of ln 2; closed forms: natural units)",
        ("instance", "stated", "measured", ""),
        ("as stated", "DIFFERS"),
    ),
    "breakage": (
        "flaws, caught by the exact audit",
        "Broken on purpose: the exact audit must measure more than is claimed",
        ("flaw", "epsilon", "measured", ""),
        ("caught", "NOT CAUGHT"),
    ),
    "sampled": (
        "black-box audits, measured at most the claim",
        "Black-box audits with real noise: lower bounds of epsilon (99.9 % confidence), from runs on two neighbours",
        ("claim", "epsilon", "at least", ""),
        ("holds", "DOES NOT HOLD"),
    ),
    "broken sampled": (
        "flaws, caught by the black-box audit",
        "Broken on purpose: the black-box audit must measure more than is claimed",
        ("flaw", "epsilon", "at least", ""),
        ("caught", "NOT CAUGHT"),
    ),
}
"""For each kind of row: the words of its summary, title, columns, and the words for a good and a bad verdict."""


def audit_command(
    everything: All = False, statistical: Sampled = False, runs: Runs = None, as_json: Json = False
) -> None:
    """Audit this installation on tiny data.

    It compares the measured privacy loss with the claims, checks known values, and tries flaws that must be caught.

    The exit code is 1 if a measured loss exceeds its claim or a flaw is not caught. Passing proves nothing about
    larger data: the claims rest on their proofs (docs/privacy.md).

    Example: cantle audit

    Example: cantle audit --statistical --runs 1000
    """
    from cantle.errors import ParameterError

    if runs is not None and not statistical:
        raise ParameterError("--runs is for --statistical; give both or neither")
    with progress():
        rows = _run(everything, statistical, runs, logging.getLogger("cantle").info)
    passed = all(row.ok for row in rows)

    def show() -> None:
        for kind in dict.fromkeys(row.kind for row in rows):
            _print(kind, [row for row in rows if row.kind == kind])
        for line in summary(rows):
            print(line)

    facts = {kind.replace(" ", "_"): [_facts(row) for row in rows if row.kind == kind] for kind in _KINDS}
    print_result(as_json, {"ok": passed} | {kind: found for kind, found in facts.items() if found}, show)
    if not passed:
        raise typer.Exit(1)


def _run(everything: bool, statistical: bool, runs: int | None, report: Callable[[str], None]) -> list[Row]:
    """The rows of all audits that the options ask for. Known instances and flaws are in the package cantle-lab."""
    from cantle.audit import run_audits

    mutants, broken_methods = found("mutants"), found("broken_methods")
    flaws = {"instances": mutants.INSTANCES, "breakages": mutants.BREAKAGES} if mutants else {}
    rows = run_audits(report, quick=not everything, **flaws)
    if statistical:
        from cantle.audit.black_box import RUNS, run_statistical
        from cantle.audit.trials import all_trials

        trials = all_trials(broken_methods() if broken_methods else ())
        sampled = run_statistical(trials, report, runs=runs or RUNS)
        rows += sorted(sampled, key=lambda row: row.kind != "sampled")
    if mutants is None:
        print(f"note: flaws that an audit must catch were not tried; {missing('they are')}", file=sys.stderr)
    return rows


def summary(rows: Iterable[Row]) -> list[str]:
    """One line per kind of audit with the number of audits and of those that passed."""
    lines = []
    for kind, (words, *_) in _KINDS.items():
        of_kind = [row for row in rows if row.kind == kind]
        if of_kind:
            good = sum(row.ok for row in of_kind)
            lines.append(f"{len(of_kind)} {words}: {'all' if good == len(of_kind) else good}")
    return lines


def _print(kind: str, rows: list[Row]) -> None:
    """Prints the table of one kind of audit."""

    _, title, columns, (good, bad) = _KINDS[kind]
    with_note = kind in ("breakage", "broken sampled")
    names = [f"{row.name} ({row.note.split(';')[0]})" if with_note else row.name for row in rows]
    body = [
        (name, _words(row.claimed), _words(row.measured), good if row.ok else bad)
        for name, row in zip(names, rows, strict=True)
    ]
    table(title, columns, body)
    print()


def _words(loss: float) -> str:
    return "infinite" if math.isinf(loss) else f"{loss:.4f}".rstrip("0").rstrip(".")


def _facts(row: Row) -> dict[str, object]:
    """A row for JSON; infinity becomes a text, because JSON has no number for it."""
    losses = {"claimed": row.claimed, "measured": row.measured}
    finite: dict[str, object] = {name: "infinite" if math.isinf(loss) else loss for name, loss in losses.items()}
    return {"name": row.name, **finite, "ok": row.ok} | ({"note": row.note} if row.note else {})
