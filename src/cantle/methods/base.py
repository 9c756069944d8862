"""Recursive partitioning and summarisation, one level at a time (RPS 3.1, Algorithm 1)."""

from __future__ import annotations

import logging
from typing import Any, Protocol

from cantle.schema.domain import Domain
from cantle.trusted.curator import Curator
from cantle.trusted.geometry.boxes import Bools, Cuts, Frontier


class Method(Protocol):
    """What an algorithm supplies. It sees public regions and noisy answers, never a record."""

    domain: Domain

    def begin(self, root: Frontier, curator: Curator) -> None:
        """Questions about the whole data, paid by every path."""

    def stop(self, nodes: Frontier, curator: Curator) -> Bools:
        """Which regions are leaves."""

    def partition(self, nodes: Frontier, curator: Curator) -> Cuts:
        """A cut for each region that is not."""

    def summarize(self, leaves: Frontier, curator: Curator) -> None:
        """Noisy summaries of the leaves, with all that is left on their paths."""

    def parameters(self) -> dict[str, Any]:
        """Every keyword, given or defaulted; all public."""


def grow(method: Method, curator: Curator) -> None:
    """Runs the method over the tree; what it learns, the method keeps."""
    nodes = curator.root()
    method.begin(nodes, curator)
    while len(nodes):
        # Levels and the number of regions are public: they follow from noisy answers.
        logging.getLogger("cantle").info("level %d: %d regions", nodes.depth, len(nodes))
        leaf = method.stop(nodes, curator)
        if leaf.any():
            method.summarize(nodes.take(leaf), curator)
        rest = nodes.take(~leaf)
        if not len(rest):
            return
        nodes = curator.split(rest, method.partition(rest, curator))
