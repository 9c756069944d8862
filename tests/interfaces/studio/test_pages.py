"""The steps of the studio in order: what they show and write, and what they must not."""

from __future__ import annotations

import io
import json
import signal
import time
import zipfile
from pathlib import Path

import pytest
import yaml

from cantle.interfaces.studio.column_form import entry_of, form_of, hierarchy_of, outline_of, summary_of
from cantle.release.verify import verify_folder
from cantle.schema import load_schema
from cantle.trusted.ledger import Ledger
from tests.entropy import launcher
from tests.interfaces.studio.site import SLOW, Site

HID = {"name": "hid", "type": "integer", "role": "identifier"}
ROOMS = {"name": "rooms", "type": "integer", "constraints": {"minimum": 0, "maximum": 3}}
AGE = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 8}}
LINK = {"fields": "hid", "reference": {"resource": "homes", "fields": "hid"}}

HOSTILE = "<img src=x onerror=alert(1)>"


def test_from_a_file_to_a_draft(site: Site) -> None:
    """A header is read only if the user says that there is one."""
    (site.folder / "schema.yaml").unlink()
    assert "there is no such file" in site.post("/data/choose", path="nobody.csv").text
    chosen = site.post("/data/choose", path="people.csv")
    assert "Nothing of it has been read" in chosen.text
    assert "the first line may hold column names or a record" in site.post("/data/draft", kind="table").text
    assert "3 of 3</strong> columns are not complete" in site.post("/data/draft", kind="table", header="yes").text
    assert 'data = "people.csv"' in (site.folder / "studio.toml").read_text()
    assert [one["name"] for one in site.studio.schema.columns] == ["id", "age", "town"]


def test_the_header_of_a_long_table_of_sets_is_asked_for_too(site: Site) -> None:
    (site.folder / "schema.yaml").unlink()
    (site.folder / "orders.csv").write_text("order;product\n1;tea\n")
    shown = site.post("/data/choose", path="orders.csv")
    assert 'class="if-table-sets-sequences-families"' in shown.text
    assert "the first line may hold column names or a record" in site.post("/data/draft", kind="sets").text
    site.post("/data/draft", kind="sets", header="no")
    assert "order" not in yaml.safe_load((site.folder / "schema.yaml").read_text()).values()
    site.post("/data/draft", kind="sets", header="yes", replace="yes")
    drafted = yaml.safe_load((site.folder / "schema.yaml").read_text())
    assert (drafted["id"], drafted["item"], drafted["dialect"]) == ("order", "product", {"delimiter": ";"})
    (site.folder / "orders.csv").write_text("Shop 12\norder;product\n1;tea\n")
    assert (
        "the line of the header is a number"
        in site.post("/data/draft", kind="sets", header="yes", row="x", replace="yes").text
    )
    site.post("/data/draft", kind="sets", header="yes", row="2", replace="yes")
    assert yaml.safe_load((site.folder / "schema.yaml").read_text())["dialect"] == {"delimiter": ";", "headerRow": 2}
    site.post("/data/draft", kind="graph", replace="yes")
    assert "nodes" in (site.folder / "schema.yaml").read_text()


def test_two_linked_files_are_drafted_as_a_package(site: Site) -> None:
    (site.folder / "homes.csv").write_text("hid,rooms\n1,2\n2,3\n")
    (site.folder / "people.csv").write_text("hid,age\n1,30\n1,4\n")
    site.post("/data/choose", path="homes.csv")
    form = {"kind": "families", "header": "yes"}
    assert "name the file of the children" in site.post("/data/draft", **form).text
    assert "no file of the children" in site.post("/data/draft", child="nobody.csv", key="hid", **form).text
    (site.folder / "below").mkdir()
    (site.folder / "below" / "people.csv").write_text("hid,age\n")
    assert "put both into the folder" in site.post("/data/draft", child="below/people.csv", key="hid", **form).text
    said = site.post("/data/draft", kind="families", child="people.csv", key="hid").text
    assert "the first line may hold column names" in said
    assert not (site.folder / "datapackage.yaml").exists()
    shown = site.post("/data/draft", child="people.csv", key="hid", **form).text
    assert "foreignKeys" in shown
    assert "max_children" in shown
    assert 'data = "datapackage.yaml"' in (site.folder / "studio.toml").read_text()
    site.post("/data/choose", path="people.csv")
    site.post("/data/draft", kind="table", header="yes")
    assert site.studio.settings.schema == "schema.yaml"


def test_a_data_package_is_checked_planned_and_published(site: Site) -> None:
    package = {
        "resources": [
            {"name": "homes", "path": "homes.csv", "schema": {"primaryKey": "hid", "fields": [HID, ROOMS]}},
            {"name": "people", "path": "persons.csv", "schema": {"fields": [HID, AGE], "foreignKeys": [LINK]}},
        ],
        "unit": {"family": "homes", "max_children": 3},
    }
    (site.folder / "datapackage.json").write_text(json.dumps(package))
    (site.folder / "homes.csv").write_text("hid,rooms\n" + "".join(f"{one},{one % 4}\n" for one in range(200)))
    (site.folder / "persons.csv").write_text("hid,age\n" + "".join(f"{one % 200},{one % 9}\n" for one in range(500)))
    assert "Nothing of it has been read" in site.post("/data/choose", path="datapackage.json").text
    assert "is there already" not in site.post("/data/draft", kind="families").text
    assert (site.studio.settings.schema, site.studio.settings.data) == ("datapackage.json", "datapackage.json")
    assert "most people of a family: 3" in site.post("/internal/check").text
    site.post("/protect/ledger", none="yes")
    site.post("/budget", epsilon="4", records="200")
    assert "cantle publish datapackage.json --schema datapackage.json" in site.get("/publish").text
    site.post("/publish", word=site.word())
    site.wait()
    assert verify_folder(site.folder / "release") == []
    answered = site.post("/look/release/ask", question="number_of_people >= 1").text
    assert "number_of_people" in answered


def test_a_column_is_checked_while_typing_and_written_when_saved(site: Site) -> None:
    before = (site.folder / "schema.yaml").read_text()
    wrong = site.ask("POST", "/columns/1/check", {"type": "integer", "minimum": "9", "maximum": "1"}).text
    assert "Not complete" in wrong
    right = {"type": "integer", "minimum": "17", "maximum": "90", "required": "yes"}
    assert "17 to 90" in site.ask("POST", "/columns/1/check", right).text
    assert (site.folder / "schema.yaml").read_text() == before
    seen = site.get("/columns/1").text.split('name="seen" value="')[1].split('"')[0]
    site.post("/columns/1", seen=seen, **right)
    text = (site.folder / "schema.yaml").read_text()
    assert "# A comment that people wrote." in text
    assert '{name: "age", type: integer, constraints: {minimum: 17, maximum: 90, required: true}}' in text
    load_schema(site.folder / "schema.yaml")


def test_a_code_book_fills_in_what_is_blank_and_rules_are_checked(site: Site) -> None:
    (site.folder / "schema.yaml").unlink()
    site.post("/data/choose", path="people.csv")
    site.post("/data/draft", kind="table", header="yes")
    site.post("/columns/0", seen=_seen(site, 0), role="identifier")
    book = "name,type,min,max,values\nid,integer,0,9,\nage,integer,0,99,\ntown,string,,,Graz|Linz|Oslo\n"
    assert "The schema is complete" in site.post("/columns/code-book", pasted=book).text
    assert site.studio.schema.columns[0] == {"name": "id", "role": "identifier"}, "a value that was filled in must stay"
    assert "compare the names" in site.post("/columns/code-book", pasted=book).text
    wrong = site.post("/columns/table", rules="income > 5 -> age > 3", missing="NA\n?")
    assert wrong.status_code == 422
    assert "income &gt; 5" in wrong.text, "what was typed is not lost"
    site.post("/columns/table", rules="age < 18 -> town == 'Graz'", missing="NA\n?")
    text = (site.folder / "schema.yaml").read_text()
    assert 'missingValues: ["", "NA", "?"]' in text
    assert load_schema(site.folder / "schema.yaml").to_dict()["rules"] == ["age < 18 -> town == 'Graz'"]


def test_two_tabs_do_not_undo_each_others_changes(site: Site) -> None:
    seen = [site.get(f"/columns/{n}").text.split('name="seen" value="')[1].split('"')[0] for n in (1, 2)]
    site.post("/columns/1", seen=seen[0], type="integer", minimum="1", maximum="2")
    site.post("/columns/2", seen=seen[1], type="string", categories="Rome\nOslo")
    late = site.post("/columns/1", seen=seen[0], type="integer", minimum="5", maximum="6")
    assert late.status_code == 422
    assert "changed in another window" in late.text
    assert 'value="6"' in late.text, "what was typed is not lost"
    ages, towns = site.studio.schema.columns[1:]
    assert ages["constraints"] == {"minimum": 1, "maximum": 2}
    assert towns["categories"] == ["Rome", "Oslo"]


@pytest.mark.parametrize("entry", [
    {"name": "a", "type": "integer", "constraints": {"minimum": -5, "maximum": 5, "unique": True}, "title": "A"},
    {"name": "a", "type": "number", "step": 0.1, "constraints": {"minimum": "0.3", "maximum": 2.5}},
    {"name": "a", "type": "number", "constraints": {"minimum": 0, "maximum": 2.5, "multipleOf": 0.01}},
    {"name": "a", "type": "integer", "step": 20, "constraints": {"minimum": 0, "maximum": 99, "multipleOf": 5}},
    {"name": "a", "type": "string", "categories": [" x", "yes", "1e5", HOSTILE], "unknown": "drop"},
    {"name": "a", "type": "integer", "categories": [3, 1, 2], "categoriesOrdered": True},
    {"name": "a", "type": "string", "categories": ["a", "b", "c"], "hierarchy": [["a", "b"], "c"]},
    {"name": "a", "type": "date", "format": "%d/%m/%Y",
     "constraints": {"minimum": "2020-01-01", "maximum": "2021-01-01"}},
    {"name": "a", "type": "date", "format": ["%d.%m.%Y", "%d/%m/%y"],
     "constraints": {"minimum": "2020-01-01", "maximum": "2021-01-01"}},
    {"name": "a", "type": "number", "step": 1, "decimalChar": ",", "groupChar": " ", "bareNumber": False,
     "constraints": {"minimum": 0, "maximum": 9}},
    {"name": "a", "type": "integer", "categories": [{"value": 1, "label": "male"}, 2]},
    {"name": "a", "type": "string", "hierarchy": "towns.csv"},
    {"name": "a", "role": "identifier"},
])  # fmt: skip
def test_saving_an_unchanged_form_changes_nothing(entry: dict[str, object]) -> None:
    assert entry_of(form_of(entry), entry) == entry


def test_a_column_of_numbers_needs_a_step_or_multiples() -> None:
    typed = {"type": "number", "minimum": "0", "maximum": "9"}
    assert entry_of(typed, {"name": "a"})["step"] == "???"
    cents = entry_of(typed | {"multipleOf": "0.01"}, {"name": "a"})
    assert cents == {"name": "a", "type": "number", "constraints": {"minimum": 0, "maximum": 9, "multipleOf": 0.01}}
    assert summary_of(cents) == "0 to 9, multiples of 0.01"
    assert "multipleOf" not in str(entry_of(typed | {"step": "0.5"}, cents))


def test_boxes_accept_several_formats_of_dates_signs_of_numbers_and_labels_of_codes() -> None:
    bounds = {"minimum": "2020-01-01", "maximum": "2021-01-01"}
    dates = entry_of({"type": "date", "format": "%d.%m.%Y | %d/%m/%y", **bounds}, {"name": "a"})
    assert dates["format"] == ["%d.%m.%Y", "%d/%m/%y"]
    number = entry_of({"type": "integer", "groupChar": ".", "units": "yes", "minimum": "0", "maximum": "9"}, dates)
    assert (number["groupChar"], number["bareNumber"], "format" in number) == (".", False, False)
    typed = entry_of({"type": "integer", "categories": "1 = male\n2 = female\n9"}, number)
    assert typed["categories"] == [{"value": 1, "label": "male"}, {"value": 2, "label": "female"}, 9]
    before: dict[str, object] = {"name": "a", "type": "string", "categories": ["x = y"]}
    assert entry_of({"type": "string", "categories": "x = y\nz"}, before)["categories"] == ["x = y", "z"]


@pytest.mark.parametrize("name", ["schema.yaml", "schema.json"])
def test_text_that_cannot_be_parsed_is_kept_and_the_wrong_line_is_named(site: Site, name: str) -> None:
    (site.folder / "cantle.toml").write_text(f'schema = "{name}"\n')
    (site.folder / name).write_text('{"fields": []}')
    broken = '{"fields": [\n{"name": ] }'
    assert "line 2" in site.ask("POST", "/columns/text/check", {"text": broken}).text
    seen = site.get("/columns/text").text.split('name="seen" value="')[1].split('"')[0]
    saved = site.post("/columns/text", seen=seen, text=broken)
    assert saved.status_code == 200
    assert "line 2" in saved.text
    assert "line 2" in site.get("/columns").text


def test_an_outline_becomes_a_hierarchy() -> None:
    typed = "Europe\n  Austria\n    Graz\n    Linz\n  Oslo\nLima"
    hierarchy = hierarchy_of(typed)
    assert hierarchy == [{"Europe": [{"Austria": ["Graz", "Linz"]}, "Oslo"]}, "Lima"]
    assert outline_of(hierarchy) == typed


def test_names_of_columns_files_and_categories_are_escaped_everywhere(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / f"{HOSTILE.replace('/', '')}.csv").write_text(f'"{HOSTILE}",b\nx,y\n')
    site = Site(folder)
    site.post("/data/choose", path=f"{HOSTILE}.csv")
    site.post("/data/draft", kind="table", header="yes")
    site.post("/columns/0", seen=_seen(site, 0), type="string", categories=f"{HOSTILE}\nother")
    site.post("/columns/1", seen=_seen(site, 1), type="string", categories="y", hierarchy=f"{HOSTILE}\n  y")
    site.post("/protect/ledger", ledger=HOSTILE, dataset="people")
    site.post("/protect/cap", cap="3")
    for path in (
        "/data",
        "/columns",
        "/columns/0",
        "/columns/1",
        "/columns/text",
        "/protect",
        "/budget",
        "/publish",
        "/ledger",
    ):
        text = site.get(path).text
        assert "<img" not in text, path
        assert "onerror" in text or path in ("/budget",), path
    site.studio.close()


def _seen(site: Site, number: int) -> str:
    return site.get(f"/columns/{number}").text.split('name="seen" value="')[1].split('"')[0]


def test_check_is_marked_internal_and_no_other_page_shows_private_values(site: Site) -> None:
    site.post("/data/choose", path="people.csv")
    checked = site.post("/internal/check")
    assert 'class="internal"' in checked.text
    assert "Secretville" in checked.text, "a value that the schema does not declare"
    for path in ("/data", "/columns", "/columns/2", "/columns/text", "/protect", "/publish", "/ledger"):
        assert "Secretville" not in site.get(path).text
    assert not any(
        "Secretville" in one.read_text(errors="ignore") for one in site.studio.private.path.rglob("*") if one.is_file()
    )
    site.post("/columns/table", missing="NA")
    assert "The schema was changed since this check" in site.get("/internal/check").text
    site.post("/internal/check/forget")
    assert "Secretville" not in site.get("/internal/check").text


def test_the_plan_follows_the_slider_without_the_data(site: Site) -> None:
    first, second = (
        site.ask("POST", "/budget/plan", {"epsilon": epsilon, "records": "50,000"}).text for epsilon in ("1", "2")
    )
    assert "factor of at most 2.72" in first
    assert "factor of at most 7.39" in second
    assert "cantle plan --schema schema.yaml --records 50000 --epsilon 2" in second
    assert "say about how many" in site.ask("POST", "/budget/plan", {"epsilon": "1", "records": "many"}).text


def test_publishing_is_possible_once_epsilon_is_saved(site: Site) -> None:
    assert "Continue: publish" not in site.get("/budget").text
    ready(site)
    assert "Continue: publish" in site.get("/budget").text


def ready(site: Site, epsilon: str = "1") -> None:
    """Does all steps before the last."""
    site.post("/data/choose", path="people.csv")
    site.post("/protect/ledger", ledger="ledger.db", dataset="people")
    site.post("/protect/cap", cap="3")
    site.post("/budget", epsilon=epsilon, records="300")


def test_a_release_from_the_form_to_the_archive(site: Site, tmp_path: Path) -> None:
    ready(site)
    word = site.word()
    site.post("/publish", word=word)
    assert "nothing was started again" in site.post("/publish", word=word).text, (
        "a form that is sent twice starts one release"
    )
    site.wait()
    assert "Epsilon 1 was charged to data set people. 2 is left of the cap of 3." in site.get("/publish").text
    assert "nothing was started again" in site.post("/publish", word=word).text, (
        "a form that the back button sends again starts none"
    )
    assert len(Ledger(site.folder / "ledger.db").account("people").entries) == 1
    look = site.get("/look").text
    assert "Verified" in look
    assert "The table is small for this epsilon" in look, "the notes of the release"
    assert 'href="/look/release/statement"' in look
    statement = site.get("/look/release/statement")
    assert statement.headers["content-type"] == "text/plain; charset=utf-8"
    assert statement.text == (site.folder / "release" / "statement.md").read_text(encoding="utf-8")
    packed = site.get("/look/release/zip")
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        archive.extractall(tmp_path / "taken")
    assert verify_folder(tmp_path / "taken" / "release") == []
    assert "95 % interval" in site.ask("POST", "/look/release/ask", {"question": "age >= 50"}).text
    by = site.ask("POST", "/look/release/ask", {"question": "age >= 50", "by": "town"}).text
    assert ("95 %" in by, "limits" in by) == (False, True), "rows that have no 95 % interval say what they cover"
    assert site.post("/look/release/sample", n="7").text.count("\n") == 8
    assert "Secretville" not in look + site.get("/look/release/report").text
    report = site.ask("GET", "/look/release/report")
    assert "sandbox allow-scripts;" in report.headers["content-security-policy"]
    analyst = Site(site.folder / "release")
    assert "Download as zip" in analyst.get("/").text
    assert analyst.get("/data").status_code == 404
    analyst.studio.close()


def test_a_stopped_release_says_what_was_charged(site: Site) -> None:
    ready(site)
    site.studio.launch = [*launcher(), "-c", SLOW]
    site.post("/publish", word=site.word())
    job = site.studio.desk.job
    assert job is not None
    while job.phase != "reading":
        assert job.running
        time.sleep(0.05)
    assert "Cancel" in site.get("/publish/progress").text
    assert "nothing was started again" in site.post("/publish", word="of another tab").text
    stopped = site.post("/publish/cancel").text
    assert "Nothing was released" in stopped
    assert "Epsilon 1 was charged to data set people. The charge stands" in stopped
    assert list(site.folder.glob("release*")) == []
    assert job.code in (143, -signal.SIGKILL)


def test_a_page_publishes_the_epsilon_that_it_shows_or_nothing(site: Site) -> None:
    """Another tab sets a larger epsilon, which this tab must not charge without showing it."""
    ready(site)
    word = site.word()
    site.post("/budget", epsilon="2", records="300")
    answer = site.post("/publish", word=word)
    assert "were changed since" in answer.text
    assert site.studio.desk.job is None
    assert site.word().rpartition(".")[2] != word.rpartition(".")[2]


@pytest.mark.parametrize("ledger", [True, False])
def test_of_two_tabs_that_show_the_same_one_publishes(site: Site, ledger: bool) -> None:
    """The second was loaded before, and is sent after the release of the first is finished."""
    ready(site)
    if not ledger:
        site.post("/protect/ledger", none="yes")
    first, second = site.word(), site.word()
    site.post("/publish", word=first)
    site.wait()
    assert "were changed since" in site.post("/publish", word=second).text
    site.wait()
    assert [one.name for one in site.folder.glob("release*")] == ["release"]
    if ledger:
        assert len(Ledger(site.folder / "ledger.db").account("people").entries) == 1


def test_a_page_does_not_publish_after_a_charge_that_it_does_not_show(site: Site) -> None:
    """A run that was stopped leaves a charge, but no folder."""
    ready(site)
    word = site.word()
    ledger = Ledger(site.folder / "ledger.db")
    ledger.charge("people", epsilon_nano=10**9, unit="record", method="rps", parameters={}, guarantee="", software="")
    assert "were changed since" in site.post("/publish", word=word).text
    assert site.studio.desk.job is None


def test_a_release_that_would_exceed_the_cap_cannot_be_started(site: Site) -> None:
    ready(site, "4")
    shown = site.get("/publish").text
    assert "only 3 is left of the cap of 3" in shown
    assert 'name="word"' not in shown
    assert site.post("/publish", word="made up").status_code == 422
    assert site.studio.desk.job is None


def test_settings_that_the_user_wrote_are_kept(site: Site) -> None:
    (site.folder / "cantle.toml").write_text('# ours\nepsilon = "0.5"\n\n[other]\nkey = 1\n')
    site.post("/protect/ledger", ledger="ledger.db", dataset="people")
    text = (site.folder / "cantle.toml").read_text()
    assert text == '# ours\nepsilon = "0.5"\nledger = "ledger.db"\ndataset = "people"\n\n[other]\nkey = 1\n'
    (site.folder / "cantle.toml").write_text("not toml")
    assert "is not valid TOML" in site.post("/protect/ledger", ledger="ledger.db", dataset="people").text


def test_pages_work_with_two_hundred_columns_and_two_thousand_categories(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    fields: list[dict[str, object]] = [{"name": f"c{n}", "type": "boolean"} for n in range(199)]
    fields.append({"name": "job", "type": "string", "categories": [f"job {n}" for n in range(2_000)]})
    (folder / "schema.yaml").write_text(yaml.safe_dump({"fields": fields}))
    site = Site(folder)
    assert "2,000 categories" in site.get("/columns").text
    editor = site.get("/columns/199").text
    assert "job 1999" in editor
    names = "\n".join(f"work {n}" for n in range(2_000))
    site.post("/columns/199", seen=_seen(site, 199), type="string", categories=names)
    schema = load_schema(folder / "schema.yaml")
    assert schema.to_dict()["fields"][199]["categories"][1999] == "work 1999"  # type: ignore[index, call-overload]
    site.studio.close()


def test_a_list_keeps_its_items_in_the_form() -> None:
    ill = {"name": "ill", "type": "list", "items": ["flu", "gout"], "delimiter": "|", "unknown": "drop"}
    assert entry_of(form_of(ill), ill) == ill
    assert summary_of(ill) == "lists of 2 items"
