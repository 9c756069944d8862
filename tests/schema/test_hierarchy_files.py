"""Files and rules of hierarchies: every format, and refusals that name the column, the rule and the value."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import SchemaError
from cantle.schema import Schema
from cantle.schema.hierarchy_files import load_hierarchy, parse_arx, parse_braces, parse_indented, parse_nested
from cantle.schema.taxonomy import Taxonomy
from cantle_lab.papers import adult

JOBS = ("Dancer", "Engineer", "Lawyer", "Writer")
TREE = {"Any": [{"Professional": ["Engineer", "Lawyer"]}, {"Artist": ["Dancer", "Writer"]}]}
ARX = "Engineer;Professional;Any\nDancer;Artist;Any\nLawyer;Professional;Any\nWriter;Artist;Any\n"
INDENTED = "Any\n\tProfessional\n\t\tEngineer\n\t\tLawyer\n\n\tArtist\n\t\tDancer\n\t\tWriter\n"
BRACES = "{Any {Professional {Engineer} {Lawyer}}\n  {Artist {Dancer} {Writer}}}"
HRC = "Professional\n@Engineer\n@Lawyer\nArtist\n@Dancer\n@Writer\n"


def groups(taxonomy: Taxonomy) -> dict[str, set[Any]]:
    nodes, by_name = [taxonomy.root], {}
    for lo, hi in nodes:
        nodes.extend(taxonomy.children(lo, hi))
        by_name[taxonomy.name(lo, hi)] = set(taxonomy.leaves[lo:hi])
    return by_name


# ------------------------------------------------------------------------------------------------- formats


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("job.csv", ARX),
        ("comma.CSV", ARX.replace(";", ",")),
        ("windows.csv", "\ufeff" + ARX.replace("\n", "\r\n")),
        ("quoted.csv", ARX.replace("Dancer", '"Dancer"')),
        ("job.txt", INDENTED),
        ("spaces.txt", INDENTED.replace("\t", "   ")),
        ("braces.txt", BRACES),
        (
            "job.hchy",
            f"| comment {{\nage:continuous\n{{1-9 {{ignored}}}}\njob:discrete | too\n{BRACES}\nvid: | ALL\n{{{{20}}}}",
        ),
        ("alone.hchy", f"Please cite.\noccupation:discrete\n{BRACES}\n"),
        ("two.hchy#work", f"work:discrete\n{BRACES}\njob:discrete\n{{x}}"),
        ("job.hrc", HRC),
        ("job.yaml", json.dumps(TREE)),
        ("job.yml", "Professional: [Engineer, Lawyer]\nArtist:\n- Dancer\n- Writer\n"),
        ("job.json", json.dumps(TREE)),
    ],
)
def test_files_of_every_format_give_the_same_tree(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name.partition("#")[0]).write_text(content, encoding="utf-8", newline="")
    taxonomy = load_hierarchy(name, JOBS, "job", tmp_path)
    assert groups(taxonomy)["Professional"] == {"Engineer", "Lawyer"}
    assert groups(taxonomy)["Artist"] == {"Dancer", "Writer"}
    assert sorted(taxonomy.leaves) == list(JOBS)
    assert len(list(taxonomy.path(0))) == 3


def test_written_order_is_kept_and_arx_follows_the_declared_order() -> None:
    for taxonomy in (
        parse_nested(TREE, JOBS, "job"),
        parse_indented(INDENTED, JOBS, "job"),
        parse_braces(BRACES, JOBS, "job"),
    ):
        assert taxonomy.to_nested() == TREE
    assert parse_arx(ARX, JOBS, "job").leaves == ("Dancer", "Writer", "Engineer", "Lawyer")


def test_a_hash_may_be_part_of_a_file_name(tmp_path: Path) -> None:
    (tmp_path / "no#1.csv").write_text(ARX)
    assert len(load_hierarchy("no#1.csv", JOBS, "job", tmp_path).leaves) == 4
    assert len(load_hierarchy(tmp_path / "no#1.csv", JOBS, "job").leaves) == 4


def test_leaves_have_the_declared_type() -> None:
    assert parse_arx("1;low;*\n3;high;*\n2;low;*", (1, 2, 3), "grade").leaves == (1, 2, 3)
    assert parse_nested([[1, 2], 3], ("1", "2", "3"), "grade").leaves == ("1", "2", "3")
    assert parse_nested(["true", False], (False, True), "ill").leaves == (True, False)
    assert parse_indented("A\n a b\n c", (" a b ", "c"), "text").leaves == (" a b ", "c")


def test_unusual_arx_files_are_read() -> None:
    assert parse_arx("b;*\na;*", ("a", "b"), "x") == parse_nested({"*": ["a", "b"]}, ("a", "b"), "x")
    assert parse_arx("a\nb", ("a", "b"), "x") == Taxonomy.flat("ab")
    assert parse_arx("a;A\nb;A\nc;B\nd;B", tuple("abcd"), "x").to_nested() == [{"A": ["a", "b"]}, {"B": ["c", "d"]}]
    ragged = parse_arx("a;A;;*\nb;A;A;*\nc;;;*\nOther;Other;Other;*\nd;Other;;*", ("a", "b", "c", "d", "Other"), "x")
    assert ragged.to_nested() == {"*": [{"A": ["a", "b"]}, "c", {"Other": ["d", "Other"]}]}
    assert parse_arx('"a;1";A;*\n"b, 2";A;*', ("a;1", "b, 2"), "x").leaves == ("a;1", "b, 2")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_arx_keeps_every_group_in_one_span(pairs: list[tuple[int, int]]) -> None:
    rows = [(f"v{k}", f"{wide}{narrow}", f"w{wide}", "*") for k, (wide, narrow) in enumerate(pairs)]
    labels = tuple(row[0] for row in rows)
    taxonomy = parse_arx("\n".join(map(";".join, rows)), labels, "x")
    for level in (1, 2, 3):
        for name in {row[level] for row in rows}:
            places = sorted(taxonomy.leaves.index(row[0]) for row in rows if row[level] == name)
            assert places == list(range(places[0], places[-1] + 1))
            assert (places[0], places[-1] + 1) in taxonomy.path(places[0])


# ------------------------------------------------------------------------------------------------- rules


def test_the_rule_fanout() -> None:
    assert load_hierarchy({"fanout": 2}, JOBS, "job") == Taxonomy.balanced(JOBS, 2)
    turned = {"fanout": 2, "leaves": list(reversed(JOBS))}
    assert load_hierarchy(turned, JOBS, "job").to_nested() == turned


def test_the_rule_prefixes() -> None:
    codes = ("E10", "A00.0", "A00.1", "A01", "E11", "A")
    taxonomy = load_hierarchy({"prefixes": [3, 1]}, codes, "icd")
    assert taxonomy.to_nested() == [{"E…": ["E10", "E11"]}, {"A…": [{"A00…": ["A00.0", "A00.1"]}, "A01", "A"]}]
    assert load_hierarchy({"prefixes": 1}, codes, "icd").children(0, 6) == ((0, 2), (2, 6))


def test_the_rule_bands() -> None:
    ages = (25, 17, 40, 18, 19, 21, -1, -2)
    taxonomy = load_hierarchy({"bands": [20, 5]}, ages, "age")
    assert taxonomy.leaves == tuple(sorted(ages))
    by_name = groups(taxonomy)
    assert by_name["15 to 19"] == {17, 18, 19}  # these are all of 0 to 19, so there is one node, with the narrower name
    assert by_name["20 to 39"] == {21, 25}
    assert by_name["-5 to -1"] == {-2, -1}
    assert load_hierarchy({"bands": [10]}, ("5", "10", "12"), "age").leaves == ("5", "10", "12")


def test_the_rule_dateparts() -> None:
    days = ("2024-02-01", "2023-12-31", "2024-01-31", "2024-02-29T10:00", "2024-07")
    taxonomy = load_hierarchy({"dateparts": ["month", "year"]}, days, "seen")
    year = {"2024": ["2024-01-31", {"2024-02": ["2024-02-01", "2024-02-29T10:00"]}, "2024-07"]}
    assert taxonomy.to_nested() == ["2023-12-31", year]
    assert "2024-Q1" in groups(load_hierarchy({"dateparts": ["year", "quarter"]}, days, "seen"))


def test_a_group_may_have_the_name_of_a_rule() -> None:
    nested = [{"bands": ["Beatles", "Stones"]}]
    assert load_hierarchy(nested, ("Beatles", "Stones"), "music").name(0, 2) == "bands"
    two = {"bands": ["Beatles", "Stones"], "prefix": ["pre"]}
    assert load_hierarchy(two, ("Beatles", "Stones", "pre"), "music").name(0, 2) == "bands"


# ------------------------------------------------------------------------------------------------- refusals

NESTED_ERRORS: list[tuple[Any, str]] = [
    (["Dancer", "Engineer", "Lawyer"], "'Writer' is missing"),
    (["Dancer"], r"'Engineer' \(and 2 more\) is missing"),
    ([*JOBS, "Plumber"], "'Plumber' is not a declared category"),
    ({"Any": ["Dancer", "Enginer", "Lawyer", "Writer"]}, "'Enginer' is not .* is 'Engineer' meant"),
    ([*JOBS, ["Dancer"]], "'Dancer' is a leaf twice"),
    ({"A": ["Dancer"], "B": [{"A": ["Engineer"]}]}, "'A' stands in two places"),
    ({"A": [{"B": [{"A": ["Dancer"]}]}]}, "'A' lies below itself"),
    ({"A": [], "B": list(JOBS)}, "'A' is empty"),
    ([*JOBS, 1.5], "1.5 is not text"),
    ([*JOBS, True], "'true' is not a declared category"),
    (7, "7 is not a nested list"),
    (None, "None is not a nested list"),
    ({"fanuot": 4}, "rule 'fanuot' is not known"),
    ({"prefix": [1, 3]}, "rule 'prefix' is not known"),
    ({"date-parts": ["year"]}, "rule 'date-parts' is not known"),
    ({"depth": 4}, "rule 'depth' is not known"),
    ({"fanout": 4, "bands": [5]}, "'fanout', 'bands' stand together"),
    ({"fanout": 1}, "fan-out of a taxonomy is 1"),
    ({"fanout": "two"}, "fan-out of a taxonomy is 'two'"),
    ({"fanout": [2]}, r"fanout \[2\] is not a whole number"),
    ({"fanout": None}, "fanout None is not a whole number"),
    ({"fanout": 2, "leaves": ["Dancer"]}, "is missing"),
    ({"prefixes": [0]}, "not a list of whole numbers from 1"),
    ({"prefixes": []}, "not a list of whole numbers"),
    ({"prefixes": ["a"]}, "not a list of whole numbers"),
    ({"prefixes": [10**5000]}, "not a list of whole numbers"),
    ({"bands": [1, 5]}, "not a list of whole numbers from 2"),
    ({"bands": [5, 12]}, "bands of 5 do not fit into bands of 12"),
    ({"bands": [5]}, "bands are for integers.*'Dancer'"),
    ({"dateparts": ["hour"]}, "not known"),
    ({"dateparts": []}, "not known"),
    ({"dateparts": ["year"]}, "'Dancer' is not an ISO date"),
]

TEXT_ERRORS = [
    ("x.csv", ARX.replace("Writer", "Plumber"), "'Plumber' is not a declared category"),
    ("x.csv", ARX.replace("Writer;Artist;Any\n", ""), "'Writer' is missing"),
    ("x.csv", ARX + "Writer;Artist;Any\n", "line 5: the value 'Writer' is a leaf twice"),
    ("x.csv", ARX.replace("Writer;Artist;Any", "Writer;Artist;Other"), "'Artist' stands in two places"),
    ("x.csv", "Dancer;A;B\nEngineer;B;A\nLawyer;A;B\nWriter;A;B", "two parents or a cycle"),
    ("x.csv", "Dancer;A;B;A\nEngineer;A;B;A\nLawyer;A;B;A\nWriter;A;B;A", "cycle: 'A' > 'B' > 'A'"),
    ("x.csv", "Dancer;A;Dancer\nEngineer;A;Dancer\nLawyer;A;Dancer\nWriter;A;Dancer", "'Dancer' lies below itself"),
    ("x.csv", ARX.replace("Writer;Artist;Any", "Writer;Any"), r"line 4 \('Writer'\) has 2 columns"),
    ("x.csv", ARX.replace("Writer", ""), "line 4 has no value"),
    ("x.csv", ARX.replace("Any", ";".join(map(str, range(10_000)))), "more than 100 columns"),
    ("x.csv", "", "'Dancer' .* is missing"),
    ("x.csv", '"' + "x" * 200_000, "not CSV"),
    ("x.txt", INDENTED.replace("\t\tWriter", "\t Writer"), "line 8 .* indented like no line"),
    ("x.txt", INDENTED.replace("\t\tWriter", "  Writer"), "line 8 .* indented like no line"),
    ("x.txt", INDENTED + "\t\tDancer", "'Dancer' is a leaf twice"),
    ("x.txt", "  Dancer\nWriter", "indented like no line"),
    ("x.txt", "\n \n", "has no values"),
    ("x.txt", "\n".join(" " * k + str(k) for k in range(1000)), "more than 100 levels"),
    ("x.hchy", BRACES[:-1], "1 braces are not closed"),
    ("x.hchy", BRACES + "}", "not open"),
    ("x.hchy", BRACES.replace("{Dancer}", "{}"), "empty"),
    ("x.hchy", BRACES.replace("{Dancer}", "{Dancer} too"), "'too' does not stand"),
    ("x.hchy", BRACES.replace("{Dancer}", ""), "'Dancer' is missing"),
    ("x.hchy", "nothing", "no tree in braces"),
    ("x.hchy", f"a:\n{BRACES}\nb:\n{BRACES}", "no tree headed 'job'.* 'a', 'b'"),
    ("x.hchy", "{" * 10_000, "more than 100 levels"),
    ("x.yaml", "[" * 200_000, "more than 100 levels"),
    ("x.yaml", "- " * 20_000 + "a", "more than 100 levels"),
    ("x.yaml", "&a [Dancer, *a]", "anchor, alias"),
    ("x.yaml", "[Dancer", "not valid YAML"),
    ("x.yaml", "Dancer", "not a nested list"),
    ("x.yaml", "9" * 5000, "its digits"),
    ("x.yaml", "- 2024-01-01\n- 1.5", "not text"),
    ("x.json", "[" * 100_000, "more than 100 levels"),
    ("x.json", "[NaN]", "not text"),
    ("x.json", "[", "not valid JSON"),
    ("x.xlsx", "", "ending that is not known"),
]


@pytest.mark.parametrize(("spec", "rule"), NESTED_ERRORS)
def test_wrong_lists_and_rules_are_refused(spec: Any, rule: str) -> None:
    with pytest.raises(SchemaError, match=rule) as caught:
        load_hierarchy(spec, JOBS, "job")
    assert str(caught.value).startswith("field 'job', hierarchy: ")
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(("name", "content", "rule"), TEXT_ERRORS)
def test_wrong_files_are_refused(tmp_path: Path, name: str, content: str, rule: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(SchemaError, match=rule) as caught:
        load_hierarchy(name, JOBS, "job", tmp_path)
    assert str(caught.value).startswith("field 'job', hierarchy: ")
    assert len(str(caught.value)) < 500


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    with (tmp_path / "huge.yaml").open("wb") as file:
        file.truncate(1 << 30)
    for name, rule in [
        ("none.csv", "no file 'none.csv'"),
        ("binary.csv", "UTF-8"),
        ("folder.csv", "no file"),
        ("pipe.csv", "no file"),
        ("huge.yaml", "larger than 8 MiB"),
        ("a\0b.csv", "no file|not a path|cannot be read"),
        ("x" * 5000 + ".csv", "no file|not a path|cannot be read"),
    ]:
        with pytest.raises(SchemaError, match=rule):
            load_hierarchy(name, JOBS, "job", tmp_path)


def test_a_large_arx_file_is_read() -> None:
    labels = tuple(f"c{k}" for k in range(10_000))
    taxonomy = parse_arx("\n".join(f"{one};{one[:3]};{one[:2]};*" for one in reversed(labels)), labels, "code")
    assert len(taxonomy.leaves) == 10_000


# ------------------------------------------------------------------------------------------------- Adult


@pytest.fixture(scope="module")
def adult_trees() -> Path:
    folder = os.environ.get("CANTLE_DATA")
    if not folder:
        pytest.skip("set CANTLE_DATA to the folder that contains adult_hierarchies/ to read the real taxonomies")
    return Path(folder) / "adult_hierarchies"


def categories_of(column: str) -> tuple[Any, ...]:
    field = next(one for one in adult.schema("all")["fields"] if one["name"] == column)
    return tuple(field["categories"])


ARX_FILES = {  # column, height and children of the root, counted by hand in the files
    "age": ("age", 4, 5),
    "education": ("education", 3, 3),
    "marital-status": ("marital-status", 2, 2),
    "native-country": ("native-country", 2, 5),
    "occupation": ("occupation", 2, 3),
    "race": ("race", 1, 5),
    "salary-class": ("class", 1, 2),
    "sex": ("sex", 1, 2),
    "workclass": ("workclass", 2, 3),
}


@pytest.mark.parametrize("name", ARX_FILES)
def test_the_arx_files_of_adult(adult_trees: Path, name: str) -> None:
    column, height, children = ARX_FILES[name]
    categories = tuple(range(1, 101)) if name == "age" else categories_of(column)
    taxonomy = load_hierarchy(f"arx_adult_hierarchy_{name}.csv", categories, column, adult_trees)
    assert set(taxonomy.leaves) == set(categories)
    assert taxonomy.name(*taxonomy.root) == "*"
    assert max(len(list(taxonomy.path(code))) for code in range(len(taxonomy.leaves))) == height + 1
    assert len(taxonomy.children(*taxonomy.root)) == children


def test_ages_that_are_not_declared_are_named_in_the_refusal(adult_trees: Path) -> None:
    with pytest.raises(SchemaError, match="field 'age'.*leaf '1'"):
        load_hierarchy("arx_adult_hierarchy_age.csv", tuple(range(17, 91)), "age", adult_trees)


@pytest.mark.parametrize("file", ["fung_adultHierarchy.txt", "diffgen_adult.hchy"])
@pytest.mark.parametrize("column", list(adult.CATEGORIES))
def test_the_trees_of_diffgen(adult_trees: Path, file: str, column: str) -> None:
    section = {"marital-status": "#martial-status", "class": "#classes"}.get(column, "")
    taxonomy = load_hierarchy(file + section, categories_of(column), column, adult_trees)
    heights = {"class": 1, "workclass": 4, "education": 4, "marital-status": 3, "occupation": 2, "relationship": 2}
    heights |= {"race": 2, "sex": 1, "native-country": 3}
    assert max(len(list(taxonomy.path(code))) for code in range(len(taxonomy.leaves))) == heights[column] + 1
    assert taxonomy.name(*taxonomy.root).startswith("Any")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("job.csv", "Dancer;Artist;*\nWriter;Artist;*\nClerk;Other;*\n"),
        ("job.txt", "Artist\n  Dancer\n  Writer\nClerk\n"),
        ("job.hchy", "{Any {Artist {Dancer} {Writer}} {Clerk}}"),
        ("job.hrc", "Artist\n@Dancer\n@Writer\nClerk\n"),
        ("job.yaml", "Artist: [Dancer, Writer]\nOther: [Clerk]\n"),
        ("job.json", '[["Dancer", "Writer"], "Clerk"]'),
    ],
)
def test_a_hierarchy_alone_declares_the_categories(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    field = {"name": "job", "type": "string", "hierarchy": name}
    schema = Schema.from_dict({"fields": [field]}, base_dir=tmp_path)
    assert schema.fields[0].categories == ("Dancer", "Writer", "Clerk")
    listed = {**field, "categories": ["Dancer", "Writer", "Clerk"]}
    assert schema == Schema.from_dict({"fields": [listed]}, base_dir=tmp_path)
    assert Schema.from_dict(schema.to_dict()) == schema


def test_integers_may_have_a_hierarchy_alone_and_rules_need_categories(tmp_path: Path) -> None:
    (tmp_path / "size.csv").write_text("1;small\n2;small\n3;large\n")
    schema = Schema.from_dict(
        {"fields": [{"name": "x", "type": "integer", "hierarchy": "size.csv"}]}, base_dir=tmp_path
    )
    assert schema.fields[0].categories == (1, 2, 3)
    with pytest.raises(SchemaError, match="rule makes groups of `categories`"):
        Schema.from_dict({"fields": [{"name": "x", "type": "string", "hierarchy": {"fanout": 2}}]})
