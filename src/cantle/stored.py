"""A saved release read back, and more records drawn from it. Touches released values only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle.domain import Domain
from cantle.errors import ParameterError, VerifyError
from cantle.frames import leaves_from, tables_from
from cantle.postprocess import fresh_seed, round_rows
from cantle.release import FILES, MARK, Release
from cantle.schema import Schema
from cantle.summaries import draw_generalised, draw_records

if TYPE_CHECKING:
    import polars as pl


def load(folder: Path) -> Release:
    """The release in a folder; files are checked by `verify`, not here."""
    import polars as pl

    prefix = MARK if (folder / (MARK + FILES["manifest"])).exists() else ""
    manifest = read_manifest(folder)
    schema = Schema.from_dict(manifest["schema"])
    try:
        marginals = folder / (prefix + FILES["marginals"])
        return Release(
            _records(folder, prefix, schema, manifest),
            pl.read_parquet(folder / (prefix + FILES["groups"])),
            pl.read_parquet(folder / (prefix + FILES["tree"])),
            pl.read_parquet(marginals) if marginals.exists() else None,
            manifest,
        )
    except (OSError, pl.exceptions.PolarsError) as error:
        raise VerifyError(f"{folder} has a missing or damaged file ({type(error).__name__})") from None


def read_manifest(folder: Path) -> dict[str, Any]:
    """release.json of a folder."""
    for prefix in ("", MARK):
        path = folder / (prefix + FILES["manifest"])
        if path.exists():
            try:
                manifest = json.loads(path.read_bytes())
            except (OSError, ValueError):
                raise VerifyError(f"{path} is not readable JSON") from None
            if isinstance(manifest, dict) and manifest.get("format") == "cantle-release/1":
                return manifest
            raise VerifyError(f"{path} is not a release of this format (cantle-release/1)")
    raise VerifyError(f"{folder} holds no release: there is no {FILES['manifest']}")


def domain_of(manifest: dict[str, Any]) -> Domain:
    """The domain the run used, rebuilt from public values."""
    parameters = manifest["parameters"]
    domain = Schema.from_dict(manifest["schema"]).domain().coarsen(parameters["bins"])
    return domain.with_orders(parameters["order_seed"]) if parameters["order"] == "random" else domain


def _records(folder: Path, prefix: str, schema: Schema, manifest: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    stored = folder / f"{prefix}data.parquet"
    if stored.exists():
        return pl.read_parquet(stored)
    domain = schema.domain()
    nobody = np.zeros((0, len(domain.attributes)))
    kinds = dict(domain.decode(nobody.astype(np.int64), np.zeros(0, np.int64), nobody).schema)
    if manifest["parameters"]["values"] == "set":
        kinds.update(dict.fromkeys((a.name for a in domain.attributes), pl.String()))
    return pl.read_csv(folder / f"{prefix}data.csv", schema=kinds)


def sample(release: Release, n: int, seed: int | None) -> pl.DataFrame:
    """n records in the proportions of the released counts."""
    if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= 10**9:
        raise ParameterError(f"n must be a whole number from 0 to 1e9, got {n!r}")
    domain = domain_of(release.manifest)
    leaves = leaves_from(domain, release.groups)
    weight = leaves.count.astype(float)
    if not weight.sum():
        weight += 1.0
    exact = (weight * (n / weight.sum())).reshape(1, -1)
    count = round_rows(exact, np.array([n])).reshape(leaves.count.shape)
    generator = np.random.default_rng(fresh_seed() if seed is None else seed)
    scaled = type(leaves)(**{**leaves.__dict__, "count": count})
    values = release.manifest["parameters"]["values"]
    if values == "set":
        return draw_generalised(domain, scaled, generator)
    tables = tables_from(domain, release.marginals)
    return draw_records(domain, scaled, values=values, tables=tables, generator=generator)
