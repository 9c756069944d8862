"""The commands and the Python code of docs/tutorial.md and README.md run in order, in an empty folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import polars as pl

from tests.interfaces.cli.inside import run

ROOT = Path(__file__).parents[1]
INSTALLS = ("python3 -m venv", ". .venv", "pip install")


def blocks(text: str) -> list[tuple[str, str]]:
    """The blocks of a page with their languages."""
    return re.findall(r"```(sh|yaml|python)\n(.*?)```", text, re.DOTALL)


BLOCKS = blocks((ROOT / "docs/tutorial.md").read_text("utf-8"))


def run_line(line: str, folder: Path) -> None:
    """Runs a line of the shell: `cantle` inside this process, and everything else as a command."""
    words = shlex.split(line, comments=True)
    if words[:1] == ["cantle"]:
        done = run(*words[1:], cwd=folder)
    else:
        command = line.replace("python ", f"{shlex.quote(sys.executable)} ", 1) if line.startswith("python ") else line
        done = subprocess.run(["sh", "-e", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_every_block_of_the_tutorial_runs(tmp_path: Path) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    for language, text in BLOCKS:
        if language == "yaml":
            name = text.splitlines()[0].removeprefix("# ")
            (tmp_path / name).write_text(text, encoding="utf-8")
        elif language == "sh":
            for line in text.replace("\\\n", " ").splitlines():
                run_line(line, tmp_path)
        else:
            with chdir(tmp_path):
                exec(text, {"__name__": "__main__"})
    assert {"sh", "yaml", "python"} == {language for language, _ in BLOCKS}
    released = pl.read_csv(tmp_path / "release" / "data.csv")
    assert released.columns == ["day", "age", "sex", "city", "department", "weight", "stay"]
    private = pl.read_csv(tmp_path / "visits.csv", separator=";", encoding="latin-1")
    assert abs(len(released) - len(private)) < len(private) / 10
    # The messy file was read as the schema describes, so hardly any value was lost.
    lost = {name: released[name].null_count() / len(released) for name in released.columns}
    assert lost.pop("weight") < 0.1
    assert max(lost.values()) < 0.03, lost
    assert released["sex"].value_counts(normalize=True).filter(pl.col("sex") == "F")["proportion"].item() > 0.45


def test_every_line_of_the_readme_runs_after_the_demo(tmp_path: Path) -> None:
    """A stranger can paste each line, up to those that test the checkout."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    readme = (ROOT / "README.md").read_text("utf-8").partition("## Test it")[0]
    ran = []
    for language, text in blocks(readme):
        if language == "sh":
            for line in (part.strip() for one in text.splitlines() for part in one.split("&&")):
                if not line.startswith(INSTALLS):
                    run_line(line, tmp_path)
                    ran.append(line.split()[1])
        elif language == "python":
            with chdir(tmp_path):
                exec(text, {"__name__": "__main__"})
    assert ran[0] == "demo"
    assert {"publish", "report", "query", "verify", "sample", "graph"} <= set(ran)
    assert (tmp_path / "from-python" / "release.json").exists()
