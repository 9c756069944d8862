"""Synthetic records as codes: their frame, and a CSV file that equals the one polars writes, byte for byte."""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.drawing import records
from cantle.drawing.records import Drawn, Results
from cantle.schema import Schema
from cantle.schema.domain import Attribute

AWKWARD = [
    "a",
    "b,c",
    'the "boss"',
    " left",
    "right ",
    "é漢字",
    "null",
    "1",
    "#",
    "a" * 40,
    "sixteen bytes ok",
    "\t",
]
FIELDS: list[dict[str, Any]] = [
    {"name": "whole", "type": "integer", "constraints": {"minimum": -5, "maximum": 300}},
    {"name": "far", "type": "integer", "constraints": {"minimum": -(10**12), "maximum": 10**12}, "step": 999},
    {"name": "wide, and quoted", "type": "integer", "constraints": {"minimum": -100_000, "maximum": 100_000}},
    {"name": "text", "type": "string", "categories": AWKWARD},
    {"name": "number", "type": "number", "constraints": {"minimum": -1, "maximum": 2}, "step": 0.1},
    {"name": "tiny", "type": "number", "constraints": {"minimum": 0, "maximum": 0.0001}, "step": 0.0000001},
    {"name": "day", "type": "date", "constraints": {"minimum": "1969-12-30", "maximum": "2000-01-01"}},
    {"name": "yes", "type": "boolean"},
    {"name": "rank", "type": "integer", "categories": [3, 1, 20]},
    {
        "name": "time",
        "type": "datetime",
        "constraints": {"minimum": "2000-01-01T00:00:00", "maximum": "2000-01-02T00:00:00"},
        "step": 60,
    },
]


def attributes(*fields: dict[str, Any]) -> tuple[Attribute, ...]:
    return Schema.from_dict({"fields": list(fields or FIELDS), "missingValues": ["NA"]}).domain().attributes


def some_records(kinds: tuple[Attribute, ...], n: int, seed: int = 0, *, compiled: bool = False) -> Drawn:
    generator = np.random.default_rng(seed)
    codes = (generator.integers(0, kind.grid + kind.nullable, n) for kind in kinds)
    return Drawn.of(
        [(kind, one.astype(np.min_scalar_type(kind.grid))) for kind, one in zip(kinds, codes, strict=True)],
        n,
        compiled=compiled,
    )


@pytest.fixture(params=[False, True], ids=["plain", "kernels"])
def compiled(request: Any) -> bool:
    if request.param:
        pytest.importorskip("numba")
    return bool(request.param)


@pytest.mark.parametrize("n", [0, 1, 3, 16383, 16384, 16385, 40000])
def test_the_file_equals_that_of_polars(tmp_path: Path, n: int, compiled: bool) -> None:
    drawn = some_records(attributes(), n, compiled=compiled)
    digest = drawn.write_csv(tmp_path / "ours.csv")
    drawn.frame().write_csv(tmp_path / "polars.csv", datetime_format="%Y-%m-%dT%H:%M:%S")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "polars.csv").read_bytes()
    assert digest == hashlib.sha256((tmp_path / "ours.csv").read_bytes()).hexdigest()


@pytest.mark.parametrize("field", range(len(FIELDS)))
def test_a_single_column_has_no_empty_lines(tmp_path: Path, field: int, compiled: bool) -> None:
    """Other readers would skip empty lines."""
    (kind,) = attributes(FIELDS[field])
    drawn = Drawn.of(
        [(kind, np.append(some_records((kind,), 500).codes[0], [kind.grid, kind.grid]))], 502, compiled=compiled
    )
    drawn.write_csv(tmp_path / "ours.csv")
    lines = (tmp_path / "ours.csv").read_text().splitlines()
    nulls = drawn.frame().to_series().null_count()
    assert nulls > 1
    assert (len(lines), lines.count(""), lines.count('""')) == (503, 0, nulls)


def test_values_with_line_ends_are_written_by_polars(tmp_path: Path, compiled: bool) -> None:
    lines = {"name": "l", "type": "string", "categories": ["two\nlines", "one\rreturn", "plain"]}
    long = {"name": "s", "type": "string", "categories": ["x" * 70_000, "y"]}
    for field in (lines, long):
        drawn = some_records(attributes(field, FIELDS[0]), 40, compiled=compiled)
        drawn.write_csv(tmp_path / "ours.csv")
        drawn.frame().write_csv(tmp_path / "polars.csv", datetime_format="%Y-%m-%dT%H:%M:%S")
        assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "polars.csv").read_bytes()


def test_plain_values_are_really_written_by_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(records, "LISTED", 1 << 20)  # the size of the finest grid
    drawn = some_records(attributes(), 50, compiled=True)
    monkeypatch.setattr(Drawn, "frame", lambda _: pytest.fail("polars was asked"))
    drawn.write_csv(tmp_path / "ours.csv")


def test_values_equal_the_decoded_codes() -> None:
    drawn = some_records(attributes(), 2000)
    frame = drawn.frame()
    assert len(drawn) == len(frame) == 2000
    for kind, codes in zip(drawn.attributes, drawn.codes, strict=True):
        again = kind.on_places.encode(frame[kind.name])
        assert again.tolist() == codes.tolist()


SCHEMA: dict[str, Any] = {"missingValues": ["NA"], "fields": [FIELDS[0], FIELDS[3], {**FIELDS[7], "role": "target"}]}


def test_a_release_makes_its_frame_when_first_used(tmp_path: Path) -> None:
    data = some_records(attributes(*SCHEMA["fields"][:2]), 300).frame()
    data = data.with_columns(yes=pl.Series([True, False, None] * 100))
    for method in ("rps", "diffgen"):
        releases = [cantle.publish(data, SCHEMA, epsilon=1, method=method, insecure_seed=3) for _ in range(3)]
        assert isinstance(releases[0].drawn, Drawn)
        assert isinstance(releases[0].records, pl.DataFrame)
        assert releases[0].records is releases[0].records
        pickled = pickle.loads(pickle.dumps(releases[2]))
        files = []
        for number, release in enumerate((*releases[:2], pickled)):
            release.save(tmp_path / f"{method}{number}")
            files.append({path.name: path.read_bytes() for path in (tmp_path / f"{method}{number}").iterdir()})
        assert files[0] == files[1] == files[2]
        assert releases[1].records.equals(releases[0].records)


def test_results_may_have_frames_instead_of_codes() -> None:
    frame = pl.DataFrame({"a": [1]})
    results = Results(frame, frame, {}, {})
    assert results.records is results.drawn is frame
