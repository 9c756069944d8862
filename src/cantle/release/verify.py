"""Verification of a release: adds up every path, recomputes every rate, recounts the records, checks every hash.

It shows integrity. Authorship only follows from a signature: a person who can rewrite the whole folder can also rewrite
the hashes. The numbers of the accuracy that a release states cannot be checked without the data; its charges, the
noise of its numbers and its questions can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import numpy as np
import rfc8785
from polars.exceptions import PanicException, PolarsError

from cantle.errors import CantleError, VerifyError
from cantle.methods.own_error.accuracy import KINDS as KINDS_OF_NUMBERS
from cantle.methods.own_error.accuracy import WHY, Accuracy, PairError, affordable, kinds_of
from cantle.release import Release, sha256, sha256_of
from cantle.release.answers.askers import asker_of
from cantle.release.answers.asking import Asker
from cantle.release.kinds import kind_of
from cantle.release.manifest import FILES, Manifest, Receipt, mark_of, read_document
from cantle.release.metadata import datapackage
from cantle.release.registry import registry
from cantle.release.report.page import REPORT as REPORT
from cantle.release.report.page import report_problems as report_problems
from cantle.release.schemas import schema_of
from cantle.release.sign import SIGNATURE, signature_problems
from cantle.release.statement import statement
from cantle.release.storage import ENDINGS, files_of
from cantle.release.structures import opened
from cantle.release.structures.checks import made_by_this_version
from cantle.schema.canonical_json import JSON
from cantle.trusted.core.budget import NANO, Charge, words_of
from cantle.trusted.geometry.workloads import fingerprint


def accuracy_problems(release: Release) -> Iterator[str]:
    """All problems with the accuracy of a release."""
    manifest = release.manifest
    accuracy, receipt = manifest.accuracy, manifest.receipt
    if accuracy is None:
        if any(charge.verb == "reserve" for charge in receipt.charges()):
            yield "the receipt paid for an accuracy that the release does not state"
        return
    if accuracy.share != Fraction(manifest.parameters.get("accuracy_share", 0)) or not accuracy.share:
        raise VerifyError("the share of the accuracy is not that of the parameters")
    price = receipt.epsilon_nano * accuracy.share.numerator // accuracy.share.denominator
    if accuracy.earlier is not None:
        yield from _charges(receipt, price) if accuracy.bought else ()
        return
    records = receipt.unit.max_records
    kind, epsilon = kind_of(manifest.kind), receipt.epsilon_nano
    worth = affordable(accuracy.share, epsilon, accuracy.noisy_records, records, of_tables=kind.one_number)
    asker = asker_of(release)
    if accuracy.bought != bool(worth):
        yield "whether the accuracy was measured does not follow from the noisy number of records"
    if (accuracy.all_pairs, accuracy.pairs_together) != tuple(map(len, asker.pairs)):
        yield "the pairs of columns measured together are not those of the released tables"
    if not accuracy.bought:
        if accuracy.numbers() or accuracy.workload or any(charge.verb == "reserve" for charge in receipt.charges()):
            yield "an accuracy that was not measured has numbers, or was paid for"
        return
    yield from _charges(receipt, price)
    yield from _numbers(accuracy, receipt, price)
    yield from _workload(asker, release, accuracy)


def _charges(receipt: Receipt, price: int) -> Iterator[str]:
    """Checks that every path paid for it exactly once, at the root."""
    paid = Charge(WHY, "reserve", price, receipt.unit.max_records, 0)
    for path in receipt.paths:
        if [charge for charge in path.charges if charge.verb == "reserve"] != [paid]:
            yield f"path {path.path} of the receipt did not pay for the accuracy once"


def _numbers(accuracy: Accuracy, receipt: Receipt, price: int) -> Iterator[str]:
    """Checks that the numbers have the noise of a single question that was answered with all of them."""
    numbers = accuracy.numbers()
    rate = price, len(numbers) * receipt.unit.max_records * NANO
    if any(one.rate != rate for one in numbers):
        yield "the noise of the accuracy is not what the receipt paid for"


def _workload(asker: Asker, release: Release, accuracy: Accuracy) -> Iterator[str]:
    """Checks that the questions are those that the stated seed draws for the released records.

    Another version of numpy may draw other numbers from the same seed; then this cannot be checked.
    """
    manifest = release.manifest
    if manifest.software.get("numpy") != np.__version__:
        return
    workload = asker.workload(manifest.postprocessing["seed"])
    numbers = ((name, getattr(accuracy, name)) for name in KINDS_OF_NUMBERS)
    stated = {name: one.pairs if isinstance(one, PairError) else one.q for name, one in numbers if one is not None}
    drawn = ({}, "") if workload is None else (kinds_of(workload), fingerprint(workload))
    if (stated, accuracy.workload) != drawn:
        yield "the questions of the accuracy are not those that the stated seed draws for these records"


@dataclass(frozen=True)
class Findings:
    """What is wrong with a saved release, and what this installation could not check."""

    problems: list[str]
    unchecked: list[str]


def verify_folder(folder: Path) -> list[str]:
    """All problems of a saved release; empty if there are none."""
    return findings(folder).problems


def findings(folder: Path, key: Path | None = None) -> Findings:
    """All problems of a saved release, and what could not be checked. The report is looked at last.

    With the public key of who published it, the signature is checked too.
    """
    unchecked = list[str]()
    if bad := file_problems(folder):
        return Findings(bad, unchecked)
    try:
        release = Release.load(folder)
    except CantleError as error:
        return Findings([str(error)], unchecked)
    if bad := problems(release):
        return Findings(bad, unchecked)
    bad = _found(lambda: report_problems(folder, release, unchecked))
    unchecked += _texts_unchecked(release.manifest)
    if key is not None:
        bad += signature_problems(folder, key)
    elif list(folder.glob(f"*{SIGNATURE}")):
        unchecked.append(f"{SIGNATURE} was not checked, because that needs the signer's public key: --key FILE")
    return Findings(bad, unchecked)


def file_problems(folder: Path) -> list[str]:
    """All problems with the files of a saved release."""
    return _found(lambda: _files(folder, read_document(folder)))


def problems(release: Release) -> list[str]:
    """All problems inside a release."""
    return _found(lambda: _checks(release))


def _checks(release: Release) -> Iterator[str]:
    yield from _receipt(release.manifest.receipt)
    yield from _ledger(release.manifest)
    yield from _schema(release.manifest)
    yield from opened(release).problems()
    yield from accuracy_problems(release)


def _found(look: Callable[[], Iterable[str]]) -> list[str]:
    """The problems that a check finds. If a release cannot be read, that is the last one, whatever exception a library
    raises: polars has errors of its own for missing columns, and panics on some damaged files."""
    found = list[str]()
    try:
        for problem in look():
            found.append(problem)  # noqa: PERF402 - those before an exception are kept
    except CantleError as error:
        found.append(str(error))
    except (PolarsError, PanicException) as error:
        found.append(f"a table of the release is not of the expected form ({type(error).__name__})")
    except Exception as error:
        found.append(f"release.json is not of the expected form ({type(error).__name__})")
    return found


def _files(folder: Path, document: dict[str, JSON]) -> Iterator[str]:
    """Checks hashes, unlisted files, and the texts that are made from the manifest."""
    manifest = Manifest.from_dict(document)
    bare = {key: value for key, value in document.items() if key != "sha256"}
    prefix = mark_of(manifest)
    own = prefix + FILES["manifest"]
    if sha256(rfc8785.dumps(bare)) != manifest.sha256:
        yield f"{own} does not have the hash it states"
    if (folder / own).is_file() and (folder / own).read_bytes() != rfc8785.dumps(document):
        yield f"{own} is not in canonical form"
    there = {path.name for path in folder.iterdir()}
    listed = set(manifest.files) | {own}
    needed = {prefix + FILES[name] for name in ("statement", "registry", "datapackage", "groups")}
    yield from (f"{name} is not part of the release" for name in sorted(needed - listed))
    yield from (f"{name} is listed and missing" for name in sorted(listed - there))
    yield from (f"{name} is not listed" for name in sorted(there - listed - {prefix + REPORT, prefix + SIGNATURE}))
    for name in sorted(listed & there - {own}):
        if sha256_of(folder / name) != manifest.files[name]:
            yield f"{name} does not have the listed hash"
    yield from _texts(folder, prefix, manifest, listed & there)


def _texts(folder: Path, prefix: str, manifest: Manifest, there: set[str]) -> Iterator[str]:
    """Checks that the statement, the registry's entry and the data package agree with the manifest.

    Another version of cantle may word them differently; then only their hashes are checked.
    """
    if _texts_unchecked(manifest):
        return
    for name, text in (("statement", statement), ("registry", registry)):
        said = prefix + FILES[name]
        if said in there and (folder / said).read_bytes() != text(manifest).encode():
            yield f"{said} does not say what the release says"
    stems = files_of(manifest)
    named = (f"{prefix}{stem}.{ending}" for stem in stems for ending in sorted(ENDINGS.values()))
    data = [name for name in named if name in there and name not in FILES.values()]
    package = prefix + FILES["datapackage"]
    made = rfc8785.dumps(datapackage(manifest, data)) if len(data) == len(stems) else None
    if package in there and made is not None and (folder / package).read_bytes() != made:
        yield f"{package} does not describe this release"


def _texts_unchecked(manifest: Manifest) -> list[str]:
    """Sentences if another version of cantle made the release, which may word texts and draw records differently."""
    if made_by_this_version(manifest):
        return []
    texts = ", ".join(FILES[name] for name in ("statement", "registry", "datapackage"))
    versions = f"cantle {manifest.software.get('cantle')} made them, this is {version('cantle')}"
    return [
        f"{texts} have their hashes, but their words were not checked: {versions}",
        f"records of tables have their counts, but were not drawn again from the noisy numbers: {versions}",
    ]


def _receipt(receipt: Receipt) -> Iterator[str]:
    """Adds up the charges on every kind of path; no sum may exceed epsilon."""
    for path in receipt.paths:
        spent = sum(charge.epsilon_nano for charge in path.charges)
        if spent != path.epsilon_nano:
            yield f"path {path.path} of the receipt does not add up"
        if spent > receipt.epsilon_nano or any(charge.epsilon_nano < 1 for charge in path.charges):
            yield f"path {path.path} of the receipt spends more than epsilon"


def _ledger(manifest: Manifest) -> Iterator[str]:
    """Checks that earlier releases are numbered without gaps, and add up with this one to what the data set spent."""
    line = manifest.ledger
    if line is None:
        return
    if [entry.sequence for entry in line.earlier] != list(range(1, line.sequence)):
        yield "the earlier releases are not numbered without gaps"
    spent = [entry.epsilon_nano for entry in line.earlier] + [manifest.receipt.epsilon_nano]
    if min(spent) < 1 or sum(spent) != line.spent_nano:
        yield "the releases in the ledger do not add up to what is spent"
    if line.cap_nano is not None and line.spent_nano > line.cap_nano:
        yield "the data set has spent more than its cap"


def _schema(manifest: Manifest) -> Iterator[str]:
    schema = schema_of(manifest)
    if schema.hash() != manifest.schema_sha256:
        versions = f"{manifest.software.get('cantle')} made the release, this is {version('cantle')}"
        yield (
            "the schema does not have the hash it states: it was changed, or made by a version of cantle that writes "
            f"schemas in another form ({versions}); verify it with the version that made it"
        )
    if manifest.private != (not manifest.seeded and not schema.inferred):
        yield "the release does not say honestly whether it is private"
    if manifest.epsilon != words_of(manifest.receipt.epsilon_nano):
        yield "epsilon differs from the receipt"
