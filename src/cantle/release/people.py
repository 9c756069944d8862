"""Parts of the statement about people: who publishes the data, and what it means for those who are in it."""

from __future__ import annotations

from collections.abc import Iterator

from cantle.release.facts import Facts
from cantle.release.manifest import Manifest
from cantle.trusted.core.budget import NANO

CAREFUL = 5
"""The epsilon above which a statement says that it protects little; `publish` warns of it too."""

_TOLD = {
    "title": "Data",
    "description": "Description",
    "curator": "Curator",
    "contact": "Contact",
    "purpose": "Purpose",
    "legal_basis": "Legal basis",
    "period": "Period of the data",
    "region": "Region",
    "access": "Who could see the private data",
    "retention": "How long the private data is kept",
    "epsilon_reason": "How epsilon was chosen",
    "licence": "Licence of this release",
    "version": "Version",
    "identifier": "Identifier",
    "source": "Where it can be had",
    "plans": "Planned releases",
}
"""The facts that the statement prints, in this order, with their names."""


def who_publishes(facts: Facts) -> str:
    """The section with the facts that the curator gave; nothing if there are none."""
    given = facts.to_dict()
    told = {words: given[name] for name, words in _TOLD.items() if name in given}
    if not told:
        return ""
    lines = [
        f"* **{words}**: {', '.join(map(str, value)) if isinstance(value, list) else value}"
        for words, value in told.items()
    ]
    return "\n".join(["## Who publishes this data, and why", "", *lines, "", "The curator gave these facts.", "", ""])


def for_people(manifest: Manifest, kind: str, chance: str) -> str:
    """The section for the people in the data, in plain words. `kind` is the unit, and `chance` what 50 % can become."""
    lines = (f"* {line}" for line in _lines(manifest, kind, chance))
    return "\n".join(["## What this means for you, if you are in the data", "", *lines, ""])


def _lines(manifest: Manifest, kind: str, chance: str) -> Iterator[str]:
    yield _DRAWN.get(kind, _DEGREES)
    if manifest.private:
        little = manifest.receipt.epsilon_nano > CAREFUL * NANO
        yield (
            f"Before reading this release, somebody may give an even chance (50 %) to {_YOURS[kind]} being in the "
            f"data. After reading it, they can be at most {chance} sure{', which is little protection' * little}. "
            f"This holds whatever else they know, today or later.{_SEVERAL.get(kind, '')}"
        )
        yield (
            "It does not hide what is true of many people. If the data shows that people like you often fall ill, a "
            "reader learns that about you too, and would have learned it without you."
        )
    else:
        yield "**This release does not protect you.** It is for tests, and must not be made from data about people."
    yield "A release cannot be taken back, and what several releases from the same data reveal adds up."
    if manifest.facts.contact:
        yield f"Questions: {manifest.facts.contact}."


_MADE_UP = "No released {noun} is yours. All are made up from counts with random noise; one may equal yours by chance."
_DRAWN = {
    "record": _MADE_UP.format(noun="record"),
    "person": _MADE_UP.format(noun="record"),
    "set": _MADE_UP.format(noun="set"),
    "sequence": _MADE_UP.format(noun="sequence"),
}
_DEGREES = "No released number is yours. The numbers of neighbours are made up from counts with random noise."
_YOURS = {
    "record": "your record",
    "set": "your set of items",
    "sequence": "your sequence",
    "person": "any record of yours",
    "node": "you, as a node,",
    "node-isolate": "any edge of yours",
    "edge": "a certain edge of yours",
}
_SEVERAL = {
    "record": " If the data has several records of yours, they are less protected together.",
    "set": " If the data has several sets of yours, they are less protected together.",
    "sequence": " If the data has several sequences of yours, they are less protected together.",
    "edge": " All your edges together are less protected.",
}
"""What is left unsaid by a promise about one record, set, sequence or edge."""
