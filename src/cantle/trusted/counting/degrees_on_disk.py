"""Degrees of edge lists larger than memory.

This is for `unit: edge`, where all questions are about the degrees of a public number of nodes. A store brings clean
pairs of identifiers (cantle.trusted.bounding.graph_pairs) together by edge, so that each edge is kept once, whatever
its direction; then it brings the ends of edges together by node, where they are counted. Only how many nodes have each
degree is kept: the engine of graphs (cantle.trusted.counting.graph) then holds the list of degrees, as if it had been
given (Claims 35 and 36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cantle.trusted.bounding.graph_arrays import Degrees
from cantle.trusted.bounding.graph_pairs import Identified
from cantle.trusted.bounding.node_ids import Keys, identifier, number_keys, pair_keys, text_keys
from cantle.trusted.core.arrays import Ints
from cantle.trusted.counting.packing import merged
from cantle.trusted.counting.stores import Store

if TYPE_CHECKING:
    from polars import DataFrame

KEY = "key"
"""The column with the public hash of an edge or a node. The others hold its identifiers: numbers or texts."""


def count_degrees(parts: Iterable[Identified], nodes: int, store: Store) -> Degrees:
    """The degrees of a public number of nodes.

    As in memory, nodes that were not named have no edges, and if there are too many nodes, the largest degrees count.
    """
    edges = (edge for part in parts for edge in _edges(part))
    ends = (end for group in store.together(edges, KEY) for frame in _by_type(group) for end in _ends(frame.unique()))
    spectrum = []
    for group in store.together(ends, KEY):
        for frame in _by_type(group):
            degrees = frame["node"].value_counts()["count"].to_numpy()
            spectrum.append(np.unique(degrees, return_counts=True))
    return Degrees(_largest(*merged(spectrum), nodes))


def _edges(part: Identified) -> Iterator[DataFrame]:
    """The edges between numbers, and those with a text, the smaller end first; loops are left out."""
    one, two = np.sort(part.numbers[part.numbers[:, 0] != part.numbers[:, 1]], axis=1).T
    yield _frame(pair_keys(number_keys(one), number_keys(two)), one=one, two=two)
    texts = [sorted(ends) for ends in zip(*part.texts, strict=True) if ends[0] != ends[1]]
    if texts:
        ones, twos = zip(*texts, strict=True)
        yield _frame(pair_keys(text_keys(ones), text_keys(twos)), one=ones, two=twos)


def _ends(edges: DataFrame) -> Iterator[DataFrame]:
    """The ends of edges. A number that has edges to texts was written in digits, and is a number again."""
    ends = edges["one"].append(edges["two"])
    if ends.dtype.is_integer():
        yield _frame(number_keys(ends.to_numpy()), node=ends.to_numpy())
        return
    known = list(map(identifier, ends.to_list()))
    numbers = np.array([one for one in known if isinstance(one, int)], dtype=np.int64)
    texts = [one for one in known if isinstance(one, bytes)]
    yield _frame(number_keys(numbers), node=numbers)
    if texts:
        yield _frame(text_keys(texts), node=texts)


def _frame(keys: Keys, **identifiers: Ints | Sequence[bytes]) -> DataFrame:
    import polars as pl

    return pl.DataFrame({KEY: keys, **identifiers})


def _by_type(group: Sequence[DataFrame]) -> Iterator[DataFrame]:
    """All frames of numbers as one, and all frames of texts."""
    import polars as pl

    for schema in {tuple(frame.schema.items()): frame.schema for frame in group}.values():
        yield pl.concat([frame for frame in group if frame.schema == schema])


def _largest(degrees: Ints, many: Ints, nodes: int) -> Ints:
    """This many degrees, ascending: the largest ones, with zeros before them if there are fewer."""
    larger = np.cumsum(many[::-1])[::-1] - many
    kept = np.clip(nodes - larger, 0, many)
    return np.concatenate([np.zeros(nodes - int(kept.sum()), np.int64), np.repeat(degrees, kept)])
