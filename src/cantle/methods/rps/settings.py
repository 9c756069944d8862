"""Settings of rps: scores of cuts, stop tests, prices of levels, and the presets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

from cantle.errors import ParameterError, raise_alone
from cantle.methods.own_accuracy import DEFAULT_SHARE, accuracy_share
from cantle.methods.settings import flag, literal_switch, maybe, one_of, parsed, portion, setting, share, whole
from cantle.schema.domain import Domain, Plane, Steps
from cantle.trusted.claims.scores import BALANCE, CLASS_AWARE, Mix

NAMED_SCORES = {"balance": BALANCE, "class": CLASS_AWARE}


@dataclass(frozen=True)
class CutScore:
    """The score of cuts: `balance`, `class`, or `mix:a:b`, a weighted sum of evenness and separation of classes."""

    text: str
    score: Mix

    def __str__(self) -> str:
        return self.text

    @staticmethod
    def parse(text: str) -> CutScore:
        """The score that a text names; raises a ValueError if it names none.

        >>> CutScore.parse("mix:2:1").score
        Mix(even=2, apart=1)
        """
        if text in NAMED_SCORES:
            return CutScore(text, NAMED_SCORES[text])
        word, even, apart = str(text).split(":")
        if word != "mix":
            raise ValueError
        try:
            return CutScore(text, Mix(int(even), int(apart)))
        except ParameterError:
            raise_alone(ValueError())


@dataclass(frozen=True)
class StopTests:
    """The tests that make a region a leaf before the last level: `none`, or count:T, privtree:T, narrow:W, joined by
    +."""

    text: str
    count: int | None = None
    """A region stops if its noisy count is below this number."""
    privtree: int | None = None
    """The threshold of a test whose price does not grow with the depth."""
    narrow: int | None = None
    """A region stops if no attribute has more than this many values left; this test is free."""

    def __str__(self) -> str:
        return self.text

    @property
    def paid(self) -> bool:
        """Whether a test reads records."""
        return self.count is not None or self.privtree is not None

    @staticmethod
    def parse(text: str) -> StopTests:
        """The tests that a text names; raises a ValueError if it is wrong.

        >>> StopTests.parse("count:5+narrow:2")
        StopTests(text='count:5+narrow:2', count=5, privtree=None, narrow=2)
        """
        words = [part.split(":") for part in str(text).split("+")]
        if words == [["none"]]:
            return StopTests(text)
        tests = {word: int(number) for word, number in words}
        allowed = all(word in ("count", "privtree", "narrow") and number >= 0 for word, number in tests.items())
        if not allowed or len(tests) < len(words) or {"count", "privtree"} <= tests.keys():
            raise ValueError
        return StopTests(text, **tests)


@dataclass(frozen=True)
class LevelPrices:
    """The division of the budget among levels: `equal`, or `geometric:r` with ratio r from each level to the next."""

    text: str
    ratio: Fraction

    def __str__(self) -> str:
        return self.text

    @staticmethod
    def parse(text: str) -> LevelPrices:
        """The division that a text names; raises a ValueError if it is wrong.

        >>> LevelPrices.parse("geometric:1.3").ratio
        Fraction(13, 10)
        """
        if text == "equal":
            return LevelPrices(text, Fraction(1))
        word, ratio = str(text).split(":")
        if word != "geometric" or Fraction(ratio) <= 0:
            raise ValueError
        return LevelPrices(text, Fraction(ratio))

    def spread(self, total: int, levels: int) -> list[int]:
        """The price of each level, rounded down; the leaves get what rounding leaves of the total."""
        weights = [self.ratio**level for level in range(levels)]
        whole = sum(weights)
        return [portion(total, weight / whole) for weight in weights]


@dataclass(frozen=True, kw_only=True)
class RpsSettings:
    """The parameters of rps, each described in docs/reference.md."""

    depth: int | None = setting(maybe(whole(0, 1000), "auto"), shown=True)
    attributes: str = setting(one_of("all", "random", "midpoint", "random-midpoint"), shown=True)
    cuts: str = setting(one_of("intervals", "subsets"), shown=True, unless="intervals")
    quality: CutScore | None = setting(maybe(parsed(CutScore.parse, "balance, class or mix:a:b"), "auto"), shown=True)
    stop: StopTests = setting(parsed(StopTests.parse, "none, count:T, privtree:T or narrow:W, joined by +"), shown=True)
    skip: int = setting(whole(0, 1000))
    leaf_share: Fraction = setting(share(positive=True), shown=True)
    oneway_share: Fraction = setting(share(), shown=True)
    count_share: Fraction = setting(share())
    stop_share: Fraction = setting(share())
    levels: LevelPrices = setting(parsed(LevelPrices.parse, "equal or geometric:RATIO"))
    summary: str = setting(one_of("counts", "depth"))
    label: str = setting(one_of("counts", "majority"))
    values: str = setting(one_of("fitted", "uniform", "midpoint", "low", "set"))
    consistency: bool = setting(flag())
    bins: int = setting(whole(2, 65536), shown=True)
    order: str = setting(one_of("declared", "random"))
    order_seed: int = setting(whole(0, 2**53 - 1))
    records: int | None = setting(maybe(whole(0, 2**53 - 1), "private"), shown=True)
    accuracy_share: Fraction = setting(accuracy_share(), shown=True)
    literal: bool = literal_switch()

    @property
    def halves(self) -> bool:
        """Whether regions are cut in their middle, which costs nothing."""
        return self.attributes in ("midpoint", "random-midpoint")


_COMMON = {"quality": None, "cuts": "intervals", "skip": 0, "leaf_share": "1/2", "levels": "equal", "summary": "counts",
           "bins": 256, "order_seed": 0, "records": None, "literal": False}  # fmt: skip
PRESETS: Mapping[str, Mapping[str, object]] = {
    "default": _COMMON | {"depth": None, "attributes": "all", "stop": "none", "stop_share": 0, "oneway_share": "3/10",
                          "count_share": "1/100", "values": "fitted", "label": "counts", "consistency": True,
                          "order": "declared", "accuracy_share": DEFAULT_SHARE},
    "paper": _COMMON | {"depth": 50, "attributes": "random", "stop": "count:5", "stop_share": "1/2", "oneway_share": 0,
                        "count_share": 0, "values": "uniform", "label": "majority", "consistency": False,
                        "order": "random", "accuracy_share": 0},
}  # fmt: skip


LITERAL = {"bins": 65536}
"""Changes to preset paper if it is literal: every place of a grid is a candidate."""

FEW_NUMBERS = {"attributes": "midpoint", "stop": "privtree:5", "stop_share": "3/4", "leaf_share": "1/3", "depth": 24,
               "bins": 4096}  # fmt: skip
"""Changes to the defaults for two or three columns of numbers without a target: records often crowd in a few places
there, to which free cuts and tests whose price does not grow with the depth lead.

They were chosen on 22 tables of 2 to 8 columns, real (places, bank, Adult) and made up, at epsilon .1 to 1: with four
columns and little data, the regions of the usual defaults are better.
"""

MOST_FEW = 3

ONE_PLACE = {"bins": 65536}
"""Changes for a single place beside those for few numbers and for a single attribute: a kd-tree of a map."""

ONE_ATTRIBUTE = {"attributes": "midpoint", "oneway_share": 0, "values": "uniform"}
"""Changes to the defaults for a single attribute: its leaves already are a one-way table, and free cuts are best."""


def defaults_for(domain: Domain, given: Collection[str]) -> Mapping[str, object]:
    """Changes to the defaults that follow from the columns; none for several numbers if the tree is described."""
    attributes = domain.attributes
    numbers = all(isinstance(one.scale, Steps) for one in attributes)
    few = len(attributes) <= MOST_FEW and numbers and domain.target is None
    few = few and not {"attributes", "stop", "depth", "quality", "summary"} & set(given)
    if len(attributes) == 1:
        place = few and isinstance(attributes[0].scale, Plane)
        return {**FEW_NUMBERS, **ONE_ATTRIBUTE, **ONE_PLACE} if place else ONE_ATTRIBUTE
    return FEW_NUMBERS if few and attributes else {}
