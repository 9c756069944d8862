"""Readers of private sequences, which share those of sets (cantle.data.sets) and keep order and repeats.

This module defines what a record is, one record at a time and without messages (docs/privacy.md, cleaning): undeclared
symbols are removed, of a longer sequence only the first `max_length` symbols are used, and empty sequences are dropped.
In a long table a row without an id, or without a readable value in the column of the order, is removed. Rows are sorted
by that value, rows of equal values by the order of the alphabet; their place in the file means nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from cantle import kernel_choice
from cantle.data import sets
from cantle.data.engine_choice import EngineChoice, Opened
from cantle.data.sets import ENGINES as ENGINES
from cantle.data.sets import Sets, first_items
from cantle.data.sets import refuse_early as refuse_early
from cantle.schema.items import Codes
from cantle.schema.sequences import SequenceSchema
from cantle.schema.sets import SetSchema
from cantle.trusted.bounding.persons import sequences_within_bound
from cantle.trusted.counting.filed_sets import SetParts
from cantle.trusted.counting.sequences import Rows, SequenceEngine
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.sequence_strings import SequenceDomain


class AsksSequences(Protocol):
    """What a method for sequences declares about the records that it counts."""

    @property
    def kernels_from(self) -> int | None:
        """The number of records from which on the method's compiled kernels pay off; None if it has no kernels."""


def open_engine(
    data: object,
    schema: SequenceSchema,
    method: AsksSequences,
    choice: EngineChoice,
    nodes: object,  # noqa: ARG001 - only graphs have any
) -> Opened:
    """An engine that holds the sequences, and the form of the input."""
    records: SetParts
    if choice.engine == "spark":
        from cantle.data.spark_sets import spark_records

        form, records, number = spark_records(data, schema)
    elif choice.engine == "duckdb":
        from cantle.data.filed_sets import filed_records

        form, files = filed_records(data, schema, choice)
        records, number = files, len(files.starts) - 1
    else:
        read = sets.read_baskets(data, schema)
        form, records, number = read.form, Rows(read.starts, read.items), len(read.starts) - 1
    least = method.kernels_from
    compiled = least is not None and kernel_choice.worth_loading(number, least)
    domain = SequenceDomain(schema.universe.size, schema.max_length)
    return form.to_dict(), SequenceEngine(records, domain, compiled=compiled)


def ordered_rows(places: Ints, keys: Sequence[Ints], codes: Codes, schema: SetSchema) -> Sets:
    """The rows of the sequences that are used, sorted; `keys` are numbers of ids and, if the schema names them, of
    persons. A sequence consists of the rows of one person with one id."""
    by: list[Ints | Codes] = [codes, places, *keys]
    order = np.lexsort(by)
    new = np.zeros(len(order), dtype=np.bool_)
    new[:1] = True
    for key in keys:
        new[1:] |= np.diff(key[order]) != 0
    record, codes = np.cumsum(new) - 1, codes[order]
    if schema.person is None:
        return record, codes
    assert schema.longest is not None
    lengths, cut = first_items(record, codes, schema.longest)
    used = sequences_within_bound(keys[-1][order][new], lengths, cut, schema.max_records)
    return np.repeat(np.arange(len(lengths)), lengths)[np.repeat(used, lengths)], cut[np.repeat(used, lengths)]
