"""A public mixing function of 64-bit words, used for arbitrary orders; it is neither secret nor random."""

from __future__ import annotations

import numpy as np

from cantle.trusted.core.arrays import Codes, Words


def scramble(keys: Codes) -> Words:
    """The output function of SplitMix64, a bijection of 64-bit words (Steele, Lea & Flood 2014)."""
    words = keys.astype(np.uint64)
    words *= np.uint64(0x9E3779B97F4A7C15)
    words ^= words >> np.uint64(30)
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words
