"""What a method hands over after the curator is sealed, ready to become a release."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from cantle.postprocess.records import Drawn

if TYPE_CHECKING:
    import polars as pl


class _Records:
    """Records held by a release or results: a frame, or what was drawn, which becomes one when it is looked at."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __set__(self, thing: Any, value: Any) -> None:
        vars(thing)[self._name] = value

    def __get__(self, thing: Any, owner: type | None = None) -> Any:
        if thing is None:
            return self
        held = vars(thing)[self._name]
        if isinstance(held, Drawn):
            held = vars(thing)[self._name] = held.frame()
        return held


Holder = TypeVar("Holder", bound=type)
HELD = "records"


def holds_drawn(kind: Holder) -> Holder:
    """Lets the field `records` of a class hold what was drawn until someone looks at it."""
    setattr(kind, HELD, _Records(HELD))
    return kind


def as_drawn(thing: Any) -> Any:
    """The records that a release or results hold, as they are."""
    return vars(thing)[HELD]


@holds_drawn
@dataclass(frozen=True, eq=False)
class Results:
    """Records and groups; other frames by name; a few numbers; and public structure for release.json."""

    records: Any
    groups: pl.DataFrame
    frames: dict[str, pl.DataFrame]
    summary: dict[str, int]
    structure: dict[str, Any] = field(default_factory=dict)
