"""The tests on every supported Python that this machine has: `nox` for the quick form, `nox -s tests` for all tests.

`nox -s min-versions` runs the quick form with the oldest supported packages, `nox -s mutants` shows that tests notice
known ways to break the trusted base.
"""

from __future__ import annotations

import nox

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
QUICK = ["tests/test_public_api.py", "tests/schema", "tests/methods", "tests/trusted/test_budget.py"]
"""Tests that show within a minute or two whether an interpreter and its packages work: schemas, methods, budgets."""
TOOLS = ["pytest", "pytest-xdist", "hypothesis", "jsonschema", "pandas", "pyarrow", "networkx"]
"""What these tests need besides cantle and its lab."""

nox.options.sessions = ["quick"]
nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True


@nox.session(python=PYTHONS)
def quick(session: nox.Session) -> None:
    """Schemas, methods and budgets, with the packages that these need."""
    session.install(".[fast]", "./lab", *TOOLS)
    session.run("python", "-m", "pytest", "-q", *(session.posargs or QUICK))


@nox.session(python=PYTHONS[0], name="min-versions")
def min_versions(session: nox.Session) -> None:
    """The same with the oldest supported version of every package that cantle, its extra `fast` and its lab need."""
    cantle, lab = (nox.project.load_toml(f"{folder}/pyproject.toml")["project"] for folder in (".", "lab"))
    needs = [*cantle["dependencies"], *cantle["optional-dependencies"]["fast"], *lab["dependencies"]]
    oldest = [need.split(",")[0].replace(">=", "==") for need in needs if not need.startswith("cantle")]
    session.install(*oldest, *TOOLS)
    session.install("--no-deps", ".", "./lab")
    # Old packages use what new ones have deprecated.
    quiet = ("-W", "ignore::DeprecationWarning")
    session.run("python", "-m", "pytest", "-q", *quiet, *(session.posargs or QUICK))


@nox.session(python=PYTHONS[0])
def mutants(session: nox.Session) -> None:
    """Mutants of ring 1 (scripts/mutants.py), each of which a test must notice; about ten minutes."""
    session.install(".", "./lab[test]")
    session.run("python", "scripts/mutants.py", *session.posargs)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The whole default suite, with every extra."""
    session.install(".", "./lab[test]")
    session.install("--no-deps", "cffconvert")  # for the schema of citations; what it needs is older than ours
    session.run("python", "-m", "pytest", "-q", "-n", "auto", *session.posargs)
