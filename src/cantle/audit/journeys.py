"""Exact audits of journeys: sequences of up to two of two symbols, through the shipped code.

Noisy lengths and ends are enumerated. Depending on the noisy lengths, all sequences are counted whole, or they are
divided into those of one symbol and longer ones. Whole sequences and pairs are the last questions on their paths, so
their draws are recorded instead of enumerated.

A few public constants differ from the shipped ones (`small_numbers`): `PARTS` is 6 instead of 5040, so that the rate
per part is a whole number of units; pairs are asked for however few sequences there are, and longer strings are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product

import numpy as np

from cantle.audit.diffpart import SetConfig
from cantle.audit.enumerating import Enumerating
from cantle.audit.exact import Drawn, Record, Runner, Shown, Table, drawn_by, listening, replaced, without_own_error
from cantle.interfaces.publishing import run
from cantle.methods.journeys.method import Journeys
from cantle.methods.journeys.model import journey, questions
from cantle.methods.journeys.model.questions import PAID
from cantle.schema.items import Universe
from cantle.schema.sequences import SequenceSchema
from cantle.trusted.claims import sequence_queries
from cantle.trusted.core.budget import NANO, Unit
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sequences import SequenceEngine
from cantle.trusted.geometry import sequence_strings
from cantle.trusted.geometry.sequence_strings import SequenceDomain

PARTS = 6


@dataclass(frozen=True, eq=False)
class JourneyConfig(SetConfig):
    """Journeys over a few symbols (`sizes` has one entry); a record is the tuple of its symbols."""

    longest: int = 2
    window: tuple[int, int] = (0, 1)

    @cached_property
    def schema(self) -> SequenceSchema:
        return SequenceSchema(universe=Universe(range(self.sizes[0])), max_length=self.longest)

    def points(self) -> list[Record]:
        """Every sequence."""
        symbols = range(self.sizes[0])
        return list(chain.from_iterable(product(symbols, repeat=size) for size in range(1, self.longest + 1)))

    def runner(self, table: Table, *, enumerate_leaves: bool, chunk_cells: int) -> Runner:  # noqa: ARG002
        starts = np.cumsum([0, *map(len, table)], dtype=np.int64)
        codes = np.array([code for record in table for code in record], dtype=np.int32)

        def once(noise: Enumerating) -> tuple[Shown, Drawn]:
            method = Journeys(self.schema, preset=self.preset, **without_own_error(self.settings))
            engine = SequenceEngine(Ragged(starts, codes), SequenceDomain(self.sizes[0], self.longest))
            closed = () if enumerate_leaves else (PAID["paths"], PAID["pairs"])
            with small_numbers(), listening(noise, closed) as answers:
                receipt = run(method, engine, epsilon_nano=self.units * NANO, unit=Unit(self.unit), noise=noise)
            made = method.answers
            assert made is not None
            lines = [f"short {made.short} classes {made.classes} order {made.order}", f"receipt {receipt}"]
            return ((*answers, *lines), ()), drawn_by(noise)

        return once


@contextmanager
def small_numbers() -> Iterator[None]:
    """Replaces public constants inside the block by values that suit tiny data (see the module's docstring)."""
    with ExitStack() as stack:
        for module in (sequence_strings, sequence_queries, journey, questions):
            stack.enter_context(replaced(module, "PARTS", PARTS))
        for name, value in {"ENDS_PARTS": (3, 3, 0), "LEAST_STRENGTH": 0, "_COVERED": 2.0}.items():
            stack.enter_context(replaced(questions, name, value))
        yield


DIVIDED = JourneyConfig("Journeys: two symbols, divided by length", (2,), {}, 750, records=1, tight=True)
"""Lengths pay 60 units. Short sequences pay 690; long ones 138 for ends and 276 twice for pairs."""

JOURNEY_CONFIGS: tuple[JourneyConfig, ...] = (DIVIDED,)
