"""Verification of the accuracy that a release states: its charges, the noise of its numbers, and its questions.

The numbers themselves cannot be checked without the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from cantle.methods.own_error.accuracy import KINDS as KINDS_OF_NUMBERS
from cantle.methods.own_error.accuracy import WHY, Accuracy, PairError, affordable, kinds_of
from cantle.release import Release
from cantle.release.answers.asking import Asker
from cantle.release.kinds import KINDS
from cantle.release.manifest import Receipt
from cantle.trusted.core.budget import NANO, Charge
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
        yield "the share of the accuracy is not that of the parameters"
        return
    price = receipt.epsilon_nano * accuracy.share.numerator // accuracy.share.denominator
    if accuracy.earlier is not None:
        yield from _charges(receipt, price) if accuracy.bought else ()
        return
    records = receipt.unit.max_records
    kind, epsilon = KINDS[manifest.kind], receipt.epsilon_nano
    worth = affordable(accuracy.share, epsilon, accuracy.noisy_records, records, of_tables=kind.one_number)
    asker = kind.asker(release)
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
