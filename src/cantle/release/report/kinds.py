"""The differences between reports of tables, sets and graphs: one module per kind of data, by its name in schemas."""

from __future__ import annotations

from typing import Protocol

from cantle.release import Release
from cantle.release.report import graphs, sequences, sets, tables
from cantle.release.report.ask import Box
from cantle.release.report.content import Section, Tile


class ReportedKind(Protocol):
    """What the module of a kind of data provides."""

    @property
    def TITLE(self) -> str:  # noqa: N802 - constants of the module, as those below
        """What is released, for the title of the page."""

    @property
    def SIZE(self) -> str:  # noqa: N802
        """The words below the number of records."""

    def sections(self, release: Release) -> tuple[list[Section], Box | None]:
        """The sections about the released records, and the data of the question box."""

    def accuracy_tiles(self, release: Release) -> list[Tile]:
        """How far numbers are off; empty if there are none."""


KINDS: dict[str, ReportedKind] = {"table": tables, "sets": sets, "sequences": sequences, "graph": graphs}
