"""The command line inside the process of the tests, which saves the time to start a new one."""

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
"""The parser of all commands. Typer would build it again for each call, which takes longer than most commands."""


def run(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command in this folder; returns what `subprocess.run` would."""
    words = ["cantle", *map(str, arguments)]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with chdir(cwd), patch.multiple(sys, argv=words, stdout=out, stderr=err):
        code = _code_of_main()
    output = []
    for stream in (out, err):
        stream.flush()
        output.append(stream.buffer.getvalue().decode("utf-8"))  # type: ignore[attr-defined]
    assert "Traceback" not in output[0] + output[1]
    return subprocess.CompletedProcess(words, code, *output)


@dataclass(frozen=True)
class Done:
    """The exit code and the output of a command."""

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
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return Done(code, captured.out, captured.err)

    return call


def _code_of_main() -> int:
    before = signal.getsignal(signal.SIGTERM)
    try:
        with patch.object(typer.main, "get_command", PARSER):
            main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        signal.signal(signal.SIGTERM, before)  # the command replaces the handler
    return 0
