"""Drafts of data packages for families: both tables, linked by a key. They use only the names of columns."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import indent

import yaml

from cantle.data.draft_schema import tables
from cantle.data.draft_schema.columns import prepared
from cantle.errors import ParameterError
from cantle.schema.declared_values import BLANK
from cantle.schema.documents import one_line

DOCUMENTS = (".yaml", ".yml", ".json")
"""The endings of data packages."""


def recognises(path: Path, ending: str, packed: bool) -> bool:  # noqa: ARG001
    """Two files are recognised by nobody: they are named with `--child`. A data package describes them already."""
    return not packed and ending in DOCUMENTS


def needs_header(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix.lower() not in DOCUMENTS and tables.needs_header(path)


def draft_of(path: Path, header_row: int | None) -> str:  # noqa: ARG001
    if path.suffix.lower() in DOCUMENTS:
        fix = f"publish it as it is: cantle publish {path.name} --epsilon 1 -o release"
        raise ParameterError(f"a data package needs no draft, because it holds the schema; {fix}")
    raise ParameterError(f"families are two files: cantle init {path.name} --child FILE --key COLUMN")


def draft_package(parent: Path, child: Path, key: str, header: int | None) -> str:
    """The text of a package; the key is an identifier in both tables. `PARENT=CHILD` names two columns."""
    names = _name(parent), _name(child)
    if names[0] == names[1]:
        raise ParameterError("both files have one name; rename one, because tables are named after their files")
    keys = (key, key) if "=" not in key else tuple(key.split("=", 1))
    above, below = one_line(keys[0]), one_line(keys[1])
    reference = f"{{resource: {names[0]}, fields: {above}}}"
    links = f"primaryKey: {above}", f"foreignKeys: [{{fields: {below}, reference: {reference}}}]"
    lines = [prepared("families"), prepared("columns"), "\nresources:\n"]
    for path, name, own, link in zip((parent, child), names, keys, links, strict=True):
        schema = _schema(path, own, header if tables.needs_header(path) else None)
        lines.append(f"  - name: {name}\n    path: {one_line(path.name)}\n    schema:\n")
        lines.append(indent(f"{link}\n{schema}\n", " " * 6))
    lines.append(
        f'unit: {{family: {names[0]}, max_children: "{BLANK}"}}  # the most {names[1]} that count per family\n'
    )
    lines.append(
        f"# order: {{{names[1]}: [-{BLANK}]}}  # a column of numbers or dates by which {names[1]} are sorted\n"
    )
    return "".join(lines)


def _schema(path: Path, key: str, header: int | None) -> str:
    """The draft for one table, without its introduction."""
    text = tables.draft(path, header=header)
    listed = [one["name"] for one in yaml.safe_load(text)["fields"]]
    if key not in listed:
        fix = "name the column that both files share with --key COLUMN, or both names with --key PARENT=CHILD"
        raise ParameterError(f"{path.name!r} has no column {key!r}; {fix}")
    lines = text[text.index("fields:\n") :].splitlines(keepends=True)
    lines[1 + listed.index(key)] = f"  - {{name: {one_line(key)}, type: string, role: identifier}}\n"
    return "".join(lines)


def _name(path: Path) -> str:
    """The name of a table, after its file."""
    stem = path.name.split(".")[0]
    return "".join(one if one.isalnum() and one.isascii() else "_" for one in stem) or "table"
