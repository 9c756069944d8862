"""cantle.toml and CANTLE_LEDGER: which default is used, and what `publish` prints without a ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interfaces.cli.inside import Cantle, cantle  # noqa: F401 - a fixture

SCHEMA = 'fields:\n  - {name: sex, type: string, categories: ["F", "M"], constraints: {required: true}}\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CANTLE_LEDGER", raising=False)
    (tmp_path / "t.csv").write_text("sex\n" + "F\nM\n" * 30)
    (tmp_path / "s.yaml").write_text(SCHEMA)
    return tmp_path


def test_without_a_ledger_earlier_releases_are_unknown(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    done = cantle("publish", "t.csv", "--schema", "s.yaml", "--epsilon", "1", "--insecure-seed", "1")
    assert (folder / "release").is_dir()
    assert done.err.count("earlier releases of this data are unknown") == 1


def test_the_file_in_the_working_folder_replaces_missing_options(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    text = 'schema = "s.yaml"\nepsilon = 0.25\nout = "week"\nledger = "l.db"\ndataset = "people"\n'
    (folder / "cantle.toml").write_text(text)
    assert cantle("ledger", "cap", "3").code == 0
    done = cantle("publish", "t.csv", "--insecure-seed", "1")
    assert done.code == 0, done.err
    assert "unknown" not in done.err
    assert "epsilon    0.25" in done.out
    assert (folder / "week").is_dir()
    assert cantle("publish", "t.csv", "--insecure-seed", "1", "--epsilon", "0.5", "-o", "other").code == 0
    spent = json.loads(cantle("ledger", "show", "--json").out)["datasets"][0]["spent"]
    assert float(spent) == 0.75
    assert cantle("check", "t.csv").code == 0
    assert cantle("plan", "--records", "60", "--json").out.count('"epsilon": 0.25') == 1
    for words in (["show"], ["verify"], ["sample", "-n", "3"], ["evaluate", "t.csv"], ["report"]):
        done = cantle(*words)
        assert done.code == 0, (words, done.err)
    page = (folder / "week" / "NOT-PRIVATE.report.html").read_text()
    assert "people" in page  # the account of the data set in the ledger


def test_options_win_over_the_file_and_the_file_over_the_environment(
    folder: Path,
    cantle: Cantle,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CANTLE_LEDGER", "environment.db")
    assert cantle("ledger", "create").code == 0
    (folder / "cantle.toml").write_text('ledger = "file.db"\n')
    assert cantle("ledger", "create").code == 0
    assert cantle("ledger", "create", "--ledger", "option.db").code == 0
    assert sorted(path.stem for path in folder.glob("*.db")) == ["environment", "file", "option"]
    done = cantle("publish", "t.csv", "--schema", "s.yaml", "--epsilon", "1")
    assert (done.code, "a ledger and a data set in it belong together" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "says"),
    [("ledgers = 3", "key 'ledgers' is not known"), ("epsilon =", "not valid TOML"), ("epsilon = [1]", "neither")],
)
def test_a_wrong_file_is_refused(folder: Path, cantle: Cantle, text: str, says: str) -> None:  # noqa: F811
    (folder / "cantle.toml").write_text(text)
    done = cantle("publish", "t.csv")
    assert (done.code, says in done.err) == (2, True)


def test_publish_says_which_columns_were_counted_in_ranges(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    wide = "{name: pay, type: integer, constraints: {minimum: 0, maximum: 9999, required: true}}"
    (folder / "s.yaml").write_text(f"{SCHEMA}  - {wide}\n")
    (folder / "t.csv").write_text("sex,pay\n" + "".join(f"{'FM'[i % 2]},{i * 37 % 5000}\n" for i in range(500)))
    done = cantle("publish", "t.csv", "--schema", "s.yaml", "--epsilon", "1", "--insecure-seed", "1")
    cells = json.loads((folder / "release" / "NOT-PRIVATE.release.json").read_text())["structure"]["cells"]["pay"]
    assert f"1 of 2 columns was counted in ranges of values: pay in {len(cells) - 1}\n" in done.out
    assert "ranges     1 of 2 columns was" in cantle("show").out  # the folder is where publish writes without -o


def test_options_that_are_set_nowhere_are_required(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    assert folder
    done = cantle("publish", "t.csv", "--schema", "s.yaml")
    assert done.code == 2
    assert '--epsilon is missing; give it, or write epsilon = "…" in cantle.toml' in done.err
