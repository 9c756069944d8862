"""Exact audits of journeys: sequences of up to two of two symbols, through the shipped code.

Noisy lengths and ends are enumerated. Depending on the noisy lengths, all sequences are counted whole, or they are
divided into those of one symbol and longer ones. Whole sequences and pairs are the last questions on their paths, so
their draws are recorded instead of enumerated.

A few public constants differ from the shipped ones (`changed`): `PARTS` is 6 instead of 5040, so that the rate
per part is a whole number of units; pairs are asked for twice however few sequences there are, and longer strings are
not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product

from cantle.audit.diffpart import SetConfig
from cantle.audit.enumerating import Enumerating
from cantle.audit.exact import Constant, Detail, Record, Shown, Table, heard, without_own_error
from cantle.methods.journeys.method import Journeys
from cantle.methods.journeys.model import journey, questions
from cantle.methods.journeys.model.questions import HALF, PAID
from cantle.schema.items import Universe
from cantle.schema.sequences import SequenceSchema
from cantle.trusted.claims import sequence_queries
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

    def run(self, table: Table, noise: Enumerating, detail: Detail) -> Shown:
        method = Journeys(self.schema, preset=self.preset, **without_own_error(self.settings))
        engine = SequenceEngine(self.ragged(table), SequenceDomain(self.sizes[0], self.longest))
        closed = () if detail.leaves else (PAID["paths"], PAID["pairs"])
        answers, receipt = heard(method, engine, self.budget, noise, closed)
        made = method.answers
        assert made is not None
        return (*answers, f"short {made.short} classes {made.classes} order {made.order}", f"receipt {receipt}"), ()

    def changed(self) -> Iterator[Constant]:
        yield from ((module, "PARTS", PARTS) for module in (sequence_strings, sequence_queries, journey, questions))
        other = {"ENDS_PARTS": (3, 3, 0), "LEAST_STRENGTH": 0, "_COVERED": 2.0, "LONGER_LOG": 0, "PAIRS_SHARE": HALF}
        yield from ((questions, name, value) for name, value in other.items())


DIVIDED = JourneyConfig("Journeys: two symbols, divided by length", (2,), {}, 750, records=1, tight=True)
"""Lengths pay 60 units. Short sequences pay 690; long ones 138 for ends and 276 twice for pairs."""

JOURNEY_CONFIGS: tuple[JourneyConfig, ...] = (DIVIDED,)
