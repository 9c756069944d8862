"""No error carries a library's exception: its text may quote a value, and `from None` would only hide it."""

from __future__ import annotations

import ast
import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cantle
from cantle.data.sets import read_baskets
from cantle.data.tables import column_types, read_columns
from cantle.errors import CantleError, DataError, raise_alone, replacing
from cantle.schema import Schema
from cantle.schema.identifier_lines import pieces

SOURCES = Path(cantle.__file__).parent
TABLE = Schema.from_dict({"fields": [{"name": "a", "type": "string", "categories": ["x"]}]})
SETS = Schema.from_dict({"kind": "sets", "items": ["x"]})


def raised(tree: ast.AST) -> Iterator[ast.Raise]:
    """The raise statements inside except blocks, except those that raise the caught error again."""
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    return (
        node
        for handler in handlers
        for node in ast.walk(handler)
        if isinstance(node, ast.Raise) and node.exc is not None
    )


def test_nothing_is_raised_inside_except_blocks() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py")}
    places = {
        f"{path.relative_to(SOURCES)}:{node.lineno}"
        for path, text in texts.items()
        if "except" in text and "raise " in text
        for node in raised(ast.parse(text))
    }
    assert not places, "use raise_alone(error), or raise after the block"


def test_the_search_finds_raise_statements() -> None:
    code = "try:\n    f()\nexcept ValueError:\n    raise\nexcept OSError:\n    raise KeyError from None\n"
    assert [node.lineno for node in raised(ast.parse(code))] == [6]


def traces(error: BaseException) -> list[BaseException]:
    """Exceptions that can be reached from an error: causes, contexts, and variables of the functions it passed."""
    found, trace = (
        [exception for exception in (error.__cause__, error.__context__) if exception is not None],
        error.__traceback__,
    )
    while trace is not None:
        found += [value for value in trace.tb_frame.f_locals.values() if isinstance(value, BaseException)]
        trace = trace.tb_next
    return [exception for exception in found if not isinstance(exception, CantleError)]


def inside_a_context_manager(_: Path) -> None:
    with replacing(ValueError, lambda _: DataError("fixed words")):
        raise ValueError("CANARY")


@contextmanager
def nested() -> Iterator[None]:
    with replacing(ValueError, lambda _: DataError("fixed words")):
        pass
    yield


def inside_a_generator_that_replaces_nothing(_: Path) -> None:
    with nested(), replacing(ValueError, lambda _: DataError("fixed words")):
        raise ValueError("CANARY")


def ledger_of_text(folder: Path) -> None:
    (folder / "l.db").write_text("CANARY " * 1000)
    cantle.Ledger(folder / "l.db").accounts()


def inside_a_generator(folder: Path) -> None:
    (folder / "g.gz").write_bytes(gzip.compress(b"CANARY 1\n" * 500)[:-12])
    list(pieces(folder / "g.gz"))


def truncated_parquet(folder: Path) -> Path:
    pl.DataFrame({"a": ["CANARY"] * 100}).write_parquet(folder / "t.parquet")
    content = (folder / "t.parquet").read_bytes()
    (folder / "t.parquet").write_bytes(content[: len(content) // 2])
    return folder / "t.parquet"


class Strange:
    """An object that is no frame, and whose exceptions quote a value."""

    @property
    def shape(self) -> Any:
        raise RuntimeError("CANARY")

    def __dataframe__(self) -> Any:
        raise RuntimeError("CANARY")


def duckdb_of_text(folder: Path) -> None:
    pytest.importorskip("duckdb")
    from cantle.data.arrow_batches import read_database

    (folder / "t.duckdb").write_text("CANARY")
    list(read_database(folder / "t.duckdb", "t", ["a"]))


FAILURES: dict[str, Callable[[Path], Any]] = {
    "context manager": inside_a_context_manager,
    "two context managers": inside_a_generator_that_replaces_nothing,
    "ledger": ledger_of_text,
    "packed edges": inside_a_generator,
    "parquet": lambda folder: read_columns(truncated_parquet(folder), TABLE),
    "types of a parquet file": lambda folder: column_types(truncated_parquet(folder)),
    "sets in parquet": lambda folder: read_baskets(truncated_parquet(folder), SETS),
    "frame": lambda _: read_columns(Strange(), TABLE),
    "duckdb": duckdb_of_text,
    "parameter": lambda _: cantle.publish(pl.DataFrame({"a": ["x"]}), TABLE, epsilon=1, method="rps", depth="CANARY"),
    "release": lambda folder: cantle.Release.load(folder),
}


@pytest.mark.parametrize("name", FAILURES)
def test_errors_carry_no_other_exception(name: str, tmp_path: Path) -> None:
    with pytest.raises(CantleError) as caught:
        FAILURES[name](tmp_path)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert traces(caught.value) == []


def hidden() -> None:
    try:
        raise ValueError("CANARY")
    except ValueError:
        raise DataError("fixed words") from None


@contextmanager
def generated() -> Iterator[None]:
    try:
        yield
    except ValueError:
        raise_alone(DataError("fixed words"))


def test_a_generator_would_carry_the_exception() -> None:
    """This is why `replacing` is a class: contextlib keeps the exception in a variable."""
    with pytest.raises(DataError) as caught, generated():
        raise ValueError("CANARY")
    assert [str(exception) for exception in traces(caught.value)] == ["CANARY"]


def test_errors_of_cantle_are_not_replaced() -> None:
    with pytest.raises(DataError, match="first words"), replacing(Exception, lambda _: CantleError("second words")):
        raise DataError("first words")


def test_from_none_would_carry_the_exception() -> None:
    """This is why the rule is needed: `from None` keeps the context."""
    with pytest.raises(DataError) as caught:
        hidden()
    assert "CANARY" in str(caught.value.__context__)
    assert [str(exception) for exception in traces(caught.value)] == ["CANARY"]
