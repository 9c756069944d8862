"""Names of files without a privacy guarantee: releases by a known seed or an inferred schema, and records from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.effort import slow
from tests.interfaces.cli.inside import Cantle, cantle  # noqa: F401 - a fixture
from tests.release.kinds import GRAPH, NUMBERS, as_source, baskets, edge_file
from tests.release.people import SCHEMA, people

WITHOUT = {"seeded": ({}, ("--insecure-seed", "3")), "inferred": ({"guarantee": "none"}, ())}


def publish(cantle: Cantle, folder: Path, kind: str, why: str | None) -> None:  # noqa: F811
    """Publishes a table, sets or a graph as `out`, with or without a guarantee."""
    more, options = WITHOUT[why] if why else ({}, ())
    if kind == "table":
        people(60).write_csv(folder / "people.csv")
        data: Any = "people.csv"
    else:
        data = as_source(baskets(NUMBERS, 40), "fimi", folder) if kind == "sets" else edge_file(folder)
    schema = {"table": SCHEMA, "sets": NUMBERS, "graph": GRAPH}[kind]
    (folder / "s.json").write_text(json.dumps(schema | more, default=str))
    done = cantle("publish", data, "--schema", "s.json", "--epsilon", "1", "-o", "out", *options)
    assert done.code == 0, done.err


@pytest.mark.parametrize("why", WITHOUT)
@pytest.mark.parametrize("kind", slow(["table", "sets", "graph"], "sets"))
def test_files_from_a_release_without_guarantee_are_marked_by_name(
    tmp_path: Path,
    cantle: Cantle,  # noqa: F811
    kind: str,
    why: str,
) -> None:
    publish(cantle, tmp_path, kind, why)
    assert all(path.name.startswith("NOT-PRIVATE.") for path in (tmp_path / "out").iterdir())
    assert cantle("verify", "out").code == 0
    done = cantle("sample", "out", "-n", "3", "-o", "more.csv", "--json")
    assert not (tmp_path / "more.csv").exists()
    assert (tmp_path / "NOT-PRIVATE.more.csv").exists()
    facts = json.loads(done.out)
    assert (facts["file"], facts["private"]) == ("NOT-PRIVATE.more.csv", False)
    assert cantle("sample", "out", "-n", "3", "-o", "more.csv").code == 1  # never overwritten
    assert cantle("sample", "out", "-n", "3", "-o", "NOT-PRIVATE.again.csv").code == 0
    assert (tmp_path / "NOT-PRIVATE.again.csv").exists()
    if kind == "graph":
        assert cantle("graph", "out", "-o", "graph.txt").code == 0
        assert not (tmp_path / "graph.txt").exists()
        first = (tmp_path / "NOT-PRIVATE.graph.txt").read_text().splitlines()[0]
        assert first == f"# {facts['guarantee']}"


def test_files_from_a_private_release_keep_their_names(tmp_path: Path, cantle: Cantle) -> None:  # noqa: F811
    publish(cantle, tmp_path, "graph", None)
    assert not any(path.name.startswith("NOT-PRIVATE.") for path in (tmp_path / "out").iterdir())
    assert cantle("sample", "out", "-n", "3", "-o", "more.csv").code == 0
    assert json.loads(cantle("graph", "out", "-o", "graph.txt", "--json").out)["private"] is True
    assert (tmp_path / "more.csv").exists()
    assert "PRIVATE" not in (tmp_path / "graph.txt").read_text()


@pytest.mark.parametrize("made", [
    ("graph",), ("sample", "-n", "3"), ("query", "degree >= 1"), ("statement",)
])  # fmt: skip
def test_a_file_made_from_a_release_is_not_put_among_its_files(
    tmp_path: Path,
    cantle: Cantle,  # noqa: F811
    made: tuple[str, ...],
) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed (extra report)")
    publish(cantle, tmp_path, "graph", None)
    done = cantle(made[0], "out", *made[1:], "-o", "out/more.csv")
    assert done.code == 1
    assert "choose a file outside of its folder" in done.err
    assert cantle("verify", "out").code == 0
