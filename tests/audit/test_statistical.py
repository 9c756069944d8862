"""The black-box audit: bounds compared with scipy, the choice of events, claims that pass, flaws that are caught."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy

from cantle.audit.black_box import (
    ALPHA,
    EXPECTED_RUNS,
    MARGIN,
    UNLISTED,
    Event,
    Outcome,
    Step,
    Trial,
    at_least,
    at_most,
    choose_event,
    epsilon_at_least,
    measure,
    run_statistical,
    sampled_instances,
)
from cantle.audit.trials import all_trials, methods
from cantle.methods.catalogue import METHODS
from cantle.trusted.noise import Lanes, Rate, Secure
from cantle_lab.mutants.trials import broken_methods
from tests.effort import later

# ---- bounds ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [1, 2, 7, 50, 300, 1_100, 11_000, 56_000])
def test_bounds_are_those_of_clopper_and_pearson(runs: int) -> None:
    for hits in {0, 1, runs // 100, runs // 10, runs // 3, runs // 2, runs - 1, runs}:
        low = scipy.stats.beta.ppf(ALPHA, hits, runs - hits + 1) if hits else 0.0
        high = scipy.stats.beta.ppf(1 - ALPHA, hits + 1, runs - hits) if hits < runs else 1.0
        assert at_least(hits, runs) == pytest.approx(low, rel=1e-6)
        assert at_most(hits, runs) == pytest.approx(high, rel=1e-6)


@pytest.mark.parametrize("p", [0.0, 1e-3, 0.02, 0.3, 0.5, 0.98, 1.0])
def test_a_bound_fails_no_more_often_than_promised(p: float) -> None:
    runs, alpha = 60, 0.05
    low = sum(scipy.stats.binom.pmf(k, runs, p) for k in range(runs + 1) if at_least(k, runs, alpha) > p)
    high = sum(scipy.stats.binom.pmf(k, runs, p) for k in range(runs + 1) if at_most(k, runs, alpha) < p)
    assert low <= alpha
    assert high <= alpha


def test_epsilon_is_the_ratio_of_the_bounds() -> None:
    assert epsilon_at_least(50, 5, 100) == math.log(at_least(50, 100) / at_most(5, 100))
    assert epsilon_at_least(0, 0, 100) == -math.inf
    assert epsilon_at_least(100, 0, 100) == pytest.approx(math.log(ALPHA**0.01 / (1 - ALPHA**0.01)))
    with pytest.raises(ValueError, match="from 0 to the number of runs"):
        at_least(3, 2)


# ---- events ---------------------------------------------------------------------------------------------------------


def shapes(*names_and_times: tuple[str, int]) -> list[Outcome]:
    return [Outcome(name) for name, times in names_and_times for _ in range(times)]


def test_the_event_distinguishes_the_data_sets() -> None:
    before, after = shapes(("a", 10), ("b", 90)), shapes(("a", 60), ("b", 40))
    event = choose_event(before, after, 1000)
    assert event.for_larger
    assert [event.holds(Outcome(name)) for name in "ab"] == [True, False]
    reversed_event = choose_event(after, before, 1000)
    assert not reversed_event.for_larger
    assert reversed_event.holds(Outcome("a"))


def test_an_event_that_is_too_rare_for_the_runs_is_not_chosen() -> None:
    """The outcome `rare` has the larger ratio, but is too rare to show it in few runs."""
    before, after = shapes(("rare", 1), ("common", 100), ("b", 899)), shapes(("rare", 20), ("common", 500), ("b", 480))
    few, many = choose_event(before, after, 200), choose_event(before, after, 10**6)
    assert [few.holds(Outcome(name)) for name in ("rare", "common", "b")] == [True, True, False]
    assert [many.holds(Outcome(name)) for name in ("rare", "common", "b")] == [True, False, False]


def test_noisy_numbers_are_judged_by_thresholds_whose_odds_add_up() -> None:
    dice = np.random.default_rng(1)

    def sample(shift: int) -> list[Outcome]:
        noise = dice.geometric(0.6, (2000, 3)) - dice.geometric(0.6, (2000, 3))
        return [Outcome(None, {"x": int(x) + shift, "y": int(y) + 2 * shift, "z": int(z)}) for x, y, z in noise]

    event = choose_event(sample(0), sample(1), 1000)
    steps = event.steps[None]
    assert steps["x"].least == 1
    assert steps["y"].least in (1, 2)
    assert steps["x"].above > 0.5
    assert steps["x"].below < -0.5
    assert abs(steps["z"].above) < 0.2
    assert event.odds(Outcome(None, {"x": 5, "y": 5, "z": 0})) > 1.2
    assert event.odds(Outcome("never seen", {"x": 5})) == 0


def test_a_number_that_is_left_out_is_below_all_others() -> None:
    event = Event({None: 0.0}, {None: {"x": Step(0, -1.0, 2.0)}}, at_least=1.0)
    assert event.holds(Outcome(None, {"x": 0}))
    assert not event.holds(Outcome(None, {"x": UNLISTED}))
    assert not event.holds(Outcome(None))


# ---- claims that pass, and flaws that are caught --------------------------------------------------------------------


def counted(joined: bool, runs: int) -> Sequence[Outcome]:
    """A noisy count of 0 or 1 records at epsilon 1, drawn by the shipped sampler."""
    noisy = Secure().laplace(Lanes(0, np.arange(runs)), np.full(runs, int(joined)), Rate(1, 1))
    return [Outcome(None, {"count": value}) for value in noisy.tolist()]


def test_a_claim_that_holds_is_passed_and_nearly_reached() -> None:
    row = measure(Trial("a count", 1.0, counted), 8000)
    assert row.ok
    assert row.kind == "sampled"
    assert 0.85 < row.measured <= 1


def test_a_claim_that_is_too_small_fails() -> None:
    assert not measure(Trial("a count", 0.8, counted), 8000).ok


def test_a_flaw_that_does_no_harm_is_not_called_caught() -> None:
    row = measure(Trial("a count", 1.0, counted, breaks="nothing"), 2000)
    assert row.kind == "broken sampled"
    assert not row.ok


def test_the_event_is_chosen_on_separate_runs() -> None:
    """The answers are random, so what the first runs suggest does not hold in others."""
    asked: list[int] = []

    def draw(_joined: bool, runs: int) -> list[Outcome]:
        asked.append(runs)
        return [Outcome(word) for word in np.random.default_rng(len(asked)).integers(0, 10**6, runs).tolist()]

    assert measure(Trial("chance", 0.01, draw), 400, pilot=100).ok
    assert asked == [100, 100, 400, 400]


def test_a_trial_may_say_how_many_runs_it_needs() -> None:
    rows = run_statistical([Trial("a", 2.0, counted), Trial("b", 2.0, counted, runs=90)], runs=60)
    assert ["of 60 " in rows[0].note, "of 90 " in rows[1].note] == [True, True]


@pytest.mark.parametrize("trial", sampled_instances(), ids=lambda trial: trial.name)
def test_instances_by_the_real_samplers(trial: Trial) -> None:
    assert trial.runs
    row = measure(trial, trial.runs)
    assert row.ok, row


@pytest.mark.parametrize(
    ("instance", "claimed", "before", "after"),
    [
        ("I1", 1.0, 0.0109869426, 0.0474258732),
        ("I1, epsilon 1/2", 0.5, 1 / (1 + math.exp(9 / 4)), 1 / (1 + math.exp(6 / 4))),
        ("I5", 2 * math.log(2), 1 / 30, 4 / 15),
    ],
)
def test_the_runs_suffice_to_catch_the_published_forms(
    instance: str, claimed: float, before: float, after: float
) -> None:
    """At the stated number of runs the bound is expected near the claim. At four times as many it exceeds the claim,
    even if both numbers of hits are three standard deviations off to the wrong side."""
    runs = EXPECTED_RUNS[instance]
    assert epsilon_at_least(round(after * runs), round(before * runs), runs) == pytest.approx(claimed, rel=0.1)
    runs *= MARGIN
    few, many = scipy.stats.binom.ppf(0.00135, runs, after), scipy.stats.binom.ppf(0.99865, runs, before)
    assert epsilon_at_least(int(few), int(many), runs) > claimed - 0.01


# ---- the publisher --------------------------------------------------------------------------------------------------


NO_PAPER = ("mosaic", "baskets", "journeys", "families")


def test_every_method_is_tried_in_both_presets() -> None:
    names = [trial.name for trial in methods()]
    for method in METHODS:
        assert any(name.startswith(method) for name in names)
        assert method in NO_PAPER or any(name.startswith(f"{method} paper") for name in names)
        assert any(trial.name.startswith(method) for trial in broken_methods())
    everything = all_trials(broken_methods())
    assert len({trial.name for trial in everything}) == len(everything)
    assert any(trial.name.startswith("I15") and trial.breaks for trial in everything)


@pytest.mark.parametrize("trial", [*methods(), *broken_methods()], ids=lambda trial: trial.name)
def test_every_trial_runs_on_both_data_sets(trial: Trial) -> None:
    for joined in (False, True):
        outcomes = trial.draw(joined, 1)
        assert len(outcomes) == 1
        assert all(hash(outcome.shape) is not None for outcome in outcomes)


def named(trials: list[Trial], *names: str) -> list[Trial]:
    return [next(trial for trial in trials if trial.name == name) for name in names]


def test_a_method_in_short() -> None:
    row = measure(named(methods(), "degrees, unit node-isolate")[0], 80, pilot=40)
    assert row.ok
    assert row.measured > 0.3  # about 1.2 of 2 is expected


CAUGHT = ("rps: exact number of records released", "degrees: the true maximum degree as bound")


@pytest.mark.parametrize("trial", later(named(broken_methods(), *CAUGHT), {CAUGHT[0]}), ids=lambda trial: trial.name)
def test_flaws_of_the_publisher_are_caught(trial: Trial) -> None:
    assert trial.runs
    row = measure(trial, trial.runs)
    assert row.ok, row
    before = trial.draw(False, 1)  # the patch was removed again
    assert before


@pytest.mark.slow
def test_everything_at_length() -> None:
    assert [row for row in run_statistical(all_trials(broken_methods()), runs=300) if not row.ok] == []
