"""The report of a release of sequences: what follows what, lengths, frequent sequences and strings, starts and ends."""

from __future__ import annotations

from cantle.release import Release
from cantle.release.answers.sequence_answers import SequenceAsker
from cantle.release.report.content import Box, Section, Tile, accuracy_tile
from cantle.release.report.sequence_section import sequence_sections
from cantle.release.sequences import middle

TITLE = "sequences"
SIZE = "synthetic sequences of symbols, drawn from noisy counts."


def sections(release: Release) -> tuple[list[Section], Box | None]:
    if not release.manifest.summary["records"]:
        return [], None
    return sequence_sections(SequenceAsker(release), release), None


def accuracy_tiles(release: Release) -> list[Tile]:
    return [accuracy_tile(release, middle(release.accuracy, release.manifest.summary["records"]))]
