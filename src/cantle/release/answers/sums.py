"""Means of sums and differences of columns of numbers, such as `end - start`."""

from __future__ import annotations

from fractions import Fraction
from math import lcm, nan
from typing import TYPE_CHECKING

import numpy as np

from cantle.release.answers.estimates import LIMITS, Estimate
from cantle.schema.code_sets import EVERYTHING, CodeSet, Key, OneColumn, Question, join
from cantle.schema.made_columns import Form
from cantle.schema.scales import Steps

if TYPE_CHECKING:
    from cantle.release.answers.table_answers import TableAsker
    from cantle.schema.sums import Total


def mean_of_sum(asker: TableAsker, total: Total, question: Question, confidence: float) -> Estimate:
    """The mean of a sum over the records that a question holds for and that have all its values.

    The mean of a sum is the sum of the means of what was counted, and its interval is as wide as theirs together. If
    the sum is made in several ways, as where one of two columns may be missing, only the bounds limit the mean.
    """
    scale = lcm(total.constant.denominator, *((factor * one.unit).denominator for factor, one in total.columns))
    terms = [(str(one.key), int(factor * one.unit * scale)) for factor, one in total.columns]
    constant = total.constant + sum(factor * one.first for factor, one in total.columns)
    forms = asker.relations.sums(terms)
    groups = [(form, join(True, [question, _there(asker, form)])) for form in forms]
    held = [(form, asked) for form, asked in groups if asker.drawn(asked)]
    if not held:
        return Estimate(nan, nan, nan, confidence, LIMITS)
    parts = [_of_form(asker, form, asked, constant, scale, confidence) for form, asked in held]
    if len(parts) == 1:
        return parts[0]
    weights = [asker.drawn(asked) for _, asked in held]
    value = float(np.average([one.value for one in parts], weights=weights))
    return Estimate(value, min(one.low for one in parts), max(one.high for one in parts), confidence, LIMITS)


def _there(asker: TableAsker, form: Form) -> Question:
    """Whether all columns of a form have a value."""
    columns = {str(key): asker.attributes[str(key)] for key in (*sorted(form.needs, key=str), *form.factors)}
    return join(True, [OneColumn(k, CodeSet.span(0, a.grid, a.size)) for k, a in columns.items()] or [EVERYTHING])


def _of_form(
    asker: TableAsker, form: Form, asked: Question, constant: Fraction, scale: int, confidence: float
) -> Estimate:
    """The mean of a form: a constant plus parts of the means of its columns."""
    fixed = float(constant + Fraction(form.constant, scale))
    known = [_mean(asker, key, asked, Fraction(factor, scale), confidence) for key, factor in form.factors.items()]
    value, low, high = (fixed + sum(ends) for ends in zip(*((v, lo, hi) for v, lo, hi, _ in known), strict=True))
    kinds = [one.covers for *_, one in known]
    weakest = LIMITS if LIMITS in kinds else next((one for one in kinds if one != kinds[0]), kinds[0])
    return Estimate(value, low, high, confidence, weakest, next((one.note for *_, one in known if one.note), ""))


def _mean(
    asker: TableAsker, key: Key, asked: Question, factor: Fraction, confidence: float
) -> tuple[float, float, float, Estimate]:
    """The mean of the places of a column times a factor, its interval, and the estimate of the column's own mean."""
    attribute = asker.attributes[str(key)]
    assert isinstance(attribute.scale, Steps)
    one = asker.mean_of(attribute, asked, confidence)
    unit, first = attribute.scale.step / attribute.scale.scale, attribute.scale.first / attribute.scale.scale
    ends = sorted(float(factor) * (end - first) / unit for end in (one.low, one.high))
    return float(factor) * (one.value - first) / unit, ends[0], ends[1], one
