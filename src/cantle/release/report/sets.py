"""The report of a release of sets: items, pairs of items, sizes, and what its sets are good for."""

from __future__ import annotations

from cantle.release import Release
from cantle.release.asking import Asker
from cantle.release.report.ask import Box, ask_sets
from cantle.release.report.content import Section, Tile
from cantle.release.report.measured_error import accuracy_tile, uses_of_records
from cantle.release.report.set_section import set_sections
from cantle.release.report.set_view import SetView
from cantle.release.words import percent

TITLE = "sets of items"
SIZE = "synthetic sets of items, drawn from noisy counts."


def sections(release: Release) -> tuple[list[Section], Box | None]:
    view = SetView.of(release)
    if not view.records:
        return [], None
    asker = Asker(release)
    return set_sections(view, asker), ask_sets(view, asker)


def accuracy_tiles(release: Release) -> list[Tile]:
    return [accuracy_tile(release)]


def uses(release: Release) -> tuple[list[str], list[str]]:
    good, bad = uses_of_records(release)
    summary = release.manifest.summary
    if filled := summary.get("refilled", 0):
        bad.append(f"rare sets: {percent(filled, summary['records'])} of the sets are filled in at random")
    return good, bad
