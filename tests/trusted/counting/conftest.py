"""A Spark cluster for the tests of engines; if Spark is missing, they are skipped with the reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.trusted.counting.cluster import Cluster, cluster, missing


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests on a Spark cluster as slow: starting one takes as long as all other tests of engines together."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A standalone Spark cluster, one master and two workers."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    with cluster(tmp_path_factory.mktemp("spark")) as started:
        yield started
