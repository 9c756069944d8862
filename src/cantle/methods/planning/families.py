"""Plans for families: the shares follow from the schema and a guessed number of families."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cantle.drawing.column_cells import starting_edges, with_null
from cantle.methods.families.plan import plan, shape_share
from cantle.methods.mosaic.plan import SIZE, opening
from cantle.methods.own_error.accuracy import WHY
from cantle.methods.planning.outline import MEAN_ERROR, Outline, Part
from cantle.methods.planning.tables import noise_of
from cantle.methods.words import question_in_words
from cantle.trusted.core.budget import NANO

if TYPE_CHECKING:
    from cantle.methods.families.method import Families

SECONDS, MEGABYTES = (0.6, 2e-5), (250.0, 6e-4)
"""To start, and per family, as measured in single runs."""


def plan_families(method: Families, epsilon: float, records: int, persons: int) -> Outline:  # noqa: ARG001
    """The shares of families; `records` is the number of families."""
    layout = method.layout
    parent, child = (
        [len(with_null(one, starting_edges(one))) - 1 for one in own] for own in (layout.parent, layout.child)
    )
    wide = sum(one.wide for one in (*layout.parent, *layout.child))
    accuracy = method.own_accuracy.expected(round(epsilon * NANO), records, 1)
    start = opening(records, epsilon, wide, [], accuracy)
    first = [*parent, layout.most + 1, *child]
    shares = plan(start, first, child if layout.most > 1 else [])
    each = noise_of(float(max(shares.first)) * epsilon)
    parts = [
        Part("number of families", float(SIZE), noise_of(float(SIZE) * epsilon)),
        Part(question_in_words(WHY), float(accuracy)),
        Part("where to cut columns of many values into ranges", float(shape_share(start))),
        Part(question_in_words("first tables"), float(sum(shares.first, Fraction(0))), each),
        Part(question_in_words("siblings tables"), float(sum(shares.siblings, Fraction(0)))),
        Part(question_in_words("choice of tables"), float(shares.selection)),
        Part(question_in_words("tables"), float(shares.tables)),
    ]
    orders = ", ".join(f"{name}, {'largest' if falls else 'smallest'} first" for name, falls in method.schema.order)
    second = layout.names[1]
    remarks = [f"{second} of a family are sorted by {orders}" if orders else f"{second} of a family have no order"]
    remarks.append(f"at most {layout.most} {second} of a family count; noise does not grow with that number")
    return Outline(
        method="families",
        budget=tuple(parts),
        value_noise=each,
        one_way=MEAN_ERROR * each,
        cells=1.0,
        remarks=tuple(remarks),
        seconds=SECONDS[0] + SECONDS[1] * records,
        megabytes=MEGABYTES[0] + MEGABYTES[1] * records,
    )


PLANNERS: dict[str, Callable[[Any, float, int, int], Outline]] = {"families": plan_families}
