"""The sources as syntax trees, for tests of imports, docstrings and uses of randomness."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import cantle
import cantle_lab

ROOT = Path(cantle.__file__).parent
LAB = Path(cantle_lab.__file__).parent
OURS = {"cantle", "cantle_lab"}


@cache
def modules() -> dict[str, ast.Module]:
    """Syntax trees by name without `cantle.`: `trusted.core.curator`; a package is `trusted`, the top is ''.

    Names of modules of the package cantle_lab start with `lab`: `lab.bench.page`.
    """
    files = [((), path.relative_to(ROOT), path) for path in sorted(ROOT.rglob("*.py"))]
    files += [(("lab",), path.relative_to(LAB), path) for path in sorted(LAB.rglob("*.py"))]
    trees = {}
    for room, inside, path in files:
        name = ".".join((*room, *inside.with_suffix("").parts)).removesuffix("__init__").removesuffix(".")
        trees[name] = ast.parse(path.read_text(encoding="utf-8"))
    return trees


def short(name: str) -> str:
    """The name of an imported module as in `modules`; other packages keep theirs.

    >>> short("cantle.trusted.core.curator"), short("cantle"), short("cantle_lab.bench"), short("numpy")
    ('trusted.core.curator', '', 'lab.bench', 'numpy')
    """
    package, _, rest = name.partition(".")
    return {"cantle": rest, "cantle_lab": f"lab.{rest}".rstrip(".")}.get(package, name)


@cache
def walked(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All nodes of a module; each tree is walked only once."""
    return tuple(ast.walk(tree))


@cache
def imported(tree: ast.Module) -> set[str]:
    """The full names of all imported modules: at the top, inside functions, for types, or by import_module."""
    names: set[str] = set()
    for node in walked(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports must be absolute"
            module = node.module or ""
            # `from cantle.trusted import keys` imports a module, `from cantle.trusted.core.keys import Sizes` does not.
            parts = {f"{module}.{alias.name}" for alias in node.names}
            known = {name for name in parts if short(name) in modules()}
            names |= known
            if len(known) < len(parts):
                names.add(module)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            names |= {str(a.value) for a in node.args[:1] if isinstance(a, ast.Constant)}
    return names


def ours(tree: ast.Module) -> set[str]:
    """Modules of cantle and its lab among the imported ones, by their names in `modules`."""
    return {short(name) for name in imported(tree) if name.split(".")[0] in OURS}


def others(tree: ast.Module) -> set[str]:
    """Top-level packages that are neither cantle nor its lab."""
    return {name.split(".")[0] for name in imported(tree)} - OURS


def dotted(node: ast.AST) -> str:
    """A dotted name such as `np.random.default_rng` as text; empty for any other expression."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
