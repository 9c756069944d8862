"""Noisy answers about views as they are released: counts are parts of one family (cantle.trusted.geometry.views)."""

from __future__ import annotations

from dataclasses import dataclass

from cantle.methods.mosaic.model.answers import NoisyAnswer
from cantle.methods.mosaic.model.noisy_tables import laplace_variance
from cantle.trusted.geometry import item_partitions


@dataclass(frozen=True, eq=False)
class Answer(NoisyAnswer):
    """Noisy counts of a view as released."""

    view: int = 0


def variance_of(rate_num: int, rate_den: int) -> float:
    """The variance of noise of this rate in families, of counts that are parts."""
    return float(laplace_variance(rate_num / rate_den)) / item_partitions.PARTS**2
