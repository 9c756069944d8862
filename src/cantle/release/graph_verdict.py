"""What a release of degrees is good for. It follows from the noise in its counts and from what is a guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cantle.release.data_file import as_polars
from cantle.release.verdict_words import Uses

if TYPE_CHECKING:
    from cantle.release import Release
    from cantle.release.answers.estimates import Estimate

DROWNED = 1 / 4
"""Share of the nodes above which noise leaves little of a degree sequence."""

WAY_OUT = "it takes more nodes or a larger epsilon"
NUMBERS = "how many nodes have few or many neighbours, averages and quantiles of degrees"
ABSENT = "who is connected to whom, clustering, communities, distances: none of these is in the release"


def uses(release: Release) -> Uses:
    summary = release.manifest.summary
    nodes = summary["records"]
    if not nodes:
        return Uses((f"nothing but that there are few nodes: {WAY_OUT}",), (NUMBERS, ABSENT))
    guessed, bound = summary.get("guessed", 0), summary.get("theta", 0)
    largest = (f"degrees above {bound:,}: those of {guessed:,} nodes are a guess",) if guessed else ()
    if (margin := node_margin(release)) <= nodes * DROWNED:
        return Uses((NUMBERS,), (*largest, ABSENT))
    noise = f"they are known to ±{margin:,} of {nodes:,} nodes; {WAY_OUT}"
    rough = "rough ideas: about how many nodes there are, and of which size most degrees are"
    return Uses((rough,), (f"{NUMBERS}: {noise}", *largest, ABSENT))


def node_margin(release: Release) -> int:
    """How far noise and guesses move a number of nodes.

    It is the largest of three: the noise in the number of all nodes, the noise in the number of nodes with at least the
    middle degree, and the number of nodes whose degree is a guess.
    """
    summary, estimate = release.manifest.summary, _middle(release)
    return max(round(estimate.high - estimate.value), summary.get("nodes_error", 0), summary.get("guessed", 0))


def has_confidence(release: Release) -> bool:
    """Whether noise is the whole error of a number of nodes, so that its margin holds in 95 of 100 cases."""
    return _middle(release).confidence is not None


def _middle(release: Release) -> Estimate:
    """The number of nodes with at least the middle degree."""
    degrees = as_polars(release.records, release.manifest)["degree"]
    return release.count(f"degree >= {int(degrees.median() or 0)}")  # type: ignore[arg-type]
