"""What a method hands over after the curator is sealed, ready to become a release."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Results:
    """Records and groups; other frames by name; a few numbers; and public structure for release.json."""

    records: pl.DataFrame
    groups: pl.DataFrame
    frames: dict[str, pl.DataFrame]
    summary: dict[str, int]
    structure: dict[str, Any] = field(default_factory=dict)
