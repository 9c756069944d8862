"""The front door: opens data, budget and dice, runs a method, seals, and builds the release.

The only place that names epsilon.
"""

from __future__ import annotations

import logging
import os
import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from cantle.budget import Budget, Unit, nano_of, words_of
from cantle.curator import Curator
from cantle.engines.memory import MemoryEngine
from cantle.errors import ParameterError
from cantle.frames import check_names, groups_frame, marginals_frame, tree_frame
from cantle.grow import grow
from cantle.methods.rps import RPS
from cantle.noise import Noise, Secure, Seeded
from cantle.postprocess import fresh_seed
from cantle.readers import give_back, read_columns
from cantle.release import Release
from cantle.schema import Schema
from cantle.summaries import draw_generalised, draw_records, fitted_tables, summarise

METHODS = {"rps": RPS}
ENGINES = ("memory",)


def publish(
    data: Any,
    schema: Schema | dict[str, Any] | str | os.PathLike[str],
    *,
    epsilon: Any,
    method: str = "auto",
    preset: str = "default",
    engine: str = "memory",
    insecure_seed: int | None = None,
    **parameters: Any,
) -> Release:
    """A private release of a table: `data` is a path or any data frame, `epsilon` the whole spend.

    `insecure_seed` makes the run repeatable and the release NOT PRIVATE: for tests only.
    """
    nano = nano_of(epsilon)
    if engine not in ENGINES:
        raise ParameterError(f"engine {engine!r} is not known; use one of {', '.join(ENGINES)}")
    schema = _schema(schema)
    plan = make_method(schema, method, preset, parameters)
    noise = _noise(insecure_seed)
    log = logging.getLogger("cantle")
    log.info("reading")
    raw = read_columns(data, schema)
    codes, classes = plan.domain.encode(raw.frame)
    kind = raw.kind
    del raw
    store = MemoryEngine(codes, classes, sizes=plan.sizes, class_count=plan.classes)
    receipt = run(plan, store, epsilon_nano=nano, unit=Unit(), noise=noise)
    log.info("drawing records")
    return _release(plan, schema, receipt, kind, insecure_seed)


def make_method(schema: Schema, method: str, preset: str, parameters: dict[str, Any]) -> RPS:
    """The method by name with its settings checked; reads no data."""
    name = "rps" if method == "auto" else method
    if name not in METHODS:
        raise ParameterError(f"method {method!r} is not known; use one of auto, {', '.join(METHODS)}")
    domain = schema.domain()
    check_names(domain)
    return METHODS[name](domain, preset=preset, **parameters)


def run(plan: RPS, store: MemoryEngine, *, epsilon_nano: int, unit: Unit, noise: Noise) -> dict[str, Any]:
    """Grows the tree under a curator and gives the receipt; records and dice are gone when it returns."""
    with Curator(store, Budget(epsilon_nano, unit), noise) as curator:
        grow(plan, curator)
        return curator.seal()


def _schema(schema: Any) -> Schema:
    if isinstance(schema, Schema):
        return schema
    return Schema.from_dict(schema) if isinstance(schema, dict) else Schema.load(schema)


def _noise(insecure_seed: int | None) -> Noise:
    if insecure_seed is None:
        return Secure()
    if isinstance(insecure_seed, bool) or not isinstance(insecure_seed, int) or not 0 <= insecure_seed < 2**63:
        raise ParameterError(
            "insecure_seed must be a whole number from 0 to 2^63 - 1; leave it out for a private release"
        )
    return Seeded(insecure_seed)


def _release(plan: RPS, schema: Schema, receipt: dict[str, Any], kind: str, insecure_seed: int | None) -> Release:
    """Post-processing: everything here is a function of what the curator gave away."""
    s = plan.settings
    leaves = summarise(plan.tree, least_squares=s["consistency"], by_depth=s["summary"] == "depth", label=s["label"])
    seed = fresh_seed() if insecure_seed is None else insecure_seed
    generator = np.random.default_rng(seed)
    if s["values"] == "set":
        records = draw_generalised(plan.domain, leaves, generator)
    else:
        tables = fitted_tables(plan.domain, plan.oneways)
        records = draw_records(plan.domain, leaves, values=s["values"], tables=tables, generator=generator)
    oneways = plan.oneways
    marginals = None
    if oneways is not None:
        marginals = marginals_frame(plan.domain, oneways.value[0], int(oneways.rate_num[0]), oneways.rate_den)
    manifest = _manifest(plan, schema, receipt, insecure_seed, seed)
    manifest["summary"] = {"records": len(records), "leaves": len(leaves.ids), "depth": plan.depth}
    return Release(
        give_back(records, kind),
        groups_frame(plan.domain, leaves),
        tree_frame(plan.domain, plan.tree),
        marginals,
        manifest,
    )


def _manifest(
    plan: RPS, schema: Schema, receipt: dict[str, Any], insecure_seed: int | None, seed: int
) -> dict[str, Any]:
    private = insecure_seed is None and not schema.inferred
    if insecure_seed is not None:
        guarantee = "NOT PRIVATE: the noise came from a known seed"
    elif schema.inferred:
        guarantee = "no guarantee: the schema was read off the data"
    else:
        guarantee = "pure epsilon-differential privacy"
    return {
        "format": "cantle-release/1",
        "kind": "table",
        "private": private,
        "guarantee": guarantee,
        "seeded": insecure_seed is not None,
        "epsilon": words_of(receipt["epsilon_nano"]),
        "unit": Unit(**receipt["unit"]).describe(),
        "method": plan.name,
        "parameters": plan.parameters(),
        "schema": schema.to_dict(),
        "schema_sha256": schema.hash(),
        "receipt": receipt,
        "postprocessing": {"seed": seed},
        "software": {
            "cantle": version("cantle"),
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "polars": version("polars"),
        },
    }
