"""Plans: what a release would be like, from the schema, epsilon and a guessed number of records alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, log
from typing import Any

from cantle.errors import ParameterError
from cantle.framework.run import PartitioningRun
from cantle.methods.base import Method
from cantle.methods.catalogue import make_method
from cantle.methods.planning import tables
from cantle.methods.planning.outline import Outline, Plan
from cantle.schema import Schema, as_schema
from cantle.trusted.core.budget import NANO, Unit, nano_of

MOST_RECORDS = 10**12
_LEAST, _MOST, _STEPS = 1e-4, 1e2, 60


def plan(
    schema: Schema | Mapping[str, object] | str | os.PathLike[str],
    *,
    epsilon: float | str | Fraction,
    records: int,
    method: object = "auto",
    preset: str = "default",
    **parameters: object,
) -> Plan:
    """What a release would be like, before anything is spent. No data is read.

    Parameters
    ----------
    schema : Schema, dict or path
        What is public about the data.
    epsilon : float, str or Fraction
        The privacy budget to plan for.
    records : int
        About how many records (sets, nodes) there are, from public knowledge.
    method, preset, **parameters
        As in `publish`. A partitioning of one's own is rehearsed on made-up records.

    Returns
    -------
    Plan
        The budget by question, errors to expect, columns that are too fine, time and memory, epsilon in words.

    Examples
    --------
    >>> schema = {"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}]}
    >>> made = plan(schema, epsilon=1, records=50_000)
    >>> made.outline.method, round(sum(part.share for part in made.outline.budget), 6)
    ('mosaic', 1.0)
    """
    if isinstance(records, bool) or not isinstance(records, int) or not 1 <= records <= MOST_RECORDS:
        raise ParameterError(f"records must be a whole number from 1 to 1e12, got {records!r}")
    public = as_schema(schema)
    chosen = make_method(public, method, preset, parameters)
    exact, unit = nano_of(epsilon) / NANO, Unit(*public.protects)
    outline = _planner(chosen)(chosen, exact, records, unit.max_records)
    asked = tuple(part for part in outline.budget if part.share > 0)
    outline = replace(outline, budget=asked, remarks=(*outline.remarks, *_of_weights(public)))
    return Plan.of(exact, records, unit.describe(), outline)


def _of_weights(schema: Schema) -> list[str]:
    """A remark on the noise of weighted answers."""
    most = next((one.maximum for one in getattr(schema, "fields", ()) if one.role == "weight"), None)
    if most is None:
        return []
    return [
        f"one record counts for up to {float(most):g} in weighted counts ({schema.weight}), so their noise is up to "
        f"{float(most):g} times that of counts of records: declare the smallest maximum that is sure to hold"
    ]


def _planner(method: Method) -> Callable[[Any, float, int, int], Outline]:
    """The function that plans a method; those for sets and graphs are loaded for these alone."""
    if method.name in tables.PLANNERS:
        return tables.PLANNERS[method.name]
    if isinstance(method, PartitioningRun):
        return tables.plan_partitioning
    from cantle.methods.planning import families, sets_and_graphs

    return (sets_and_graphs.PLANNERS | families.PLANNERS)[method.name]


@dataclass(frozen=True)
class Want:
    """An acceptable error: which kind of error, and how large it may be."""

    what: str
    most: float

    def met(self, made: Plan) -> bool:
        """Whether the error of a plan is at most this large."""
        return _WANTED[self.what](made) <= self.most


_WANTED: Mapping[str, Callable[[Plan], float]] = {
    "one-way": lambda made: made.one_way,
    "group-1%": lambda made: made.groups["1 %"],
    "group-10%": lambda made: made.groups["10 %"],
    "smallest": lambda made: made.smallest,
}
_WANT = re.compile(r"\s*(one-way|group-1%|group-10%|smallest)\s+([0-9]*\.?[0-9]+)\s*(%?)\s*")


def want_of(text: str, records: int) -> Want:
    """The acceptable error that a text describes: `one-way 0.5%`, `group-1% 50` or `smallest 200`.

    Groups are in records, or with % in shares of all records.
    """
    parsed = _WANT.fullmatch(text)
    if not parsed or not float(parsed[2]) > 0:
        raise ParameterError(
            f"--want takes one-way, group-1%, group-10% or smallest and an error, got {text!r}; "
            'for example --want "one-way 0.5%" or --want "group-1% 50"'
        )
    number = float(parsed[2]) / (100 if parsed[3] else 1)
    if parsed[1] == "one-way":
        if not parsed[3]:
            raise ParameterError(
                f'--want "one-way" takes a share of the records in %, got {parsed[2]}; write {parsed[2]}%'
            )
        return Want(parsed[1], number)
    return Want(parsed[1], number * records if parsed[3] else number)


def solve(want: Want, made_with: Callable[[float], Plan]) -> Plan:
    """The plan with the smallest epsilon that meets a want, rounded up to three significant digits."""
    low, high = log(_LEAST), log(_MOST)
    if not want.met(made_with(_MOST)):
        raise ParameterError(f"no epsilon up to {_MOST:g} reaches that; ask for less, or use fewer or coarser columns")
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if want.met(made_with(exp(middle))) else (middle, high)
    return made_with(_rounded_up(exp(high)))


def _rounded_up(epsilon: float) -> float:
    """Epsilon rounded up to three significant digits."""
    rounded = float(f"{epsilon:.3g}")
    return rounded if rounded >= epsilon else float(f"{epsilon * 1.005:.3g}")
