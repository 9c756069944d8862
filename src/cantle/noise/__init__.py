"""All randomness that touches exact numbers: five verbs with exact laws, over three sources."""

from cantle.noise.enumerating import Enumerating, law
from cantle.noise.verbs import Lanes, Noise, Rate, Runs
from cantle.noise.words import Secure, Seeded

__all__ = ["Enumerating", "Lanes", "Noise", "Rate", "Runs", "Secure", "Seeded", "law"]
