"""Releases of degree sequences: how degrees are stored, returned and described, and what they are good for.

That follows from the noise in the counts, and from what is a guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cantle.release.kinds import Texts, worded
from cantle.release.manifest import Manifest
from cantle.release.storage import as_polars
from cantle.release.structures import traits_of
from cantle.release.words import Uses, declared_names

if TYPE_CHECKING:
    from cantle.release import Release
    from cantle.release.answers.estimates import Estimate
    from cantle.schema.canonical_json import JSON

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


def _number_of_nodes(manifest: Manifest) -> str:
    """A sentence about how far the released number of nodes may be off, if it was measured."""
    error = manifest.summary.get("nodes_error", 0)
    if not error:
        return ""
    number = manifest.summary["records"]
    said = f"The number of nodes, {number:,}, is noisy: in about 19 of 20 releases the noise is at most {error:,}."
    lost = "Nodes without edges are missing too, and so are nodes that lost all their edges to the bound on degrees."
    return f"\n{said}" + ("" if manifest.summary["nodes_listed"] else f" {lost}")


def _guessed(manifest: Manifest) -> str:
    """A sentence that says that the largest degrees are a guess, because degrees were counted only up to the bound."""
    number, bound = manifest.summary.get("guessed", 0), manifest.summary["theta"]
    if not number:
        return ""
    what = f"{number} degrees above {bound} are a guess" if number > 1 else f"The degree above {bound} is a guess"
    return f"\n**{what}**: degrees were counted up to {bound}; of larger ones only the noisy number of edges is known."


def _fitted(manifest: Manifest) -> str:
    ranges = "leaves" in manifest.summary
    how = "nodes have the lowest degree of their range" if ranges else "degrees are fitted to the noisy counts"
    return f"{how}; nothing is drawn at random"


def _texts(manifest: Manifest) -> Texts:
    counts = f"A sequence of {manifest.summary['records']:,} degrees, made from the noisy counts of"
    how = _fitted(manifest)
    said = f"{counts} {traits_of(manifest).in_words}. {how[0].upper()}{how[1:]}.\nNo edge is released."
    described: dict[str, JSON] = {"schema": {"fields": [{"name": "degree", "type": "integer"}]}}
    names = declared_names(manifest, "nodes")
    return Texts(
        said + _number_of_nodes(manifest) + _guessed(manifest),
        how,
        f"All undirected graphs without loops on public names of nodes ({names}).",
        {"csv": described, "parquet": described},
    )


KIND = worded("graph", uses, _texts)
