"""A release: records anyone may have, the groups behind them, a receipt that adds up. Holds released values only."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rfc8785

from cantle.errors import OutputError, ParameterError, VerifyError
from cantle.statement import datapackage, statement

if TYPE_CHECKING:
    import polars as pl

MARK = "NOT-PRIVATE."
"""Before the name of every file of a release whose noise came from a known seed."""


@dataclass(frozen=True, eq=False)
class Release:
    """Records, groups, other frames by name (tree, marginals), and the manifest that becomes release.json."""

    records: Any
    groups: pl.DataFrame
    frames: dict[str, pl.DataFrame]
    manifest: dict[str, Any]

    def __repr__(self) -> str:
        m = self.manifest
        return f"Release({m['method']}, epsilon={m['epsilon']}, {m['summary']['records']} records, {m['guarantee']})"

    @property
    def private(self) -> bool:
        """Whether the promise holds: noise from the operating system and a schema not read off the data."""
        return bool(self.manifest["private"])

    # ---- saving -------------------------------------------------------------------------------------------

    def save(self, folder: str | os.PathLike[str], *, data: str = "csv") -> Path:
        """Writes the release as a new folder: everything aside first, then one rename."""
        if data not in ("csv", "parquet"):
            raise ParameterError(f"data must be csv or parquet, got {data!r}")
        target = check_free(folder)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        except OSError as error:
            raise OutputError(f"cannot write in {target.parent}: {error.strerror}; choose another -o folder") from None
        try:
            self._write(aside, data)
            aside.chmod(0o755)
            os.rename(aside, target)
        except OSError as error:
            raise OutputError(f"cannot write {target}: {error.strerror}; nothing was left behind") from None
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return target

    def _write(self, folder: Path, data: str) -> None:
        prefix = "" if self.manifest["seeded"] is False else MARK
        names = {kind: prefix + name for kind, name in FILES.items()} | {"data": f"{prefix}data.{data}"}
        records, meta = as_polars(self.records), {"cantle": self.manifest["guarantee"]}
        if data == "csv":
            records.write_csv(folder / names["data"])
        else:
            records.write_parquet(folder / names["data"], metadata=meta)
        for name, frame in {"groups": self.groups, **self.frames}.items():
            frame.write_parquet(folder / names[name], metadata=meta)
        (folder / names["statement"]).write_text(statement(self.manifest), encoding="utf-8")
        package = datapackage(self.manifest, names["data"])
        (folder / names["datapackage"]).write_bytes(rfc8785.dumps(package))
        manifest = {key: value for key, value in self.manifest.items() if key not in ("files", "sha256")}
        manifest["files"] = {path.name: sha256_of(path) for path in sorted(folder.iterdir())}
        manifest["sha256"] = sha256(rfc8785.dumps(manifest))
        (folder / names["manifest"]).write_bytes(rfc8785.dumps(manifest))

    # ---- loading ------------------------------------------------------------------------------------------

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> Release:
        """Reads a saved release; `verify` says whether it adds up."""
        from cantle.stored import load

        return load(Path(folder))

    def verify(self) -> None:
        """Re-adds every path of the receipt and recounts the records; raises VerifyError with all that is off."""
        from cantle.verify import problems

        found = problems(self)
        if found:
            raise VerifyError("; ".join(found))

    def generalised(self) -> pl.DataFrame:
        """The generalised records: a label an attribute, the target, and how many (diffgen)."""
        from cantle.stored import grid_and_domain

        domain, grid = grid_and_domain(self)
        from cantle.cells import generalised

        return generalised(domain, grid, self.groups)

    def generalise(self, data: Any) -> pl.DataFrame:
        """Another table with the released cuts (diffgen). NOT PRIVATE: derived from `data` without noise."""
        from cantle.stored import generalise

        return generalise(self, data)

    def sample(self, n: int, *, seed: int | None = None) -> Any:
        """More synthetic records, from the release alone; costs nothing."""
        from cantle.stored import sample

        return sample(self, n, seed)


FILES = {
    "groups": "groups.parquet",
    "tree": "tree.parquet",
    "marginals": "marginals.parquet",
    "statement": "statement.md",
    "datapackage": "datapackage.json",
    "manifest": "release.json",
}


def as_polars(records: Any) -> pl.DataFrame:
    """The records as a polars frame, whatever kind they were given back in."""
    import narwhals as nw

    frame: pl.DataFrame = nw.from_native(records, eager_only=True).to_polars()
    return frame


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def sha256_of(path: Path) -> str:
    """The hash of a file, read piece by piece."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_free(folder: str | os.PathLike[str]) -> Path:
    """The folder's path, if nothing is there yet."""
    target = Path(folder)
    if target.exists() or target.is_symlink():
        raise OutputError(f"{target} exists already; a release is never overwritten: choose another -o folder")
    return target
