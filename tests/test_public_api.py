"""The public names of `import cantle`, each of which has a docstring with an example."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import polars as pl
import pytest

import cantle
from cantle.errors import ParameterError
from cantle.internal import WARNING
from cantle.methods.catalogue import METHODS
from tests.release.changes import with_manifest
from tests.release.people import SCHEMA, people


def test_the_version_equals_that_of_the_package() -> None:
    assert cantle.__version__ == version("cantle")


def test_dir_lists_the_public_names() -> None:
    assert dir(cantle) == sorted([*cantle.__all__, "__version__", "audit", "errors", "framework"])
    assert all(getattr(cantle, name) is not None for name in dir(cantle))
    with pytest.raises(AttributeError, match="nothing"):
        _ = cantle.nothing


def test_importing_cantle_loads_nothing_heavy() -> None:
    heavy = "import sys, cantle; dir(cantle); sys.exit(any(m in sys.modules for m in ('numpy', 'polars', 'yaml')))"
    assert subprocess.run([sys.executable, "-c", heavy]).returncode == 0


def test_importing_publish_loads_no_plan_and_no_method() -> None:
    """A release loads its own method when it is ordered, and a plan when somebody asks for one."""
    others = "cantle.methods.planning", "cantle.framework", *(f"cantle.methods.{name}.method" for name in METHODS)
    code = f"import sys; from cantle import publish; sys.exit(any(name in sys.modules for name in {others}))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


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


def test_public_objects_show_themselves_in_notebooks() -> None:
    release = cantle.publish(people(6000), SCHEMA, epsilon=1, insecure_seed=1)
    assert release.accuracy is not None
    shown = {
        "protects one record": cantle.Schema.from_dict(SCHEMA),
        "smallest group that stands out": cantle.plan(SCHEMA, epsilon=1, records=6000),
        "95 % interval": release.count("age > 30"),
        "measured privately": release.accuracy,
        "cantle release": release,
    }
    for text, one in shown.items():
        assert text in one._repr_html_()  # type: ignore[attr-defined]
    hostile = {"fields": [{"name": "<i>", "type": "string", "categories": ["<script>", "b"]}]}
    page = cantle.Schema.from_dict(hostile)._repr_html_()
    assert "<i>" not in page
    assert "<script>" not in page


def test_counts_and_means_are_grouped_by_columns() -> None:
    release = cantle.publish(people(600), SCHEMA, epsilon=2, insecure_seed=1)
    counts = release.count("age > 20", by="ill")
    assert counts["value"].sum() == pytest.approx(release.count("age > 20").value, abs=1)
    assert counts.equals(release.count("age > 20", by=["ill"]))
    assert release.mean("age", by="ill").columns == counts.columns


def test_python_shows_private_facts_only_when_asked(tmp_path: Path) -> None:
    schema = {"fields": [{"name": "town", "type": "string", "categories": ["Oslo", "Rome"]}]}
    frame = pl.DataFrame({"town": ["<Secretville>", "Oslo", "Rome"] * 100})
    frame.write_csv(tmp_path / "t.csv")
    release = cantle.publish(frame, schema, epsilon=1, insecure_seed=1)
    for data in (frame, frame.to_pandas(), tmp_path / "t.csv", str(tmp_path / "t.csv")):
        checked, compared = cantle.check(data, schema), cantle.evaluate(data, release)
        assert "Secretville" in str(checked)
        for one in (checked, compared, *checked.sections, *checked.sections[1].findings):
            assert "Secretville" not in repr(one)
        for shown in (checked, compared):
            assert str(shown).startswith(WARNING)
            assert WARNING in shown._repr_html_()
            assert "<S" not in shown._repr_html_()
        assert compared.facts[0].private == 300
    with pytest.raises(ParameterError, match="give the path of the file"):
        cantle.check([[1]], {"kind": "sets", "items": [1, 2]})
