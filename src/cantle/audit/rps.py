"""Exact audits of RPS: every setting, on a domain small enough to try all tables.

Shares are chosen so that every enumerated charge is a whole number of units per point of score: splits on the
class-aware score (range 3) pay multiples of 3, and one-way tables of d attributes pay multiples of d. Leaves may pay
fractions, because their draws are not enumerated.

`tight` marks the claims that some pair of at most four records uses up. Other claims are reached only in the limit: the
exponential mechanism needs many records (instance I8 reaches 2.983 of 3), PrivTree many tests.
"""

from __future__ import annotations

from cantle.audit.exact import Config


def _rps(**given: object) -> dict[str, object]:
    """Settings of a bare tree (no count, no one-way tables, no stop test), overridden by those given."""
    plain = {"attributes": "all", "stop": "none", "oneway_share": 0, "count_share": 0, "leaf_share": "1/2"}
    return plain | {"values": "uniform", "consistency": False} | given


CHOICE = Config("all cuts, balance, depth 1", (3,), _rps(depth=1, leaf_share="1/3"), 3)
"""Instance I8: the split pays 2 units, the leaf 1."""

CLASSES = Config("all cuts, class-aware, 2 classes, two attributes", (2, 2), _rps(depth=1, leaf_share="1/4"), 4, 2)
"""Instance I1 in units: the split pays 3, the leaf 1."""

PICK = Config("random attribute, balance", (3, 2), _rps(attributes="random", depth=1, leaf_share="1/3"), 3, tight=True)
"""A coin chooses the attribute, permute-and-flip the cut."""

COUNTED = Config(
    "stop by noisy count, depth 2",
    (4,),
    _rps(depth=2, stop="count:1", stop_share="1/2", leaf_share="1/5"),
    5,
    tight=True,
)

COUNTED_MIDDLE = Config(
    "stop by noisy count below depth 1, midpoint",
    (4,),
    _rps(attributes="midpoint", depth=2, skip=1, stop="count:1", stop_share="1/2", leaf_share="1/2"),
    8,
    tight=True,
)

CHAIN = Config(
    "PrivTree, midpoint, three tests on a path",
    (5,),
    _rps(attributes="midpoint", depth=3, stop="privtree:1", stop_share="3/4", leaf_share="1/5"),
    5,
    tight=True,
)

ONE_WAYS = Config("one-way tables of two attributes", (2, 2), _rps(depth=1, oneway_share="1/3", leaf_share="1/2"), 6)

SIZED = Config("number of records charged, sizes by depth", (3,), _rps(depth=1, count_share="1/3", summary="depth"), 3)

AUTO = Config(
    "depth from the charged number of records",
    (3,),
    _rps(depth=None, count_share="1/43", leaf_share="40/42"),
    43,
    tight=True,
)

NARROW = Config("narrow regions are leaves", (4,), _rps(depth=2, stop="narrow:2", leaf_share="1/3"), 3)

LEAF = Config("one leaf, class histogram", (2,), _rps(depth=0), 2, 2, tight=True)
"""The sound form of instance I5."""

SUBSETS = Config("subsets of a category", (3,), _rps(cuts="subsets", depth=1, leaf_share="1/3"), 3, labels=True)
"""Each of the three ways to divide three values in two."""

CONFIGS: tuple[Config, ...] = (
    LEAF,
    CHOICE,
    Config("all cuts, balance, depth 2", (4,), _rps(depth=2, leaf_share="1/3"), 3),
    Config("all cuts, balance, depth 2, two attributes", (2, 3), _rps(depth=2, leaf_share="1/3"), 3),
    Config("all cuts, balance, a forced cut is free", (2, 2), _rps(depth=2, leaf_share="1/3"), 3),
    Config("all cuts, balance, levels geometric", (4,), _rps(depth=2, leaf_share="1/4", levels="geometric:2"), 4),
    Config("all cuts, class-aware, 2 classes", (3,), _rps(depth=1, leaf_share="1/4"), 4, 2),
    CLASSES,
    Config("all cuts, class-aware, 3 classes", (3,), _rps(depth=1, leaf_share="1/4"), 4, 3),
    Config("all cuts, mix:1:2, 2 classes", (3,), _rps(depth=1, quality="mix:1:2", leaf_share="1/4"), 4, 2),
    PICK,
    Config("random attribute, balance, depth 2", (2, 3), _rps(attributes="random", depth=2, leaf_share="1/3"), 3),
    Config(
        "random attribute, class-aware, 2 classes",
        (3,),
        _rps(attributes="random", depth=1, leaf_share="1/4"),
        4,
        2,
        tight=True,
    ),
    Config("midpoint, depth 2", (4,), _rps(attributes="midpoint", depth=2), 2, tight=True),
    COUNTED,
    Config(
        "stop by noisy count, wider window",
        (3,),
        _rps(depth=2, stop="count:2", stop_share="1/2", leaf_share="1/5"),
        5,
        window=(0, 3),
        tight=True,
    ),
    COUNTED_MIDDLE,
    Config(
        "stop by noisy count, skip and narrow",
        (4,),
        _rps(depth=2, stop="count:1+narrow:2", skip=1, stop_share="1/2", leaf_share="1/5"),
        5,
    ),
    NARROW,
    Config(
        "PrivTree, all cuts, depth 3",
        (4,),
        _rps(depth=3, stop="privtree:1", stop_share="1/2", leaf_share="1/7"),
        7,
        tight=True,
    ),
    CHAIN,
    Config(
        "PrivTree, threshold 0, first level skipped",
        (4,),
        _rps(depth=3, stop="privtree:0", skip=1, stop_share="1/2", leaf_share="1/7"),
        7,
        tight=True,
    ),
    Config("one-way table", (3,), _rps(depth=1, oneway_share="1/4", leaf_share="1/3"), 4),
    ONE_WAYS,
    Config("number of records charged", (3,), _rps(depth=1, count_share="1/4", leaf_share="1/3"), 4),
    SIZED,
    Config(
        "sizes by depth, 2 classes", (3,), _rps(depth=1, count_share="1/5", summary="depth", leaf_share="1/4"), 5, 2
    ),
    AUTO,
    Config("a person of two records", (3,), _rps(depth=1, stop="count:1", stop_share="1/2"), 8, unit=2, tight=True),
    Config(
        "a person of two records, PrivTree",
        (4,),
        _rps(attributes="midpoint", depth=2, stop="privtree:1", stop_share="3/4", leaf_share="1/5"),
        10,
        unit=2,
        tight=True,
    ),
    Config(
        "preset paper, depth 2, 2 classes", (2, 2), {"depth": 2, "stop": "count:1"}, 24, 2, preset="paper", tight=True
    ),
    Config(
        "preset paper, literal, one attribute drawn",
        (3, 2),
        {"depth": 1, "stop": "none", "stop_share": 0, "leaf_share": "1/3", "literal": True},
        3,
        preset="paper",
    ),
    Config(
        "preset paper, literal, union of all cuts, 2 classes",
        (3, 2),
        {"depth": 1, "stop": "none", "stop_share": 0, "attributes": "all", "leaf_share": "1/7", "literal": True},
        7,
        2,
        preset="paper",
        records=2,
    ),
    Config(
        "midpoints of an attribute drawn, depth 2", (3, 2), _rps(attributes="random-midpoint", depth=2), 2, tight=True
    ),
    SUBSETS,
    Config("subsets of a category, depth 2", (4,), _rps(cuts="subsets", depth=2, leaf_share="1/3"), 3, labels=True),
    Config(
        "subsets of categories, all columns, class-aware, 2 classes",
        (3, 2),
        _rps(cuts="subsets", depth=2, leaf_share="1/7"),
        7,
        2,
        labels=True,
        records=2,
    ),
    Config(
        "subsets of a category drawn, literal",
        (3, 2),
        {"cuts": "subsets", "depth": 1, "stop": "none", "stop_share": 0, "leaf_share": "1/3", "literal": True},
        3,
        preset="paper",
        labels=True,
    ),
    Config("preset default", (2, 2), {"attributes": "all"}, 400, tight=True),
    Config("preset default, columns of numbers", (2, 2), {}, 400),
    Config("preset default, one attribute", (3,), {}, 400, tight=True),
)
