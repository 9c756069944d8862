"""Canonical JSON is that of rfc8785, whichever way it was written."""

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
def test_plain_values_take_the_short_way(value: object) -> None:
    assert canonical_json._is_plain(value)


@given(st.dictionaries(ASCII, VALUES, max_size=4))
def test_a_mapping_is_joined_of_its_parts(value: dict[str, object]) -> None:
    assert canonical_json.join({name: canonical_json.dumps(one) for name, one in value.items()}) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [2**53, -(2**53), float("nan"), "\ud800", {1: 2}, object()])
def test_what_has_no_canonical_text_is_refused(value: object) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical_json.dumps(value)


@pytest.mark.parametrize("value", [1.0, 1e16, 1e-5, -0.0, {"\U0001f600": 1, "\uffff": 2}, [2.5]])
def test_numbers_and_names_that_python_writes_otherwise(value: object) -> None:
    plainly = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    assert canonical_json.dumps(value) == rfc8785.dumps(value)
    assert canonical_json.dumps(value) != plainly or value == [2.5]
