"""Canary values planted in the data appear in no message, log line, repr, traceback or file (privacy rule 1.2).

In tables: identifiers, undeclared categories, values that cannot be read. In sets: ids and undeclared items. In graphs:
the identifiers of all nodes.
"""

from __future__ import annotations

import io
import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import polars as pl
import pytest
import yaml

import cantle
from cantle.data import graphs, sets
from cantle.errors import CantleError, DataError
from cantle.release.show import overview, sections
from cantle.trusted.curator import Curator
from tests.effort import slow
from tests.interfaces.cli.inside import Cantle
from tests.interfaces.cli.inside import cantle as command  # noqa: F401 - a fixture
from tests.release.kinds import DEGREES, EDGE, GRAPH, ISOLATE, NUMBERS, WORDS, baskets, edges
from tests.release.people import SCHEMA, people

WORD, NUMBER = "CanaryQx7", 7_031_931_570_319  # so long that no hash or seed holds it by chance
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


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return sources(tmp_path_factory.mktemp("tables"))


KINDS = ["csv", "parquet", "ragged", "polars", "pandas", "pyarrow"]
EACH = [(kind, call) for kind in KINDS for call in bad_calls()]
SOME = [(kind, call) for kind, call in EACH if kind == "csv" or call == {}]
"""Whatever reads the table, and whatever fails after it: the two do not depend on each other."""


@pytest.mark.parametrize(
    ("kind", "call"), [*SOME, *(pytest.param(*one, marks=pytest.mark.slow) for one in EACH if one not in SOME)], ids=str
)
def test_no_canary_sings(
    call: dict[str, Any], kind: str, tables: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with listening(capsys) as heard:
        publish(tables[kind], SCHEMA, call, tmp_path / "out", heard)


@contextmanager
def listening(capsys: pytest.CaptureFixture[str]) -> Iterator[io.StringIO]:
    """Hears every log line of every level and whatever is printed; at the end there must have been no canary."""
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    logging.getLogger().addHandler(handler)
    logging.getLogger("cantle").setLevel(logging.DEBUG)
    try:
        yield heard
    finally:
        logging.getLogger().removeHandler(handler)
    out = capsys.readouterr()
    text = (heard.getvalue() + out.out + out.err).encode()
    assert not any(bird in text for bird in BIRDS)


def publish(source: Any, schema: Any, call: dict[str, Any], folder: Path, heard: io.StringIO) -> None:
    """Publishes, and tells all that a release or an error says of itself; no file may hold a canary."""
    try:
        release = cantle.publish(source, schema, **({"epsilon": 1} | call))
        heard.write(repr(release) + str(release) + str(release.manifest) + str(release.groups))
        heard.write(
            "".join(map(str, [*overview(release), *sections(release)])) + release.statement + release._repr_html_()
        )
        for path in release.save(folder).iterdir():
            assert not any(bird in path.read_bytes() for bird in BIRDS), path.name
    except CantleError as error:
        heard.write("".join(traceback.format_exception(error)) + repr(error))


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


# -------------------------------------------------------------------------------------------- sets and graphs


class Talkative:
    """An item or identifier that says what it is when it is shown, compared or counted."""

    def __repr__(self) -> str:
        return WORD

    def __hash__(self) -> int:
        raise ValueError(WORD)

    def __len__(self) -> int:
        raise ValueError(WORD)


def set_sources(folder: Path) -> dict[str, Any]:
    """Sets with undeclared items, and ids, that are canaries; and files that cannot be read and hold one."""
    sets = [[*one, WORD, str(NUMBER)] for one in baskets(NUMBERS, 60)]
    texts = [[str(item) for item in one] for one in sets]
    (folder / "sets.dat").write_bytes("".join(" ".join(one) + "\n" for one in texts).encode() + b"\xff" + BIRDS[0])
    rows = [(f"{WORD}{number}", item) for number, one in enumerate(texts) for item in one]
    long = pl.DataFrame(rows, schema=["id", "item"], orient="row")
    long.write_csv(folder / "sets.csv")
    lists = pl.DataFrame({"items": texts})
    lists.write_parquet(folder / "sets.parquet", compression="uncompressed")
    whole = (folder / "sets.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (folder / "other.csv").write_text(f"basket,product\n{WORD},{NUMBER}\n")
    return {
        "fimi": folder / "sets.dat",
        "long": folder / "sets.csv",
        "list": folder / "sets.parquet",
        "cut": folder / "cut.parquet",
        "other": folder / "other.csv",
        "polars": lists,
        "pandas": pd.DataFrame({"items": [*sets, WORD, NUMBER, None, {WORD: NUMBER}, Talkative()]}),
        "pandas long": long.to_pandas(),
        "pyarrow": long.to_arrow(),
        "python": [*sets, WORD, {WORD}, (NUMBER,), [Talkative(), [WORD]], Talkative()],
        "no sets": Talkative(),
    }


def graph_sources(folder: Path) -> dict[str, Any]:
    """Graphs whose nodes are called by canaries; and files that cannot be read and hold one."""
    pairs = [(f"{WORD}{one}", NUMBER + 10**14 * two) for one, two in edges(60)]
    frame = pl.DataFrame([(one, str(two)) for one, two in pairs], schema=["a", "b"], orient="row")
    frame.write_csv(folder / "edges.csv")
    lines = "".join(f"{one} {two}\n" for one, two in pairs)
    (folder / "edges.txt").write_bytes(lines.encode() + BIRDS[0] + b'\n"' + BIRDS[0] + b" \xff\n")
    (folder / "edges.mtx").write_bytes(b"%%MatrixMarket matrix coordinate\n" + BIRDS[1] + b" x\n")
    (folder / "edges.txt.gz").write_bytes(b"\x1f\x8b" + BIRDS[0])
    frame.write_parquet(folder / "edges.parquet", compression="uncompressed")
    whole = (folder / "edges.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    return {
        "text": folder / "edges.txt",
        "csv": folder / "edges.csv",
        "parquet": folder / "edges.parquet",
        "matrix": folder / "edges.mtx",
        "packed": folder / "edges.txt.gz",
        "cut": folder / "cut.parquet",
        "networkx": nx.Graph([*pairs, (WORD, (WORD, NUMBER))]),
        "pandas": frame.to_pandas(),
        "pairs": [*pairs, (WORD,), WORD, (Talkative(), NUMBER), ([WORD], None)],
        "no graph": Talkative(),
    }


@pytest.fixture(scope="module")
def baskets_made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return set_sources(tmp_path_factory.mktemp("sets"))


@pytest.fixture(scope="module")
def graphs_made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return graph_sources(tmp_path_factory.mktemp("graphs"))


@pytest.mark.parametrize("kind", [
    "fimi", "long", "list", "cut", "other", "polars", "pandas", "pandas long", "pyarrow", "python", "no sets",
])  # fmt: skip
@pytest.mark.parametrize("part", slow(["forms", "methods"], "methods"))
def test_no_canary_sings_among_sets(
    kind: str, part: str, baskets_made: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What reads the sets, and with `-m slow` each with all that may fail after it; by default that is for one kind."""
    source = baskets_made[kind]
    forms = [
        (NUMBERS, {}),
        (NUMBERS | {"form": "long"}, {}),
        (NUMBERS | {"form": "list", "column": "items"}, {}),
        (NUMBERS | {"form": "fimi"}, {}),
    ]
    ways = [
        (NUMBERS, {"insecure_seed": 1, "fill": False, "epsilon": 1000}),
        (WORDS, {"preset": "paper", "fanout": 3}),
        (NUMBERS, {"epsilon": "0.000000001"}),
        (NUMBERS, {"method": "rps"}),
    ]
    calls = ways if part == "methods" else [*forms, *ways] if kind == "python" else forms
    for number, (schema, call) in enumerate(calls):
        with listening(capsys) as heard:
            publish(source, schema, call, tmp_path / str(number), heard)


@pytest.mark.parametrize("kind", [
    "text", "csv", "parquet", "matrix", "packed", "cut", "networkx", "pandas", "pairs", "no graph",
])  # fmt: skip
def test_no_canary_sings_among_nodes(
    kind: str, graphs_made: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = graphs_made[kind]
    nodes = [f"{WORD}alone", NUMBER, Talkative(), None]
    calls = [
        (GRAPH, {}),
        (GRAPH, {"nodes": nodes, "insecure_seed": 1}),
        (GRAPH, {"mode": "rps", "epsilon": 1000}),
        (GRAPH | {"nodes": {"minimum": 0, "maximum": 9}}, {"preset": "paper"}),
        (ISOLATE, {"theta": 4}),
        (EDGE, {}),
        (EDGE, {"nodes": nodes}),
        (DEGREES, {}),
        (GRAPH | {"form": "matrix-market"}, {}),
        (GRAPH, {"method": "diffpart"}),
    ]
    for number, (schema, call) in enumerate(calls):
        with listening(capsys) as heard:
            publish(source, schema, call, tmp_path / str(number), heard)


def sung(folder: Path) -> list[str]:
    """Files below a folder that hold a canary."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in paths if any(bird in path.read_bytes() for bird in BIRDS)]


SCHEMAS = {"numbers": NUMBERS, "graph": GRAPH, "edge": EDGE, "degrees": DEGREES, "table": SCHEMA}


@pytest.mark.parametrize(
    ("kind", "schemas"),
    [
        ("sets", ("numbers",)),
        ("graph", ("graph", "table")),
        *(pytest.param(kind, tuple(SCHEMAS), marks=pytest.mark.slow) for kind in ("sets", "graph")),
    ],
)
def test_no_command_lets_a_canary_sing(
    kind: str,
    schemas: tuple[str, ...],
    tmp_path: Path,
    command: Cantle,  # noqa: F811
) -> None:
    made = set_sources(tmp_path) if kind == "sets" else graph_sources(tmp_path)
    inputs = {path.name for path in made.values() if isinstance(path, Path)}
    for name, schema in SCHEMAS.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(schema))
    assert set(sung(tmp_path)) == inputs
    told, releases = "", 0
    for data in sorted(inputs):
        for name in schemas:
            out = f"{data}-{name}"
            done = command("publish", data, "--schema", f"{name}.yaml", "--epsilon", "1", "-o", out, "--json")
            told += done.out + done.err
            if done.code:
                continue
            releases += 1
            for call in (("show", out), ("verify", out), ("sample", out, "-n", "9", "--json"),
                         ("graph", out, "-o", f"{out}.txt"), ("apply", out, data)):  # fmt: skip
                done = command(*call)
                told += done.out + done.err
        for call in (("init", data, "--kind", "sets"), ("init", data, "--kind", "graph"), ("verify", data),
                     ("show", data), ("publish", data, "--schema", data, "--epsilon", "1", "-o", "x")):  # fmt: skip
            done = command(*call)
            told += done.out + done.err
    assert releases >= len(schemas)
    assert not any(bird in told.encode() for bird in BIRDS)
    assert set(sung(tmp_path)) == inputs


@pytest.mark.parametrize("schema", [NUMBERS, GRAPH], ids=["sets", "graph"])
def test_a_talkative_reader_would_be_heard(
    schema: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def talkative(*_: object) -> None:
        raise DataError(f"the value {WORD} cannot be read")

    monkeypatch.setattr(sets, "read_baskets", talkative)
    monkeypatch.setattr(graphs, "read_graph", talkative)
    with pytest.raises(AssertionError), listening(capsys) as heard:
        publish([[1, 2]], schema, {}, tmp_path / "out", heard)
