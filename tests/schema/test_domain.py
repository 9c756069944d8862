"""Attributes and domains on small examples that can be checked by hand."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

from cantle.errors import ParameterError, SchemaError
from cantle.schema import Schema
from cantle.schema.domain import Attribute, Steps
from cantle.schema.table import TableSchema
from cantle.schema.taxonomy import Taxonomy


def attribute(**keys: Any) -> Attribute:
    document = {"fields": [{"name": "x", "type": "integer", **keys}], "missingValues": ["", "NA", "-999"]}
    return Schema.from_dict(document).domain().attributes[0]


def span(low: Any, high: Any, **more: Any) -> dict[str, Any]:
    return {"minimum": low, "maximum": high, **more}


def encode(attr: Attribute, values: list[Any], dtype: Any = None) -> list[int]:
    return attr.encode(pl.Series(values, dtype=dtype, strict=False)).tolist()


AGE = attribute(constraints=span(17, 90))


def test_sizes_of_attributes_and_null_as_the_last_code() -> None:
    assert (AGE.grid, AGE.bins, AGE.size, AGE.nullable, AGE.ordered, AGE.width) == (74, 74, 75, True, True, 1)
    strict = attribute(constraints=span(17, 90, required=True))
    assert (strict.size, encode(strict, [17, None])) == (74, [0, -1])
    assert AGE.encode(pl.Series([1])).dtype == np.int32


def test_integers_are_clamped_floored_or_missing() -> None:
    null = AGE.bins
    text = [
        "17",
        "90",
        "5",
        "1000",
        "9" * 40,
        "-" + "9" * 40,
        "20.9",
        "2e1",
        " 20 ",
        "+20",
        "1,000",
        "",
        "NA",
        "x",
        "-999",
    ]
    codes = [0, 73, 0, 73, 73, 0, 3, 3, 3, 3, null, null, null, null, null]
    assert encode(AGE, text) == codes
    assert encode(AGE, [17.9, float("nan"), float("inf"), -float("inf"), -999.0]) == [0, null, 73, 0, null]
    assert encode(AGE, [18, -999, None]) == [1, null, null]
    assert encode(AGE, [2**64 - 1, 18], pl.UInt64) == [73, 1]
    assert encode(AGE, [2**100, -(2**100), 18], pl.Int128) == [73, 0, 1]
    assert encode(AGE, [Decimal("18.75")]) == [1]


def test_integers_are_counted_in_steps() -> None:
    attr = attribute(step=5, constraints=span(0, 22))
    assert (attr.grid, attr.bins, attr.edge(attr.bins)) == (23, 5, 23)
    assert encode(attr, [0, 4, 5, 9, 20, 22, 99, -3, None]) == [0, 0, 1, 1, 4, 4, 4, 0, 5]
    assert attr.decode(np.array([0, 0, 4, 4, 5]), np.array([0.0, 0.99, 0.0, 0.99, 0.5])).to_list() == [
        0,
        4,
        20,
        22,
        None,
    ]
    ends = attribute(step=5, constraints=span(0, 20))
    assert ends.decode(np.array([4]), np.array([0.9])).to_list() == [20]  # the maximum is a cell of its own


def test_multiples_go_to_the_nearest_grid_point_and_to_the_lower_of_two_as_near() -> None:
    fives = attribute(constraints=span(-10, 12) | {"multipleOf": 5})
    assert (fives.width, fives.bins) == (1, 5)
    assert encode(fives, [-99, -8, -7, 2, 3, 7, 8, 12, 99]) == [0, 0, 1, 2, 3, 3, 4, 4, 4]
    fours = attribute(constraints=span(0, 12) | {"multipleOf": 4})
    assert encode(fours, [1, 2, 3, 6, 7]) == [0, 0, 1, 1, 2]
    tenths = attribute(type="number", constraints=span(0, 1) | {"multipleOf": 0.1})
    assert encode(tenths, ["0.3", "0.29999", "0.25", "0.2500001", "0.349", "9", "-1"]) == [3, 3, 2, 3, 3, 10, 0]
    assert tenths.decode(np.arange(11), np.zeros(11)).to_list() == [k / 10 for k in range(11)]
    both = attribute(step=20, constraints=span(0, 60) | {"multipleOf": 5})
    assert (both.width, both.bins) == (4, 4)
    assert encode(both, [17, 18, 22, 37, 60]) == [0, 1, 1, 1, 3]
    assert both.decode(np.array([0, 1]), np.array([0.99, 0.5])).to_list() == [15, 30]


def test_a_target_is_a_grid_of_its_steps() -> None:
    schema = Schema.from_dict(
        {"fields": [{"name": "x", "type": "integer", "step": 5, "role": "target", "constraints": span(0, 22)}]}
    )
    assert isinstance(schema, TableSchema)
    target = schema.domain().target
    assert target is not None
    assert (target.width, target.bins) == (1, 5)
    assert encode(target, [0, 2, 3, 22]) == [0, 0, 1, 4]


def test_places_inside_a_step_follow_from_the_step_alone() -> None:
    def places(step: object, **keys: Any) -> tuple[int, int]:
        attr = attribute(step=step, **keys)
        assert isinstance(attr.scale, Steps)
        return attr.scale.step, attr.width

    days: Any = {"type": "datetime", "constraints": span("2020-01-01", "2022-01-01")}
    assert [places(step, **days) for step in ("15min", "1h", "1d", "7d", "60d", 3001)] == [
        (1, 900), (60, 60), (60, 1440), (3600, 168), (86_400, 60), (1, 3001),
    ]  # fmt: skip
    assert places(7, type="date", constraints=span("2020-01-01", "2022-01-01")) == (1, 7)
    assert places(0.5, type="number", constraints=span(0, 10)) == (1, 100)
    assert places("0.000001", type="number", constraints=span(0, 100)) == (1, 1)  # 10**10 places are too many
    assert places(2**20, constraints=span(-(2**53) + 1, 2**53 - 1)) == (2**20, 1)


def test_releases_of_version_1_round_down_to_the_step() -> None:
    fields: list[Any] = [{"name": "x", "type": "integer", "step": 5, "constraints": span(0, 22) | {"multipleOf": 7}}]
    old = Schema.from_dict({"schemaVersion": 1, "fields": fields})
    assert isinstance(old, TableSchema)
    attr = old.domain().attributes[0]
    assert (attr.width, attr.bins, encode(attr, [4, 5, 22])) == (1, 5, [0, 1, 4])
    assert old.to_dict() == {"fields": fields}
    new = Schema.from_dict({"fields": [{**fields[0], "constraints": span(0, 22)}]})
    assert new.to_dict()["schemaVersion"] == 2
    assert new.hash() != Schema.from_dict({**new.to_dict(), "schemaVersion": 1}).hash()
    with pytest.raises(SchemaError, match="schemaVersion 3 is not known"):
        Schema.from_dict({"schemaVersion": 3, "fields": fields})


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"constraints": {"minimum": 17, "maximum": 90, "multipleOf": 5}}, "write `minimum: 15` or 20"),
        ({"step": 7, "constraints": {"minimum": 0, "maximum": 90, "multipleOf": 5}}, "is not a multiple of"),
        ({"constraints": {"minimum": 0, "maximum": 90, "multipleOf": 0}}, "multipleOf 0 is not positive"),
        ({"type": "number", "constraints": {"minimum": 0, "maximum": 9}}, "needs a `step` or `multipleOf`"),
        ({"type": "number", "constraints": {"minimum": 0.5, "maximum": 9, "multipleOf": "x"}}, "is not a number"),
    ],
)
def test_wrong_multiples_are_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(said)):
        attribute(**keys)


def test_int64_extremes_do_not_overflow() -> None:
    top, low = 2**63 - 1, -(2**63)
    # A schema allows integers below 2**53; a domain made without a schema may be wider.
    attr = Attribute("x", Steps(type="integer", first=low, step=2**20, grid=2**44), nullable=True)
    assert encode(attr, [low, top, 0]) == [0, attr.bins - 1, 2**43]
    assert attr.encode(pl.Series([0])).dtype == np.int64
    assert attr.decode(np.array([0, attr.bins - 1]), np.zeros(2)).to_list() == [low, top - 2**20 + 1]
    high = Attribute("x", Steps(type="integer", first=top - 5, step=1, grid=6), nullable=True)
    assert encode(high, [top, top - 5, 0]) == [5, 0, 0]
    assert encode(high, [1e30, -1e30, 2.0**63, float("inf")]) == [5, 0, 5, 5]
    assert encode(high, [str(top - 1)]) == [4]


def test_numbers_are_moved_to_an_exact_decimal_grid() -> None:
    attr = attribute(type="number", step=0.1, constraints=span(0, 1))
    assert (attr.grid, attr.bins) == (1001, 11)
    assert attr.decode(np.arange(11), np.zeros(11)).to_list() == [float(f"0.{k}") for k in range(10)] + [1.0]
    assert encode(attr, [k / 10 for k in range(11)]) == list(range(11))
    assert encode(attr, ["0.3", "0.30", ".3", "3e-1", "0.29999", "7", "-7", "inf"]) == [3, 3, 3, 3, 2, 10, 0, 10]
    assert encode(attr, [0.1 + 0.2, float("nan"), None, Decimal("0.30")][:3]) == [3, 11, 11]
    third = attribute(type="number", step="0.003", constraints=span("-0.001", "0.9"))
    assert encode(third, third.decode(np.arange(third.bins), np.zeros(third.bins)).to_list()) == list(range(third.bins))


def test_dates_are_encoded() -> None:
    attr = attribute(type="date", constraints=span("2020-01-01", "2020-12-31"))
    assert attr.grid == 366
    null = attr.bins
    text = ["2020-01-02", "2020-01-02T23:59:59", "1999-01-01", "2020-02-30", "0000-00-00", "02/01/2020", "NA"]
    assert encode(attr, text) == [1, 1, 0, null, null, null, null]
    assert encode(attr, [date(2020, 1, 2), None]) == [1, null]
    assert encode(attr, [datetime(2020, 1, 2, 23)]) == [1]
    assert encode(attr, [float("nan"), 3.0]) == [null, null]
    weekly = attribute(type="date", step=7, format="%d/%m/%Y", constraints=span(date(2020, 1, 1), date(2020, 12, 31)))
    assert encode(weekly, ["07/01/2020", "08/01/2020"]) == [0, 1]
    assert weekly.edge(1) == date(2020, 1, 8)


def test_datetimes_without_a_zone_are_utc() -> None:
    attr = attribute(type="datetime", step="1h", constraints=span("2020-01-01", "2020-01-02"))
    assert (attr.grid, attr.bins) == (24 * 60 + 1, 25)
    text = ["2020-01-01T01:59:59.9", "2020-01-01 02:00:00", "2020-01-01T02:00:00Z", "2020-01-01T02:00:00+01:00"]
    assert encode(attr, [*text, "2020-01-01", "2020-01-01T03:30", "noon"]) == [1, 2, 2, 1, 0, 3, attr.bins]
    moment = datetime(2020, 1, 1, 2, tzinfo=UTC)
    zoned = pl.Series([moment]).dt.convert_time_zone("Asia/Tokyo")
    assert attr.encode(zoned).tolist() == [2]
    for unit in ("ms", "us", "ns"):
        assert encode(attr, [datetime(2020, 1, 1, 2, 59, 59)], pl.Datetime(unit)) == [2]
    assert encode(attr, [date(2020, 1, 2)]) == [24]
    old = attribute(type="datetime", step=1, constraints=span("1969-12-31T23:59:58", "1970-01-01"))
    assert encode(old, ["1969-12-31T23:59:58.5"]) == [0]


def test_categories_and_what_happens_to_unknown_ones() -> None:
    keys = {"type": "string", "categories": ["a", "b"]}
    text = ["b", "z", None, "", "NA", "a"]
    assert encode(attribute(**keys), text) == [1, 2, 2, 2, 2, 0]
    assert encode(attribute(**keys, unknown="drop"), text) == [1, -1, 2, 2, 2, 0]
    assert encode(attribute(**keys, unknown="a"), text) == [1, 0, 2, 2, 2, 0]
    required = {**keys, "constraints": {"required": True}}
    assert encode(attribute(**required), text) == [1, -1, -1, -1, -1, 0]
    assert encode(attribute(**required, unknown="b"), text) == [1, 1, -1, -1, -1, 0]
    assert encode(attribute(**keys), text, pl.Categorical) == [1, 2, 2, 2, 2, 0]


def test_coded_categories_keep_their_type() -> None:
    attr = attribute(categories=[1, 2, 9], unknown=9)
    assert encode(attr, [1, 9, 5, None]) == [0, 2, 2, 3]
    assert encode(attr, [1.0, 2.0, float("nan"), 1.5]) == [0, 1, 3, 2]
    assert encode(attr, ["1", "01", "1.0", " 2", "1.5", "x"]) == [0, 0, 0, 1, 2, 2]
    assert attr.decode(np.array([0, 3]), np.zeros(2)).to_list() == [1, None]
    words = attribute(type="string", categories=["1", "2"])
    assert encode(words, [2, 1]) == encode(words, [2.0, 1.0]) == [1, 0]


def test_booleans_are_encoded() -> None:
    attr = attribute(type="boolean", trueValues=["Y"], falseValues=["N"])
    assert encode(attr, ["true", "False", "1", "0", "Y", "N", "yes", None]) == [1, 0, 1, 0, 1, 0, 2, 2]
    assert encode(attr, [True, False, None]) == [1, 0, 2]
    assert encode(attr, [1, 0, 7]) == encode(attr, [1.0, 0.0, 7.0]) == [1, 0, 2]
    assert attr.reordered([1, 0]).encode(pl.Series([True, False])).tolist() == [0, 1]
    assert not attr.ordered


def test_coarser_codes() -> None:
    coarse = AGE.coarsen(11)
    assert (coarse.width, coarse.bins, coarse.size, coarse.grid) == (8, 10, 11, 74)
    assert encode(coarse, [17, 24, 25, 90, None]) == [0, 0, 1, 9, 10]
    values = coarse.decode(np.array([0, 9, 9, 10]), np.array([0.99, 0.0, 0.999999, 0.5])).to_list()
    assert values == [24, 89, 90, None]
    assert coarse.edge(9) == 89
    assert coarse.edge(10) == 91
    assert AGE.coarsen(75) is AGE
    assert AGE.coarsen(2).size == 2
    with pytest.raises(ParameterError, match="'x'.*at least 2"):
        AGE.coarsen(1)
    huge = attribute(constraints=span(0, 2**52)).coarsen(256)
    assert huge.size <= 256
    assert encode(huge, [0, 2**52]) == [0, huge.bins - 1]
    assert huge.decode(np.array([huge.bins - 1]), np.array([1 - 2**-53])).to_list() == [2**52]


def test_spans_of_codes_are_described() -> None:
    assert AGE.describe(13, 23) == "[30, 40)"
    assert AGE.describe(70, 75) == "[87, 91) or null"
    assert AGE.describe(74, 75) == "null"
    tenth = attribute(type="number", step=0.1, constraints=span(0, 1))
    assert tenth.describe(3, 10) == "[0.3, 1)"
    jobs = attribute(type="string", categories=["Private", "State-gov", "Other"])
    assert jobs.describe(0, 2) == "Private | State-gov"
    assert jobs.describe(2, 4) == "Other or null"
    assert jobs.edge(1) == "State-gov"
    assert jobs.edge(3) is None
    many = attribute(type="string", categories=[f"c{i}" for i in range(30)])
    assert many.describe(1, 21) == "c1 | … | c20 (20 values)"
    assert attribute(type="boolean").describe(0, 2) == "false | true"
    day = attribute(type="date", constraints=span("2020-01-01", "2020-12-31"))
    assert day.describe(0, 366) == "[2020-01-01, 2021-01-01)"


def test_categories_can_be_reordered() -> None:
    letters = attribute(type="string", categories=["a", "b", "c"], unknown="b")
    turned = letters.reordered([2, 0, 1])
    assert encode(turned, ["a", "b", "c", "z", None]) == [1, 2, 0, 2, 3]
    assert turned.decode(np.arange(4), np.zeros(4)).to_list() == ["c", "a", "b", None]
    with pytest.raises(ParameterError, match="permutation"):
        letters.reordered([0, 0, 1])
    with pytest.raises(ParameterError, match="ordered"):
        AGE.reordered(range(74))


def test_orders_depend_on_seed_and_column_only() -> None:
    fields = [{"name": n, "type": "string", "categories": [str(i) for i in range(20)]} for n in "ab"]
    domain = Schema.from_dict({"fields": fields}).domain()
    orders = {seed: [a.scale.labels for a in domain.with_orders(seed).attributes] for seed in (1, 2)}
    assert orders[1] == [a.scale.labels for a in domain.with_orders(1).attributes]
    assert orders[1] != orders[2]
    assert orders[1][0] != orders[1][1]
    # these must never change: a release by seed must be readable on every machine and in every version
    assert orders[1][0][:4] == ("13", "18", "2", "14")


def test_a_domain_drops_records_and_picks_small_types() -> None:
    fields = [
        {"name": "c", "type": "string", "categories": ["n", "y"], "role": "target"},
        {"name": "a", "type": "integer", "constraints": span(0, 254)},
        {"name": "b", "type": "boolean", "constraints": {"required": True}},
    ]
    domain = Schema.from_dict({"fields": fields}).domain()
    frame = pl.DataFrame({"c": ["y", None, "n", "z"], "a": ["1", "1", None, "1"], "b": ["1", "1", "0", "1"]})
    codes, classes = domain.encode(frame)
    assert codes.tolist() == [[1, 1], [255, 0]]
    assert classes.tolist() == [1, 0]
    assert (codes.dtype, classes.dtype) == (np.uint8, np.uint8)
    back = domain.decode(codes, classes, np.zeros((2, 2)))
    assert back.rows() == [("y", 1, True), ("n", None, False)]
    assert back.columns == ["c", "a", "b"]
    empty = domain.encode(frame.clear())
    assert [part.shape for part in empty] == [(0, 2), (0,)]
    assert domain.decode(*empty, np.zeros((0, 2))).schema == back.schema
    assert domain.encode(frame.drop("c").with_columns(c=pl.lit(None)))[0].shape == (0, 2)


TOWN = {"type": "string", "categories": ["Graz", "Oslo", "Linz", "Bonn", "Rome", "Bari"]}
TREE = {"*": [{"Austria": ["Linz", "Graz"]}, {"Norway": ["Oslo"]}, ["Bonn", {"Italy": ["Rome", "Bari"]}]]}


def test_a_taxonomy_gives_the_order_of_the_codes() -> None:
    for more in ({}, {"categoriesOrdered": True}):
        town = attribute(**TOWN, **more, hierarchy=TREE, unknown="Rome")
        assert town.taxonomy == Taxonomy.from_nested(TREE)
        assert [town.edge(code) for code in range(6)] == ["Linz", "Graz", "Oslo", "Bonn", "Rome", "Bari"]
        assert (town.size, town.bins, town.ordered) == (7, 6, True)
        assert encode(town, ["Graz", "Linz", "Bari", "Paris", None]) == [1, 0, 5, 4, 6]
        assert town.decode(np.arange(7), np.zeros(7)).to_list() == [*town.taxonomy.leaves, None]
        assert encode(attribute(**TOWN, hierarchy=TREE, constraints={"required": True}), ["Oslo", None]) == [2, -1]
    assert attribute(**TOWN).taxonomy is None
    coded = attribute(categories=[1, 2, 3], hierarchy=[[3, 1], 2])
    assert encode(coded, ["1", 2, 3, 4]) == [1, 2, 0, 3]


def test_nodes_are_described_by_name() -> None:
    town = attribute(**TOWN, hierarchy=TREE)
    assert [town.describe(*span) for span in ((0, 6), (0, 2), (2, 3), (4, 6))] == ["*", "Austria", "Oslo", "Italy"]
    assert (town.describe(0, 7), town.describe(4, 7), town.describe(6, 7)) == ("* or null", "Italy or null", "null")
    assert town.describe(3, 6) == "Bonn | Rome | Bari"
    assert town.describe(1, 4) == "Graz | Oslo | Bonn"  # not a node
    assert town.describe(2, 7) == "Oslo | Bonn | Rome | Bari or null"


def test_coarser_codes_have_no_taxonomy() -> None:
    town = attribute(**TOWN, hierarchy=TREE)
    assert town.coarsen(7) is town
    coarse = town.coarsen(4)
    assert (coarse.taxonomy, coarse.width, coarse.bins) == (None, 2, 3)
    assert coarse.describe(0, 1) == "Linz | Graz"
    assert coarse.ordered  # adjacent codes are still related


def test_a_taxonomy_is_not_permuted() -> None:
    fields = [{"name": name, **TOWN, **more} for name, more in (("a", {}), ("b", {"hierarchy": TREE}))]
    domain = Schema.from_dict({"fields": fields}).domain()
    turned = domain.with_orders(1)
    assert turned.attributes[0] != domain.attributes[0]
    assert turned.attributes[1] is domain.attributes[1]
    with pytest.raises(ParameterError, match="ordered"):
        domain.attributes[1].reordered(range(6))
    small = Schema.from_dict({"fields": fields}).domain().coarsen(4).with_orders(1)
    assert small.attributes[1] == domain.attributes[1].coarsen(4)


def test_leaves_and_labels_must_match() -> None:
    town = attribute(**TOWN, hierarchy=TREE)
    for wrong in ({"taxonomy": Taxonomy.flat("ab")}, {"width": 2}, {"scale": AGE.scale}):
        with pytest.raises(ParameterError, match="'x'.*leaves"):
            replace(town, **wrong)


def test_each_column_has_the_smallest_type() -> None:
    fields = [
        {"name": "a", "type": "integer", "constraints": span(0, 254)},
        {"name": "b", "type": "integer", "constraints": span(0, 255)},
        {"name": "c", "type": "integer", "constraints": span(0, 2**20, required=True)},
        {"name": "d", "type": "integer", "constraints": span(0, 2**40)},
        {"name": "y", "type": "boolean", "role": "target"},
    ]
    domain = Schema.from_dict({"fields": fields}).domain()
    frame = pl.DataFrame({"a": [None, 1, 2], "b": [255, None, 3], "c": [7, None, 9], "d": [2**40, None, 4]})
    frame = frame.with_columns(y=pl.Series([True, False, False]))
    columns, classes = domain.encode_columns(frame)
    assert [column.dtype for column in columns] == [np.uint8, np.uint16, np.uint32, np.uint64]
    assert [column.tolist() for column in columns] == [[255, 2], [255, 3], [7, 9], [2**40, 4]]
    assert (classes.dtype, classes.tolist()) == (np.uint8, [1, 0])
    columns, classes = domain.encode_columns(frame.clear())
    assert [len(column) for column in columns] == [0, 0, 0, 0]
    assert len(classes) == 0


def test_codes_of_a_domain_without_target() -> None:
    fields = [{"name": "a", "type": "integer", "constraints": span(0, 255)}]
    codes, classes = Schema.from_dict({"fields": fields}).domain().encode(pl.DataFrame({"a": [255, None]}))
    assert (codes.dtype, codes.tolist(), classes.tolist()) == (np.uint16, [[255], [256]], [0, 0])


def test_attributes_with_one_value() -> None:
    assert encode(attribute(constraints=span(5, 5)), [5, 9, None]) == [0, 0, 1]
    assert encode(attribute(type="string", categories=["only"]), ["only", "x"]) == [0, 1]


def test_many_categories_are_encoded_and_decoded() -> None:
    labels = [f"label {i}" for i in range(100_000)]
    attr = attribute(type="string", categories=labels, unknown="drop")
    codes = attr.encode(pl.Series(labels[::-1] + ["none of them"]))
    values = attr.decode(codes[:-1], np.zeros(100_000))
    assert codes[0] == 99_999
    assert codes[-1] == -1
    assert values[0] == "label 99999"


def test_attributes_can_be_pickled_and_keep_no_private_value() -> None:
    used = attribute(type="string", categories=["a", "b"])
    encode(used, ["SECRET"])
    stored = pickle.dumps(used)
    assert b"SECRET" not in stored
    assert pickle.loads(stored) == used
