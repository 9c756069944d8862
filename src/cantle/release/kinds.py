"""What is different between releases of tables, of sets and of graphs: some words, and two functions.

Each kind of data has a module beside this one, which states them as `KIND`. How records are stored is in `storage.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from cantle.release.manifest import Manifest

if TYPE_CHECKING:
    from cantle.release import Release
    from cantle.release.words import Uses
    from cantle.schema.canonical_json import JSON

NOT_MEASURED = "the error of the released records was not measured: the interval covers the noise in the counts they"
NOT_MEASURED += " were made from, and no more"

DRAWN = "counts are made consistent and whole, and records are drawn from them; the seed of it is in release.json"


@dataclass(frozen=True)
class Texts:
    """What a manifest says about records of one kind."""

    outcome: str
    """The sentences of the statement that say what was released."""
    made: str
    """How records follow from the noisy counts, as part of a sentence."""
    domain: str
    """All data sets that the schema allows, for the registry."""
    stored: Mapping[str, Mapping[str, JSON]]
    """The schema of the data file in datapackage.json, by the ending of its name."""
    accuracy: tuple[str, ...] = ()
    """How accurate the release is, the most important sentence first; none if the error is not measured."""
    level: float | None = None
    """The one figure of that sentence that stands for all, from 0 to 1."""
    resources: Mapping[str, Mapping[str, JSON]] = field(default_factory=dict)
    """The schemas of the data files by their names, if there are several."""


@dataclass(frozen=True, kw_only=True)
class ReleasedKind:
    """One kind of data. `schema` is of the class for this kind."""

    title: str
    """What is released, for the title of the report."""
    size: str
    """The words below the number of records in the report."""
    record: str
    """The unit of the promise where the receipt says `record`."""
    records: str
    """The noun after the number of records in an overview."""
    counted: str
    """What a count counts: records, sets or nodes."""
    part: str
    """What a question names, in the singular: a column, an item or a degree."""
    how: str
    """How {n} records were made, for the registry."""
    product: str = "Synthetic data"
    """The type of data product in the registry."""
    bare: str = "Synthetic data"
    """The product in a word, for releases that promise nothing."""
    noise_note: str = NOT_MEASURED
    """What an interval covers if the error of the released records was not measured."""
    one_number: bool = False
    """Whether one number about a release's own error is measured where three are too many."""
    uses: Callable[[Release], Uses]
    """What a release is good for, and what it is not good for."""
    texts: Callable[[Manifest], Texts]


def worded(name: str, uses: Callable[[Release], Uses], texts: Callable[[Manifest], Texts]) -> ReleasedKind:
    """A kind of data with its words in kinds.yaml."""
    words = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))[name]
    return ReleasedKind(**words, uses=uses, texts=texts)


KINDS = {"table": "tables", "sets": "sets", "sequences": "sequences", "graph": "graphs", "families": "families"}
"""The modules of the kinds of data."""


def kind_of(name: str) -> ReleasedKind:
    """A kind of data by its name in schemas."""
    kind: ReleasedKind = import_module(f"cantle.release.{KINDS[name]}").KIND
    return kind


def texts_of(manifest: Manifest) -> Texts:
    """What the manifest says about the records."""
    return kind_of(manifest.kind).texts(manifest)
