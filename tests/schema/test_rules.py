"""Rules of a schema: their meaning, which are refused, and what they forbid among all points of a small domain."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cantle.errors import SchemaError
from cantle.schema import Schema
from cantle.schema.code_sets import EVERYWHERE, NOWHERE
from cantle.schema.rules import Rules
from cantle.schema.table import TableSchema

FIELDS: list[dict[str, Any]] = [
    {"name": "age", "type": "integer", "constraints": {"minimum": 10, "maximum": 19}},
    {"name": "income", "type": "integer", "constraints": {"minimum": 0, "maximum": 40, "multipleOf": 10}},
    {"name": "married", "type": "boolean", "constraints": {"required": True}},
    {"name": "job", "type": "string", "categories": ["none", "clerk", "baker"], "role": "target"},
]
RULES = ["age < 15 -> income is null", "married -> age >= 15 or age is null", "job == 'none' -> not income > 20"]


def rules_of(*texts: str) -> Rules:
    schema = Schema.from_dict({"fields": FIELDS, "rules": list(texts)})
    assert isinstance(schema, TableSchema)
    rules = schema.domain().rules
    assert rules is not None
    return rules


def breaks(age: int | None, income: int | None, married: bool, job: str) -> bool:
    """The three rules in plain Python."""
    first = age is not None and age < 15 and income is not None
    second = married and age is not None and age < 15
    return first or second or (job == "none" and income is not None and income > 20)


AGES, INCOMES, JOBS = [*range(10, 20), None], [0, 10, 20, 30, 40, None], ["none", "clerk", "baker"]
POINTS = np.array(list(product(range(11), range(6), range(2), range(3))))


def columns(points: Any) -> dict[Any, Any]:
    return dict(zip(("age", "income", "married", "job"), np.array(points).T, strict=True))


def within(box: Any) -> Any:
    """Which points lie in a box."""
    codes = columns(POINTS)
    return np.all([(codes[key] >= lo) & (codes[key] < hi) for key, (lo, hi) in box.items()], axis=0)


def test_rules_agree_with_the_same_rules_in_python() -> None:
    breaking = rules_of(*RULES).breaking(columns(POINTS).__getitem__)
    expected = [breaks(AGES[a], INCOMES[i], bool(m), JOBS[j]) for a, i, m, j in POINTS.tolist()]
    assert breaking.tolist() == expected
    assert 0 < sum(expected) < len(expected)


def test_a_box_is_forbidden_only_if_all_its_points_are() -> None:
    """For all boxes of a few spans: only boxes without allowed points are called forbidden, and the search for an
    allowed part is exact."""
    rules = rules_of(*RULES)
    for age, income, job in product(
        [(0, 5), (2, 7), (5, 11), (10, 11)], [(0, 5), (5, 6), (3, 5), (0, 3)], [(0, 1), (1, 3)]
    ):
        box = {"age": age, "income": income, "job": job}
        inside = within(box)
        broken = rules.breaking(columns(POINTS[inside]).__getitem__)
        verdict = int(rules.forbidden_spans({k: (np.array([lo]), np.array([hi])) for k, (lo, hi) in box.items()})[0])
        assert verdict != EVERYWHERE or broken.all()
        assert verdict != NOWHERE or not broken.any()
        allowed = rules.allowed_box(box)  # type: ignore[arg-type]
        assert (allowed is None) == broken.all()
        if allowed is not None:
            part = np.all(
                [(columns(POINTS)[k] >= lo) & (columns(POINTS)[k] < hi) for k, (lo, hi) in allowed.items()], axis=0
            )
            assert part.any()
            assert not rules.breaking(columns(POINTS[part & inside]).__getitem__).any()
            assert (part <= inside).all()


def test_a_cell_breaks_a_rule_only_if_all_its_points_do() -> None:
    rules = rules_of(*RULES)
    edges: dict[Any, Any] = {"age": [0, 3, 5, 8, 11], "income": [0, 3, 5, 6], "married": [0, 1, 2], "job": [0, 1, 3]}
    edges = {name: np.array(part) for name, part in edges.items()}
    cells = {name: np.searchsorted(part, columns(POINTS)[name], side="right") - 1 for name, part in edges.items()}
    cell_breaks = rules.on_cells(edges).breaking(cells.__getitem__)
    assert cell_breaks.sum() > 0
    assert (cell_breaks <= rules.breaking(columns(POINTS).__getitem__)).all()


def test_rules_hold_for_reordered_categories() -> None:
    schema = Schema.from_dict({"fields": FIELDS[:3] + [{**FIELDS[3], "role": None}], "rules": RULES})
    assert isinstance(schema, TableSchema)
    plain, shuffled = schema.domain(), schema.domain().with_orders(3)
    assert plain.rules is not None
    assert shuffled.rules is not None
    moved = POINTS.copy()
    for column in (2, 3):
        was, now = (domain.attributes[column].scale.labels for domain in (plain, shuffled))  # type: ignore[union-attr]
        moved[:, column] = np.array([now.index(label) for label in was])[POINTS[:, column]]
    assert not np.array_equal(moved, POINTS)
    before = plain.rules.breaking(columns(POINTS).__getitem__)
    after = shuffled.rules.breaking(columns(moved).__getitem__)
    assert before.tolist() == after.tolist()


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ("age < 15", "not a list of texts"),
        ([3], "not a list of texts"),
        ([""], "not a list of texts"),
        (["age < 15 ->"], "one arrow"),
        (["age < 15 -> married -> age > 3"], "one arrow"),
        (["agge < 15 -> married"], "did you mean age"),
        (["age < 'x'"], "'x' is none"),
        (["age < 15", "age > 15"], "contradict"),
        (["age < 15 -> married", "age < 15 -> not married", "age < 15"], "contradict"),
    ],
)
def test_wrong_rules_are_refused(rules: object, says: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=says):
        Schema.from_dict({"fields": FIELDS, "rules": rules})
    text = f"rules: {rules!r}\nfields: {FIELDS!r}\n".replace("True", "true")
    (tmp_path / "s.yaml").write_text(text.replace('"', "'") if "'x'" not in text else text)
    with pytest.raises(SchemaError, match="line 1: "):
        Schema.load(tmp_path / "s.yaml")


def test_an_arrow_in_quotes_is_text_and_rules_go_into_the_canonical_form() -> None:
    odd = {"name": "way", "type": "string", "categories": ["a->b", "c"]}
    schema = Schema.from_dict({"fields": [*FIELDS, odd], "rules": ["way == 'a->b' -> age > 12"]})
    assert Schema.from_dict(schema.to_dict()) == schema
    assert schema.hash() != Schema.from_dict({"fields": [*FIELDS, odd]}).hash()


def test_rules_about_places_are_the_same_rules_about_whole_steps() -> None:
    stepped = [{**FIELDS[1], "step": 10, "constraints": {"minimum": 0, "maximum": 44}}, FIELDS[0]]
    rules = ["age < 15 -> income is null", "income < 10 or income >= 30 or income is null", "income < 40 -> age >= 12"]
    schema = Schema.from_dict({"fields": stepped, "rules": rules})
    assert isinstance(schema, TableSchema)
    domain = schema.domain()
    about_places, about_steps = domain.rules, domain.rules_on_codes
    assert about_places is not None
    assert about_steps is not None
    income, age = domain.attributes
    assert (income.width, income.bins, income.grid) == (10, 5, 45)
    place, years = (part.reshape(-1) for part in np.meshgrid(np.arange(46), np.arange(11)))
    step = np.where(place == 45, 5, place // 10)
    at_places, in_steps = {"income": place, "age": years}, {"income": step, "age": years}
    want = about_places.breaking(lambda key: at_places[str(key)])
    assert 0 < want.sum() < len(want)
    assert np.array_equal(want, about_steps.breaking(lambda key: in_steps[str(key)]))
