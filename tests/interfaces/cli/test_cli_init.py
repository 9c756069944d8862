"""`cantle init` prints no value of a file: the user must say whether a CSV file starts with names."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import typer
import yaml

from tests.interfaces.cli.inside import Cantle, cantle  # noqa: F401 - a fixture


@pytest.mark.parametrize("more", [(), ("--json",), ("--infer",), ("-o", "s.yaml")])
def test_without_the_option_header_nothing_is_written(
    tmp_path: Path,
    cantle: Cantle,  # noqa: F811
    more: tuple[str, ...],
) -> None:
    (tmp_path / "t.csv").write_text("SECRET,17\nHIDDEN,18\n")
    done = cantle("init", "t.csv", *more)
    assert done.code == 2
    assert "add --header yes if it holds names" in done.err
    assert "--header no if it holds a record" in done.err
    assert "SECRET" not in done.out + done.err
    assert not (tmp_path / "s.yaml").exists()


def test_the_header_is_used_as_the_option_says(tmp_path: Path, cantle: Cantle) -> None:  # noqa: F811
    (tmp_path / "t.csv").write_bytes(b"SECRET,17\rHIDDEN,18\r")
    named = cantle("init", "t.csv", "--header", "yes").out
    assert '- {name: "SECRET"' in named
    assert "HIDDEN" not in named
    numbered = json.loads(cantle("init", "t.csv", "--header", "no", "--json").out)
    assert numbered["guarantee"] is True
    assert '- {name: "column_2"' in numbered["schema"]
    assert 'dialect: {"header": false}' in numbered["schema"]
    assert "SECRET" not in numbered["schema"]


@pytest.mark.parametrize(
    ("answer", "shown", "code"),
    [("yes", True, 0), ("No", False, 0), ("maybe", False, 2), ("0", False, 2), ("1", True, 0)],
)
def test_on_a_terminal_it_asks_about_the_header(
    tmp_path: Path,
    cantle: Cantle,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    shown: bool,
    code: int,
) -> None:
    (tmp_path / "t.csv").write_text("SECRET,17\n")
    asked: list[str] = []

    def prompt(text: str, err: bool) -> str:
        asked.append(text)
        assert err  # the schema goes to the standard output
        return answer

    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(typer, "prompt", prompt)
    done = cantle("init", "t.csv")
    assert done.code == code
    assert asked == ["Does the first line of t.csv hold column names? (yes, no, or the number of the line that does)"]
    assert ("SECRET" in done.out) is shown


def test_the_option_header_is_refused_for_fimi_lines(tmp_path: Path, cantle: Cantle) -> None:  # noqa: F811
    (tmp_path / "s.dat").write_text("1 2\n")
    assert cantle("init", "s.dat", "--header", "yes").code == 2
    assert "there is no file 'none.csv'" in cantle("init", "none.csv").err


def test_a_long_table_of_sets_gives_the_names_of_its_columns(tmp_path: Path, cantle: Cantle) -> None:  # noqa: F811
    (tmp_path / "orders.csv").write_text("order;product\n1;bread\n")
    (tmp_path / "catalogue.csv").write_text("bread;food\nsoap;home\n")
    (tmp_path / "items.txt").write_text("bread\nsoap\n")
    done = cantle("init", "orders.csv", "--kind", "sets", "--header", "yes", "-o", "s.yaml")
    assert "Next: cantle check orders.csv --schema s.yaml" in done.out
    text = (tmp_path / "s.yaml").read_text()
    (tmp_path / "s.yaml").write_text(text.replace("items: ???", "items: catalogue.csv"))
    assert "is a table of 2 columns" in cantle("check", "orders.csv", "--schema", "s.yaml").err
    (tmp_path / "s.yaml").write_text(text.replace("items: ???", "items: items.txt"))
    assert "1 sets read, 1 would be used" in cantle("check", "orders.csv", "--schema", "s.yaml").out


def test_the_draft_of_two_linked_tables_names_the_package_in_the_next_command(tmp_path: Path, cantle: Cantle) -> None:  # noqa: F811
    (tmp_path / "homes.csv").write_text("home,rent\n1,9\n")
    (tmp_path / "persons.csv").write_text("home,age\n1,40\n")
    done = cantle("init", "homes.csv", "--child", "persons.csv", "--key", "home", "--header", "yes", "-o", "p.yaml")
    assert done.out.rstrip().endswith("Next: cantle check p.yaml")


def test_the_key_of_two_linked_tables_may_have_two_names(tmp_path: Path, cantle: Cantle) -> None:  # noqa: F811
    (tmp_path / "staff.csv").write_text("Staff No;hired;left\n1;2020-01-01;2021-01-01\n")
    (tmp_path / "leave.csv").write_text("employee,days\n1,3\n")
    drafted = cantle("init", "staff.csv", "--child", "leave.csv", "--key", "Staff No=employee", "--header", "yes")
    package = yaml.safe_load(drafted.out)
    reference = {"resource": "staff", "fields": "Staff No"}
    assert package["resources"][0]["schema"]["primaryKey"] == "Staff No"
    assert package["resources"][0]["schema"]["dialect"] == {"delimiter": ";"}
    assert '#   - "left >= hired"' in drafted.out
    assert "2020" not in drafted.out.split("resources:")[1]
    assert package["resources"][1]["schema"]["foreignKeys"] == [{"fields": "employee", "reference": reference}]
    one_name = cantle("init", "staff.csv", "--child", "leave.csv", "--key", "Staff No", "--header", "yes")
    assert "'leave.csv' has no column 'Staff No'" in one_name.err
    assert "--key PARENT=CHILD" in one_name.err


def test_of_a_long_table_with_more_columns_it_lists_them_to_choose_from(tmp_path: Path, cantle: Cantle) -> None:  # noqa: F811
    (tmp_path / "orders.csv").write_text("Shop 12\norder,day,product\n1,Monday,bread\n")
    drafted = cantle("init", "orders.csv", "--kind", "sets", "--header", "2", "-o", "s.yaml")
    assert drafted.code == 0
    text = (tmp_path / "s.yaml").read_text()
    assert text.count('"???"   # one of "order", "day", "product"') == 2
    assert "Monday" not in text
    blank = cantle("check", "orders.csv", "--schema", "s.yaml").err
    assert "id" in blank
    assert "item" in blank
    for line, name in (("id", "order"), ("item", "product")):
        text = text.replace(f'{line}: "???"', f"{line}: {name}")
    (tmp_path / "s.yaml").write_text(text.replace("items: ???", "items: [bread]"))
    assert "1 sets read, 1 would be used" in cantle("check", "orders.csv", "--schema", "s.yaml").out


def test_titles_above_the_header_are_skipped_if_the_line_is_given(tmp_path: Path, cantle: Cantle) -> None:  # noqa: F811
    (tmp_path / "t.csv").write_text("Ward 7;;\n\nname;age;\nSECRET;17;\n")
    titled = cantle("init", "t.csv", "--header", "yes", "-o", "title.yaml")
    assert "If that is a title, delete the draft, and say in which line the names are: --header 3" in titled.out
    drafted = cantle("init", "t.csv", "--header", "3").out
    assert '{name: "name", type: "???"}\n  - {name: "age", type: "???"}\n\n' in drafted
    assert 'dialect: {"delimiter": ";", "headerRow": 3}' in drafted
    assert "SECRET" not in drafted
    assert "ends before its header" in cantle("init", "t.csv", "--header", "9").err
    assert "a line from 1 to 1000" in cantle("init", "t.csv", "--header", "1001").err
