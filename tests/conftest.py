"""What holds for all tests: the same examples and the same random words on every machine and in every run."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from _pytest.doctest import DoctestItem
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from benchmarks.server import postgres
from tests.effort import EFFORT
from tests.entropy import drawn_from, real

# scikit-learn's threads wait for one another by spinning, which takes the cores from the other tests.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Without bytecode every command that a test starts compiles the library anew, and every run all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# No power fails here, so no test waits until the disk has written what it saved.
os.fsync = lambda _: None

# Collecting makes no garbage to speak of.
gc.disable()
# Otherwise Hypothesis would parse all modules for constants, and the examples depend on which modules are loaded.
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
    "postprocess/test_baskets.py",
    "engines/test_kernels.py",
)
"""Tests that compile nearly all kernels."""


BACKWARDS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 2 == 1
"""Whether this process is one of several, and looks for tests from the last folder to the first."""


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Two processes begin at different ends, so that each finds half of the tests compiled by the other."""
    report = yield
    if BACKWARDS and isinstance(collector, pytest.Directory):
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Kernels first: of several processes one compiles them, and the others find them when they get there."""

    def place(item: pytest.Item) -> tuple[bool, bool, tuple[str, ...]]:
        return not str(item.path).endswith(COMPILING), isinstance(item, DoctestItem), item.path.parts

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """What has been collected stays until the end, so no search for garbage looks at it again."""
    gc.freeze()
    atexit.register(gc.unfreeze)
    gc.set_threshold(5_000, 20, 20)  # tests leave few circles of objects, and compiled kernels many objects
    gc.enable()


@pytest.fixture(autouse=True)
def words_of_this_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """The noise of each test follows from its name; with the mark `real_entropy` it is the operating system's."""
    with real() if request.node.get_closest_marker("real_entropy") else drawn_from(request.node.nodeid):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Iterator[None]:
    """The noise of a fixture that several tests share follows from the fixture, whichever test comes first."""
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
