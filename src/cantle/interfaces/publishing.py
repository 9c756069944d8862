"""The entry point `publish`: opens data, budget and noise, runs a method, seals, and builds the release."""

from __future__ import annotations

import logging
import os
import platform
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from cantle.data.engine_choice import Form
from cantle.drawing.counts import fresh_seed, public_dice
from cantle.drawing.records import Results
from cantle.errors import CHARGE_NOTE, LedgerError, OutputError
from cantle.interfaces.notes import notes_of
from cantle.interfaces.opening import Order, open_data, preflight
from cantle.methods.base import Authored, Method, UsesDice
from cantle.methods.own_accuracy import MeasuresItself
from cantle.methods.own_error.accuracy import Accuracy
from cantle.methods.words import caution
from cantle.release import Release, tables
from cantle.release.document_fields import read
from cantle.release.facts import Facts
from cantle.release.manifest import LedgerLine, Manifest, Receipt
from cantle.release.storage import STORAGES
from cantle.schema import Schema
from cantle.trusted.core.budget import NANO, Budget, ReceiptFields, Unit, words_of
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting.base import Engine
from cantle.trusted.ledger import Ledger, Ticket, now
from cantle.trusted.noise import Noise, Secure, Seeded

if TYPE_CHECKING:
    from cantle.framework.partitioning import Partitioning

MethodName = Literal["auto", "mosaic", "rps", "diffgen", "diffpart", "baskets", "journeys", "degrees", "families"]
EngineName = Literal["memory", "duckdb", "spark", "database"]
PresetName = Literal["default", "paper"]


@dataclass(frozen=True)
class Made:
    """The results of a run after the curator is sealed."""

    receipt: Receipt
    results: Results
    accuracy: Accuracy | None


def publish(
    data: object,
    schema: Schema | Mapping[str, object] | str | os.PathLike[str],
    *,
    epsilon: float | str | Fraction,
    method: MethodName | str | Partitioning | type[Partitioning] = "auto",
    preset: PresetName = "default",
    engine: EngineName = "memory",
    memory: str | int | None = None,
    table: str | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    nodes: object = None,
    insecure_seed: int | None = None,
    facts: Facts | Mapping[str, object] | str | os.PathLike[str] | None = None,
    **parameters: object,
) -> Release:
    """Publishes a table, sets of items, sequences, or the degrees of a graph under pure epsilon-differential privacy.

    Parameters
    ----------
    data : path or data frame
        The private data: a CSV or Parquet file, FIMI lines, an edge list, a polars, pandas or pyarrow frame, a networkx
        graph; with other engines a folder, a database, a Spark data frame or an ibis table.
    schema : Schema, dict or path
        What is public about the data; written without looking at it.
    epsilon : float, str or Fraction
        The whole privacy budget of this release. Text and fractions are exact: "0.1", Fraction(1, 3).
    method : {"auto", "mosaic", "rps", "diffgen", "baskets", "diffpart", "journeys", "degrees", "families"}, or your own
        How to publish; "auto" chooses by the kind of data. Your own is a partitioning, its class, or the address of the
        class, "package.module:Class" (cantle.framework).
    preset : {"default", "paper"}
        The method as improved here, or as it was published.
    engine : {"memory", "duckdb", "spark", "database"}
        Where a table is counted. The same seed gives the same release on all of them.
    memory : str or int, optional
        The memory that engine duckdb may use to put sets and edges together, such as "4GB".
    table : str, optional
        The table to read, if `data` is a database.
    ledger, dataset : optional
        A ledger (file or postgresql:// URL) and the name of the data set there. Epsilon is charged before the data is
        opened, and the charge stands whatever happens afterwards; saving the release records its hash.
    nodes : path or list, optional
        A private list of the nodes of a graph, some of which may have no edge.
    insecure_seed : int, optional
        Makes the run repeatable and the release NOT PRIVATE; for tests only.
    facts : dict or path, optional
        Public facts for the statement, such as curator, contact, purpose and licence (docs/reference.md, facts).
    **parameters
        Parameters of the method (docs/reference.md).

    Returns
    -------
    Release
        Released values only. The data is closed when it is returned.

    Raises
    ------
    CantleError
        One of its subclasses in `cantle.errors`. Messages never quote a private value.

    Examples
    --------
    >>> import polars as pl
    >>> schema = {"fields": [{"name": "sex", "type": "string", "categories": ["F", "M"]}]}
    >>> people = pl.DataFrame({"sex": ["F", "M", "M", "F"] * 100})
    >>> release = publish(people, schema, epsilon=1, method="rps")
    >>> release.records.columns, release.epsilon, release.private
    (['sex'], 1.0, True)
    """
    order = preflight(
        data,
        schema,
        epsilon=epsilon,
        method=method,
        preset=preset,
        engine=engine,
        memory=memory,
        table=table,
        ledger=ledger,
        dataset=dataset,
        nodes=nodes,
        insecure_seed=insecure_seed,
        facts=facts,
        parameters=parameters,
    )
    warning = caution(order.epsilon_nano / NANO) if insecure_seed is None else None
    if warning is not None:
        warnings.warn(warning, stacklevel=2)
    return carry_out(order)


def carry_out(order: Order) -> Release:
    """Charges the ledger, opens the data, runs the method and builds the release."""
    started, ticket = now(), _charge(order)
    log = logging.getLogger("cantle")
    log.info("reading")
    with noting_the_charge(ticket):
        # The public seed is drawn before any answer, because a method may use its dice between questions.
        seed = fresh_seed() if order.insecure_seed is None else order.insecure_seed
        if isinstance(order.method, UsesDice):
            order.method.seed = seed
        form, store = open_data(order.data, order.schema, order.method, order.nodes, order.choice)
        run_results = _run_and_draw(order, store, seed)
        return _release(order, run_results, form, ticket, started, seed)


def _charge(order: Order) -> Ticket | None:
    """Charges the ledger, if there is one. All checks that need no data come before it (`preflight`)."""
    if order.account is None:
        return None
    ledger, dataset = order.account
    try:
        return ledger.charge(
            dataset,
            epsilon_nano=order.epsilon_nano,
            unit=order.accounted,
            method=order.method.name,
            parameters=order.method.parameters(),
            guarantee=order.guarantee,
            software=f"cantle {version('cantle')}",
        )
    except (KeyboardInterrupt, SystemExit) as stop:
        stop.add_note(f"{CHARGE_NOTE} {dataset!r} may stand: look with cantle ledger history")
        raise


@contextmanager
def noting_the_charge(ticket: Ticket | None) -> Iterator[None]:
    """Adds a note about the charge to whatever ends a run that was charged: an error, Ctrl-C, a signal to end."""
    try:
        yield
    except BaseException as error:
        mentions_it = isinstance(error, OutputError | LedgerError)  # `save` raises these, with their own words about it
        if ticket is not None and not mentions_it:
            error.add_note(f"{CHARGE_NOTE} {ticket.line['dataset']!r} stands: the data was opened")
        raise


def run(method: Method, store: Engine, *, epsilon_nano: int, unit: Unit, noise: Noise) -> ReceiptFields:
    """Runs the method under a curator and returns the receipt; afterwards the curator holds no records or noise."""
    with Curator(store, Budget(epsilon_nano, unit), noise) as curator:
        method.run(curator)
        return curator.seal()


def _run_and_draw(order: Order, store: Engine, seed: int) -> Made:
    """Runs the method, draws its records and measures how far they are off, all before the curator is sealed.

    Drawing is post-processing and spends nothing. If it fails, the curator is sealed too, and the charge remains.
    """
    method, dice = order.method, public_dice(seed, compiled=store.compiled)
    with Curator(store, Budget(order.epsilon_nano, order.unit), _noise(order)) as curator:
        method.run(curator)
        logging.getLogger("cantle").info("drawing records")
        results, accuracy = method.results(dice), None
        if isinstance(method, MeasuresItself):
            accuracy = method.own_accuracy.measure(curator, results, seed)
        return Made(read(Receipt, curator.seal(), "receipt"), results, accuracy)


def _noise(order: Order) -> Noise:
    return Secure() if order.insecure_seed is None else Seeded(order.insecure_seed)


def _release(order: Order, made: Made, form: Form, ticket: Ticket | None, started: str, seed: int) -> Release:
    """The release. This is post-processing: it uses only public values and the curator's answers."""
    results, receipt = made.results, made.receipt
    manifest = Manifest(
        kind=order.schema.kind,
        private=order.insecure_seed is None and not order.schema.inferred,
        guarantee=order.guarantee,
        seeded=order.insecure_seed is not None,
        epsilon=words_of(receipt.epsilon_nano),
        unit=receipt.unit.describe(),
        method=order.method.name,
        parameters=order.method.parameters(),
        schema=order.schema.to_dict(),
        schema_sha256=order.schema.hash(),
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
        author=order.method.author if isinstance(order.method, Authored) else {},
        facts=order.facts,
        notes=notes_of(order.schema, order.method.name, results, receipt.epsilon_nano / NANO, receipt.unit.max_records),
        accuracy=made.accuracy,
        form={key: value for key, value in form.items() if key != "frame"},
        created=None if order.insecure_seed is not None else started,
        ledger=None if ticket is None else read(LedgerLine, ticket.line, "ledger"),
    )
    manifest = replace(manifest, notes=(*manifest.notes, *tables.notes(manifest)))
    records = STORAGES[order.schema.kind].given_back(results.drawn, dict(form), order.schema)
    return Release(records, results.groups, results.frames, manifest, ticket)
