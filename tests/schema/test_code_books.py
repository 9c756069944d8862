"""From a code book to a schema: every known format, three public tables, and refusals."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cantle.errors import ParameterError, SchemaError
from cantle.schema import Schema
from cantle.schema.code_books import BookColumn, read_code_book
from tests.interfaces.cli.inside import Cantle, cantle  # noqa: F401 - a fixture
from tests.schema.code_books import ADULT, COMPLETE, PARTIAL, TABLES

SAYS_REQUIRED = {"book.csv", "datapackage.json", "parameters.json", "metadata.yaml"}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("form", COMPLETE)
def test_a_complete_code_book_gives_a_valid_schema_at_once(
    tmp_path: Path,
    cantle: Cantle,  # noqa: F811
    name: str,
    form: str,
) -> None:
    (tmp_path / form).write_text(COMPLETE[form](TABLES[name]), encoding="utf-8")
    start = time.process_time()
    done = cantle("init", "--codebook", form, "-o", "s.yaml")
    schema = Schema.load(tmp_path / "s.yaml")
    assert time.process_time() - start < 5  # 0.02 s when measured
    assert "It is complete" in done.out
    assert [one.name for one in schema.fields] == [row[0] for row in TABLES[name]]
    for column, (_, _, known, required) in zip(schema.fields, TABLES[name], strict=True):
        if isinstance(known, tuple):
            assert (column.type, column.minimum, column.maximum) == ("integer", *known)
        else:
            assert column.categories is not None
            assert [str(one) for one in column.categories] == known.split("|")
        assert column.required == (required and form in SAYS_REQUIRED)
        if form == "data_dictionary.json" and not required:
            assert column.missing_values == ("", "N")
    lines = (tmp_path / "s.yaml").read_text().splitlines()
    assert sum(line.startswith("  - {name: ") for line in lines) == len(TABLES[name])  # one line per column


@pytest.mark.parametrize("form", PARTIAL)
def test_what_a_code_book_does_not_say_stays_blank(tmp_path: Path, cantle: Cantle, form: str) -> None:  # noqa: F811
    (tmp_path / form).write_text(PARTIAL[form](ADULT), encoding="utf-8")
    done = cantle("init", "--codebook", form, "-o", "s.yaml")
    with pytest.raises(SchemaError) as caught:
        Schema.load(tmp_path / "s.yaml")
    assert all("still blank" in one.text for one in caught.value.problems)
    open_ones = [row for row in ADULT if form == "metadata.json" or not isinstance(row[2], tuple)]
    assert len(caught.value.problems) == len(open_ones)
    assert f"Fill in the blanks (???) of {len(open_ones)} columns" in done.out


def test_details_of_the_formats(tmp_path: Path) -> None:
    (tmp_path / "book.csv").write_text(
        "name;code;type;format;role\nsex;1 = male;;;\n;2 = female;;;\nzip;01|02;;;\nborn;;date;%d.%m.%Y;\n"
        "size;1..9;;;\nid;;id;;\nincome;<=50K|>50K;;;target\nmass;0.5 - 9.25;;;\n"
    )
    by_name = {one.name: one.entry() for one in read_code_book(tmp_path / "book.csv")}
    labelled = [{"value": 1, "label": "male"}, {"value": 2, "label": "female"}]
    assert by_name["sex"] == {"name": "sex", "type": "integer", "categories": labelled}
    assert by_name["zip"] == {"name": "zip", "type": "string", "categories": ["01", "02"]}
    assert by_name["born"]["format"] == "%d.%m.%Y"
    assert by_name["size"] == {"name": "size", "type": "integer", "constraints": {"minimum": 1, "maximum": 9}}
    assert by_name["id"] == {"name": "id", "role": "identifier"}
    assert by_name["income"]["categories"] == ["<=50K", ">50K"]
    assert by_name["income"]["role"] == "target"
    assert (by_name["mass"]["type"], by_name["mass"]["step"]) == ("number", 0.01)
    (tmp_path / "more.csv").write_text(
        "name,type,min,max,multipleOf,step\nprice,number,0,9,0.01,\npay,integer,0,90,5,10\n"
    )
    price, pay = (one.entry() for one in read_code_book(tmp_path / "more.csv"))
    assert price == {
        "name": "price",
        "type": "number",
        "constraints": {"minimum": 0, "maximum": 9, "multipleOf": 0.01},
    }
    assert (pay["step"], pay["constraints"]) == (10, {"minimum": 0, "maximum": 90, "multipleOf": 5})
    (tmp_path / "d.json").write_text(
        '{"NOC": {"description": "d", "values": {"N": "none", "0": "no child", "min": 1, "max": 19}},'
        ' "PINCP": {"description": "d", "N": "N/A", "min": -9000, "max": 10},'
        ' "DECILE": {"description": "d", "9": "x", "8": "y"}}'
    )
    noc, income, decile = (one.entry() for one in read_code_book(tmp_path / "d.json"))
    assert noc["constraints"] == {"minimum": 0, "maximum": 19}
    assert noc["missingValues"] == income["missingValues"] == ["", "N"]
    assert income["constraints"] == {"minimum": -9000, "maximum": 10}
    assert decile["categories"] == [{"value": 9, "label": "x"}, {"value": 8, "label": "y"}]
    assert decile["title"] == "d"


SEX = {"name": "sex", "type": "integer", "title": "Sex", "categories": [{"value": 1, "label": "male"}, 2]}
BOOKS = {
    "rows.csv": "variable,label,value,value label\nsex,Sex,1,male\n,,2,\n",
    "cells.csv": "name,label,values\nsex,Sex,1 = male | 2\n",
    "schema.json": '{"fields": [{"name": "sex", "type": "integer", "title": "Sex", '
    '"categories": [{"value": 1, "label": "male"}, {"value": 2}]}]}',
    "ddi.xml": '<codeBook><dataDscr><var name="sex"><labl>Sex</labl><catgry><catValu>1</catValu><labl> male\n</labl>'
    "</catgry><catgry><catValu>2</catValu></catgry></var></dataDscr></codeBook>",
}


@pytest.mark.parametrize("name", BOOKS)
def test_titles_of_columns_and_labels_of_values_are_kept(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(BOOKS[name])
    assert [one.entry() for one in read_code_book(tmp_path / name)] == [SEX]


def test_a_label_beside_single_values_belongs_to_them(tmp_path: Path) -> None:
    (tmp_path / "book.csv").write_text("variable,value,label\nsex,1,male\nsex,2,female\n")
    entry = read_code_book(tmp_path / "book.csv")[0].entry()
    assert entry["categories"] == [{"value": 1, "label": "male"}, {"value": 2, "label": "female"}]
    field = Schema.from_dict({"fields": [entry]}).fields[0]  # type: ignore[attr-defined]
    assert (field.categories, field.captions()) == ((1, 2), {"1": "1 = male", "2": "2 = female"})
    assert field.to_dict()["categories"] == entry["categories"]


def test_a_file_gives_the_columns_and_a_code_book_describes_them(tmp_path: Path, cantle: Cantle) -> None:  # noqa: F811
    (tmp_path / "book.csv").write_text(COMPLETE["book.csv"](ADULT))
    (tmp_path / "t.csv").write_text("sex,shoe\nSECRET,1\n")
    shown = cantle("init", "t.csv", "--header", "yes", "--codebook", "book.csv").out
    assert '  - {name: "sex", type: string, categories: ["Female", "Male"], constraints: {required: true}}\n' in shown
    assert '  - {name: "shoe", type: "???"}\n' in shown
    assert "SECRET" not in shown
    assert "noise may invent a few nulls" in shown


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE c [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><codeBook><var name="&b;"/></codeBook>'
)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("b.xml", BOMB, "document type or an entity"),
        ("b.xml", '<!DOCTYPE c SYSTEM "file:///etc/passwd"><codeBook/>', "document type or an entity"),
        ("b.xml", "<codeBook>", "not valid XML"),
        ("b.json", "[1]", "no column is described"),
        ("b.json", "{", "not valid JSON"),
        ("b.yaml", "a: &x 1\nb: *x\n", "anchor"),
        ("b.csv", "one,two\n1,2\n", "no column is described"),
        ("b.csv", "", "no column is described"),
        ("b.json", '{"fields": [{"name": "x"}, {"name": "x"}]}', "described twice"),
    ],
)
def test_files_that_are_no_code_book_are_refused(tmp_path: Path, name: str, content: str, says: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ParameterError, match=says):
        read_code_book(tmp_path / name)
    with pytest.raises(ParameterError, match="there is no file"):
        read_code_book(tmp_path / "none.csv")


def test_questions_in_the_terminal(tmp_path: Path, cantle: Cantle, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    import typer

    (tmp_path / "t.csv").write_text("age,job,weight,ssn,later\nSECRET,2,3,4,5\n")
    answers = iter(
        ["i", "90", "17", "yes"]  # bounds in the wrong order are asked for again
        + ["i", "17", "90", "no", "c", "Clerk, Farmer", "yes", "n", "0", "300", "0.5", "yes", "x", "", "job"]
    )
    asked: list[str] = []

    def prompt(text: str, **_: object) -> str:
        asked.append(text)
        return next(answers)

    monkeypatch.setattr(typer, "prompt", prompt)
    done = cantle("init", "t.csv", "--header", "yes", "--ask")
    assert done.code == 0, done.err
    assert "minimum 90 is above maximum 17" in done.err
    shown = done.out.split("fields:")[1]
    assert '{name: "age", type: integer, constraints: {minimum: 17, maximum: 90, required: true}}' in shown
    assert '{name: "job", type: string, categories: ["Clerk", "Farmer"], role: target}' in shown
    assert '{name: "weight", type: number, step: 0.5, constraints: {minimum: 0, maximum: 300}}' in shown
    assert '{name: "ssn", role: identifier}' in shown
    assert '{name: "later", type: "???"}' in shown
    assert "SECRET" not in done.out + done.err + "".join(asked)


def test_ways_to_fill_in_a_schema_are_not_mixed(cantle: Cantle) -> None:  # noqa: F811
    for words in (("--ask", "--infer"), ("--ask", "--codebook", "b.csv"), (), ("--ask",)):
        assert cantle("init", *words).code == 2


def test_a_number_with_whole_bounds_keeps_its_decimals_for_the_user_to_decide() -> None:
    assert BookColumn(name="wage", type="number", minimum=0, maximum=9000).entry()["step"] == "???"
    assert BookColumn(name="age", type="numeric", minimum=0, maximum=90).entry()["type"] == "integer"
