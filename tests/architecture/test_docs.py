"""The documents match the code: they name all parameters, commands and options that exist, and no others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from cantle.interfaces.cli.app import app
from cantle.interfaces.cli.audit import COMMANDS, command_of
from cantle.methods.catalogue import METHODS
from cantle.methods.settings import rules_of
from cantle.release.manifest import FILES
from cantle.release.sign import SIGNATURE
from cantle.release.verify import REPORT
from cantle.schema import Schema
from tests.architecture.test_imports import ROOMS, room_of

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "src/cantle/trusted/README.md",
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
]
PARAMETERS = {name for method in METHODS.values() for name in rules_of(method.Settings)}


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_reference_names_every_parameter() -> None:
    reference = text("docs/reference.md")
    assert [name for name in sorted(PARAMETERS) if f"`{name}`" not in reference] == []


def test_the_reference_names_no_other_parameter() -> None:
    tables = text("docs/reference.md").split("## Parameters")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]*`) \|", tables, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named <= PARAMETERS


def commands() -> set[str]:
    named = {command.name or command.callback.__name__ for command in app.registered_commands}  # type: ignore[union-attr]
    return named | {str(group.name) for group in app.registered_groups}


@pytest.mark.parametrize("page", ["README.md", "docs/how-to.md", "docs/tutorial.md", "docs/engines.md"])
def test_every_command_in_a_shell_block_exists(page: str) -> None:
    used = set(re.findall(r"\bcantle (\w+)", "\n".join(re.findall(r"```sh\n(.*?)```", text(page), re.DOTALL))))
    assert used
    assert used <= commands()


def test_the_reference_lists_every_command() -> None:
    listed = text("docs/reference.md").split("## Commands")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `cantle (\w+)", listed, re.MULTILINE)) == commands()


def test_the_reference_lists_every_file_of_a_release() -> None:
    listed = text("docs/reference.md").split("## Files of a release")[1].split("\n### ")[0]
    named = {
        name for row in re.findall(r"^\| (`[^|]*`) \|", listed, re.MULTILINE) for name in re.findall(r"`(.+?)`", row)
    }
    assert named == {*FILES.values(), REPORT, SIGNATURE, "data.csv", "data.parquet", "data.dat", "data.xes"}


def options_of(command: Any) -> set[str]:
    """The options of a command by their short names; a switch that is on by default by the name that turns it off."""
    options = [
        option
        for option in command.params
        if option.param_type_name == "option" and option.name not in ("as_json", "help")
    ]
    return {(option.secondary_opts if option.default is True else option.opts)[0] for option in options}


def test_the_reference_lists_every_option() -> None:
    listed = text("docs/reference.md").split("## Commands")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `cantle (\w+)[^|]* \| ?([^|]*) \|", listed, re.MULTILINE))
    written = {name: set(re.findall(r"`(-[\w-]+)", cell)) for name, cell in rows.items()}
    existing = {}
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        command = command_of(name) if name in COMMANDS else command
        parts = getattr(command, "commands", {"": command}).values()
        existing[name] = set().union(*map(options_of, parts))
    assert written == existing


def test_the_schemas_of_the_documents_load() -> None:
    readme = re.search(r"```yaml\n(.*?)```", text("README.md"), re.DOTALL)
    assert readme
    assert Schema.from_dict(yaml.safe_load(readme[1])).domain().target is not None
    reference = text("docs/reference.md")
    hierarchy = re.search(r"```yaml\n(- name: job.*?)```", reference, re.DOTALL)
    assert hierarchy
    assert Schema.from_dict({"fields": yaml.safe_load(hierarchy[1])}).domain().attributes[0].taxonomy is not None
    unit = re.search(r"```yaml\n(unit: .*?)```", reference, re.DOTALL)
    assert unit
    field = {"name": "a", "type": "boolean"}
    assert Schema.from_dict({"fields": [field]} | yaml.safe_load(unit[1])).person == "patient_id"
    documents = [yaml.safe_load(document) for document in re.findall(r"```yaml\n(kind: .*?)```", reference, re.DOTALL)]
    assert [Schema.from_dict(document).kind for document in documents] == ["sets", "sequences", "graph"]


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text(page), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def target_exists(page: str, target: str) -> bool:
    """Whether the file of a link exists and has the heading that the link names."""
    name, _, anchor = target.partition("#")
    file = ((ROOT / page).parent / name).resolve() if name else ROOT / page
    return file.exists() and (not anchor or anchor in anchors(str(file.relative_to(ROOT))))


def test_links_between_pages_lead_to_files_and_headings() -> None:
    links = [(page, target) for page in PAGES for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text(page))]
    assert links
    assert [(page, target) for page, target in links if not target_exists(page, target)] == []


def test_the_glossary_has_one_line_per_word() -> None:
    words = re.findall(r"^\| ([\w ]+) \| \w", text("docs/glossary.md"), re.MULTILINE)
    assert words[0] == "word"
    assert len(set(words)) == len(words) == 24


def test_the_architecture_page_lists_every_room_and_what_it_may_import() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \|[^|]+\|[^|]+\| ([^|]+) \|$", text("docs/architecture.md"), re.MULTILINE)
    assert dict(rows).keys() == ROOMS.keys() - {"top"}
    assert len(rows) == len(ROOMS) - 1
    for room, cell in rows:
        whole, part = written_imports(cell)
        assert whole == {place for place in ROOMS[room].split() if place in ROOMS}, room
        assert part == {room_of(place) for place in ROOMS[room].split() if place not in ROOMS} - {room}, room


def written_imports(cell: str) -> tuple[set[str], set[str]]:
    """The rooms that may be imported as a whole, and those of which only single modules may be.

    >>> written_imports("part of `trusted`; `schema`")
    ({'schema'}, {'trusted'})
    """
    first, _, rest = cell.partition(";") if cell.startswith("part of") else ("", "", cell)
    return set(re.findall(r"`([\w.]+)`", rest)), set(re.findall(r"`([\w.]+)`", first))
