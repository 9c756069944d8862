"""A studio in a process of its own, as a user starts it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.entropy import launcher


class Running:
    """A process, the address that it printed, and its home page."""

    def __init__(self, folder: Path, program: str | None = None) -> None:
        self.folder = folder
        begin = launcher() if program is None else [*launcher(), "-c", program]
        command = [*begin, "studio", str(folder), "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = re.search(r"http://\S+", self.process.stdout.readline())
        assert found is not None
        self.address, self.home = found[0], found[0].split("?")[0]

    def end(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=30)
