"""Findings of a check: how many values a schema changes or loses, with examples, and whether these are too many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from cantle.internal import Shown

MOST_EXAMPLES = 5
_ADVICE = (
    "To read more of these values, paste these lines over those of the schema. They come from the data, and the schema",
    "is public: keep what such files are known to have, and leave out spellings that only a few records have.",
)
_LONGEST = 40  # most letters of an example


@dataclass(frozen=True, repr=False)
class Finding:
    """A number of records or values that the schema treats in the same way.

    A `problem` counts against the limit: the data say one thing, and another (or nothing) would be counted.
    """

    what: str
    count: int
    of: int
    problem: bool = True
    becomes: str = ""
    distinct: int = 0
    examples: tuple[tuple[str, int], ...] = ()
    advice: str = ""

    @property
    def share(self) -> float:
        return self.count / self.of if self.of else 0.0

    def to_dict(self) -> dict[str, object]:
        values: dict[str, object] = {
            "what": self.what,
            "count": self.count,
            "share": self.share,
            "problem": self.problem,
        }
        if self.becomes:
            values["becomes"] = self.becomes
        if self.examples:
            values["distinct"] = self.distinct
            values["examples"] = [{"value": value, "count": count} for value, count in self.examples]
        if self.advice:
            values["advice"] = self.advice
        return values

    def __str__(self) -> str:
        becomes = f" -> {self.becomes}" if self.becomes else ""
        line = f"{self.count:>12,}  {percent(self.share):>6}  {self.what}{becomes}{self._shown()}"
        return f"{line}\n{'':22}{self.advice}" if self.advice else line

    def _shown(self) -> str:
        if not self.examples:
            return ""
        shown = ", ".join(f"{_quoted(value)} ({count:,})" for value, count in self.examples)
        more = self.distinct - len(self.examples)
        return f": {shown}" + (f" and {more:,} more" if more > 0 else "")


@dataclass(frozen=True, repr=False)
class Section:
    """The findings about one column, or about the records as a whole."""

    title: str
    findings: tuple[Finding, ...]
    declared: str = ""

    @property
    def only_null(self) -> Finding | None:
        """The finding about missing values that become null, if nothing else happens in this column."""
        some = [one for one in self.findings if one.count]
        return some[0] if len(some) == 1 and some[0].becomes == "null" and not some[0].problem else None

    def to_dict(self) -> dict[str, object]:
        findings = [one.to_dict() for one in self.findings if one.count]
        return {"title": self.title, "declared": self.declared, "findings": findings}


@dataclass(frozen=True, repr=False)
class Checked(Shown):
    """All that a check found. `used` is the number of records (graphs: of edges) that `publish` would count."""

    kind: str
    noun: str
    read: int
    used: int
    sections: tuple[Section, ...]
    facts: dict[str, int | float] = field(default_factory=dict)
    suggested: tuple[str, ...] = ()
    """Lines of a schema with which more of the values could be read."""

    def worst(self) -> tuple[float, str]:
        """The largest share that a problem has, and where."""
        problems = [
            (one.share, f"{part.title}: {one.what}") for part in self.sections for one in part.findings if one.problem
        ]
        return max(problems, default=(0.0, ""))

    def above(self, limit: float) -> list[str]:
        """All problems above the limit, the largest first."""
        problems = [(one, part) for part in self.sections for one in part.findings if one.problem and one.share > limit]
        problems.sort(key=lambda pair: -pair[0].share)
        return [f"{part.title}: {one.what} ({percent(one.share)})" for one, part in problems]

    def to_dict(self) -> dict[str, object]:
        parts = [part.to_dict() for part in self.sections]
        share, where = self.worst()
        read = {"kind": self.kind, "read": self.read, "used": self.used, "facts": self.facts}
        return read | {"worst": {"share": share, "where": where}, "sections": parts, "suggested": list(self.suggested)}

    def lines(self) -> Iterator[str]:
        """The result as text. Columns without findings, or with nulls only, are named together at the end."""
        yield f"{self.read:,} {self.noun} read, {self.used:,} would be used"
        for name, value in self.facts.items():
            yield f"  {name}: {value:,.1f}" if isinstance(value, float) else f"  {name}: {value:,}"
        fine, nulls = [], []
        for part in self.sections:
            lines = [str(one) for one in part.findings if one.count]
            if part.only_null:
                nulls.append(f"{part.title} {percent(part.only_null.share)}")
            elif lines:
                yield from ("", f"{part.title}{f'  ({part.declared})' if part.declared else ''}", *lines)
            elif part.declared:
                fine.append(part.title)
        for title, names in (("as declared, but some are missing -> null", nulls), ("as declared", fine)):
            if names:
                yield from ("", f"{title}: {', '.join(names)}")
        if self.suggested:
            yield from ("", *_ADVICE, *self.suggested)


class Examples:
    """Counts texts over several batches, and returns the most frequent ones."""

    def __init__(self) -> None:
        self._parts: list[pl.DataFrame] = []

    def __repr__(self) -> str:
        return "Examples(private)"

    def add(self, texts: pl.Series) -> None:
        if len(texts):
            self._parts.append(texts.cast(pl.String).alias("text").to_frame().group_by("text").len("count"))

    def found(self) -> tuple[int, int, tuple[tuple[str, int], ...]]:
        """The number of texts, the number of distinct texts, and the most frequent texts with their counts."""
        summed = self._summed()
        top = tuple((str(text), int(count)) for text, count in summed.head(MOST_EXAMPLES).rows())
        return int(summed["count"].sum()), len(summed), top

    def most_frequent(self, number: int) -> list[str]:
        return self._summed()["text"].head(number).to_list()

    def _summed(self) -> pl.DataFrame:
        empty = pl.DataFrame(schema={"text": pl.String, "count": pl.UInt32})
        summed = pl.concat([empty, *self._parts]).group_by("text").agg(pl.col("count").sum())
        return summed.sort(["count", "text"], descending=[True, False])


def percent(share: float) -> str:
    """A share in percent.

    >>> percent(0.25), percent(0.05), percent(0.004), percent(0.00001), percent(0)
    ('25 %', '5 %', '0.4 %', '<0.1 %', '0 %')
    """
    if 0 < share < 0.001:
        return "<0.1 %"
    return f"{100 * share:.2g} %" if share < 0.0995 else f"{100 * share:.0f} %"


def _quoted(value: str) -> str:
    """A private value on one line."""
    shown = value if len(value) <= _LONGEST else value[:_LONGEST] + "…"
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in shown) + '"'
