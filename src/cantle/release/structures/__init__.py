"""What a release holds, whatever method made it: a tree, cells, tables, sets, patterns of items, or degrees.

Each structure has one module here, which has a function `traits` and a class `Opened`. Nothing else in this room knows
methods: a release names its structure, or leaves it to its method (`cantle.methods.released_structures`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import polars as pl

from cantle.errors import VerifyError
from cantle.methods.released_structures import STRUCTURE_OF
from cantle.release.document_fields import checked
from cantle.release.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cantle.drawing.counts import Dice
    from cantle.release import Release
    from cantle.release.answers.estimates import Noise
    from cantle.release.answers.noise import DirectAnswer, Share
    from cantle.release.report.content import Section
    from cantle.schema.code_sets import Key, Question
    from cantle.schema.domain import Domain
    from cantle.trusted.core.arrays import Floats, Ints

STRUCTURES = (*dict.fromkeys(STRUCTURE_OF.values()),)
"""All structures. The name of one is that of its module in this folder."""

VERSION = 1
"""The newest version of a structure that can be read here."""


@dataclass(frozen=True)
class Traits:
    """What the manifest alone says about the structure of a release."""

    in_words: str
    """What was counted with noise: for an overview, and the end of the sentence "drawn from the noisy counts of"."""
    counted: Callable[[Domain], Domain] | None = None
    """How the domain that was counted follows from that of the schema; None for other data than tables."""
    cells: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """The edges of the cells of columns that were counted one by one, so that they are right up to their noise."""
    of_ranges: bool = False
    """Whether the values of released records are ranges, not single values."""
    besides: str = ""
    """What else the statement says about it, each sentence after a line break."""


class Opened(ABC):
    """A release that was opened by the class `Opened` of its structure. What takes time is computed when needed."""

    def __init__(self, release: Release) -> None:
        self._release, self._manifest, self._groups = release, release.manifest, release.groups

    @abstractmethod
    def problems(self) -> Iterator[str]:
        """Whatever does not follow from the noisy numbers, the receipt and the seed as it should. A problem without
        which nothing else can be checked is raised as a VerifyError."""

    @abstractmethod
    def noise(self, question: Question, share: Share) -> Noise:
        """The noise in the counts that the released records of a question were drawn from."""

    def direct(self, question: Question) -> DirectAnswer | None:  # noqa: ARG002
        """The answer of noisy tables, if there are tables that answer this question by themselves; None by default."""
        return None

    def covariance(self, column: Key, edges: Ints) -> Floats:
        """The covariance of the noise in the counts of a column's cells, if columns were counted one by one."""
        raise NotImplementedError

    @abstractmethod
    def draw(self, n: int, dice: Dice) -> pl.DataFrame:
        """n records from the noisy numbers alone, or if that cannot be, drawn from the released ones."""

    @abstractmethod
    def lines(self, depth: int, everything: bool) -> Iterator[tuple[str, list[str]]]:
        """Titles, and lines that show the records and then what they were drawn from: of a tree so many levels, and
        perhaps not all of many."""

    @abstractmethod
    def report(self) -> Section | None:
        """The section of the report about what records were drawn from; None if there is nothing to show."""


def structure_of(manifest: Manifest) -> str:
    """The name of the structure of a release; VerifyError if this version of cantle cannot read it."""
    stated = manifest.structure
    name = stated.get("name", STRUCTURE_OF.get(manifest.method))
    version = checked(stated.get("version", VERSION), int, "structure.version")
    if name not in STRUCTURES or version > VERSION:
        what = f"the structure {name!r}" if "name" in stated else f"the method {manifest.method!r}"
        what += f" of version {version}" if version > VERSION else ""
        raise VerifyError(f"release.json has {what}, which this version of cantle cannot read; use a newer version")
    return str(name)


def traits_of(manifest: Manifest) -> Traits:
    """What the manifest says about the structure of its release."""
    traits: Traits = _module(manifest).traits(manifest)
    return traits


def opened(release: Release) -> Opened:
    """The release, opened by its structure; it is kept with the release."""
    kept = vars(release)
    if "_opened" not in kept:
        kept["_opened"] = _module(release.manifest).Opened(release)
    made: Opened = kept["_opened"]
    return made


def methods_of(structure: str) -> str:
    """The names of our methods that release a structure."""
    return " or ".join(method for method, name in STRUCTURE_OF.items() if name == structure)


def _module(manifest: Manifest) -> Any:
    return import_module(f"{__name__}.{structure_of(manifest)}")
