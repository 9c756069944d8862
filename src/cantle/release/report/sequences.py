"""The report of a release of sequences: what follows what, lengths, frequent sequences and strings, starts and ends.

And how much of it was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cantle.release import Release
from cantle.release.answers.estimates import HELD, NOISE_ONLY, Estimate
from cantle.release.answers.item_answers import SequenceAsker
from cantle.release.report.charts import LABEL
from cantle.release.report.content import BASIS, CONFIDENCE, Figure, Section, by_size, card_of, numbers, weakest
from cantle.release.report.groupings import Ints
from cantle.release.report.pairs import row_shares
from cantle.release.sequences import knows_order, most_frequent
from cantle.schema.code_sets import CodeSet, OneColumn


def sections(release: Release) -> list[Section]:
    if not release.manifest.summary["records"]:
        return []
    return _shown(SequenceAsker(release), release)


SYMBOLS, SHOWN = 12, 20
_LONGEST = 4  # symbols of the strings that are listed


def _shown(asker: SequenceAsker, release: Release) -> list[Section]:
    held, whole = asker.sequences, asker.records
    top = np.argsort(-np.bincount(held.codes, minlength=asker.universe.size), kind="stable")[:SYMBOLS]
    top = top[np.isin(top, held.codes)]
    lengths, starts, ends = (
        by_size(asker, "length", int(np.diff(held.starts).max())),
        _ends(asker, "first", top),
        _ends(asker, "last", top),
    )
    cards = [
        card_of("Lengths", lengths, whole, "sequences", numeric=True),
        card_of("First symbols", starts, whole, "sequences"),
        card_of("Last symbols", ends, whole, "sequences"),
    ]
    words = f"{whole:,} sequences over {asker.universe.size:,} declared symbols. Error bars of lengths and ends "
    words += f"{BASIS[weakest(one.covers for _, one in [*lengths, *starts, *ends])]}"
    return [_flow(asker, top), Section("sequences", "Lengths, starts and ends", (words,), cards, cards=True),
            frequent_section(asker), _measured(release)]  # fmt: skip


def frequent_section(asker: SequenceAsker) -> Section:
    """The most frequent strings and whole sequences: as open tables if a chart would cut off names that start alike."""
    counted = ("Strings of symbols", _strings(asker), "sequences that contain it"), (
        "Whole sequences", _paths(asker), "sequences")  # fmt: skip
    cards = [card_of(title, counts, asker.records, unit) for title, counts, unit in counted]
    cards[1] = replace(cards[1], header=cards[1].header[:2], rows=[row[:2] for row in cards[1].rows])
    cut = any(len(row[0]) > LABEL for one in cards for row in one.rows)
    if cut:
        cards = [replace(one, svg=None, note="", open=True) for one in cards]
    words = "Numbers of whole sequences are those of the released ones, whose error is not known."
    if any(one.covers == NOISE_ONLY for _, one in counted[0][1]):
        words += " Intervals of strings whose error was not measured cover the noise of the counts alone."
    return Section("strings", "Frequent strings and sequences", (words,), cards, cards=not cut)


def _name(asker: SequenceAsker, codes: Sequence[int]) -> str:
    return " > ".join(str(asker.universe.label(int(code))) for code in codes)


def _contains(asker: SequenceAsker, codes: Sequence[int]) -> Estimate:
    return asker.count(OneColumn(" ".join(map(str, codes)), HELD), CONFIDENCE)


def _flow(asker: SequenceAsker, top: Ints) -> Section:
    """What follows what among the most frequent symbols, as far as it stands out."""
    names, size = [_name(asker, [code]) for code in top], asker.universe.size
    rows, columns, codes = ["start", *names], [*names, "end"], top.tolist()
    clear = dict[tuple[int, int], Estimate]()
    for a, one in enumerate([None, *codes]):
        for b, two in enumerate([*codes, None]):
            if one is not None and two is not None:
                count = _contains(asker, (one, two))
            elif (end := two if one is None else one) is not None:
                key = "first" if one is None else "last"
                count = asker.count(OneColumn(key, CodeSet.span(end, end + 1, size + 1)), CONFIDENCE)
            else:
                continue
            if count.low > 0:
                clear[a, b] = count
    most = sorted(clear.items(), key=lambda one: -one[1].value)[:SHOWN]
    listed = [numbers(f"{rows[a]} → {columns[b]}", count) for (a, b), count in most]
    counts = np.zeros((len(rows), len(columns)), np.int64)
    for place, count in clear.items():
        counts[place] = round(count.value)
    label = "For each symbol in a row, what follows it directly. The most frequent pairs are in the table below."
    svg = row_shares(rows, columns, counts, label)
    text = (
        f"The {len(top)} most frequent symbols (rows) and what follows them directly (columns). Darker cells are "
        "larger shares of their row. A cell is empty if its interval reaches zero."
    )
    header = ("from → to", "sequences", "from", "to")
    return Section("flow", "What follows what", (text,), (Figure("Flow of symbols", svg, header=header, rows=listed),))


def _ends(asker: SequenceAsker, key: str, top: Ints) -> list[tuple[str, Estimate]]:
    size = asker.universe.size + 1
    counts = [(_name(asker, [c]), asker.count(OneColumn(key, CodeSet.span(c, c + 1, size)), CONFIDENCE)) for c in top]
    return sorted(counts, key=lambda one: -one[1].value)


def _strings(asker: SequenceAsker) -> list[tuple[str, Estimate]]:
    """The most frequent strings of at least two symbols."""
    held, size = asker.sequences, asker.universe.size
    found = list[tuple[int, tuple[int, ...]]]()
    for order in range(2, _LONGEST + 1):
        if (size + 1) ** order > 2**61:
            break
        cells, number = np.unique(held.strings(size, order), return_counts=True)
        codes = cells[:, None] // (size + 1) ** np.arange(order)[::-1] % (size + 1)
        inside = (codes < size).all(axis=1)  # neither start nor end
        codes, number = codes[inside], number[inside]
        best = np.argsort(-number, kind="stable")[:SHOWN]
        found += zip(number[best].tolist(), map(tuple, codes[best].tolist()), strict=True)
    found.sort(key=lambda one: (-one[0], one[1]))
    shown = [(_name(asker, codes), _contains(asker, codes)) for _, codes in found[:SHOWN]]
    return sorted(shown, key=lambda one: -one[1].value)


def _paths(asker: SequenceAsker) -> list[tuple[str, Estimate]]:
    """The most frequent whole sequences; their counts are those of the released ones."""
    return [
        (f"{one[0]}, only" if len(one) == 1 else " > ".join(one), Estimate(n, n, n, None, NOISE_ONLY))
        for one, n in most_frequent(asker.opened.records, SHOWN)
    ]


def _measured(release: Release) -> Section:
    """How much was measured with noise, and how much follows from it."""
    import polars as pl

    s, groups = release.manifest.summary, release.groups
    scale = np.sqrt(2) * groups["rate_den"] / groups["rate_num"] / groups["parts"]
    shown = groups.select("question").with_columns(sd=scale).group_by("question", maintain_order=True)
    counts = shown.agg(number=pl.len(), sd=pl.col("sd").first())
    rows = [(name, f"{number:,}", f"{sd:,.2g}") for name, number, sd in counts.rows()]
    words = [f"Sequences were counted by their strings of up to {s['order']} symbols; what depends on more symbols is "
             f"not in the release. Strings of sequences of over {s['full_up_to']} symbols count less."]  # fmt: skip
    if s["order"] > 1 and not knows_order(release.manifest):
        words.append("No order of symbols was measured well: the sequences are few for this epsilon. "
                     "Which symbol follows which is known roughly at best.")  # fmt: skip
    if s["order"] == 1:
        words = ["No order of symbols was measured: the sequences are too few for this epsilon."]
    header = ("what was counted", "numbers", "standard deviation of the noise, in sequences")
    return Section(
        "measured", "What was measured directly", words, (Figure("Noisy numbers", header=header, rows=rows, open=True),)
    )
