"""Records must not depend on the machine's linear algebra, whose last digits depend on threads and processor."""

from __future__ import annotations

import ast

from tests.architecture.sources import dotted, modules, walked

EXACT = {"methods.own_error.set_workload"}
"""Multiplies matrices of whole numbers below 2^24, in which every order of summing is exact."""
PRODUCTS = "dot vdot inner matmul tensordot einsum convolve correlate cov corrcoef polyfit"


def products(tree: ast.Module) -> set[str]:
    """What a module uses of numpy's linear algebra."""
    names = {dotted(node) for node in walked(tree) if isinstance(node, ast.Attribute)}
    banned = {f"np.{name}" for name in PRODUCTS.split()}
    found = {name for name in names if name.startswith("np.linalg") or name in banned}
    return found | {"@" for node in walked(tree) if isinstance(node, ast.MatMult)}


def test_no_record_depends_on_linear_algebra_whose_digits_depend_on_the_machine() -> None:
    used = {name: products(tree) for name, tree in modules().items() if name.startswith(("drawing.", "methods."))}
    assert {name for name, found in used.items() if found} == EXACT
    assert products(ast.parse("a @ b\nnp.linalg.inv(c)\nnp.dot(a, b)")) == {"@", "np.linalg", "np.linalg.inv", "np.dot"}
