"""Where the budget went, in words: the receipt of a release by question, for `show`, the statement and the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cantle.methods.words import EVERY_COLUMN, question_in_words
from cantle.release.manifest import Manifest, PathCharges, Receipt
from cantle.release.words import percent
from cantle.trusted.core.budget import NANO, words_of


def charges_by_question(path: PathCharges) -> dict[str, list[int]]:
    """The charges on one kind of path in billionths, by question."""
    spent: dict[str, list[int]] = {}
    for charge in path.charges:
        spent.setdefault(question_in_words(charge.why), []).append(charge.epsilon_nano)
    return spent


def spending(manifest: Manifest) -> dict[str, int]:
    """What epsilon was spent on, in billionths by question, on the kind of path with the most questions."""
    return {question: sum(charges) for question, charges in _dearest(manifest.receipt).items()}


def _dearest(receipt: Receipt) -> dict[str, list[int]]:
    """The charges by question on the dearest kind of path; of several equal ones, that with the most questions."""
    if not receipt.paths:
        return {}
    return charges_by_question(max(receipt.paths, key=lambda path: (path.epsilon_nano, len(path.charges))))


def budget_lines(manifest: Manifest) -> Iterator[str]:
    """What epsilon was spent on, in percent, on the kind of path with the most questions."""
    total, left = manifest.receipt.epsilon_nano, manifest.receipt.epsilon_nano
    if not manifest.receipt.paths:
        return
    for question, charges in _dearest(manifest.receipt).items():
        often = f" ({len(charges)} {_parts(question)})" if len(charges) > 1 else ""
        yield f"{percent(sum(charges), total):>6}  {question}{often}"
        left -= sum(charges)
    if left > 0:
        yield f"{percent(left, total):>6}  not spent"
    if more := other_paths(manifest):
        yield more


def other_paths(manifest: Manifest) -> str:
    """A sentence that says that questions differ between regions, if the receipt has several kinds of path."""
    others = len(manifest.receipt.paths) - 1
    if others < 1:
        return ""
    kinds = "1 other list" if others == 1 else f"{others:,} other lists"
    return f"Not all regions were asked the same questions. This is the longest list; release.json has {kinds}."


def receipt_table(receipt: Receipt) -> str:
    """The table of the statement: for each question, the largest sum of its charges on any kind of path."""
    worst: dict[str, list[int]] = {}
    for path in receipt.paths:
        for question, charges in charges_by_question(path).items():
            worst[question] = max(worst.get(question, []), charges, key=sum)
    total = max((path.epsilon_nano for path in receipt.paths), default=0)
    shown, in_all = rounded([sum(charges) for charges in worst.values()], total)
    lines = ["| question | epsilon |", "|---|---|"]
    lines += [
        f"| {asked}{_how_often(charges, _parts(asked))} | {epsilon} |"
        for (asked, charges), epsilon in zip(worst.items(), shown, strict=True)
    ]
    lines += [f"| **all questions together** | **{in_all}** |"]
    return "\n".join(lines) + _ROUNDED + (_SEVERAL_PATHS if sum(map(sum, worst.values())) > total else "")


def rounded(parts: Sequence[int], total: int) -> tuple[list[str], str]:
    """Charges in billionths and their total as short decimals, which add up if the charges do.

    The smallest charge keeps two digits. All are rounded down, and what is missing goes to those that lost most.

    >>> rounded([20_000_000, 19_976_151, 960_023_849], NANO)
    (['0.02', '0.02', '0.96'], '1')
    >>> rounded([333_333_333, 333_333_333, 333_333_334], NANO)
    (['0.33', '0.33', '0.34'], '1')
    """
    step = 10 ** max(0, len(str(min(parts, default=NANO))) - 2)
    whole = round(total / step)
    if sum(parts) != total:
        return [words_of(round(part / step) * step) for part in parts], words_of(whole * step)
    steps = [part // step for part in parts]
    for place in sorted(range(len(parts)), key=lambda one: -(parts[one] % step))[: max(0, whole - sum(steps))]:
        steps[place] += 1
    return [words_of(number * step) for number in steps], words_of(whole * step)


def _parts(question: str) -> str:
    """What several charges for a question are; columns are counted in groups of about equally many values."""
    return "groups of columns" if question == EVERY_COLUMN else "times"


def _how_often(charges: Sequence[int], parts: str = "times") -> str:
    """How many charges of one kind there are, and how large each is.

    >>> _how_often([NANO]), _how_often([NANO // 50] * 3), _how_often([20000000, 20000001]), _how_often([NANO, 2 * NANO])
    ('', ' (3 times 0.02)', ' (2 times about 0.02)', ' (2 times 1 to 2)')
    >>> _how_often([NANO, 2 * NANO], "groups of columns")
    ' (2 groups of columns: 1 to 2)'
    """
    if len(charges) < 2:
        return ""
    least, most = min(charges), max(charges)
    low, high = (words_of(round(one, 3 - len(str(one)))) for one in (least, most))  # three digits
    each = low if least == most else f"about {low}" if low == high else f"{low} to {high}"
    return f" ({len(charges)} {parts}{'' if parts == 'times' else ':'} {each})"


_ROUNDED = """

The figures are rounded so that they still add up; release.json has every charge exactly."""

_SEVERAL_PATHS = """

Different regions were asked different questions. Each row has the largest epsilon that any region was charged, so the
rows add up to more than the last one. All regions that one record lies in were together charged no more than the last
row."""
