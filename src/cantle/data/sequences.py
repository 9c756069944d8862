"""The opening of private sequences, which share the readers of sets (cantle.data.sets) and keep order and repeats.

What a record is, is defined one record at a time and without messages (docs/privacy.md, cleaning): undeclared symbols
are removed, of a longer sequence only the first `max_length` symbols are used, and empty sequences are dropped. In a
long table a row without an id, or without a readable value in the column of the order, is removed. Rows are sorted by
that value, rows of equal values by the order of the alphabet; their place in the file means nothing.
"""

from __future__ import annotations

from cantle.data import sets
from cantle.data.engine_choice import EngineChoice, Opened
from cantle.data.sets import ENGINES as ENGINES
from cantle.data.sets import refuse_early as refuse_early
from cantle.schema.sequences import SequenceSchema
from cantle.trusted.counting.sequences import SequenceEngine
from cantle.trusted.geometry.sequence_strings import SequenceDomain


def open_engine(
    data: object,
    schema: SequenceSchema,
    method: object,  # noqa: ARG001 - all methods count the same records
    choice: EngineChoice,
    nodes: object,  # noqa: ARG001 - only graphs have any
) -> Opened:
    """An engine that holds the sequences, and the form of the input."""
    domain = SequenceDomain(schema.universe.size)
    return sets.open_records(data, schema, choice, lambda records: SequenceEngine(records, domain))
