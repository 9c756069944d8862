"""The compiler of kernels (numba, the extra `fast`); only kernels import this module, and only when they are used."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel: it is compiled when first called, and cached on disk for later processes if a folder can be written."""
    return _cached(function, error_model="numpy", nogil=True, no_cfunc_wrapper=True)


def inner(function: Callable[P, R]) -> Callable[P, R]:
    """A part of kernels that only they call: the code by which Python would call it is left out."""
    return _cached(function, error_model="numpy", nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)


def _cached(function: Callable[P, R], **options: object) -> Callable[P, R]:
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder to write to
        return njit(**options)(function)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """A part of kernels that is inlined into them."""
    return njit(inline="always", error_model="numpy")(function)
