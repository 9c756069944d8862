"""Compiled kernels compared with plain code: the same choices, draws and bytes."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.postprocess import counts as counting
from cantle.trusted import kernel_choice
from cantle.trusted.noise import Lanes, Rate, Runs, Seeded, samplers

pytest.importorskip("numba")

from tests.effort import examples, one_in  # noqa: E402

SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        {"name": "pay", "type": "integer", "constraints": {"minimum": 0, "maximum": 100_000}},
        {"name": "job", "type": "string", "categories": ["cook", "clerk", "smith, black", 'the "boss"', "é"]},
        {"name": "size", "type": "number", "constraints": {"minimum": 0, "maximum": 2}, "step": 0.25},
        {"name": "ok", "type": "string", "categories": ["yes", "no"], "role": "target"},
    ],
    "missingValues": ["", "?"],
    "delimiter": ";",
    "quoteChar": "",
}


@pytest.fixture
def no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_choice, "FROM", 10**18)


def people(n: int, seed: int = 0) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    age = generator.integers(0, 100, n)
    return pl.DataFrame(
        {
            "age": [str(a) if a % 11 else "?" for a in age.tolist()],
            "pay": (age * 700 + generator.integers(0, 30_000, n)).tolist(),
            "job": generator.choice(["cook", "clerk", "smith, black", 'the "boss"', "é", "none"], n).tolist(),
            "size": generator.choice(["0.1", "0.25", "1.99", "2e0", "x", ""], n).tolist(),
            "ok": np.where(age + generator.integers(0, 60, n) > 80, "yes", "no").tolist(),
        }
    )


# ---- choices ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [Rate(1, 10**9), Rate(7, 10), Rate(40, 1)], ids=str)
@pytest.mark.parametrize("shift", [samplers._SUM_SHIFT, 0], ids=["as it is", "all in doubt"])
@examples(12)
@given(data=st.data())
def test_kernels_choose_like_the_plain_sampler(rate: Rate, shift: int, data) -> None:
    sizes = data.draw(st.lists(st.integers(1, 30), min_size=1, max_size=6))
    total = sum(sizes)
    far = data.draw(st.sampled_from([5, 10**6, 2**62]))
    scores = np.array(data.draw(st.lists(st.integers(-far, far), min_size=total, max_size=total)))
    inverse = np.array(data.draw(st.lists(st.integers(1, 300), min_size=total, max_size=total)))
    ends = sorted(data.draw(st.lists(st.integers(0, total), max_size=total - 1)))
    runs = Runs(inverse[: len(ends) + 1], np.diff([0, *ends, total]))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    lanes, rate_per_segment = Lanes(3, np.arange(len(sizes))), Rate(np.full(len(sizes), rate.num), rate.den)
    chosen = []
    for noise in (Seeded(5), Seeded(5, compiled=True)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(samplers, "_SUM_SHIFT", shift)
            for rates in (rate, rate_per_segment):
                chosen.append([noise.select(lanes, scores, starts, rates, w).tolist() for w in (inverse, runs)])
                assert noise.select(lanes, scores, starts, rates, runs.spelled()).tolist() == chosen[-1][1]
    assert all(rates == chosen[0] for rates in chosen)


@pytest.mark.parametrize("margin", [samplers._MARGIN, 0.3], ids=["as it is", "much in doubt"])
@examples(8)
@given(seed=st.integers(0, 2**40), den=st.sampled_from([1, 7, 10**3, 10**9, 10**15]), alike=st.booleans())
def test_kernels_draw_the_same_noise_as_the_plain_sampler(margin: float, seed: int, den: int, alike: bool) -> None:
    generator = np.random.default_rng(seed)
    num = generator.integers(1, 2 * den + 2, 100)
    lanes, rate = Lanes(3, np.arange(100)), Rate(int(num[0]) if alike else num, den)
    noisy = []
    for noise in (Seeded(seed), Seeded(seed, compiled=True)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(samplers, "_MARGIN", margin)
            one_sided = noise._tails(lanes, rate, 1 << 32, two_sided=False)[0]
            noisy.append((noise.laplace(lanes, np.arange(100), rate).tolist(), one_sided.tolist()))
    assert noisy[0] == noisy[1]


def test_runs_that_do_not_cover_the_candidates_are_refused() -> None:
    for noise in (Seeded(5), Seeded(5, compiled=True)):
        for times in ([1, 1], [1, 3]):
            runs = Runs(np.array([1, 2]), np.array(times))
            with pytest.raises(ValueError, match="cover all candidates"):
                noise.select(Lanes(3, np.arange(1)), np.zeros(3, np.int64), np.array([0, 3]), Rate(1, 1), runs)


# ---- draws ------------------------------------------------------------------------------------------------------


@examples(12)
@given(seed=st.integers(0, 2**32), many=st.sampled_from([3, 40, 4000]))
def test_kernels_draw_the_same_codes_as_plain_code(seed: int, many: int) -> None:
    generator = np.random.default_rng(seed)
    size, regions = int(generator.integers(1, 400)), int(generator.integers(1, 8))
    lo = generator.integers(0, size, regions)
    hi = lo + 1 + generator.integers(0, size - lo)
    counts = generator.integers(0, many, regions)
    f = generator.uniform(0, 2, size) * (generator.random(size) < generator.random())
    row = generator.integers(0, regions, many).astype(np.int32)
    drawn = []
    for compiled in (False, True):
        dice = counting.public_dice(seed + 1, compiled=compiled)
        codes = counting.draw_codes(f, lo, hi, counts, dice)
        uniform = counting.draw_uniform(lo, hi, row, size, dice)
        wide = counting.draw_uniform(lo << 20, hi << 20, row, size << 20, dice)
        drawn.append((codes.dtype, codes.tolist(), uniform.dtype, uniform.tolist(), wide.dtype, wide.tolist()))
    assert drawn[0] == drawn[1]


@examples(24)
@given(seed=st.integers(0, 2**32))
def test_kernels_fit_the_same_masses_as_plain_code_to_the_last_bit(seed: int) -> None:
    generator = np.random.default_rng(seed)
    size, regions = int(generator.integers(1, 60)), int(generator.integers(0, 200))
    lo = generator.integers(0, size, regions)
    hi = lo + 1 + generator.integers(0, size - lo)
    weight = generator.integers(0, 50, regions).astype(float)
    target = generator.uniform(0, 2, size) * (generator.random(size) < generator.random()) * weight.sum() / size
    fitted = [counting.fit_values(target, lo, hi, weight, compiled=compiled).tobytes() for compiled in (False, True)]
    assert fitted[0] == fitted[1]


# ---- whole runs -------------------------------------------------------------------------------------------------


RUNS = [
    {"method": "rps", "depth": 6},
    {"method": "rps", "depth": 7, "stop": "count:5", "stop_share": "1/2", "quality": "balance"},
    {"method": "rps", "preset": "paper", "depth": 8},
    {"method": "diffgen"},
    {"method": "diffgen", "preset": "paper", "rounds": 3},
]


def files(folder: Path, data: Any, run: dict[str, Any]) -> dict[str, bytes]:
    release = cantle.publish(data, SCHEMA, epsilon=2, insecure_seed=11, **run)
    release.save(folder / "release")
    release.verify()
    return {path.name: path.read_bytes() for path in sorted((folder / "release").iterdir())}


@pytest.mark.parametrize("run", one_in(2, RUNS), ids=str)
def test_the_same_seed_gives_the_same_bytes_with_and_without_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: dict[str, Any]
) -> None:
    people(1000).write_csv(tmp_path / "people.csv", quote_style="never", separator=";")
    releases = []
    for name, first in (("plain", 10**18), ("kernels", 0)):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(kernel_choice, "FROM", first)
        releases.append(files(tmp_path / name, tmp_path / "people.csv", run))
    assert releases[0] == releases[1]


@pytest.mark.usefixtures("no_kernels")
def test_small_data_needs_no_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither numba nor llvmlite is imported, even if they are installed."""
    real = builtins.__import__

    def guarded(name: str, *rest: Any) -> Any:
        assert name.split(".")[0] not in ("numba", "llvmlite")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", guarded)
    cantle.publish(people(200), SCHEMA, epsilon=1, method="rps").save(tmp_path / "r")
