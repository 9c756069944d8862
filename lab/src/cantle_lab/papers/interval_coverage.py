"""The coverage of the intervals of `cantle query`: random questions, answered from a release and from its data.

Nothing here is private, because answers are compared with the raw records. Questions are drawn from the released
records, as a user who looks at a release would ask them: one category or a few, an interval between two released
values, or null.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cantle.interfaces import demo_data
from cantle.release.asking import Asker
from cantle.release.estimates import MEASURED, NOISE, NOISE_ONLY
from cantle.schema.code_sets import CodeSet, Key, OneColumn, Question, columns_of, holds, join
from cantle.schema.domain import Attribute
from cantle.schema.scales import Steps
from cantle.schema.table import TableSchema
from cantle.trusted.arrays import Bools, Codes
from cantle_lab.papers import table_sets
from cantle_lab.papers.harness import Row, Setting
from cantle_lab.papers.table_sets import TableSet

FIGURE = "intervals"
QUESTIONS, MEANS, QUICK = 2_000, 200, 400
CONFIDENCE = 0.95
SMALLEST, LARGEST = 0.005, 0.995
"""Only questions that hold for a share of the released records between these two are asked."""

TRIES = 200


@dataclass(frozen=True)
class Checked:
    """One question: its number of columns, what its interval covers, whether the truth is inside, and its half
    width."""

    columns: int
    covers: str
    held: bool
    half_width: float


def intervals(setting: Setting) -> Iterator[Row]:
    """The share of 2,000 random counting questions, and of 200 means, whose 95 % interval contains the truth."""
    demo = TableSet("demo", demo_data.population(), demo_data.SCHEMA)
    tables = [demo, *(table_sets.present(setting.data_dir, FIGURE, setting.echo) if setting.data_dir else ())]
    for table in tables:
        for epsilon in setting.pick((0.3, 1, 3), (1,)):
            for repeat in range(setting.repeats):
                yield from _measure(setting, table, epsilon, repeat)


def _measure(setting: Setting, table: TableSet, epsilon: float, repeat: int) -> Iterator[Row]:
    """The rows of one release: coverage and median half width, by kind of question."""
    options = {"method": "mosaic", "accuracy_share": "1/25"}
    release = setting.release(table.frame, table.schema, epsilon, options, repeat)
    dice = np.random.default_rng(1 + repeat)
    asker, truth = Asker(release), Truth(table)
    counts = list(check_counts(asker, truth, QUICK if setting.quick else QUESTIONS, dice))
    means = list(check_means(asker, truth, MEANS // 10 if setting.quick else MEANS, dice))
    parts = {
        "all counts": counts,
        "one column": [one for one in counts if one.columns == 1],
        "more columns": [one for one in counts if one.columns > 1],
        "means": means,
    } | {f"covers {word}": [one for one in counts if one.covers == word] for word in (NOISE, MEASURED, NOISE_ONLY)}
    for name, part in parts.items():
        if part:
            held = float(np.mean([one.held for one in part]))
            yield Row(FIGURE, f"{table.name}: share of intervals that hold the truth", name, epsilon, repeat, held)
            if name != "means":
                width = float(np.median([one.half_width for one in part]))
                yield Row(FIGURE, f"{table.name}: half width in records (median)", name, epsilon, repeat, width)


class Truth:
    """The private records at places inside steps, without those that the schema drops; for means as they were given,
    after the bounds."""

    def __init__(self, table: TableSet) -> None:
        schema = TableSchema.from_dict(table.schema)
        attributes = schema.domain().with_target_as_column().on_places.attributes
        codes = {one.name: one.encode(table.frame[one.name]) for one in attributes}
        kept = np.logical_and.reduce([part >= 0 for part in codes.values()])
        self._codes = {name: part[kept] for name, part in codes.items()}
        self._frame = table.frame.filter(kept)
        self.records = int(kept.sum())

    def codes(self, column: Key) -> Codes:
        return self._codes[str(column)]

    def inside(self, question: Question) -> Bools:
        return np.broadcast_to(holds(question, self.codes), self.records)

    def mean(self, attribute: Attribute, question: Question) -> float:
        assert isinstance(attribute.scale, Steps)
        values = attribute.scale.bounded(self._frame[attribute.name])
        inside = self.inside(question) & ~np.isnan(values)
        return float(values[inside].mean()) if inside.any() else float("nan")


def check_counts(asker: Asker, truth: Truth, number: int, dice: np.random.Generator) -> Iterator[Checked]:
    """Checks counting questions: half of them about one column, the others about two or three."""
    for at in range(number):
        question = random_question(asker, 1 if at % 2 else int(dice.integers(2, 4)), dice)
        if question is None:
            continue
        estimate, exact = asker.count(question, CONFIDENCE), int(truth.inside(question).sum())
        half = (estimate.high - estimate.low) / 2
        yield Checked(len(columns_of(question)), estimate.covers, estimate.low <= exact <= estimate.high, half)


def check_means(asker: Asker, truth: Truth, number: int, dice: np.random.Generator) -> Iterator[Checked]:
    """Checks means of a numeric column over the records that a random question about one other column selects."""
    able = [one for one in asker.attributes.values() if one.scale.type in ("integer", "number")]
    for _ in range(number if able else 0):
        attribute = able[int(dice.integers(len(able)))]
        question = random_question(asker, 1, dice, without=attribute.name)
        if question is None:
            continue
        estimate, exact = asker.mean(attribute.name, question, CONFIDENCE), truth.mean(attribute, question)
        half = (estimate.high - estimate.low) / 2
        yield Checked(2, estimate.covers, estimate.low <= exact <= estimate.high, half)


def random_question(asker: Asker, columns: int, dice: np.random.Generator, without: str = "") -> Question | None:
    """A random question about this many columns that holds for some, but not nearly all, of the released records.

    It is None if TRIES draws found none.
    """
    names = [name for name in asker.attributes if name != without]
    for _ in range(TRIES):
        chosen: Sequence[str] = dice.choice(names, min(columns, len(names)), replace=False).tolist()
        question = join(True, (_condition(asker, name, dice) for name in chosen))
        if SMALLEST <= float(asker.inside(question).mean()) <= LARGEST:
            return question
    return None


def _condition(asker: Asker, name: str, dice: np.random.Generator) -> OneColumn:
    """A random condition on one column, from released values."""
    attribute, codes = asker.attributes[name], asker.codes(name)
    size, drawn = attribute.size, np.sort(dice.choice(codes, 2))
    if drawn[0] >= attribute.grid or (attribute.nullable and dice.random() < 0.1):
        return OneColumn(name, CodeSet.span(attribute.grid, size, size))
    if isinstance(attribute.scale, Steps):
        end = min(int(drawn[1]) + 1, attribute.grid)
        return OneColumn(name, CodeSet.span(int(drawn[0]), end, size))
    few = dice.choice(codes, int(dice.integers(1, 4)))
    return OneColumn(name, CodeSet.of(few.tolist(), size))
