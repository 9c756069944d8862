"""Every module has a docstring; every claim is stated once, in the trusted folder; names show exact numbers."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.architecture.sources import ROOT, modules, walked

DOCS = Path(__file__).parents[2] / "docs" / "privacy.md"


def test_every_module_has_a_docstring() -> None:
    assert [name for name, tree in modules().items() if not ast.get_docstring(tree)] == []


@cache
def docstrings() -> list[tuple[str, str]]:
    """(module, docstring) of every module, class and function."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        (name, ast.get_docstring(node) or "")
        for name, tree in modules().items()
        for node in walked(tree)
        if isinstance(node, kinds)
    ]


@cache
def defined() -> list[tuple[str, str]]:
    """(number, module) of every claim that is stated, which is a docstring line that starts with "Claim". Claims that
    belong together share a number and have letters, such as 55a and 55b."""
    claims = []
    for name, text in docstrings():
        claims += [(number, name) for number in re.findall(r"^Claim (\d+[a-z]?)(?:\.| \()", text, re.MULTILINE)]
    return claims


RETIRED = {10, 43, 49, 56, 61, 63, 64, 66}
"""Numbers of claims about answers that are no longer given; they are not used again."""


def test_claims_are_stated_once() -> None:
    numbers = [number for number, _ in defined()]
    assert sorted(numbers) == sorted(set(numbers))


def test_claims_are_numbered_without_gaps() -> None:
    """Claim 1 is the range lemma, which may be in docs/privacy.md instead."""
    numbers = {int(number.rstrip("abc")) for number, _ in defined()} | {1}
    assert numbers.isdisjoint(RETIRED)
    assert set(range(1, max(numbers) + 1)) == numbers | RETIRED
    assert len(numbers) >= 14


def test_claims_that_code_mentions_are_stated() -> None:
    stated = {number for number, _ in defined()} | {"1"}
    mentioned = [
        (path.name, number)
        for path in ROOT.rglob("*.py")
        for number in re.findall(r"Claim (\d+[a-z]?)", path.read_text(encoding="utf-8"))
    ]
    assert [(name, number) for name, number in mentioned if number not in stated] == []


def test_claims_are_stated_in_the_trusted_folder_only() -> None:
    """Only when trusted code changes does a second person read the proof again."""
    assert [(number, name) for number, name in defined() if not name.startswith("trusted.")] == []


def test_the_range_lemma_is_stated() -> None:
    assert re.search(r"Claim 1\b", DOCS.read_text(encoding="utf-8"))


def test_names_of_exact_numbers_start_with_exact() -> None:
    """In the curator, the names of counts that the engine's tally returns start with `exact_`."""
    loops = [node for node in walked(modules()["trusted.core.curator"]) if isinstance(node, ast.For)]
    targets = [ast.unparse(loop.target) for loop in loops if ".tally(" in ast.unparse(loop.iter)]
    assert targets
    assert [target for target in targets if not target.strip("()").split(", ")[-1].startswith("exact_")] == []
