"""What a check found: numbers of values that a schema changes or loses, with examples, and whether that is too many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

MOST_EXAMPLES = 5
_LONGEST = 40  # letters of an example


@dataclass(frozen=True)
class Finding:
    """A number of records or values to which the same happens.

    A `problem` counts against the limit: what was written in the data is not what would be counted.
    """

    what: str
    count: int
    of: int
    problem: bool = True
    becomes: str = ""
    distinct: int = 0
    examples: tuple[tuple[str, int], ...] = ()

    @property
    def share(self) -> float:
        return self.count / self.of if self.of else 0.0

    def to_dict(self) -> dict[str, object]:
        made: dict[str, object] = {"what": self.what, "count": self.count, "share": self.share, "problem": self.problem}
        if self.becomes:
            made["becomes"] = self.becomes
        if self.examples:
            made["distinct"] = self.distinct
            made["examples"] = [{"value": value, "count": count} for value, count in self.examples]
        return made

    def line(self) -> str:
        """The finding as a line of text."""
        becomes = f" -> {self.becomes}" if self.becomes else ""
        return f"{self.count:>12,}  {percent(self.share):>6}  {self.what}{becomes}{self._shown()}"

    def _shown(self) -> str:
        if not self.examples:
            return ""
        shown = ", ".join(f"{_quoted(value)} ({count:,})" for value, count in self.examples)
        more = self.distinct - len(self.examples)
        return f": {shown}" + (f" and {more:,} more" if more > 0 else "")


@dataclass(frozen=True)
class Section:
    """The findings about one column, or about the records as a whole."""

    title: str
    findings: tuple[Finding, ...]
    declared: str = ""

    def to_dict(self) -> dict[str, object]:
        findings = [one.to_dict() for one in self.findings if one.count]
        return {"title": self.title, "declared": self.declared, "findings": findings}


@dataclass(frozen=True)
class Checked:
    """All that a check found. `used` is the number of records (graphs: of edges) that `publish` would count."""

    kind: str
    noun: str
    read: int
    used: int
    sections: tuple[Section, ...]
    facts: dict[str, int | float] = field(default_factory=dict)

    def worst(self) -> tuple[float, str]:
        """The largest share of all problems, and where it is."""
        found = [
            (one.share, f"{part.title}: {one.what}") for part in self.sections for one in part.findings if one.problem
        ]
        return max(found, default=(0.0, ""))

    def to_dict(self) -> dict[str, object]:
        parts = [part.to_dict() for part in self.sections]
        share, where = self.worst()
        read = {"kind": self.kind, "read": self.read, "used": self.used, "facts": self.facts}
        return read | {"worst": {"share": share, "where": where}, "sections": parts}

    def lines(self) -> Iterator[str]:
        """The result for people; columns in which nothing happens are named together at the end."""
        yield f"{self.read:,} {self.noun} read, {self.used:,} would be used"
        for name, value in self.facts.items():
            yield f"  {name}: {value:,.1f}" if isinstance(value, float) else f"  {name}: {value:,}"
        fine = []
        for part in self.sections:
            found = [one.line() for one in part.findings if one.count]
            if found:
                yield from ("", f"{part.title}{f'  ({part.declared})' if part.declared else ''}", *found)
            elif part.declared:
                fine.append(part.title)
        if fine:
            yield from ("", f"as declared, without exception: {', '.join(fine)}")


class Examples:
    """Counts texts over several batches, and gives the most frequent ones."""

    def __init__(self) -> None:
        self._parts: list[pl.DataFrame] = []

    def __repr__(self) -> str:
        return "Examples(private)"

    def add(self, texts: pl.Series) -> None:
        if len(texts):
            self._parts.append(texts.cast(pl.String).alias("text").to_frame().group_by("text").len("count"))

    def found(self) -> tuple[int, int, tuple[tuple[str, int], ...]]:
        """The number of texts, of distinct ones, and the most frequent with their counts."""
        if not self._parts:
            return 0, 0, ()
        summed = pl.concat(self._parts).group_by("text").agg(pl.col("count").sum())
        top = summed.sort(["count", "text"], descending=[True, False]).head(MOST_EXAMPLES)
        return int(summed["count"].sum()), len(summed), tuple((str(text), int(count)) for text, count in top.rows())


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
