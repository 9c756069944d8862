"""The front door: opens data, budget and dice, runs a method, seals, and builds the release.

The only place that names epsilon.
"""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np

from cantle.budget import Budget, Unit, nano_of, words_of
from cantle.curator import Curator
from cantle.engines.base import Engine
from cantle.engines.columns import ColumnEngine
from cantle.engines.memory import MemoryEngine
from cantle.errors import ParameterError, SchemaError
from cantle.frames import check_names
from cantle.methods.diffgen import DiffGen
from cantle.methods.rps import RPS
from cantle.noise import Noise, Secure, Seeded
from cantle.postprocess import fresh_seed, public_dice
from cantle.readers import Raw, give_back, read_batches
from cantle.release import Release
from cantle.schema import Schema

Plan = RPS | DiffGen
METHODS: dict[str, type[RPS] | type[DiffGen]] = {"rps": RPS, "diffgen": DiffGen}
ENGINES = ("memory",)
MOST_CLASSES = 1000


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
    kind, store = _open(read_batches(data, schema), plan)
    receipt = run(plan, store, epsilon_nano=nano, unit=Unit(), noise=noise)
    log.info("drawing records")
    return _release(plan, schema, receipt, kind, insecure_seed)


def _open(batches: Iterator[Raw], plan: Plan) -> tuple[str, Engine]:
    """The records as codes, in the layout the method asks about, and the kind of frame they came in."""
    kind, parts = "", []
    for batch in batches:
        kind = batch.kind
        parts.append((plan.domain.encode_columns if plan.layout == "columns" else plan.domain.encode)(batch.frame))
    codes, classes = [part[0] for part in parts], np.concatenate([part[1] for part in parts])
    if plan.layout == "columns":
        columns = [np.concatenate(column) for column in zip(*codes, strict=True)]
        return kind, ColumnEngine(columns, classes, sizes=plan.sizes, class_count=plan.classes)
    return kind, MemoryEngine(np.concatenate(codes), classes, sizes=plan.sizes, class_count=plan.classes)


def make_method(schema: Schema, method: str, preset: str, parameters: dict[str, Any]) -> Plan:
    """The method by name with its settings checked; reads no data. `auto`: a target calls for diffgen, else rps."""
    if method not in ("auto", *METHODS):
        raise ParameterError(f"method {method!r} is not known; use one of auto, {', '.join(METHODS)}")
    domain = schema.domain()
    name = ("diffgen" if domain.target else "rps") if method == "auto" else method
    check_names(domain)
    if domain.target and domain.target.size > MOST_CLASSES:
        raise SchemaError(
            f"field {domain.target.name}: a target has at most {MOST_CLASSES} classes, this one {domain.target.size}; "
            "use a wider step or fewer categories, or drop role: target"
        )
    return METHODS[name](domain, preset=preset, **parameters)


def run(plan: Plan, store: Engine, *, epsilon_nano: int, unit: Unit, noise: Noise) -> dict[str, Any]:
    """Runs the method under a curator and gives the receipt; records and dice are gone when it returns."""
    with Curator(store, Budget(epsilon_nano, unit), noise) as curator:
        plan.run(curator)
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


def _release(plan: Plan, schema: Schema, receipt: dict[str, Any], kind: str, insecure_seed: int | None) -> Release:
    """Post-processing: everything here is a function of what the curator gave away."""
    seed = fresh_seed() if insecure_seed is None else insecure_seed
    results = plan.results(public_dice(seed))
    manifest = _manifest(plan, schema, receipt, insecure_seed, seed)
    manifest |= {"summary": results.summary, "structure": results.structure}
    return Release(give_back(results.records, kind), results.groups, results.frames, manifest)


def _manifest(
    plan: Plan, schema: Schema, receipt: dict[str, Any], insecure_seed: int | None, seed: int
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
