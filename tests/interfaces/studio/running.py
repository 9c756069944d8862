"""A studio in a separate process, as a user starts it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.entropy import launcher


class Running:
    """A running studio: its process, the address that it printed, and its home page."""

    def __init__(self, folder: Path, program: str | None = None) -> None:
        self.folder = folder
        begin = launcher() if program is None else [*launcher(), "-c", program]
        command = [*begin, "studio", str(folder), "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        address = re.search(r"http://\S+", self.process.stdout.readline())
        assert address is not None
        self.address, self.home = address[0], address[0].split("?")[0]

    def end(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=30)
