"""Texts that releases of several kinds of data share: shares in points, sizes of groups, what was drawn.

And the writing of plain frames.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cantle.drawing.records import share_drawn
from cantle.methods.own_error.accuracy import Accuracy
from cantle.release.accuracy import WORST_DOUBT, bound_of, noise_scale
from cantle.release.manifest import Manifest
from cantle.schema.taxonomy import printable as printable
from cantle.schema.taxonomy import text_of


def method_in_words(m: Manifest) -> str:
    """The method, and its preset if it has presets; or whose partitioning it is."""
    if m.author:
        return f"{printable(m.method)}, a partitioning by the author of {whose(m)}"
    return f"{m.method}, preset {m.parameters['preset']}" if "preset" in m.parameters else m.method


def whose(m: Manifest) -> str:
    """The class of an author's partitioning, and the package that it came with."""
    package = f" ({printable(m.author['package'])})" if "package" in m.author else ""
    return f"{printable(m.author.get('class', 'a class'))}{package}"


def declared_names(m: Manifest, what: str) -> str:
    """A text about how the public names of items or nodes are declared."""
    named = m.schema.get(what)
    if isinstance(named, dict) and {"minimum", "maximum"} <= set(named):
        return f"{printable(named['minimum'])} to {printable(named['maximum'])}"
    return f"{len(named)} listed in release.json" if isinstance(named, list) else "as declared in release.json"


def totals(m: Manifest, counted: str) -> str:
    """What totals mean if the schema bounds the records of a person; empty if it does not.

    The text follows from the schema alone: whether anyone had more records is private.
    """
    unit = m.schema.get("unit")
    if not isinstance(unit, dict) or "max_records" not in unit:
        return ""
    most = m.receipt.unit.max_records
    return (
        f"Totals count at most {most:,} {counted} per person. If anyone has more, the others are left out, and totals "
        f"are too low by an unknown share; shares are of the {counted} used."
    )


def drawn_records(manifest: Manifest, noun: str, regions: str) -> str:
    """A sentence about what was released, for methods that draw records at random."""
    drawn = f"{manifest.summary['records']:,} synthetic {noun}s, drawn from the noisy counts of {regions}."
    chance = f"A drawn {noun} may happen to equal a real one, which says nothing about anyone."
    return f"{drawn}\n{chance}{_thinned(manifest, noun)}"


def _thinned(manifest: Manifest, noun: str) -> str:
    """A sentence if a released record stands for several, because all of them would have been too many."""
    share = share_drawn(manifest.summary)
    each = f"**Each released {noun} stands for {1 / share:.3g} {noun}s**"
    return "" if share == 1 else f"\n{each}: all of them were too many."


def labels_of(manifest: Manifest) -> dict[str, dict[Any, str]]:
    """For each column of a table with labels, the label of each of its values."""
    fields: Any = manifest.schema.get("fields", [])
    labels = {
        one["name"]: {
            value["value"]: value["label"]
            for value in one.get("categories") or []
            if isinstance(value, Mapping) and "label" in value
        }
        for one in fields
        if one.get("role") != "identifier"
    }
    return {name: some for name, some in labels.items() if some}


def file_metadata(manifest: Manifest) -> dict[str, str]:
    """What a Parquet file of records says about them: the guarantee, and the labels of codes if there are any."""
    labels = labels_of(manifest)
    known = {"labels": json.dumps(labels, ensure_ascii=False)} if labels else {}
    return {"cantle": manifest.guarantee, **known}


def value_in_words(value: object, captions: Mapping[str, str]) -> str:
    """A value of a released column for people, with its label if the schema gives it one.

    >>> value_in_words(1, {"1": "1 = male"}), value_in_words(True, {}), value_in_words(None, {})
    ('1 = male', 'true', 'null')
    """
    text = "null" if value is None else printable(text_of(value) if isinstance(value, bool) else value)
    return printable(captions.get(text, text))


def percent(part: float, whole: float) -> str:
    """A share in whole percent.

    >>> percent(1, 3), percent(1, 500), percent(0, 3)
    ('33 %', '<1 %', '0 %')
    """
    share = 100 * part / whole if whole else 0.0
    return "<1 %" if 0 < share < 1 else f"{share:.0f} %"


TOO_FEW = "Accuracy not measured: too few records at this epsilon."
BY_EARLIER = "Accuracy not known: cantle 0.1 measured it with questions about unrelated columns, mostly."
SWITCHED_OFF = "Accuracy not measured: no part of epsilon was spent on it."

KNOWN_TO = 0.1
"""A count is called well known if its error is at most this share of it."""


@dataclass(frozen=True)
class Uses:
    """What a release is good for and what it is not good for, as phrases."""

    good: tuple[str, ...]
    bad: tuple[str, ...]


@dataclass(frozen=True)
class Right:
    """How far shares of one kind are right: the error from 0 to 1, what they are about, and whether the error is
    mostly the noise of its measurement."""

    error: float
    about: str
    noisy: bool


def sentence(what: str, accuracy: Accuracy | None, parts: Sequence[Right]) -> str:
    """The accuracy in one sentence, as `publish`, `show`, the statement, the report and Python print it."""
    if accuracy is None:
        return SWITCHED_OFF
    if accuracy.earlier is not None and accuracy.bought:
        return BY_EARLIER
    return line(what, parts) if parts and accuracy.bought else TOO_FEW


def measured(accuracy: Accuracy | None, released: int, about: Sequence[str]) -> list[Right]:
    """The measured errors of shares, given what the numbers of an accuracy are about. Each is the largest of many, and
    at least as large as the one before it."""
    parts = list[Right]()
    if accuracy is None or not accuracy.bought:
        return parts
    for error, words in zip((accuracy.one_column, accuracy.together, accuracy.apart), about, strict=True):
        if error is not None:
            level = max(parts[-1].error if parts else 0.0, bound_of(error, WORST_DOUBT) / max(1, released))
            parts.append(Right(level, words, WORST_DOUBT * noise_scale(error) > level * released / 2))
    return parts


def points(share: float) -> str:
    """A share in percentage points, with two digits.

    >>> points(0.0071), points(0.0258), points(0.123), points(3.0)
    ('0.71', '2.6', '12', '100')
    """
    figure = min(100.0, 100 * share)
    return f"{figure:.0f}" if figure >= 10 else f"{figure:.2g}"


def line(what: str, parts: Sequence[Right]) -> str:
    """The one sentence about accuracy, with figures that never fall.

    >>> line("A share", [Right(0.007, "in one column", False), Right(0.006, "in two columns", False)])
    'A share is right to ±0.7 percentage points in one column, ±0.7 in two columns (95 of 100 questions).'
    """
    said, level = list[str](), 0.0
    for number, part in enumerate(parts):
        level = max(level, part.error)
        unit = "" if number else " percentage points"
        said.append(f"{'at most ' if part.noisy else ''}±{points(level)}{unit} {part.about}")
    noisy = "; at most: the measurement itself is noisy" if any(part.noisy for part in parts) else ""
    return f"{what} is right to {', '.join(said)} (95 of 100 questions{noisy})."


def groups(error: float, released: int, counted: str, about: str) -> Uses:
    """For which sizes of groups counts are good: for large ones, unless these would be half of all records or more.

    >>> groups(0.002, 10_000, "records", "in one column").good
    ('counts of groups of 200 records and more in one column: known to about 10 %',)
    >>> groups(0.05, 10_000, "records", "in one column").good
    ()
    """
    small = max(1.0, error * released)
    large = small / KNOWN_TO
    good = f"counts of groups of {rounded(large):,} {counted} and more {about}: known to about 10 %"
    bad = f"counts of groups below {rounded(small):,} {counted}: they cannot be distinguished from the error"
    return Uses((good,) if large < released / 2 else (), (bad,))


def rounded(value: float) -> int:
    """Two leading digits.

    >>> rounded(4321), rounded(7.3)
    (4300, 7)
    """
    digits = max(0, len(str(int(value))) - 2)
    return int(round(value / 10**digits)) * 10**digits
