"""A release: synthetic records, the groups they were drawn from, and the receipt. It holds released values only."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, overload

import polars as pl

from cantle.drawing.records import as_frame
from cantle.errors import CantleError, LedgerError, OutputError, VerifyError, raise_alone
from cantle.methods.own_error.accuracy import Accuracy
from cantle.release.kinds import texts_of
from cantle.release.manifest import FILES, Manifest, mark_of, read_manifest
from cantle.release.metadata import datapackage
from cantle.release.registry import registry
from cantle.release.schemas import schema_of
from cantle.release.statement import statement
from cantle.release.storage import ENDINGS, choose, files_of, linked_tables, read, write
from cantle.schema import canonical_json
from cantle.schema.taxonomy import table
from cantle.trusted.core.budget import NANO

if TYPE_CHECKING:
    from cantle.data.frames import NativeFrame
    from cantle.drawing.records import Drawn
    from cantle.release.answers.asking import Asker
    from cantle.release.answers.estimates import Estimate
    from cantle.release.answers.regression import Regression
    from cantle.schema import Schema
    from cantle.trusted.ledger import Ticket


@dataclass(frozen=True, eq=False)
class Release:
    """What `publish` returns: synthetic records, the noisy counts behind them, and the privacy promise.

    Everything in a release may be published. `save` writes it as a folder, `Release.load` reads it back.

    Attributes
    ----------
    records : data frame
        The released records, in the kind of frame that was given.
    groups : polars.DataFrame
        Regions (or sets of items, or numbers of degrees) with their noisy counts and the rate of their noise.
    frames : dict of str to polars.DataFrame
        Further tables by name, such as the tree of regions.
    manifest : Manifest
        The content of release.json: schema, parameters, every charge, versions and hashes.

    Examples
    --------
    >>> import cantle, polars as pl
    >>> schema = {"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}]}
    >>> release = cantle.publish(pl.DataFrame({"age": [31, 42, 42, 58] * 50}), schema, epsilon=2, insecure_seed=1)
    >>> release.epsilon, release.private, release.schema.fields[0].name
    (2.0, False, 'age')
    >>> release.statement.splitlines()[0]
    '# Statement of privacy'
    >>> release.sample(3, seed=1).shape
    (3, 1)
    """

    drawn: Drawn | NativeFrame
    """The records as codes (cantle.drawing.records.Drawn) or as a frame."""
    groups: pl.DataFrame
    frames: dict[str, pl.DataFrame]
    manifest: Manifest
    ticket: Ticket | None = field(default=None, repr=False)
    """The charge in a ledger that paid for this release. It is not pickled, because the ledger's URL may be secret."""
    folder: Path | None = field(default=None, repr=False)
    """The folder that the release was loaded from."""

    def __getstate__(self) -> dict[str, object]:
        state = vars(self) | {"ticket": None, "folder": None}
        for cached in ("records", "schema", "_asker", "_weighing", "_opened"):  # computed again when needed
            state.pop(cached, None)
        return state

    def __repr__(self) -> str:
        m = self.manifest
        return f"Release({m.method}, epsilon={m.epsilon}, {m.summary['records']} records, {m.guarantee})"

    @cached_property
    def records(self) -> NativeFrame:
        """The released records: a frame of the kind that was given, or a polars frame."""
        return as_frame(self.drawn)

    @property
    def tables(self) -> dict[str, NativeFrame]:
        """Of a release of families, both linked tables by the names of their resources, with new keys; of others, the
        records as table `data`."""
        if len(files_of(self.manifest)) > 1:
            return linked_tables(self)
        return {"data": self.records}

    @property
    def private(self) -> bool:
        """Whether the promise holds: noise from the operating system, and a schema that was not inferred."""
        return self.manifest.private

    @property
    def epsilon(self) -> float:
        """The whole privacy loss. `manifest.receipt.epsilon_nano` has it exactly, in billionths."""
        return self.manifest.receipt.epsilon_nano / NANO

    @property
    def accuracy(self) -> Accuracy | None:
        """How far the released records are off, measured privately; None if that was switched off.

        It describes `records` only, not the records that `sample` draws.
        """
        stated = self.manifest
        if stated.accuracy is None:
            return None
        return replace(stated.accuracy, in_words=texts_of(stated).accuracy[0])

    @cached_property
    def schema(self) -> Schema:
        """The public description of the data."""
        return schema_of(self.manifest)

    @property
    def statement(self) -> str:
        """The text of statement.md: whom the release protects, how strongly, and what it does not protect."""
        return statement(self.manifest)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about where the release may be too noisy, or the data may not fit the schema. Often empty."""
        return self.manifest.notes

    @property
    def summary(self) -> dict[str, int]:
        """A few numbers: how many records there are, and how many regions, tables or sets they were drawn from."""
        return dict(self.manifest.summary)

    def report(self) -> str:
        """The report of the release: one HTML page, made from the release alone, which a notebook shows.

        To keep it, write the text to a file, as `cantle report` does. This needs the extra `report`.
        """
        from cantle.release.report.page import Page, render

        return Page(render(self))

    def _repr_html_(self) -> str:
        from cantle.release.show import overview

        return table("cantle release", overview(self))

    # ---- saving -------------------------------------------------------------------------------------------

    def save(self, folder: str | os.PathLike[str], *, data: str | None = None) -> Path:
        """Writes the release as a new folder. All files go into a temporary folder and to the disk first, then it is
        renamed.

        Once the folder is in place, the ledger that was charged (if any) records the hash of release.json.
        """
        data = choose(self.manifest, data)
        target = check_free(folder)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        except OSError as error:
            raise_alone(OutputError(f"cannot write in {target.parent}: {error.strerror}; choose another -o folder"))

        try:
            own_hash = self._write(aside, data)
            aside.chmod(0o755)
            _to_disk(*aside.iterdir(), aside)
            os.rename(aside, target)
            with suppress(OSError):  # the release is already in place
                _to_disk(target.parent)
        except (OSError, pl.exceptions.PolarsError) as error:
            why = getattr(error, "strerror", None) or "the disk refused, perhaps because it is full"
            paid = "" if self.ticket is None else ", but the charge stands"
            raise_alone(OutputError(f"cannot write {target}: {why}; nothing was left behind{paid}"))
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        try:
            if self.ticket is not None:
                self.ticket.record(own_hash)
        except LedgerError as error:
            raise_alone(LedgerError(f"{target} is written and paid for, but its hash is not recorded: {error}"))
        return target

    def _write(self, folder: Path, data: str) -> str:
        """Writes all files; returns the hash of release.json, which identifies the release."""
        prefix = mark_of(self.manifest)
        names = {kind: prefix + name for kind, name in FILES.items()}
        meta, data_file = {"cantle": self.manifest.guarantee}, f"{prefix}data.{ENDINGS[data]}"
        known = {data_file: write(self.drawn, folder / data_file, data, self.manifest)}
        for name, frame in {"groups": self.groups, **self.frames}.items():
            frame.write_parquet(folder / names[name], metadata=meta, statistics=False, compression_level=1)
        (folder / names["statement"]).write_text(statement(self.manifest), encoding="utf-8", newline="\n")
        (folder / names["registry"]).write_text(registry(self.manifest), encoding="utf-8", newline="\n")
        stems = files_of(self.manifest)
        package = datapackage(self.manifest, [f"{prefix}{stem}.{ENDINGS[data]}" for stem in stems])
        (folder / names["datapackage"]).write_bytes(canonical_json.dumps(package))
        files = {p.name: known.get(p.name) or sha256_of(p) for p in sorted(folder.iterdir())}
        stated = replace(self.manifest, files=files, sha256="").to_dict()
        parts = {key: canonical_json.dumps(value) for key, value in stated.items()}
        own_hash = sha256(canonical_json.join(parts))
        (folder / names["manifest"]).write_bytes(
            canonical_json.join(parts | {"sha256": canonical_json.dumps(own_hash)})
        )
        return own_hash

    # ---- loading ------------------------------------------------------------------------------------------

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> Release:
        """Reads a saved release. It does not check the files: call `verify` for that."""
        path = Path(folder)
        manifest = read_manifest(path)
        prefix = mark_of(manifest)
        try:
            schema_of(manifest)  # first, because files are read by it
            paths = {name: path / (prefix + FILES[name]) for name in ("tree", "marginals", "tables", "sizes")}
            frames = {name: pl.read_parquet(file) for name, file in paths.items() if file.exists()}
            groups = pl.read_parquet(path / (prefix + FILES["groups"]))
            return Release(read(path, prefix, manifest), groups, frames, manifest, folder=path)
        except (OSError, StopIteration, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise_alone(VerifyError(f"{path} has a missing or damaged file ({type(error).__name__})"))
        except CantleError:
            raise
        except Exception as error:
            raise_alone(VerifyError(f"{path}: release.json is not of the expected form ({type(error).__name__})"))

    def verify(self) -> None:
        """Adds up every path of the receipt, recounts the records, and checks the files that the release was loaded
        from.

        Raises VerifyError with a list of all problems.
        """
        from cantle.release.verify import file_problems, problems, report_problems

        found = (file_problems(self.folder) if self.folder is not None else []) + problems(self)
        if self.folder is not None and not found:
            found = report_problems(self.folder, self, [])
        if found:
            raise VerifyError("; ".join(found))

    # ---- questions ----------------------------------------------------------------------------------------

    @cached_property
    def _asker(self) -> Asker:
        from cantle.release.answers.askers import asker_of

        return asker_of(self)

    @cached_property
    def _weighing(self) -> Asker:
        return self._asker.weighing()

    @overload
    def count(self, question: str = "", *, confidence: float = 0.95, weighted: bool = False) -> Estimate: ...
    @overload
    def count(
        self, question: str = "", *, by: str | Sequence[str], confidence: float = 0.95, weighted: bool = False
    ) -> pl.DataFrame: ...
    def count(
        self, question: str = "", *, by: str | Sequence[str] = (), confidence: float = 0.95, weighted: bool = False
    ) -> Estimate | pl.DataFrame:
        """How many records a question holds for, with an interval. It reads only the release, so it costs no budget.

        Parameters
        ----------
        question : str
            For example "age >= 65 and diabetes == 'yes'" (docs/reference.md, questions). Empty means all records.
        by : str or list of str
            Columns of a table, or of linked tables, to get one count per combination of their values. Of a column of
            numbers with more than 64 values, ranges are counted.
        confidence : float
            The share of such intervals that contain the true number.
        weighted : bool
            Whether each record counts for its weight, in the column with `role: weight`.

        Returns
        -------
        Estimate, or with `by` a polars.DataFrame
            value, low, high, confidence, and what the interval covers. The frame has the columns of `by`, then value,
            low, high, covers, in one row per group.

        Examples
        --------
        >>> import cantle, polars as pl
        >>> schema = {"fields": [{"name": "sex", "type": "string", "categories": ["F", "M"]}]}
        >>> people = pl.DataFrame({"sex": ["F", "M", "M"] * 500})
        >>> release = cantle.publish(people, schema, epsilon=5, insecure_seed=1)
        >>> estimate = release.count("sex == 'M'")
        >>> estimate.low <= 1000 <= estimate.high
        True
        >>> release.count(by="sex").columns
        ['sex', 'value', 'low', 'high', 'covers']
        """
        return self._answer(None, question, by, confidence, weighted)

    @overload
    def mean(
        self, column: str, question: str = "", *, confidence: float = 0.95, weighted: bool = False
    ) -> Estimate: ...
    @overload
    def mean(
        self,
        column: str,
        question: str = "",
        *,
        by: str | Sequence[str],
        confidence: float = 0.95,
        weighted: bool = False,
    ) -> pl.DataFrame: ...
    def mean(
        self,
        column: str,
        question: str = "",
        *,
        by: str | Sequence[str] = (),
        confidence: float = 0.95,
        weighted: bool = False,
    ) -> Estimate | pl.DataFrame:
        """The mean of a column of numbers over the records that a question holds for; records without a value are
        left out.

        Parameters
        ----------
        column : str
            A column of numbers.
        question, by, confidence, weighted
            As in `count`.

        Returns
        -------
        Estimate, or with `by` a polars.DataFrame
            The value of an estimate is NaN if no released record has a value.
        """
        return self._answer(column, question, by, confidence, weighted)

    def _answer(
        self, column: str | None, question: str, by: str | Sequence[str], confidence: float, weighted: bool
    ) -> Estimate | pl.DataFrame:
        """A count, or the mean of a column, perhaps by other columns."""
        asker = self._weighing if weighted else self._asker
        asked = asker.parse(question)
        if by:
            return asker.table([by] if isinstance(by, str) else list(by), asked, column, confidence)
        return asker.count(asked, confidence) if column is None else asker.mean(column, asked, confidence)

    def regress(self, formula: str, *, confidence: float = 0.95) -> Regression:
        """The coefficients of a linear regression on the records of a table, with intervals that include the noise.

        Parameters
        ----------
        formula : str
            An outcome and columns, such as "income ~ age + sex". The outcome is a number, a date, or one of two
            categories. Records without one of the values are left out.
        confidence : float
            The share of such intervals that contain the coefficient that the private records have.

        Examples
        --------
        >>> import cantle, polars as pl
        >>> bounds = {"minimum": 0, "maximum": 99}
        >>> fields = [{"name": name, "type": "integer", "constraints": bounds} for name in ("x", "y")]
        >>> numbers = pl.DataFrame({"x": [i % 50 for i in range(5000)], "y": [i % 50 + i % 20 for i in range(5000)]})
        >>> schema = {"fields": [fields[0], fields[1] | {"role": "target"}]}
        >>> release = cantle.publish(numbers, schema, epsilon=5, insecure_seed=1)
        >>> slope = release.regress("y ~ x").coefficients["x"]
        >>> slope.low < 1 < slope.high
        True
        """
        return self._asker.regress(formula, confidence)

    def itemsets(self, min_support: float, *, longest: int | None = None, confidence: float = 0.95) -> pl.DataFrame:
        """The frequent itemsets of a release of sets: groups of items that many of the released sets hold.

        Parameters
        ----------
        min_support : float
            The least share of the sets (below 1), or their number (from 1 on).
        longest : int, optional
            The most items of a group.
        confidence : float
            As in `count`.

        Returns
        -------
        polars.DataFrame
            items, value, low, high, covers; the most frequent first. The intervals are those of `count`.

        Examples
        --------
        >>> import cantle
        >>> release = cantle.publish([["a"], ["a", "b"]] * 500, {"kind": "sets", "items": ["a", "b", "c"]},
        ...                          epsilon=5, insecure_seed=1)
        >>> release.itemsets(0.2)["items"].to_list()
        [['a'], ['b'], ['a', 'b']]
        """
        return self._asker.itemsets(min_support, longest, confidence)

    # ---- further records ----------------------------------------------------------------------------------

    def generalised(self) -> pl.DataFrame:
        """The records of a release of cells in generalised form: labels, the target, and the number of such records."""
        from cantle.release.structures.cells import generalised

        return generalised(self)

    def generalise(self, data: object, *, target: bool = True) -> NativeFrame:
        """Another table, generalised with the released cuts of cells. NOT PRIVATE: it is made from `data` without
        noise.

        Returns a frame of the kind that was given, one row per record. With `target=False` the target is not read.
        """
        from cantle.release.structures.cells import generalise

        return generalise(self, data, target=target)

    def sample(self, n: int, *, seed: int | None = None, where: str | None = None) -> NativeFrame:
        """More synthetic records, drawn from the release alone, in the same kind of frame; this costs no budget.

        `where` is a question about a table, such as "age >= 65": all n records satisfy it.
        """
        from cantle.release.sampling import sample

        return sample(self, n, seed, where)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_free(folder: str | os.PathLike[str]) -> Path:
    """The path of a folder that does not exist yet; OutputError if it does."""
    target = Path(folder)
    if "\0" in str(target):
        raise OutputError("a folder cannot have a null character in its name: choose another -o folder")
    if os.path.lexists(target):
        raise OutputError(f"{target} exists already; a release is never overwritten: choose another -o folder")
    return target


def check_writable(folder: Path) -> None:
    """Refuses a folder that could not be made, before any budget is spent."""
    there = next(parent for parent in folder.absolute().parents if os.path.exists(parent))
    try:
        os.rmdir(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=there))
    except OSError as error:
        raise_alone(OutputError(f"cannot write in {there}: {error.strerror}; choose another -o folder"))


def _to_disk(*paths: Path) -> None:
    """Waits until all files and folder entries are on the disk, so that a power cut leaves all of them or none."""
    for path in paths:
        if path.is_dir() and os.name == "nt":
            continue  # this system cannot open folders
        handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
