"""Least squares on released records, with intervals that include what noise and drawing did to the coefficients.

A coefficient follows from the covariances of its columns. How far a covariance is off follows from the measured error
of one count: of the records in the upper halves of both columns, or with both categories. The error of a coefficient
adds up these errors as if they were independent. That is too much, because few of them are as large as their bounds:
MODEST is what `cantle reproduce analysts-regressions` needs on Adult and bank. A target that is related in bands, and
columns that are compared in groups, come out a little too little related, which SHRUNK allows for. Inside the groups
in which an outcome was related to a column, little relates them: if both vary much there, as in the tail of a skewed
outcome, a part of their correlation is missing (`_missing`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import nan
from statistics import NormalDist

import numpy as np
import polars as pl

from cantle.errors import ParameterError
from cantle.release.answers.asking import check_confidence
from cantle.release.answers.estimates import LIMITS, MEASURED, Estimate, columns_of_estimates
from cantle.release.answers.table_answers import TableAsker, numbers_of
from cantle.schema.code_sets import CodeSet, OneColumn, join
from cantle.schema.domain import Attribute
from cantle.schema.scales import Steps
from cantle.trusted.core.arrays import Codes, Floats, Ints

MODEST, SHRUNK = 0.4, 0.1
MOST_TERMS = 200
_BLOCK = 1 << 15  # records whose numbers are held at once
_PART = re.compile(r"""\s*(?:(?P<quoted>"[^"]+"|'[^']+'|`[^`]+`)|(?P<plain>[^+~"'`]+))\s*(?P<sign>[+~]|$)""")
FORM = 'write an outcome and columns, such as "income ~ age + sex"; put names with + or ~ in quotes'


@dataclass(frozen=True)
class Regression:
    """The coefficients of a linear regression on released records.

    Attributes
    ----------
    outcome : str
        What is predicted. Of two categories it is the share of the second one.
    records : int
        The released records that have all values.
    coefficients : dict of str to Estimate
        The intercept first, which has no interval; a category is compared with the most frequent one of its column. An
        interval is about the coefficient that the same regression has on the private records; where there is none, its
        ends are NaN.
    notes : tuple of str
        What else to know, such as which coefficients come out too small.
    """

    outcome: str
    records: int
    coefficients: dict[str, Estimate]
    notes: tuple[str, ...] = ()

    def frame(self) -> pl.DataFrame:
        """One row per coefficient: term, value, low, high, covers."""
        terms = pl.Series("term", list(self.coefficients))
        return pl.DataFrame([terms, *columns_of_estimates(list(self.coefficients.values()))])

    def __str__(self) -> str:
        lines = [f"{self.outcome}, {self.records:,} released records"]
        for term, one in self.coefficients.items():
            known = one.confidence is not None
            words = (
                f"{100 * (one.confidence or 0):g} % interval {one.low:.4g} to {one.high:.4g}"
                if known
                else "no interval"
            )
            lines.append(f"  {term}: {one.value:.4g} ({words})")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


@dataclass(frozen=True)
class Term:
    """One regressor, or the outcome: a column of numbers, or one category of a column."""

    attribute: Attribute
    category: int | None

    @property
    def column(self) -> str:
        return self.attribute.name

    @property
    def words(self) -> str:
        return self.column if self.category is None else f"{self.column}: {self.attribute.scale.value(self.category)}"

    def values(self, codes: Codes) -> Floats:
        """The numbers of records with these codes."""
        if self.category is not None:
            return (codes == self.category).astype(np.float64)
        return np.asarray(numbers_of(self.attribute, codes), dtype=np.float64)

    def part(self, codes: Codes) -> CodeSet:
        """The category, or the upper half of the values."""
        size = self.attribute.size
        if self.category is not None:
            return CodeSet.span(self.category, self.category + 1, size)
        held, times = np.unique(codes[codes < self.attribute.grid], return_counts=True)
        below = np.cumsum(times) / max(1, times.sum())
        at = int(np.argmin(np.abs(below - 0.5))) + 1 if len(held) else 0
        first = int(held[min(at, len(held) - 1)]) if len(held) else 0
        return CodeSet.span(first, self.attribute.grid, size)


@dataclass(frozen=True)
class Model:
    """An outcome and the regressors, with the categories that the release has."""

    outcome: Term
    terms: tuple[Term, ...]

    @staticmethod
    def of(asker: TableAsker, outcome: str, columns: Sequence[str]) -> Model:
        attributes = {name: asker.column(name) for name in (outcome, *columns)}
        terms = tuple(term for name in columns for term in _terms(attributes[name], asker.codes(name)))
        if len(terms) > MOST_TERMS:
            raise ParameterError(f"these columns have {len(terms)} numbers and categories, {MOST_TERMS} are allowed")
        return Model(_outcome(attributes[outcome]), terms)

    def fit(self, read: Callable[[str], Codes]) -> LeastSquares:
        """Least squares on the records that `read` gives the codes of, column by column."""
        codes, terms = self.codes(read), (self.outcome, *self.terms)
        records = len(codes[self.outcome.column])

        def parts() -> Iterator[Floats]:
            for first in range(0, records, _BLOCK):
                yield np.stack([term.values(codes[term.column][first : first + _BLOCK]) for term in terms])

        return LeastSquares.of(parts, records)

    def codes(self, read: Callable[[str], Codes]) -> dict[str, Codes]:
        """The codes of the records that have all values, by column."""
        grids = {term.column: term.attribute.grid for term in (self.outcome, *self.terms)}
        codes = {name: read(name) for name in grids}
        there = np.logical_and.reduce([codes[name] < grid for name, grid in grids.items()])
        if np.count_nonzero(there) <= len(self.terms) + 1:
            raise ParameterError("too few records have all these values")
        return {name: one[there] for name, one in codes.items()}


def regress(asker: TableAsker, formula: str, confidence: float) -> Regression:
    """The coefficients of a formula such as "y ~ a + b"."""
    check_confidence(confidence)
    outcome, *columns = _names(formula)
    model = Model.of(asker, outcome, columns)
    fit, terms = model.fit(asker.codes), model.terms
    is_target = outcome == asker.target
    apart = [name for name in columns if not asker.widths.are_together([outcome, name])]
    relative = np.array(nan) if apart or not is_target else _relative_errors(asker, (model.outcome, *terms), confidence)
    measured = not np.isnan(relative).any()
    margins = np.full(len(terms), nan)
    if measured:
        margins = fit.margins(relative, _missing(asker, model), _scale_errors(asker, model, confidence), confidence)
    made = zip(("intercept", *(term.words for term in terms)), fit.coefficients, (nan, *margins), strict=True)
    coefficients = dict[str, Estimate]()
    for term, value, margin in made:
        covers = LIMITS if np.isnan(margin) else MEASURED
        coefficients[term] = Estimate(float(value), float(value - margin), float(value + margin), confidence, covers)
    notes = tuple(_notes(is_target, outcome, apart, measured))
    return Regression(model.outcome.words, fit.records, coefficients, notes)


def _names(formula: str) -> list[str]:
    """The names of the outcome and of the columns."""
    parts = list(_PART.finditer(formula))
    signs = "".join(part["sign"] for part in parts)
    names = [(part["quoted"] or part["plain"]).strip("\"'` ") for part in parts]
    whole = "".join(part.group() for part in parts) == formula
    if not whole or not all(names) or not re.fullmatch(r"~\+*", signs) or len(names) != len(signs) + 1:
        raise ParameterError(f"the regression {formula!r} cannot be read; {FORM}")
    if len(set(names)) < len(names):
        raise ParameterError(f"the regression {formula!r} names a column twice; name each once")
    return names


def _terms(attribute: Attribute, codes: Codes) -> list[Term]:
    """A column of numbers or dates is one term; categories are one each, but for the most frequent one."""
    if isinstance(attribute.scale, Steps):
        return [Term(attribute, None)]
    times = np.bincount(codes[codes < attribute.grid], minlength=attribute.grid)  # null is no category
    return [Term(attribute, code) for code in np.flatnonzero(times).tolist() if code != int(times.argmax())]


def _outcome(attribute: Attribute) -> Term:
    if isinstance(attribute.scale, Steps):
        return Term(attribute, None)
    if attribute.grid != 2:
        rule = "an outcome is a number, a date, or one of two categories"
        raise ParameterError(f"the outcome {attribute.name!r} has {attribute.grid} categories; {rule}")
    return Term(attribute, 1)


def _notes(is_target: bool, outcome: str, apart: Sequence[str], measured: bool) -> Iterator[str]:
    if not is_target:
        yield (
            f"there are no intervals, because {outcome} is not the target of this release: coefficients come out too "
            "small, often by half and more; to regress on it, publish with role: target"
        )
        return
    if not measured:
        why = f"{outcome} was not measured together with {', '.join(apart[:5])}" if apart else "no error was measured"
        yield f"there are no intervals, because {why}"
    yield "coefficients come out somewhat too small, more so if they are small themselves"


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """A fit, and what its uncertainty follows from."""

    coefficients: Floats
    spreads: Floats
    """The standard deviations of the regressors, and of the outcome before them."""
    inverse: Floats
    """The inverse of the correlations of the regressors."""
    drawn: Floats
    """The standard errors of the slopes that drawing records alone would have."""
    records: int

    @staticmethod
    def of(parts: Callable[[], Iterator[Floats]], records: int) -> LeastSquares:
        """The fit to records that `parts` gives some at a time: a row per column, the outcome first."""
        means = np.sum([part.sum(axis=1) for part in parts()], axis=0) / records
        products = np.zeros((len(means), len(means)))
        for part in parts():
            part -= means[:, None]
            products += part @ part.T / records
        spreads = np.sqrt(np.diag(products))
        scale = np.maximum(spreads[1:], 1e-12)
        inverse, related = np.linalg.pinv(products[1:, 1:] / np.outer(scale, scale)), products[1:, 0] / scale
        standard = inverse @ related
        noise = max(0.0, float(products[0, 0] - standard @ related)) * records / max(1, records - len(means))
        slopes = standard / scale
        drawn = np.sqrt(noise * np.maximum(np.diag(inverse), 0) / records) / scale
        coefficients = np.array([means[0] - means[1:] @ slopes, *slopes])
        return LeastSquares(coefficients, spreads, inverse, drawn, records)

    def margins(self, relative: Floats, missing: Floats, scales: Floats, confidence: float) -> Floats:
        """The half widths of the intervals of the slopes. `relative` are the errors of the correlations of all pairs of
        columns, the outcome first; `missing` is what those of the outcome may lack besides; `scales` are the errors of
        the standard deviations, as parts of them."""
        spread, slopes = np.maximum(self.spreads[1:], 1e-12), self.coefficients[1:]
        standard = slopes * spread / max(float(self.spreads[0]), 1e-12)
        off = MODEST**2 * (relative[0, 1:] ** 2 + relative[1:, 1:] ** 2 @ standard**2) + missing**2
        noise = np.sqrt(self.inverse**2 @ off) * self.spreads[0] / spread
        by_drawing = NormalDist().inv_cdf((1 + confidence) / 2) * self.drawn
        by_scale = slopes**2 * (scales[0] ** 2 + scales[1:] ** 2)
        return np.asarray(np.sqrt(noise**2 + by_drawing**2 + by_scale) + SHRUNK * np.abs(slopes))


def _relative_errors(asker: TableAsker, terms: Sequence[Term], confidence: float) -> Floats:
    """How far the correlations of pairs of columns are off at most, from the measured errors of counts; NaN where none
    was measured."""
    asked = [asker.counted_question(OneColumn(term.column, term.part(asker.codes(term.column)))) for term in terms]
    shares = np.array([asker.drawn(one) / max(1, asker.records) for one in asked])
    scales = np.sqrt(np.maximum(shares * (1 - shares), 1e-4))
    found = np.full((len(terms), len(terms)), nan)
    for one, other in combinations_with_replacement(range(len(terms)), 2):
        # two categories of one column exclude each other, so that only their shares can be off
        same = terms[one].column == terms[other].column
        margin = asker.widths.margin(asked[one] if same else join(True, (asked[one], asked[other])), confidence)
        if margin is not None:
            share = margin / max(1.0, asker.records / asker.share_drawn)
            part = 1.0 if not same else abs(1 - 2 * shares[one]) if one == other else shares[other]
            found[one, other] = found[other, one] = share * part / (scales[one] * scales[other])
    return found


def _scale_errors(asker: TableAsker, model: Model, confidence: float) -> Floats:
    """How far the standard deviations of the outcome and of the regressors are off, as parts of them: by half as much
    as variances. Those of categories follow from their shares, whose errors are small."""
    terms = (model.outcome, *model.terms)
    return np.array(
        [0 if one.category is not None else asker.spread_error(one.attribute, confidence) / 2 for one in terms]
    )


def _missing(asker: TableAsker, model: Model) -> Floats:
    """How much of each regressor's correlation with the outcome may be missing, if the outcome is a number: they would
    be related inside its groups as strongly as between them."""
    if model.outcome.category is not None:
        return np.zeros(len(model.terms))
    codes, found = model.codes(asker.codes), []
    outcome = model.outcome.values(codes[model.outcome.column])
    for term in model.terms:
        one = term.values(codes[term.column])
        edges = asker.widths.related_groups(model.outcome.attribute, term.column)
        begins = numbers_of(model.outcome.attribute, edges[1:-1])
        found.append(missing_inside(outcome, one, np.searchsorted(begins, outcome, side="right")))
    return np.array(found)


def missing_inside(first: Floats, second: Floats, group: Ints) -> float:
    """The part of the correlation of two columns that is missing if it should be as strong inside groups as over all.

    >>> x, halves = np.arange(8.0), np.arange(8) // 4
    >>> [round(missing_inside(x, other, halves), 2) for other in (x, x[[3, 2, 1, 0, 7, 6, 5, 4]])]
    [0.0, 0.48]
    """
    first, second = ((one - one.mean()) / max(float(one.std()), 1e-12) for one in (first, second))
    size = np.maximum(np.bincount(group), 1)
    inside = [one - (np.bincount(group, one) / size)[group] for one in (first, second)]
    spreads = [np.sqrt(np.bincount(group, one**2) / size) for one in inside]
    over_all, together = float((first * second).mean()), float((inside[0] * inside[1]).mean())
    varies = min(0.99, float((size * spreads[0] * spreads[1]).sum()) / len(first))
    missing = (abs(over_all) * varies - together * float(np.sign(over_all))) / (1 - varies)
    return min(1 - abs(over_all), max(0.0, missing))
