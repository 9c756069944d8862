"""Reading saved releases, and drawing more records from them. Released values only."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from cantle import kernel_choice
from cantle.data.tables import read_columns
from cantle.drawing.counts import Dice, fresh_seed, public_dice
from cantle.drawing.group_frames import leaves_from
from cantle.drawing.records import give_back, kind_of_frame
from cantle.errors import CantleError, ParameterError, VerifyError, raise_alone
from cantle.methods.diffgen import column_shapes
from cantle.methods.diffgen import results as from_cells
from cantle.methods.diffgen.results import grid_of
from cantle.methods.rps.one_ways import tables_from
from cantle.methods.rps.results import draw_generalised, drawn_records, masses, possible
from cantle.release import FILES, MARK, Release
from cantle.release.data_file import as_polars, read
from cantle.release.kinds import KINDS
from cantle.release.manifest import FORMAT, Document, Manifest
from cantle.schema import Schema
from cantle.schema.domain import Domain
from cantle.trusted.core.arrays import Bools
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.grid import Grid

if TYPE_CHECKING:
    import polars as pl

    from cantle.data.frames import NativeFrame
    from cantle.schema.canonical_json import JSON
    from cantle.schema.graph import GraphSchema
    from cantle.schema.items import Universe
    from cantle.schema.sets import SetSchema
    from cantle.schema.table import TableSchema


Kind = TypeVar("Kind", bound=Schema)
Sampler = Callable[[Release, int, Dice], "pl.DataFrame"]
"""How a method draws records from its release."""


def load(folder: Path) -> Release:
    """The release in a folder; files are checked by `verify`, not here."""
    import polars as pl

    prefix = MARK if os.path.exists(folder / (MARK + FILES["manifest"])) else ""
    manifest = read_manifest(folder)
    try:
        schema = schema_of(manifest)
        paths = {name: folder / (prefix + FILES[name]) for name in ("tree", "marginals", "tables", "sizes")}
        frames = {name: pl.read_parquet(path) for name, path in paths.items() if path.exists()}
        groups = pl.read_parquet(folder / (prefix + FILES["groups"]))
        return Release(read(folder, prefix, manifest, schema), groups, frames, manifest, folder=folder)
    except (OSError, StopIteration, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise_alone(VerifyError(f"{folder} has a missing or damaged file ({type(error).__name__})"))
    except CantleError:
        raise
    except Exception as error:
        raise_alone(VerifyError(f"{folder}: release.json is not of the expected form ({type(error).__name__})"))


def read_manifest(folder: Path) -> Manifest:
    """release.json of a folder."""
    return Manifest.from_dict(read_document(folder))


def read_document(folder: Path) -> dict[str, JSON]:
    """release.json of a folder, as parsed JSON."""
    for prefix in ("", MARK):
        path = folder / (prefix + FILES["manifest"])
        if os.path.exists(path):
            try:
                document = json.loads(path.read_bytes())
            except (OSError, ValueError, RecursionError):
                raise_alone(VerifyError(f"{path} is not readable JSON"))
            if isinstance(document, dict) and document.get("format") == FORMAT:
                return document
            raise VerifyError(f"{path} is not a release of this format ({FORMAT})")
    if not os.path.exists(folder):
        raise VerifyError(f"there is no folder {folder}; check the path")
    what = "holds no release: there is no" if os.path.isdir(folder) else "is a file; give the release folder, which has"
    raise VerifyError(f"{folder} {what} {FILES['manifest']}")


def schema_of(manifest: Manifest) -> Schema:
    """The schema of a release. Hierarchies must be inline: with a path, a release could make cantle open any file."""
    fields = manifest.schema.get("fields")
    inline = manifest.schema.get("items"), manifest.schema.get("nodes")
    if isinstance(manifest.schema.get("hierarchy"), str):
        raise VerifyError("a hierarchy in release.json is a path; a release holds it inline")
    if any(isinstance(one, str) for one in inline):
        raise VerifyError("items or nodes in release.json are a path; a release holds them inline")
    if isinstance(fields, list) and any(isinstance(field.get("hierarchy"), str) for field in fields):
        raise VerifyError("a hierarchy in release.json is a path; a release holds it inline")
    return Schema.from_dict({**KINDS[manifest.kind].UNSAID, **manifest.schema})


def table_schema_of(manifest: Manifest) -> TableSchema:
    """The schema of a release of a table."""
    from cantle.schema.table import TableSchema

    return _of_kind(schema_of(manifest), TableSchema)


def set_schema_of(manifest: Manifest) -> SetSchema:
    """The schema of a release of sets."""
    from cantle.schema.sets import SetSchema

    return _of_kind(schema_of(manifest), SetSchema)


def universe_of(manifest: Manifest) -> Universe:
    """The declared items of a release of sets."""
    return set_schema_of(manifest).universe


def graph_schema_of(manifest: Manifest) -> GraphSchema:
    """The schema of a release of a graph's degrees."""
    from cantle.schema.graph import GraphSchema

    return _of_kind(schema_of(manifest), GraphSchema)


def _of_kind(schema: Schema, kind: type[Kind]) -> Kind:
    if not isinstance(schema, kind):
        raise VerifyError(f"release.json has a method that is not for data of kind {schema.kind}")
    return schema


def domain_of(manifest: Manifest) -> Domain:
    """The domain that the run used, rebuilt from public values."""
    return DOMAINS[manifest.method](table_schema_of(manifest).domain(), manifest.parameters)


def _binned(domain: Domain, parameters: Document) -> Domain:
    domain = domain.coarsen(parameters["bins"])
    return domain.with_orders(parameters["order_seed"]) if parameters["order"] == "random" else domain


DOMAINS: dict[str, Callable[[Domain, Document], Domain]] = {
    "mosaic": lambda domain, _: domain.with_target_as_column(),
    "rps": _binned,
    "diffgen": lambda domain, _: domain,
}
"""For each method for tables, how its domain follows from the schema's domain and the parameters."""


def grid_and_domain(release: Release) -> tuple[Domain, Grid]:
    """The domain and the released cuts of a diffgen release."""
    if release.manifest.method != "diffgen":
        raise ParameterError(
            "only a diffgen release has cuts to generalise with; "
            f"this one is by {release.manifest.method}: publish with method diffgen"
        )
    domain = domain_of(release.manifest)
    return domain, grid_of(domain, release.manifest.structure["cuts"])


def generalise(release: Release, data: object, *, target: bool, numbered: bool = False) -> NativeFrame:
    """Another table, generalised with the released cuts, in the kind of frame that was given; persons are ignored."""
    domain, grid = grid_and_domain(release)
    schema = table_schema_of(release.manifest)
    if domain.relations is not None:
        raise ParameterError("rules between columns made this release count other columns than the table has")
    fields = tuple(field for field in schema.fields if target or field.role != "target")
    raw = read_columns(data, replace(schema, fields=fields, rules=(), person=None))
    return give_back(from_cells.generalise(domain, grid, raw.frame, numbered=numbered), raw.kind)


_MOST_TRIED = 10_000_000
"""Records that are drawn at most to find those that a question asks for."""


def sample(release: Release, n: int, seed: int | None, where: str | None = None) -> NativeFrame:
    """n records, drawn from the released counts and tables; for methods without such a model, from the released
    records. With `where`, a question about a table, only records for which it holds.

    The frame has the kind of the release: that of the data if it was just made, polars if it was loaded.
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= 10**9:
        raise ParameterError(f"n must be a whole number from 0 to 1e9, got {n!r}")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise ParameterError(f"seed must be a whole number of at least 0, got {seed!r}")
    generator = public_dice(fresh_seed() if seed is None else seed, compiled=kernel_choice.worth_loading(n))
    draw = SAMPLERS.get(release.manifest.method, _redraw)
    drawn = draw(release, n, generator) if not where else _drawn_where(release, where, n, draw, generator)
    kind = kind_of_frame(release.drawn)
    return drawn if kind == "polars" else KINDS[release.manifest.kind].in_frame(drawn, kind, release.manifest)


def _drawn_where(release: Release, where: str, n: int, draw: Sampler, generator: Dice) -> pl.DataFrame:
    """Draws records until n of them satisfy a question; as many at a time as the released records suggest."""
    import polars as pl

    from cantle.release.asking import Asker

    if not KINDS[release.schema.kind].attributes(release.schema):
        raise ParameterError("only records of a table can be chosen by a question; leave `where` out")
    asker = Asker(release)
    question = asker.parse(where)
    share = float(asker.inside(question).mean()) if asker.records else 0.0
    if not share:
        raise ParameterError("no released record satisfies the question; ask for a larger group")
    found, tried, missing = [draw(release, 0, generator)], 0, n
    while missing > 0 and tried < _MOST_TRIED:
        many = min(_MOST_TRIED - tried, int(1.1 * missing / share) + 100)
        batch = draw(release, many, generator)
        places = np.flatnonzero(asker.chosen(question, batch))
        kept = generator.permutation(places)[:missing]  # whatever the order of a batch, any of its records may be kept
        found.append(batch[kept])
        tried, missing = tried + many, missing - len(kept)
    if missing > 0:
        got = f"{n - missing:,} of {tried:,} drawn records satisfy the question"
        raise ParameterError(f"{got}; ask for fewer records, or for a larger group")
    return pl.concat(found)


def _from_cells(release: Release, n: int, generator: Dice) -> pl.DataFrame:
    """Records in proportion to the released cells of diffgen."""
    domain, grid = grid_and_domain(release)
    listed = from_cells.listed_cells(domain, release.groups)
    may = from_cells.possible(domain, grid, listed)
    count = _scaled(release.groups["count"].to_numpy(), may, n, generator)
    stated = release.manifest.structure.get("tables", {})
    tables = column_shapes.tables_from(domain, stated, release.frames.get("marginals"))
    released = int(release.groups["count"].sum())
    return from_cells.draw_from_cells(domain, grid, listed, count, tables, generator, released=released).frame()


def _from_tree(release: Release, n: int, generator: Dice) -> pl.DataFrame:
    """Records in proportion to the released leaves of rps."""
    domain = domain_of(release.manifest)
    leaves = leaves_from(domain, release.groups)
    may, shape = possible(domain, leaves), leaves.count.shape
    scaled = replace(leaves, count=_scaled(leaves.count.reshape(-1), may.reshape(-1), n, generator).reshape(shape))
    values = release.manifest.parameters["values"]
    if values == "set":
        return draw_generalised(domain, scaled, generator)
    within = masses(
        domain, leaves, values, tables_from(domain, release.frames.get("marginals")), compiled=generator.compiled
    )
    return drawn_records(domain, scaled, values, within, generator).frame()


def _from_answers(release: Release, n: int, generator: Dice) -> pl.DataFrame:
    """Records drawn anew from the noisy answers of baskets."""
    from cantle.drawing.set_frames import give_back_sets
    from cantle.release.baskets import sample_baskets
    from cantle.release.sets import form_of

    return give_back_sets(sample_baskets(release, n, generator), form_of(release.manifest))


def _from_noisy_tables(release: Release, n: int, generator: Dice) -> pl.DataFrame:
    """Records drawn anew from the noisy tables of mosaic."""
    from cantle.release.mosaic import sample_mosaic

    return sample_mosaic(release, n, generator)


def _redraw(release: Release, n: int, generator: Dice) -> pl.DataFrame:
    """n records, sets or degrees drawn from the released ones, with replacement."""
    frame, manifest = as_polars(release.records, release.manifest), release.manifest
    return KINDS[manifest.kind].redraw(frame, n, generator, manifest)


SAMPLERS: dict[str, Sampler] = {
    "mosaic": _from_noisy_tables,
    "rps": _from_tree,
    "diffgen": _from_cells,
    "baskets": _from_answers,
}
"""Methods that can draw more records from their released counts; for others, released records are drawn again."""


def _scaled(count: Ints, may: Bools, n: int, generator: Dice) -> Ints:
    """Counts that add up to n, each on average n times its share. If all counts are 0, the cells that `may` hold
    records have equal shares.

    This is systematic sampling: the shares are put side by side on a line, on which n evenly spaced ticks start at a
    random point. Every result differs from n times its share by less than one; if n is the sum of the counts, they are
    returned unchanged.
    """
    weight = count.astype(float) if count.sum() else may.astype(float)
    if not weight.any():
        return np.zeros(len(count), dtype=np.int64)
    below = np.floor(np.append(0.0, np.cumsum(weight)) * (n / weight.sum()) + generator.random())
    below[0], below[-1] = 0, n
    return np.diff(np.minimum(below, n)).astype(np.int64)
