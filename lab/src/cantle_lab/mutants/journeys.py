"""NOT PRIVATE, on purpose: known ways to get journeys wrong, to show that the audit catches them."""

from __future__ import annotations

import numpy as np

from cantle.audit.exact import Breakage
from cantle.audit.sets import DIVIDED
from cantle.audit.sets import FEW_PARTS as FEW
from cantle.trusted.core.arrays import Codes
from cantle.trusted.counting import sequences
from cantle.trusted.geometry.boxes import Ints
from cantle_lab.mutants.patches import Call, instead, variant


@variant
def _in_both(original: Call, starts: Ints, codes: Codes, low: int, high: int) -> tuple[Ints, Codes]:
    """A sequence of exactly the length at which sequences are divided is among the short and the long ones."""
    rows: tuple[Ints, Codes] = original(starts, codes, low - 1, high)
    return rows


@variant
def _whole_strings(original: Call, *given: object) -> tuple[Ints, Ints]:
    """Every string counts in full."""
    cells, parts = original(*given)
    return cells, np.full_like(parts, FEW)


@variant
def _end_besides(original: Call, starts: Ints, *given: object) -> tuple[Ints, Ints]:
    """The end counts once more, besides the strings of all symbols."""
    cells, parts = original(starts, *given)
    return np.append(cells, cells[starts[1:] - 1]), np.append(parts, parts[starts[1:] - 1])


JOURNEY_BREAKAGES: tuple[Breakage, ...] = (
    Breakage("Journeys: a sequence in both parts", "Claim 61: one side of the division", DIVIDED,
             (), (0,), 1302, instead(sequences, "within", _in_both)),
    Breakage("Journeys: every string counts in full", "Claim 65: parts", DIVIDED,
             (), (0, 1), 1302, instead(sequences, "string_parts", _whole_strings)),
    Breakage("Journeys: the end counts once more", "Claim 65: a string per symbol", DIVIDED,
             (), (0, 1), 1026, instead(sequences, "string_parts", _end_besides)),
)  # fmt: skip
