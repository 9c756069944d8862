"""What the measured error of a release says at the top of its report, for releases of synthetic records."""

from __future__ import annotations

from cantle.postprocess.accuracy import Accuracy, PairError, QuestionError
from cantle.release import Release
from cantle.release.accuracy import bound_of
from cantle.release.kinds import KINDS
from cantle.release.report.content import Tile
from cantle.release.words import percent

KNOWN_TO = 0.1
"""A count is called well known if its error is at most this share of it."""


def accuracy_tile(release: Release) -> Tile:
    """How far counts are off, if that was measured."""
    accuracy, records, part = release.accuracy, release.manifest.summary["records"], KINDS[release.manifest.kind].PART
    error = worst_error(accuracy)
    if error is None:
        few = accuracy is not None and not accuracy.bought
        why = "There are too few records to measure it at this epsilon" if few else "This release did not measure it"
        return Tile("accuracy", "not measured", f"{why}; error bars show the noise in counts only.")
    assert accuracy is not None
    several = accuracy.more_columns or max(accuracy.of_pairs(together=False), key=bound_of, default=None)
    kinds = {f"one {part}": accuracy.one_column, f"two or three {part}s": several}
    bounds = " or ".join(f"{bound_of(one):,} records ({kind})" for kind, one in kinds.items() if one is not None)
    words = (
        f"95 % of random counting questions are off by fewer than {bounds}. The noise of the measurement is included."
    )
    bound = bound_of(error)
    return Tile("accuracy", f"±{bound:,} ({percent(bound, records)})", words)


def worst_error(accuracy: Accuracy | None) -> QuestionError | PairError | None:
    """The measured error of questions about one column or about several, whichever is larger; None if not measured."""
    if accuracy is None or not accuracy.bought:
        return None
    return max(accuracy.numbers(), key=bound_of, default=None)


def uses_of_records(release: Release) -> tuple[list[str], list[str]]:
    """What synthetic records of any kind are good for, and what they are not good for."""
    kind, error = KINDS[release.manifest.kind], worst_error(release.accuracy)
    good = [f"shares, totals and tables of one, two or three {kind.PART}s over all {kind.COUNTED}"]
    bad = [f"looking up or matching single {kind.COUNTED}: they are made up"]
    if error is not None:
        small = max(1, bound_of(error))
        good.append(f"counts of groups of {_round(small / KNOWN_TO):,} {kind.COUNTED} and more: known to about 10 %")
        bad.append(
            f"counts of groups below {_round(small):,} {kind.COUNTED}: they cannot be distinguished from the error"
        )
    return good, bad


def _round(value: float) -> int:
    """Two leading digits.

    >>> _round(4321), _round(7.3)
    (4300, 7)
    """
    digits = max(0, len(str(int(value))) - 2)
    return int(round(value / 10**digits)) * 10**digits
