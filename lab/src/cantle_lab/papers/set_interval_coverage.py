"""The coverage of the intervals of `cantle query` about sets, by kind of question, data set and epsilon.

Nothing here is private, because answers are compared with the raw records. Random questions are items drawn by
their released frequency. Related ones are the pairs and triples of the raw records with the largest lift, among groups
in at least 0.2 % of the records, and the bundles that were planted in made-up orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from cantle.errors import DataError
from cantle.release import Release
from cantle.release.answers.estimates import HELD, Estimate
from cantle.release.answers.item_answers import SetAsker
from cantle.release.schemas import universe_of
from cantle.release.storage import as_polars, list_frame
from cantle.schema.code_sets import OneColumn, join
from cantle.trusted.geometry.workloads import SetWorkload, count_sets
from cantle_lab.papers import sets
from cantle_lab.papers.coding import Ints
from cantle_lab.papers.harness import Row, Setting
from cantle_lab.papers.interval_coverage import rows_of
from cantle_lab.papers.interval_questions import Checked
from cantle_lab.papers.sets import Sets

FIGURE = "intervals-sets"
REAL = ("retail", "bms-webview-1", "msnbc")
SMALL = {"small orders": sets.Shop(7, 8_000, 40, 0.8, 3.0, (3, 2), (0.02, 0.1))}
"""A shop with few products and few orders, which alone is the short form."""

MOST_FREQUENT, RANDOM, RELATED = 30, 60, 60
"""How many questions of each kind are asked about one release."""

PAIRED, TRIPLED = 200, 60
"""The most frequent items of the raw records among which related pairs, and triples, are looked for."""

LEAST = 0.002
CONFIDENCE = 0.95

Group = tuple[int, ...]


def intervals_of_sets(setting: Setting) -> Iterator[Row]:
    """How often 95 % intervals about sets hold the truth, by kind of question; how wide they are, and how many times
    wider than needed."""
    for name, (data, bundles) in _data(setting):
        related = related_groups(data) | {"planted bundles": bundles}
        for epsilon in setting.pick((0.1, 0.3, 1, 3), (3,)):
            checked = list[list[Checked]]()
            for repeat in range(setting.repeats):
                release = setting.release(data.frame, data.schema(), epsilon, _OPTIONS, repeat)
                asker, dice = SetAsker(release), np.random.default_rng(1 + repeat)
                kinds = random_groups(released_supports(release), dice) | related
                checked.append([one for kind, groups in kinds.items() for one in _check(asker, data, kind, groups)])
            yield from rows_of(FIGURE, name, epsilon, checked)


_OPTIONS: Mapping[str, object] = {"method": "auto", "accuracy_share": "1/25"}


def _data(setting: Setting) -> Iterator[tuple[str, tuple[Sets, list[Group]]]]:
    yield from ((name, sets.make(shop)) for name, shop in (SMALL if setting.quick else SMALL | sets.SHOPS).items())
    for name in () if setting.quick else REAL:
        try:
            yield name, (sets.load(name, setting.data_dir), [])
        except DataError as missing:
            setting.echo(f"{FIGURE}: {missing}")


def _check(asker: SetAsker, data: Sets, kind: str, groups: Sequence[Group]) -> Iterator[Checked]:
    """Checks the answers about some groups; those that claim no coverage are a class of their own."""
    for group, exact in zip(groups, supports(data, groups).tolist(), strict=True):
        known = answer(asker, group)
        yield Checked((kind if known.confidence else f"{kind}: {known.covers}",), known, exact, len(data))


def answer(asker: SetAsker, group: Group) -> Estimate:
    """The number of sets that hold all items of a group, as `cantle query` answers it."""
    return asker.count(join(True, (OneColumn(item, HELD) for item in group)), CONFIDENCE)


def supports(data: Sets, groups: Sequence[Group]) -> Ints:
    """The true number of records that hold each group."""
    starts = np.cumsum([0, *map(len, groups)], dtype=np.int64)
    flat = np.array([item for group in groups for item in group], dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int64)
    return count_sets(SetWorkload(nothing, np.zeros(1, dtype=np.int64), starts, flat, 0), data.starts, data.items)


def released_supports(release: Release) -> Ints:
    """How many released records hold each item."""
    items = list_frame(as_polars(release.records, release.manifest), release.manifest)["items"]
    universe = universe_of(release.manifest)
    return np.bincount(universe.encode(items.explode(empty_as_null=False)), minlength=universe.size)


def random_groups(held: Ints, dice: np.random.Generator) -> dict[str, list[Group]]:
    """The most frequent items by the release, and items, pairs and triples drawn by their released frequency."""
    share, size = held / held.sum(), len(held)
    kinds: dict[str, list[Group]] = {"most frequent items": [(int(i),) for i in np.argsort(-held)[:MOST_FREQUENT]]}
    for name, items in (("random items", 1), ("random pairs", 2), ("random triples", 3)):
        drawn = (dice.choice(size, items, replace=False, p=share) for _ in range(RANDOM))
        kinds[name] = [tuple(sorted(one.tolist())) for one in drawn]
    return kinds


def related_groups(data: Sets) -> dict[str, list[Group]]:
    """The pairs and triples of frequent items with the largest lift among those that occur often enough."""
    support = data.supports()
    return {
        f"related {name}": _by_lift(data, support, list(combinations(_frequent(support, among), items)))
        for name, items, among in (("pairs", 2, PAIRED), ("triples", 3, TRIPLED))
    }


def _frequent(support: Ints, number: int) -> list[int]:
    return sorted(int(item) for item in np.argsort(-support, kind="stable")[:number])


def _by_lift(data: Sets, support: Ints, groups: list[Group]) -> list[Group]:
    exact = np.concatenate([supports(data, groups[at : at + 10_000]) for at in range(0, len(groups), 10_000)])
    share = np.array([np.prod(support[list(group)] / len(data)) for group in groups])
    lift = np.where(exact >= LEAST * len(data), exact / np.maximum(1e-300, share), 0.0)
    return [groups[at] for at in np.argsort(-lift, kind="stable")[:RELATED].tolist() if lift[at] > 0]
