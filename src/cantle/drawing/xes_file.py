"""Released sequences as an event log in XES (IEEE 1849), which process mining reads. Released values only.

Times are not released. Tools order events by them, so the time of an event is its place in its trace: so many seconds
after the beginning of 1970.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

if TYPE_CHECKING:
    import polars as pl

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1849.2016" xes.features="" xmlns="http://www.xes-standard.org/">
<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
<extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
<global scope="trace"><string key="concept:name" value=""/></global>
<global scope="event"><string key="concept:name" value=""/><date key="time:timestamp" value="1970-01-01T00:00:00Z"/>\
</global>
<classifier name="Activity" keys="concept:name"/>
"""


def write_xes(frame: pl.DataFrame, path: Path) -> None:
    """Writes a (public) frame of sequences, in its order."""
    known: dict[object, str] = {}
    first, times = datetime(1970, 1, 1), list[str]()
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(_HEAD)
        for number, symbols in enumerate(frame["items"].to_list(), 1):
            for place in range(len(times), len(symbols)):
                times.append((first + timedelta(seconds=place + 1)).isoformat())
            file.write(f'<trace><string key="concept:name" value="{number}"/>\n')
            for symbol, time in zip(symbols, times, strict=False):
                name = known.setdefault(symbol, quoteattr(str(symbol)))
                file.write(
                    f'<event><string key="concept:name" value={name}/><date key="time:timestamp" value="{time}Z"/>'
                    "</event>\n"
                )
            file.write("</trace>\n")
        file.write("</log>\n")
