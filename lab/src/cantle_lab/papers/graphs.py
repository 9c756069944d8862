"""The four graphs of RPS section 5.2: their readers, and the statistics of its table 1.

The files are not part of the package: `load` takes the folder that contains `graph-facebook100/` (Traud, Mucha and
Porter 2012) and `graph-email-enron/` (SNAP). A file is a SNAP edge list, plain or compressed (.xz, .gz).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cantle.errors import DataError
from cantle_lab.papers.coding import Ints
from cantle_lab.papers.harness import readable

ENDINGS = (".txt", ".txt.xz", ".txt.gz")


class Statistics(NamedTuple):
    """One line of table 1; alpha is the power law coefficient of the degree distribution."""

    nodes: int
    edges: int
    alpha: float
    max_degree: int


class Source(NamedTuple):
    """The path of a graph in the data folder, without its ending, and the statistics that the paper prints."""

    stem: str
    published: Statistics


SOURCES: Mapping[str, Source] = {
    "Caltech": Source("graph-facebook100/Caltech36", Statistics(769, 16_656, 1.14, 248)),
    "Georgetown": Source("graph-facebook100/Georgetown15", Statistics(9_414, 425_638, 1.04, 1_235)),
    "UNC": Source("graph-facebook100/UNC28", Statistics(18_163, 766_800, 1.05, 3_795)),
    "Enron": Source("graph-email-enron/email-Enron", Statistics(36_692, 183_831, 1.56, 1_383)),
}


@dataclass(frozen=True)
class Graph:
    """A simple undirected graph on the nodes 0 to `nodes` - 1; each edge is listed once, with the smaller end first."""

    name: str
    edges: Ints
    nodes: int

    @cached_property
    def degrees(self) -> Ints:
        """The degree of each node."""
        return np.bincount(self.edges.ravel(), minlength=self.nodes).astype(np.int64)

    def neighbours(self, node: int) -> Ints:
        """The nodes that share an edge with this one."""
        first, second = self.edges.T
        return np.concatenate([second[first == node], first[second == node]])


def load(data_dir: str | Path, name: str) -> Graph:
    """One of the four graphs; raises a DataError if its file does not exist or is not an edge list."""
    stem = SOURCES[name].stem
    paths = [Path(data_dir) / f"{stem}{ending}" for ending in ENDINGS]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise DataError(f"no {stem}.txt (or .txt.xz, .txt.gz) in the data folder; name the folder that contains it")
    return Graph(name, *_simple(_read(path)))


def _read(path: Path) -> Ints:
    """The pairs of node numbers in a file; raises a DataError if it is not an edge list."""
    try:
        with warnings.catch_warnings(action="ignore"):  # numpy warns of an empty file, which is an error below
            pairs = np.loadtxt(path, dtype=np.int64, comments="#", ndmin=2)
    except (OSError, EOFError, ValueError):
        pairs = np.empty((0, 0), dtype=np.int64)
    if pairs.shape[1] != 2 or pairs.min(initial=0) < 0:
        raise DataError(f"{path.name} is not an edge list; each line must hold two node numbers")
    return pairs


def _simple(pairs: Ints) -> tuple[Ints, int]:
    """Each undirected edge once (SNAP lists both directions), without loops, and the number of nodes."""
    nodes = int(pairs.max(initial=-1)) + 1
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    keys = np.unique((low * nodes + high)[low < high])
    return np.column_stack(np.divmod(keys, max(nodes, 1))), nodes


def present(data_dir: Path | None, figure: str, echo: Callable[[str], None]) -> list[Graph]:
    """The graphs whose files can be read."""
    loaders = {name: partial(load, name=name) for name in SOURCES}
    return list(readable(data_dir, figure, echo, "graph-facebook100/ and graph-email-enron/", loaders))


def statistics(graph: Graph) -> Statistics:
    """The line of table 1 for this graph."""
    degrees = graph.degrees
    return Statistics(graph.nodes, len(graph.edges), power_law(degrees), int(degrees.max(initial=0)))


def power_law(degrees: Ints) -> float:
    """The exponent alpha of the zeta distribution P[d] ~ d^-alpha, d >= 1, with the largest likelihood.

    See Clauset et al. 2009, eq. 3.7. RPS does not say how its alpha was fitted. No way that we tried (likelihood with
    and without a cut at the largest degree, slopes of the log-log distribution, of its tail or of the ranks) gives all
    four of its values.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    logs = np.log(degrees[degrees > 0])
    if not len(logs) or logs.max() == 0.0:
        return np.inf  # all degrees are 1
    optimum = minimize_scalar(
        lambda alpha: alpha * logs.mean() + np.log(zeta(alpha)), bounds=(1.0001, 20.0), method="bounded"
    )
    return float(optimum.x)
