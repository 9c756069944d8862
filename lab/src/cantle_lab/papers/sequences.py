"""Sequences in the lab: data sets, measures of how alike two collections are, and baselines from the literature.

Baselines are short implementations of published ideas, with float noise and without their authors' tuning: chains of
order 1 to 3; variable-length n-grams (Chen, Acs & Castelluccia 2012); the prefix tree of Chen, Fung, Desai & Sossou
(2012); and the prediction suffix tree of PrivTree (Zhang, Xiao & Xie 2016). All get the longest length as public.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from cantle_lab.papers.metrics import variation

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
LEVELS = 5
"""Most symbols of an n-gram."""
_PRIOR = 5.0


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequence i holds codes[starts[i]:starts[i + 1]], each below `symbols`; none has more than `longest`."""

    starts: Ints
    codes: Ints
    symbols: int
    longest: int

    @staticmethod
    def of(rows: list[list[int]], symbols: int, longest: int) -> Sequences:
        kept = [row[:longest] for row in rows if row]
        starts = np.cumsum([0, *map(len, kept)])
        return Sequences(starts, np.array([code for row in kept for code in row], dtype=np.int64), symbols, longest)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)

    def take(self, mine: npt.NDArray[np.bool_]) -> Sequences:
        """Some of them."""
        starts = np.append(0, np.cumsum(self.lengths[mine]))
        return Sequences(starts, self.codes[np.repeat(mine, self.lengths)], self.symbols, self.longest)

    def schema(self) -> dict[str, object]:
        items = {"minimum": 0, "maximum": self.symbols - 1}
        return {"kind": "sequences", "items": items, "max_length": self.longest}

    def rows(self) -> list[list[int]]:
        codes = self.codes.tolist()
        return [codes[a:b] for a, b in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)]


# ---- data -------------------------------------------------------------------------------------------------------


def load(name: str, folder: Path) -> Sequences:
    """A data set in a folder of data."""
    if name == "msnbc":
        with lzma.open(folder / "msnbc" / "msnbc990928.seq.xz", "rt") as file:
            words = [line.split() for line in file]
        return Sequences.of([[int(w) - 1 for w in line[:20]] for line in words if line and line[0].isdigit()], 17, 20)
    if name == "metro":
        with lzma.open(folder / "metro" / "metro.seq.xz", "rt") as file:
            return Sequences.of([[int(word) - 1 for word in line.split()] for line in file], 68, 30)
    with lzma.open(folder / "helpdesk" / "helpdesk.csv.xz", "rb") as file:
        log = pl.read_csv(file.read(), columns=["Case ID", "Activity", "Complete Timestamp"])
    names = {name: code for code, name in enumerate(sorted(log["Activity"].unique().to_list()))}
    cases = log.sort("Complete Timestamp", maintain_order=True).group_by("Case ID", maintain_order=True)
    rows = [[names[one] for one in case] for case in cases.agg("Activity")["Activity"].to_list()]
    return Sequences.of(rows, len(names), 20)


# ---- measures ---------------------------------------------------------------------------------------------------


def strings(data: Sequences, size: int) -> tuple[Ints, Ints]:
    """The strings of so many symbols, and how often each occurs."""
    count = len(data.codes) - size + 1
    if count < 1:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    owner = np.repeat(np.arange(len(data)), data.lengths)
    cell = np.zeros(count, np.int64)
    for place in range(size):
        cell = cell * data.symbols + data.codes[place : place + count]
    return np.unique(cell[owner[:count] == owner[size - 1 :]], return_counts=True)


def distance(one: tuple[Ints, Ints], two: tuple[Ints, Ints]) -> float:
    """Half the sum of differences of shares."""
    keys = np.union1d(one[0], two[0])
    counts = np.zeros((2, len(keys)))
    for row, (cells, number) in zip(counts, (one, two), strict=True):
        row[np.searchsorted(keys, cells)] = number
    return variation(*counts)


def top(data: Sequences, most: int = 100) -> set[tuple[int, int]]:
    """The most frequent strings of 1 to 4 symbols."""
    found = list[tuple[int, int, int]]()
    for size in range(1, 5):
        cells, number = strings(data, size)
        best = np.argsort(-number, kind="stable")[:most]
        found += [(-int(number[at]), size, int(cells[at])) for at in best.tolist()]
    return {(size, cell) for _, size, cell in sorted(found)[:most]}


def edges(data: Sequences) -> tuple[Ints, Ints]:
    """What follows what directly, with start and end."""
    base = data.symbols + 1
    after = np.append(data.codes[1:], data.symbols)
    after[data.starts[1:] - 1] = data.symbols
    begins = base * base + data.codes[data.starts[:-1]]
    return np.unique(np.append(data.codes * base + after, begins), return_counts=True)


def perplexity(learnt: Sequences, held: Sequences) -> float:
    """How many symbols a model that was learnt from some sequences hesitates between in others: the next symbol after
    the last two, each order moved towards the one below as if by `_PRIOR` more observations."""
    chance: Floats = np.full(len(held.codes) + len(held), 1 / (held.symbols + 1))
    for order in range(3):
        base, context, following = held.symbols + 1, *_events(learnt, order)
        wanted, after = _events(held, order)
        seen = _number_of(wanted * base + after, context * base + following)
        chance = (seen + _PRIOR * chance) / (_number_of(wanted, context) + _PRIOR)
    return float(np.exp(-np.log(chance).mean()))


def _number_of(wanted: Ints, among: Ints) -> Ints:
    cells, number = np.unique(among, return_counts=True)
    at = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
    return np.where(cells[at] == wanted, number[at], 0)


def measures(true: Sequences, made: Sequences, held: Sequences) -> dict[str, float]:
    """How alike two collections are: a share of found strings; distances, which are best at 0; and the perplexity of
    what one of them says about further sequences, divided by that of what the other one says."""
    starts = [np.unique(one.codes[one.starts[:-1]], return_counts=True) for one in (true, made)]
    ends = [np.unique(one.codes[one.starts[1:] - 1], return_counts=True) for one in (true, made)]
    return {
        "top 100": len(top(true) & top(made)) / 100,
        "lengths": distance(*(np.unique(one.lengths, return_counts=True) for one in (true, made))),
        **{f"{size}-grams": distance(strings(true, size), strings(made, size)) for size in (1, 2, 3)},
        "starts": distance(*starts),
        "ends": distance(*ends),
        "directly follows": distance(edges(true), edges(made)),
        "perplexity": perplexity(made, held) / perplexity(true, held),
    }


# ---- baselines --------------------------------------------------------------------------------------------------

Table = tuple[Ints, Floats]
"""Cells (context, next) and their weights, ascending."""


def _events(data: Sequences, order: int) -> tuple[Ints, Ints]:
    """For each symbol, and for the end, the context of so many symbols before it, and itself; start and end have the
    code `symbols`."""
    base, lengths = data.symbols + 1, data.lengths + 1
    starts = np.append(0, np.cumsum(lengths))
    codes = np.full(starts[-1], data.symbols, np.int64)
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    codes[place < np.repeat(data.lengths, lengths)] = data.codes
    context = np.zeros(len(codes), np.int64)
    for back in range(order, 0, -1):
        before = np.append(np.full(back, data.symbols), codes[:-back])
        context = context * base + np.where(place >= back, before, data.symbols)
    return context, codes


def _above(cells: Ints, counts: Ints, total: int, scale: float, least: float, dice: np.random.Generator) -> Table:
    """Noisy counts from a threshold on; empty cells are drawn without listing them."""
    noisy = counts + dice.laplace(0, scale, len(counts))
    number = min(dice.binomial(min(total - len(cells), 2**62), 0.5 * np.exp(-least / scale)), 3_000_000)
    empty = np.setdiff1d(dice.integers(0, total, number), cells)
    every = np.append(cells[noisy > least], empty)
    weight = np.append(noisy[noisy > least], least + dice.exponential(scale, len(empty)))
    order = np.argsort(every)
    return every[order], weight[order]


def _walk(tables: dict[int, Table], data: Sequences, dice: np.random.Generator) -> Sequences:
    """As many sequences as there are, drawn symbol by symbol from the longest context with a weight."""
    base, most = data.symbols + 1, max(tables)
    history = np.full((len(data), most), data.symbols, np.int64)
    drawn, alive = np.full((len(data), data.longest), -1, np.int64), np.arange(len(data))
    for place in range(data.longest):
        following = np.full(len(alive), -1, np.int64)
        for order in sorted(tables, reverse=True):
            cells, weight = tables[order]
            open_ = np.flatnonzero(following < 0)
            if not len(cells) or not len(open_):
                continue
            context = np.zeros(len(open_), np.int64)
            for column in range(most - order, most):
                context = context * base + history[alive[open_], column]
            sums = np.append(0.0, np.cumsum(weight))
            first, last = (np.searchsorted(cells, (context + more) * base) for more in (0, 1))
            mass = sums[first] + dice.random(len(open_)) * (sums[last] - sums[first])
            at = np.searchsorted(sums, mass, side="right") - 1
            known = last > first
            following[open_[known]] = cells[np.clip(at, first, np.maximum(first, last - 1))[known]] % base
        following[following < 0] = data.symbols
        if not place:  # no sequence is empty
            following = np.where(following == data.symbols, dice.integers(0, data.symbols, len(alive)), following)
        alive, following = alive[following < data.symbols], following[following < data.symbols]
        drawn[alive, place] = following
        history[alive] = np.column_stack([history[alive, 1:], following]) if most else history[alive]
    lengths = (drawn >= 0).sum(axis=1)
    return Sequences(np.append(0, np.cumsum(lengths)), drawn[drawn >= 0], data.symbols, data.longest)


def chain(order: int) -> Callable[[Sequences, float, np.random.Generator], Sequences]:
    """A chain whose transitions are counted with noise for the longest length."""

    def made(data: Sequences, epsilon: float, dice: np.random.Generator) -> Sequences:
        context, following = _events(data, order)
        base, scale = data.symbols + 1, (data.longest + 1) / epsilon
        cells, counts = np.unique(context * base + following, return_counts=True)
        total = base ** (order + 1)
        least = scale * max(0.5 * np.log(base**order), np.log(max(2.0, total / 2e6)))
        return _walk({order: _above(cells, counts, total, scale, least, dice)}, data, dice)

    return made


def ngrams(data: Sequences, epsilon: float, dice: np.random.Generator) -> Sequences:
    """Variable-length n-grams: a level per symbol more, of those contexts that passed the level before."""
    base, scale, tables = data.symbols + 1, LEVELS * (data.longest + 1) / epsilon, dict[int, Table]()
    least, parents = scale * np.log(max(2.5, base / 2)), np.zeros(1, np.int64)
    for order in range(LEVELS):
        context, following = _events(data, order)
        inside = np.isin(context, parents)
        cells, counts = np.unique(context[inside] * base + following[inside], return_counts=True)
        listed = np.searchsorted(parents, cells // base) * base + cells % base
        found, weight = _above(listed, counts, len(parents) * base, scale, least if order else 0.0, dice)
        tables[order] = parents[found // base] * base + found % base, weight
        starts = sum(data.symbols * base**back for back in range(order + 1))
        parents = np.unique(np.append(tables[order][0][tables[order][0] % base < data.symbols], starts))
    return _walk(tables, data, dice)


def suffix_tree(data: Sequences, epsilon: float, dice: np.random.Generator) -> Sequences:
    """PrivTree's prediction suffix tree: contexts grow to the left while a biased noisy score is positive; half of
    epsilon pays for the tree, half for the histograms of its leaves."""
    base, bound, tables = data.symbols + 1, data.longest + 1, dict[int, Table]()
    scale = (2 * base - 1) / (base - 1) * 2 * bound / epsilon
    live = np.zeros(1, np.int64)
    for order in range(LEVELS):
        context, following = _events(data, order)
        inside = np.isin(context, live)
        cells, counts = np.unique(context[inside] * base + following[inside], return_counts=True)
        at, largest = np.searchsorted(live, cells // base), np.zeros(len(live))
        np.maximum.at(largest, at, counts)
        score = np.bincount(at, counts, len(live)) - largest - order * scale * np.log(base)
        noisy = np.maximum(score, -scale * np.log(base)) + dice.laplace(0, scale, len(live))
        grows = (noisy > 0) & (order < LEVELS - 1)
        grows &= np.cumsum(grows) * base <= 2_000_000
        leaves, leaf_scale = live[~grows], 2 * bound / epsilon
        if len(leaves):
            mine = ~grows[at]
            listed = np.searchsorted(leaves, cells[mine] // base) * base + cells[mine] % base
            least = leaf_scale * float(np.log(base))
            found, weight = _above(listed, counts[mine], len(leaves) * base, leaf_scale, least, dice)
            tables[order] = leaves[found // base] * base + found % base, weight
        if not grows.any():
            break
        live = np.sort((np.arange(base)[:, None] * base**order + live[grows]).ravel())
    return _walk(tables, data, dice)


def prefix_tree(data: Sequences, epsilon: float, dice: np.random.Generator) -> Sequences:
    """The prefix tree of 2012 without a taxonomy: a level per symbol, sequences cut after ten."""
    base, levels = data.symbols + 1, min(10, data.longest)
    scale, node = levels / epsilon, np.zeros(len(data), np.int64)
    prefixes, weights, rows = list[Ints](), list[Floats](), np.zeros((1, 0), np.int64)
    for level in range(levels):
        longer = data.lengths > level
        symbol = np.where(longer, data.codes[np.minimum(data.starts[:-1] + level, len(data.codes) - 1)], data.symbols)
        cell, inside = node * base + symbol, node >= 0
        cells, counts = np.unique(cell[inside], return_counts=True)
        least = scale * max(2 * 2**0.5, np.log(len(rows) * base / 50 + 1))
        found, weight = _above(cells, counts, len(rows) * base, scale, least, dice)
        goes_on = (found % base < data.symbols) & (level < levels - 1)
        ended = rows[found[~goes_on] // base]
        last = found[~goes_on] % base
        prefixes.append(np.column_stack([ended, last, np.full((len(last), levels - level - 1), data.symbols)]))
        weights.append(weight[~goes_on])
        rows = np.column_stack([rows[found[goes_on] // base], found[goes_on] % base])
        place = np.searchsorted(found[goes_on], cell)
        hit = inside & (np.append(found[goes_on], -1)[place] == cell)
        node = np.where(hit, place, -1)
        if not len(rows):
            break
    every, weight = np.concatenate(prefixes), np.concatenate(weights)
    usable = (every[:, 0] < data.symbols) & (weight > 0)
    every, weight = (every[usable], weight[usable]) if usable.any() else (np.zeros((1, 1), np.int64), np.ones(1))
    drawn = every[dice.choice(len(every), len(data), p=weight / weight.sum())]
    held = np.cumsum(drawn == data.symbols, axis=1) == 0
    return Sequences(np.append(0, np.cumsum(held.sum(axis=1))), drawn[held], data.symbols, data.longest)


BASELINES: dict[str, Callable[[Sequences, float, np.random.Generator], Sequences]] = {
    "chain, order 1": chain(1),
    "chain, order 2": chain(2),
    "chain, order 3": chain(3),
    "n-grams": ngrams,
    "prefix tree": prefix_tree,
    "suffix tree": suffix_tree,
}
