"""Queries about sequences, each with its L1 sensitivity and a proof.

The root is all sequences; its one attribute is their length, and code c stands for length c + 1. So a cut at code H
divides sequences into those of at most H symbols and longer ones:

Claim 61 (division by length). A sequence has one length, and `Cuts` puts a code into exactly one of two children. So
each sequence is in one region, and regions are paid for by themselves (Claim 11): what is asked about short sequences
costs the long ones nothing.

Every query counts only the sequences of its region. Long ones count with all their symbols, each with a part of one
count (PARTS): a function of the record alone. A query is its own key. What it names (bins, classes, lists, expected
counts) is public: it follows from the schema and from noisy answers. tests/laws/test_sequence_sensitivity.py checks
every bound by brute force.
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
from cantle.trusted.geometry.boxes import Frontier, Ints, is_int64_array
from cantle.trusted.geometry.item_partitions import PARTS
from cantle.trusted.geometry.sequence_strings import SequenceDomain

MOST_PATH = 4
"""Longest sequences that are counted as whole paths."""

MOST_ORDER = 4
"""Most symbols of a string that is counted."""

MOST_CELLS = 1 << 24
"""Most cells that are all listed."""


def _is_one_region(nodes: Frontier, domain: object) -> bool:
    return type(domain) is SequenceDomain and len(nodes) == 1


def _are_classes(classes: object) -> bool:
    """Whether these are the first lengths of classes of length, from the second class on: ascending, from 2 on."""
    return (type(classes) is tuple and not classes) or are_rising(classes, 2, PARTS + 1)


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
class ShortPaths(OwnKey, OncePerRecord):
    """How many sequences are exactly each one of 1 to `longest` symbols; a region of no longer ones.

    Those of one symbol come first, then those of two, and so on; the last symbol counts fastest.

    Claim 63. Sensitivity 1 per record: a sequence of t symbols is in one cell of the table of length t, and in no other
    table.
    """

    symbols: int
    longest: int

    @property
    def cells(self) -> int:
        return sum(self.symbols**length for length in range(1, self.longest + 1))

    def fits(self, nodes: Frontier, domain: object) -> bool:
        if not _is_one_region(nodes, domain) or not are_ints((self.symbols, self.longest)):
            return False
        small = 1 <= self.longest <= MOST_PATH and self.symbols == getattr(domain, "symbols", None)
        return small and self.cells <= MOST_CELLS and bool(nodes.hi[0, 0] <= self.longest)


@dataclass(frozen=True)
class EndSymbols(OwnKey):
    """Parts of sequences by class of length and first, last or any symbol: three tables (class, symbol), one after the
    other; `weights` are the parts of a sequence in each.

    Claim 64. Sensitivity PARTS per record. A sequence of t symbols is in one class, that of its length. It adds the
    first weight to one cell and the second to one cell, and floor(w / t) to a cell for each of its t symbols, w the
    third weight. t floor(w / t) <= w, and the weights add up to at most PARTS. Sequences of more than w symbols add
    nothing to the third table.
    """

    symbols: int
    classes: tuple[int, ...]
    weights: tuple[int, int, int]

    @property
    def cells(self) -> int:
        return 3 * (len(self.classes) + 1) * self.symbols

    def fits(self, nodes: Frontier, domain: object) -> bool:
        if not _is_one_region(nodes, domain) or not are_ints(self.weights) or type(self.symbols) is not int:
            return False
        shared = len(self.weights) == 3 and min(self.weights) >= 0 and sum(self.weights) <= PARTS
        return shared and _are_classes(self.classes) and self.symbols == getattr(domain, "symbols", None)

    def sensitivity(self, unit: Unit) -> int:
        return PARTS * unit.max_records


@dataclass(frozen=True)
class Strings(OwnKey):
    """Parts of sequences by class of length and string of `order` symbols.

    A sequence of t symbols has t strings: one ends at each of its symbols from the second on, and one at the end that
    comes after the last. The string holds the symbols before, as many as the order says; where the sequence has no more
    of them, the code `symbols` stands for its start, as it stands for the end in the last place. The last symbol counts
    fastest, then the one before it; the class slowest.

    Claim 65. Sensitivity PARTS per record: of its t strings each adds floor(PARTS / t) to one cell, and
    t floor(PARTS / t) <= PARTS. Equal strings of a sequence add up in one cell, so the sum is the same. Its length
    alone says in which class it is.
    """

    symbols: int
    order: int
    classes: tuple[int, ...] = ()

    @property
    def cells(self) -> int:
        return (len(self.classes) + 1) * (self.symbols + 1) ** self.order

    def _is_sound(self, nodes: Frontier, domain: object, most: int) -> bool:
        if not _is_one_region(nodes, domain) or not are_ints((self.symbols, self.order)):
            return False
        known = self.symbols == getattr(domain, "symbols", None) and 2 <= self.order <= MOST_ORDER
        return known and _are_classes(self.classes) and self.cells <= most

    def fits(self, nodes: Frontier, domain: object) -> bool:
        return self._is_sound(nodes, domain, MOST_CELLS)

    def sensitivity(self, unit: Unit) -> int:
        return PARTS * unit.max_records


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
        exact_cells, exact_counts = engine.strings(positions, self.order, self.classes)
        return np.array([0, len(exact_cells)]), exact_cells, exact_counts


@dataclass(frozen=True, eq=False)
class StringDistance(OwnKey):
    """How far the counts of all strings of an order are from public expected ones: the sum of absolute differences, in
    parts. `places` lists the cells where something is expected, ascending, and `expected` how much.

    Claim 66. Sensitivity PARTS per record: a sequence moves the counts by at most PARTS in all (Claim 65), and in each
    cell ||x + d - e| - |x - e|| <= |d|. This is a measurement of one number, which may be halved afterwards.
    """

    symbols: int
    order: int
    places: Ints
    expected: Ints
    cells: ClassVar[int] = 1

    def fits(self, nodes: Frontier, domain: object) -> bool:
        strings = ListedStrings(self.symbols, self.order, (), self.places)
        if not strings.fits(nodes, domain) or not is_int64_array(self.expected, len(self.places)):
            return False
        return bool((self.expected >= 0).all()) and float(self.expected.sum(dtype=np.float64)) < 2.0**61

    def sensitivity(self, unit: Unit) -> int:
        return PARTS * unit.max_records


SEQUENCE_KEYS = (Lengths, ShortPaths, EndSymbols, Strings, StringDistance)
