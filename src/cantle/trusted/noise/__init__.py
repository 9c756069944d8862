"""All randomness that touches exact numbers: five verbs with exact laws, over three sources."""

from cantle.trusted.noise.base import Lanes, Noise, Rate, Runs
from cantle.trusted.noise.enumerating import Enumerating, law
from cantle.trusted.noise.sources import Secure, Seeded

__all__ = ["Enumerating", "Lanes", "Noise", "Rate", "Runs", "Secure", "Seeded", "law"]
