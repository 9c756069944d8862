"""docs/tutorial.md works: its commands, its schema and its Python run in order, in an empty folder."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl

from tests.entropy import launcher

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"```(sh|yaml|python)\n(.*?)```", (ROOT / "docs/tutorial.md").read_text("utf-8"), re.DOTALL)


def test_every_block_of_the_tutorial_runs(tmp_path: Path) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    binaries = tmp_path / "bin"
    binaries.mkdir()
    for name, text in (("cantle", shlex.join(launcher())), ("python", shlex.quote(sys.executable))):
        (binaries / name).write_text(f'#!/bin/sh\nexec {text} "$@"\n')
        (binaries / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{binaries}:{os.environ['PATH']}"}
    for language, text in BLOCKS:
        if language == "yaml":
            name = text.splitlines()[0].removeprefix("# ")
            (tmp_path / name).write_text(text, encoding="utf-8")
            continue
        command = ["sh", "-e", "-c", text] if language == "sh" else [*launcher(), "-c", text]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{text}\n{done.stderr}"
    assert {"sh", "yaml", "python"} == {language for language, _ in BLOCKS}
    released = pl.read_csv(tmp_path / "release" / "data.csv")
    assert released.columns == ["day", "age", "sex", "city", "department", "weight", "stay"]
    private = pl.read_csv(tmp_path / "visits.csv", separator=";", encoding="latin-1")
    assert abs(len(released) - len(private)) < len(private) / 10
    # The mess was read as the schema says: hardly any value was lost.
    lost = {name: released[name].null_count() / len(released) for name in released.columns}
    assert lost.pop("weight") < 0.1
    assert max(lost.values()) < 0.03, lost
    assert released["sex"].value_counts(normalize=True).filter(pl.col("sex") == "F")["proportion"].item() > 0.45
