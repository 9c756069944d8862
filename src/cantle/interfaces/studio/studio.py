"""The state of one running studio: its folders, its job, and the result of the last check."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cantle.errors import ParameterError
from cantle.interfaces.studio.commands import LAUNCH, Runner
from cantle.interfaces.studio.jobs import Desk
from cantle.interfaces.studio.opened import Shelf
from cantle.interfaces.studio.private_folder import PrivateFolder
from cantle.interfaces.studio.project import Project, Settings, is_release
from cantle.interfaces.studio.schema_file import SchemaFile

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
    shelf: Shelf = field(default_factory=Shelf)
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
