"""What compiled kernels are made with (the extra `fast`). Imported by kernels only, these only when they are wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import intrinsic

Kernel = Callable[..., Any]


def compiled(function: Kernel) -> Kernel:
    """A kernel: compiled when first called, and kept on disk for later processes where there is a folder for it."""
    try:
        made: Kernel = njit(cache=True, error_model="numpy", nogil=True)(function)
    except RuntimeError:  # no such folder
        made = njit(error_model="numpy", nogil=True)(function)
    return made


def inlined(function: Kernel) -> Kernel:
    """A part of kernels, put in their place."""
    made: Kernel = njit(inline="always", error_model="numpy")(function)
    return made


def _load8(_: Any, array: Any, at: Any) -> Any:
    """The word of the eight bytes from `at` on, wherever that is."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        word = builder.load(_address(context, builder, signature.args[0], given[0], given[1], ir.IntType(64)))
        word.align = 1
        return word

    return types.uint64(array, at), generate


def _copy16(_: Any, source: Any, start: Any, target: Any, at: Any) -> Any:
    """Copies the sixteen bytes from `start` on to `at`."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        bytes_ = ir.VectorType(ir.IntType(8), 16)
        read = builder.load(_address(context, builder, signature.args[0], given[0], given[1], bytes_))
        read.align = 1
        builder.store(read, _address(context, builder, signature.args[2], given[2], given[3], bytes_)).align = 1
        return context.get_dummy_value()

    return types.void(source, start, target, at), generate


def _address(context: Any, builder: Any, kind: Any, array: Any, at: Any, target: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), target.as_pointer())


load8: Kernel = intrinsic(_load8)
copy16: Kernel = intrinsic(_copy16)
