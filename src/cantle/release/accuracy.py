"""The accuracy of a release in release.json, and the levels of error that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log

from cantle.errors import VerifyError
from cantle.methods.own_error.accuracy import LARGE, Accuracy, PairError, QuestionError, Rate
from cantle.release.document_fields import Fields, whole
from cantle.schema.canonical_json import JSON

DOUBT = log(5)
"""Noise scales that are added to a measured error: with them, the true error is larger in one of ten cases."""

WORST_DOUBT = log(10)
"""The same if the measured error is the largest of all: the question that is off most is off by more in one of 20."""

MORE_DOUBT = log(20)
"""The same if nothing else is known of a question: the true error is larger in one of 40 cases."""

MOST_DOUBT = log(200)
"""The most that is added if the noise behind a question is large: the true error is larger in one of 400 cases."""


def accuracy_to(accuracy: Accuracy) -> dict[str, JSON]:
    """The accuracy as in release.json; kinds of questions that could not be drawn are left out."""
    if accuracy.earlier is not None:
        return dict(accuracy.earlier)
    kinds = {"one_column": accuracy.one_column}
    asked = {name: vars(one) | {"rate": list(one.rate)} for name, one in kinds.items() if one is not None}
    return {
        "bought": accuracy.bought,
        "share": list(accuracy.share.as_integer_ratio()),
        "noisy_records": accuracy.noisy_records,
        "questions": asked,
        "together": _pairs_to(accuracy.together),
        "apart": _pairs_to(accuracy.apart),
        "all_pairs": accuracy.all_pairs,
        "pairs_together": accuracy.pairs_together,
        "workload": accuracy.workload,
    }


def accuracy_from(document: object) -> Accuracy:
    """The accuracy in release.json; raises VerifyError if it has another form."""
    fields = Fields(document, "accuracy")
    if isinstance(document, dict) and "pairs" in document:
        return _earlier(fields, document)
    asked = Fields(fields.take("questions", dict), "accuracy.questions")
    kinds = {name: _questions(asked.take(name, dict), name) for name in ("one_column",) if name in asked}
    asked.all_read(None)
    share = _two(fields, "share")
    if not 0 <= share[0] < share[1]:
        raise VerifyError("release.json is not of the expected form: accuracy.share is not a share")
    return fields.all_read(
        Accuracy(
            bought=fields.take("bought", bool),
            share=Fraction(*share),
            noisy_records=fields.take("noisy_records", int),
            one_column=kinds.get("one_column"),
            together=_pairs_from(fields, "together"),
            apart=_pairs_from(fields, "apart"),
            all_pairs=fields.take("all_pairs", int),
            pairs_together=fields.take("pairs_together", int),
            workload=fields.take("workload", str),
        )
    )


def _earlier(fields: Fields, document: dict[str, JSON]) -> Accuracy:
    """The accuracy of a release by cantle 0.1. Its numbers were about random questions, and intervals made from them
    did not hold for related columns, so they are kept but not used."""
    return Accuracy(
        bought=fields.take("bought", bool),
        share=Fraction(*_two(fields, "share")),
        noisy_records=fields.take("noisy_records", int),
        earlier=document,
    )


def _questions(document: object, name: str) -> QuestionError:
    fields = Fields(document, f"accuracy.questions.{name}")
    return fields.all_read(
        QuestionError(q=fields.take("q", int), records=fields.take("records", int), rate=_two(fields, "rate"))
    )


def _pairs_to(error: PairError | None) -> dict[str, JSON] | None:
    return None if error is None else vars(error) | {"rate": list(error.rate)}


def _pairs_from(fields: Fields, name: str) -> PairError | None:
    document = fields.take_or_none(name, dict)
    if document is None:
        return None
    mine = Fields(document, f"accuracy.{name}")
    return mine.all_read(
        PairError(pairs=mine.take("pairs", int), records=mine.take("records", int), rate=_two(mine, "rate"))
    )


def _two(fields: Fields, name: str) -> Rate:
    """Numerator and denominator."""
    numbers = fields.each(name, whole)
    if len(numbers) != 2 or min(numbers) < 0 or numbers[1] < 1:
        raise VerifyError(f"release.json is not of the expected form: accuracy's {name} is not two whole numbers")
    return numbers[0], numbers[1]


# ---- levels -----------------------------------------------------------------------------------------------------

OF_PAIR = 1.44
"""The scale of a tenth of the records that two conditions of equal shares select, in units of LARGE."""


@dataclass(frozen=True)
class ShareErrors:
    """By how much a share of 10 % of the records may be off, as shares of the released records from 0 to 1.

    Each number is at least the one before it. All include the noise of the measurement.

    Attributes
    ----------
    one_column : float or None
        In questions about one column; None if that was not measured.
    together : float
        In questions about two columns that were measured together.
    apart : float
        In questions about other pairs of columns.
    missing : float
        The strength of a connection (Cramer's V, 0 to 1) between columns not measured together that the release may
        have missed.
    noisy : frozenset of str
        Which of the first three are mostly the noise of the measurement itself.
    """

    one_column: float | None
    together: float
    apart: float
    missing: float
    noisy: frozenset[str]


def share_errors(accuracy: Accuracy | None, released: int) -> ShareErrors | None:
    """The levels of error of a table with this many released records; None if no pair of columns was measured."""
    if accuracy is None or not (together := accuracy.of_pairs(together=True)):
        return None
    apart = accuracy.of_pairs(together=False)
    n, one = max(1, released), accuracy.one_column
    kinds: list[tuple[str, float, list[QuestionError] | list[PairError]]] = [("one_column", 1.0, [one] if one else [])]
    kinds += [("together", OF_PAIR, together), ("apart", OF_PAIR, apart)]
    level, levels, noisy = 0.0, dict[str, float](), set[str]()
    for name, scale, errors in kinds:
        if errors:
            level = max(level, *(scale * bound_of(error) / n for error in errors))
            levels[name] = level
            if scale * DOUBT * max(noise_scale(error) for error in errors) > level * n / 2:
                noisy.add(name)
    missing = min(1.0, 2 * bound_of(accuracy.apart or together[0]) / (LARGE * n))
    return ShareErrors(levels.get("one_column"), levels["together"], levels["apart"], missing, frozenset(noisy))


def noise_scale(error: QuestionError | PairError) -> float:
    """The scale of the Laplace noise in a measured number."""
    return error.rate[1] / max(1, error.rate[0])


def bound_of(error: QuestionError | PairError, doubt: float = DOUBT) -> int:
    """A measured error plus `doubt` scales of its noise, as intervals use it: by default the true error is larger in
    one of ten cases."""
    return round(max(0, error.records) + doubt * noise_scale(error))
