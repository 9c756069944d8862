"""The import picture (style.md 3.8): a module imports only what stands to its left.

    errors, values, taxonomy -> domain; documents -> hierarchies -> fields -> schema -> readers, draft
    regions -> grid -> tally -> budget -> quality, queries, candidates, privtree -> specialise
                        noise, engines -> curator -> tree -> grow -> methods (which end in results)
    postprocess -> leaves -> frames -> summaries, cells;  statement -> release -> stored -> verify, show
    all of these -> publishing -> audit, evaluate -> demo, cli

Imports inside functions and for types count as well. A new module must be given its place here.
"""

from __future__ import annotations

import ast
import sys
from fnmatch import fnmatch

import pytest

from tests.architecture.sources import dotted, modules, others, ours

CORE = "regions grid tally budget quality queries candidates specialise privtree errors"
PUBLIC = "errors values taxonomy domain documents hierarchies fields schema"
RELEASED = "postprocess leaves frames results summaries cells statement release stored verify show"

PICTURE: dict[str, str] = {
    # the mechanism
    "errors": "",
    "regions": "",
    "grid": "regions errors",
    "tally": "regions grid errors",
    "budget": "regions errors",
    "quality": "regions errors",
    "queries": "budget tally grid regions errors",
    "candidates": "tally regions errors",
    "specialise": "quality tally grid regions errors",
    "privtree": "budget regions errors",
    "noise": "noise.*",
    "noise.*": "noise.* errors",
    "engines": "",
    "engines.*": "engines.base tally grid regions errors",
    "answers": "regions",
    "curator": f"{CORE} answers noise engines.base",
    "tree": "answers regions",
    "grow": "curator domain regions",
    # the public side
    "values": "errors",
    "taxonomy": "errors",
    "domain": "errors values taxonomy",
    "documents": "errors taxonomy",
    "hierarchies": "documents errors taxonomy",
    "fields": "documents errors values taxonomy domain hierarchies",
    "schema": "documents errors values taxonomy domain fields",
    "readers": "errors values schema",
    "draft": "errors schema readers",
    # algorithms: a curator and public things, nothing else
    "methods": "",
    "methods.*": f"{CORE} {PUBLIC} methods.settings answers curator tree grow postprocess results summaries cells",
    # what is done with what was given away
    "postprocess": "regions",
    "leaves": "postprocess regions",
    "results": "",
    "frames": "domain errors leaves postprocess regions tree",
    "summaries": "answers domain frames leaves postprocess regions results tree",
    "cells": "answers domain frames grid postprocess regions results",
    "statement": "",
    "release": "errors statement readers",
    "stored": "cells domain errors frames grid postprocess readers regions release schema summaries",
    "verify": f"{PUBLIC} {RELEASED} budget grid regions readers",
    "show": f"{PUBLIC} {RELEASED} budget regions",
    # the front door and those outside it
    "publishing": f"{CORE} {PUBLIC} {RELEASED} readers curator tree grow methods.* noise engines.*",
    "estimators": "errors publishing release",
    "audit": "audit.*",
    "audit.*": f"{CORE} {PUBLIC} audit audit.* answers curator tree grow methods.* noise noise.* engines.* publishing",
    "evaluate": "",
    "evaluate.*": f"evaluate.* {PUBLIC} {RELEASED} {CORE} readers publishing curator engines.memory noise methods.*",
    "demo": f"evaluate.* {PUBLIC} {RELEASED} publishing readers",
    "cli": "*",
    "": "estimators publishing release schema",
}
BACKWARDS = {
    # Release is the class users hold; its methods load, verify and sample when called, and only then.
    ("release", "stored"),
    ("release", "verify"),
    ("release", "cells"),
}
STANDARD = set(sys.stdlib_module_names)
NOISE = ("curator", "publish*", "audit", "audit.*", "evaluate.*", "noise", "noise.*")


def place(name: str) -> str | None:
    """The line of the picture that speaks of a module: its own, else its package's."""
    if name in PICTURE:
        return PICTURE[name]
    return next((PICTURE[line] for line in PICTURE if "*" in line and fnmatch(name, line)), None)


def any_of(name: str, patterns: str | tuple[str, ...]) -> bool:
    words = patterns.split() if isinstance(patterns, str) else patterns
    return any(fnmatch(name, pattern) for pattern in words)


NAMES = list(modules())


@pytest.mark.parametrize("name", NAMES)
def test_a_module_imports_only_from_its_left(name: str) -> None:
    allowed = place(name)
    assert allowed is not None, f"{name} is not in the picture: give it a place"
    wrong = {to for to in ours(modules()[name]) if not any_of(to, allowed) and (name, to) not in BACKWARDS}
    assert not wrong, f"{name} imports {', '.join(sorted(wrong))}"


def circle(skip: str) -> set[str]:
    """What is left when modules whose imports are all placed are placed, again and again: nothing, or a circle."""
    left = {name: ours(tree) - {name} for name, tree in modules().items() if not any_of(name, skip)}
    left = {name: {to for to in needs if (name, to) not in BACKWARDS} for name, needs in left.items()}
    while free := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in free:
            del left[name]
    return set(left)


def test_the_picture_has_no_circle() -> None:
    """Whatever the table above allows, the edges that are really there can be put in one order."""
    assert circle("cli audit audit.* evaluate.*") == set()


def test_the_evaluation_has_no_circle() -> None:
    assert circle("cli audit audit.*") == set()


def test_the_audit_has_no_circle() -> None:
    assert circle("cli evaluate.*") == set()


@pytest.mark.parametrize("pair", sorted(BACKWARDS), ids="->".join)
def test_backward_imports_wait_until_they_are_called(pair: tuple[str, str]) -> None:
    name, to = pair
    top = [node for node in modules()[name].body if isinstance(node, ast.ImportFrom)]
    assert all(node.module != f"cantle.{to}" for node in top)


@pytest.mark.parametrize("name", NAMES)
def test_only_curator_publishing_and_audits_use_noise(name: str) -> None:
    used = {to for to in ours(modules()[name]) if any_of(to, "noise noise.*")}
    assert not used or any_of(name, NOISE)


@pytest.mark.parametrize("name", NAMES)
def test_engines_are_opened_by_few(name: str) -> None:
    used = {to for to in ours(modules()[name]) if any_of(to, "engines engines.*")}
    if name == "curator":
        assert used == {"engines.base"}
    elif used:
        assert any_of(name, "publishing audit audit.* evaluate.* engines.*")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_on_the_publishing_side_sees_evaluate(name: str) -> None:
    """evaluate may hold raw data."""
    if any(any_of(to, "evaluate evaluate.*") for to in ours(modules()[name])):
        assert any_of(name, "evaluate.* cli demo")


TRUSTED = f"{CORE} curator noise noise.* engines engines.*"


@pytest.mark.parametrize("name", [name for name in NAMES if any_of(name, TRUSTED)])
def test_the_trusted_base_needs_numpy_and_the_standard_library_only(name: str) -> None:
    foreign = others(modules()[name]) - STANDARD - {"numpy"}
    assert not foreign or name in ("engines.duckdb", "engines.spark")


@pytest.mark.parametrize("name", NAMES)
def test_heavy_packages_stay_at_home(name: str) -> None:
    homes = {
        "duckdb": "engines.duckdb",
        "pyspark": "engines.spark",
        "sklearn": "evaluate.*",
        "matplotlib": "evaluate.*",
        "scipy": "evaluate.*",
        "opendp": "audit audit.*",
        "typer": "cli",
        "pandas": "readers evaluate.*",
    }
    for package in others(modules()[name]) & homes.keys():
        assert any_of(name, homes[package])


RANDOM_HOMES = ("noise", "noise.*", "postprocess", "evaluate.*", "demo")


@pytest.mark.parametrize("name", NAMES)
def test_randomness_is_named_at_home_only(name: str) -> None:
    """numpy.random, random, secrets, os.urandom, uuid: in noise, and as public generators in post-processing."""
    tree = modules()[name]
    found = others(tree) & {"random", "secrets", "uuid"}
    names = {dotted(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    found |= {one for one in names if one.startswith(("np.random", "numpy.random")) or one.endswith(".urandom")}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in ("numpy", "numpy.random", "os"):
            found |= {alias.name for alias in node.names} & {"random", "default_rng", "Generator", "urandom"}
    assert not found or any_of(name, RANDOM_HOMES), f"{name}: {sorted(found)}"


@pytest.mark.parametrize("name", [name for name in NAMES if any_of(name, "curator noise.words postprocess")])
def test_the_search_for_randomness_finds_what_is_there(name: str) -> None:
    """A check of the check: words.py has os.urandom, postprocess.py a public generator, curator.py none."""
    text = {dotted(node) for node in ast.walk(modules()[name]) if isinstance(node, ast.Attribute)}
    has = any(one.startswith("np.random") or one.endswith("urandom") for one in text)
    assert has == (name != "curator")


@pytest.mark.parametrize(
    "name", [name for name in NAMES if any_of(name, "noise.words noise.samplers noise.exact curator")]
)
def test_numpy_generators_touch_no_exact_number(name: str) -> None:
    names = {dotted(node) for node in ast.walk(modules()[name]) if isinstance(node, ast.Attribute)}
    assert not any(one.startswith(("np.random", "numpy.random")) for one in names)
    assert not others(modules()[name]) & {"random", "secrets"}


def test_the_public_name_is_a_function() -> None:
    """A module of that name would take the place of the function once anyone imports it."""
    assert "publish" not in modules()
