"""What a release of sets says about its accuracy, and what it is good for. All of it follows from public numbers."""

from __future__ import annotations

from collections.abc import Iterator

from cantle.methods.own_error.accuracy import Accuracy
from cantle.release.accuracy import WORST_DOUBT, bound_of, noise_scale
from cantle.release.manifest import Manifest
from cantle.release.verdict_words import BY_EARLIER, SWITCHED_OFF, TOO_FEW, Right, Uses, groups, line, points
from cantle.release.words import percent

WEAKER = "Connections between items tend to come out weaker than they are."


def sentence(accuracy: Accuracy | None, released: int) -> str:
    """The accuracy in one sentence, as `publish`, `show`, the statement, the report and Python print it."""
    if accuracy is None or not accuracy.bought:
        return SWITCHED_OFF if accuracy is None else TOO_FEW
    if accuracy.earlier is not None:
        return BY_EARLIER
    parts = _rights(accuracy, released)
    return line("The share of sets", parts) if parts else TOO_FEW


def _rights(accuracy: Accuracy, released: int) -> list[Right]:
    """The measured errors of shares of sets, each at least as large as the one before it."""
    other = "with two or three items" if accuracy.together is None else "with two or three other items"
    counted = "with two or three items whose pairs were counted" if accuracy.apart else "with two or three items"
    kinds = ((accuracy.one_column, "with one item"), (accuracy.together, counted), (accuracy.apart, other))
    parts, level = list[Right](), 0.0
    for error, about in kinds:
        if error is not None:
            level = max(level, bound_of(error, WORST_DOUBT) / max(1, released))
            parts.append(Right(level, about, WORST_DOUBT * noise_scale(error) > level * released / 2))
    return parts


def middle(accuracy: Accuracy | None, released: int) -> float | None:
    """The one figure of that sentence that stands for all: the middle one, from 0 to 1."""
    rights = [] if accuracy is None or not accuracy.bought else _rights(accuracy, released)
    return rights[len(rights) // 2].error if rights else None


def uses(manifest: Manifest) -> Uses:
    """What the sets are good for and what they are not good for."""
    released, accuracy = manifest.summary["records"], manifest.accuracy
    bad = ["looking up or matching single sets: they are made up"]
    if not released:
        return Uses(("nothing: no set was released",), tuple(bad))
    rights = [] if accuracy is None or not accuracy.bought else _rights(accuracy, released)
    one = next((right.error for right in rights), None)
    good = [f"shares of sets with one item{_right(one)}"]
    if one is not None:
        sizes = groups(one, released, "sets", "with an item")
        good, bad = [*good, *sizes.good], [*bad, *sizes.bad]
    if _pairs_known(manifest):
        several = rights[min(1, len(rights) - 1)].error if rights else None
        good.append(f"shares of sets with two or three items{_counted(manifest)}{_right(several)}")
    return Uses(tuple(good), (*bad, *_lost(manifest)))


def _right(error: float | None) -> str:
    return (
        ": how far they are off was not measured" if error is None else f": right to ±{points(error)} percentage points"
    )


def _pairs_known(manifest: Manifest) -> bool:
    return bool(manifest.summary.get("pairs", True))


def _counted(manifest: Manifest) -> str:
    """The items whose pairs were counted, if these are not all."""
    if "paired_items" not in manifest.summary:
        return ""
    return f" of the {manifest.summary['paired_items']:,} most frequent ones"


def _lost(manifest: Manifest) -> Iterator[str]:
    """What a release of sets has lost."""
    if not _pairs_known(manifest):
        yield "which items go together: the release does not know it"
    elif "paired_items" in manifest.summary:
        yield "which of the rarer items go together: their pairs were not counted"
    if filled := manifest.summary.get("refilled", 0):
        yield f"rare sets: {percent(filled, manifest.summary['records'])} of the sets are filled in at random"
