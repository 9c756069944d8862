"""The accuracy of a release in release.json, and the levels of error that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log

from cantle.errors import ParameterError
from cantle.methods.own_error.accuracy import LARGE, Accuracy, PairError, QuestionError
from cantle.release.document_fields import read, written
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
    stated = {name: written(value) for name, value in vars(accuracy).items() if name not in ("earlier", "in_words")}
    one = stated.pop("one_column")
    return stated | {"share": list(accuracy.share.as_integer_ratio()), "questions": {"one_column": one} if one else {}}


@dataclass(frozen=True, kw_only=True)
class _Measured:
    """What every accuracy in release.json has, that of cantle 0.1 included."""

    bought: bool
    share: tuple[int, int]
    noisy_records: int

    def __post_init__(self) -> None:
        if not 0 <= self.share[0] < self.share[1]:
            raise ParameterError("the share of the accuracy is not a share")


@dataclass(frozen=True, kw_only=True)
class _Numbers(_Measured):
    """The rest of it."""

    questions: _Questions
    together: PairError | None
    apart: PairError | None
    all_pairs: int
    pairs_together: int
    workload: str


@dataclass(frozen=True, kw_only=True)
class _Questions:
    one_column: QuestionError | None = None


def accuracy_from(document: object) -> Accuracy:
    """The accuracy in release.json; raises VerifyError if it has another form.

    Numbers of cantle 0.1 were about random questions, and intervals made from them did not hold for related columns, so
    they are kept but not used.
    """
    if isinstance(document, dict) and "pairs" in document:
        first = read(_Measured, {name: document[name] for name in _Measured.__annotations__ if name in document})
        return Accuracy(**vars(first) | {"share": Fraction(*first.share), "earlier": document})
    stated = dict(vars(read(_Numbers, document, "accuracy")))
    questions = stated.pop("questions")
    return Accuracy(**stated | {"share": Fraction(*stated["share"]), "one_column": questions.one_column})


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
