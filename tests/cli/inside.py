"""The command line called inside the process of the tests, which saves the time of starting one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from cantle.cli.app import main


@dataclass(frozen=True)
class Done:
    """What a command gave back."""

    code: int
    out: str
    err: str


Cantle = Callable[..., Done]


@pytest.fixture
def cantle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cantle:
    """`cantle("publish", "file", …)` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["cantle", *map(str, arguments)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        told = capsys.readouterr()
        assert "Traceback" not in told.out + told.err
        return Done(code, told.out, told.err)

    return run
