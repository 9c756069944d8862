"""The report of a release of sets: items, pairs of items, sizes."""

from __future__ import annotations

from cantle.release import Release
from cantle.release.answers.set_answers import SetAsker
from cantle.release.report.ask import Box, ask_sets
from cantle.release.report.content import Section, Tile
from cantle.release.report.measured_error import accuracy_tile
from cantle.release.report.set_section import set_sections
from cantle.release.report.set_view import SetView
from cantle.release.set_verdict import middle

TITLE = "sets of items"
SIZE = "synthetic sets of items, drawn from noisy counts."


def sections(release: Release) -> tuple[list[Section], Box | None]:
    view = SetView.of(release)
    if not view.records:
        return [], None
    asker = SetAsker(release)
    return set_sections(view, asker), ask_sets(view, asker)


def accuracy_tiles(release: Release) -> list[Tile]:
    return [accuracy_tile(release, middle(release.accuracy, release.manifest.summary["records"]))]
