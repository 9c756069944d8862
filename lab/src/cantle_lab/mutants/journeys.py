"""NOT PRIVATE, on purpose: known ways to get journeys wrong, to show that the audit catches them."""

from __future__ import annotations

import numpy as np

from cantle.audit.exact import Breakage
from cantle.audit.sets import FEW_PARTS as FEW
from cantle.audit.sets import IN_PARTS
from cantle.trusted.counting import sequences
from cantle.trusted.geometry.boxes import Ints
from cantle_lab.mutants.patches import Call, instead, variant


@variant
def _whole_strings(original: Call, *given: object) -> tuple[Ints, Ints]:
    """Every string counts in full."""
    cells, parts = original(*given)
    return cells, np.full_like(parts, FEW)


@variant
def _end_besides(original: Call, *given: object) -> tuple[Ints, Ints]:
    """The end counts once more, besides the strings of all symbols."""
    cells, parts = original(*given)
    return np.append(cells, cells[-1:]), np.append(parts, parts[-1:])


JOURNEY_BREAKAGES: tuple[Breakage, ...] = (
    Breakage("Journeys: every string counts in full", "Claim 65: parts", IN_PARTS,
             (), (0, 1), 426, instead(sequences, "string_parts", _whole_strings)),
    Breakage("Journeys: the end counts once more", "Claim 65: shares of a whole", IN_PARTS,
             (), (0, 1), 196, instead(sequences, "string_parts", _end_besides)),
)  # fmt: skip
