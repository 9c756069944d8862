"""The import picture (style.md 3.8): a module imports only what stands to its left.

    errors, values, taxonomy -> domain; documents -> hierarchies -> fields -> schema -> readers, draft
    values -> objects -> pandascolumns -> readers
    mixing, regions -> grid, patterns -> partitions -> tally -> budget -> quality, queries, candidates, privtree
                        noise, engines -> curator -> tree -> grow -> methods (which end in results)
    universe -> setschema -> baskets;  nodeids -> graphdata -> projection;  edgelists -> graphschema -> graphs
    postprocess -> leaves -> frames -> summaries, cells, setresults, degree_results
    forms, statement -> release -> stored -> verify, show
    all of these -> publishing -> audit, evaluate -> demo, cli

Imports inside functions and for types count as well. A new module must be given its place here.
"""

from __future__ import annotations

import ast
import sys
from fnmatch import fnmatch

import pytest

from tests.architecture.sources import dotted, modules, others, ours

CORE = "mixing patterns partitions regions grid tally budget quality queries candidates specialise privtree errors "
CORE += "degree_counts scoring"
PUBLIC = "errors values taxonomy domain documents hierarchies fields schema universe setschema graphschema"
RELEASED = (
    "postprocess leaves frames results summaries cells setcounts refill walsh setresults degree_fit degree_results "
)
RELEASED += "setframes forms statement registry release stored verify verify_sets show"

PICTURE: dict[str, str] = {
    # the mechanism
    "errors": "",
    "regions": "",
    "grid": "regions errors",
    "tally": "partitions regions grid errors",
    "budget": "regions errors",
    "quality": "regions errors",
    "queries": "budget tally grid regions errors",
    "candidates": "tally regions errors",
    "specialise": "quality tally grid regions errors",
    "privtree": "budget regions errors",
    "noise": "noise.*",
    "noise.*": "noise.* mixing errors fast jit",
    "engines": "",
    "engines.graph": "degree_counts engines.base engines.memory graphdata projection regions errors",
    "engines.compiled": "engines.base engines.kernels engines.memory tally grid regions errors",
    "engines.kernels": "jit",
    "engines.memory": "engines.base engines.compiled fast tally grid regions errors",
    "engines.columns": "engines.base engines.kernels fast tally grid regions errors",
    "engines.duckdb": "engines.base engines.words tally grid regions errors",
    "engines.spark": "engines.base engines.words tally grid regions errors",
    "engines.database": "engines.base engines.words tally grid regions errors",
    "engines.*": "engines.base mixing patterns partitions tally grid regions errors",
    "scoring": "candidates quality engines.base regions",
    "fast": "",
    "jit": "",
    "answers": "regions",
    "mixing": "",
    "patterns": "regions errors",
    "partitions": "patterns regions errors",
    "degree_counts": "budget errors regions",
    "persons": "mixing regions",
    "curator": f"{CORE} answers noise engines.base",
    "tree": "answers regions",
    "grow": "curator domain regions",
    # the public side
    "values": "errors",
    "taxonomy": "errors",
    "domain": "errors values taxonomy",
    "documents": "errors taxonomy",
    "canonical": "",
    "together": "",
    "hierarchies": "documents errors taxonomy",
    "fields": "documents errors values taxonomy domain hierarchies",
    "text_encodings": "",
    "schema": "documents errors values taxonomy domain fields graphschema text_encodings",
    "csvgrammar": "",
    "objects": "values",
    "pandascolumns": "objects",
    "readers": "csvgrammar errors values objects pandascolumns schema text_encodings",
    "scan": "jit",
    "encoding": "fast scan domain readers schema",
    "draft": "errors schema readers",
    "blanks": "errors fields readers",
    # sets and graphs
    "nodeids": "mixing objects",
    "graphdata": "nodeids",
    "projection": "errors graphdata nodeids projection_fast",
    "projection_fast": "graphdata nodeids",
    "edgelists": "csvgrammar errors nodeids",
    "graphschema": "documents edgelists errors fields nodeids",
    "pairs": "edgelists graphdata nodeids",
    "graphs": "edgelists errors graphdata graphschema nodeids objects pairs pandascolumns values",
    "universe": "documents errors fields taxonomy values",
    "setschema": "documents errors fields schema universe",
    "fimi": "csvgrammar errors readers universe",
    "setframes": "errors fimi readers universe",
    "baskets": "errors fields fimi objects pandascolumns readers schema setframes setschema universe",
    # algorithms: a curator and public things, nothing else
    "methods": "",
    "methods.diffpart": f"{CORE} {PUBLIC} methods.settings answers curator postprocess results setcounts setresults "
    "spurious",
    "methods.degrees": f"{CORE} {PUBLIC} methods.settings methods.rps answers curator degree_results drawable "
    "postprocess results summaries",
    "methods.*": f"{CORE} {PUBLIC} methods.settings answers curator tree grow postprocess results summaries cells",
    "spurious": "partitions postprocess regions",
    # what is done with what was given away
    "drawing": "jit",
    "drawn": "domain drawing fast together",
    "postprocess": "drawing fast regions",
    "drawable": "errors",
    "leaves": "postprocess regions",
    "results": "drawn",
    "frames": "domain errors leaves postprocess regions tree",
    "summaries": "answers domain drawing drawn fast frames leaves postprocess regions results tree",
    "cells": "answers domain drawn frames grid postprocess regions results",
    "setcounts": "answers budget partitions postprocess regions",
    "refill": "partitions postprocess regions setcounts",
    "walsh": "patterns postprocess regions",
    "setresults": "answers baskets drawable partitions postprocess refill regions results setcounts universe walsh",
    "degree_fit": "postprocess regions",
    "degree_results": "answers degree_fit drawable postprocess regions results",
    "forms": "drawn errors pandascolumns schema setframes universe",
    "statement": "budget",
    "registry": "budget statement",
    "release": "canonical errors forms results statement registry readers ledger",
    "stored": "cells domain errors forms frames grid postprocess readers regions release schema setframes summaries",
    "verify_sets": f"{PUBLIC} {RELEASED} answers budget degree_counts regions",
    "verify": f"{PUBLIC} {RELEASED} budget grid regions readers",
    "show": f"{PUBLIC} {RELEASED} budget regions",
    # the account across releases: no data, no noise
    "ledgers": "",
    "ledgers.*": "ledgers.base errors",
    "ledger": "budget errors ledgers.*",
    # the front door and those outside it
    "sqlcodes": "domain errors",
    "sparkfiles": "csvgrammar engines.* errors readers schema",
    "sources": "domain encoding fast jit engines.* errors readers schema sparkfiles sqlcodes",
    "opening": "persons baskets encoding engines.* errors graphs methods.* readers sources sparkfiles",
    "publishing": f"{CORE} {PUBLIC} {RELEASED} readers ledger curator tree grow methods.* noise engines.* opening "
    "sources",
    "estimators": "errors publishing release",
    "regenerate": "errors",
    "audit": "audit.*",
    "audit.*": f"{CORE} {PUBLIC} audit audit.* answers curator tree grow methods.* noise noise.* engines.* publishing "
    "release graphdata graphs setcounts",
    "evaluate": "",
    "evaluate.*": f"evaluate.* {PUBLIC} {RELEASED} {CORE} readers publishing curator engines.memory noise methods.* "
    "baskets spurious",
    "demo": f"evaluate.* {PUBLIC} {RELEASED} publishing readers",
    "bench": "",
    "bench.*": f"bench.* evaluate.* {PUBLIC} fast publishing sources methods.*",
    "cli": "*",
    "cli_output": "errors",
    "cli_release": "cli_output errors release show verify forms regenerate",
    "cli_ledger": "budget ledger cli_output",
    "cli_bench": "bench.* cli_output",
    "cli_audit": "audit audit.* cli_output errors",
    "": "estimators ledger publishing release schema",
}
BACKWARDS = {
    # Schema.from_dict is the door for all kinds of schema.
    ("schema", "setschema"),
    ("schema", "graphschema"),
    # Release is the class users hold; its methods load, verify and sample when called, and only then.
    ("release", "stored"),
    ("release", "verify"),
    ("release", "cells"),
    # The plain engine opens the compiled one where kernels are wanted.
    ("engines.memory", "engines.compiled"),
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
    if name in ("curator", "scoring"):
        assert used == {"engines.base"}
    elif used:
        assert any_of(name, "opening sources sparkfiles publishing audit audit.* evaluate.* engines.*")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_on_the_publishing_side_sees_evaluate(name: str) -> None:
    """evaluate may hold raw data."""
    if any(any_of(to, "evaluate evaluate.*") for to in ours(modules()[name])):
        assert any_of(name, "evaluate.* bench.* cli demo")


TRUSTED = f"{CORE} curator noise noise.* engines engines.* nodeids graphdata pairs projection"


@pytest.mark.parametrize("name", [name for name in NAMES if any_of(name, TRUSTED)])
def test_the_trusted_base_needs_numpy_and_the_standard_library_only(name: str) -> None:
    foreign = others(modules()[name]) - STANDARD - {"numpy"}
    assert not foreign or name in ("engines.duckdb", "engines.spark", "engines.database")


@pytest.mark.parametrize("name", NAMES)
def test_heavy_packages_stay_at_home(name: str) -> None:
    homes = {
        "duckdb": "engines.duckdb",
        "pyspark": "engines.spark",
        "py4j": "engines.spark",
        "ibis": "engines.database sqlcodes",
        "sklearn": "evaluate.*",
        "matplotlib": "evaluate.* bench.picture",
        "scipy": "evaluate.*",
        "opendp": "audit audit.*",
        "igraph": "regenerate",
        "typer": "cli cli_ledger cli_bench cli_audit cli_output cli_release",
        "psycopg": "ledgers.postgres",
        "sqlite3": "ledgers.sqlite",
        "pandas": "pandascolumns readers evaluate.*",
        "numba": "projection_fast jit",
        "llvmlite": "jit",
    }
    for package in others(modules()[name]) & homes.keys():
        assert any_of(name, homes[package])


RANDOM_HOMES = ("noise", "noise.*", "postprocess", "regenerate", "evaluate.*", "bench.data", "demo")


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
