"""registry.yaml: it can be loaded, fits the registry's schema, and claims no more than the release does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.release.manifest import Manifest
from cantle.release.registry import quoted, registry
from tests.release.people import SCHEMA, people

KINDS: dict[str, dict[str, Any]] = {
    "rps": {"method": "rps"},
    "diffgen": {"method": "diffgen"},
    "declared": {"method": "rps", "records": 400},
    "seeded": {"insecure_seed": 1},
    "inferred": {"schema": SCHEMA | {"guarantee": "none"}},
}


@pytest.fixture(scope="module")
def schema() -> Any:
    """The registry's own schema, from the environment variable CANTLE_DATA."""
    folder = os.environ.get("CANTLE_DATA")
    path = Path(folder or "") / "dp-deployments-registry" / "deployments-schema.yaml"
    if not folder or not path.exists():
        pytest.skip("set CANTLE_DATA to the folder that contains dp-deployments-registry/ to check against its schema")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def saved(folder: Path, kind: str) -> tuple[str, dict[str, Any]]:
    """The text of registry.yaml of a second release, and the document that it contains."""
    options = {"schema": SCHEMA, "epsilon": "0.5", "ledger": folder / "l.db", "dataset": "people"} | KINDS[kind]
    cantle.Ledger(folder / "l.db").create()
    cantle.publish(people(60), **options)
    release = cantle.publish(people(60), **options).save(folder / "out")
    prefix = "NOT-PRIVATE." if kind in ("seeded", "inferred") else ""
    text = (release / f"{prefix}registry.yaml").read_text(encoding="utf-8")
    return text, yaml.safe_load(text)


@pytest.mark.parametrize("kind", KINDS)
def test_it_fits_the_registrys_schema(kind: str, schema: Any, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    _, entry = saved(tmp_path, kind)
    # A seeded release has no date, so that its bytes are always the same; the blank is a text, but no date.
    formats = None if kind == "seeded" else jsonschema.Draft7Validator.FORMAT_CHECKER
    validator = jsonschema.Draft7Validator(schema, format_checker=formats)
    assert [error.message for error in validator.iter_errors(entry)] == []


def properties(node: dict[str, Any]) -> list[str]:
    """The names of all fields in the registry's schema."""
    inner = node.get("properties", {})
    return [name for key, value in inner.items() for name in (key, *properties(value))]


def test_every_field_is_filled_in_or_a_blank(schema: Any, tmp_path: Path) -> None:
    text, _ = saved(tmp_path, "rps")
    words = {line.strip().removeprefix("# ").split(":")[0] for line in text.splitlines()}
    assert set(properties(schema)) - words == {"delta", "rho"}  # parameters that pure DP does not have


def test_it_agrees_with_the_release(tmp_path: Path) -> None:
    text, entry = saved(tmp_path, "rps")
    deployment = entry["deployment"]
    assert (entry["tier"], entry["status"]) == (3, "Draft")
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.5}
    assert deployment["privacy_loss"]["privacy_unit"] == "one record"
    assert "one more record" in deployment["privacy_loss"]["privacy_unit_details"]
    assert deployment["deployment_model"]["release_type"] == "Many releases"
    assert "rps, epsilon 0.5, charged, no release recorded" in deployment["deployment_model"]["release_type_details"]
    assert "spend epsilon 1 together" in deployment["privacy_loss"]["privacy_parameters_details"]
    assert "- weight: number, 30 to 150, in steps of 0.5" in deployment["dp_variant"]["data_domain"]
    assert "id:" not in deployment["dp_variant"]["data_domain"]
    assert deployment["basic"]["name"] == deployment["implementation"]["justification"] == ""
    assert "# data_product_sector:" in text


@pytest.mark.parametrize("kind", ["seeded", "inferred"])
def test_a_release_without_a_guarantee_claims_none(kind: str, tmp_path: Path) -> None:
    text, entry = saved(tmp_path, kind)
    assert "do not register this release" in text
    assert entry["deployment"]["dp_variant"]["variant_name"] == "Custom"
    assert "privacy_parameters" not in entry["deployment"]["privacy_loss"]
    assert "Pure DP" not in text


def test_a_declared_number_of_records_is_named(tmp_path: Path) -> None:
    _, entry = saved(tmp_path, "declared")
    assert "declared as 400" in entry["deployment"]["dp_variant"]["unprotected_quantities"]


def test_it_follows_from_the_manifest_alone() -> None:
    release = cantle.publish(people(60), SCHEMA, epsilon=1)
    assert registry(release.manifest) == registry(Manifest.from_dict(release.manifest.to_dict()))
    assert yaml.safe_load(registry(release.manifest))["deployment"]["deployment_model"]["release_type"] == "One release"


def test_unusual_names_are_read_back(tmp_path: Path) -> None:
    name = "a: b # 'c' \"d\"\n- e\u2028\x00 é \U0001f600"
    field = {"name": name, "type": "string", "categories": ["x", "y"]}
    release = cantle.publish(pl.DataFrame({name: ["x", "y"]}), {"fields": [field]}, epsilon=1)
    text = (release.save(tmp_path / "out", data="parquet") / "registry.yaml").read_text(encoding="utf-8")
    assert "a: b # 'c'" in yaml.safe_load(text)["deployment"]["dp_variant"]["data_domain"]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_read_back_with_unprintable_characters_escaped(text: str) -> None:
    entry = yaml.safe_load(f"key: {quoted(text)}  # a note\nnext: 1")
    lines = text.split("\n")
    shown = ["".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in line) for line in lines]
    assert entry == {"key": "\n".join(shown), "next": 1}
