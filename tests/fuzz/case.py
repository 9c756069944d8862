"""One case of the fuzzer: a changed file, the code that reads it, and the outcomes that are allowed.

A case may succeed or raise one of our own errors. No canary may appear in the error, its traceback, a log line, a
warning or a released file. `attempt` runs one case and returns what is wrong with it.
"""

from __future__ import annotations

import io
import json
import logging
import shutil
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import cantle
from cantle.errors import CantleError
from tests.fuzz.mutations import TOKENS, mutate, mutate_document

WORD, NUMBER = b"CanaryQx7", b"7031931"
CANARIES = (WORD, NUMBER)
Part = TypeVar("Part")


class WhenUsed(Sequence[Part]):
    """A sequence that is made when first used, because some need a release, which takes too long for an import."""

    def __init__(self, make: Callable[[], tuple[Part, ...]]) -> None:
        self._made = cache(make)

    def __len__(self) -> int:
        return len(self._made())

    def __getitem__(self, place: Any) -> Any:
        return self._made()[place]


@dataclass(frozen=True)
class Target:
    """A file that is changed, and the function `use` that reads it, which may only raise our own errors."""

    name: str
    file: str
    seeds: Sequence[bytes]
    use: Callable[[Path, Random], None]
    tokens: Sequence[bytes] = TOKENS
    documents: Sequence[Any] = ()
    """The seeds as documents, if they are documents; their parts are changed more often than their bytes."""
    pack: Callable[[bytes], bytes] | None = None
    """How a file is packed, if it is; it is changed before packing as often as after."""

    def case(self, dice: Random) -> bytes:
        """A changed input, or sometimes a valid one."""
        if self.pack is None:
            return self._changed(dice)
        return self.pack(self._changed(dice)) if dice.randrange(2) else mutate(dice, self.pack(self.seeds[0]))

    def _changed(self, dice: Random) -> bytes:
        seed, kind = self.seeds[dice.randrange(len(self.seeds))], dice.randrange(50)
        if kind == 0:
            return seed
        if self.documents and kind < 35:
            changed = mutate_document(dice, self.documents[dice.randrange(len(self.documents))])
            return json.dumps(changed, ensure_ascii=True).encode()
        return mutate(dice, seed, self.tokens, self.seeds)


def attempt(target: Target, data: bytes, folder: Path, dice: Random) -> str | None:
    """Runs a case in an empty folder; returns what went wrong, or None."""
    path, heard = folder / target.file, io.StringIO()
    path.write_bytes(data)
    handler = logging.StreamHandler(heard)
    logger = logging.getLogger()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            target.use(path, dice)
    except CantleError as error:
        heard.write("".join(traceback.format_exception(error)) + repr(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {str(error)[:200]!r}"
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
    text = heard.getvalue().encode("utf-8", "surrogatepass")
    if any(bird in text for bird in CANARIES):
        return f"a message holds a canary: {heard.getvalue()[-300:]!r}"
    for released in folder.rglob("out/*"):
        if any(bird in released.read_bytes() for bird in CANARIES):
            return f"the released file {released.name} holds a canary"
    return None


def empty(folder: Path) -> None:
    """Removes what a case left in the folder."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def published(data: Any, schema: Any, dice: Random, folder: Path, **options: Any) -> None:
    """Publishes, and sometimes saves the release."""
    release = cantle.publish(data, schema, **({"epsilon": 2} | options))
    repr(release)
    if dice.randrange(4) == 0:
        release.save(folder / "out")
