"""The report of a release of a table: its columns, pairs of columns."""

from __future__ import annotations

from cantle.drawing.records import records_meant
from cantle.release import Release
from cantle.release.answers.table_answers import TableAsker
from cantle.release.load import table_schema_of
from cantle.release.report.ask import Box, ask_table
from cantle.release.report.columns import column_section
from cantle.release.report.content import Section, Tile
from cantle.release.report.measured_error import accuracy_tile
from cantle.release.report.pair_section import pair_section
from cantle.release.report.table_view import TableView
from cantle.release.table_verdict import middle

TITLE = "a table"
SIZE = "synthetic records; a drawn record may happen to equal a real one, which says nothing about anyone."


def sections(release: Release) -> tuple[list[Section], Box | None]:
    view = TableView.of(release)
    if view is None or not view.records:
        return [], None
    asker, target = TableAsker(release), table_schema_of(release.manifest).target
    shown = [column_section(view, asker, target)]
    if len(view.attributes) > 1:
        shown.append(pair_section(release, view))
    return shown, ask_table(view, asker)


def accuracy_tiles(release: Release) -> list[Tile]:
    return [accuracy_tile(release, middle(release.accuracy, records_meant(release.manifest.summary)))]
