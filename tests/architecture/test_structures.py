"""Releases are read by their structure: no method has a name in `release`."""

from __future__ import annotations

import ast
import re
from importlib import import_module

from cantle.methods.catalogue import METHODS
from cantle.methods.released_structures import STRUCTURE_OF
from cantle.release.kinds import ReleasedKind
from cantle.release.structures import STRUCTURES, Opened
from tests.architecture.sources import ROOT

RELEASE = ROOT / "release"
FOLDER = RELEASE / "structures"
ORDINARY = {"degrees", "families"}
"""Names of methods that are words of their own, what a release of a graph or of linked tables holds: the first is only
forbidden in quotes, the second is also the name of a kind of data."""

NAMES = re.compile(rf"\b({'|'.join(sorted({str(name) for name in METHODS} - ORDINARY))})\b" + r'|"degrees"')


def named() -> list[str]:
    """The lines of `release` that name a method, other than imports from its folder."""
    found = []
    for path in sorted(RELEASE.rglob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if NAMES.search(re.sub(r"cantle\.methods[\w.]*", "", line)):
                found.append(f"{path.relative_to(RELEASE)}: {line.strip()}")
    return found


def test_no_method_has_a_name_in_releases() -> None:
    assert named() == []
    assert set(METHODS) == set(STRUCTURE_OF)


def test_only_structures_read_what_methods_made() -> None:
    """Questions about own error, and words of questions, are shared by methods."""
    own = re.compile(r"from cantle\.methods\.(?!own_error|words|released_structures)")
    outside = [path for path in RELEASE.rglob("*.py") if FOLDER not in path.parents]
    assert [path.name for path in outside if own.search(path.read_text(encoding="utf-8"))] == []


def test_every_structure_provides_the_same_members() -> None:
    members = set(Opened.__abstractmethods__)
    assert members == {name for name in vars(Opened) if not name.startswith("_")} - {"direct", "covariance"}
    assert len(members) == 5
    for name in STRUCTURES:
        module = import_module(f"cantle.release.structures.{name}")
        assert callable(module.traits)
        assert issubclass(module.Opened, Opened)
        assert members <= set(vars(module.Opened)), name


def test_a_kind_of_data_has_at_most_two_functions() -> None:
    (made,) = (node for node in ast.parse((RELEASE / "kinds.py").read_text(encoding="utf-8")).body
               if isinstance(node, ast.ClassDef) and node.name == ReleasedKind.__name__)  # fmt: skip
    fields = [ast.unparse(node.annotation) for node in made.body if isinstance(node, ast.AnnAssign)]
    assert sum(field.startswith("Callable") for field in fields) <= 2
    assert not [node for node in made.body if isinstance(node, ast.FunctionDef)]
