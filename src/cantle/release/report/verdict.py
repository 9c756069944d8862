"""The release in a few sentences: how strong its promise is, how accurate it is, and what it is good for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cantle.postprocess.accuracy import Accuracy, QuestionError
from cantle.release import Release
from cantle.release.accuracy import bound_of
from cantle.release.data_file import as_polars
from cantle.release.statement import odds, protected
from cantle.release.words import percent
from cantle.trusted.budget import words_of

KNOWN_TO = 0.1
"""A count is called well known if its error is at most this share of it."""

_PARTS = {"table": "column", "sets": "item"}


DROWNED = 1 / 4
"""Share of the nodes above which noise leaves little of a degree sequence."""

WAY_OUT = "it takes more nodes or a larger epsilon"


@dataclass(frozen=True)
class Tile:
    """A number in large type, what it is, and a sentence about it."""

    name: str
    value: str
    words: str


@dataclass(frozen=True)
class Verdict:
    """The contents of the top of the page."""

    tiles: tuple[Tile, ...]
    good: tuple[str, ...]
    bad: tuple[str, ...]


def verdict(release: Release) -> Verdict:
    m, accuracy = release.manifest, release.accuracy
    tiles = [_promise(release), _protects(release), _size(release)]
    if m.kind != "graph":
        tiles.append(_accuracy_tile(accuracy, m.summary["records"], _PARTS[m.kind]))
    elif m.summary["records"]:
        tiles.append(_node_tile(_node_margin(release), m.summary["records"]))
    if m.ledger is not None:
        tiles.append(_spent(release))
    good, bad = _uses(release)
    return Verdict(tuple(tiles), tuple(good), tuple(bad))


def _promise(release: Release) -> Tile:
    if not release.private:
        return Tile("privacy", "none", f"{release.manifest.guarantee}. Do not publish it as private data.")
    chance = 1 / (1 + math.exp(-min(release.epsilon, 700.0)))
    sure = f"{100 * chance:.3g} %" if chance < 0.999 else "nearly 100 %"
    return Tile(
        "epsilon",
        release.manifest.epsilon,
        f"Somebody who thinks that the chance of {protected(release.manifest)} being in the data is 50 % can be at "
        f"most {sure} sure after reading all of this. The odds change {odds(release.epsilon)}.",
    )


def _protects(release: Release) -> Tile:
    m = release.manifest
    return Tile("protects", protected(m), "Whatever else somebody knows, and however much they compute.")


def _size(release: Release) -> Tile:
    m = release.manifest
    words = {
        "table": "synthetic records; a drawn record may happen to equal a real one, which says nothing about anyone.",
        "sets": "synthetic sets of items, drawn from noisy counts.",
        "graph": "nodes, each with its released degree. Who is connected to whom is not in the release.",
    }
    return Tile(
        {"table": "records", "sets": "sets", "graph": "nodes"}[m.kind], f"{m.summary['records']:,}", words[m.kind]
    )


def _spent(release: Release) -> Tile:
    line = release.manifest.ledger
    assert line is not None
    left = "no cap is set" if line.cap_nano is None else f"{words_of(line.cap_nano - line.spent_nano)} left"
    words = f"by this data set up to this release, number {line.sequence} in its ledger; {left}."
    return Tile("spent", words_of(line.spent_nano), words)


def _accuracy_tile(accuracy: Accuracy | None, records: int, part: str) -> Tile:
    error = worst_error(accuracy)
    if error is None:
        few = accuracy is not None and not accuracy.bought
        why = "There are too few records to measure it at this epsilon" if few else "This release did not measure it"
        return Tile("accuracy", "not measured", f"{why}; error bars show the noise in counts only.")
    assert accuracy is not None
    kinds = {f"one {part}": accuracy.one_column, f"two or three {part}s": accuracy.more_columns}
    bounds = " or ".join(f"{bound_of(one):,} records ({kind})" for kind, one in kinds.items() if one is not None)
    words = (
        f"95 % of random counting questions are off by fewer than {bounds}. The noise of the measurement is included."
    )
    bound = bound_of(error)
    return Tile("accuracy", f"±{bound:,} ({percent(bound, records)})", words)


def _node_margin(release: Release) -> int:
    """How far a number of nodes may be off in 95 of 100 cases.

    It is the largest of three: the noise in the number of all nodes, the noise in the number of nodes with at least the
    middle degree, and the number of nodes whose degree is a guess.
    """
    summary, degrees = release.manifest.summary, as_polars(release.records, release.manifest)["degree"]
    estimate = release.count(f"degree >= {int(degrees.median() or 0)}")  # type: ignore[arg-type]
    return max(round(estimate.high - estimate.value), summary.get("nodes_error", 0), summary.get("guessed", 0))


def _node_tile(margin: int, nodes: int) -> Tile:
    words = "The number of all nodes, or of nodes with at least so many neighbours, is off by less in 95 of 100 cases."
    return Tile("accuracy", f"±{margin:,} ({percent(margin, nodes)})", words)


def worst_error(accuracy: Accuracy | None) -> QuestionError | None:
    """The measured error of questions about one column or about several, whichever is larger; None if not measured."""
    if accuracy is None or not accuracy.bought:
        return None
    errors = [error for error in (accuracy.more_columns, accuracy.one_column) if error is not None]
    return max(errors, key=bound_of, default=None)


def _uses(release: Release) -> tuple[list[str], list[str]]:
    """What a release is good for, and what it is not good for, as two lists of phrases."""
    m, error = release.manifest, worst_error(release.accuracy)
    if m.kind == "graph":
        return _uses_of_degrees(release)
    noun = "records" if m.kind == "table" else "sets"
    good = [f"shares, totals and tables of one, two or three {_PARTS[m.kind]}s over all {noun}"]
    bad = [f"looking up or matching single {noun}: they are made up"]
    if error is not None:
        small = max(1, bound_of(error))
        good.append(f"counts of groups of {_round(small / KNOWN_TO):,} {noun} and more: known to about 10 %")
        bad.append(f"counts of groups below {_round(small):,} {noun}: they cannot be distinguished from the error")
    if m.kind == "table":
        bad.append(
            "fine connections between four and more columns, and between columns not measured together (hatched below)"
        )
    if (filled := m.summary.get("refilled", 0)) and m.kind == "sets":
        bad.append(f"rare sets: {percent(filled, m.summary['records'])} of the sets are filled in at random")
    return good, bad


def _uses_of_degrees(release: Release) -> tuple[list[str], list[str]]:
    numbers = "how many nodes have few or many neighbours, averages and quantiles of degrees"
    absent = "who is connected to whom, clustering, communities, distances: none of these is in the release"
    nodes = release.manifest.summary["records"]
    if not nodes:
        return [f"nothing but that there are few nodes: {WAY_OUT}"], [numbers, absent]
    if (margin := _node_margin(release)) <= nodes * DROWNED:
        return [numbers], [absent]
    noise = f"they are known to ±{margin:,} of {nodes:,} nodes; {WAY_OUT}"
    return ["rough ideas: about how many nodes there are, and of which size most degrees are"], [
        f"{numbers}: {noise}",
        absent,
    ]


def _round(value: float) -> int:
    """Two leading digits.

    >>> _round(4321), _round(7.3)
    (4300, 7)
    """
    digits = max(0, len(str(int(value))) - 2)
    return int(round(value / 10**digits)) * 10**digits
