"""Compiled loops over records, a region at a time. Trusted: a miscount costs privacy.

Records are rows of codes with the class at column `label`; region i holds rows start[i] to end[i]. Kernels count, score
and move; they never choose and never draw. Every one is checked against the plain engine in tests/engines.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cantle.jit import compiled

_U = np.uint64


@compiled
def pack(codes: Any, classes: Any, sizes: Any, rows: Any) -> Any:
    """Writes codes and class of each record as a row; gives whether all are below their sizes.

    The other kernels look and write where the codes say; those of the encoder are below their sizes.
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
def count_classes(rows: Any, label: Any, start: Any, end: Any, counts: Any) -> None:
    """counts[i, class] of region i; counts begin at 0."""
    for i in range(len(start)):
        for r in range(start[i], end[i]):
            counts[i, rows[r, label]] += 1


@compiled
def count_one_ways(
    rows: Any, label: Any, start: Any, end: Any, attributes: Any, offsets: Any, classes: Any, counts: Any
) -> None:
    """counts[i, (offset of the table + code) * classes + class]; with one class the class is left out."""
    for i in range(len(start)):
        for r in range(start[i], end[i]):
            c = rows[r, label] if classes > 1 else 0
            for j in range(len(attributes)):
                counts[i, (offsets[j] + rows[r, attributes[j]]) * classes + c] += 1


@compiled
def count_each(rows: Any, label: Any, start: Any, end: Any, attribute: Any, classes: Any, counts: Any) -> None:
    """counts[i, code * classes + class] of region i's own attribute."""
    for i in range(len(start)):
        for r in range(start[i], end[i]):
            c = rows[r, label] if classes > 1 else 0
            counts[i, rows[r, attribute[i]] * classes + c] += 1


@compiled
def count_children(rows: Any, start: Any, end: Any, attribute: Any, point: Any, counts: Any) -> None:
    """counts[i, child] of a cut of region i."""
    for i in range(len(start)):
        for r in range(start[i], end[i]):
            counts[i, 1 if rows[r, attribute[i]] >= point[i] else 0] += 1


@compiled
def part(rows: Any, words: Any, start: Any, end: Any, attribute: Any, point: Any, middle: Any) -> None:
    """Moves the rows of each region so that those below its cut come first, up to middle[i].

    `words` are the same rows as 64-bit words. Row r changes places with the first row known to be on the right (or with
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


@compiled
def _add_bytes(rows: Any, words: Any, label: Any, first: Any, last: Any, offset: Any, codes: Any, table: Any) -> None:
    """Adds rows of one-byte codes to table[class * codes + offset of the column + code], a word of eight at a time.

    Columns that are not asked about have an offset too, beyond those that are.
    """
    for r in range(first, last):
        base = _U(rows[r, label]) * codes if len(table) > codes else _U(0)
        for w in range(words.shape[1]):
            word, at = words[r, w], _U(8 * w)
            for k in range(8):
                table[base + offset[at + _U(k)] + ((word >> _U(8 * k)) & _U(255))] += 1


@compiled
def _add_rows(rows: Any, label: Any, first: Any, last: Any, open_: Any, offset: Any, codes: Any, table: Any) -> None:
    """Adds rows to table[class * codes + offset of the attribute + code], for the open attributes."""
    for r in range(first, last):
        base = _U(rows[r, label]) * codes if len(table) > codes else _U(0)
        for j in range(len(open_)):
            table[base + offset[open_[j]] + _U(rows[r, open_[j]])] += 1


@compiled
def _told_apart(left: Any, total: Any) -> Any:
    """max over classes c != c' of left_c + right_c', by the two largest of each side; 0 when there is one class."""
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
    rows: Any,
    words: Any,
    label: Any,
    start: Any,
    end: Any,
    lo: Any,
    hi: Any,
    only: Any,
    even: Any,
    apart: Any,
    classes: Any,
    sizes: Any,
    scores: Any,
) -> None:
    """Scores even * min(sides) + apart * (records told apart) of all cuts of each region, one after the other.

    By region, attribute and point; of attribute only[i] alone if `only` is given. One class leaves the class out.
    """
    attributes = lo.shape[1]
    home, place = np.zeros(attributes, np.uint64), np.zeros(rows.shape[1], np.uint64)
    codes = _U(0)
    for a in range(attributes):
        home[a] = codes
        codes += _U(sizes[a])
    nowhere, codes = codes, codes + _U(256)  # room for bytes that are not asked about
    table = np.zeros(np.int64(codes) * classes, np.int64)
    open_, total, left = np.empty(attributes, np.int64), np.empty(classes, np.int64), np.empty(classes, np.int64)
    size_of, ahead = np.empty(np.int64(codes), np.int64), np.empty(np.int64(codes), np.int64)
    at = _U(0)
    for i in range(len(start)):
        place[:] = nowhere
        number = 0
        for a in range(attributes):
            if hi[i, a] - lo[i, a] > 1 and (len(only) == 0 or only[i] == a):
                place[a] = home[a]
                open_[number] = a
                number += 1
        if rows.itemsize == 1 and number > 4:
            _add_bytes(rows, words, label, start[i], end[i], place, codes, table)
        else:
            _add_rows(rows, label, start[i], end[i], open_[:number], place, codes, table)
        records = end[i] - start[i]
        for j in range(number):
            a = open_[j]
            first, last = home[a] + _U(lo[i, a]), home[a] + _U(hi[i, a])
            if j == 0:
                for c in range(classes):
                    total[c] = 0
                    for v in range(first, last):
                        total[c] += table[_U(c) * codes + v]
            if classes == 2:
                x, y, cuts = 0, 0, np.int64(last - first) - 1
                for v in range(cuts):
                    x += table[first + _U(v)]
                    y += table[codes + first + _U(v)]
                    size_of[v] = x + y
                    ahead[v] = x - y
                    table[first + _U(v)] = 0
                    table[codes + first + _U(v)] = 0
                mine = scores[np.int64(at) : np.int64(at) + cuts]
                for v in range(cuts):
                    told = max(total[1] + ahead[v], total[0] - ahead[v])
                    mine[v] = even * min(size_of[v], records - size_of[v]) + apart * told
                at += _U(cuts)
            else:
                left[:] = 0
                for v in range(first, last - _U(1)):
                    size = 0
                    for c in range(classes):
                        left[c] += table[_U(c) * codes + v]
                        size += left[c]
                        table[_U(c) * codes + v] = 0
                    told = _told_apart(left, total) if apart else 0
                    scores[at] = even * min(size, records - size) + apart * told
                    at += _U(1)
            for c in range(classes):
                table[_U(c) * codes + last - _U(1)] = 0


@compiled
def add_spans(entry: Any, column: Any, table: Any) -> None:
    """Adds table[code] of an attribute to the entry of each record."""
    for r in range(len(entry)):
        entry[r] += table[column[r]]


@compiled
def count_bins(entry: Any, column: Any, bins: Any, width: Any, counts: Any) -> None:
    """counts[entry * width + bin of the code]; counts begin at 0."""
    for r in range(len(entry)):
        counts[_U(entry[r]) * _U(width) + _U(bins[column[r]])] += 1
