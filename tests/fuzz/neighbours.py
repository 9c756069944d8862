"""Pairs of neighbouring inputs as targets: those of the neighbour laws, and hostile files that differ by one line.

A case is unhandled if the two inputs break the law (tests/neighbours/law.py): their codes differ by more than the
added record, or they are refused with different messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.case import Target
from tests.fuzz.targets import TARGETS
from tests.neighbours import graphs, sets
from tests.neighbours.forms import IN_PROCESS
from tests.neighbours.law import Form, Pair, Rule, adds_at_most, breach, built, files
from tests.neighbours.reading import table
from tests.release.people import SCHEMA

LINE_END = re.compile(rb"\r\n|\r|\n")


def _lawful(form: Form, pair: Pair) -> None:
    problem = breach(form, pair)
    assert problem is None, f"{problem} {pair.shown}"


def _use_form(form: Form) -> Callable[[Path, Random], None]:
    """Ignores the file; the pair depends on the dice alone."""

    def use(path: Path, dice: Random) -> None:
        _lawful(form, built(form, dice, path.parent))

    return use


def _use_lines(form: Form, schema: dict[str, Any], rule: Rule, *, header: bool) -> Callable[[Path, Random], None]:
    """Compares the changed file with the same file without one of its lines.

    Quotes are removed, because a stray quote may join lines (SECURITY.md), and a line would then not be a record.
    """

    def use(path: Path, dice: Random) -> None:
        lines = LINE_END.split(path.read_bytes().replace(b'"', b""))
        head = lines[:1] if header else []
        more = lines[len(head) :] or [b""]
        left_out = dice.randrange(len(more))
        less = [line for i, line in enumerate(more) if i != left_out]
        end = dice.choice([b"\n", b"\r\n", b"\r"])
        texts = [end.join([*head, *part, b""]) for part in (less, more)]
        _lawful(form, Pair(schema, *files(path.parent, path.name, *texts), rule, f"{texts}"))

    return use


def _by_lines() -> list[Target]:
    tables = {"csv": table()}
    targets = [(f"neighbours, {name}", "csv", read, SCHEMA, adds_at_most(1), True) for name, read in tables.items()]
    baskets: dict[str, Any] = {"kind": "sets", "items": {"minimum": 1, "maximum": 17}, "form": "fimi"}
    edges: dict[str, Any] = {"kind": "graph", "unit": "edge", "nodes": 20}
    targets.append(("neighbours, fimi", "fimi", sets.read, baskets, adds_at_most(1), False))
    targets.append(("neighbours, edges", "edges", graphs.read, edges, graphs.one_edge, False))
    built = []
    for name, like, read, schema, rule, header in targets:
        form = Form(name, "memory", _no_pair, read)
        seeds = tuple(seed for seed in TARGETS[like].seeds if not seed.startswith(b"\xff\xfe"))
        built.append(Target(name, TARGETS[like].file, seeds, _use_lines(form, schema, rule, header=header)))
    return built


def _no_pair(_dice: Random, _folder: Path) -> Pair:
    raise NotImplementedError("the pair is made of the changed file")


def all_targets() -> list[Target]:
    """Hostile files that differ by one line, and every form of the neighbour laws."""
    forms = [Target(f"neighbours, {form}", "unused", (b"",), _use_form(form)) for form in IN_PROCESS]
    return [*_by_lines(), *forms]


NEIGHBOURS = {target.name: target for target in all_targets()}
