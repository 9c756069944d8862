"""Where the noise of `publish` comes from: the operating system, or a seed that is asked for and stated."""

from __future__ import annotations

import os
from typing import Any

import pytest

import cantle
from cantle.interfaces import publishing
from cantle.trusted.noise import Noise, Secure, Seeded, sources
from tests.release.kinds import EDGE, NUMBERS, baskets, edges
from tests.release.people import SCHEMA, people

FEW = {"kind": "sets", "items": {"minimum": 1, "maximum": 10}}
CASES: dict[str, tuple[Any, Any]] = {
    "mosaic": (people(60), SCHEMA),
    "rps": (people(60), SCHEMA),
    "diffgen": (people(60), SCHEMA),
    "diffpart": ([[item for item in one if item < 11] for one in baskets(NUMBERS, 60)], FEW),
    "baskets": (baskets(NUMBERS, 60), NUMBERS),
    "degrees": (edges(60), EDGE),
}


def noisy_numbers(method: str, **more: Any) -> dict[str, list[int]]:
    data, schema = CASES[method]
    release = cantle.publish(data, schema, epsilon=1, method=method, **more)  # type: ignore[arg-type]
    frames = {"groups": release.groups, **release.frames}
    return {name: frame["noisy"].to_list() for name, frame in frames.items() if "noisy" in frame.columns}


@pytest.mark.parametrize("method", CASES)
def test_two_releases_of_the_same_data_have_different_noise(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The public dice are the same in both, so only the noise differs; each seed has noise of its own."""
    monkeypatch.setattr(publishing, "fresh_seed", lambda: 0)
    runs = [noisy_numbers(method) for _ in range(2)] + [noisy_numbers(method, insecure_seed=seed) for seed in (0, 1)]
    assert len({repr(run) for run in runs}) == 4
    assert repr(noisy_numbers(method, insecure_seed=1)) == repr(runs[3])


@pytest.mark.real_entropy
def test_noise_is_secure_unless_a_seed_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[Noise]()
    noise_of = publishing._noise

    def noted(*given: Any) -> Noise:
        made.append(noise_of(*given))
        return made[-1]

    monkeypatch.setattr(publishing, "_noise", noted)
    assert sources.os is os
    noisy_numbers("rps")
    noisy_numbers("rps", insecure_seed=3)
    assert [type(one) for one in made] == [Secure, Seeded]
