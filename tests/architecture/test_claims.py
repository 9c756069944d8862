"""Every claim of docs/privacy.md has a proof, a symbol that relies on it, and a test that uses that symbol."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.test_words import defined
from tests.architecture.trusted_list import CLAIMS, HEAD, README, ROOT, Row, file_of, files, readme, rows

PAGE = CLAIMS.read_text(encoding="utf-8")


def symbol_of(name: str) -> Any:
    """The object that a row names by module and path. A method may be named without its class if one class has it."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            symbol: Any = import_module("cantle." + ".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        first, *rest = parts[cut:]
        if not hasattr(symbol, first):
            classes = [
                one for one in vars(symbol).values() if inspect.isclass(one) and one.__module__ == symbol.__name__
            ]
            (symbol,) = [one for one in classes if first in vars(one)] or [None]
        for part in (first, *rest):
            symbol = getattr(symbol, part, None)
        return symbol
    return None


def claims_in(text: str) -> set[str]:
    """The claims that a text mentions, such as "Claim 3", "Claims 1, 20-22", "Claims 2 to 6, 18 and 19"."""
    numbers = set(re.findall(r"Claim (\d+[a-z])", text))
    for listed in re.findall(r"Claims? (\d+(?:(?:, | and | to |-)\d+)*)", text):
        for first, last in re.findall(r"(\d+)(?:(?:-| to )(\d+))?", listed):
            numbers |= {str(number) for number in range(int(first), int(last or first) + 1)}
    return numbers


def order(number: str) -> tuple[int, str]:
    digits = number.rstrip("abc")
    return int(digits), number[len(digits) :]


def argued(text: str, number: str) -> bool:
    """Whether a text states a claim and argues for it in at least ten words."""
    argument = re.search(rf"Claim {number}\b(.*)", text, re.DOTALL)
    return argument is not None and len(argument[1].split()) >= 10


def has_proof(row: Row, page: str) -> bool:
    """Whether the proof is where the row says, or the row names other claims that it follows from."""
    before, after = page.split(HEAD)
    after = after.split("\n## ", 1)[1]
    if row.proof.startswith("Claim"):
        return claims_in(row.proof) <= {other.number for other in rows(page)} - {row.number}
    symbol = symbol_of(row.symbol)
    texts = {
        "above": before,
        "below": after,
        "docstring": inspect.getdoc(symbol) or "",
        "module": inspect.getdoc(inspect.getmodule(symbol)) or "",
    }
    places = row.proof.split(", ")
    if "comments" in places:  # only if asked for, because Python reads the whole module
        texts["comments"] = inspect.getsource(symbol)
    return set(places) <= set(texts) and any(argued(texts[place], row.number) for place in places)


@cache
def text_of(place: Path) -> str:
    """The text of a test file, or of all test files of a folder."""
    files = sorted(place.rglob("test_*.py")) if place.is_dir() else [place]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def has_test(row: Row) -> bool:
    """Whether all named tests exist, and one of them uses the symbol or mentions the claim."""
    places = [ROOT / path for path in row.tests]
    if not places or not all(place.exists() for place in places):
        return False
    text = "\n".join(text_of(place) for place in places)
    used = re.search(rf"\b{row.symbol.split('.')[-1]}\b", text) is not None
    return "def test_" in text and (used or row.number in claims_in(text))


def problems(page: str) -> Iterator[str]:
    """Yields what is missing or wrong in the table of claims."""
    table = rows(page)
    if [row.number for row in table] != sorted({number for number, _ in defined()} | {"1"}, key=order):
        yield "the claims made in the code are not those of the table"
    for row in table:
        if not file_of(row.symbol):
            yield f"Claim {row.number}: {row.symbol} is not in the trusted folder"
        if symbol_of(row.symbol) is None:
            yield f"Claim {row.number}: there is no {row.symbol}"
        elif not has_proof(row, page):
            yield f"Claim {row.number}: no proof where it is said to be"
        if not has_test(row):
            yield f"Claim {row.number}: no test of {row.symbol} where it is said to be"


def test_every_claim_has_a_proof_a_symbol_and_a_test() -> None:
    assert list(problems(PAGE)) == []
    assert len(rows(PAGE)) >= 40


def test_the_list_of_trusted_files_matches_the_folder_and_the_claims() -> None:
    """If this fails, run `python -m tests.architecture.trusted_list`."""
    listed = README.read_text(encoding="utf-8")
    assert listed == readme(PAGE)
    assert [name for name in files() if f"`{name}`" not in listed] == []


def test_other_pages_link_to_the_list_and_have_no_list_themselves() -> None:
    for name in ("CONTRIBUTING.md", "SECURITY.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "(src/cantle/trusted/README.md)" in text, name
    for path in (ROOT / "src").rglob("*.py"):
        assert not re.search(r"\bTrusted[.:]", path.read_text(encoding="utf-8")), f"{path.name}: the folder shows it"


OF_PERSONS = "`tests/trusted/test_persons.py`, `tests/trusted/counting/test_bounded_persons.py`"


@pytest.mark.parametrize(("old", "new", "expected"), [
    ("`trusted.claims.scores.Max` | docstring |", "`methods.rps.method.RPS` | docstring |", "RPS is not in"),
    ("| 8 | a class", "| | a class", "not those of the table"),
    ("| 40 | at most", "| 41 | at most", "not those of the table"),
    ("`trusted.claims.queries.Histogram` | docstring |", "`queries.Histogramme` | docstring |", "Claim 8: there is no"),
    ("`trusted.claims.scores.Max` | docstring |", "`trusted.claims.scores.Max` |  |", "not those of the table"),
    ("`trusted.claims.scores.Max` | docstring |", "`trusted.claims.scores.Max` | folklore |", "Claim 3: no proof"),
    ("`trusted.claims.scores.Max` | docstring |", "`trusted.claims.scores.Max` | module |", "Claim 3: no proof"),
    ("`trusted.claims.queries.Size` | docstring |", "`trusted.claims.queries.Size` | Claim 7 |", "Claim 7: no proof"),
    ("Claims 1, 20-22 |", "Claims 1, 20-92 |", "Claim 24: no proof"),
    ("* *Claim 34.*", "* *Claim 334.*", "Claim 34: no proof"),
    (f"| module | {OF_PERSONS} |", "| module | none |", "Claim 40: no test"),
    (f"| module | {OF_PERSONS} |", "| module | `tests/release/test_nobody.py` |", "Claim 40: no test"),
    (f"| module | {OF_PERSONS} |", "| module | `tests/release/test_sets.py` |", "Claim 40: no test"),
])  # fmt: skip
def test_errors_in_the_table_are_found(old: str, new: str, expected: str) -> None:
    assert old in PAGE
    assert any(expected in problem for problem in problems(PAGE.replace(old, new, 1)))
