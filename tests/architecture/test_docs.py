"""The documents keep up with the code: parameters, commands and schemas that are named exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from cantle.cli.app import app
from cantle.methods import degrees, diffgen, diffpart, rps
from cantle.schema.table import Schema

ROOT = Path(__file__).parents[2]
PARAMETERS = {*rps.RULES, *diffgen.RULES, *diffpart.RULES, *degrees.RULES}


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_the_guide_names_every_parameter(name: str) -> None:
    assert f"`{name}`" in text("docs/guide.md")


def test_the_guide_names_no_other_parameter() -> None:
    rows = re.findall(r"^\| (`[^|]*`) \|", text("docs/guide.md").split("| rps parameter")[1], re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named <= PARAMETERS


def test_every_command_of_the_readme_exists() -> None:
    known = {command.name or command.callback.__name__ for command in app.registered_commands}  # type: ignore[union-attr]
    known |= {str(group.name) for group in app.registered_groups}
    used = set(re.findall(r"\bcantle (\w+)", "\n".join(re.findall(r"```sh\n(.*?)```", text("README.md"), re.DOTALL))))
    assert used
    assert used <= known


def test_the_schemas_of_the_documents_load() -> None:
    readme = re.search(r"```yaml\n(.*?)```", text("README.md"), re.DOTALL)
    assert readme
    assert Schema.from_dict(yaml.safe_load(readme[1])).domain().target is not None
    guide = re.search(r"```yaml\n(.*?)```", text("docs/guide.md"), re.DOTALL)
    assert guide
    assert Schema.from_dict({"fields": yaml.safe_load(guide[1])}).domain().attributes[0].taxonomy is not None
    unit = re.search(r"```yaml\n(unit: .*?)```", text("docs/guide.md"), re.DOTALL)
    assert unit
    field = {"name": "a", "type": "boolean"}
    assert Schema.from_dict({"fields": [field]} | yaml.safe_load(unit[1])).person == "patient_id"
    others = [yaml.safe_load(one) for one in re.findall(r"```yaml\n(kind: .*?)```", text("docs/guide.md"), re.DOTALL)]
    assert [Schema.from_dict(one).kind for one in others] == ["sets", "graph"]
