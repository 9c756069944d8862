"""The picture of a tree: an icicle."""

from __future__ import annotations

import pytest

import cantle
from tests.framework.examples import TOWNS, classes, towns
from tests.release.people import SCHEMA, people

pytest.importorskip("jinja2", reason="jinja2 is not installed (extra report)")


def test_trees_are_shown_as_an_icicle() -> None:
    for made in (
        cantle.publish(towns(2000), TOWNS, epsilon=1, method=classes()["QuadTree"](), insecure_seed=1),
        cantle.publish(people(), SCHEMA, epsilon=1, method="rps"),
    ):
        assert 'class="chart wide icicle"' in made.report()
