"""Event logs in XES (IEEE 1849), the XML of process mining: a log holds traces, a trace holds events.

The symbol of an event is the text under the key that the schema calls `item` (`concept:name` by default). Events keep
the order of the file, which is their order by the standard; if the schema declares an `order`, they are sorted by the
value under that key (such as `time:timestamp`). Each trace is read by itself, and nothing else of the file is used.
The parser reads the file in pieces, and refuses document types, so that no entity can be declared or expanded.
"""

from __future__ import annotations

import codecs
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

import numpy as np
import polars as pl

from cantle.errors import DataError, raise_alone
from cantle.schema.file_bytes import pieces
from cantle.schema.items import Codes
from cantle.schema.sets import UNREAD, SetSchema
from cantle.trusted.geometry.boxes import Ints

SYMBOL = "concept:name"
TIME = "time:timestamp"
_DAMAGED = "is not a readable XES file, or is truncated; write it again, without a document type."


class _Refused(Exception):
    """A document type, which could declare entities."""


class _Events:
    """Collects the symbol and the place of each event."""

    def __init__(self, symbol: str, place: str | None) -> None:
        self._symbol, self._place, self._depth, self.trace = symbol, place, 0, -1
        self._inside: list[str] = []
        self._event: dict[str, str] = {}
        self.traces, self.symbols, self.places = list[int](), list[str | None](), list[str | None]()

    def taken(self, number: int) -> tuple[list[int], list[str | None], list[str | None]]:
        """The first events, which are kept no longer. Those of the last trace wait until no more can follow."""
        first = self.traces[:number], self.symbols[:number], self.places[:number]
        del self.traces[:number], self.symbols[:number], self.places[:number]
        return first

    def start(self, name: str, values: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        self._inside.append(name)
        if self._inside == ["log", "trace"]:
            self.trace += 1
        elif self._inside == ["log", "trace", "event"]:
            self._event = {}
        elif len(self._inside) == 4 and self._inside[:3] == ["log", "trace", "event"]:
            key = values.get("key")
            if key in (self._symbol, self._place):
                self._event.setdefault(str(key), values.get("value", ""))

    def end(self, _: str) -> None:
        if self._inside == ["log", "trace", "event"]:
            self.traces.append(self.trace)
            self.symbols.append(self._event.get(self._symbol))
            self.places.append(self._event.get(str(self._place)))
        self._inside.pop()


def read_xes(path: Path, schema: SetSchema) -> Iterator[tuple[Ints, Codes]]:
    """For each event of whole traces, in their order: its trace and its code, -1 if it is not declared."""
    events = _Events(schema.item or SYMBOL, None if schema.ordered_by is None else schema.ordered_by.column)
    parser = expat.ParserCreate("utf-8")
    decoder = codecs.getincrementaldecoder("utf-8")("replace")  # undecodable bytes spoil their own value only
    parser.StartElementHandler, parser.EndElementHandler = events.start, events.end
    parser.StartDoctypeDeclHandler = _refuse
    try:
        for piece in pieces(path, schema.dialect.encoding):
            parser.Parse(decoder.decode(piece), False)
            yield _records(events.taken(bisect_left(events.traces, events.trace)), schema)
        parser.Parse("", True)
    except (expat.ExpatError, _Refused):
        raise_alone(DataError(f"{path.name!r} {_DAMAGED}"))
    yield _records(events.taken(len(events.traces)), schema)


def _refuse(*_: object) -> None:
    raise _Refused


def _records(events: tuple[list[int], list[str | None], list[str | None]], schema: SetSchema) -> tuple[Ints, Codes]:
    """The traces and codes of events, in the order of each trace."""
    traces, codes = np.array(events[0], np.int64), schema.universe.encode(pl.Series(events[1], dtype=pl.String))
    if schema.ordered_by is None:
        return traces, codes
    places = schema.ordered_by.places(pl.Series(events[2], dtype=pl.String), schema.missing_values)
    codes = np.where(places == UNREAD, np.int32(-1), codes)
    order = np.lexsort((codes, places, traces))
    return traces[order], codes[order]
