"""Mosaic as a method: the columns of a table, the run, and its results. The algorithm is in run.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from cantle.drawing.column_cells import Column, column_of
from cantle.drawing.counts import STREAMS, Dice, public_streams
from cantle.drawing.records import Results
from cantle.errors import SchemaError
from cantle.methods.base import TableMethod
from cantle.methods.mosaic.model.items import items_of
from cantle.methods.mosaic.model.lists import listed_of
from cantle.methods.mosaic.questions import Questions
from cantle.methods.mosaic.results import mosaic_results
from cantle.methods.mosaic.run import MosaicRun
from cantle.methods.own_accuracy import DEFAULT_SHARE, OwnAccuracy, accuracy_share
from cantle.methods.settings import read_settings, setting
from cantle.schema.domain import Domain
from cantle.trusted.core.arrays import Codes
from cantle.trusted.core.budget import NANO
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.cross_tables import MOST_CELLS


@dataclass(frozen=True, kw_only=True)
class MosaicSettings:
    """The parameters of mosaic; everything else follows from the schema and the budget."""

    accuracy_share: Fraction = setting(accuracy_share(), shown=True)


PRESETS: Mapping[str, Mapping[str, object]] = {"default": {"accuracy_share": DEFAULT_SHARE}}


class Mosaic(TableMethod):
    """One run: the public columns and, after the run, the noisy answers and the drawn records."""

    name: ClassVar[str] = "mosaic"
    predicts_numbers: ClassVar[bool] = True
    keeps_weights: ClassVar[bool] = True
    Settings: ClassVar[type] = MosaicSettings

    def __init__(self, domain: Domain, *, preset: str = "default", **given: object) -> None:
        self.settings = read_settings(MosaicSettings, "mosaic", PRESETS, preset, given)
        self.preset = preset
        self.domain = domain.with_target_as_column().with_scores()
        self.groups = items_of(self.domain)
        self.lists = listed_of(self.domain)
        related = self.domain.related
        self.columns: list[Column] = [column_of(one) for one in self.domain.attributes[:related]]
        self.listed = [column_of(one) for one in self.domain.attributes[related:][: len(self.domain.listed)]]
        self.items = [one.size for one in self.domain.attributes[related + len(self.listed) :]]
        names = [column.name for column in self.columns]
        self.target = None if domain.target is None else names.index(domain.target.name)
        for column in self.columns:
            if not (column.numeric or column.place) and column.codes > MOST_CELLS:
                raise SchemaError(
                    f"field {column.name}: mosaic takes at most {MOST_CELLS} categories, this one has {column.codes}; "
                    "use fewer categories, or method rps"
                )
        self.own_accuracy = OwnAccuracy(self.settings.accuracy_share, domain=self.domain)
        self.seed = 0
        """The seed of the public dice, which is set before the run, because the run draws drafts and candidates."""
        self._questions: Questions | None = None
        self._run: MosaicRun | None = None
        self._records: list[Codes] = []

    def run(self, curator: Curator) -> None:
        """Asks all questions, and draws the records from their answers."""
        self._questions = Questions(curator, [*(one.codes for one in self.listed), *self.items])
        whole = int(curator.left(curator.root())[0])
        self._run = MosaicRun(
            self._questions,
            self.columns,
            self.target,
            Fraction(whole, NANO),
            public_streams(self.seed, STREAMS),
            curator.unit.max_records,
            lambda noisy: self.own_accuracy.decide(curator, whole, noisy),
            rules=self.domain.rules_on_codes,
            groups=self.groups,
            lists=self.lists,
            listed=self.listed,
        )
        self._records = self._run.run()

    def results(self, dice: Dice, /) -> Results:  # noqa: ARG002 - the records were drawn in the run
        assert self._run is not None
        assert self._questions is not None
        names = [column.name for column in self.columns]
        lead = None if self._run.lead is None else names[self._run.lead]
        classes = self._run.learned is not None
        places = public_streams(self.seed, STREAMS)["places"]
        answers = self._questions.answers
        bands = self._run.bands
        edges = list(self._run.edges)
        if bands is not None and self._run.lead is not None:
            edges[self._run.lead] = bands.edges
        sizes = [*(one.codes for one in self.listed), *self.items]
        edges += [np.arange(size + 1, dtype=np.int64) for size in sizes]
        return mosaic_results(self.domain, edges, self._records, answers, lead, classes, places, bands)
