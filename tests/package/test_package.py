"""The package as strangers get it: metadata, links of its README, its citation, and files that no system changes."""

from __future__ import annotations

import ast
import json
import re
import runpy
import tomllib
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LAB: dict[str, Any] = tomllib.loads((ROOT / "lab/pyproject.toml").read_text("utf-8"))["project"]
CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))


def test_all_files_name_the_same_version() -> None:
    assert runpy.run_path(str(ROOT / "scripts/release"))["same_version"]() == PROJECT["version"]


def test_users_get_no_tools_of_developers() -> None:
    offered = {re.split(r"[\[<>=;]", need)[0] for needs in PROJECT["optional-dependencies"].values() for need in needs}
    tools = {re.split(r"[\[<>=;]", need)[0] for name in ("test", "docs", "release") for need in LAB[EXTRAS][name]}
    assert tools & offered <= {"cantle", "pyarrow", "zstandard"}
    assert {"pytest", "mypy", "build"} <= tools


EXTRAS = "optional-dependencies"


def test_the_install_page_lists_every_extra() -> None:
    page = (ROOT / "docs/install.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(PROJECT[EXTRAS])


def test_links_of_the_packaged_readme_lead_to_pages_of_the_site() -> None:
    pytest.importorskip("hatchling", reason="hatchling builds packages")
    hook = runpy.run_path(str(ROOT / "scripts/package_readme.py"))
    text = hook["for_strangers"]((ROOT / "README.md").read_text("utf-8"), hook["documentation"]())
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    site = PROJECT["urls"]["Documentation"]
    assert targets
    assert [target for target in targets if not target.startswith(f"{site}/")] == []
    pages = {f"{path.stem.lower()}.html" for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]}
    assert {target.removeprefix(f"{site}/").partition("#")[0] for target in targets} <= pages


def test_the_citation_has_the_form_of_the_citation_file_format() -> None:
    """Keys and types as version 1.2.0 of the format defines them."""
    needed = {"cff-version", "message", "title", "authors"}
    known = needed | {"abstract", "type", "version", "license", "keywords", "references", "url", "repository-code"}
    assert needed <= CITATION.keys() <= known
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] == "software"
    assert CITATION["license"] == PROJECT["license"]
    assert all(isinstance(word, str) for word in CITATION["keywords"])
    assert [author.keys() for author in CITATION["authors"]] == [{"name"}]  # an entity, not a person
    for paper in CITATION["references"]:
        assert {"type", "title", "authors"} <= paper.keys()
        assert paper["type"] in ("article", "conference-paper")
        assert isinstance(paper["year"], int)
        assert all(person.keys() == {"family-names", "given-names"} for person in paper["authors"])


def test_the_citation_fits_the_published_schema() -> None:
    """The schema comes with cffconvert; its other requirements are not needed (`pip install --no-deps cffconvert`)."""
    found = find_spec("cffconvert")
    if found is None or found.origin is None:
        pytest.skip("cffconvert has the schema")
    import jsonschema

    schema = json.loads((Path(found.origin).parent / "schemas/1.2.0/schema.json").read_text("utf-8"))
    jsonschema.validate(CITATION, schema)


def test_written_texts_end_their_lines_alike_on_every_system() -> None:
    """Windows writes CR LF unless told otherwise; then the hash of a statement, for example, would be another."""
    calls = [(path.name, call) for path in SOURCES for call in writes(path)]
    assert len(calls) > 5
    lacking = [(name, call.lineno) for name, call in calls if "newline" not in {key.arg for key in call.keywords}]
    assert lacking == []


def test_a_spawned_process_publishes_other_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS and Windows, where processes are spawned; without UTF-8 as the encoding of the system."""
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONUTF8", "0")
    monkeypatch.setenv("PYTHONCOERCECLOCALE", "0")
    folder = tmp_path / "a b"
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(publish_into, (str(folder),)) == []
    assert "städtisch" in (folder / "data.csv").read_text("utf-8")


def publish_into(folder: str) -> list[str]:
    """Publishes texts outside of ASCII; returns what is wrong with the release."""
    import polars as pl

    import cantle
    from cantle.release.verify import verify_folder
    from tests.entropy import drawn_from

    schema = {"fields": [{"name": "Größe", "type": "string", "categories": ["städtisch", "ländlich"]}]}
    with drawn_from("a spawned process"):
        cantle.publish(pl.DataFrame({"Größe": ["städtisch"] * 200}), schema, epsilon=5).save(folder)
    return verify_folder(Path(folder))


def writes(path: Path) -> list[ast.Call]:
    """The calls that open a file to write text; `write_text` of the commands is a function that calls the method."""
    text = path.read_text("utf-8")
    if "write_text(" not in text and "open(" not in text:
        return []
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    methods = [call for call in calls if called(call) == "write_text" and isinstance(call.func, ast.Attribute)]
    return methods + [call for call in calls if called(call) in OPENS and opens_text(call)]


OPENS = ("open", "fdopen")


def called(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def opens_text(call: ast.Call) -> bool:
    modes = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    return any(re.fullmatch(r"[wxa]\+?t?", mode) for mode in modes)
