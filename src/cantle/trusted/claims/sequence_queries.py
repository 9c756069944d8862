"""Queries about sequences, each with its L1 sensitivity and a proof.

Sequences count with all their symbols, each with a part of one count (PARTS): a function of the record alone. A query
is its own key. What it names (bins, shares, lists) is public: it follows from the schema and from noisy answers.
tests/laws/test_sequence_sensitivity.py checks every bound by brute force.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from cantle.trusted.claims.queries import OncePerRecord, OneSegment, OwnKey
from cantle.trusted.claims.set_queries import are_cells
from cantle.trusted.core.budget import Unit
from cantle.trusted.core.keys import are_ints, are_rising
from cantle.trusted.counting.base import SequencesEngine
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.item_partitions import PARTS
from cantle.trusted.geometry.sequence_strings import SequenceDomain, Shares

MOST_ORDER = 4
"""Most symbols of a string that is counted."""

MOST_CELLS = 1 << 24
"""Most cells that are all listed."""


def _is_one_region(nodes: Frontier, domain: object) -> bool:
    return type(domain) is SequenceDomain and len(nodes) == 1


@dataclass(frozen=True)
class Lengths(OwnKey, OncePerRecord):
    """How many sequences have each length: bin b holds the lengths from edges[b] to below edges[b + 1], the last one
    all larger ones.

    Claim 62. Sensitivity 1 per record: the bins are disjoint, and a sequence has one length.
    """

    edges: tuple[int, ...]

    @property
    def cells(self) -> int:
        return len(self.edges)

    def fits(self, nodes: Frontier, domain: object) -> bool:
        return _is_one_region(nodes, domain) and are_rising(self.edges, 1, PARTS + 1) and self.edges[0] == 1


@dataclass(frozen=True)
class Strings(OwnKey):
    """Parts of sequences by string of `order` symbols.

    A sequence of t symbols has t + 1 strings: one ends at each of its symbols, and one at the end that comes after the
    last. The string holds the symbols before, as many as the order says; where the sequence has no more of them, the
    code `symbols` stands for its start, as it stands for the end in the last place. The last symbol counts fastest,
    then the one before it.

    Claim 65. Sensitivity PARTS per record: the string that begins it and the one that ends it add their shares to one
    cell each, and each of the t - 1 others adds floor(others / max(t - 1, span - 1)) to one cell. That is at most
    `others` in all, and the three shares add up to at most PARTS. Equal strings of a sequence add up in one cell, so
    the sum is the same. A sequence of one symbol has no others.
    """

    symbols: int
    order: int
    shares: Shares

    @property
    def cells(self) -> int:
        return (self.symbols + 1) ** self.order

    def _is_sound(self, nodes: Frontier, domain: object, most: int) -> bool:
        if not _is_one_region(nodes, domain) or not are_ints((self.symbols, self.order)):
            return False
        known = self.symbols == getattr(domain, "symbols", None) and 1 <= self.order <= MOST_ORDER
        return known and _are_shares(self.shares) and self.cells <= most

    def fits(self, nodes: Frontier, domain: object) -> bool:
        return self._is_sound(nodes, domain, MOST_CELLS)

    def sensitivity(self, unit: Unit) -> int:
        return PARTS * unit.max_records


def _are_shares(shares: object) -> bool:
    """Whether these are shares of at most a whole sequence."""
    if type(shares) is not Shares or not are_ints((shares.span, shares.begins, shares.ends, shares.others)):
        return False
    parts = shares.begins, shares.ends, shares.others
    return 1 <= shares.span <= PARTS and min(parts) >= 0 and sum(parts) <= PARTS


@dataclass(frozen=True, eq=False)
class ListedStrings(Strings, OneSegment):
    """The same counts where there are too many strings to list; those in `always` are given whatever their noisy value
    (Claim 54).

    The counts, and so their sensitivity, are those of `Strings` (Claim 65).
    """

    kind: ClassVar[str] = "sequences"
    everyone: ClassVar[bool] = False

    always: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def fits(self, nodes: Frontier, domain: object) -> bool:
        return self._is_sound(nodes, domain, 2**61) and are_cells(self.always, self.cells)

    def occupied(self, engine: SequencesEngine, positions: Ints, nodes: Frontier) -> tuple[Ints, Ints, Ints]:  # noqa: ARG002
        exact_cells, exact_counts = engine.strings(self.order, self.shares)
        return np.array([0, len(exact_cells)]), exact_cells, exact_counts


SEQUENCE_KEYS = (Lengths, Strings)
