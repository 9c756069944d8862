"""A released table beside the private data: columns, pairs of columns, random questions, and a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle.data.tables import as_ids, read_batches
from cantle.drawing.counts import public_dice
from cantle.errors import ParameterError, install_command
from cantle.internal.comparison import BEFORE, Comparison, Distribution, Fact, Matrices, Trained, of_pairs
from cantle.internal.questions import ask, ask_related
from cantle.methods.own_error.table_workload import coded
from cantle.release import Release
from cantle.release.answers.regression import Model
from cantle.release.answers.table_answers import TableAsker, numbers_of
from cantle.release.report.pairs import Floats, associations, cross_table, distance, thinned
from cantle.release.report.tables import TableView
from cantle.release.schemas import schema_as
from cantle.schema.domain import Attribute, Steps
from cantle.schema.fields import MOST_CLASSES
from cantle.schema.table import TableSchema
from cantle.schema.values import Codes
from cantle.trusted.bounding.persons import person_numbers, within_bound
from cantle.trusted.core.arrays import Ints

MOST_COLUMNS = 40
"""Most columns of which all pairs are compared."""


EXPLAINED = "Strength of connection (Cramér's V). The third map shows the difference; it is darkest from 0.3 on."


def compare_table(data: object, release: Release) -> Comparison:
    view, schema = TableView.of(release), schema_as(release.manifest, TableSchema)
    used = read_used(data, schema)
    raw = used.codes
    facts = (Fact("records", len(raw[0]), release.manifest.summary["records"]),)
    if view is None:
        reason = "Values are sets of values (preset paper), so columns cannot be compared."
        return Comparison("table", facts, (), missing=(reason,))
    columns = tuple(
        Distribution(
            one.name, grouping.labels, grouping.counts(private), grouping.counts(released),
            _facts(one, private, released, used.means.get(one.name)), grouping.ticks if grouping.numeric else None,
        )
        for one, grouping, private, released in zip(view.attributes, view.shown, raw, view.codes, strict=True)
    )  # fmt: skip
    matrices, asker = _matrices(view, raw), TableAsker(release)
    some = view.records and len(raw[0])
    asked = [*ask(view, raw, asker), *ask_related(view, raw, asker, matrices.private)] if some else []
    trained, reason = train_and_test(schema, view, raw)
    if trained is not None:
        trained = replace(trained, slopes=_slopes(asker, trained.target, view, raw))
    return Comparison("table", facts, columns, matrices, tuple(asked), trained, missing=(reason,) if reason else ())


@dataclass(frozen=True, eq=False, repr=False)
class Used:
    """The records that `publish` uses: their places by column, and the means of columns of numbers as they are given,
    with the bounds and without them."""

    codes: list[Codes]
    means: dict[str, tuple[float, float]]


def read_used(data: object, schema: TableSchema) -> Used:
    """The records that `publish` would use: those that fit the schema, bounded per person."""
    domain = schema.domain().with_target_as_column()
    attributes, counted = domain.on_places.read.attributes, domain.attributes
    numbers = [one for one in attributes if isinstance(one.scale, Steps) and one.scale.type in ("integer", "number")]
    parts, given, ids = [], [], []
    for batch in read_batches(data, schema):
        parts.append([one.encode(one.given(batch.frame)) for one in attributes])
        given.append([_given(one, batch.frame[one.name]) for one in numbers])
        if schema.person is not None:
            ids.append(as_ids(batch.frame[schema.person], schema.missing_values))
    read = [np.concatenate(column) for column in zip(*parts, strict=True)]
    kept = np.flatnonzero(np.logical_and.reduce([column >= 0 for column in read]))
    columns, _ = domain.on_places.counted(read, np.zeros(len(read[0]), dtype=np.int64))
    if schema.person is not None:
        person = person_numbers(pl.concat(ids))[kept]
        kept, person = kept[person >= 0], person[person >= 0]
        codes = [coded(one, column[kept]) for one, column in zip(counted, columns, strict=True)]
        kept = kept[within_bound(person, codes, schema.max_records)]
    values = [np.concatenate(column, axis=1)[:, kept] for column in zip(*given, strict=True)]
    means = {one.name: _means_of(both) for one, both in zip(numbers, values, strict=True)}
    return Used([column[kept] for column in columns], means)


def _given(attribute: Attribute, series: pl.Series) -> Floats:
    """The numbers of a column with the bounds and without them, NaN if they are missing."""
    assert isinstance(attribute.scale, Steps)
    values, missing = attribute.scale.read(series)
    return np.stack([attribute.scale.bounded(series), np.where(missing, np.nan, values)])


def _means_of(both: Floats) -> tuple[float, float]:
    known = both[:, ~np.isnan(both[0])]
    inside, given = (float(row.mean()) if len(row) else float("nan") for row in known)
    return inside, given


def _facts(
    attribute: Attribute, private: Codes, released: Codes, means: tuple[float, float] | None
) -> tuple[Fact, ...]:
    facts = []
    if means is not None:
        known = numbers_of(attribute, released[released < attribute.bins])
        facts.append(Fact("mean", means[0], float(known.mean()) if len(known) else float("nan")))
        if means[1] != means[0]:
            facts.append(Fact(BEFORE, means[1], None))
    if attribute.nullable:
        shares = [float((codes == attribute.bins).mean()) if len(codes) else 0.0 for codes in (private, released)]
        facts.append(Fact("missing", *shares))
    return tuple(facts)


def _matrices(view: TableView, raw: Sequence[Codes]) -> Matrices:
    """How strongly pairs of columns are connected: Cramér's V, from 0 to 1."""
    groupings = view.shown[:MOST_COLUMNS]
    sizes = [one.size for one in groupings]
    private = thinned([one.of(codes) for one, codes in zip(groupings, raw, strict=False)])
    released = thinned([one.of(codes) for one, codes in zip(groupings, view.codes, strict=False)])
    distances = np.zeros((len(sizes), len(sizes)))
    for a in range(len(sizes)):
        for b in range(a):
            tables = [cross_table(one[a], one[b], sizes[a], sizes[b]) for one in (private, released)]
            distances[a, b] = distances[b, a] = distance(*tables)
    names = tuple(one.name for one in groupings)
    strength, far = [associations(one, sizes) for one in (private, released)], of_pairs(distances)
    change, lines = np.abs(of_pairs(strength[0] - strength[1])), list[str]()
    if len(far):
        differs = f"{change.mean():.3f} on average, at most {change.max():.3f}"
        lines = [
            f"{len(far):,} pairs of columns: mean distance {far.mean():.3f}, largest {far.max():.3f}",
            f"Strength of connection (Cramer's V) differs by {differs}",
        ]
    return Matrices(names, strength[0], strength[1], distances, tuple(lines), EXPLAINED, with_numbers=True)


MOST_RECORDS = 30_000
_FEWEST = 200
CLEAR = 5.0
"""Coefficients of at least this many standard errors are clear."""
_MOST_CLASSES = 20


def train_and_test(schema: TableSchema, view: TableView, raw: Sequence[Codes]) -> tuple[Trained | None, str]:
    """The scores of two models of the target; or None, and the reason why there is no result."""
    target = schema.domain().target
    if target is None:
        return None, "No classifier: no column has role: target."
    numeric = isinstance(target.scale, Steps) and target.size > MOST_CLASSES
    if target.size > _MOST_CLASSES and not numeric:
        return None, "No classifier: the target has too many classes."
    if find_spec("sklearn") is None:
        return None, f"No classifier: scikit-learn is not installed ({install_command('evaluate')})."
    if min(len(raw[0]), view.records) < _FEWEST or len(view.attributes) < 2:
        return None, "No classifier: there are too few records or columns."
    place = [one.name for one in view.attributes].index(target.name)
    order = public_dice(0).permutation(len(raw[0]))
    half = len(order) // 2
    private, others = order[:half][:MOST_RECORDS], order[half:][:MOST_RECORDS]
    released = public_dice(1).permutation(view.records)[:half][:MOST_RECORDS]
    truth = raw[place][others]
    tested = _features(raw, place, others)
    scores = [
        _score(_features(codes, place, rows), codes[place][rows], tested, truth, numeric=numeric)
        for codes, rows in ((raw, private), (view.codes, released))
    ]
    majority = 0.0 if numeric else float(np.bincount(truth).max() / len(truth))
    return Trained(target.name, scores[0], scores[1], majority, len(truth), numeric), ""


def _features(codes: Sequence[Codes], place: int, rows: Ints) -> NDArray[np.float32]:
    return np.stack([one[rows].astype(np.float32) for number, one in enumerate(codes) if number != place], axis=1)


def _score(
    features: NDArray[np.float32], values: Codes, others: NDArray[np.float32], truth: Codes, *, numeric: bool
) -> float:
    """How well a model of the values predicts those of other records: the share of classes that it gets right, or R2,
    the share of the variance of numbers that is explained."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    if not numeric and len(np.unique(values)) < 2:
        return float((truth == values[0]).mean())
    kind = HistGradientBoostingRegressor if numeric else HistGradientBoostingClassifier
    model = kind(max_iter=60, early_stopping=False, random_state=0)
    with threadpool_limits(1):  # several threads wait for each other: 17 s of CPU instead of 0.6 s on two busy cores
        found = model.fit(features, values).predict(others)
    if not numeric:
        return float((found == truth).mean())
    return float(1 - ((truth - found) ** 2).mean() / max(float(truth.var()), 1e-12))


def _slopes(asker: TableAsker, target: str, view: TableView, raw: Sequence[Codes]) -> str:
    """How far coefficients of least squares are off that are clear in the data."""
    others = [one.name for one in view.attributes if one.name != target]
    private = {one.name: codes for one, codes in zip(view.attributes, raw, strict=True)}
    try:
        model = Model.of(asker, target, others)
        truth, found = model.fit(lambda name: private[name]), model.fit(asker.codes)
    except (ParameterError, KeyError):  # an outcome of several categories, many categories, columns that rules made
        return ""
    clear = np.abs(truth.coefficients[1:]) > CLEAR * truth.drawn
    right, given = truth.coefficients[1:][clear], found.coefficients[1:][clear]
    if not len(right):
        return ""
    off, wrong = np.median(np.abs(given - right) / np.abs(right)), int((np.sign(given) != np.sign(right)).sum())
    return (
        f"linear regression on all other columns: {len(right)} coefficients are clear in the data; in the release they "
        f"are off by {100 * off:.0f} % in the median, and {wrong} have the wrong sign"
    )
