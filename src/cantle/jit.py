"""The compiler of kernels (numba, the extra `fast`); only kernels import this module, and only when they are used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import intrinsic

if TYPE_CHECKING:
    import numpy as np
    from numba.core.base import BaseContext
    from numba.core.types import Type
    from numba.core.typing import Signature

    from cantle.trusted.core.arrays import Bytes

P = ParamSpec("P")
R = TypeVar("R")
Values = Sequence[ir.Value]
Emit = Callable[["BaseContext", ir.IRBuilder, "Signature", Values], ir.Value]
Intrinsic = tuple["Signature", Emit]
"""The types of an operation, and the function that generates its instructions."""


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


def _load8(_: object, array: Type, at: Type) -> Intrinsic:
    """The eight bytes from `at` on as one word; `at` need not be aligned."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Values) -> ir.Value:
        word = builder.load(_address(context, builder, signature.args[0], given[0], given[1], ir.IntType(64)))
        word.align = 1
        return word

    return types.uint64(array, at), generate


def _copy16(_: object, source: Type, start: Type, target: Type, at: Type) -> Intrinsic:
    """Copies sixteen bytes from position `start` of the source to position `at` of the target."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Values) -> ir.Value:
        bytes_ = ir.VectorType(ir.IntType(8), 16)
        read = builder.load(_address(context, builder, signature.args[0], given[0], given[1], bytes_))
        read.align = 1
        builder.store(read, _address(context, builder, signature.args[2], given[2], given[3], bytes_)).align = 1
        return context.get_dummy_value()

    return types.void(source, start, target, at), generate


def _ends64(_: object, array: Type, at: Type, _separator: Type) -> Intrinsic:
    """One bit for each of the 64 bytes from `at` on, set if the byte is the separator or a line end."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Values) -> ir.Value:
        bytes_ = ir.VectorType(ir.IntType(8), 64)
        read = builder.load(_address(context, builder, signature.args[0], given[0], given[1], bytes_))
        read.align = 1
        separators = _spread64(builder, given[2], bytes_)
        is_end = builder.icmp_unsigned("==", read, ir.Constant(bytes_, [10] * 64))
        is_separator_or_end = builder.or_(builder.icmp_unsigned("==", read, separators), is_end)
        return builder.bitcast(is_separator_or_end, ir.IntType(64))

    return types.uint64(array, at, types.uint8), generate


def _spread64(builder: ir.IRBuilder, value: ir.Value, vector: ir.VectorType) -> ir.Value:
    """A vector of 64 times the same value."""
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.IntType(32)(0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), everywhere)


def _lowest(_: object, _bits: Type) -> Intrinsic:
    """The number of the lowest bit that is set; at least one must be."""

    def generate(_: BaseContext, builder: ir.IRBuilder, _signature: Signature, given: Values) -> ir.Value:
        return builder.cttz(given[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), generate


def _address(
    context: BaseContext, builder: ir.IRBuilder, kind: Type, array: ir.Value, at: ir.Value, target: ir.Type
) -> ir.Value:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), target.as_pointer())


load8: Callable[[Bytes, np.uint64], np.uint64] = intrinsic(_load8)
copy16: Callable[[Bytes, np.uint64, Bytes, np.uint64], None] = intrinsic(_copy16)
ends64: Callable[[Bytes, np.uint64, np.uint8], np.uint64] = intrinsic(_ends64)
lowest: Callable[[np.uint64], np.uint64] = intrinsic(_lowest)
