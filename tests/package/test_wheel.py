"""A wheel, built and installed in a clean environment, runs the demo far from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_wheel_runs_the_demo_in_a_clean_environment(tmp_path: Path) -> None:
    built = pip(Path(sys.executable), "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT))
    if built.returncode:
        pytest.skip("the tools that build a wheel cannot be downloaded here")
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    wheel = next(tmp_path.glob("cantle-*.whl"))
    if pip(programs / "python", "install", "--quiet", f"{wheel}[report]").returncode:
        pytest.skip("the packages that cantle needs cannot be downloaded here")
    for words in (["demo", "-o", "demo"], ["show", "demo"], ["verify", "demo"]):
        done = subprocess.run(
            [programs / "cantle", *words], cwd=tmp_path, env=bare(), capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout == "demo: verified\n"
    assert {"statement.md", "report.html", "release.json"} <= {path.name for path in (tmp_path / "demo").iterdir()}


def pip(python: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([python, "-m", "pip", *words], env=bare(), capture_output=True, text=True, timeout=600)


def bare() -> dict[str, str]:
    """The environment without what would lead to the checkout."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
