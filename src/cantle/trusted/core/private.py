"""What every object that holds private records has in common: it is not shown, copied or pickled."""

from __future__ import annotations

from typing import NoReturn


class Private:
    """An object that holds private records. It has no dictionary of its own, so that classes with slots have none."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(private)"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} holds private records and cannot be pickled or copied")
