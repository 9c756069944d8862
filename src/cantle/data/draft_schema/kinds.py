"""The drafts of schemas of each kind of data, by its name in schemas."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from cantle.data.draft_schema import families, graphs, sequences, sets, tables
from cantle.errors import ParameterError
from cantle.schema import DEFAULT

_PACKED = (".gz", ".xz", ".bz2")


class DraftedKind(Protocol):
    """What the module of a kind of data provides."""

    @property
    def LISTS_COLUMNS(self) -> bool:  # noqa: N802 - a constant of the module
        """Whether the draft lists columns, which a code book, answers or the values themselves can describe."""

    def recognises(self, path: Path, ending: str, packed: bool) -> bool:
        """Whether the name of a file, or the types that it declares, say that it is of this kind.

        `ending` is that of the file inside, if it is packed.
        """

    def needs_header(self, path: str | os.PathLike[str]) -> bool:
        """Whether a draft needs to know if the file starts with column names."""

    def draft_of(self, path: Path, header_row: int | None) -> str:
        """The text of the draft; `header_row` is the line that holds column names (0: none), if that is needed."""


KINDS: dict[str, DraftedKind] = {
    "table": tables,
    "sets": sets,
    "sequences": sequences,
    "graph": graphs,
    "families": families,
}


def kind_of(path: Path, asked: str | None) -> str:
    """The kind of data: as requested, otherwise by the ending of the file's name, or by the types of a Parquet file's
    columns."""
    if asked is not None:
        if asked not in KINDS:
            *first, last = KINDS
            raise ParameterError(f"--kind must be {', '.join(first)} or {last}, got {asked!r}")
        return asked
    packed = path.suffix.lower() in _PACKED
    ending = (path.with_suffix("") if packed else path).suffix.lower()
    if ending == ".txt" and not packed:  # as a table, its first line would become column names
        fix = "say which: --kind table, sets, sequences or graph"
        raise ParameterError(f"{path.name!r} may be a table, sets, sequences or edges; {fix}")
    return next((name for name, kind in KINDS.items() if kind.recognises(path, ending, packed)), DEFAULT)
