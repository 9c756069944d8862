"""The curator's own view of private data: what a schema does to a file, and how a release compares with the file.

Everything here shows private facts without noise and must not be published. `publish` uses nothing of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from html import escape

WARNING = "INTERNAL: this shows private facts without noise. Do not publish it or pass it on."
"""The first line of everything that this package prints or writes."""


class Shown(ABC):
    """A result that `print` and notebooks show with a warning above it. Its repr, which logs may hold, says nothing."""

    @abstractmethod
    def lines(self) -> Iterator[str]:
        """The result as text."""

    def __str__(self) -> str:
        return "\n".join([WARNING, "", *self.lines()])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(private; print it to read it)"

    def _repr_html_(self) -> str:
        return f'<pre style="border: 3px solid #b00020; padding: 1em">{escape(str(self))}</pre>'
