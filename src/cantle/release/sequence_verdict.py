"""What a release of sequences says about its accuracy, and what it is good for. All of it follows from public
numbers."""

from __future__ import annotations

from collections.abc import Iterator

from cantle.methods.own_error.accuracy import Accuracy
from cantle.release.accuracy import WORST_DOUBT, bound_of, noise_scale
from cantle.release.manifest import Manifest
from cantle.release.words import SWITCHED_OFF, TOO_FEW, Right, Uses, groups, line, points

BEYOND = "What depends on longer strings than were counted, such as returns after a long gap, comes out too weak."


def sentence(accuracy: Accuracy | None, released: int) -> str:
    """The accuracy in one sentence, as `publish`, `show`, the statement, the report and Python print it."""
    if accuracy is None or not accuracy.bought:
        return SWITCHED_OFF if accuracy is None else TOO_FEW
    parts = rights(accuracy, released)
    return line("The share of sequences", parts) if parts else TOO_FEW


def rights(accuracy: Accuracy | None, released: int) -> list[Right]:
    """The measured errors of shares of sequences."""
    kinds = ("together", "in which one symbol follows another directly"), ("apart", "in which it follows at any time")
    known = [] if accuracy is None or not accuracy.bought else [(getattr(accuracy, key), about) for key, about in kinds]
    parts = list[Right]()
    for error, about in known:
        if error is not None:
            level = bound_of(error, WORST_DOUBT) / max(1, released)
            parts.append(Right(level, about, WORST_DOUBT * noise_scale(error) > level * released / 2))
    return parts


def middle(accuracy: Accuracy | None, released: int) -> float | None:
    """The one figure of that sentence that stands for all, from 0 to 1."""
    return max((right.error for right in rights(accuracy, released)), default=None)


def uses(manifest: Manifest) -> Uses:
    """What the sequences are good for and what they are not good for."""
    released, order = manifest.summary["records"], manifest.summary["order"]
    bad = ["looking up or matching single sequences: they are made up"]
    if not released:
        return Uses(("nothing: no sequence was released",), tuple(bad))
    good = ["how long sequences are", "with which symbols they start and end"]
    if order > 1:
        whole = manifest.summary["whole_up_to"]
        good.append(f"strings of up to {order} symbols, and whole sequences of up to {whole}")
        level = middle(manifest.accuracy, released)
        if level is not None:
            good[-1] += f"; what follows what is right to ±{points(level)} percentage points"
            sizes = groups(level, released, "sequences", "with one symbol after another")
            good, bad = [*good, *sizes.good], [*bad, *sizes.bad]
    return Uses(tuple(good), (*bad, *_lost(order)))


def _lost(order: int) -> Iterator[str]:
    if order == 1:
        yield "which symbol follows which: no order of symbols was measured"
    else:
        yield f"what depends on more than {order} symbols in a row, such as returns after a long gap"
    yield "when things happened: times are not released"
