"""Sequences as lines, lists, long tables with an order, and event logs; D' has one more sequence, at any position.

Rows of a long table are given in any order, with ties, blanks and unreadable times. A row that has no place, no id or
no declared symbol adds nothing.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from xml.sax.saxutils import quoteattr

import pandas as pd

from cantle.data.engine_choice import OPENERS, EngineChoice
from cantle.methods.journeys.method import Journeys
from tests.neighbours.batches import PAIRS, each_adds_at_most
from tests.neighbours.csvfiles import ENDS, SAFE
from tests.neighbours.filed_sets import ITEMS, write_halves
from tests.neighbours.frames import write_parquet
from tests.neighbours.identifiers import AWKWARD, INFERRED, NO_TEXT, NOBODY, TEXT, cast
from tests.neighbours.law import Codes, Form, Pair, Unbuildable, adds_at_most, files, inserted
from tests.neighbours.reading import schema_of
from tests.neighbours.sets import PLAIN, TOKENS, UNIVERSES, _collections
from tests.neighbours.values import ANY

TIMES: dict[str, list[Any]] = {
    "integer": ["1", "2", "2", "10", "-3", "", "x", "9" * 30, "1.5", " 4"],
    "number": ["1.5", "2", "-0.0", "0", "1e9", "inf", "nan", "", "x"],
    "date": ["2024-01-02", "2024-01-10", "2024-13-01", "", "x", "2024-01-02T10:00:00"],
    "datetime": ["2024-01-02 10:00:00", "2024-01-02T10:00:00.25", "2024-01-02T12:00:00+02:00", "2024-01-01", "", "?"],
}
VALUES: dict[str, list[Any]] = {
    "integer": [1, 2, 2, 10, -3, None, float("nan"), 2**53 + 1, 2**53, True, "4", "x", 1.5],
    "number": [1.5, 2, -0.0, 0, None, float("inf"), "3", "x", True],
    "date": [pd.Timestamp("2024-01-02"), pd.Timestamp("2024-01-10 11:00"), None, "2024-01-03", 5, "x"],
    "datetime": [pd.Timestamp("2024-01-02 10:00:00.25"), pd.Timestamp("2024-01-02"), None, pd.NaT, "2024-01-01", 7],
}
WORDS = ["1", "Ash", "true", "é", "1.5", "x", "2", "3"]


def read_by(engine: str) -> Callable[[dict[str, Any], Any], Codes]:
    """A reader through an engine; the sequences as tuples of codes."""

    def read(document: dict[str, Any], data: Any) -> Codes:
        schema, choice = schema_of(document), EngineChoice(engine)
        opener = OPENERS[schema.kind]
        opener.refuse_early(data, schema, choice, None)
        _, made = opener.open_engine(data, schema, Journeys(schema), choice, None)  # type: ignore[arg-type]
        try:
            records = made._records.everything()  # type: ignore[attr-defined]
            ends, held = records.starts.tolist(), records.codes.tolist()
            return Counter(tuple(held[a:b]) for a, b in zip(ends[:-1], ends[1:], strict=True))
        finally:
            made.close()

    return read


def _schema(dice: Random, **more: Any) -> dict[str, Any]:
    return {"kind": "sequences", "items": dice.choice(UNIVERSES), "max_length": dice.choice([2, 3, 1000])} | more


def _pair(schema: dict[str, Any], one: Any, two: Any, shown: str, most: int = 1) -> Pair:
    return Pair(schema, one, two, adds_at_most(most), f"{schema} {shown}")


def lines(dice: Random, folder: Path) -> Pair:
    encoding, end = dice.choice(SAFE), dice.choice(ENDS).encode()
    texts = [b" ".join(dice.choices(TOKENS, k=dice.randint(0, 6))) for _ in range(dice.randint(1, 5))]
    both = [end.join([*part, b""]) for part in (texts[1:], inserted(dice, texts[1:], texts[:1]))]
    wide = "16" in encoding or "32" in encoding
    both = [text.decode("latin-1").encode(encoding, "replace") if wide else text for text in both]
    return _pair(_schema(dice, dialect={"encoding": encoding}), *files(folder, "data.seq", *both), repr(both))


def python(dice: Random, _folder: Path) -> Pair:
    both = _collections(dice)
    return _pair(_schema(dice), *both, repr(both))


Rows = list[tuple[Any, Any, Any]]


def _rows(dice: Random, known: Any, nobody: list[Any], times: list[Any], symbols: list[Any]) -> tuple[Rows, Rows]:
    """Rows (id, time, symbol) of D and D'; D' also has the rows of one more sequence, or rows of no sequence."""
    cases, newcomer = cast(dice, known, 4)

    def rows(ids: list[Any]) -> Rows:
        return [(dice.choice(ids), dice.choice(times), dice.choice(symbols)) for _ in range(dice.randint(1, 5))]

    before = [row for case in cases for row in rows(case)]
    dice.shuffle(before)
    return before, inserted(dice, before, rows(nobody if dice.random() < 0.3 else newcomer))


def _order(dice: Random) -> dict[str, str]:
    return {"column": "time", "type": dice.choice([*TIMES])}


def long_csv(dice: Random, folder: Path) -> Pair:
    order, end = _order(dice), dice.choice(ENDS)
    rows = _rows(dice, TEXT, NO_TEXT, TIMES[order["type"]], WORDS)
    texts = [end.join(["id,time,item", *(",".join(row) for row in part), ""]).encode() for part in rows]
    schema = _schema(dice, order=order, missingValues=["", "?"])
    return _pair(schema, *files(folder, "data.csv", *texts), repr(texts))


def long_pandas(dice: Random, _folder: Path) -> Pair:
    """pandas chooses the type of the order by all rows."""
    order = _order(dice)
    rows = _rows(dice, INFERRED, NOBODY, VALUES[order["type"]], dice.choice([PLAIN, ANY]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one, two = (pd.DataFrame(part, columns=["id", "time", "item"]) for part in rows)
    except Exception as error:
        raise Unbuildable from error
    return _pair(
        _schema(dice, order=order), one, two, f"{rows} {list(map(str, one.dtypes))} {list(map(str, two.dtypes))}"
    )


def long_parquet(dice: Random, folder: Path) -> Pair:
    import polars as pl

    rows = _rows(dice, TEXT, [None], [1, 2, 2, 5, None], ["1", "Ash", "x", None])
    kinds = {"id": pl.String, "time": pl.Int64, "item": pl.String}
    paths = files(folder, "data.parquet", b"", b"")
    for part, path in zip(rows, paths, strict=True):
        write_parquet(pl.DataFrame(part, schema=kinds, orient="row"), path)
    order = {"column": "time", "type": dice.choice(["integer", "number"])}
    return _pair(_schema(dice, order=order), *paths, repr(rows))


def _trace(dice: Random) -> str:
    def event() -> str:
        name, time = dice.choice([*WORDS, "&", "<", '"']), dice.choice(TIMES["datetime"])
        inside = f'<string key="concept:name" value={quoteattr(name)}/>' if dice.random() < 0.9 else ""
        inside += f'<date key="time:timestamp" value={quoteattr(time)}/>' if dice.random() < 0.8 else ""
        inside += '<string key="org" value="x"><string key="concept:name" value="1"/></string>'
        return f"<event>{inside}</event>"

    return f'<trace><string key="concept:name" value="1"/>{"".join(event() for _ in range(dice.randint(0, 4)))}</trace>'


def xes(dice: Random, folder: Path) -> Pair:
    traces = [_trace(dice) for _ in range(dice.randint(1, 5))]
    both = [f"<log>{''.join(part)}</log>".encode() for part in (traces[1:], inserted(dice, traces[1:], traces[:1]))]
    more = {"form": "xes", "order": {"column": "time:timestamp", "type": "datetime"}} if dice.random() < 0.5 else {}
    return _pair(_schema(dice, **more), *files(folder, "data.xes", *both), repr(both))


def persons(dice: Random, folder: Path) -> Pair:
    """D' has all rows of one more person; at most two sequences of each are used."""
    order, columns = {"column": "time", "type": "integer"}, "who,id,time,item"

    def row(who: int) -> str:
        return f"p{who},{dice.choice('abc')},{dice.choice(TIMES['integer'])},{dice.choice(WORDS)}"

    people = [[row(who) for _ in range(dice.randint(1, 9))] for who in range(dice.randint(1, 4))]
    before = [row for rows in people[1:] for row in rows]
    dice.shuffle(before)
    both = ["\n".join([columns, *part, ""]).encode() for part in (before, inserted(dice, before, people[0]))]
    schema = _schema(dice, order=order, unit={"person": "who", "max_records": 2})
    return _pair(schema, *files(folder, "data.csv", *both), repr(both), most=2)


LONG = "sequences, long tables"
FORMS = [
    Form("sequences, lines", "memory", lines, read_by("memory")),
    Form("sequences, Python lists", "memory", python, read_by("memory"), 500),
    Form("sequences, long CSV", "memory", long_csv, read_by("memory"), 150, LONG),
    Form("sequences, long pandas", "memory", long_pandas, read_by("memory"), 250, LONG),
    Form("sequences, long Parquet", "memory", long_parquet, read_by("memory"), 75, LONG),
    Form("sequences, XES", "memory", xes, read_by("memory"), 450),
    Form("sequences, persons", "memory", persons, read_by("memory"), 425),
]


def halves_in_batches(dice: Random, folder: Path) -> Pair:
    """Many pairs as a single pair of long tables in folders of two files, which share sequences; the earliest symbol is
    the number of the pair. D' also has one more sequence per pair, or rows that belong to no sequence."""
    import polars as pl

    def rows(pair: int, case: str | None) -> Rows:
        events = [(case, dice.choice([1, 2, 2, 5, None]), dice.choice(ITEMS)) for _ in range(dice.randint(0, 4))]
        return [(case, 0, pair), *events]

    one, more = Rows(), Rows()
    for pair in range(PAIRS):
        newcomer, *others = dice.sample(AWKWARD, 4)
        one += [row for name in others for row in rows(pair, f"{pair}.{name}")]
        more += rows(pair, dice.choice([f"{pair}.{newcomer}", f"{pair}.{newcomer}", None]))
    dice.shuffle(one)
    both, inputs = (one, inserted(dice, one, more)), []
    for part, held in zip(("one", "two"), both, strict=True):
        (folder / part).mkdir(exist_ok=True)
        kinds = {"id": pl.String, "time": pl.Int64, "item": pl.Int64}
        inputs.append(write_halves(pl.DataFrame(held, schema=kinds, orient="row"), folder / part))
    items, order = {"minimum": 0, "maximum": PAIRS + 8}, {"column": "time", "type": "integer"}
    schema = _schema(dice, items=items, order=order, form="long")
    return Pair(schema, *inputs, lambda one, two: each_adds_at_most(1, one, two), repr(both))


def spark_forms() -> list[Form]:
    """Sequences in Spark, whose workers collect and sort the rows of each sequence."""
    return [Form("sequences, long Parquet", "spark", halves_in_batches, read_by("spark"), PAIRS, LONG, PAIRS)]


def duckdb_forms() -> list[Form]:
    read = read_by("duckdb")
    return [
        Form("sequences, long CSV", "duckdb", long_csv, read, 75, LONG),
        Form("sequences, long Parquet", "duckdb", long_parquet, read, 75, LONG),
        Form("sequences, several files", "duckdb", halves_in_batches, read, 100, LONG, PAIRS),
        Form("sequences, XES", "duckdb", xes, read, 50),
        Form("sequences, persons", "duckdb", persons, read, 75),
    ]
