"""Canary values planted in the data appear in no message, log line, repr, traceback or file (privacy rule 1.2)."""

from __future__ import annotations

import io
import logging
import traceback
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cantle
from cantle.curator import Curator
from cantle.errors import CantleError
from tests.release.people import SCHEMA, people

WORD, NUMBER = "CanaryQx7", 7_031_931
BIRDS = (WORD.encode(), str(NUMBER).encode())


def planted(n: int = 60) -> pl.DataFrame:
    """People whose id, undeclared town, unreadable age and out-of-range weight are canaries."""
    table = people(n).cast({"age": pl.String, "weight": pl.String, "joined": pl.String, "seen": pl.String})
    bird = pl.int_range(pl.len()) % 7 == 0
    return table.with_columns(
        pl.when(bird).then(pl.lit(WORD)).otherwise(pl.col(name)).alias(name)
        for name in ("id", "age", "town", "grade", "joined", "seen", "ill")
    ).with_columns(weight=pl.when(bird).then(pl.lit(str(NUMBER))).otherwise("weight"))


def sources(folder: Path) -> dict[str, Any]:
    table = planted()
    table.write_csv(folder / "a.csv")
    table.write_parquet(folder / "a.parquet")
    text = (folder / "a.csv").read_bytes().splitlines()
    ragged = [
        *text[:3],
        text[3] + b"," + WORD.encode() * 3,
        WORD.encode(),
        b'"' + WORD.encode(),
        b"\xff\xfe" + WORD.encode(),
    ]
    (folder / "ragged.csv").write_bytes(b"\n".join(ragged) + b"\n")
    return {
        "csv": folder / "a.csv",
        "parquet": folder / "a.parquet",
        "ragged": folder / "ragged.csv",
        "polars": table,
        "pandas": table.to_pandas(),
        "pyarrow": table.to_arrow(),
    }


def bad_calls() -> list[dict[str, Any]]:
    return [
        {},
        {"insecure_seed": 1},
        {"method": "rps"},
        {"method": "rps", "preset": "paper", "depth": 6},
        {"method": "rps", "depth": 900, "epsilon": "0.000001"},
        {"method": "rps", "stop": "privtree:1", "stop_share": 0.000001},
        {"method": "rps", "values": "set"},
        {"method": "diffgen", "preset": "paper", "rounds": 900, "epsilon": "0.000001"},
    ]


@pytest.mark.parametrize("call", bad_calls(), ids=str)
@pytest.mark.parametrize("kind", ["csv", "parquet", "ragged", "polars", "pandas", "pyarrow"])
def test_no_canary_sings(call: dict[str, Any], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    logging.getLogger().addHandler(handler)
    logging.getLogger("cantle").setLevel(logging.DEBUG)
    source = sources(tmp_path)[kind]
    try:
        release = cantle.publish(source, SCHEMA, **({"epsilon": 1} | call))
        heard.write(repr(release) + str(release) + str(release.manifest))
        folder = release.save(tmp_path / "out")
        for path in folder.iterdir():
            assert not any(bird in path.read_bytes() for bird in BIRDS), path.name
    except CantleError as error:
        heard.write("".join(traceback.format_exception(error)) + repr(error))
    finally:
        logging.getLogger().removeHandler(handler)
    out = capsys.readouterr()
    text = (heard.getvalue() + out.out + out.err).encode()
    assert not any(bird in text for bird in BIRDS)


def test_a_wrong_header_is_told_without_a_record(tmp_path: Path) -> None:
    planted().drop("weight").write_csv(tmp_path / "short.csv")
    with pytest.raises(CantleError) as caught:
        cantle.publish(tmp_path / "short.csv", SCHEMA, epsilon=1)
    told = "".join(traceback.format_exception(caught.value)).encode()
    assert b"weight" in told
    assert not any(bird in told for bird in BIRDS)


def test_the_canaries_would_be_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test can fail: a curator that shows a count in its repr is caught by the same look."""
    seen: list[str] = []

    def talkative(_: Curator) -> str:
        return f"Curator(first={NUMBER})"

    monkeypatch.setattr(Curator, "__repr__", talkative)
    monkeypatch.setattr(Curator, "__exit__", lambda self, *_: seen.append(repr(self)))
    cantle.publish(people(20), SCHEMA, epsilon=1)
    assert any(bird in text.encode() for text in seen for bird in BIRDS)
