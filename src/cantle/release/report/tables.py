"""The report of a release of a table: its columns, pairs of columns, and what its records are good for."""

from __future__ import annotations

from cantle.release import Release
from cantle.release.asking import Asker
from cantle.release.load import table_schema_of
from cantle.release.report.ask import Box, ask_table
from cantle.release.report.columns import column_section
from cantle.release.report.content import Section, Tile
from cantle.release.report.measured_error import accuracy_tile, uses_of_records
from cantle.release.report.pair_section import pair_section
from cantle.release.report.table_view import TableView

TITLE = "a table"
SIZE = "synthetic records; a drawn record may happen to equal a real one, which says nothing about anyone."


def sections(release: Release) -> tuple[list[Section], Box | None]:
    view = TableView.of(release)
    if view is None or not view.records:
        return [], None
    asker, target = Asker(release), table_schema_of(release.manifest).target
    shown = [column_section(view, asker, target)]
    if len(view.attributes) > 1:
        shown.append(pair_section(release, view))
    return shown, ask_table(view, asker)


def accuracy_tiles(release: Release) -> list[Tile]:
    return [accuracy_tile(release)]


def uses(release: Release) -> tuple[list[str], list[str]]:
    good, bad = uses_of_records(release)
    fine = "fine connections between four and more columns, and between columns not measured together (hatched below)"
    return good, [*bad, fine]
