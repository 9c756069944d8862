"""Code that depends on the kind of data (table, sets, graph) is in one file per kind, found by one table per room.

A new kind of data is then one new file per room and one line per table, and no edited `if`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from cantle import schema
from cantle.data.draft_schema import kinds as draft_schema
from cantle.data.engine_choice import OPENERS
from cantle.interfaces import notes
from cantle.interfaces.studio import project as studio
from cantle.internal import check_and_evaluate as internal
from cantle.methods import catalogue
from cantle.release import kinds as release
from cantle.release import storage
from cantle.release.report import page as report
from cantle_lab.bench import data as bench
from tests.architecture.sources import ROOT, dotted, modules, walked

KINDS = {"table", "tables", "sets", "graph", "graphs", "families"}
"""The kinds of data as they are called in schemas and engines."""

CLASSES = {"TableSchema", "SetSchema", "GraphSchema", "RecordSchema", "FamilySchema"}

ALLOWED = {
    "trusted.core.admission": (1, "refusals: graphs are not split"),
    "interfaces.cli.schema": (1, "a code book without data describes a table, so that --kind may only name that"),
    "interfaces.studio.commands": (1, "the command on a page leaves out --kind if it is the default"),
}
"""How many branches a file may have, and the reason."""

_COMPARED = r"""(?<!block\.)\bkind\s*[!=]==?\s*["'](table|sets|graph)["']"""
_LOOKED_UP = r"""\{\s*["']?table["']?\s*:.*\}\["""
IN_TEMPLATES = re.compile(f"{_COMPARED}|{_LOOKED_UP}")
"""The same in templates and scripts. The blocks of a statement have kinds too, one of which is a Markdown table."""


def branches(tree: ast.Module) -> Iterator[int]:
    """The lines of a module that choose by the kind of data."""
    for node in walked(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            chooses = any(map(_is_kind, sides)) and any(map(_names_a_kind, sides))
        elif isinstance(node, ast.Match):
            chooses = _is_kind(node.subject)
        elif isinstance(node, ast.Call):
            chooses = dotted(node.func) in ("isinstance", "issubclass") and bool(_names(node.args[1]) & CLASSES)
        elif isinstance(node, ast.Subscript):  # {"table": …, "sets": …}[kind]
            chooses = isinstance(node.value, ast.Dict) and any(map(_names_a_kind, filter(None, node.value.keys)))
        else:
            continue
        if chooses:
            yield node.lineno


def _is_kind(node: ast.AST) -> bool:
    return dotted(node).rpartition(".")[2] in ("kind", "KIND_OF") or (
        isinstance(node, ast.Subscript) and _is_kind(node.value)
    )


def _names_a_kind(node: ast.AST) -> bool:
    """Whether an expression holds the name of a kind of data, or the default one."""
    texts = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return bool(texts & KINDS) or "DEFAULT" in _names(node)


def _names(node: ast.AST) -> set[str]:
    return {dotted(part).rpartition(".")[2] for part in ast.walk(node)}


def all_branches() -> dict[str, list[int]]:
    """The lines with a branch, by the name of the module, template or script."""
    branching = {name: list(branches(tree)) for name, tree in modules().items()}
    for path in [*ROOT.rglob("*.jinja"), *ROOT.rglob("*.js")]:
        lines = path.read_text(encoding="utf-8").splitlines()
        branching[path.name] = [number for number, line in enumerate(lines, 1) if IN_TEMPLATES.search(line)]
    return {name: lines for name, lines in branching.items() if lines}


def test_few_places_branch_on_the_kind_of_data() -> None:
    where = all_branches()
    more = {name: lines for name, lines in where.items() if len(lines) > ALLOWED.get(name, (0, ""))[0]}
    assert more == {}, "put what differs into one module per kind, and look it up in the table of the room"
    assert {name: len(lines) for name, lines in where.items()} == {name: most for name, (most, _) in ALLOWED.items()}


def test_the_table_of_every_room_has_all_kinds() -> None:
    known = [*schema.kinds()]
    tables: list[Mapping[str, object]] = [OPENERS, draft_schema.KINDS, notes.KINDS, catalogue.AUTOMATIC, release.KINDS]
    tables += [storage.STORAGES, report.KINDS, studio.KINDS, bench.KINDS, internal.KINDS]
    assert [[*table] for table in tables] == [known] * len(tables)


def test_the_search_finds_branches() -> None:
    """Otherwise the test of branches could not fail."""
    written = """
if schema.kind == "table" or kind in ("sets", "graph") or KIND_OF[method] != "table": pass
if isinstance(schema, SetSchema | GraphSchema) or issubclass(one, sets.SetSchema): pass
words = {"table": "a table", "sets": "sets"}[kind]
match manifest.kind:
    case "graph": pass
if kind == "integer" or title == "table" or isinstance(schema, Schema) or KINDS[kind].COLUMNS: pass
"""
    assert sorted(branches(ast.parse(written))) == [2, 2, 2, 3, 3, 4, 5]
    templates = ['{% if kind == "graph" %}', 'if (data.kind === "table")', "{'table': 1, 'sets': 2}[kind]"]
    assert all(map(IN_TEMPLATES.search, templates))
    assert not IN_TEMPLATES.search('{% elif block.kind == "table" %}')
