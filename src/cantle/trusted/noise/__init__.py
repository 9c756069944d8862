"""Noise: all randomness that touches exact numbers, as five operations with exact laws over two sources."""

from cantle.trusted.noise.base import Lanes, Noise, Rate
from cantle.trusted.noise.sources import Secure, Seeded

__all__ = ["Lanes", "Noise", "Rate", "Secure", "Seeded"]
