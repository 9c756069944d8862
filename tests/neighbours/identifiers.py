"""Identifiers of persons, baskets and nodes, each with all its spellings, per kind of container."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random
from typing import Any

import numpy as np
import pandas as pd

Spellings = list[list[Any]]
"""One list of spellings per identifier."""

INFERRED: Spellings = [
    [1, 1.0, True, np.int8(1)], [0, 0.0, False, -0.0], [2, 2.0], [-1, -1.0], [7], [10**15], [2**53 - 1, 2.0**53 - 1],
    ["a"], ["b"], ["é"], ["10000000000000001"], ["10000000000000000"],
]  # fmt: skip
"""Identifiers that pandas may turn into other types; integers below 2^53 keep their values in all of them."""

NOBODY: list[Any] = [
    None, float("nan"), pd.NaT, pd.NA, 1.5, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**64, float("inf"), 1j,
    timedelta(1), pd.Period("2020-01", "M"), 10**400, 5e-324,
]  # fmt: skip
"""Values that are no identifier in pandas: missing, or numbers that another type could not represent."""

TEXT: Spellings = [["1"], ["2"], ["a"], ["A"], ["é"], ["9007199254740993"], ["9007199254740992"], ["x y"], ["nan"]]
NO_TEXT = ["", "?"]

TYPED: dict[str, Spellings] = {
    "integers": [[0], [1], [-1], [2**53], [2**53 + 1], [2**63 - 1], [7]],
    "texts": [["1"], ["01"], ["1.0"], ["a"], [" a"], ["é"], ["9007199254740993"]],
    "floats": [[0.0], [1.0], [1.5], [2.0**53], [2.0**53 + 2]],
    "booleans": [[True], [False]],
    "days": [[date(2020, 1, 3)], [date(1, 1, 1)], [date(9999, 12, 31)]],
}
AWKWARD = ["", " ", "a", "A", "a ", "é", "e\u0301", "01", "1", "1.0", "\\", "'"]
"""Texts that distinguish persons or baskets after the number of a pair, and that an engine may take for equal."""
ODD_TEXT: list[Any] = ["?", "", b"a", (1,), {}, "\ud800"]


def cast(dice: Random, known: Spellings, most: int) -> tuple[list[list[Any]], list[Any]]:
    """Identifiers for D, and one more for D', each from a different list of spellings."""
    chosen = dice.sample(known, min(len(known), dice.randint(1, most + 1)))
    return chosen[1:], chosen[0]
