"""The tests on every supported Python that this machine has: `nox` for the quick form, `nox -s tests` for all tests."""

from __future__ import annotations

import nox

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
QUICK = ["tests/test_public_api.py", "tests/schema", "tests/methods", "tests/trusted/test_budget.py"]
"""Tests that show within a minute or two whether an interpreter and its packages work: schemas, methods, budgets."""

nox.options.sessions = ["quick"]
nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True


@nox.session(python=PYTHONS)
def quick(session: nox.Session) -> None:
    """Schemas, methods and budgets, with the packages that these need."""
    session.install(
        *(".[fast]", "./lab", "pytest", "pytest-xdist"),
        *("hypothesis", "jsonschema", "pandas", "pyarrow", "scipy", "networkx"),
    )
    session.run("python", "-m", "pytest", "-q", *(session.posargs or QUICK))


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The whole default suite, with every extra."""
    session.install(".[test]", "./lab")
    session.run("python", "-m", "pytest", "-q", "-n", "auto", *session.posargs)
