"""One hypothesis profile for all tests: the same examples on every machine and in every run."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "cantle",
    derandomize=True,
    deadline=None,
    print_blob=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("cantle")
