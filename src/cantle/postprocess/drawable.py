"""How much can be drawn. Post-processing: it looks at noisy numbers alone."""

from __future__ import annotations

from cantle.errors import ParameterError

MOST_DRAWN = 50_000_000
"""Records (of sets: items) of one release that fit the memory of a usual machine."""


def require_drawable(number: float, what: str) -> None:
    """Refuses to draw more: with a very small epsilon the noise alone may ask for billions of records."""
    if number > MOST_DRAWN:
        raise ParameterError(
            f"the noisy counts ask for more than {MOST_DRAWN:,} {what}, as noise does where epsilon is very small; "
            "raise epsilon"
        )
