"""Compiled kernels compared with plain code: the same draws and bytes."""

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
from cantle import kernel_choice
from cantle.drawing import counts as counting

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
    drawn = []
    for compiled in (False, True):
        dice = counting.public_dice(seed + 1, compiled=compiled)
        codes = counting.Strata(counts).draw(f, lo, hi, dice)
        drawn.append((codes.dtype, codes.tolist()))
    assert drawn[0] == drawn[1]


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
