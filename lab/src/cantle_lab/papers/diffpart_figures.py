"""Figures 3 to 8 of the DiffPart paper (section 5, appendix E), for the publisher that the setting provides.

STM is not public, so a generated stand-in of its size takes its place. Every release is compared with the empty
release, with exact supports of independent items and, if there are few items, with Basic, both as raw counts and made
into records. Queries and samples of records are seeded and the same for every series. The paper makes 10 runs. The
command makes 5, so that each figure takes about ten minutes on one core.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl

from cantle.errors import ParameterError
from cantle.methods.diffpart.method import PRESETS, DiffPartSettings, smallest_constant
from cantle.methods.settings import read_settings
from cantle.trusted.geometry.item_partitions import ItemTree
from cantle_lab.bench.passes import STAGES, forget_peak, peak, stages, whole_run
from cantle_lab.papers import sets
from cantle_lab.papers.baselines import basic, clipped
from cantle_lab.papers.harness import Options, Row, Setting, rows
from cantle_lab.papers.setqueries import (
    FEW_ITEMS,
    GROUPS,
    Answers,
    Independent,
    Nothing,
    Queries,
    Yardstick,
    answers_of,
    first,
    from_records,
    groups,
    top,
    utility,
    workload,
)
from cantle_lab.papers.sets import Sets, Town

Scores = Mapping[str, float]

BUDGETS = (0.5, 0.75, 1, 1.25)
FANOUTS = (2, 4, 6, 10)  # the paper shows its fan-outs only in the figure
SHARES = (20, 40, 60, 80, 100)  # of the records, in percent (figures 4.a and 7)
UNIVERSES = (200, 400, 600, 800, sets.STM_ITEMS)
UNIVERSE_RECORDS = 800_000  # section 5.2
QUERIES = 10_000  # in each group: 50,000 in five
SHORT = 10  # the longest query of figure 6
SEED = 2011
PEAK = "peak MB"

MSNBC = {"msnbc": "MSNBC"}
PUBLISHED = MSNBC | {
    name: name for name in ("bms-webview-1", "bms-webview-2", "retail", "kosarak-5-25", "tags-math-sx")
}
"""The data sets on which the paper's settings are tried, with their names in the figures."""

PAPER: Options = {"method": "diffpart", "preset": "paper"}
# With the paper's "slightly greater than 1", empty partitions multiply without end on a large universe; with 5 they
# do not.
PAPER_LARGE: Options = {**PAPER, "c2": 5}
# The constants in the authors' own program, which the paper does not print.
PROGRAM: Options = {**PAPER, "c1": 2.75, "c2": 6.75}
DEFAULT: Options = {"method": "auto", "preset": "default"}  # diffpart up to 20 items, baskets beyond
BASKETS: Options = {"method": "baskets", "preset": "default"}


def publish_sets(setting: Setting, data: Sets, epsilon: float, options: Options, salt: int) -> Sets:
    """The records of one release of these data."""
    release = setting.release(data.frame, data.schema(), epsilon, options, salt)
    return sets.from_frame(pl.DataFrame(release.records), data.size)


def smallest(data: Sets, epsilon: float) -> float | None:
    """The smallest C2 that preset `paper`, with its other settings unchanged, does not refuse at this budget."""
    paper = read_settings(DiffPartSettings, "diffpart", PRESETS, "paper", {})
    tree = ItemTree.of(data.size, paper.fanout, even=False)
    return smallest_constant(tree, epsilon * float(1 - paper.leaf_share), paper.max_cells)


def every(data: Sets) -> dict[str, Options]:
    """The settings to compare: as printed, with a constant that ends, those of the authors' program, and ours."""
    small = data.size <= FEW_ITEMS
    other: dict[str, Options] = {"literal": {**PAPER, "literal": True}} if small else {"paper, C2 = 5": PAPER_LARGE}
    return {"paper": PAPER, **other, "paper, C1 = 2.75, C2 = 6.75": PROGRAM, "default": DEFAULT}


def both(data: Sets) -> dict[str, Options]:
    """A setting of the paper that ends on this universe, and ours."""
    small = data.size <= FEW_ITEMS
    return {"paper" if small else "paper, C2 = 5": PAPER if small else PAPER_LARGE, "default": DEFAULT}


# ---------------------------------------------------------------------------------------------- yardsticks


@dataclass(frozen=True)
class Case:
    """A data set with what is measured on it: the errors of queries, the paper's utility of the K most frequent
    itemsets for these K and, with `mass`, the released records and the true ones among them, as shares of the data."""

    name: str
    yard: Yardstick
    tops: Sequence[int] = ()
    mass: bool = False

    @staticmethod
    def of(name: str, data: Sets, asked: Mapping[str, Queries], tops: Sequence[int] = (), mass: bool = False) -> Case:
        """The case of a data set."""
        return Case(name, Yardstick.of(data, asked, max(tops, default=0)), tops, mass)

    def scores(self, answers: Answers, released: Sets | None = None) -> dict[str, float]:
        """All measures of one release, including those of its records if it has any."""
        values, best = self.yard.errors(answers), top(answers, max(self.tops)) if self.tops else {}
        values |= {f"top{k}": utility(first(self.yard.frequent, k), first(best, k)) for k in self.tops}
        if self.mass:
            values |= {"records": answers.records / len(self.yard.data)} | self.yard.true_mass(answers, released)
        return values


def _rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


def _number(setting: Setting) -> int:
    return 200 if setting.quick else QUERIES


def _errors(setting: Setting, data: Sets, percents: Sequence[int]) -> dict[str, Queries]:
    workloads = groups(data, _number(setting), _rng(), percents)
    return {f"error to {percent} %": queries for percent, queries in workloads.items()}


def _table_case(setting: Setting, name: str, data: Sets) -> Case:
    number, rng = _number(setting), _rng()
    asked = {f"err{percent}": queries for percent, queries in groups(data, number, rng, (20, 60)).items()}
    asked |= {f"rec{k}": from_records(data, k, number, rng) for k in (1, 2)}
    return Case.of(name, data, asked, (20, 100), mass=True)


# ---------------------------------------------------------------------------------------------- by budget


def fig3(setting: Setting) -> Iterator[Row]:
    """Relative error by budget, for queries of up to 20 to 100 % of max|t|."""
    percents = setting.pick(GROUPS, (20, 100))
    for name, data in _pair(setting, "diffpart-fig3"):
        case = Case.of(name, data, _errors(setting, data, percents))
        yield from _compare(setting, "diffpart-fig3", case, setting.pick(BUDGETS, (1,)))


def fig8(setting: Setting) -> Iterator[Row]:
    """The utility of the K most frequent itemsets by budget."""
    for name, data in _pair(setting, "diffpart-fig8"):
        case = Case.of(name, data, {}, tops=setting.pick((20, 60, 100), (5,)))
        yield from _compare(setting, "diffpart-fig8", case, setting.pick(BUDGETS, (1,)))


def all_sets(setting: Setting) -> Iterator[Row]:
    """Every data set at budget 1: errors of the paper's queries and of likely ones, itemsets, released records."""
    for name, data in each(setting, "diffpart-sets", PUBLISHED):
        yield from _table(setting, "diffpart-sets", name, data)


def msnbc(setting: Setting) -> Iterator[Row]:
    """MSNBC alone, because a run on it is short and the paper makes ten: errors, itemsets, released records."""
    if sets.find("msnbc", setting.data_dir) is None:
        raise ParameterError(f"diffpart-msnbc needs --data DIR, the folder that contains {sets.FILES['msnbc']}")
    name, data = next(_pair(setting, "diffpart-msnbc"))
    yield from _table(setting, "diffpart-msnbc", name, data)


def _table(setting: Setting, figure: str, name: str, data: Sets) -> Iterator[Row]:
    case = _table_case(setting, name, data)
    more = dict[str, Options]()
    constant = smallest(data, 1) if data.size > FEW_ITEMS else None
    if constant is not None:
        setting.echo(f"{figure}: {name}: the smallest C2 that is not refused is {constant:g}")
        more["paper, smallest C2"] = {**PAPER, "c2": constant}
    yield from _compare(setting, figure, case, (1,), more)


def _compare(
    setting: Setting, figure: str, case: Case, budgets: Sequence[float], more: Mapping[str, Options] | None = None
) -> Iterator[Row]:
    """The rows of all series to compare on one data set, by budget."""
    levels: dict[str, Answers] = {
        "empty release": Nothing(case.yard.data.size),
        "exact supports, independent": Independent(case.yard.data),
    }
    for series, answers in levels.items():
        yield from rows(figure, f"{case.name}: {{}} by budget", series, None, 0, case.scores(answers))
    if case.yard.data.size <= FEW_ITEMS:
        yield from _basics(setting, figure, case, budgets)
    for series, options in (every(case.yard.data) | dict(more or {})).items():
        for epsilon in budgets:
            for repeat, scores in _releases(setting, figure, case, series, options, epsilon):
                yield from rows(figure, f"{case.name}: {{}} by budget", series, epsilon, repeat, scores)


def _basics(setting: Setting, figure: str, case: Case, budgets: Sequence[float]) -> Iterator[Row]:
    for epsilon, repeat in product(budgets, range(setting.repeats)):
        noisy = basic(case.yard.data, epsilon, setting.rng(repeat))
        for series, answers in {"Basic, raw": noisy, "Basic, records": clipped(noisy)}.items():
            yield from rows(figure, f"{case.name}: {{}} by budget", series, epsilon, repeat, case.scores(answers))


# ---------------------------------------------------------------------------------------------- by size


def fig5(setting: Setting) -> Iterator[Row]:
    """Relative error by fan-out, for queries of up to 60 % of max|t|."""
    for name, data in _pair(setting, "diffpart-fig5"):
        case = Case.of(name, data, _errors(setting, data, (60,)))
        yield from rows(
            "diffpart-fig5", f"{case.name}: {{}} by fan-out", "empty release", None, 0, case.scores(Nothing(data.size))
        )
        series = dict([next(iter(both(data).items()))])  # by default no groups of items are counted
        for fanout in setting.pick(FANOUTS, (4, 10)):
            choices = {name: {**options, "fanout": fanout} for name, options in series.items()}
            yield from _by(setting, "diffpart-fig5", case, "fan-out", float(fanout), choices)


def fig6(setting: Setting) -> Iterator[Row]:
    """Relative error by universe size at 800,000 records, for queries of up to 10 items, on the stand-in.

    The paper fixes "the query length to 10". No record of such data holds ten random items, so every error would be 0.
    Here the length is uniform from 1 to 10, as in the paper's other figures.
    """
    for data in _universes(setting):
        asked = {f"error to {SHORT} items": workload(data.size, SHORT, _number(setting), _rng())}
        yield from _at(setting, "diffpart-fig6", Case.of("stand-in", data, asked), "items", float(data.size))


def fig7(setting: Setting) -> Iterator[Row]:
    """Relative error by number of records, for queries of up to 60 % of max|t|."""
    for name, whole in _pair(setting, "diffpart-fig7"):
        for data in _samples(setting, whole):
            case = Case.of(name, data, _errors(setting, data, (60,)))
            yield from _at(setting, "diffpart-fig7", case, "records", float(len(data)))


def _at(setting: Setting, figure: str, case: Case, axis: str, x: float) -> Iterator[Row]:
    yield from rows(
        figure, f"{case.name}: {{}} by {axis}", "empty release", x, 0, case.scores(Nothing(case.yard.data.size))
    )
    yield from _by(setting, figure, case, axis, x, both(case.yard.data))


def _by(
    setting: Setting, figure: str, case: Case, axis: str, x: float, choices: Mapping[str, Options]
) -> Iterator[Row]:
    for series, options in choices.items():
        for epsilon in setting.pick(BUDGETS, (1,)):
            line = f"{series}, B = {epsilon:g}"
            for repeat, scores in _releases(setting, figure, case, line, options, epsilon):
                yield from rows(figure, f"{case.name}: {{}} by {axis}", line, x, repeat, scores)


# ---------------------------------------------------------------------------------------------- run time


def fig4(setting: Setting) -> Iterator[Row]:
    """Core-seconds by stage and peak memory at B = 1 and fan-out 10, by number of records (a) and, on the stand-in, by
    universe size (b)."""
    for name, whole in _pair(setting, "diffpart-fig4"):
        for data in _samples(setting, whole):
            yield from _timed(setting, f"a: {name}", "records", data, float(len(data)))
    for data in _universes(setting):
        yield from _timed(setting, "b: stand-in", "items", data, float(data.size))


def _timed(setting: Setting, panel: str, axis: str, data: Sets, x: float) -> Iterator[Row]:
    """The rows of the cost of publishing one data set."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "data.dat"
        data.write(path)
        for series, options in both(data).items():
            label = f"diffpart-fig4: {panel}, {x:,.15g} {axis}, {series}"
            measure = partial(_cost, setting, data, path, options)
            for repeat, cost in _attempts(setting, label, measure, (*STAGES, PEAK)):
                for stage, value in cost.items():
                    kind = stage if stage == PEAK else "core-seconds"
                    line = series if stage == PEAK else f"{series}, {stage}"
                    yield Row("diffpart-fig4", f"{panel}, {kind} by {axis}", line, x, repeat, value)


def _cost(setting: Setting, data: Sets, path: Path, options: Options, salt: int) -> Scores:
    """Core-seconds by stage, and peak memory, which includes what the evaluation itself holds."""
    forget_peak()
    release = partial(setting.release, path, data.schema(), 1, options, salt)
    return stages(whole_run(release, process_time)) | {PEAK: peak(with_children=False)}


# ---------------------------------------------------------------------------------------------- shared


def each(setting: Setting, figure: str, names: Mapping[str, str]) -> Iterator[tuple[str, Sets]]:
    """The data sets whose files exist, then the stand-in; echoes which ones are skipped and the size of others."""

    def found() -> Iterator[tuple[str, Sets]]:
        for name, label in names.items():
            if sets.find(name, setting.data_dir) is not None:
                data = sets.load(name, setting.data_dir)
                yield label, data.draw(2_000, _rng()) if setting.quick else data
                continue
            needs = f"it needs --data DIR, the folder that contains {sets.FILES[name]}"
            setting.echo(f"{figure}: {label} skipped; {needs}")
        yield "stand-in", stand_in_for(setting)

    for label, data in found():
        about = f"{len(data):,} records, {data.size:,} items, mean {data.lengths.mean():.2f}, max {data.longest}"
        setting.echo(f"{figure}: {label}, {about}")
        yield label, data


def _pair(setting: Setting, figure: str) -> Iterator[tuple[str, Sets]]:
    return each(setting, figure, MSNBC)


def stand_in_for(setting: Setting) -> Sets:
    small = Town(records=4_000, items=60, longest=16, stations=12)
    return sets.stand_in(small if setting.quick else None)


def _samples(setting: Setting, whole: Sets) -> Iterator[Sets]:
    for percent in setting.pick(SHARES, (50, 100)):
        yield whole.draw(len(whole) * percent // 100, _rng())


def _universes(setting: Setting) -> Iterator[Sets]:
    """The stand-in with limited universes, all with the same number of records: 800,000, or fewer if fewer are left."""
    whole = stand_in_for(setting)
    limited = [whole.limit(number) for number in setting.pick(UNIVERSES, (30, 60))]
    records = min(UNIVERSE_RECORDS, *map(len, limited))
    for data in limited:
        yield data.draw(records, _rng())


def _releases(
    setting: Setting, figure: str, case: Case, series: str, options: Options, epsilon: float
) -> Iterator[tuple[int, Scores]]:
    """(repeat, scores) of each release of one setting."""

    def measure(repeat: int) -> Scores:
        released = publish_sets(setting, case.yard.data, epsilon, options, repeat)
        return case.scores(answers_of(released), released)

    label = f"{figure}: {case.name}, {series}, budget {epsilon:g}"
    return _attempts(setting, label, measure, tuple(case.scores(Nothing(case.yard.data.size))))


def _attempts(
    setting: Setting, label: str, measure: Callable[[int], Scores], names: Sequence[str]
) -> Iterator[tuple[int, Scores]]:
    """(repeat, scores) of each attempt; if the settings are refused, one row of NaN, because repeats would be too."""
    for repeat in range(setting.repeats):
        try:
            scores = measure(repeat)
        except ParameterError as refusal:
            setting.echo(f"{label}: refused; {refusal}")
            yield repeat, dict.fromkeys(names, np.nan)
            return
        yield repeat, scores
