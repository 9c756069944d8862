"""Writes a small generated folder in the format of the Adult files, so that tests need no real data."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cantle.evaluate import adult


def write(folder: Path, rows: int = 300, seed: int = 1) -> Path:
    """The data folder, with adult/adult.data and adult/adult.test; the class follows education and age."""
    (folder / "adult").mkdir(parents=True)
    rng = np.random.default_rng(seed)
    for name, dot in (("adult.data", ""), ("adult.test", ".")):
        lines = [", ".join(_record(rng)) + dot for _ in range(rows)]
        lines[0] = lines[0].replace(lines[0].split(", ")[1], "?", 1)
        comment = ["|1x3 Cross validator"] if dot else []
        (folder / "adult" / name).write_text("\n".join([*comment, *lines, ""]), encoding="ascii")
    return folder


def _record(rng: np.random.Generator) -> list[str]:
    values = {name: str(rng.integers(low, high, endpoint=True)) for name, (low, high) in adult.BOUNDS.items()}
    values |= {name: str(rng.choice(listed)) for name, listed in adult.CATEGORIES.items()}
    rich = adult.CATEGORIES["education"].index(values["education"]) * 5 + int(values["age"]) > 110
    values["class"] = adult.CATEGORIES["class"][int(rich)]
    return [values[name] for name in adult.COLUMNS]
