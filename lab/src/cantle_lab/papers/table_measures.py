"""Measures of how far a released table is from the raw one: distances, counting questions, and models trained on it.

Tables are given as codes, with the target as a further column. Nothing here is private, because releases are compared
with the raw records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from math import comb

import numpy as np

from cantle_lab.papers.classify import C45, SCORES, Classifier
from cantle_lab.papers.coding import Coded, Coder, Floats, Grid, Ints
from cantle_lab.papers.metrics import variation_of_codes

BINS = 16
MOST_PAIRS, MOST_TRIPLES = 300, 60
QUESTIONS, SMALLEST_SHARE, LARGEST_SHARE = 300, 0.02, 0.5
RANGES, SANITY = 1_000, 0.001
"""The number of range questions per run, and the smallest share of the records that a relative error is divided by."""
ROUNDS = 60


def grids_of(coder: Coder) -> list[Grid]:
    """The grids of all columns, the target last."""
    return [*coder.attributes, *([coder.target] if coder.target else [])]


def columns_of(coder: Coder, table: Coded) -> Ints:
    """The codes of all columns, the target last, with one row per record."""
    every = np.column_stack([table.codes, table.labels]) if coder.target else table.codes
    return np.asfortranarray(every)  # questions read whole columns


def binned(grids: list[Grid], codes: Ints) -> tuple[Ints, list[int]]:
    """The codes with numbers of more than 16 values put into 16 bins of equal width, and the bins per column."""
    sizes = [BINS if grid.kind == "number" and grid.size > BINS else grid.size for grid in grids]
    bins = [codes[:, i] * size // grid.size for i, (grid, size) in enumerate(zip(grids, sizes, strict=True))]
    return np.column_stack(bins), sizes


def distance(truth: Ints, release: Ints, sizes: list[int], width: int, most: int, rng: np.random.Generator) -> float:
    """The mean total variation distance over all tables of `width` columns, or over `most` random ones."""
    sets = list(combinations(range(len(sizes)), width))
    if len(sets) > most:
        sets = [sets[i] for i in rng.choice(len(sets), most, replace=False)]
    return float(np.mean([total_variation(truth, release, sizes, columns) for columns in sets]))


def total_variation(truth: Ints, release: Ints, sizes: list[int], columns: tuple[int, ...]) -> float:
    """The total variation distance of one table of these columns."""
    shape = [sizes[column] for column in columns]
    cells = (np.ravel_multi_index([codes[:, column] for column in columns], shape) for codes in (truth, release))
    return variation_of_codes(*cells)


def distances(grids: list[Grid], truth: Ints, release: Ints, rng: np.random.Generator) -> dict[str, float]:
    """TVD1, TVD2 and TVD3 with 16 bins of equal width."""
    (raw, sizes), (released, _) = binned(grids, truth), binned(grids, release)
    most = {1: len(sizes), 2: MOST_PAIRS, 3: MOST_TRIPLES}
    return {f"TVD{k}": distance(raw, released, sizes, k, m, rng) for k, m in most.items() if comb(len(sizes), k)}


def question(grids: list[Grid], codes: Ints, columns: Ints, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Random bounds for these columns: a number between the values of two random records, a category equal to one's."""
    bounds = []
    for column in columns:
        values = codes[rng.integers(len(codes), size=2), column]
        if grids[column].kind != "number":
            values[1] = values[0]
        bounds.append((int(values.min()), int(values.max())))
    return bounds


def share(codes: Ints, columns: Ints, bounds: list[tuple[int, int]]) -> float:
    """The share of the records that are within the bounds."""
    inside = np.ones(len(codes), dtype=bool)
    for column, (low, high) in zip(columns, bounds, strict=True):
        inside &= (codes[:, column] >= low) & (codes[:, column] <= high)
    return float(inside.sum() / max(len(codes), 1))


def counting_quantile(grids: list[Grid], truth: Ints, release: Ints, width: int, rng: np.random.Generator) -> float:
    """The 95 % quantile of |true - released| share of 300 questions, in 1/10,000 of the records.

    Questions are such as a reader of the release would ask: their bounds are released values, and they hold for 2 to
    50 % of the released records.
    """
    errors: list[float] = []
    if not len(release):
        return float("nan")  # without released records there are no questions
    for _ in range(20 * QUESTIONS):
        columns = rng.choice(len(grids), width, replace=False)
        bounds = question(grids, release, columns, rng)
        released = share(release, columns, bounds)
        if SMALLEST_SHARE <= released <= LARGEST_SHARE:
            errors.append(abs(share(truth, columns, bounds) - released))
        if len(errors) == QUESTIONS:
            break
    return 10_000 * float(np.quantile(errors, 0.95)) if errors else float("nan")


def range_errors(grids: list[Grid], truth: Ints, release: Ints, rng: np.random.Generator) -> dict[str, float]:
    """The mean and median relative error of 1,000 range questions over 1 to 4 columns, with bounds from raw records."""
    errors = []
    for _ in range(RANGES):
        columns = rng.choice(len(grids), min(int(rng.integers(1, 5)), len(grids)), replace=False)
        bounds = question(grids, truth, columns, rng)
        true = share(truth, columns, bounds)
        errors.append(abs(share(release, columns, bounds) - true) / max(true, SANITY))
    return {"range mean": float(np.mean(errors)), "range median": float(np.median(errors))}


class Boosting:
    """Histogram gradient boosting of scikit-learn with 60 rounds; categories are declared as such."""

    def __init__(self, coder: Coder) -> None:
        self.coder = coder

    def fit(self, table: Coded) -> None:
        """Learns from the records; if they have only one class, it is always predicted."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        listed = [grid.kind != "number" and 2 < grid.size <= 255 for grid in self.coder.attributes]
        classifier = HistGradientBoostingClassifier(max_iter=ROUNDS, categorical_features=listed, random_state=0)
        self._model = _Fitted(classifier, table.codes.astype(np.float64), table.labels, self.coder.classes)

    def proba(self, codes: Ints) -> Floats:
        """One row of class probabilities per record."""
        return self._model.proba(codes.astype(np.float64))


class Logistic:
    """Logistic regression. A number becomes two columns, its share of the range and its logarithm; a category becomes
    one column per value."""

    def __init__(self, coder: Coder) -> None:
        self.coder = coder

    def fit(self, table: Coded) -> None:
        """Learns from the records."""
        from sklearn.linear_model import LogisticRegression

        classifier = LogisticRegression(max_iter=300)
        self._model = _Fitted(classifier, self._design(table.codes), table.labels, self.coder.classes)

    def proba(self, codes: Ints) -> Floats:
        """One row of class probabilities per record."""
        return self._model.proba(self._design(codes))

    def _design(self, codes: Ints) -> Floats:
        parts = []
        for i, grid in enumerate(self.coder.attributes):
            column = codes[:, i : i + 1]
            if grid.kind == "number":
                parts += [column / grid.size, np.log1p(column) / 10]
            else:
                parts.append((column == np.arange(grid.size)).astype(np.float64))
        return np.hstack(parts)


class _Fitted:
    """A scikit-learn classifier with a probability for every public class, including those without records."""

    def __init__(self, model: object, design: Floats, labels: Ints, classes: int) -> None:
        self.classes, self.seen = classes, np.unique(labels)
        self.model = model.fit(design, labels) if len(self.seen) > 1 else None  # type: ignore[attr-defined]

    def proba(self, design: Floats) -> Floats:
        probabilities = np.zeros((len(design), self.classes))
        probabilities[:, self.seen] = 1.0 if self.model is None else self.model.predict_proba(design)
        return probabilities


MODELS: Mapping[str, Callable[[Coder], Classifier]] = {"tree": C45, "boosting": Boosting, "logistic": Logistic}


def model_scores(
    coder: Coder, train: Coded, test: Coded, names: Iterable[str] = tuple(MODELS)
) -> Iterator[tuple[str, float]]:
    """(measure, value) of these models trained on `train` and tested on `test`."""
    for name in names:
        model = MODELS[name](coder)
        model.fit(train)
        proba = model.proba(test.codes)
        for key, function in SCORES.items():
            yield f"{name} {key}", function(test.labels, proba)


def fidelity(coder: Coder, truth: Coded, release: Coded, seed: int) -> Iterator[tuple[str, float]]:
    """(measure, value): distances, counting questions, range questions."""
    grids, raw, released = grids_of(coder), columns_of(coder, truth), columns_of(coder, release)
    rng = np.random.default_rng([seed, 1])
    yield from distances(grids, raw, released, rng).items()
    for width in range(1, min(3, len(grids)) + 1):
        yield f"q95 k={width}", counting_quantile(grids, raw, released, width, rng)
    yield from range_errors(grids, raw, released, np.random.default_rng([seed, 2])).items()
