"""Lengths of sequences from noisy numbers by bin: bins, and numbers per length. Post-processing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle.drawing.counts import Floats
from cantle.drawing.smooth import shrink
from cantle.trusted.geometry.boxes import Ints

_SINGLE = 24  # lengths up to this one have a bin each; then there are 8 bins per octave
_CLEAR = 4.0  # standard deviations of noise above which neighbouring lengths are taken to occur
_RATES = np.arange(1.0, 8.0, 0.25)  # powers of the length with which a tail may fall


def length_edges(longest: int) -> Ints:
    """The first length of each bin; the longest length is a bin of its own.

    >>> length_edges(30).tolist()[-4:]
    [25, 27, 29, 30]
    """
    edges, edge = list[int](), 1
    while edge < longest:
        edges.append(edge)
        edge += 1 if edge <= _SINGLE else 1 << (edge.bit_length() - 4)
    return np.array([*edges, longest], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class LengthModel:
    """How many sequences have each length: entry t is about length t, up to the longest possible."""

    number: Floats

    @property
    def records(self) -> float:
        return float(self.number.sum())

    @property
    def symbols(self) -> float:
        """The symbols of all sequences together."""
        return float((self.number * np.arange(len(self.number))).sum())

    def longer(self, length: int) -> float:
        """How many sequences are longer."""
        return float(self.number[length + 1 :].sum())

    def drawn(self, records: float) -> Ints:
        """How many of so many sequences have each length."""
        share = records / max(1e-9, float(self.number.sum()))
        ends = np.rint(np.cumsum(self.number) * share).astype(np.int64)
        return ends - np.append(0, ends[:-1])


def fit_lengths(noisy: Ints, edges: Ints, scale: float, longest: int) -> LengthModel:
    """The numbers behind the noisy ones. Beyond the last lengths that stand out from the noise, a tail falls as a power
    of the length, with as many sequences as the noisy numbers there suggest."""
    width = np.diff(np.append(edges, longest + 1))
    value, sd = noisy.astype(float), 2**0.5 * scale
    sums = np.concatenate([np.zeros(1), np.cumsum(value)])
    spans = np.arange(len(sums))[None] - np.arange(len(sums))[:, None]
    stands_out = np.where(spans > 0, (sums[None] - sums[:, None]) / (sd * np.maximum(spans, 1) ** 0.5), -np.inf)
    clear = stands_out >= min(_CLEAR, float(stands_out.max()))
    last = int(np.flatnonzero(clear.any(axis=1)).max())  # where the last clear stretch begins
    kept = int(np.flatnonzero(clear[last]).min())
    number, records = np.zeros(longest + 1), max(0.0, float(sums[kept]))
    if records < 0.5:
        return LengthModel(number)
    bins = width[:kept]
    density = np.maximum(value[:kept] / bins, 0.0)
    padded = np.pad(density, 2, mode="edge")
    around = np.mean([padded[place : place + kept] for place in range(5)], axis=0)
    made = shrink(value[:kept], around * bins, scale)
    end = int(bins.sum())
    number[1 : end + 1] = np.repeat(made * (records / max(float(made.sum()), 1e-9)) / bins, bins)
    rest, noise = float(value[kept:].sum()), sd * (len(value) - kept) ** 0.5
    if rest > noise:
        tails = (np.arange(end + 1, longest + 1) / end) ** -_RATES[:, None]
        more, usual = rest - noise**2 / rest, number[max(1, end - max(2, end // 4)) : end + 1].mean()
        tail = tails[np.argmin(np.abs(usual * tails.sum(axis=1) - more))]
        number[end + 1 :] = more * tail / tail.sum()
    return LengthModel(number)
