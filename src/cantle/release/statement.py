"""statement.md, the statement for people, made from the manifest alone.

Acceptance criteria of the schema are decided from the error that the release measured privately: met, missed or
undecided. They cost nothing beyond that measurement (parameter `accuracy_share`), whose price is known before anything
is spent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from cantle.drawing.records import records_meant
from cantle.methods.own_error.accuracy import Accuracy, PairError, QuestionError
from cantle.release.accuracy import MORE_DOUBT, OF_PAIR, bound_of
from cantle.release.kinds import kind_of, texts_of
from cantle.release.manifest import EarlierRelease, Manifest
from cantle.release.spending import receipt_table
from cantle.release.words import method_in_words, totals
from cantle.schema.table import Criterion, criteria_of
from cantle.trusted.core.budget import NANO, nano_of, words_of


def verdicts(manifest: Manifest) -> list[str]:
    """Each criterion of the schema with its verdict, in words; none if the schema has none."""
    return [f"{one}: {verdict(one, manifest)}" for one in criteria_of(manifest.schema)]


def verdict(criterion: Criterion, manifest: Manifest) -> str:
    """Whether the measured error is within the limit, as the sentence about accuracy states it.

    A verdict of `met` or `missed` is wrong in at most one of 20 cases, by the noise of the measurement.
    """
    if not (measured := list(_errors(criterion, manifest.accuracy))):
        return "**undecided**, because the error was not measured"
    limit = criterion.within * max(1, records_meant(manifest.summary))
    scale = OF_PAIR if criterion.columns == 2 else 1.0
    if all(scale * bound_of(one, MORE_DOUBT) <= limit for one in measured):
        return "**met**"
    if any(scale * bound_of(one, -MORE_DOUBT) > limit for one in measured):
        return "**missed**"
    return "**undecided**, because the measurement has more noise than that"


def _errors(criterion: Criterion, accuracy: Accuracy | None) -> Iterator[QuestionError | PairError]:
    """The measured numbers that speak of these questions: of pairs, those measured together and the others."""
    if accuracy is None:
        return
    if criterion.columns == 1 and accuracy.one_column is not None:
        yield accuracy.one_column
    if criterion.columns == 2:
        yield from (one for one in (accuracy.together, accuracy.apart) if one is not None)


CAREFUL = 5
"""The epsilon above which a statement says that it protects little; `publish` warns of it too."""

_FILE = Path(__file__)
"""Beside it are statement.md, the template, and statement.yaml: texts about units, and the names of facts."""


@cache
def texts() -> dict[str, Any]:
    """The texts in statement.yaml."""
    made: dict[str, Any] = yaml.safe_load(_FILE.with_suffix(".yaml").read_text(encoding="utf-8"))
    return made


def unit_of(manifest: Manifest) -> dict[str, str]:
    """What a statement says about the unit of the promise."""
    unit: dict[str, str] = texts()["units"][_kind(manifest)]
    return unit


def _who_publishes(manifest: Manifest) -> str:
    """The section with the facts that the curator gave; nothing if there are none."""
    facts = manifest.facts
    given: dict[str, Any] = facts.to_dict() | {"curator": ", ".join(facts.curator)}
    lines = [f"* **{words}**: {given[name]}" for name, words in texts()["told"].items() if given.get(name)]
    if not lines:
        return ""
    return "\n".join(["## Who publishes this data, and why", "", *lines, "", "The curator gave these facts.", "", ""])


def for_people(manifest: Manifest) -> str:
    """The section for the people in the data, in plain words."""
    unit, epsilon = unit_of(manifest), manifest.receipt.epsilon_nano / NANO
    little = ", which is little protection" if epsilon > CAREFUL else ""
    said = texts()["people"]
    promised = [said["promised"].format(unit=unit, most=chance(epsilon), little=little), said["common"]]
    last = [said["last"]]
    if manifest.facts.contact:
        last.append(f"Questions: {manifest.facts.contact}.")
    lines = [unit["drawn"], *(promised if manifest.private else [said["void"]]), *last]
    return "\n".join(["## What this means for you, if you are in the data", "", *(f"* {line}" for line in lines), ""])


def odds(epsilon: float) -> str:
    """How far one unit changes the odds of any outcome, in words.

    >>> odds(1.0), odds(0.01)
    ('by a factor of at most 2.72', 'by at most 1 %')
    """
    factor = math.exp(min(epsilon, 700.0))
    return f"by a factor of at most {factor:.3g}" if factor >= 1.1 else f"by at most {100 * (factor - 1):.2g} %"


def statement(manifest: Manifest) -> str:
    """statement.md: whom the release protects, from what, how strongly, and what it does not protect."""
    m, nano = manifest, manifest.receipt.epsilon_nano
    parts = [_protects, neighbours, method_in_words, noise, _ledger_rows, _who_publishes, one_given, _replaced]
    parts += [_public, _others, for_people, _earlier, _outcome, _accuracy, _notes]
    return (
        _FILE.with_suffix(".md")
        .read_text(encoding="utf-8")
        .format(
            **{part.__name__: part(m) for part in parts},
            m=m,
            unit=unit_of(m),
            warning="" if m.private else f"> **{m.guarantee}.** What follows describes the method, not a promise.\n\n",
            odds=odds(nano / NANO),
            least=chance(-nano / NANO),
            most=chance(nano / NANO),
            twice=words_of(2 * nano),
            weak=_weak(nano / NANO),
            receipt=receipt_table(m.receipt),
            software=", ".join(f"{name} {version}" for name, version in sorted(m.software.items())),
            hash_line=HASH_LINE,
        )
    )


# ------------------------------------------------------------------- words that the registry's entry shares


def protected(manifest: Manifest) -> str:
    """Whom the promise protects, as part of a sentence."""
    return unit_of(manifest)["one"]


def one_given(manifest: Manifest) -> str:
    """The same for a sentence about a particular record, person, node or edge: "a given record"."""
    return protected(manifest).replace("one ", "a given ", 1)


def neighbours(manifest: Manifest) -> str:
    """The pairs of data sets between which the promise holds (docs/privacy.md)."""
    unit, declared = unit_of(manifest), declared_records(manifest)
    text = unit["neighbours"].format(k=manifest.receipt.unit.max_records)
    size = unit["size"] if declared is None else unit["declared"].format(n=declared)
    return f"{text}; {size}" if size else text


def declared_records(manifest: Manifest) -> int | None:
    """The number of records if it was declared as public (parameter `records`); None if it is private."""
    return manifest.parameters.get("records")


def noise(manifest: Manifest) -> str:
    """How the noise was made."""
    source = "a known seed, so anyone can remove it" if manifest.seeded else "the operating system's entropy"
    return f"exact discrete Laplace noise and exact selections, from {source}"


def _kind(manifest: Manifest) -> str:
    unit = manifest.receipt.unit
    if unit.kind == "record":
        return "person" if unit.max_records > 1 else kind_of(manifest.kind).record
    return unit.kind


def _protects(manifest: Manifest) -> str:
    """Whom the release protects, as in the manifest; for sets and sequences it adds what a record is."""
    return protected(manifest) if _kind(manifest) in ("set", "sequence") else manifest.unit


# ------------------------------------------------------------------------------------------------ the ledger


def _ledger_rows(manifest: Manifest) -> str:
    rows = [f"| made | {manifest.created} (UTC) |"] if manifest.created else []
    if line := manifest.ledger:
        rows.append(f"| data set | `{line.dataset}`, release {line.sequence} in its ledger |")
    return "".join(f"{row}\n" for row in rows)


def _others(manifest: Manifest) -> str:
    """A sentence about other releases from the same data, which are not recorded here."""
    which = "ledger" if manifest.ledger else "stated" if manifest.facts.previous else "none"
    return str(texts()["others"][which])


def _earlier(manifest: Manifest) -> str:
    """The releases before this one, and what they spent together."""
    line = manifest.ledger
    if not line:
        return _previous(manifest)
    listed = "None: this is the first release in the ledger of this data set."
    if line.earlier:
        rows = (
            f"| {e.sequence} | {e.time} | {e.method} | {words_of(e.epsilon_nano)} | {_became(e)} |"
            for e in line.earlier
        )
        header = ("| release | charged (UTC) | method | epsilon | what became of it |", "|---|---|---|---|---|")
        listed = "\n".join([*header, *rows])
    most = "no cap is set" if line.cap_nano is None else f"its cap is {words_of(line.cap_nano)}"
    means, every = "means", [manifest.guarantee, *(one.guarantee for one in line.earlier)]
    if not all(told.startswith("pure") for told in every):
        means = "means_nothing"
    odds_change = odds(line.spent_nano / NANO)
    return str(texts()["earlier"]).format(
        listed=listed,
        spent=words_of(line.spent_nano),
        most=most,
        means=texts()[means].format(odds=odds_change),
        previous=_previous(manifest),
    )


def _previous(manifest: Manifest) -> str:
    """The releases that only the curator knows of, and what they spent together with this one and the ledger."""
    if not (previous := manifest.facts.previous):
        return ""
    spent = manifest.ledger.spent_nano if manifest.ledger else manifest.receipt.epsilon_nano
    spent += sum(nano_of(one.epsilon) for one in previous)
    listed = "\n".join(f"* {one}" for one in previous)
    also = "Together with this release and the ledger" if manifest.ledger else "Together with this release"
    title = "Releases outside of the ledger" if manifest.ledger else "Earlier releases from the same data"
    told = {"title": title, "listed": listed, "also": also, "spent": words_of(spent), "odds": odds(spent / NANO)}
    return str(texts()["previous"]).format(**told)


def became(entry: EarlierRelease) -> str:
    """What became of an earlier release."""
    return f"sha256 {entry.sha256}" if entry.sha256 else "charged, no release recorded"


def _became(entry: EarlierRelease) -> str:
    return became(entry) if entry.guarantee.startswith("pure") else f"{entry.guarantee}; {became(entry)}"


# -------------------------------------------------------------------------------------------------- the rest

HASH_LINE = "SHA-256 of the release (at the end of release.json): ________________________________"


def chance(epsilon: float) -> str:
    """What a chance of 50 % becomes when its odds change by e^epsilon.

    >>> chance(1.0), chance(-1.0), chance(20.0)
    ('73.1 %', '26.9 %', 'nearly 100 %')
    """
    share = 1 / (1 + math.exp(-max(-700.0, min(epsilon, 700.0))))
    return f"{100 * share:.3g} %" if 0.001 < share < 0.999 else f"nearly {round(share) * 100} %"


def _weak(epsilon: float) -> str:
    return f" **An epsilon above {CAREFUL} protects little.**" if epsilon > CAREFUL else ""


def _public(manifest: Manifest) -> str:
    """The public input, which is not protected at all."""
    text = "The schema (names, bounds, categories and their order), epsilon and all parameters: they are public input"
    number = declared_records(manifest)
    return f"{text}." if number is None else f"{text}.\n  So is the number of records, declared as {number}."


def _replaced(manifest: Manifest) -> str:
    if _kind(manifest) == "node-isolate":
        return "are replaced by others"
    fixed = ", with the number of records fixed" if _kind(manifest) in ("record", "set", "sequence") else ""
    return f"is replaced by another{fixed}"


def _outcome(manifest: Manifest) -> str:
    """What was released, in a sentence."""
    bound = totals(manifest, kind_of(manifest.kind).counted)
    return texts_of(manifest).outcome + (f"\n{bound}" if bound else "")


def _accuracy(manifest: Manifest) -> str:
    """How far the records are off, if that was measured, and what the figures mean."""
    lines = texts_of(manifest).accuracy
    if not lines:
        return ""
    listed = "".join(f"* {line}\n" for line in (*lines, *verdicts(manifest)))
    meant = texts()["meant"] if manifest.accuracy and manifest.accuracy.bought else ""
    return f"\n## How accurate it is\n\n{listed}{meant}"


def _notes(manifest: Manifest) -> str:
    """What users of the release should know about its noise, one paragraph per note."""
    return "".join(f"\n**Note.** {note}\n" for note in manifest.notes)
