"""Releases that a person looks at: loaded once and verified, with their report, and as an archive to download."""

from __future__ import annotations

import threading
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cantle.interfaces.studio.project import MANIFESTS
from cantle.release import Release, mark_of
from cantle.release.kinds import KINDS
from cantle.release.report.page import render
from cantle.release.verify import REPORT, verify_folder
from cantle.schema.domain import Attribute


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
        schema = self.release.schema
        return KINDS[schema.kind].attributes(schema)

    def write_zip(self, place: Path) -> None:
        """Writes an archive with the files of the release and its report, in a folder of the release's name."""
        report = mark_of(self.release.manifest) + REPORT
        with zipfile.ZipFile(place, "x", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
            for file in sorted(self.folder.iterdir()):
                if file.is_file() and not file.is_symlink() and file.name != report:
                    archive.write(file, f"{self.folder.name}/{file.name}")
            archive.writestr(f"{self.folder.name}/{report}", self.report)


class Shelf:
    """Keeps the release that was looked at last in memory; others are read again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: tuple[Path, int] | None = None
        self._opened: Opened | None = None

    def open(self, folder: Path) -> Opened:
        """The release in a folder; raises CantleError if it is damaged."""
        manifest = next(folder / name for name in MANIFESTS if (folder / name).is_file())
        key = (folder, manifest.stat().st_mtime_ns)
        with self._lock:
            if self._opened is None or key != self._key:
                self._opened, self._key = None, None
                self._opened, self._key = Opened(folder, Release.load(folder)), key
            return self._opened
