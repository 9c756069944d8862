"""Groups of items in a schema: what they mean, and which are refused."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
import yaml

from cantle.data.draft_schema import draft
from cantle.errors import SchemaError
from cantle.schema.table import TableSchema

WORRY = {"worry": ["w1", "w2", "-w3"]}


def document(groups: object = WORRY, **keys: Any) -> dict[str, Any]:
    item = {"type": "integer", "constraints": {"minimum": 1, "maximum": 5}}
    words = {"type": "string", "categories": ["never", "often", "always"], "categoriesOrdered": True}
    fields = [{"name": f"w{number}", **item} for number in (1, 2, 3)]
    fields += [{"name": f"o{number}", **words} for number in (1, 2, 3)]
    fields += [
        {"name": "town", "type": "string", "categories": ["Graz", "Linz", "Oslo"]},
        {"name": "ill", "type": "boolean", "role": "target"},
    ]
    return {"fields": fields, "groups": groups, **keys}


def test_a_score_is_the_sum_of_the_answers_where_turned_ones_count_backwards() -> None:
    domain = TableSchema.from_dict(document()).domain().with_target_as_column().with_scores()
    frame = pl.DataFrame({"w1": [1, 5, None], "w2": [1, 5, 5], "w3": [5, 1, 1], "ill": [True, False, True]})
    frame = frame.with_columns(
        pl.lit("never").alias("o1"), pl.lit("often").alias("o2"), pl.lit("always").alias("o3"), town=pl.lit("Graz")
    )
    columns, _ = domain.encode_columns(frame)
    named = {one.name: codes.tolist() for one, codes in zip(domain.attributes, columns, strict=True)}
    assert named["worry"] == [0, 12, 10]  # a missing answer counts as one in the middle
    assert list(named)[-4:] == ["worry", "w1", "w2", "w3"]
    assert domain.read.columns == ("w1", "w2", "w3", "o1", "o2", "o3", "town", "ill")


def test_one_record_changes_no_other_score() -> None:
    domain = TableSchema.from_dict(document({"o": ["o1", "-o2", "o3"]})).domain().with_scores()
    rows = [{"w1": 1, "w2": 2, "w3": 3, "o1": "never", "o2": "often", "o3": "always", "town": "Graz", "ill": True}]
    odd = [{**rows[0], "o1": None, "o2": None, "o3": "no such word"}]
    place = [one.name for one in domain.attributes].index("o")
    alone, _ = domain.encode_columns(pl.DataFrame(rows))
    both, _ = domain.encode_columns(pl.DataFrame(odd + rows))
    assert both[place][-1] == alone[place][0] == 3
    assert both[place][0] == 3  # three answers in the middle


def test_the_canonical_form_keeps_groups() -> None:
    schema = TableSchema.from_dict(document())
    assert schema.to_dict()["groups"] == WORRY
    assert TableSchema.from_dict(schema.to_dict()) == schema


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        (["w1", "w2", "w3"], "names with lists of columns"),
        ({"worry": "w1"}, "not a list of columns"),
        ({"worry": ["w1", "w2"]}, "fewer than 3 columns"),
        ({"worry": ["w1", "w2", "w4"]}, "w4 is no column"),
        ({"worry": ["w1", "w2", "o1"]}, "different numbers of values"),
        ({"worry": ["w1", "w2", "town"]}, "have no order"),
        ({"worry": ["w1", "w2", "ill"]}, "ill is no column"),
        ({"worry": ["w1", "w2", "-w2"]}, "w2 is in them twice"),
        ({"town": ["w1", "w2", "w3"]}, "a column is called so too"),
    ],
)
def test_wrong_groups_are_refused(groups: object, says: str) -> None:
    with pytest.raises(SchemaError, match=says):
        TableSchema.from_dict(document(groups))


def test_items_are_in_no_rule() -> None:
    with pytest.raises(SchemaError, match="w1 has a role, or a rule names it"):
        TableSchema.from_dict(document(rules=["town == 'Graz' -> w1 > 2"]))


def test_init_proposes_groups_by_numbered_names_as_comments() -> None:
    names = [*(f"w{number}" for number in range(1, 8)), "town1", "town2", "w"]
    text = draft(pl.DataFrame({name: [1] for name in names}))
    proposed = text[text.index("# groups:") :].splitlines()
    lines = [line.removeprefix("# ") for line in proposed if line.startswith("#")]
    assert yaml.safe_load("\n".join(lines)) == {"groups": {"w score": names[:7]}}
    assert "# groups:" not in draft(pl.DataFrame({name: [1] for name in names[4:]}))
