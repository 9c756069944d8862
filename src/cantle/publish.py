"""Moved to cantle.publishing."""

from cantle.publishing import *  # noqa: F403
from cantle.publishing import publish, run  # noqa: F401
