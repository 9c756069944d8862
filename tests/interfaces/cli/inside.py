"""The command line called inside the process of the tests, which saves the time of starting one."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
import typer.main

from cantle.interfaces.cli.app import main

PARSER = cache(typer.main.get_command)
"""Typer makes the parsers of all commands anew for each call, which takes longer than most commands."""


def run(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """What `subprocess.run` gives back for a command in this folder."""
    words = ["cantle", *map(str, arguments)]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with chdir(cwd), patch.multiple(sys, argv=words, stdout=out, stderr=err):
        code = _code_of_main()
    told = []
    for stream in (out, err):
        stream.flush()
        told.append(stream.buffer.getvalue().decode("utf-8"))  # type: ignore[attr-defined]
    assert "Traceback" not in told[0] + told[1]
    return subprocess.CompletedProcess(words, code, *told)


@dataclass(frozen=True)
class Done:
    """What a command gave back."""

    code: int
    out: str
    err: str


Cantle = Callable[..., Done]


@pytest.fixture
def cantle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cantle:
    """`cantle("publish", "file", …)` in an empty folder, on the streams of the test."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["cantle", *map(str, arguments)])
        capsys.readouterr()
        code = _code_of_main()
        told = capsys.readouterr()
        assert "Traceback" not in told.out + told.err
        return Done(code, told.out, told.err)

    return call


def _code_of_main() -> int:
    before = signal.getsignal(signal.SIGTERM)
    try:
        with patch.object(typer.main, "get_command", PARSER):
            main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        signal.signal(signal.SIGTERM, before)  # the command takes it over
    return 0
