"""Laws of types: values are recovered from codes, records are read independently, and containers do not matter."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.data.tables import read_columns
from cantle.interfaces.opening import open_data
from cantle.methods.degrees.method import DegreeSequence
from cantle.methods.diffpart.method import DiffPart
from cantle.schema import Schema
from cantle.schema.declared_values import BLANK
from cantle.schema.domain import Attribute, Domain, Steps
from cantle.schema.graph import GraphSchema
from cantle.schema.sets import SetSchema
from tests.effort import examples

laws = examples(10)

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(lambda word: word != BLANK)
HOSTILE_TEXT = st.one_of(
    st.none(),
    st.text(max_size=12),
    st.sampled_from(["", "?", "nan", "-inf", "1e999", "9" * 40, "-" + "9" * 40, "1,000", " 7 ", "\x00", "٣", "0x1F"]),
    st.integers().map(str),
    st.floats().map(repr),
    st.dates().map(str),
    st.datetimes().map(str),
)


@st.composite
def fields(draw: st.DrawFn) -> dict[str, Any]:
    """A declared field of any type."""
    kind = draw(st.sampled_from(["integer", "number", "date", "datetime", "string", "boolean", "coded"]))
    field: dict[str, Any] = {"name": "x", "type": kind, "constraints": {"required": draw(st.booleans())}}
    steps = draw(st.integers(0, 400))
    if kind == "integer":
        low, step = draw(st.integers(-(2**52), 2**52)), draw(st.integers(1, 2**40))
        field |= {"step": step}
        field["constraints"] |= {"minimum": low, "maximum": low + steps * step}
        if draw(st.booleans()):
            parts = draw(st.sampled_from([part for part in (1, 2, 3, 5, 10) if step % part == 0]))
            low = low // (step // parts) * (step // parts)
            field["constraints"] |= {"minimum": low, "multipleOf": step // parts}
    elif kind == "number":
        scale = 10 ** draw(st.integers(0, 5))
        low, step = draw(st.integers(-(10**7), 10**7)), draw(st.integers(1, 500))
        field |= {"step": step / scale}
        field["constraints"] |= {"minimum": low / scale, "maximum": (low + steps * step) / scale}
    elif kind in ("date", "datetime"):
        low, step = draw(st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1))), draw(st.integers(1, 90))
        low = low.replace(microsecond=0) if kind == "datetime" else datetime(low.year, low.month, low.day)
        high = low + steps * (timedelta(seconds=step) if kind == "datetime" else timedelta(days=step))
        field |= {"step": step}
        field["constraints"] |= {"minimum": low, "maximum": high}
    elif kind == "string":
        field |= {"categories": draw(st.lists(WORDS, min_size=1, max_size=6, unique=True))}
    elif kind == "coded":
        field |= {"type": "integer", "categories": draw(st.lists(st.integers(-9, 99), min_size=1, unique=True))}
    if "categories" in field and draw(st.booleans()):
        field["hierarchy"] = draw(trees(draw(st.permutations(field["categories"]))))
    return field


def trees(labels: list[Any]) -> st.SearchStrategy[Any]:
    """Nested lists over the labels, in which each level is cut once or not at all."""

    def cut(part: list[Any]) -> st.SearchStrategy[Any]:
        if len(part) < 3:
            return st.just(part)
        halves = st.integers(1, len(part) - 1).flatmap(lambda at: st.tuples(cut(part[:at]), cut(part[at:])))
        return st.just(part) | halves.map(list)

    return cut(labels) | st.integers(2, 5).map(lambda fanout: {"fanout": fanout, "leaves": labels})


def attribute(field: dict[str, Any]) -> Attribute:
    return Schema.from_dict({"fields": [field]}).domain().attributes[0]


def all_values(attr: Attribute) -> pl.Series:
    """Every value of an attribute, null included, as a typed series."""
    codes = np.arange(attr.size)
    return attr.decode(codes, np.zeros(len(codes)))


@laws
@given(fields())
def test_values_are_recovered_from_their_codes(field: dict[str, Any]) -> None:
    attr = attribute(field)
    values = all_values(attr)
    assert values.n_unique() == attr.size
    assert attr.encode(values).tolist() == list(range(attr.size))
    assert (
        values.dtype
        == {
            "integer": pl.Int64,
            "number": pl.Float64,
            "string": pl.String,
            "boolean": pl.Boolean,
            "date": pl.Date,
            "datetime": pl.Datetime("us"),
        }[field["type"]]
    )


@laws
@given(fields())
def test_a_schema_is_recovered_from_its_canonical_form(field: dict[str, Any]) -> None:
    schema = Schema.from_dict({"fields": [field]})
    again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert again == schema
    assert again.hash() == schema.hash()
    assert again.domain() == schema.domain()
    taxonomy = schema.domain().attributes[0].taxonomy
    assert (taxonomy is None) == ("hierarchy" not in field)


@laws
@given(fields())
def test_text_and_typed_values_agree(field: dict[str, Any]) -> None:
    attr = attribute(field)
    values = all_values(attr)
    text = [None if v is None else v.isoformat() if isinstance(v, date) else str(v) for v in values.to_list()]
    assert attr.encode(pl.Series(text, dtype=pl.String)).tolist() == list(range(attr.size))


@laws
@given(fields(), st.integers(2, 30), st.data())
def test_coarse_codes_give_values_of_the_same_bin(field: dict[str, Any], codes: int, data: st.DataObject) -> None:
    fine = attribute(field)
    coarse = fine.coarsen(codes)
    assert coarse.size <= max(codes, 1 + fine.nullable)
    assert coarse.bins * coarse.width >= coarse.grid > (coarse.bins - 1) * coarse.width
    every = np.arange(coarse.size)
    within = data.draw(hnp.arrays(np.float64, coarse.size, elements=st.floats(0, 1, exclude_max=True)))
    assert coarse.encode(coarse.decode(every, within)).tolist() == every.tolist()
    assert set(coarse.encode(all_values(fine))) == set(range(coarse.size))


@laws
@given(fields())
def test_edges_are_the_first_values_of_codes(field: dict[str, Any]) -> None:
    attr = attribute(field).coarsen(20)
    lower = [attr.edge(code) for code in range(attr.bins)]
    assert attr.encode(pl.Series(lower)).tolist() == list(range(attr.bins))
    if isinstance(attr.scale, Steps):
        assert [*lower, attr.edge(attr.bins)] == sorted({*lower, attr.edge(attr.bins)})


@laws
@given(fields().filter(lambda field: field["type"] == "number"), st.data())
def test_numbers_go_to_the_grid_point_at_or_below(field: dict[str, Any], data: st.DataObject) -> None:
    attr = attribute(field)
    grid = np.array([attr.edge(code) for code in range(attr.bins)])
    near = np.concatenate([grid, np.nextafter(grid, -np.inf), np.nextafter(grid, np.inf)])
    values = np.append(near, data.draw(st.lists(st.floats(grid[0] - 1, grid[-1] + 1))))
    want = np.clip(np.searchsorted(grid, values, side="right") - 1, 0, None)
    assert attr.encode(pl.Series(values)).tolist() == want.tolist()


@laws
@given(fields(), st.lists(HOSTILE_TEXT, max_size=8), st.lists(HOSTILE_TEXT, max_size=8))
def test_text_values_are_encoded_independently(field: dict[str, Any], a: list[Any], b: list[Any]) -> None:
    attr = attribute(field).coarsen(50)
    alone = [attr.encode(pl.Series(part, dtype=pl.String)).tolist() for part in (a, b)]
    together = attr.encode(pl.Series(a + b, dtype=pl.String)).tolist()
    assert together == alone[0] + alone[1]
    assert all(-1 <= code < attr.size for code in together)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (pl.Int64, st.integers(-(2**63), 2**63 - 1)),
        (pl.UInt64, st.integers(0, 2**64 - 1)),
        (pl.Int128, st.integers(-(2**127), 2**127 - 1)),
        (pl.UInt8, st.integers(0, 255)),
        (pl.Float64, st.floats()),
        (pl.Float32, st.floats(width=32)),
        (pl.Boolean, st.booleans()),
        (pl.Date, st.dates()),
        (pl.Datetime("ns"), st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))),
        (pl.Datetime("us", "Europe/Vienna"), st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1))),
        (pl.Categorical, st.sampled_from(["a", "1", "2020-01-01"])),
        (pl.Decimal(20, 4), st.decimals(-(10**9), 10**9, places=4)),
        (pl.Binary, st.binary()),
        (pl.List(pl.Int64), st.lists(st.integers(0, 9))),
        (pl.Duration, st.timedeltas(timedelta(0), timedelta(days=9))),
        (pl.Null, st.none()),
    ],
)
@examples(6)
@given(field=fields(), data=st.data())
def test_typed_values_are_encoded_independently(field: Any, data: st.DataObject, dtype: Any, values: Any) -> None:
    attr = attribute(field).coarsen(50)
    listed = data.draw(st.lists(st.none() | values, max_size=4))
    series = pl.Series(listed, dtype=dtype, strict=False)
    alone = [code for i in range(len(series)) for code in attr.encode(series[i : i + 1]).tolist()]
    assert attr.encode(series).tolist() == alone
    assert all(-1 <= code < attr.size for code in alone)


TABLE = Schema.from_dict(
    {
        "fields": [
            {"name": "whole", "type": "integer", "constraints": {"minimum": -5, "maximum": 10}},
            {"name": "real", "type": "number", "step": 0.25, "constraints": {"minimum": -1, "maximum": 2}},
            {"name": "cents", "type": "number", "constraints": {"minimum": -1, "maximum": 2, "multipleOf": 0.01}},
            {"name": "word", "type": "string", "categories": ["a", "b c", 'q"', "é,"], "unknown": "b c"},
            {"name": "code", "type": "integer", "categories": [1, 2, 7], "hierarchy": {"odd": [7, 1], "even": [2]}},
            {"name": "flag", "type": "boolean"},
            {"name": "day", "type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-02-01"}},
            {
                "name": "time",
                "type": "datetime",
                "step": "1h",
                "constraints": {"minimum": "2020-01-01", "maximum": "2020-01-03"},
            },
            {"name": "who", "type": "string", "role": "identifier"},
            {"name": "class", "type": "string", "categories": ["no", "yes"], "role": "target"},
        ],
    }
)
RECORD = st.tuples(
    st.none() | st.integers(-20, 20),
    st.none() | st.floats(-3, 3, width=32),
    st.none() | st.floats(-3, 3),
    st.none() | st.sampled_from(["a", "b c", 'q"', "é,", "else", " a", "new\nline"]),
    st.none() | st.integers(0, 8),
    st.none() | st.booleans(),
    st.none() | st.dates(date(2019, 12, 1), date(2020, 3, 1)),
    st.none() | st.datetimes(datetime(2019, 12, 1), datetime(2020, 3, 1)).map(lambda one: one.replace(microsecond=0)),
    st.none() | st.text("xyz", max_size=2),
    st.none() | st.sampled_from(["no", "yes", "maybe"]),
)


TYPES = [
    pl.Int64,
    pl.Float64,
    pl.Float64,
    pl.String,
    pl.Int64,
    pl.Boolean,
    pl.Date,
    pl.Datetime("us"),
    *[pl.String] * 2,
]


def codes_of(source: Any) -> tuple[list[Any], list[Any]]:
    domain, frame = TABLE.domain(), read_columns(source, TABLE).frame
    codes, classes = domain.encode(frame)
    assert codes.flags.c_contiguous
    columns, classes_again = domain.encode_columns(frame)
    assert np.array_equal(classes, classes_again)
    for j, (column, attr) in enumerate(zip(columns, domain.attributes, strict=True)):
        assert np.array_equal(column, codes[:, j])
        assert column.dtype == np.min_scalar_type(attr.size - 1)
        assert column.flags.c_contiguous
        assert column.flags.writeable
    return codes.tolist(), classes.tolist()


@examples(4)
@given(st.lists(RECORD, max_size=6))
def test_the_container_does_not_matter(tmp_path_factory: pytest.TempPathFactory, records: list[Any]) -> None:
    names = [field.name for field in TABLE.fields]
    frame = pl.DataFrame(records, schema=dict(zip(names, TYPES, strict=True)), orient="row")
    folder: Path = tmp_path_factory.mktemp("types")
    frame.write_csv(folder / "t.csv")
    frame.write_csv(folder / "t.tsv", separator="\t", quote_style="always", line_terminator="\r\n")
    frame.write_parquet(folder / "t.parquet")
    objects = pd.DataFrame(records, columns=names, dtype=object)
    sources = {
        "csv": folder / "t.csv",
        "tsv": str(folder / "t.tsv"),
        "parquet": folder / "t.parquet",
        "lazy": frame.lazy(),
        "pandas": frame.to_pandas(),
        "pandas objects": objects,
        "pandas arrow": frame.to_pandas(use_pyarrow_extension_array=True),
        "pandas guessed": pd.read_csv(folder / "t.csv"),
        "pyarrow": frame.to_arrow(),
        "polars text": frame.with_columns(pl.col("time").dt.to_string("iso")).cast(pl.String),
        "polars categorical": frame.with_columns(pl.col("word", "class").cast(pl.Categorical)),
        "pyarrow dictionary": pa.table(frame.to_arrow()).set_column(
            9, "class", frame.to_arrow()["class"].cast(pa.string()).dictionary_encode()
        ),
    }
    want = codes_of(frame)
    for kind, source in sources.items():
        assert codes_of(source) == want, kind


@laws
@given(st.lists(RECORD, max_size=6), st.integers(0, 9))
def test_a_public_order_changes_codes_but_not_values(records: list[Any], seed: int) -> None:
    names = [field.name for field in TABLE.fields]
    frame = pl.DataFrame(records, schema=dict(zip(names, TYPES, strict=True)), orient="row")

    def cleaned(domain: Domain) -> pl.DataFrame:
        codes, classes = domain.encode(frame)
        return domain.decode(codes, classes, np.zeros((len(codes), len(domain.attributes))))

    domain = TABLE.domain()
    assert cleaned(domain.with_orders(seed)).equals(cleaned(domain))
    assert cleaned(domain).columns == [name for name in names if name != "who"]


# ---- sets and graphs: the same exact answers from all containers ----------------------------------------------------

ITEMS = SetSchema.from_dict({"kind": "sets", "items": {"minimum": 1, "maximum": 6}})
LISTS = SetSchema.from_dict({"kind": "sets", "items": {"minimum": 1, "maximum": 6}, "column": "items"})
LONG = SetSchema.from_dict({"kind": "sets", "items": {"minimum": 1, "maximum": 6}, "id": "who", "item": "what"})
BASKETS = st.lists(st.lists(st.integers(-1, 8), max_size=5), max_size=8)


def touched(source: Any, schema: SetSchema = ITEMS) -> list[Any]:
    """The exact counts of the root's children, with the data opened as `publish` does."""
    _, engine = open_data(source, schema, DiffPart(schema, cells="tree", fanout=3, m=2))
    return [array.tolist() for array in engine.touched(np.zeros(1, np.int64))]


@examples(6)
@given(BASKETS)
def test_the_container_of_sets_does_not_matter(tmp_path_factory: pytest.TempPathFactory, records: list[Any]) -> None:
    folder: Path = tmp_path_factory.mktemp("sets")
    (folder / "t.dat").write_text("\n".join(" ".join(map(str, record)) for record in records) + "\n")
    lists = pl.DataFrame({"items": records}, schema={"items": pl.List(pl.Int64)})
    lists.write_parquet(folder / "t.parquet")
    rows = [(who, what) for who, record in enumerate(records) for what in record]
    long = pl.DataFrame(rows, schema={"who": pl.Int64, "what": pl.Int64}, orient="row")
    long.write_csv(folder / "t.csv")
    want = touched(records)
    for kind, source in {
        "lines": folder / "t.dat",
        "polars": lists,
        "pandas": lists.to_pandas(),
        "pyarrow": lists.to_arrow(),
        "parquet": folder / "t.parquet",
        "texts": [[str(item) for item in record] for record in records],
    }.items():
        assert touched(source) == want, kind
    for kind, source in {"pandas": lists.to_pandas(), "named column": lists}.items():
        assert touched(source, LISTS) == want, kind
    for kind, source in {"long": long, "long csv": folder / "t.csv", "long backwards": long.reverse()}.items():
        assert touched(source, LONG) == want, kind


@pytest.mark.parametrize("values", [[], [None], ["SECRET"], [[1]], [[1], "SECRET"], [7], [{}, [2, 3]]], ids=str)
def test_a_column_of_objects_is_read_whatever_it_holds(values: list[Any]) -> None:
    """Only its declared type matters: an error for some values and not for others would reveal them."""
    frame = pd.DataFrame({"items": pd.Series(values, dtype=object)})
    good = [value for value in values if isinstance(value, list)]
    assert touched(frame) == touched(frame, LISTS) == touched(good)


@examples(12)
@given(BASKETS, BASKETS)
def test_sets_are_counted_independently(first: list[Any], second: list[Any]) -> None:
    """The counts of two data sets together are the sums of the counts of each."""

    def counts(records: list[Any]) -> dict[int, int]:
        _, masks, numbers = touched(records)
        return dict(zip(masks, numbers, strict=True))

    a, b, both = counts(first), counts(second), counts(first + second)
    assert both == {mask: a.get(mask, 0) + b.get(mask, 0) for mask in {*a, *b}}


PAIRS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20)


def degrees_of(source: Any, nodes: Any = None) -> list[Any]:
    """Projected degrees and kept edges under several bounds, with the data opened as `publish` does."""
    schema = GraphSchema.from_dict({"kind": "graph"})
    _, engine = open_data(source, schema, DegreeSequence(schema), nodes)
    return [(engine.degrees(theta).tolist(), engine.kept(theta)) for theta in (1, 2, 9)]


@examples(6)
@given(PAIRS)
def test_the_container_of_a_graph_does_not_matter(tmp_path_factory: pytest.TempPathFactory, pairs: list[Any]) -> None:
    folder: Path = tmp_path_factory.mktemp("graph")
    (folder / "t.txt").write_text("# edges\n" + "".join(f"{a}\t{b}\n" for a, b in pairs))
    (folder / "t.csv").write_text("source,target\n" + "".join(f"{b},{a}\n" for a, b in pairs))
    frame = pl.DataFrame(pairs, schema={"a": pl.Int64, "b": pl.Int64}, orient="row")
    frame.write_parquet(folder / "t.parquet")
    want = degrees_of(pairs)
    for kind, source in {
        "lines": folder / "t.txt",
        "titles": folder / "t.csv",
        "parquet": folder / "t.parquet",
        "polars": frame,
        "pandas": frame.to_pandas(),
        "array": frame.to_numpy(),
        "texts": [(str(a), f"00{b}") for a, b in pairs],
        "pandas floats": frame.cast(pl.Float64).to_pandas(),
    }.items():
        assert degrees_of(source) == want, kind
    named = list(range(9))
    (folder / "nodes.txt").write_text("\n".join(map(str, named)))
    listed = degrees_of(pairs, named)
    assert listed == degrees_of(folder / "t.txt", folder / "nodes.txt") == degrees_of(frame, np.array(named))
    assert [(degrees.count(0), len(degrees)) for degrees, _ in listed] == [
        (degrees.count(0) + 9 - len(degrees), 9) for degrees, _ in want
    ]
