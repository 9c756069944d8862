"""The public names of `import cantle`, each of which has a docstring with an example."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import version

import pytest

import cantle
from tests.release.changes import with_manifest
from tests.release.people import SCHEMA, people


def test_the_version_equals_that_of_the_package() -> None:
    assert cantle.__version__ == version("cantle")


def test_dir_lists_the_public_names() -> None:
    assert dir(cantle) == sorted([*cantle.__all__, "__version__", "errors"])
    assert all(getattr(cantle, name) is not None for name in dir(cantle))
    with pytest.raises(AttributeError, match="nothing"):
        _ = cantle.nothing


def test_importing_cantle_loads_nothing_heavy() -> None:
    heavy = "import sys, cantle; dir(cantle); sys.exit(any(m in sys.modules for m in ('numpy', 'polars', 'yaml')))"
    assert subprocess.run([sys.executable, "-c", heavy]).returncode == 0


def test_every_public_name_has_sections_and_an_example() -> None:
    lacking = []
    for name in cantle.__all__:
        text = inspect.getdoc(getattr(cantle, name)) or ""
        if "Examples\n--------\n>>> " not in text or not ("Parameters\n---" in text or "Attributes\n---" in text):
            lacking.append(name)
    assert lacking == []


def test_a_release_describes_itself() -> None:
    release = cantle.publish(people(60), SCHEMA, epsilon="0.25", method="rps", insecure_seed=1)
    assert release.epsilon == 0.25
    assert release.schema == cantle.Schema.from_dict(SCHEMA)
    assert release.summary["records"] == len(release.records)
    assert "| epsilon | 0.25 " in release.statement
    page = release._repr_html_()
    assert page.startswith("<table>")
    assert "NOT PRIVATE" in page


def test_texts_of_a_loaded_release_are_escaped_in_html() -> None:
    release = cantle.publish(people(60), SCHEMA, epsilon=1, method="rps", insecure_seed=1)
    page = with_manifest(release, lambda m: m.update(guarantee="<script>"))._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
