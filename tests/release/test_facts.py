"""Public facts of the curator: they fill in statement and registry, are refused early, and never depend on records."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import cantle
from cantle.errors import LedgerError, ParameterError, VerifyError
from cantle.release.facts import LONGEST, Facts, facts_from
from cantle.release.manifest import Manifest
from cantle.release.registry import registry
from cantle.release.report.page import printable_statement
from cantle.release.statement import statement
from cantle.release.verify import verify_folder
from tests.interfaces.cli.inside import run
from tests.release.people import SCHEMA, people

FACTS: dict[str, Any] = {
    "title": "People of Exampleland",
    "curator": ["Example Office", "Example Hospital"],
    "contact": "privacy@example.org",
    "purpose": "research",
    "legal_basis": "Statistics Act",
    "sector": "Government",
    "licence": "CC-BY-4.0",
    "version": 1.5,
    "plans": "Every year",
    "previous": [{"what": "counts by region", "epsilon": 0.25, "date": "2025-09-01"}],
}


def published(**more: Any) -> cantle.Release:
    return cantle.publish(people(60), SCHEMA, epsilon="0.5", **{"facts": FACTS} | more)


def test_the_statement_says_who_publishes_and_adds_earlier_releases() -> None:
    text = published().statement
    assert "* **Curator**: Example Office, Example Hospital\n" in text
    assert "* **Version**: 1.5\n" in text
    assert "* 2025-09-01: counts by region, epsilon 0.25\n" in text
    assert "epsilon 0.75 is spent" in text
    assert "* Questions: privacy@example.org." in text
    bare = published(facts=None).statement
    assert "Who publishes" not in bare
    assert "Earlier ones are not recorded here." in bare


def test_earlier_releases_add_to_those_of_a_ledger(tmp_path: Path) -> None:
    cantle.Ledger(tmp_path / "l.db").create()
    for _ in range(2):
        release = published(ledger=tmp_path / "l.db", dataset="people")
    assert "## Releases outside of the ledger" in release.statement
    assert "epsilon 1.25 is spent" in release.statement


def test_the_facts_fill_in_the_registry() -> None:
    entry = yaml.safe_load(registry(published().manifest))
    basic = entry["deployment"]["basic"]
    assert basic["name"] == "People of Exampleland"
    assert basic["data_curators"] == ["Example Office", "Example Hospital"]
    assert basic["data_product_sector"] == "Government"
    assert entry["url_slug"].startswith("people-of-exampleland-example-office-example-hospital-20")
    assert entry["deployment"]["deployment_model"]["release_type"] == "Many releases"
    assert entry["deployment"]["deployment_model"]["release_type_details"].endswith("Every year")


def test_a_saved_release_keeps_the_facts_and_verifies(tmp_path: Path) -> None:
    release = published()
    folder = release.save(tmp_path / "out")
    assert verify_folder(folder) == []
    assert cantle.Release.load(folder).manifest.facts == release.manifest.facts
    assert Manifest.from_dict(release.manifest.to_dict()) == release.manifest
    document = json.loads((folder / "release.json").read_bytes())
    document["facts"]["curator"] = "nobody \u0007"
    with pytest.raises(VerifyError, match="curator"):
        Manifest.from_dict(document)


@pytest.mark.parametrize("date", [{}, {"date": "2025"}], ids=["undated", "dated"])
def test_any_facts_that_are_taken_can_be_read_again(date: dict[str, str], tmp_path: Path) -> None:
    release = published(facts={"previous": [{"what": "counts", "epsilon": 0.25, **date}]})
    folder = release.save(tmp_path / "out")
    assert verify_folder(folder) == []
    assert cantle.Release.load(folder).manifest.facts == release.manifest.facts


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ([], "not a mapping"),
        ({"currator": "x"}, "'currator' is not known"),
        ({"curator": ""}, "curator is not a text"),
        ({"contact": True}, "contact is not a text"),
        ({"contact": ["a"]}, "contact is not a text"),
        ({"title": "x" * (LONGEST + 1)}, "title has more than"),
        ({"title": "bell \u0007"}, "do not print"),
        ({"sector": "Magic"}, "sector is not one of"),
        ({"previous": ["counts"]}, "has what, epsilon"),
        ({"previous": [{"what": "counts", "epsilon": -1}]}, "epsilon"),
    ],
)
def test_facts_of_another_form_are_refused(facts: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Facts.from_dict(facts)


def test_a_bad_file_is_refused_before_anything_is_charged_or_written(tmp_path: Path) -> None:
    ledger = cantle.Ledger(tmp_path / "l.db")
    ledger.create()
    for name, text in {"none.yaml": None, "a.yaml": "{", "b.toml": "x", "c.yaml": "color: red"}.items():
        if text is not None:
            (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(ParameterError, match=name):
            published(facts=tmp_path / name, ledger=ledger, dataset="people")
    with pytest.raises(LedgerError, match="does not know data set 'people'"):
        ledger.account("people")
    assert facts_from(None) == Facts()


def test_commands_take_facts_from_a_file_or_from_cantle_toml(tmp_path: Path) -> None:
    people(60).write_csv(tmp_path / "p.csv")
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(SCHEMA), encoding="utf-8")
    (tmp_path / "cantle.toml").write_text('schema = "s.yaml"\nepsilon = 1\n[statement]\ncurator = "In TOML"\n', "utf-8")
    (tmp_path / "facts.yaml").write_text("curator: In YAML\n", encoding="utf-8")
    assert run("publish", "p.csv", "-o", "a", cwd=tmp_path).returncode == 0
    assert run("publish", "p.csv", "-o", "b", "--statement", "facts.yaml", cwd=tmp_path).returncode == 0
    assert "**Curator**: In TOML" in (tmp_path / "a/statement.md").read_text("utf-8")
    assert "**Curator**: In YAML" in (tmp_path / "b/statement.md").read_text("utf-8")
    (tmp_path / "cantle.toml").write_text("[statement]\ncolour = 1\n", encoding="utf-8")
    refused = run("publish", "p.csv", "--schema", "s.yaml", "--epsilon", "1", "-o", "c", cwd=tmp_path)
    assert refused.returncode == 2
    assert "cantle.toml: [statement]: 'colour' is not known" in refused.stderr
    assert not (tmp_path / "c").exists()


def test_facts_do_not_touch_what_is_drawn() -> None:
    with_facts, without = published(insecure_seed=3), published(insecure_seed=3, facts=None)
    assert with_facts.records.equals(without.records)


def test_the_page_to_print_loads_nothing_and_escapes_what_it_is_told(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    hostile = FACTS | {"purpose": "<script>alert(1)</script>"}
    folder = published(facts=hostile).save(tmp_path / "out")
    release = cantle.Release.load(folder)
    page = printable_statement(release)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert release.manifest.sha256 in page
    assert "src=" not in page
    assert "href=" not in page
    assert page.count("<h2>") == statement(release.manifest).count("\n## ")
    done = run("statement", str(folder), cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "statement.html").read_text("utf-8") == page
    assert run("statement", str(folder), cwd=tmp_path).returncode == 1  # nothing is overwritten
    assert run("statement", str(folder), "-o", str(folder / "x.html"), cwd=tmp_path).returncode == 1


@pytest.mark.parametrize(("epsilon", "weak"), [(5, False), (6, True)])
def test_a_large_epsilon_is_said_to_protect_little(epsilon: int, weak: bool) -> None:
    with pytest.warns(UserWarning, match="protects little") if weak else contextlib.nullcontext():
        text = cantle.publish(people(60), SCHEMA, epsilon=epsilon).statement
    assert ("**An epsilon above 5 protects little.**" in text) == weak
    assert (", which is little protection." in text) == weak


def test_a_release_without_a_guarantee_tells_people_so() -> None:
    assert "**This release does not protect you.**" in published(insecure_seed=1).statement
