"""From pairs of identifiers, as they are read, to a graph: cleaned, numbered, each edge once.

A node without edges is given as a pair of the node with itself. A loop is such a pair too: it adds its node and no
edge. Cleaning is record by record: a pair with a missing or undeclared identifier is dropped as a whole, and so is a
pair with an unlisted node if all nodes are listed.

The numbers of nodes follow the public order of identifiers (cantle.trusted.bounding.node_ids), and edges are sorted by
them, so the order of the records leaves no trace.

`Graph` and `Degrees` are what cantle.data.graphs reads, and what cantle.trusted.counting.graph holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cantle.trusted.bounding.node_ids import Column, Ints, Keys, identifier, number_keys, text_keys
from cantle.trusted.core.arrays import Codes
from cantle.trusted.core.private import Private

Ends = NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Private):
    """An undirected graph without loops and double edges.

    `ends` has shape (edges, 2): numbers of nodes, the smaller first, each edge once, in ascending order. The numbers
    follow the public order of identifiers (cantle.trusted.bounding.node_ids), so that removing a node does not change
    the order of the others. `keys` is the public hash of each numbered node.

    `nodes` is the number of nodes: under `unit: node` those that were named, which is private; otherwise the public
    number of the schema, whatever was named. `listed` (public) says whether the input also names nodes without edges;
    if not, a node that loses its last edge disappears (see cantle.trusted.bounding.projection).
    """

    nodes: int
    ends: Ends
    keys: Keys
    listed: bool = True

    def true_degrees(self) -> Ints:
        """The number of edges of each numbered node."""
        return np.bincount(self.ends.reshape(-1), minlength=len(self.keys))


@dataclass(frozen=True, eq=False, repr=False)
class Degrees(Private):
    """The degrees of all nodes of a graph, ascending; for `unit: edge`, where the number of nodes is public."""

    values: Ints

    @property
    def nodes(self) -> int:
        return len(self.values)


Bools = NDArray[np.bool_]

_BLOCK = 1 << 22  # pairs processed together, to keep temporary arrays small
HEADERS = {  # usual column titles, which are not records
    (b"source", b"target"),
    (b"from", b"to"),
    (b"src", b"dst"),
    (b"src", b"dest"),
    (b"fromnodeid", b"tonodeid"),
    (b"from_node_id", b"to_node_id"),
    (b"node1", b"node2"),
    (b"node_1", b"node_2"),
    (b"id1", b"id2"),
    (b"id_1", b"id_2"),
    (b"user1", b"user2"),
}
_TITLES = {title for pair in HEADERS for title in pair}


class _Numbered(dict[bytes, int]):
    """Numbers for texts, in the order in which the texts first occur."""

    def __missing__(self, text: bytes) -> int:
        self[text] = number = len(self)
        return number


@dataclass(frozen=True, eq=False)
class Declared:
    """The declared identifiers: whole numbers between two bounds, or a list of numbers and texts."""

    low: int = 0
    high: int = -1
    numbers: Ints | None = None
    texts: frozenset[bytes] = frozenset()

    def has_numbers(self, numbers: Codes) -> Bools:
        if self.numbers is None:
            return (numbers >= self.low) & (numbers <= self.high)
        return np.isin(numbers, self.numbers)


@dataclass(frozen=True, eq=False, repr=False)
class Identified:
    """Clean pairs of identifiers: `numbers` (k, 2), and in `texts` the ends of all pairs that have a text.

    In `texts` a number is written in digits. A text of digits would be a number (cantle.trusted.bounding.node_ids), so
    no other identifier is written in the same way.
    """

    numbers: Ints
    texts: tuple[list[bytes], list[bytes]]


class Pairs(Private):
    """Collects pairs and makes them a graph."""

    def __init__(self, *, titles: bool = False) -> None:
        """With `titles`, a pair of usual column titles is not a record."""
        self._numbers: list[Codes] = []
        self._texts: list[tuple[Ints, Bools]] = []  # pairs that have a text, and which of their ends are texts
        self._known = _Numbered()
        self._titles = titles

    def add_numbers(self, pairs: Ints) -> None:
        """Adds pairs (k, 2) of whole numbers."""
        small = not len(pairs) or (pairs.min() >= -(2**31) and pairs.max() < 2**31)
        self._numbers.append(pairs.astype(np.int32) if small else pairs)

    def add(self, columns: list[Column]) -> None:
        """Adds pairs, given as two columns; a single column adds nodes."""
        for column in columns:
            index = map(self._known.__getitem__, column.texts)
            column.numbers[column.other] = np.fromiter(index, np.int64, len(column.texts))
        one, two = columns[0], columns[-1]
        pairs = np.stack([one.numbers, two.numbers], axis=1)
        mixed = one.other | two.other
        if mixed.any():
            self._texts.append((pairs[mixed], np.stack([one.other[mixed], two.other[mixed]], axis=1)))
            pairs = pairs[~mixed]
        self.add_numbers(pairs)

    def graph(self, declared: Declared | None, nodes: int | None, *, listed: bool) -> Graph:
        """The graph of all pairs; `nodes` is the public number of nodes, or None if it is private."""
        plain = self._plain(declared)
        mixed, is_text, texts = self._settle(declared)
        numbers, (plain_ends, mixed_ends) = _numbered([plain.reshape(-1), mixed[~is_text]])
        del plain
        used, (text_ends,) = _numbered([mixed[is_text]])
        mixed[~is_text], mixed[is_text] = mixed_ends, text_ends + len(numbers)
        parts: list[Codes] = [plain_ends.reshape(-1, 2), mixed]
        ends = _edges(parts)
        keys = np.concatenate([number_keys(numbers), text_keys([texts[i] for i in used.tolist()])])
        if listed:
            ends, keys = _between_listed(parts, ends, keys)
        return Graph(len(keys) if nodes is None else nodes, ends, keys, listed)

    def identified(self, declared: Declared | None) -> Identified:
        """All pairs of identifiers, including loops and repeats."""
        plain = self._plain(declared)
        mixed, is_text, texts = self._settle(declared)
        whole = ~is_text.any(axis=1)
        one, two = (
            [texts[end] if text else b"%d" % end for end, text in zip(ends.tolist(), known.tolist(), strict=True)]
            for ends, known in zip(mixed[~whole].T, is_text[~whole].T, strict=True)
        )
        return Identified(np.concatenate([plain, mixed[whole]]).astype(np.int64), (one, two))

    def _plain(self, declared: Declared | None) -> Codes:
        """The pairs of two plain numbers, without those that have an undeclared one."""
        plain = np.concatenate([np.empty((0, 2), dtype=np.int32), *self._numbers])
        self._numbers = []
        return plain if declared is None else plain[declared.has_numbers(plain).all(axis=1)]

    def _settle(self, declared: Declared | None) -> tuple[Ints, Bools, list[bytes]]:
        """The pairs that are not two plain numbers: as numbers, and for texts as their positions in the public order.
        Pairs that have a missing or undeclared identifier, or are titles, are left out."""
        pairs = np.concatenate([np.empty((0, 2), dtype=np.int64), *(pairs for pairs, _ in self._texts)])
        other = np.concatenate([np.empty((0, 2), dtype=np.bool_), *(other for _, other in self._texts)])
        known = [identifier(text) for text in self._known]
        self._texts, self._known = [], _Numbered()
        if not known:
            return pairs, other, []
        texts = sorted({one for one in known if isinstance(one, bytes)})
        rank = {text: number for number, text in enumerate(texts)}
        values = np.array([rank[k] if isinstance(k, bytes) else k or 0 for k in known], dtype=np.int64)
        kinds = np.array([isinstance(k, bytes) for k in known], dtype=np.bool_)
        good = np.array([_may_occur(k, declared) for k in known], dtype=np.bool_)
        index = np.where(other, pairs, 0)  # for numbers the index is not used
        pairs, is_text = np.where(other, values[index], pairs), other & kinds[index]
        keep = (good[index] | ~other).all(axis=1)
        if declared is not None:
            keep &= (is_text | declared.has_numbers(pairs)).all(axis=1)
        if self._titles:
            keep &= ~_are_titles(pairs, is_text, rank)
        return pairs[keep], is_text[keep], texts


def _may_occur(known: int | bytes | None, declared: Declared | None) -> bool:
    """Whether an identifier exists, and is declared if it is a text; numbers are checked together."""
    return known is not None and (declared is None or isinstance(known, int) or known in declared.texts)


def _are_titles(pairs: Ints, other: Bools, rank: dict[bytes, int]) -> Bools:
    """Which pairs are the usual titles of two columns."""
    titles = np.zeros(len(pairs), dtype=np.bool_)
    spelt: dict[bytes, list[int]] = {}
    for text in [text for text in rank if text.lower() in _TITLES]:
        spelt.setdefault(text.lower(), []).append(rank[text])
    for one, two in HEADERS:
        if one in spelt and two in spelt:
            titles |= np.isin(pairs[:, 0], spelt[one]) & np.isin(pairs[:, 1], spelt[two]) & other.all(axis=1)
    return titles


def _numbered(columns: list[Codes]) -> tuple[Ints, list[NDArray[np.int32]]]:
    """The distinct values of all columns in ascending order, and for each value its position among them."""
    some = [column for column in columns if len(column)]
    if not some:
        return np.empty(0, dtype=np.int64), [np.empty(0, dtype=np.int32) for _ in columns]
    low, high = min(int(column.min()) for column in some), max(int(column.max()) for column in some)
    if high - low < 2 * sum(map(len, some)) + 65_536:
        return _by_table(columns, low, high)
    values, places = np.unique(np.concatenate(columns).astype(np.int64, copy=False), return_inverse=True)
    return values, np.split(places.astype(np.int32), np.cumsum([len(column) for column in columns])[:-1])


def _by_table(columns: list[Codes], low: int, high: int) -> tuple[Ints, list[NDArray[np.int32]]]:
    """`_numbered` by a table of all values from `low` to `high`, for values that are close together."""
    seen = np.zeros(high - low + 1, dtype=np.bool_)
    for column in columns:
        for at in range(0, len(column), _BLOCK):
            seen[column[at : at + _BLOCK].astype(np.int64) - low] = True
    place = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    places = []
    for column in columns:
        out = np.empty(len(column), dtype=np.int32)
        for at in range(0, len(column), _BLOCK):
            out[at : at + _BLOCK] = place[column[at : at + _BLOCK].astype(np.int64) - low]
        places.append(out)
    return np.flatnonzero(seen) + low, places


def _between_listed(parts: list[Codes], ends: Ends, keys: Keys) -> tuple[Ends, Keys]:
    """If all nodes are listed, only those count, and only edges between them: a node known only from its edges would
    disappear with its last neighbour, so one node could change the number of nodes by any amount."""
    own = np.zeros(len(keys), dtype=np.bool_)
    for pairs in parts:
        own[pairs[pairs[:, 0] == pairs[:, 1], 0]] = True
    if own.all():
        return ends, keys
    place = np.cumsum(own, dtype=np.int32) - np.int32(1)
    return np.ascontiguousarray(place[ends[own[ends].all(axis=1)]]), keys[own]


def _edges(parts: list[Codes]) -> Ends:
    """The edges of all pairs, each once, the smaller end first, ascending; loops are left out."""
    code = np.empty(sum(map(len, parts)), dtype=np.int64)
    at = 0
    for pairs in parts:
        for start in range(0, len(pairs), _BLOCK):
            block = pairs[start : start + _BLOCK].astype(np.int64)
            low, high = block.min(axis=1), block.max(axis=1)
            low, high = low[low < high], high[low < high]
            code[at : at + len(low)] = low << 32 | high
            at += len(low)
    code = code[:at]
    code.sort()
    first = np.ones(at, dtype=np.bool_)
    np.not_equal(code[1:], code[:-1], out=first[1:])
    code = code[first]
    ends = np.empty((len(code), 2), dtype=np.int32)
    ends[:, 0], ends[:, 1] = code >> 32, code & 0xFFFFFFFF
    return ends
