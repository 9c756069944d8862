"""statement.md, the statement for people, made from the manifest alone.

Acceptance criteria of the schema are decided from the error that the release measured privately: met, missed or
undecided. They cost nothing beyond that measurement (parameter `accuracy_share`), whose price is known before anything
is spent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cantle.drawing.records import records_meant
from cantle.methods.own_error.accuracy import Accuracy, PairError, QuestionError
from cantle.release.accuracy import MORE_DOUBT, OF_PAIR, bound_of
from cantle.release.facts import Facts
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

_TOLD = {
    "title": "Data",
    "description": "Description",
    "curator": "Curator",
    "contact": "Contact",
    "purpose": "Purpose",
    "legal_basis": "Legal basis",
    "period": "Period of the data",
    "region": "Region",
    "access": "Who could see the private data",
    "retention": "How long the private data is kept",
    "epsilon_reason": "How epsilon was chosen",
    "licence": "Licence of this release",
    "version": "Version",
    "identifier": "Identifier",
    "source": "Where it can be had",
    "plans": "Planned releases",
}
"""The facts that the statement prints, in this order, with their names."""


def who_publishes(facts: Facts) -> str:
    """The section with the facts that the curator gave; nothing if there are none."""
    given: dict[str, Any] = facts.to_dict() | {"curator": ", ".join(facts.curator)}
    lines = [f"* **{words}**: {given[name]}" for name, words in _TOLD.items() if given.get(name)]
    if not lines:
        return ""
    return "\n".join(["## Who publishes this data, and why", "", *lines, "", "The curator gave these facts.", "", ""])


def for_people(manifest: Manifest) -> str:
    """The section for the people in the data, in plain words."""
    unit, epsilon = _UNITS[_kind(manifest)], manifest.receipt.epsilon_nano / NANO
    little = ", which is little protection" if epsilon > CAREFUL else ""
    promised = [
        f"Before reading this release, somebody may give an even chance (50 %) to {unit.yours} being in the data. "
        f"After reading it, they can be at most {chance(epsilon)} sure{little}. "
        f"This holds whatever else they know, today or later.{unit.several}",
        "It does not hide what is true of many people. If the data shows that people like you often fall ill, a "
        "reader learns that about you too, and would have learned it without you.",
    ]
    void = ["**This release does not protect you.** It is for tests, and must not be made from data about people."]
    last = ["A release cannot be taken back, and what several releases from the same data reveal adds up."]
    if manifest.facts.contact:
        last.append(f"Questions: {manifest.facts.contact}.")
    lines = [unit.drawn, *(promised if manifest.private else void), *last]
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
    m = manifest
    epsilon = m.receipt.epsilon_nano / NANO
    warning = "" if m.private else f"> **{m.guarantee}.** What follows describes the method, not a promise.\n\n"
    who = protected(m)
    return f"""# Statement of privacy

{warning}| fact | this release |
|---|---|
| guarantee | {m.guarantee} |
| epsilon | {m.epsilon} (the whole spend of this release) |
| protects | {_unit(m)} |
| neighbours | {neighbours(m)} |
| method | {method_in_words(m)} |
| noise | {noise(m)} |
{_ledger_rows(m)}
{who_publishes(m.facts)}## What is promised

Compare two cases: the data as it is, and the same data with {who} left out. Whatever anyone concludes from this
release, they would have concluded with a similar probability in the other case: the odds of any outcome differ
{odds(epsilon)}. This holds whatever else they know, and however much they compute. For example: somebody
thinks that the data contains {one_given(m)} with a chance of 50 %. After seeing the release, that chance is at
least {chance(-epsilon)} and at most {chance(epsilon)}. If {who} {_replaced(m)},
the same holds with 2 epsilon ({words_of(2 * m.receipt.epsilon_nano)}) in place of epsilon.{_weak(epsilon)}

The proofs are the numbered claims of `docs/privacy.md` in the source of cantle; `docs/for-reviewers.md` there answers
what a reviewer may ask.

## What is not protected

* {_public(m)}
* Facts about a group or a population, which can be learned whether or not any one person took part.
* {beyond(m)}
* Running time, memory use and messages about the file as a whole. Only whoever runs the program sees them.
* {_others(m)}

{for_people(m)}
{_earlier(m)}## Where the budget went

{receipt_table(m.receipt)}

## What came out

{_outcome(m)}
{_accuracy(m)}{_notes(m)}
## Software

{", ".join(f"{name} {version}" for name, version in sorted(m.software.items()))}. Schema sha256 {m.schema_sha256}.

{_APPROVAL}"""


# ------------------------------------------------------------------- words that the registry's entry shares


def protected(manifest: Manifest) -> str:
    """Whom the promise protects, as part of a sentence."""
    return _UNITS[_kind(manifest)].one


def one_given(manifest: Manifest) -> str:
    """The same for a sentence about a particular record, person, node or edge: "a given record"."""
    return protected(manifest).replace("one ", "a given ", 1)


def neighbours(manifest: Manifest) -> str:
    """The pairs of data sets between which the promise holds (docs/privacy.md)."""
    unit, declared = _UNITS[_kind(manifest)], declared_records(manifest)
    text = unit.neighbours.format(k=manifest.receipt.unit.max_records)
    size = unit.size if declared is None else unit.declared.format(n=declared)
    return f"{text}; {size}" if size else text


def declared_records(manifest: Manifest) -> int | None:
    """The number of records if it was declared as public (parameter `records`); None if it is private."""
    return manifest.parameters.get("records")


def beyond(manifest: Manifest) -> str:
    """What the promise does not cover, given its unit."""
    return _UNITS[_kind(manifest)].beyond


def noise(manifest: Manifest) -> str:
    """How the noise was made."""
    source = "a known seed, so anyone can remove it" if manifest.seeded else "the operating system's entropy"
    return f"exact discrete Laplace noise and exact selections, from {source}"


def _kind(manifest: Manifest) -> str:
    unit = manifest.receipt.unit
    if unit.kind == "record":
        return "person" if unit.max_records > 1 else kind_of(manifest.kind).record
    return unit.kind


def _unit(manifest: Manifest) -> str:
    """Whom the release protects, as in the manifest; for sets and sequences it adds what a record is."""
    return protected(manifest) if _kind(manifest) in ("set", "sequence") else manifest.unit


_DEGREES = "No released number is yours. The numbers of neighbours are made up from counts with random noise."


def _made_up(noun: str) -> str:
    return f"No released {noun} is yours. All are made up from counts with random noise; one may equal yours by chance."


@dataclass(frozen=True)
class _Unit:
    """What a statement says about a unit of the promise: whom it protects, the neighbours, what it does not cover.

    Then what a reader has in the data, what is said of private numbers and of a declared number of records, what is
    drawn, and what is left unsaid by a promise about one of several records.
    """

    one: str
    neighbours: str
    beyond: str
    yours: str
    size: str = ""
    declared: str = ""
    drawn: str = _DEGREES
    several: str = ""


_PUBLIC = "the number of records is public: it was declared as {n}"


def _one_record(noun: str, *, yours: str, beyond: str = "", also: str = "", whole: str = "") -> _Unit:
    """The unit that is one record: a row of a table, a set, or a sequence, as `also` says."""
    return _Unit(
        f"one record{also}",
        f"two data sets that are equal except that one has one more record{whole or also}",
        beyond or f"People with more than one {noun}, and {noun}s of different people that are correlated.",
        yours,
        "the number of records is private",
        _PUBLIC,
        _made_up(noun),
        f" If the data has several {noun}s of yours, they are less protected together.",
    )


_UNITS = {
    "record": _one_record(
        "record",
        yours="your record",
        beyond="People with more records than the unit covers, and records of different people that are correlated.",
    ),
    "set": _one_record("set", yours="your set of items", also=" (one set of items)"),
    "sequence": _one_record(
        "sequence", yours="your sequence", also=" (one sequence)", whole=" (one sequence with all its events)"
    ),
    "person": _Unit(
        "one person",
        "two data sets that are equal except for all records of one person; at most {k} records per person are used",
        "People who are known under several identifiers, and records of different people that are correlated.",
        "any record of yours",
        "the numbers of records and of people are private",
        f"the number of people is private; {_PUBLIC}",
        _made_up("record"),
    ),
    "family": _Unit(
        "one family",
        "two pairs of files that are equal except for all rows of one key, in both files",
        "Somebody who appears in two families, in both together; and families that are correlated.",
        "your family (all rows of your key)",
        "the numbers of families and of rows are private",
        drawn=_made_up("family"),
        several=" If you belong to several families in the data, they are less protected together.",
    ),
    "node": _Unit(
        "one node with all its edges",
        "two graphs that are equal except for one node and its edges",
        "People who appear as several nodes, and what the edges of other people reveal about a person.",
        "you, as a node,",
        "the number of nodes is private",
    ),
    "node-isolate": _Unit(
        "the edges of one node",
        "two graphs on the same public nodes that are equal except for the edges of one node",
        "Who is in the graph: the nodes and their number are public.",
        "any edge of yours",
    ),
    "edge": _Unit(
        "one edge",
        "two graphs on the same public nodes that are equal except that one has one more edge",
        "Who is in the graph (the nodes and their number are public), and facts that rest on many edges of a person.",
        "a certain edge of yours",
        several=" All your edges together are less protected.",
    ),
}


# ------------------------------------------------------------------------------------------------ the ledger


def _ledger_rows(manifest: Manifest) -> str:
    rows = [f"| made | {manifest.created} (UTC) |"] if manifest.created else []
    if line := manifest.ledger:
        rows.append(f"| data set | `{line.dataset}`, release {line.sequence} in its ledger |")
    return "".join(f"{row}\n" for row in rows)


def _others(manifest: Manifest) -> str:
    """A sentence about other releases from the same data, which are not recorded here."""
    if manifest.facts.previous and not manifest.ledger:
        return "Releases from the same data that are not listed below: all epsilons add up."
    if manifest.ledger:
        return "Later releases from the same data, and releases that are not in the ledger: all epsilons add up."
    return "Other releases from the same data: all epsilons add up. Earlier ones are not recorded here."


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
    means = (
        f"For someone who has all of these releases, the odds of any outcome change\n{odds(line.spent_nano / NANO)}."
    )
    if not all(told.startswith("pure") for told in [manifest.guarantee, *(e.guarantee for e in line.earlier)]):
        means = "One of these\nreleases has no guarantee: if it was made public, the sum promises nothing."
    return f"""## Earlier releases from the same data

{listed}

With this release the data set has spent epsilon {words_of(line.spent_nano)}; {most}. {means}

{_previous(manifest)}"""


def _previous(manifest: Manifest) -> str:
    """The releases that only the curator knows of, and what they spent together with this one and the ledger."""
    if not (previous := manifest.facts.previous):
        return ""
    spent = manifest.ledger.spent_nano if manifest.ledger else manifest.receipt.epsilon_nano
    spent += sum(nano_of(one.epsilon) for one in previous)
    listed = "\n".join(f"* {one}" for one in previous)
    also = "Together with this release and the ledger" if manifest.ledger else "Together with this release"
    return f"""## {"Releases outside of the ledger" if manifest.ledger else "Earlier releases from the same data"}

{listed}

The curator stated these. {also}, epsilon {words_of(spent)} is spent. For
someone who has all of them, the odds of any outcome change {odds(spent / NANO)}.

"""


def became(entry: EarlierRelease) -> str:
    """What became of an earlier release."""
    return f"sha256 {entry.sha256}" if entry.sha256 else "charged, no release recorded"


def _became(entry: EarlierRelease) -> str:
    return became(entry) if entry.guarantee.startswith("pure") else f"{entry.guarantee}; {became(entry)}"


# -------------------------------------------------------------------------------------------------- the rest

HASH_LINE = "SHA-256 of the release (at the end of release.json): ________________________________"
_APPROVAL = f"""## Approved for publication

Name and office: ____________________________________________

Date and signature: _________________________________________

{HASH_LINE}
"""


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
    return f"\n## How accurate it is\n\n{listed}{_MEANT if manifest.accuracy and manifest.accuracy.bought else ''}"


_MEANT = """
The figures compare the released records with the true ones. The comparison was paid for with a part of epsilon and has
noise, for which the figures allow. They do not hold for records that are drawn later.
"""


def _notes(manifest: Manifest) -> str:
    """What users of the release should know about its noise, one paragraph per note."""
    return "".join(f"\n**Note.** {note}\n" for note in manifest.notes)
