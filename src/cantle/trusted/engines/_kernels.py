"""Compiled loops over records, region by region. A miscount costs privacy.

Records are rows of codes with the class in column `label`; region i holds rows start[i] to end[i]. Kernels count, score
and move; they never choose and never draw. tests/trusted/engines compares each of them with the plain engine.
"""

from __future__ import annotations

import numpy as np

from cantle.trusted.arrays import Codes, Ints, Words
from cantle.trusted.jit import compiled, inner

_U = np.uint64
_LOW = 2**32 - 1


@compiled
def pack(codes: Codes, classes: Codes, sizes: Ints, rows: Codes) -> bool:
    """Writes codes and class of each record as a row; returns whether all are below their sizes.

    The other kernels use codes as positions in arrays, so they must be below their sizes, as the encoder's are.
    """
    good, label = True, codes.shape[1]
    for r in range(len(codes)):
        for a in range(label):
            good &= codes[r, a] >= 0 and codes[r, a] < sizes[a]
            rows[r, a] = codes[r, a]
        good &= classes[r] >= 0 and classes[r] < sizes[label]
        rows[r, label] = classes[r]
    return good


@compiled
def count_classes(rows: Codes, label: int, start: Ints, end: Ints, counts: Ints) -> None:
    """counts[i, class] of region i; counts begin at 0."""
    for i in range(len(start)):
        for r in range(start[i], end[i]):
            counts[i, rows[r, label]] += 1


@compiled
def count_one_ways(
    rows: Codes, label: int, start: Ints, end: Ints, attributes: Ints, offsets: Ints, classes: int, counts: Ints
) -> None:
    """counts[i, (offset of the table + code) * classes + class]; with one class the class is left out."""
    for i in range(len(start)):
        for r in range(start[i], end[i]):
            c = rows[r, label] if classes > 1 else 0
            for j in range(len(attributes)):
                counts[i, (offsets[j] + rows[r, attributes[j]]) * classes + c] += 1


@compiled
def count_each(rows: Codes, label: int, start: Ints, end: Ints, attribute: Ints, classes: int, counts: Ints) -> None:
    """counts[i, code * classes + class] of region i's own attribute."""
    for i in range(len(start)):
        for r in range(start[i], end[i]):
            c = rows[r, label] if classes > 1 else 0
            counts[i, rows[r, attribute[i]] * classes + c] += 1


@compiled
def count_children(rows: Codes, start: Ints, end: Ints, attribute: Ints, point: Ints, counts: Ints) -> None:
    """counts[i, child] of a cut of region i."""
    for i in range(len(start)):
        for r in range(start[i], end[i]):
            counts[i, 1 if rows[r, attribute[i]] >= point[i] else 0] += 1


@compiled
def part(rows: Codes, words: Words, start: Ints, end: Ints, attribute: Ints, point: Ints, middle: Ints) -> None:
    """Moves the rows of each region so that those below its cut come first, up to middle[i].

    `words` are the same rows as 64-bit words. Row r is swapped with the first row known to be on the right (or with
    itself), so rows before `at` are on the left, those from `at` to r on the right.
    """
    for i in range(len(start)):
        at = start[i]
        for r in range(start[i], end[i]):
            left = rows[r, attribute[i]] < point[i]
            for k in range(words.shape[1]):
                word = words[r, k]
                words[r, k] = words[at, k]
                words[at, k] = word
            at += left
        middle[i] = at


@inner
def _add_bytes(
    rows: Codes, words: Words, label: int, first: int, last: int, offset: Words, steps: Ints, table: Ints
) -> None:
    """Adds the step of the row's class to table[offset of the column + code], for rows of one-byte codes, eight per
    word. The offsets of columns that are not needed point beyond the others."""
    for r in range(first, last):
        step = steps[rows[r, label]] if len(steps) > 1 else 1
        for w in range(words.shape[1]):
            word, at = words[r, w], _U(8 * w)
            for k in range(8):
                table[offset[at + _U(k)] + ((word >> _U(8 * k)) & _U(255))] += step


@inner
def _add_rows(
    rows: Codes, label: int, first: int, last: int, open_: Ints, offset: Words, bases: Ints, steps: Ints, table: Ints
) -> None:
    """Adds the step of the row's class to table[base of the class + offset of the attribute + code], for the attributes
    in `open_`."""
    for r in range(first, last):
        c = rows[r, label] if len(steps) > 1 else 0
        base, step = _U(bases[c]), steps[c]
        for j in range(len(open_)):
            table[base + offset[open_[j]] + _U(rows[r, open_[j]])] += step


@inner
def _separated(left: Ints, total: Ints) -> int:
    """max over classes c != c' of left_c + right_c', from the two largest of each side; 0 if there is one class."""
    best_l, next_l, who_l, best_r, next_r, who_r = -1, -1, -1, -1, -1, -1
    for c in range(len(total)):
        x, y = left[c], total[c] - left[c]
        if x > best_l:
            best_l, next_l, who_l = x, best_l, c
        elif x > next_l:
            next_l = x
        if y > best_r:
            best_r, next_r, who_r = y, best_r, c
        elif y > next_r:
            next_r = y
    if len(total) == 1:
        return 0
    return best_l + best_r if who_l != who_r else max(best_l + next_r, next_l + best_r)


@compiled
def score_cuts(
    rows: Codes,
    words: Words,
    label: int,
    start: Ints,
    end: Ints,
    lo: Ints,
    hi: Ints,
    only: Ints,
    even: int,
    apart: int,
    classes: int,
    sizes: Ints,
    scores: Ints,
) -> None:
    """Scores even * min(sides) + apart * (records separated by class) of all cuts of each region, one after the other.

    Ordered by region, attribute and point; only for attribute only[i] if `only` is given. One class means no class.
    """
    attributes = lo.shape[1]
    home, place = np.zeros(attributes, np.uint64), np.zeros(rows.shape[1], np.uint64)
    codes = _U(0)
    for a in range(attributes):
        home[a] = codes
        codes += _U(sizes[a])
    nowhere, codes = codes, codes + _U(256)  # counts of bytes that are not needed go there
    # Two classes share a cell, the second above bit 32; with more classes, each has a table.
    two = classes == 2 and len(rows) < 1 << 31
    bases, steps = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    for c in range(classes):
        bases[c], steps[c] = (0, 1 << 32 * c) if two else (c * np.int64(codes), 1)
    table = np.zeros(np.int64(codes) * (1 if two else classes), np.int64)
    open_, total, left = np.zeros(attributes, np.int64), np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    sums = np.zeros(np.int64(codes), np.int64)
    at = _U(0)
    for i in range(len(start)):
        for a in range(len(place)):
            place[a] = nowhere
        number = 0
        for a in range(attributes):
            if hi[i, a] - lo[i, a] > 1 and (len(only) == 0 or only[i] == a):
                place[a] = home[a]
                open_[number] = a
                number += 1
        if rows.itemsize == 1 and number > 4 and (two or classes == 1):
            _add_bytes(rows, words, label, start[i], end[i], place, steps, table)
        else:
            _add_rows(rows, label, start[i], end[i], open_[:number], place, bases, steps, table)
        records = end[i] - start[i]
        for j in range(number):
            a = open_[j]
            first, last = home[a] + _U(lo[i, a]), home[a] + _U(hi[i, a])
            if two:
                cuts, running = np.int64(last - first) - 1, 0
                for v in range(cuts):
                    running += table[first + _U(v)]
                    sums[v] = running
                    table[first + _U(v)] = 0
                running += table[last - _U(1)]
                table[last - _U(1)] = 0
                all_0, all_1 = running & _LOW, running >> 32
                mine = scores[np.int64(at) : np.int64(at) + cuts]
                for v in range(cuts):
                    x, y = sums[v] & _LOW, sums[v] >> 32
                    separated = max(x + all_1 - y, y + all_0 - x)
                    mine[v] = even * min(x + y, records - x - y) + apart * separated
                at += _U(cuts)
            else:
                for c in range(classes):
                    whole = 0
                    for v in range(first, last):
                        whole += table[_U(c) * codes + v]
                    left[c], total[c] = 0, whole
                for v in range(first, last - _U(1)):
                    size = 0
                    for c in range(classes):
                        left[c] += table[_U(c) * codes + v]
                        size += left[c]
                        table[_U(c) * codes + v] = 0
                    separated = _separated(left, total) if apart else 0
                    scores[at] = even * min(size, records - size) + apart * separated
                    at += _U(1)
                for c in range(classes):
                    table[_U(c) * codes + last - _U(1)] = 0


@compiled
def add_spans(entry: Codes, column: Codes, table: Codes) -> None:
    """Adds table[code] of an attribute to the entry of each record."""
    for r in range(len(entry)):
        entry[r] += table[column[r]]


@compiled
def count_bins(entry: Codes, column: Codes, bins: Codes, width: int, counts: Ints) -> None:
    """counts[entry * width + bin of the code]; counts begin at 0."""
    for r in range(len(entry)):
        counts[_U(entry[r]) * _U(width) + _U(bins[column[r]])] += 1
