"""The classes that answer questions, by kind of data."""

from __future__ import annotations

from cantle.release import Release
from cantle.release.answers.asking import Asker
from cantle.release.answers.degree_answers import DegreeAsker
from cantle.release.answers.family_answers import FamilyAsker
from cantle.release.answers.item_answers import SequenceAsker, SetAsker
from cantle.release.answers.table_answers import TableAsker

ASKERS: dict[str, type[Asker]] = {
    "table": TableAsker,
    "sets": SetAsker,
    "sequences": SequenceAsker,
    "graph": DegreeAsker,
    "families": FamilyAsker,
}


def asker_of(release: Release) -> Asker:
    """Opens a release to ask it questions."""
    return ASKERS[release.manifest.kind](release)
