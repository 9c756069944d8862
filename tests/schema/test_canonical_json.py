"""Canonical JSON equals that of the package rfc8785, whether it is written by the quick or the general code."""

from __future__ import annotations

import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from cantle.schema import canonical_json

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
ASCII = st.text(st.characters(max_codepoint=127))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=8
)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ASCII, inner, max_size=4),
    max_leaves=8,
)


@given(VALUES | PLAIN)
def test_the_text_is_that_of_rfc8785(value: object) -> None:
    assert canonical_json.dumps(value) == rfc8785.dumps(value)


@given(PLAIN)
def test_plain_values_are_written_by_the_quick_code(value: object) -> None:
    assert canonical_json._is_plain(value)


@given(st.dictionaries(ASCII, VALUES, max_size=4))
def test_a_mapping_joined_from_its_parts_is_canonical(value: dict[str, object]) -> None:
    assert canonical_json.join({name: canonical_json.dumps(one) for name, one in value.items()}) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [2**53, -(2**53), float("nan"), "\ud800", {1: 2}, object()])
def test_values_without_a_canonical_form_are_refused(value: object) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical_json.dumps(value)


@pytest.mark.parametrize("value", [1.0, 1e16, 1e-5, -0.0, {"\U0001f600": 1, "\uffff": 2}, [2.5]])
def test_numbers_and_names_that_python_writes_differently(value: object) -> None:
    plainly = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    assert canonical_json.dumps(value) == rfc8785.dumps(value)
    assert canonical_json.dumps(value) != plainly or value == [2.5]
