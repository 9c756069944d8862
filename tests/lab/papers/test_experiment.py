"""`cantle experiment`: the paper's classification figures on a table of one's own."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cantle.errors import ParameterError
from cantle_lab.papers.experiment import OwnTable, experiment
from tests.interfaces.cli.inside import run

SCHEMA = """
fields:
  - {name: age, type: integer, constraints: {minimum: 18, maximum: 89}}
  - {name: town, type: string, categories: [Graz, Linz, Wien], unknown: drop}
  - {name: since, type: date, constraints: {minimum: 2000-01-01, maximum: 2020-12-31}}
  - {name: member, type: boolean}
  - {name: id, type: string, role: identifier}
  - {name: ill, type: integer, categories: [0, 1], role: target}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    dice = np.random.default_rng(3)
    n = 1_500
    age = dice.integers(18, 90, n)
    ill = (dice.random(n) < np.where(age > 60, 0.9, 0.1)).astype(int).astype(object)
    ill[:5] = ""
    town = dice.choice(["Graz", "Linz", "Wien"], n).astype(object)
    town[5:15] = "Oslo"
    pl.DataFrame(
        {
            "age": [None if i % 50 == 0 else int(one) for i, one in enumerate(age)],
            "town": [str(one) for one in town],
            "since": ["2010-05-01"] * n,
            "member": dice.choice(["true", "false", ""], n),
            "id": [str(i) for i in range(n)],
            "ill": [str(one) for one in ill],
        }
    ).write_csv(tmp_path / "t.csv")
    (tmp_path / "s.yaml").write_text(SCHEMA)
    return tmp_path / "t.csv", tmp_path / "s.yaml"


def test_records_that_the_schema_drops_are_left_out(files: tuple[Path, Path]) -> None:
    table = OwnTable.read(*files)
    assert len(table.frame) == 1_500 - 15
    assert table.document["fields"][-1] == {
        "name": "ill", "type": "string", "role": "target", "categories": ["0", "1"],
    }  # fmt: skip


def test_accuracy_lies_between_the_majority_and_raw_records(files: tuple[Path, Path], tmp_path: Path) -> None:
    said: list[str] = []
    paths = experiment(*files, tmp_path / "out", epsilons=(2.0,), rounds=(1, 3), repeats=2, seed=1, echo=said.append)
    rows = pl.read_csv(paths[0])
    by = {name: float(np.mean(part["value"].to_numpy())) for (name,), part in rows.group_by("series")}
    assert set(by) == {"raw", "majority", "h = 1", "h = 3", "diffgen, default", "mosaic", "epsilon 2"}
    assert by["majority"] < 0.75 < 0.84 < by["raw"]
    assert min(by["h = 1"], by["diffgen, default"], by["mosaic"]) > 0.84
    assert "accuracy by specialisations" in said[0]
    assert all(".internal" in path.name and stat.S_IMODE(path.stat().st_mode) == 0o600 for path in paths)
    assert paths[-1].suffix == ".png"


def test_the_command_marks_what_it_shows(files: tuple[Path, Path], tmp_path: Path) -> None:
    words = [
        "experiment",
        files[0].name,
        "--schema",
        files[1].name,
        "--epsilon",
        "1",
        "--rounds",
        "2",
        "--repeats",
        "1",
    ]
    done = run(*words, "--seed", "1", "--json", "-o", "a", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "INTERNAL" in done.stderr
    told = json.loads(done.stdout)
    assert told["internal"].startswith("INTERNAL")
    again = run(*words, "--seed", "1", "-o", "a", cwd=tmp_path)
    assert (again.returncode, "choose another -o folder" in again.stderr) == (1, True)
    run(*words, "--seed", "1", "-o", "b", cwd=tmp_path)
    assert (tmp_path / "a/experiment.internal.csv").read_bytes() == (
        tmp_path / "b/experiment.internal.csv"
    ).read_bytes()


@pytest.mark.parametrize(
    ("option", "value"), [("--epsilon", "0"), ("--epsilon", "a"), ("--rounds", "1.5"), ("--rounds", "")]
)
def test_lists_of_other_things_are_refused(option: str, value: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    done = run("experiment", files[0], "--schema", files[1], option, value, cwd=tmp_path)
    assert done.returncode == 2
    assert f"{option} takes positive numbers with commas" in done.stderr
    assert not (tmp_path / "experiment").exists()


def test_a_table_without_a_target_or_with_few_records_is_refused(files: tuple[Path, Path]) -> None:
    data, schema = files
    schema.write_text(SCHEMA.replace(", role: target", ""))
    with pytest.raises(ParameterError, match="with a role: target"):
        OwnTable.read(data, schema)
    schema.write_text(SCHEMA)
    data.write_text("\n".join(data.read_text().splitlines()[:25]))
    with pytest.raises(ParameterError, match="fewer than 30 records fit the schema"):
        OwnTable.read(data, schema)
