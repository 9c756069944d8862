"""Verification of the accuracy that a release states: its charges, the noise of its numbers, and its questions.

The numbers themselves cannot be checked without the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from cantle.postprocess.accuracy import WHY, Accuracy, PairDistance, kinds_of, total_variation, worth_measuring
from cantle.postprocess.counts import workload_dice
from cantle.postprocess.records import records_meant
from cantle.release import Release
from cantle.release.data_file import as_polars
from cantle.release.kinds import KINDS
from cantle.release.load import schema_of
from cantle.release.manifest import Manifest, Receipt
from cantle.trusted.budget import NANO, Charge
from cantle.trusted.geometry.workloads import SetWorkload, TableWorkload, fingerprint


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
    records = receipt.unit.max_records
    if accuracy.bought != worth_measuring(accuracy.share, receipt.epsilon_nano, accuracy.noisy_records, records):
        yield "whether the accuracy was measured does not follow from the noisy number of records"
    if not accuracy.bought:
        if accuracy.numbers() or accuracy.workload or any(charge.verb == "reserve" for charge in receipt.charges()):
            yield "an accuracy that was not measured has numbers, or was paid for"
        return
    price = receipt.epsilon_nano * accuracy.share.numerator // accuracy.share.denominator
    yield from _charges(receipt, price)
    yield from _numbers(accuracy, manifest, price)
    yield from _workload(release, accuracy)


def _charges(receipt: Receipt, price: int) -> Iterator[str]:
    """Checks that every path paid for it exactly once, at the root."""
    paid = Charge(WHY, "reserve", price, receipt.unit.max_records, 0)
    for path in receipt.paths:
        if [charge for charge in path.charges if charge.verb == "reserve"] != [paid]:
            yield f"path {path.path} of the receipt did not pay for the accuracy once"


def _numbers(accuracy: Accuracy, manifest: Manifest, price: int) -> Iterator[str]:
    """Checks that the numbers have the noise of a single question that was answered with all of them."""
    numbers = accuracy.numbers()
    rate = price, len(numbers) * manifest.receipt.unit.max_records * NANO
    if any(one.rate != rate for one in numbers):
        yield "the noise of the accuracy is not what the receipt paid for"
    records = records_meant(manifest.summary)
    for one in numbers:
        if isinstance(one, PairDistance) and one.distance != total_variation(one.records, records):
            yield "the distance of the accuracy is not that of its noisy number"


def _workload(release: Release, accuracy: Accuracy) -> Iterator[str]:
    """Checks that the questions are those that the stated seed draws for the released records.

    Another version of numpy may draw other numbers from the same seed; then this cannot be checked.
    """
    manifest = release.manifest
    if manifest.software.get("numpy") != np.__version__:
        return
    workload = workload_again(release)
    asked = {"one_column": accuracy.one_column, "more_columns": accuracy.more_columns}
    stated = {name: one.q for name, one in asked.items() if one is not None}
    if accuracy.pairs is not None:
        stated["pairs"] = accuracy.pairs.pairs
    if stated != kinds_of(workload) or accuracy.workload != fingerprint(workload):
        yield "the questions of the accuracy are not those that the stated seed draws for these records"


def workload_again(release: Release) -> TableWorkload | SetWorkload:
    """The questions that the stated seed draws for the released records."""
    manifest, schema = release.manifest, schema_of(release.manifest)
    frame, dice = as_polars(release.records, manifest), workload_dice(manifest.postprocessing["seed"])
    return KINDS[schema.kind].own_questions(frame, manifest, schema, dice)
