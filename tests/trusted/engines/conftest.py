"""A Spark cluster for the tests of engines; they are skipped with a reason where Spark is missing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.trusted.engines.cluster import Cluster, cluster, missing


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on a Spark cluster are long: starting one takes as much time as all other tests of engines together."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A standalone Spark cluster, one master and two workers."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    with cluster(tmp_path_factory.mktemp("spark")) as made:
        yield made
