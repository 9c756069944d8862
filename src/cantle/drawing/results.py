"""Results of a method, ready to become a release once the curator is sealed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from cantle.drawing.records import Drawn
from cantle.trusted.core.arrays import Codes, Ints

if TYPE_CHECKING:
    import polars as pl

    from cantle.schema.canonical_json import JSON


@dataclass(frozen=True, eq=False)
class Results:
    """Records and groups, other frames by name, the numbers of the summary, and public structure for release.json."""

    drawn: Drawn | pl.DataFrame
    """The records as codes (Drawn) or as a frame; codes can be written to a file without making a frame."""
    groups: pl.DataFrame
    frames: dict[str, pl.DataFrame]
    summary: dict[str, int]
    structure: dict[str, JSON] = field(default_factory=dict)
    sets: tuple[Ints, Codes] | None = None
    """Released sets as item codes: where each begins, and the items of all."""
    families: tuple[Sequence[Codes], Ints, Sequence[Codes]] | None = None
    """Released families: the parents' codes, their numbers of children, and the children's codes."""

    @cached_property
    def records(self) -> pl.DataFrame:
        """The records as a frame."""
        return as_frame(self.drawn)


def as_frame(drawn: Drawn | pl.DataFrame) -> pl.DataFrame:
    """Records as a frame; codes are converted."""
    return drawn.frame() if isinstance(drawn, Drawn) else drawn
