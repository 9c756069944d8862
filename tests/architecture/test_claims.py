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
    """The object that a row names by module and path; a method may be named without its class if only one has it."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            thing: Any = import_module("cantle." + ".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        first, *rest = parts[cut:]
        if not hasattr(thing, first):
            classes = [one for one in vars(thing).values() if inspect.isclass(one) and one.__module__ == thing.__name__]
            (thing,) = [one for one in classes if first in vars(one)] or [None]
        for part in (first, *rest):
            thing = getattr(thing, part, None)
        return thing
    return None


def claims_in(text: str) -> set[int]:
    """The claims that a text mentions, such as "Claim 3", "Claims 1, 20-22", "Claims 2 to 6, 18 and 19"."""
    made: set[int] = set()
    for listed in re.findall(r"Claims? (\d+(?:(?:, | and | to |-)\d+)*)", text):
        for first, last in re.findall(r"(\d+)(?:(?:-| to )(\d+))?", listed):
            made |= set(range(int(first), int(last or first) + 1))
    return made


def argued(text: str, number: int) -> bool:
    """Whether a text states a claim and argues for it in at least ten words."""
    found = re.search(rf"Claim {number}\b(.*)", text, re.DOTALL)
    return found is not None and len(found[1].split()) >= 10


def has_proof(row: Row, page: str) -> bool:
    """Whether the proof is where the row says, or follows from other claims."""
    before, after = page.split(HEAD)
    after = after.split("\n## ", 1)[1]
    if row.proof.startswith("Claim"):
        return claims_in(row.proof) <= {other.number for other in rows(page)} - {row.number}
    thing = symbol_of(row.symbol)
    where = {
        "above": before,
        "below": after,
        "docstring": inspect.getdoc(thing) or "",
        "module": inspect.getdoc(inspect.getmodule(thing)) or "",
    }
    places = row.proof.split(", ")
    if "comments" in places:  # only then, because Python reads the whole module for it
        where["comments"] = inspect.getsource(thing)
    return set(places) <= set(where) and any(argued(where[place], row.number) for place in places)


@cache
def text_of(place: Path) -> str:
    """The tests of a file or of a folder."""
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
    """What is missing in the table of claims."""
    table = rows(page)
    if [row.number for row in table] != sorted({number for number, _ in defined()} | {1}):
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


def test_every_claim_has_its_proof_its_symbol_and_its_test() -> None:
    assert list(problems(PAGE)) == []
    assert len(rows(PAGE)) >= 40


def test_the_list_of_what_is_trusted_is_that_of_the_folder_and_the_claims() -> None:
    """If this fails, run python -m tests.architecture.trusted_list."""
    listed = README.read_text(encoding="utf-8")
    assert listed == readme(PAGE)
    assert [name for name in files() if f"`{name}`" not in listed] == []


def test_other_pages_point_to_the_list_and_have_none_of_their_own() -> None:
    for name in ("CONTRIBUTING.md", "SECURITY.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "(src/cantle/trusted/README.md)" in text, name
    for path in (ROOT / "src").rglob("*.py"):
        assert not re.search(r"\bTrusted[.:]", path.read_text(encoding="utf-8")), f"the folder says it, not {path.name}"


OF_PERSONS = "`tests/trusted/test_persons.py`, `tests/trusted/engines/test_bounded_persons.py`"


@pytest.mark.parametrize(("old", "new", "lacks"), [
    ("`trusted.scores.Max` | docstring |", "`methods.rps.RPS` | docstring |", "Claim 3: methods.rps.RPS is not in"),
    ("| 8 | a class", "| | a class", "not those of the table"),
    ("| 40 | at most", "| 41 | at most", "not those of the table"),
    ("`trusted.queries.Histogram` | docstring |", "`queries.Histogramme` | docstring |", "Claim 8: there is no"),
    ("`trusted.scores.Max` | docstring |", "`trusted.scores.Max` |  |", "not those of the table"),
    ("`trusted.scores.Max` | docstring |", "`trusted.scores.Max` | folklore |", "Claim 3: no proof"),
    ("`trusted.scores.Max` | docstring |", "`trusted.scores.Max` | module |", "Claim 3: no proof"),
    ("`trusted.queries.Size` | docstring |", "`trusted.queries.Size` | Claim 7 |", "Claim 7: no proof"),
    ("Claims 1, 20-22 |", "Claims 1, 20-92 |", "Claim 24: no proof"),
    ("* *Claim 34.*", "* *Claim 334.*", "Claim 34: no proof"),
    (f"| module | {OF_PERSONS} |", "| module | none |", "Claim 40: no test"),
    (f"| module | {OF_PERSONS} |", "| module | `tests/release/test_nobody.py` |", "Claim 40: no test"),
    (f"| module | {OF_PERSONS} |", "| module | `tests/release/test_sets.py` |", "Claim 40: no test"),
])  # fmt: skip
def test_a_table_that_lacks_something_is_noticed(old: str, new: str, lacks: str) -> None:
    assert old in PAGE
    assert any(lacks in problem for problem in problems(PAGE.replace(old, new, 1)))
