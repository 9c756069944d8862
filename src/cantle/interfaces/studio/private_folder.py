"""The private temporary folder of a studio, for uploads and the files of commands. It is removed when the studio ends.

A studio that is killed cannot clean up after itself. Its folder is locked as long as the studio, or a command that it
started, runs; the next studio removes the folders that no process locks.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PREFIX = "cantle-studio-"
_LOCK = "in-use"


class PrivateFolder:
    """A folder that only this user can open, removed by `close`."""

    def __init__(self, parent: Path | None = None) -> None:
        self._parent = Path(tempfile.gettempdir()) if parent is None else parent
        _remove_left_over(self._parent)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self._parent))  # mode 0700
        self.lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        _take(self.lock)

    def __repr__(self) -> str:
        return "PrivateFolder()"

    def new(self, name: str) -> Path:
        """The path for a new file, in a folder of its own."""
        return Path(tempfile.mkdtemp(dir=self.path)) / name

    def close(self) -> None:
        """Removes the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            os.close(self.lock)


def _take(lock: int) -> bool:
    """Locks a file until all processes that hold it open end; False if another process has locked it."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_left_over(parent: Path) -> None:
    """Removes the folders of killed studios of this user."""
    for folder in parent.glob(f"{PREFIX}*") if fcntl is not None else ():
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR)
            try:
                if _take(lock):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
