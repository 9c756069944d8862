"""The release in a few sentences: how strong its promise is, how accurate it is, and what it is good for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cantle.release import Release
from cantle.release.kinds import KINDS as COUNTS
from cantle.release.report.content import Tile
from cantle.release.report.kinds import KINDS
from cantle.release.statement import odds, one_given, protected
from cantle.release.words import totals
from cantle.trusted.core.budget import words_of


@dataclass(frozen=True)
class Verdict:
    """The contents of the top of the page."""

    tiles: tuple[Tile, ...]
    good: tuple[str, ...]
    bad: tuple[str, ...]


def verdict(release: Release) -> Verdict:
    m, kind = release.manifest, KINDS[release.manifest.kind]
    tiles = [_promise(release), _protects(release), _size(release), *kind.accuracy_tiles(release)]
    if m.ledger is not None:
        tiles.append(_spent(release))
    uses = COUNTS[m.kind].uses(release)
    return Verdict(tuple(tiles), uses.good, uses.bad)


def _promise(release: Release) -> Tile:
    if not release.private:
        return Tile("privacy", "none", f"{release.manifest.guarantee}. Do not publish it as private data.")
    chance = 1 / (1 + math.exp(-min(release.epsilon, 700.0)))
    sure = f"{100 * chance:.3g} %" if chance < 0.999 else "nearly 100 %"
    return Tile(
        "epsilon",
        release.manifest.epsilon,
        f"Somebody who is 50 % sure that the data contains {one_given(release.manifest)} can be at most {sure} sure "
        f"after seeing the release. The odds change {odds(release.epsilon)}.",
    )


def _protects(release: Release) -> Tile:
    m = release.manifest
    return Tile(
        "protects", protected(m), "The promise holds whatever else somebody knows, and however much they compute."
    )


def _size(release: Release) -> Tile:
    m = release.manifest
    words = f"{KINDS[m.kind].SIZE} {totals(m, COUNTS[m.kind].counted)}".rstrip()
    return Tile(COUNTS[m.kind].counted, f"{m.summary['records']:,}", words)


def _spent(release: Release) -> Tile:
    line = release.manifest.ledger
    assert line is not None
    left = "no cap is set" if line.cap_nano is None else f"{words_of(line.cap_nano - line.spent_nano)} left"
    words = f"by this data set up to this release, number {line.sequence} in its ledger; {left}."
    return Tile("spent", words_of(line.spent_nano), words)
