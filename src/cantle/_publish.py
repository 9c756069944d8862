"""The front door: opens data, budget and dice, runs a method, seals, and builds the release.

The only place that names epsilon.
"""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

from cantle._open import Form, Plan, open_data, require_fitting
from cantle.data.engines_for_tables import EngineChoice
from cantle.errors import CHARGE_NOTE, LedgerError, OutputError, ParameterError, SchemaError
from cantle.methods.degrees import DegreeSequence
from cantle.methods.diffgen import DiffGen
from cantle.methods.diffpart import DiffPart
from cantle.methods.rps import RPS
from cantle.postprocess.counts import fresh_seed, public_dice
from cantle.postprocess.group_frames import check_names
from cantle.postprocess.records import give_back
from cantle.postprocess.results import Results
from cantle.release import Release
from cantle.release.manifest import LedgerLine, Manifest, Receipt
from cantle.schema.graph import GraphSchema
from cantle.schema.sets import SetSchema
from cantle.schema.table import Schema
from cantle.trusted.budget import Budget, Unit, nano_of, words_of
from cantle.trusted.curator import Curator
from cantle.trusted.engines.base import Engine
from cantle.trusted.ledger import Ledger, Ticket, now
from cantle.trusted.noise import Noise, Secure, Seeded

METHODS: dict[str, Any] = {"rps": RPS, "diffgen": DiffGen, "diffpart": DiffPart, "degrees": DegreeSequence}
KINDS = {"table": ("rps", "diffgen"), "sets": ("diffpart",), "graph": ("degrees",)}
MOST_CLASSES = 1000


def publish(
    data: Any,
    schema: Schema | SetSchema | GraphSchema | dict[str, Any] | str | os.PathLike[str],
    *,
    epsilon: Any,
    method: str = "auto",
    preset: str = "default",
    engine: str = "memory",
    memory: str | int | None = None,
    table: str | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    nodes: Any = None,
    insecure_seed: int | None = None,
    **parameters: Any,
) -> Release:
    """A private release of a table, of sets or of a graph's degrees, as the schema says: `data` is a path or any data
    frame (of a graph also a networkx graph, with `nodes` a private list of nodes that may have no edge), `epsilon` the
    whole spend.

    `engine` is where a table is counted: memory; duckdb (on disk: files, folders of files or a DuckDB database, with
    `memory` as its limit); spark (any Spark data frame or source); database (an ibis table, or a URL). `table` names
    the table of a database. The same seed gives the same release on all of them.

    With a `ledger` (a file or a postgresql:// URL) epsilon is charged to `dataset` there before the data is opened, and
    stays charged whatever happens then; saving the release notes its hash. `insecure_seed` makes the run repeatable and
    the release NOT PRIVATE: for tests only.
    """
    nano, public = nano_of(epsilon), _schema(schema)
    choice = EngineChoice.of(engine, memory, table, public.kind)
    plan = make_method(public, method, preset, parameters)
    require_fitting(data, public, nodes, choice)
    noise, unit, started = _noise(insecure_seed), _unit(public), now()
    guarantee = _guarantee(public, insecure_seed)
    if ledger is not None:
        choice.require(data)  # a misspelt path must cost nothing
    ticket = _charge(ledger, dataset, nano, unit, plan, guarantee)
    log = logging.getLogger("cantle")
    log.info("reading")
    with noting_the_charge(ticket):
        form, store = open_data(data, public, plan, nodes, choice)
        receipt = run(plan, store, epsilon_nano=nano, unit=unit, noise=noise)
        log.info("drawing records")
        return _release(plan, public, receipt, form, insecure_seed, ticket, started)


def _charge(ledger: Any, dataset: str | None, nano: int, unit: Unit, plan: Plan, guarantee: str) -> Ticket | None:
    """Pays for the run in the ledger, if there is one; everything that can be refused without the data was before."""
    if ledger is None and dataset is None:
        return None
    if ledger is None or dataset is None:
        raise ParameterError("a ledger needs the name of the data set, and a data set its ledger; give both or neither")
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    try:
        return book.charge(
            dataset,
            epsilon_nano=nano,
            unit=unit.describe(),
            method=plan.name,
            parameters=plan.parameters(),
            guarantee=guarantee,
            software=f"cantle {version('cantle')}",
        )
    except (KeyboardInterrupt, SystemExit) as stop:
        stop.add_note(f"{CHARGE_NOTE} {dataset!r} may stand: look with cantle ledger history")
        raise


@contextmanager
def noting_the_charge(ticket: Ticket | None) -> Iterator[None]:
    """Adds a note to whatever ends a run that was paid for: an error, Ctrl-C, a signal to end."""
    try:
        yield
    except BaseException as error:
        mentions_it = isinstance(error, OutputError | LedgerError)  # what `save` raises
        if ticket is not None and not mentions_it:
            error.add_note(f"{CHARGE_NOTE} {ticket.line['dataset']!r} stands: the data was opened")
        raise


def make_method(schema: Any, method: str, preset: str, parameters: dict[str, Any]) -> Plan:
    """The method by name with its settings checked; reads no data. `auto`: by the kind of data, and for a table a
    target calls for diffgen, else rps."""
    if method not in ("auto", *METHODS):
        raise ParameterError(f"method {method!r} is not known; use one of auto, {', '.join(METHODS)}")
    able = KINDS[schema.kind]
    if method not in ("auto", *able):
        raise ParameterError(f"method {method} is not for {schema.kind} data; use {' or '.join(able)}, or auto")
    if schema.kind != "table":
        return METHODS[able[0]](schema, preset=preset, **parameters)
    domain = schema.domain()
    name = ("diffgen" if domain.target else "rps") if method == "auto" else method
    check_names(domain)
    if domain.target and domain.target.size > MOST_CLASSES:
        raise SchemaError(
            f"field {domain.target.name}: a target has at most {MOST_CLASSES} classes, this one {domain.target.size}; "
            "use a wider step or fewer categories, or drop role: target"
        )
    return METHODS[name](domain, preset=preset, **parameters)


def _unit(schema: Any) -> Unit:
    """Whom the promise protects, as the schema says."""
    if schema.kind == "graph":
        return Unit(kind=schema.unit)
    person = schema.kind == "table" and schema.person is not None
    return Unit(schema.max_records, "person") if person else Unit()


def run(plan: Plan, store: Engine, *, epsilon_nano: int, unit: Unit, noise: Noise) -> dict[str, Any]:
    """Runs the method under a curator and gives the receipt; records and dice are gone when it returns."""
    with Curator(store, Budget(epsilon_nano, unit), noise) as curator:
        plan.run(curator)
        return curator.seal()


def _schema(schema: Any) -> Any:
    if isinstance(schema, Schema | SetSchema | GraphSchema):
        return schema
    return Schema.from_dict(schema) if isinstance(schema, dict) else Schema.load(schema)


def _noise(insecure_seed: int | None) -> Noise:
    if insecure_seed is None:
        return Secure()
    if isinstance(insecure_seed, bool) or not isinstance(insecure_seed, int) or not 0 <= insecure_seed < 2**53:
        raise ParameterError(
            "insecure_seed must be a whole number from 0 to 2^53 - 1; leave it out for a private release"
        )
    return Seeded(insecure_seed)


def _release(
    plan: Plan,
    schema: Any,
    receipt: dict[str, Any],
    form: Form,
    insecure_seed: int | None,
    ticket: Ticket | None,
    started: str,
) -> Release:
    """Post-processing: everything here is a function of what the curator gave away."""
    seed = fresh_seed() if insecure_seed is None else insecure_seed
    results = plan.results(public_dice(seed))
    manifest = replace(
        _manifest(plan, schema, Receipt.from_dict(receipt), insecure_seed, seed, results),
        form={key: value for key, value in form.items() if key != "frame"},
        created=None if insecure_seed is not None else started,
        ledger=None if ticket is None else LedgerLine.from_dict(ticket.line),
    )
    return Release(_given_back(results, form, plan), results.groups, results.frames, manifest, ticket)


def _given_back(results: Results, form: Form, plan: Plan) -> Any:
    """The records in the form and the kind of frame that came in."""
    if "form" in form:
        from cantle.postprocess.set_frames import give_back_sets
        from cantle.schema.sets import SetForm

        return give_back_sets(results.records, SetForm(**form))
    if form["frame"] == "polars":
        return results.drawn
    # The types of columns follow from the schema, not from what happened to be drawn.
    nullable = [one.name for one in plan.domain.attributes if one.nullable] if isinstance(plan, RPS | DiffGen) else []
    return give_back(results.records, form["frame"], nullable)


def _guarantee(schema: Any, insecure_seed: int | None) -> str:
    if insecure_seed is not None:
        return "NOT PRIVATE: the noise came from a known seed"
    return "no guarantee: the schema was read off the data" if schema.inferred else "pure epsilon-differential privacy"


def _manifest(
    plan: Plan, schema: Any, receipt: Receipt, insecure_seed: int | None, seed: int, results: Results
) -> Manifest:
    return Manifest(
        kind=schema.kind,
        private=insecure_seed is None and not schema.inferred,
        guarantee=_guarantee(schema, insecure_seed),
        seeded=insecure_seed is not None,
        epsilon=words_of(receipt.epsilon_nano),
        unit=receipt.unit.describe(),
        method=plan.name,
        parameters=plan.parameters(),
        schema=schema.to_dict(),
        schema_sha256=schema.hash(),
        receipt=receipt,
        postprocessing={"seed": seed},
        software={
            "cantle": version("cantle"),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "polars": pl.__version__,
        },
        summary=results.summary,
        structure=results.structure,
    )
