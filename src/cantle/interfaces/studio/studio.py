"""The state of one running studio: its folders, its job, the result of the last check, and the release shown last.

The private temporary folder of a studio holds uploads and the files of commands, and is removed when the studio ends. A
studio that is killed cannot clean up after itself. Its folder is locked as long as the studio, or a command that it
started, runs; the next studio removes the folders that no process locks.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from cantle.errors import ParameterError
from cantle.interfaces.studio.commands import LAUNCH, Desk, Runner
from cantle.interfaces.studio.project import MANIFESTS, Project, SchemaFile, Settings, is_release
from cantle.release import Release
from cantle.release.manifest import mark_of
from cantle.release.report.page import render
from cantle.release.schemas import attributes_of
from cantle.release.verify import REPORT, verify_folder
from cantle.schema.domain import Attribute

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


@dataclass(frozen=True)
class Opened:
    """A loaded release folder. Its report is made anew, because anybody may have written the page in the folder."""

    folder: Path
    release: Release

    @cached_property
    def problems(self) -> list[str]:
        """The problems that `verify` finds."""
        return verify_folder(self.folder)

    @cached_property
    def report(self) -> str:
        """The public edition of the report."""
        return render(self.release)

    @property
    def columns(self) -> list[str]:
        """Columns that a table can be grouped by; none for other kinds."""
        return list(self._attributes)

    @property
    def numbers(self) -> list[str]:
        """Columns that a mean can be taken of."""
        return [name for name, one in self._attributes.items() if one.scale.type in ("integer", "number")]

    @cached_property
    def _attributes(self) -> dict[str, Attribute]:
        return attributes_of(self.release.manifest)

    def write_zip(self, place: Path) -> None:
        """Writes an archive with the files of the release and its report, in a folder of the release's name."""
        report = mark_of(self.release.manifest) + REPORT
        with zipfile.ZipFile(place, "x", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
            for file in sorted(self.folder.iterdir()):
                if file.is_file() and not file.is_symlink() and file.name != report:
                    archive.write(file, f"{self.folder.name}/{file.name}")
            archive.writestr(f"{self.folder.name}/{report}", self.report)


@lru_cache(maxsize=1)
def _opened(folder: Path, changed: int) -> Opened:  # noqa: ARG001
    """The release in a folder that was changed last at this time; the one that was looked at last stays in memory."""
    return Opened(folder, Release.load(folder))


MOST_UPLOAD = 4 * 2**30
"""Most bytes of an upload; a larger file is chosen by its path."""


@dataclass(repr=False)
class Studio:
    """A project folder to work in, or a finished release to look at."""

    folder: Path
    private: PrivateFolder
    launch: Sequence[str] = LAUNCH
    most_upload: int = MOST_UPLOAD
    desk: Desk = field(default_factory=Desk)
    upload: Path | None = None
    checked: dict[str, object] | None = None
    """What `check` found: private, in memory only."""
    checked_schema: str = ""
    """The hash of the schema at that time."""
    internal_reports: dict[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder = self.folder.resolve()
        self.reads_only = is_release(self.folder)
        self.project = Project(self.folder)
        self.runner = Runner(self.launch, self.folder, self.private.lock)

    @property
    def settings(self) -> Settings:
        return self.project.settings

    @property
    def schema(self) -> SchemaFile:
        return SchemaFile(self.project.schema_file)

    @property
    def data(self) -> str:
        """The data file as a command in the project folder names it; empty if none was chosen."""
        return str(self.upload) if self.upload is not None else self.settings.data

    @property
    def data_shown(self) -> str:
        """The name of the data file in the commands that are shown: for an upload not its path, which is temporary."""
        return self.upload.name if self.upload is not None else self.settings.data or "DATA"

    def require_data(self) -> Path:
        """The path of the data file; raises ParameterError if there is none."""
        if not self.data:
            raise ParameterError("no data file was chosen; go to step 1, Data")
        place = self.project.path_of(self.data)
        if not place.exists():
            raise ParameterError(f"there is no file {place.name!r} any more; choose it again in step 1, Data")
        return place

    def releases(self) -> dict[str, Path]:
        """The releases that can be looked at, by name."""
        return {self.folder.name: self.folder} if self.reads_only else self.project.releases()

    def open(self, folder: Path) -> Opened:
        """The release in a folder; raises CantleError if it is damaged."""
        manifest = next(folder / name for name in MANIFESTS if (folder / name).is_file())
        return _opened(folder, manifest.stat().st_mtime_ns)

    def take(self, upload: Path | None) -> None:
        """Switches to another data file; an earlier upload is deleted, unless a job is reading it."""
        before, self.upload, self.checked = self.upload, upload, None
        if before is not None and not (self.desk.job is not None and self.desk.job.running):
            shutil.rmtree(before.parent, ignore_errors=True)

    def close(self) -> list[str]:
        """Ends the job, if one runs, and removes the private folder; returns what to report about the job."""
        words = []
        if (job := self.desk.job) is not None and job.running:
            job.stop()
            words = [f"The release that was being made was stopped: {job.complaint}"] if job.code else []
        self.runner.stop()
        self.private.close()
        return words
