"""Plain words for the questions that a method pays for: the same in plans, receipts, statements and reports."""

from __future__ import annotations

import re

from cantle.methods.mosaic.model.answers import FIRST, LIST_ITEMS, LIST_PAIRS, LIST_SIZES, LIST_TABLE
from cantle.methods.mosaic.model.bands import ALONE
from cantle.methods.mosaic.model.items import ITEMS
from cantle.methods.own_error.accuracy import WHY as ACCURACY

EVERY_COLUMN = "every column"

_QUESTIONS = {
    "split": "choosing where to cut",
    "split point": "choosing where to cut",
    "specialise": "choosing where to cut",
    "leaf": "counts of regions",
    "cells": "counts of groups",
    "class totals": "number of records per class",
    "item sets": "counts of sets",
    "leaf partitions": "counts of sets",
    "sub-partitions": "choosing which sets to count",
    "stop test": "tests whether to stop",
    ACCURACY: "measuring how far the release is off",
    FIRST: EVERY_COLUMN,
    "one-way tables": "every column by itself",
    "cells of wide columns": "where to cut columns of many values into ranges",
    "frequent values": "values that many records share",
    "cells of wide columns of parents": "where to cut columns of many values into ranges",
    "cells of wide columns of children": "where to cut columns of many values into ranges",
    "frequent values of parents": "values that many families share",
    "frequent values of children": "values that many families share",
    "siblings tables": "each child together with the one before",
    "one frequent value": "the one value that most records share",
    "hub column": "choosing the column that others depend on most",
    "choice of tables": "choosing tables of several columns",
    "tables": "counts of tables of several columns",
    ITEMS: "items of groups, each by itself",
    LIST_SIZES: "how long lists are",
    LIST_ITEMS: "items of lists, each by itself",
    LIST_PAIRS: "items of lists, two by two",
    f"{LIST_TABLE}s": "items of lists by other columns",
    "places": "where places are",
    ALONE: "the target by itself",
    "leaves by class": "the target in groups of similar records",
    "set sizes": "sizes of sets",
    "item supports": "counts of items",
    "head patterns": "which of the most frequent items go together",
    "kept edges": "number of edges",
    "nodes with edges": "number of nodes",
    "degrees at least k": "nodes by degree",
    "degrees at most k": "nodes by degree",
}
"""Plain words for reasons in the receipt; reasons that are not listed are plain words already."""


def question_in_words(why: str) -> str:
    """A reason in the receipt in plain words; numbered questions of one kind are put together.

    >>> question_in_words("split"), question_in_words("choice of table 12"), question_in_words("sorted degrees")
    ('choosing where to cut', 'choosing tables of several columns', 'sorted degrees')
    >>> question_in_words("first tables, 5 to 8 cells")
    'every column'
    """
    kind = re.sub(r" \d+$", "s", re.sub(rf"^{FIRST}, .*", FIRST, why))
    return _QUESTIONS.get(kind, kind)
