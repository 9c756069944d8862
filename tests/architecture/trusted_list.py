"""The list of trusted files, src/cantle/trusted/README.md, made from the folder and the claims of docs/privacy.md.

python -m tests.architecture.trusted_list    # writes it again
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLAIMS = ROOT / "docs" / "privacy.md"
FOLDER = ROOT / "src" / "cantle" / "trusted"
README = FOLDER / "README.md"
HEAD = "## All claims\n"

_INTRO = """\
# What is trusted

This folder, and nothing else, touches exact numbers: budget, noise, scores, queries, the curator, engines, bounds on
what one unit contributes, and the ledger across releases. An error in any other folder can spoil a result, or at worst
how a record is read; an error here can break the promise. So **a change here needs its claim to be read again by a
second person**, and its description names the claim numbers.

Read it from the inside out, twelve files first: `answers`, `budget`, `keys`, `admission`, `open_run`, `draws` and
`curator` in `core/` (what a run admits, charges and draws); `exact` and `samplers` in `noise/` (the dice); `queries`
and `scores` in `claims/` (sensitivities and ranges, with their proofs); `counting/base.py` (what an engine counts).
`geometry/` is public: it describes regions and tables. `bounding/` limits what one person or node adds, `counting/`
looks at records, and `tests/trusted/counting/naive.py` says in a few lines what each engine must count. Compiled
kernels (`_*kernel*.py`) only repeat numpy code that stands beside them; tests compare both.

The promise also rests on two things outside of this folder: on *stability* (`data/` and `schema/` let one record
change one record only; `tests/neighbours` holds them to that), and on the line of `interfaces/publishing.py` that
takes the noise of the operating system.

The claims and their proofs are in [docs/privacy.md](../../../docs/privacy.md). This page is made from them and from the
folder (`python -m tests.architecture.trusted_list`), and a test compares all three.

## Claims

| claim | says | file | tests |
|---|---|---|---|
"""
_REST = """
## Files without a claim of their own

The claims above rest on these files as well.

"""


@dataclass(frozen=True)
class Row:
    """A line of the table of claims."""

    number: str
    says: str
    symbol: str
    proof: str
    tests: tuple[str, ...]


def rows(page: str) -> list[Row]:
    """The rows of the table of claims; lines of another form are ignored."""
    table = []
    for line in page.split(HEAD)[1].split("\n## ")[0].splitlines():
        if match := re.fullmatch(r"\| (\d+[a-z]?) \| ([^|]+) \| `([\w.]+)` \| ([^|]+) \| ([^|]+) \|", line):
            number, says, symbol, proof, tests = match.groups()
            table.append(Row(number, says, symbol, proof, tuple(re.findall(r"`(tests/[\w./]+)`", tests))))
    return table


def file_of(symbol: str) -> str:
    """The file in the folder that contains a symbol such as `trusted.noise.samplers.Sampler.sparse`; empty if none.

    >>> file_of("trusted.noise.samplers.Sampler.sparse"), file_of("methods.rps.method.RPS")
    ('noise/samplers.py', '')
    """
    first, *parts = symbol.split(".")
    for cut in range(len(parts) - 1, 0, -1) if first == "trusted" else ():
        for name in ("/".join(parts[:cut]) + ".py", "/".join(parts[:cut]) + "/__init__.py"):
            if (FOLDER / name).exists():
                return name
    return ""


def files() -> list[str]:
    """All files of code in the folder; an `__init__` that only describes its folder has no code."""
    return sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.py") if _has_code(path))


def _has_code(path: Path) -> bool:
    return path.name != "__init__.py" or "import" in path.read_text(encoding="utf-8")


def readme(page: str) -> str:
    """The text of the list."""
    table = rows(page)
    lines = [
        f"| {row.number} | {row.says} | `{file_of(row.symbol)}` | {', '.join(f'`{test}`' for test in row.tests)} |\n"
        for row in table
    ]
    others = [name for name in files() if name not in {file_of(row.symbol) for row in table}]
    return _INTRO + "".join(lines) + _REST + "".join(f"* `{name}`\n" for name in others)


if __name__ == "__main__":
    README.write_text(readme(CLAIMS.read_text(encoding="utf-8")), encoding="utf-8")
