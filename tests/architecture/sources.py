"""The sources as syntax trees, for tests of imports, docstrings and uses of randomness."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import cantle

ROOT = Path(cantle.__file__).parent


@cache
def modules() -> dict[str, ast.Module]:
    """Syntax trees by name without `cantle.`: `trusted.curator`; a package is `trusted`, the top is ''."""
    trees = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts).removesuffix("__init__").removesuffix(".")
        trees[name] = ast.parse(path.read_text(encoding="utf-8"))
    return trees


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
            # `from cantle.trusted import keys` imports a module, `from cantle.trusted.keys import Sizes` does not.
            parts = {f"{module}.{alias.name}" for alias in node.names}
            known = {name for name in parts if name.removeprefix("cantle.") in modules() and name != "cantle."}
            names |= known
            if len(known) < len(parts):
                names.add(module)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            names |= {str(a.value) for a in node.args[:1] if isinstance(a, ast.Constant)}
    return names


def ours(tree: ast.Module) -> set[str]:
    """Modules of cantle among the imported ones, without `cantle.`."""
    return {name.removeprefix("cantle").removeprefix(".") for name in imported(tree) if name.split(".")[0] == "cantle"}


def others(tree: ast.Module) -> set[str]:
    """Top-level packages that are not cantle."""
    return {name.split(".")[0] for name in imported(tree)} - {"cantle"}


def dotted(node: ast.AST) -> str:
    """A dotted name such as `np.random.default_rng` as text; empty for any other expression."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
