"""A random graph with released degrees. Post-processing: it reads only the release and costs nothing.

Only the degrees are preserved. A degree sequence does not determine clustering, communities or who is connected to
whom; the graph is a random one of the many simple graphs with these degrees.
"""

from __future__ import annotations

import os
import random  # igraph draws with a generator of this module; the degrees are public already
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt
import polars as pl

from cantle.errors import OutputError, ParameterError, optional, raise_alone

Ints = npt.NDArray[np.int64]

SWAPS = 10
"""Attempts per edge to swap the ends of two edges."""

NOTE = "degrees are those of the release, adjusted where no simple graph has them; clustering and all else is random"


def graphical(degrees: npt.ArrayLike) -> Ints:
    """The nearest degree sequence of a simple graph, by the sum of absolute differences; same order.

    A sequence with an even sum is graphical iff for all k the k largest degrees do not exceed what is available (Erdos
    and Gallai 1960). Let E be the largest excess over all k, 0 if none. Changing one degree by one changes an excess by
    at most 1, so no graphical sequence is nearer than E, or E + 1 if the parity of the sum requires it. Lowering a
    largest degree by one lowers E by exactly 1: within the run of largest degrees the excess is convex in k and starts
    at 0, so it is largest at the run's end or beyond, where the step counts. So E (or E + 1) steps at the top are
    enough; together they are a cap.

    >>> graphical([1, 1, 1, 9]).tolist()
    [1, 1, 1, 3]
    """
    given = _whole(degrees)
    nodes = len(given)
    inside = np.clip(given, 0, max(nodes - 1, 0))
    at_least = nodes - np.cumsum(np.bincount(inside, minlength=nodes + 1))[:nodes]  # [x]: degrees above x
    steps = int(_excess(inside, at_least).max(initial=0))
    steps += (int(inside.sum()) - steps) % 2
    return _level(inside, at_least, steps)


def _whole(degrees: npt.ArrayLike) -> Ints:
    given = np.asarray(degrees)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise ParameterError("degrees must be one list of whole numbers")
    return given.astype(np.int64)


def _excess(degrees: Ints, at_least: Ints) -> Ints:
    """For k = 1..n: the sum of the k largest, minus k (k - 1) among themselves, minus min(d, k) for each other node."""
    k = np.arange(1, len(degrees) + 1)
    largest = np.cumsum(np.sort(degrees)[::-1])
    full = np.maximum(k, at_least)  # degrees from position k to this one are at least k: they contribute k each
    others = k * (full - k) + largest[-1:] - largest[full - 1]
    return largest - k * (k - 1) - others


def _level(degrees: Ints, at_least: Ints, steps: int) -> Ints:
    """Lowers the largest degree by one, `steps` times; of several largest, always the earliest."""
    if not steps:
        return degrees
    above = np.cumsum(at_least[::-1])[::-1]  # above[c]: steps that bring every degree down to c
    cap = int((above > steps).sum())
    result = np.minimum(degrees, cap)
    rest = steps - (int(above[cap]) if cap < len(above) else 0)
    result[np.flatnonzero(result == cap)[:rest]] -= 1
    return result


def regenerate(degrees: npt.ArrayLike, seed: int | None = None) -> Ints:
    """The edges, one per row, of a random simple graph with these degrees, which are made graphical first.

    It is Havel and Hakimi's graph with the ends of edges swapped at random, ten tries per edge (igraph). The same seed
    gives the same graph.
    """
    wanted = graphical(degrees)
    if not wanted.any():
        return np.empty((0, 2), dtype=np.int64)
    igraph = _igraph()
    graph = igraph.Graph.Realize_Degree_Sequence(wanted.tolist(), method="largest")
    igraph.set_random_number_generator(random.Random(seed))
    try:
        graph.rewire(SWAPS * graph.ecount())
    finally:
        igraph.set_random_number_generator(random)  # igraph's default
    edges = np.sort(np.array(graph.get_edgelist(), dtype=np.int64), axis=1)
    return edges[np.lexsort((edges[:, 1], edges[:, 0]))]


def _igraph() -> ModuleType:
    return optional("regenerating a graph needs", "igraph", "graph")


def write_edges(edges: Ints, path: str | os.PathLike[str], nodes: int | None = None, warning: str = "") -> Path:
    """Writes a new edge list in SNAP's form.

    `nodes` is the number of nodes for the header: nodes without edges have no line. A `warning` becomes the first line,
    as a comment.
    """
    target = Path(path)
    count = f"Nodes: {nodes} " if nodes is not None else ""
    head = f"# {warning}\n" if warning else ""
    head += f"# Undirected graph: {NOTE}\n# {count}Edges: {len(edges)}\n# FromNodeId\tToNodeId\n"
    try:
        with target.open("xb") as file:
            file.write(head.encode("ascii"))
            pl.DataFrame(edges, schema=["from", "to"], orient="row").write_csv(
                file, include_header=False, separator="\t"
            )
    except FileExistsError:
        raise_alone(OutputError(f"{target} exists already; choose another -o file"))
    except OSError as error:
        raise_alone(OutputError(f"cannot write {target}: {error.strerror}"))
    return target
