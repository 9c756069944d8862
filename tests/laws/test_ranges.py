"""Every declared range of a score (Claims 2 to 6, 18, 19) holds and is attained, by brute force over small tables.

The range lemma (Claim 1) needs rho = sup over neighbours of max_i d(i) - min_i d(i). The candidates of one data set
share its records, so their tables share the class totals and nothing more: with two attributes any two tables of
those totals can compete. The added record has one class, and each candidate may put it in any child.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product

import numpy as np
import pytest

from cantle.errors import ParameterError
from cantle.trusted.scores import (
    BALANCE,
    CLASS_AWARE,
    CUT_QUALITIES,
    MOST_RECORDS,
    MOST_WEIGHT,
    SCALE,
    Gini,
    HalfGini,
    InfoGain,
    JointMajority,
    Max,
    Mix,
    WeightedMajority,
)

INSTANCES = {
    "Mix": [(1, 0), (2, 1), (1, 1), (0, 1), (3, 2)],
    "WeightedMajority": [((3, 1),), ((1, 5, 2),)],
}
"""Arguments of those that take any; whatever else is trusted is tried as it comes."""
QUALITIES = [kind(*arguments) for kind in CUT_QUALITIES for arguments in INSTANCES.get(kind.__name__, [()])]
MOST = {(2, 1): 8, (2, 2): 8, (2, 3): 6, (3, 1): 7, (3, 2): 6, (3, 3): 4}
"""Records by (children, classes)."""


def spread(total: int, children: int) -> list[tuple[int, ...]]:
    """All ways to put `total` records of one class into the children."""
    if children == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in spread(total - first, children - 1)]


@lru_cache
def tables_of(totals: tuple[int, ...], children: int) -> np.ndarray:
    """Every table (tables, children, classes) with these class totals."""
    columns = product(*(spread(total, children) for total in totals))
    return np.array([np.array(column).T for column in columns], dtype=np.int64)


def score(quality, table: np.ndarray) -> np.ndarray:
    return quality.scores([table[:, child, :] for child in range(table.shape[1])])


def changes(quality, totals: tuple[int, ...], children: int, label: int) -> np.ndarray:
    """The change of every candidate's score, over all tables and children, when a record of one class comes."""
    before = tables_of(totals, children)
    found = []
    for child in range(children):
        after = before.copy()
        after[:, child, label] += 1
        found.append(score(quality, after) - score(quality, before))
    return np.concatenate(found)


def shapes(quality) -> list[tuple[int, int]]:
    classes = len(getattr(quality, "weights", ()))  # class weights fix the number of classes
    both = [shape for shape in MOST if shape[0] == 2 or not isinstance(quality, Mix)]
    return [shape for shape in both if classes in (0, shape[1])]


@lru_cache
def extremes(quality) -> tuple[int, int, int]:
    """(rho, lowest change, highest change) over all small tables."""
    rho, low, high = 0, 0, 0
    for children, classes in shapes(quality):
        for totals in product(range(MOST[children, classes] + 1), repeat=classes):
            if sum(totals) <= MOST[children, classes]:
                for label in range(classes):
                    d = changes(quality, totals, children, label)
                    rho, low, high = max(rho, int(np.ptp(d))), min(low, int(d.min())), max(high, int(d.max()))
    return rho, low, high


@pytest.mark.parametrize("quality", QUALITIES, ids=repr)
def test_the_range_holds(quality) -> None:
    assert extremes(quality)[0] <= quality.range


@pytest.mark.parametrize("quality", QUALITIES, ids=repr)
def test_the_range_is_attained(quality) -> None:
    rho, low, high = extremes(quality)
    if quality.range < SCALE:
        assert rho == quality.range  # integer scores: exactly
        assert (low, high) == (0, quality.range)  # and monotone, as their claims say
    elif isinstance(quality, InfoGain):
        # Up by SCALE exactly and down by 0.749 SCALE (docs/privacy.md, Selection), but never both at the same class
        # totals: the reach is 1024 of the claimed 2050. The claim adds the worst up to the worst down; it is safe, not
        # tight.
        assert (rho, low, high) == (SCALE, -767, SCALE)
    elif quality.range == SCALE:
        # HalfGini falls by n/(n+1) of SCALE when a pure part of n gets its first stranger: 0.86 of the claim at 8.
        assert high == 0
        assert rho >= 0.85 * quality.range
    else:
        # 1821 of 2050 with 8 records; test_gini_comes_near_its_claim goes to 0.998 with many.
        assert high == SCALE
        assert rho >= 0.88 * quality.range


@pytest.mark.parametrize("quality", QUALITIES, ids=repr)
def test_each_score_moves_within_half_its_range_or_is_monotone(quality) -> None:
    _, low, high = extremes(quality)
    rises, falls = 0 <= low <= high <= quality.range, -quality.range <= low <= high <= 0
    assert rises or falls or max(-low, high) <= quality.range // 2


def test_half_gini_comes_near_its_claim_with_many_records() -> None:
    kind = next((kind for kind in CUT_QUALITIES if kind.__name__ == "HalfGini"), None)
    if kind is None:
        pytest.skip("not there")
    pure = np.array([[[4000, 0], [0, 0]]])
    joins, apart = pure + [[0, 1], [0, 0]], pure + [[0, 0], [0, 1]]
    rho = int((score(kind(), apart) - score(kind(), joins))[0])
    assert 0.998 * kind().range < rho <= kind().range


def test_half_gini_holds_for_many_records() -> None:
    """2^28 records in two equal classes of one part: one more must move the score by 0 to SCALE down."""
    kind = next((kind for kind in CUT_QUALITIES if kind.__name__ == "HalfGini"), None)
    if kind is None:
        pytest.skip("not there")
    before = np.array([[[2**27, 2**27], [0, 0]], [[2**28, 0], [0, 0]]])
    after = before + [[0, 1], [0, 0]]
    d = score(kind(), after) - score(kind(), before)
    assert ((d >= -SCALE) & (d <= 0)).all()
    assert int(score(kind(), before)[0]) == -SCALE * 2**27 // 2


@pytest.mark.parametrize("classes", [2, 3])
def test_gini_comes_near_its_claim_with_many_records(classes: int) -> None:
    """Adding the first record of a class to a pure child of n: change -n/(n+1), while another child gains 1."""
    gini = next(kind for kind in CUT_QUALITIES if kind.__name__ == "Gini")()
    n = 4000
    pure = np.zeros((1, 2, classes), dtype=np.int64)
    pure[0, 0, 0] = n
    joins, apart = pure.copy(), pure.copy()
    joins[0, 0, 1] += 1
    apart[0, 1, 1] += 1
    rho = int((score(gini, apart) - score(gini, joins))[0])
    assert 0.998 * gini.range < rho <= gini.range


@pytest.mark.parametrize("quality", QUALITIES, ids=repr)
def test_candidates_are_scored_alone_and_in_any_shape(quality) -> None:
    """A batch is scored as each of its tables would be: no candidate sees another's counts."""
    classes = len(getattr(quality, "weights", (1, 1, 1)))
    table = tables_of((2, 1, 1)[:classes], 2)
    half = table[: len(table) // 2 * 2]
    together = score(quality, table)
    assert together.dtype == np.int64
    for i in range(len(table)):
        assert score(quality, table[i : i + 1])[0] == together[i]
    stacked = quality.scores([half[:, side].reshape(2, -1, classes) for side in (0, 1)])
    assert stacked.reshape(-1).tolist() == together[: len(half)].tolist()


@pytest.mark.parametrize("kind", CUT_QUALITIES, ids=lambda kind: kind.__name__)
def test_every_trusted_quality_states_its_claim(kind: type) -> None:
    assert re.search(r"^ *Claim \d+\. Range ", kind.__doc__ or "", re.MULTILINE)


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_told_apart_is_the_best_pair_of_different_classes(classes: int) -> None:
    """g of Claim 2 against its definition, over all tables of up to 5 records."""
    for totals in product(range(4), repeat=classes):
        if sum(totals) <= 5:
            table = tables_of(totals, 2)
            pairs = [(c, e) for c in range(classes) for e in range(classes) if c != e]
            expected = [max((int(t[0, c] + t[1, e]) for c, e in pairs), default=0) for t in table]
            assert score(Mix(0, 1), table).tolist() == expected


def test_the_named_scores_are_the_papers() -> None:
    assert (BALANCE.range, CLASS_AWARE.range) == (1, 3)


@pytest.mark.parametrize(("even", "apart"), [(-1, 2), (2, -1), (0, 0), (True, 1.5), (2**63, 0), (2**70, 1)])
def test_weights_without_a_proof_are_refused(even, apart) -> None:
    """Claim 2 is about natural numbers, small enough for the score to stay in 64 bits."""
    with pytest.raises(ParameterError):
        Mix(even, apart)


# ---- many records ---------------------------------------------------------------------------------------------

LARGE = [2**31 - 1, 2**31, 3_050_000_000, 3_700_000_000, 2**32 - 1, 2**32, 2**33 + 1, 10**12, 2**44 + 7, 2**50, 2**52]
"""Up to the limit of the proofs. Squares leave 64 bits from 3.05e9 records on, with two classes from 4.3e9 on."""


def shared_out(records: int) -> list[tuple[int, ...]]:
    """Two, three and a thousand classes, from pure to even, with odd rests."""
    third, part = records // 3, records // 1000
    return [
        (records, 0), (records - 1, 1), (records // 2, records - records // 2), (third + 1, records - third - 1),
        (third, third, records - 2 * third), (records - 2, 1, 1), (0, records // 7, records - records // 7),
        (part,) * 999 + (records - 999 * part,),
    ]  # fmt: skip


def half_gini(counts: tuple[int, ...]) -> int:
    """By whole numbers of any length."""
    n = sum(counts)
    return -(SCALE * (n * n - sum(c * c for c in counts)) // (2 * n))


def purity(counts: tuple[int, ...]) -> int:
    return SCALE * sum(c * c for c in counts) // sum(counts)


@pytest.mark.parametrize("records", LARGE)
@pytest.mark.parametrize(("quality", "exact"), [(HalfGini(), half_gini), (Gini(), purity)], ids=["half", "whole"])
def test_gini_is_exact_for_many_records(quality, exact, records: int) -> None:
    for counts in shared_out(records):
        small = (2, 5, *range(len(counts) - 2))
        table = np.array([counts, small], dtype=np.int64)  # a small part beside a large one
        assert quality.value(table).tolist() == [exact(counts), exact(small)]


def all_qualities(classes: int) -> list:
    mixes = [Mix(MOST_WEIGHT, MOST_WEIGHT), Mix(1, 0), Mix(2, 1)]
    weighted = WeightedMajority((MOST_WEIGHT, 3, MOST_WEIGHT)[:classes])
    return [*mixes, Max(), JointMajority(), weighted, HalfGini(), InfoGain(), Gini()]


def test_every_trusted_score_is_tried_with_many_records() -> None:
    assert {type(quality) for quality in all_qualities(2)} == set(CUT_QUALITIES)


@pytest.mark.parametrize("records", LARGE)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_range_holds_for_many_records(records: int, classes: int) -> None:
    """One record more, in any class of either side: candidates that share the class totals move within the range."""
    shares = [counts for counts in shared_out(records - 1) if len(counts) == classes]
    for counts in shares:
        cuts = [counts, tuple(c // 2 for c in counts), tuple(c // 3 + c % 2 for c in counts), (0,) * classes]
        left = np.array(cuts, dtype=np.int64)
        right = np.array(counts, dtype=np.int64) - left
        for quality in all_qualities(classes):
            before = quality.scores([left, right])
            for label in range(classes):
                more = np.eye(classes, dtype=np.int64)[label]
                moved = [quality.scores([left + more, right]) - before, quality.scores([left, right + more]) - before]
                assert np.ptp(np.concatenate(moved)) <= quality.range


def test_the_limit_of_records_keeps_every_score_within_64_bits() -> None:
    """The largest scores there are: both sides even and all told apart, one class, classes that are even."""
    half = MOST_RECORDS // 2
    apart = [np.array([half, 0]), np.array([0, half])]
    assert Mix(MOST_WEIGHT, MOST_WEIGHT).scores(apart) == MOST_WEIGHT * (half + MOST_RECORDS) < 2**63
    pure = [np.array([MOST_RECORDS, 0]), np.array([0, 0])]
    assert WeightedMajority((MOST_WEIGHT, 1)).scores(pure) == MOST_WEIGHT * MOST_RECORDS < 2**63 - 2**60
    assert Gini().scores(pure) == SCALE * MOST_RECORDS < 2**63
    assert HalfGini().scores([np.array([half, half]), np.array([0, 0])]) == -(SCALE // 4) * MOST_RECORDS
