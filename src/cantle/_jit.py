"""The compiler of kernels (numba, the extra `fast`); only kernels import this module, and only when they are used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import intrinsic

Kernel = Callable[..., Any]


def compiled(function: Kernel) -> Kernel:
    """A kernel: compiled when first called, and cached on disk for later processes if there is a folder for it."""
    try:
        made: Kernel = njit(cache=True, error_model="numpy", nogil=True)(function)
    except RuntimeError:  # no such folder
        made = njit(error_model="numpy", nogil=True)(function)
    return made


def contracted(function: Kernel) -> Kernel:
    """A part of kernels in which a product and the sum it goes into may be rounded once instead of twice."""
    made: Kernel = njit(error_model="numpy", nogil=True, fastmath={"contract"})(function)
    return made


def inlined(function: Kernel) -> Kernel:
    """A part of kernels, inlined."""
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


def _ends64(_: Any, array: Any, at: Any, _separator: Any) -> Any:
    """A bit for each of the 64 bytes from `at` on, set where it is the separator or a line end."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        bytes_ = ir.VectorType(ir.IntType(8), 64)
        read = builder.load(_address(context, builder, signature.args[0], given[0], given[1], bytes_))
        read.align = 1
        first = builder.insert_element(ir.Constant(bytes_, ir.Undefined), given[2], ir.IntType(32)(0))
        spread = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
        separators = builder.shuffle_vector(first, ir.Constant(bytes_, ir.Undefined), spread)
        is_end = builder.icmp_unsigned("==", read, ir.Constant(bytes_, [10] * 64))
        found = builder.or_(builder.icmp_unsigned("==", read, separators), is_end)
        return builder.bitcast(found, ir.IntType(64))

    return types.uint64(array, at, types.uint8), generate


def _lowest(_: Any, _bits: Any) -> Any:
    """The number of the lowest bit that is set; at least one is."""

    def generate(_: Any, builder: Any, _signature: Any, given: Any) -> Any:
        return builder.cttz(given[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), generate


def _address(context: Any, builder: Any, kind: Any, array: Any, at: Any, target: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), target.as_pointer())


load8: Kernel = intrinsic(_load8)
copy16: Kernel = intrinsic(_copy16)
ends64: Kernel = intrinsic(_ends64)
lowest: Kernel = intrinsic(_lowest)
