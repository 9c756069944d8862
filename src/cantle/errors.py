"""The exception tree. Every message names the thing, the rule and the fix, and contains public values only.

CantleError            the command line exits with 1, or with the number in brackets
├── ParameterError     a keyword, epsilon, method or preset is wrong (the command line exits with 2)
├── SchemaError        the public schema is wrong (3)
├── DataError          the file as a whole is unusable (4); a fixed message, never a line or a value
├── VerifyError        a release is damaged, or does not add up (5)
├── BudgetExceeded     a path would spend more than epsilon
├── LedgerError        the ledger refuses a charge, or cannot be read or written
│   └── CapExceeded    a data set would spend more than its cap
├── Sealed             the curator was asked after it was sealed
├── EngineError        an engine cannot start or continue: no Java, no server, no room on the disk
├── OutputError        the release folder exists or cannot be written
└── MissingExtra       an optional dependency is not installed
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import ModuleType, TracebackType
from typing import NamedTuple, NoReturn

CHARGE_NOTE = "the charge to data set"
"""Start of the note that is added to an exception raised after a ledger was charged."""


class CantleError(Exception):
    """Base of all errors raised on purpose."""

    exit_code = 1
    """What a command that ends in this error returns to the shell."""


Place = tuple[str | int, ...]
"""The keys and positions that lead to a value in a schema, such as ("fields", 3, "type")."""


class Problem(NamedTuple):
    """One thing that is wrong with a schema, and where."""

    text: str
    places: tuple[Place, ...] = ()


class SchemaError(CantleError):
    """The public schema is wrong. `problems` lists everything that is wrong with it, and the message contains it
    all."""

    exit_code = 3

    def __init__(self, message: str, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems or (Problem(message),)


class DataError(CantleError):
    """The data file or frame as a whole is unusable; a single record never raises it (docs/privacy.md, cleaning)."""

    exit_code = 4


class ParameterError(CantleError):
    """An argument is wrong."""

    exit_code = 2


class BudgetExceeded(CantleError):
    """A path would spend more than epsilon."""


class LedgerError(CantleError):
    """The ledger refuses a charge, or cannot be read or written."""


class CapExceeded(LedgerError):
    """A data set would spend more than its cap."""


class Sealed(CantleError):
    """The curator was asked a question after it was sealed."""


class EngineError(CantleError):
    """An engine cannot start or continue, for reasons outside the data."""


class OutputError(CantleError):
    """The release cannot be written where it should go."""


class VerifyError(CantleError):
    """A release is damaged, or does not add up."""

    exit_code = 5


class MissingExtra(CantleError):
    """An optional dependency is not installed."""


def install_command(extra: str) -> str:
    """The command that installs an extra: by name if cantle came as a wheel, otherwise in the folder of the source."""
    return f"pip install '{'.' if _came_from_a_folder() else 'cantle'}[{extra}]'"


def optional(needed: str, package: str, extra: str, otherwise: str = "") -> ModuleType:
    """An optional package; if it is not installed, a MissingExtra says what needs it and how to install it."""
    try:
        return import_module(package)
    except ImportError:
        how = install_command(extra) + otherwise
        raise_alone(MissingExtra(f"{needed} {package}, which is not installed; {how}"))


def _came_from_a_folder() -> bool:
    """Whether pip installed cantle from a folder, as PEP 610 says: then there may be no package of this name to
    download."""
    from importlib.metadata import PackageNotFoundError, distribution

    with suppress(PackageNotFoundError, ValueError):
        return "dir_info" in json.loads(distribution("cantle").read_text("direct_url.json") or "{}")
    return True


def raise_alone(error: Exception) -> NoReturn:
    """Raises an error in an except block, without any reference to the exception that is being handled.

    `raise error from None` only hides that exception: it stays in `__context__`, and a library's exception may quote
    a value. Python sets the context when it raises, so it is removed afterwards, in the finally block.
    """
    try:
        raise error
    finally:
        error.__cause__ = error.__context__ = None
        error.__suppress_context__ = True


class replacing:
    """A block in which exceptions of some kinds are replaced by an error that has no reference to them.

    It is a class, because the `__exit__` of a generator-based context manager would keep the library's exception in a
    local variable of a frame that the traceback of our error contains. Errors of cantle itself are not replaced.
    """

    def __init__(
        self, kinds: type[BaseException] | tuple[type[BaseException], ...], error: Callable[[BaseException], Exception]
    ) -> None:
        self._kinds, self._error = kinds, error

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ours = None
        if isinstance(error, self._kinds) and not isinstance(error, CantleError):
            ours = self._error(error)
        del error, trace  # the traceback of our error contains this frame
        self._leave()
        if ours is not None:
            raise_alone(ours)

    def _leave(self) -> None:
        """Undoes at the end of the block what a subclass has set up; here nothing."""
