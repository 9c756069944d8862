"""Texts that releases of several kinds of data share, and the writing of plain frames."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cantle.drawing.records import share_drawn, write_csv
from cantle.release.manifest import Manifest
from cantle.schema.outlines import printable as printable
from cantle.schema.outlines import text_of


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


def write_plain(frame: pl.DataFrame, path: Path, data: str, manifest: Manifest) -> None:
    """Writes a frame as CSV or Parquet."""
    if data == "csv":
        write_csv(frame, path)
    else:
        frame.write_parquet(path, metadata=file_metadata(manifest))


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
