"""The method `baskets`: its four questions to the curator, with seeded noise."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import cantle
from cantle.drawing import records as released_records
from cantle.drawing.counts import public_dice
from cantle.errors import ParameterError
from cantle.methods.baskets.method import Baskets
from cantle.methods.baskets.model.questions import PAID, Terms, ask_all
from cantle.methods.baskets.model.synthesis import synthesise
from cantle.methods.curator_asker import CuratorAsker
from cantle.methods.own_accuracy import OwnAccuracy
from cantle.schema.sets import SetSchema
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting import basket_counts
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.noise import Seeded


@cache
def shop(records, universe, head=(), kinds=10):
    """Records of one of a few planted triples and a random item; each head item is in a third of the records."""
    rng = np.random.default_rng(0)
    triples = rng.choice(universe, (kinds, 3))
    made = np.concatenate(
        [triples[rng.integers(kinds, size=records)], rng.integers(universe, size=(records, 1))], axis=1
    )
    rows = [np.unique(np.append(row, [h for h in head if rng.random() < 0.33])) for row in made]
    starts = np.cumsum([0, *map(len, rows)])
    return starts, np.concatenate([np.zeros(0, np.int64), *rows]).astype(np.int32)


class Asked:
    """The amount spent on each question, and the amount left."""

    def __init__(self, receipt, epsilon):
        charges = [charge for path in receipt["paths"] for charge in path["charges"]]
        why = {words: question for question, words in PAID.items()}
        self.asked = {why[charge["why"]]: charge["epsilon_nano"] for charge in charges}
        self.left = round(epsilon * NANO) - sum(self.asked.values())


def baskets(universe, **given):
    given = {"accuracy_share": 0} | given
    return Baskets(SetSchema.from_dict({"kind": "sets", "items": {"minimum": 1, "maximum": universe}}), **given)


def curator_of(starts, items, method, epsilon, max_records=1):
    engine = SetEngine(Ragged(starts, items), tree=method.tree, most=method.most)
    unit = Unit(max_records, "person") if max_records > 1 else Unit()
    return Curator(engine, Budget(round(epsilon * NANO), unit), Seeded(1))


def run(starts, items, universe, epsilon=1.0, max_records=1, **given):
    method = baskets(universe, **given)
    with curator_of(starts, items, method, epsilon, max_records) as curator:
        method.run(curator)
        return method, Asked(curator.seal(), epsilon)


def records(method, seed=1):
    return synthesise(method.measured, public_dice(seed))


def supports(rows, universe):
    _, items = rows
    return np.bincount(items, minlength=universe)


def test_all_of_epsilon_is_spent_and_shares_follow_the_table():
    method, asker = run(*shop(2000, 60, head=(3, 4)), 60, 30.0)
    whole = 30 * NANO
    assert list(asker.asked) == ["sizes", "items", "head", "pairs"]
    assert asker.left == 0
    assert asker.asked["sizes"] == whole * 4 // 100
    assert asker.asked["head"] == whole * 5 // 100
    assert 0.25 <= asker.asked["items"] / whole <= 0.5
    assert len(records(method, 1)[0]) - 1 == round(method.measured.sizes.total)


def test_without_head_items_their_share_goes_to_pairs():
    _, asker = run(*shop(2000, 400, kinds=60), 400, 30.0)
    assert list(asker.asked) == ["sizes", "items", "pairs"]
    assert asker.left == 0


@pytest.mark.parametrize(("epsilon", "given"), [(1.0, {}), (30.0, {"pairs": "off"})])
def test_with_few_records_or_without_pairs_the_rest_is_spent_on_items(epsilon, given):
    _, asker = run(*shop(2000, 60, head=(3, 4)), 60, epsilon, **given)
    assert list(asker.asked) == ["sizes", "items"]
    assert asker.left == 0


def test_the_accuracy_share_is_paid_and_nothing_is_left():
    for pairs in (True, False):
        with curator_of(*shop(2000, 60), baskets(60), 30.0) as curator:
            own = OwnAccuracy(Fraction(1, 25), universe=60)
            ask_all(CuratorAsker(curator, own), Terms(60, pairs))
            assert own.bought
            assert CuratorAsker(curator).left() == 0
            (path,) = curator.seal()["paths"]
            assert [c["epsilon_nano"] for c in path["charges"] if c["verb"] == "reserve"] == [30 * NANO // 25]


def test_decisions_for_persons_use_epsilon_per_record():
    """With k records per person the noise is k times larger, so there may be too few records for pairs."""
    data = shop(2000, 60)
    assert "pairs" in run(*data, 60, 10.0)[1].asked
    assert "pairs" not in run(*data, 60, 10.0, max_records=2)[1].asked
    assert "pairs" in run(*data, 60, 20.0, max_records=2)[1].asked


@pytest.mark.parametrize("universe", [2, 3, 30])
@pytest.mark.parametrize("number", [0, 1, 50])
def test_tiny_data_are_published_without_failing(universe, number):
    starts, items = shop(number, universe)
    for epsilon in (0.01, 1.0, 1000.0):
        method, asker = run(starts, items, universe, epsilon)
        made_starts, made = records(method, 1)
        assert asker.left == 0
        assert np.diff(made_starts).min(initial=1) >= 1
        assert made.max(initial=0) < universe


def test_planted_triples_are_in_the_release():
    starts, items = shop(3000, 200)
    method, _ = run(starts, items, 200, 20.0)
    made_starts, made = records(method, 1)
    truth, found = supports((starts, items), 200), supports((made_starts, made), 200)
    assert np.abs(found - truth).sum() < 0.05 * truth.sum()
    top = np.sort(np.argsort(-truth)[:25])
    true, drawn = (basket_counts.count_pairs(*data, 200, top, 1000) for data in ((starts, items), (made_starts, made)))
    best = np.argsort(true, kind="stable")[-30:]
    off = np.abs(drawn - true)[best] / true[best]
    assert np.median(off) < 0.1


def test_sets_of_one_item_are_as_frequent_as_in_the_data():
    """Item 0 is bought alone, 1 with 2 only, and 3 with 4 and 5. Supports and pairs do not show that."""
    rows = [(0,)] * 600 + [(1, 2)] * 500 + [(3, 4, 5)] * 400 + [(k,) for k in range(6, 30)] * 4
    starts, items = np.cumsum([0, *map(len, rows)]), np.concatenate(rows).astype(np.int32)
    method, _ = run(starts, items, 30, 20.0)
    plan = method.answers
    assert plan.item_plan.singles
    made_starts, made = records(method)
    sets = [tuple(made[a:b].tolist()) for a, b in zip(made_starts[:-1], made_starts[1:], strict=True)]
    for planted in ((0,), (1, 2), (3, 4, 5)):
        assert abs(sets.count(planted) - rows.count(planted)) < 0.1 * rows.count(planted)


def test_without_pairs_supports_are_kept():
    data = shop(3000, 200)
    method, _ = run(*data, 200, 20.0, pairs="off")
    truth, found = supports(data, 200), supports(records(method, 1), 200)
    assert np.abs(found - truth).sum() < 0.1 * truth.sum()


def test_the_same_answers_and_dice_give_the_same_bytes():
    data = shop(2000, 60, head=(3, 4))
    first, second = (records(run(*data, 60, 30.0)[0], 4) for _ in range(2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, second, strict=True))


def test_an_epsilon_that_cannot_be_divided_is_refused():
    with pytest.raises(ParameterError, match="too small"):
        run(*shop(10, 30), 30, 1e-8)


def test_sizes_that_call_for_too_many_items_release_fewer_sets_and_say_so(monkeypatch):
    schema = {"kind": "sets", "items": {"minimum": 0, "maximum": 29}}
    starts, items = shop(2000, 30)
    sets = [row.tolist() for row in np.split(items, starts[1:-1])]
    monkeypatch.setattr(released_records, "MOST_ITEMS", 1500)
    release = cantle.publish(sets, schema, epsilon=8, method="baskets", insecure_seed=1)
    wanted = release.manifest.summary["items_wanted"]
    assert wanted == pytest.approx(len(items), rel=0.05)
    assert release.records["items"].list.len().sum() == pytest.approx(1500, rel=0.1)
    assert "stands for" in release.manifest.notes[0]
    release.verify()
    assert release.count("size >= 1").value == pytest.approx(len(sets), rel=0.05)
    assert len(release.sample(10)) == 10
    with pytest.raises(ParameterError, match="more than 1,500 items"):
        release.sample(len(sets))


def test_a_release_of_noise_alone_has_a_note():
    schema = {"kind": "sets", "items": {"minimum": 0, "maximum": 29}}
    release = cantle.publish([[1]], schema, epsilon="0.01", method="baskets", insecure_seed=2)
    assert len(release.records)
    assert "Noise alone may make as many sets" in " ".join(release.manifest.notes)


def test_unknown_settings_are_refused():
    with pytest.raises(ParameterError, match="pairs"):
        baskets(10, pairs="maybe")
    with pytest.raises(ParameterError, match="fanout"):
        baskets(10, fanout=2)
    with pytest.raises(ParameterError, match="at least 2 items"):
        baskets(1)
