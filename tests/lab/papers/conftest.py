"""Fixtures of the evaluation tests: a small generated folder in the format of the Adult files, and the real one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cantle_lab.papers import adult


@pytest.fixture(scope="package", autouse=True)
def sketches(request: pytest.FixtureRequest) -> Iterator[None]:
    """Draws pictures small and without a layout, which would take most of the time; `-m slow` draws them in full."""
    if "not slow" not in request.config.getoption("-m"):
        yield
        return
    from matplotlib.figure import Figure

    def sketch(figure: Any, path: Path, **_: Any) -> None:
        figure.set_layout_engine("none")
        painted(figure, path, dpi=15)

    painted = Figure.savefig
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", sketch)
        yield


@pytest.fixture(scope="session")
def small_adult(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with adult/adult.data and adult/adult.test of 300 records each, one of them incomplete."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "adult").mkdir()
    rng = np.random.default_rng(1)
    for name, dot in (("adult.data", ""), ("adult.test", ".")):
        records = [_record(rng) for _ in range(300)]
        records[0][1] = "?"
        lines = [", ".join(record) + dot for record in records]
        comment = ["|1x3 Cross validator"] if dot else []
        (folder / "adult" / name).write_text("\n".join([*comment, *lines, ""]), encoding="ascii")
    return folder


def _record(rng: np.random.Generator) -> list[str]:
    """A record of independent values, with a class that depends on education and age."""
    values = {name: str(rng.integers(low, high, endpoint=True)) for name, (low, high) in adult.BOUNDS.items()}
    values |= {name: str(rng.choice(listed)) for name, listed in adult.CATEGORIES.items()}
    rich = adult.CATEGORIES["education"].index(values["education"]) * 5 + int(values["age"]) > 110
    values["class"] = adult.CATEGORIES["class"][int(rich)]
    return [values[name] for name in adult.COLUMNS]


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The real data folder, from the environment variable CANTLE_DATA; skips without it."""
    folder = os.environ.get("CANTLE_DATA")
    if not folder:
        pytest.skip("set CANTLE_DATA to the folder that contains adult/ to run this on the real Adult files")
    return Path(folder)
