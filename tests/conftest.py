"""Settings for all tests: the same examples and the same random numbers on every machine and in every run."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from _pytest.doctest import DoctestItem
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from benchmarks.server import postgres
from tests.effort import EFFORT
from tests.entropy import drawn_from, real

# Without bytecode, each command that a test starts would compile the library again, and each run all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Tests need not survive a power failure, so none waits until the disk has written a file; only those of durability do.
real_fsync = os.fsync
os.fsync = lambda _: None

# The collection of tests leaves hardly any garbage.
gc.disable()
# Otherwise Hypothesis would search all modules for constants, and examples would depend on which modules are loaded.
if hasattr(providers, "is_local_module_file"):
    providers.is_local_module_file = lambda _: False

settings.register_profile(
    "cantle",
    max_examples=30 * EFFORT,
    derandomize=True,
    deadline=None,
    print_blob=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("cantle")

COMPILING = (
    "golden/test_same_bytes.py",
    "data/test_encoding.py",
    "methods/test_baskets_model.py",
    "counting/test_kernels.py",
)
"""Tests that compile nearly all kernels."""


BACKWARDS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 2 == 1
"""Whether this process is one of several, and collects tests from the last folder to the first."""


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Lets two processes start at different ends, so that each compiles half of the tests for both."""
    report = yield
    if BACKWARDS and isinstance(collector, pytest.Directory):
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts tests of kernels first, so that one of several processes compiles the kernels early for all others."""

    def place(item: pytest.Item) -> tuple[bool, bool, tuple[str, ...]]:
        return not str(item.path).endswith(COMPILING), isinstance(item, DoctestItem), item.path.parts

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """Excludes the collected tests from garbage collection, because they stay until the end."""
    gc.freeze()
    atexit.register(gc.unfreeze)
    gc.set_threshold(5_000, 20, 20)  # tests leave few cycles of objects, but compiled kernels many objects
    gc.enable()


@pytest.fixture(autouse=True)
def noise_of_this_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Draws the noise of each test from a stream that its name seeds, or with `real_entropy` from the system."""
    with real() if request.node.get_closest_marker("real_entropy") else drawn_from(request.node.nodeid):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Iterator[None]:
    """Draws the noise of a shared fixture from a stream seeded by the fixture, whichever test uses it first."""
    if fixturedef.scope == "function":
        return (yield)
    with drawn_from(f"{request.node.nodeid} {fixturedef.argname} {getattr(request, 'param_index', '')}"):
        return (yield)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a PostgreSQL server that lasts as long as the tests."""
    pytest.importorskip("psycopg", reason="psycopg is not installed (extra database)")
    with postgres() as url:
        if url is None:
            pytest.skip("PostgreSQL (initdb, postgres) is not installed")
        yield url
