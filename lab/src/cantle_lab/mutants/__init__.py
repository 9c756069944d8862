"""NOT PRIVATE, on purpose: known ways to get the shipped code wrong, and instances with known numbers.

The command line and the tests pass them to the audit, which must catch every one. A breakage changes shipped code
inside a `with` block and restores it at the end. No code that publishes data imports this package.
"""

from cantle.audit.degrees import Drawing
from cantle.audit.exact import Flaw, Table
from cantle_lab.mutants.baskets import BASKET_BREAKAGES
from cantle_lab.mutants.degrees import DEGREE_BREAKAGES
from cantle_lab.mutants.diffgen import DIFFGEN_BREAKAGES
from cantle_lab.mutants.diffpart import DIFFPART_BREAKAGES
from cantle_lab.mutants.families import FAMILY_BREAKAGES
from cantle_lab.mutants.instances import INSTANCES
from cantle_lab.mutants.journeys import JOURNEY_BREAKAGES
from cantle_lab.mutants.mosaic import MOSAIC_BREAKAGES
from cantle_lab.mutants.own_error import OWN_ERROR_BREAKAGES
from cantle_lab.mutants.rps import RPS_BREAKAGES

BREAKAGES: tuple[Flaw[Table] | Flaw[Drawing], ...] = (
    *RPS_BREAKAGES,
    *DIFFGEN_BREAKAGES,
    *MOSAIC_BREAKAGES,
    *DIFFPART_BREAKAGES,
    *BASKET_BREAKAGES,
    *JOURNEY_BREAKAGES,
    *DEGREE_BREAKAGES,
    *OWN_ERROR_BREAKAGES,
    *FAMILY_BREAKAGES,
)

__all__ = ["BREAKAGES", "INSTANCES"]
