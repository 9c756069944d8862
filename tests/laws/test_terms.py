"""The range of every term (Claim 60) holds, by brute force over all small tables, and is not larger than needed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import ParameterError
from cantle.trusted.claims import terms
from cantle.trusted.claims.scores import BALANCE, MOST_RECORDS
from cantle.trusted.claims.terms import MOST_CHANGE, MOST_CONSTANT, MOST_STEPS, WORDS, Step, TermScore
from tests.effort import examples

LEFT, RIGHT = ("left", (), 0), ("right", (), 0)
MOST = 7
SIDES = np.array(list(product(range(MOST + 1), repeat=2)), dtype=np.int64)
"""Every number of records on both sides of a cut, up to MOST on each."""


def on(score: TermScore, sides: np.ndarray) -> np.ndarray:
    return score.scores([sides[:, :1], sides[:, 1:]])


def change(score: TermScore) -> int:
    """The largest difference between the changes of two candidates, over all small tables and their neighbours."""
    before = on(score, SIDES)
    changes = np.concatenate([on(score, SIDES + more) - before for more in ([1, 0], [0, 1])])
    return int(np.ptp(changes))


def made(steps: list[Step]) -> TermScore | None:
    """The score, unless it is refused."""
    try:
        return TermScore(tuple(steps))
    except ParameterError:
        return None


def next_steps(before: int) -> list[Step]:
    """Every step that may follow so many steps, with small numbers."""
    steps: list[Step] = [LEFT, RIGHT, *(("constant", (), n) for n in (-2, 3))]
    for word, many in WORDS.items():
        if many:
            numbers = (-2, -1, 3) if word == "times" else (0,)
            steps += [(word, takes, n) for takes in product(range(before), repeat=many) for n in numbers]
    return steps


DIFFERENCE: list[Step] = [LEFT, RIGHT, ("minus", (0, 1), 0)]


def too_small() -> list[TermScore]:
    """The scores of up to four steps, or of one after the absolute difference, whose range is smaller than the largest
    change."""
    level = [[*DIFFERENCE, ("abs", (2,), 0), more] for more in next_steps(4)]
    short = [[LEFT, RIGHT, more] for more in next_steps(2)]
    level += short + [[*steps, more] for steps in short for more in next_steps(3)]
    return [score for score in filter(None, map(made, level)) if change(score) > score.range]


def test_the_range_holds_for_every_small_term() -> None:
    assert too_small() == []


@st.composite
def scores(draw: st.DrawFn) -> TermScore | None:
    steps = [LEFT, RIGHT]
    for _ in range(draw(st.integers(1, 8))):
        steps.append(draw(st.sampled_from(next_steps(len(steps)))))
    return made(steps)


@examples(300)
@given(scores())
def test_the_range_holds_for_long_terms(score: TermScore | None) -> None:
    if score is not None:
        assert change(score) <= score.range


@pytest.mark.parametrize(("steps", "expected"), [
    ([*DIFFERENCE, ("abs", (2,), 0), ("times", (3,), -1)], 2),
    ([LEFT, RIGHT, ("minimum", (0, 1), 0)], 1),
    ([LEFT, RIGHT, ("maximum", (0, 1), 0)], 1),
    ([LEFT, RIGHT, ("times", (0,), 3), ("minimum", (2, 1), 0)], 3),
    ([LEFT], 1),
    (DIFFERENCE, 2),
])  # fmt: skip
def test_the_range_of_usual_terms_is_the_smallest_that_holds(steps: list[Step], expected: int) -> None:
    score = TermScore(tuple(steps))
    assert score.range == expected == change(score)


def test_the_smaller_side_is_the_score_of_balance() -> None:
    score = TermScore((LEFT, RIGHT, ("minimum", (0, 1), 0)))
    assert (on(score, SIDES) == BALANCE.scores([SIDES[:, :1], SIDES[:, 1:]])).all()
    assert score.range == BALANCE.range


@pytest.mark.parametrize(("word", "broken"), [
    ("minus", lambda a, b, c, d: (a - c, b - d)),
    ("abs", lambda a, b, _c, _d: (max(a, 0), b)),
    ("minimum", lambda a, b, c, d: (max(a, c), min(b, d))),
    ("plus", lambda a, b, _c, _d: (a, b)),
    ("times", lambda a, b, _c, _d: (a, b)),
])  # fmt: skip
def test_a_wrong_rule_for_a_word_is_noticed(word: str, broken, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = terms._span

    def span(one: str, spans, number: int):
        return broken(*spans[0], *spans[-1]) if one == word else sound(one, spans, number)

    monkeypatch.setattr(terms, "_span", span)
    assert too_small()


@pytest.mark.parametrize(("steps", "words"), [
    ((("constant", (), 5),), "its range is 0"),
    ((LEFT, RIGHT, ("plus", (0, 1), 0)), "its range is 0"),
    ((LEFT, ("times", (0,), MOST_CHANGE + 1)), "by more than 512"),
    ((LEFT, ("constant", (), MOST_CONSTANT + 1), ("plus", (0, 1), 0)), "above 2\\^40"),
    ((LEFT, ("constant", (), 1), *(("plus", (i, i), 0) for i in range(1, 45)), ("plus", (0, 45), 0)), "above 2\\^40"),
    ((LEFT,) * (MOST_STEPS + 1), "at most 256 steps"),
    ((), "steps"),
    ([LEFT], "steps"),
    ((("power", (0, 0), 0),), "steps"),
    ((("abs", (0,), 0),), "steps"),
    ((LEFT, ("abs", (True,), 0)), "steps"),
    ((LEFT, ("abs", (-1,), 0)), "steps"),
    ((LEFT, ("times", (0,), 2.0)), "steps"),
    ((LEFT, ["abs", (0,), 0]), "steps"),
])  # fmt: skip
def test_what_cannot_be_a_score_is_refused(steps, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        TermScore(steps)


def test_64_bits_hold_the_largest_scores() -> None:
    score = TermScore((LEFT, RIGHT, ("times", (0,), MOST_CHANGE), ("times", (1,), -MOST_CHANGE), ("plus", (2, 3), 0)))
    ends = on(score, np.array([[MOST_RECORDS, 0], [0, MOST_RECORDS]]))
    assert ends.tolist() == [MOST_CHANGE * MOST_RECORDS, -MOST_CHANGE * MOST_RECORDS]
    assert int(ends[0]) - int(ends[1]) + 2 * MOST_CONSTANT < 2**63
