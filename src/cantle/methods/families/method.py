"""Families as a method: the public columns of both tables, the run, and its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from cantle.drawing.counts import STREAMS, Dice, public_streams
from cantle.drawing.records import Results
from cantle.errors import ParameterError, SchemaError
from cantle.methods.base import LEAST_NANO
from cantle.methods.families.layout import Layout
from cantle.methods.families.model.draw import Drawn
from cantle.methods.families.questions import FamilyQuestions
from cantle.methods.families.results import family_results
from cantle.methods.families.run import FamilyRun
from cantle.methods.own_accuracy import DEFAULT_SHARE, OwnAccuracy, accuracy_share
from cantle.methods.settings import Echo, echo, read_settings, setting
from cantle.schema.families import FamilySchema
from cantle.trusted.core.budget import NANO, words_of
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.cross_tables import MOST_CELLS
from cantle.trusted.geometry.views import FamilyDomain


@dataclass(frozen=True, kw_only=True)
class FamilySettings:
    """The parameters of families; everything else follows from the schema and the budget."""

    accuracy_share: Fraction = setting(accuracy_share(), shown=True)


PRESETS: Mapping[str, Mapping[str, object]] = {"default": {"accuracy_share": DEFAULT_SHARE}}


class Families:
    """One run: the public columns and, after the run, the noisy answers and the drawn families."""

    name: ClassVar[str] = "families"
    kind: ClassVar[str] = "families"
    Settings: ClassVar[type] = FamilySettings

    def __init__(self, schema: FamilySchema, *, preset: str = "default", **given: object) -> None:
        self.settings = read_settings(FamilySettings, "families", PRESETS, preset, given)
        self.preset, self.schema = preset, schema
        self.layout = Layout.of(schema)
        for column in (*self.layout.parent, *self.layout.child):
            if column.place:
                raise SchemaError(f"field {column.name}: linked tables take no places yet; declare a region instead")
            if not column.numeric and column.codes > MOST_CELLS:
                raise SchemaError(
                    f"field {column.name}: families takes at most {MOST_CELLS} categories, this one has "
                    f"{column.codes}; use fewer categories"
                )
        self.own_accuracy = OwnAccuracy(
            self.settings.accuracy_share, families=FamilyDomain(*schema.sizes, schema.max_children)
        )
        self.seed = 0
        """The seed of the public dice, which is set before the run."""
        self._questions: FamilyQuestions | None = None
        self._run: FamilyRun | None = None
        self._drawn: Drawn | None = None

    @classmethod
    def for_schema(cls, schema: FamilySchema, *, preset: str, **given: object) -> Self:
        return cls(schema, preset=preset, **given)

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:  # noqa: ARG002 - one family
        """Refuses an epsilon so small that noise alone may require more families than can be drawn."""
        least = LEAST_NANO * (1 + self.schema.max_children)
        if epsilon_nano < least:
            raise ParameterError(f"epsilon is too small: these families need at least {words_of(least)}; raise epsilon")

    def parameters(self) -> Echo:
        return {"preset": self.preset, **echo(self.settings)}

    def run(self, curator: Curator) -> None:
        """Asks all questions, and draws the families from their answers."""
        self._questions = FamilyQuestions(curator)
        whole = int(curator.left(curator.root())[0])
        parent, child = (domain.rules_on_codes for domain in self.schema.domains)
        self._run = FamilyRun(
            self._questions,
            self.layout,
            (parent, child),
            Fraction(whole, NANO),
            public_streams(self.seed, STREAMS),
            lambda noisy: self.own_accuracy.decide(curator, whole, noisy),
        )
        self._drawn = self._run.run()

    def results(self, dice: Dice, /) -> Results:  # noqa: ARG002 - the families were drawn in the run
        assert self._run is not None
        assert self._questions is not None
        assert self._drawn is not None
        places = public_streams(self.seed, STREAMS)["places"]
        wanted, answers = round(self._run.fit.noisy_total), self._questions.answers
        return family_results(self.schema, self.layout, self._run.edges, self._drawn, wanted, answers, places)
