"""Several numbers at a time, as vectors of the processor: lanes of sixteen columns, and pairs.

Numba cannot be told that two arrays do not overlap. A loop over sixteen columns is therefore either
left scalar or checked anew for every row, which costs as much as the sums themselves; here the
vectors are spelled out, and LLVM cuts them to the registers that the machine has.
"""

from __future__ import annotations

from typing import Any

import numba.core.cgutils
import numba.extending
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit
from numpy.typing import NDArray

__all__ = ["LANES", "add_lanes", "add_pairs", "aligned_floats", "copy_lanes", "lead_lanes"]

LANES = 16

# what writes code for the compiler has types of its own, which Python's do not describe
cgutils: Any = numba.core.cgutils
intrinsic: Any = numba.extending.intrinsic
types: Any = numba.types

_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_INTS = ir.VectorType(ir.IntType(32), LANES)
_PAIR = ir.VectorType(ir.DoubleType(), 2)
_MAGNITUDE = 0x7FFFFFFF  # all bits of a float but its sign


@njit(cache=True, nogil=True)
def aligned_floats(n: int) -> NDArray[np.float32]:
    """Return n float32 zeros that begin at a cache line."""
    room = np.zeros(n + LANES, dtype=np.float32)
    start = (-(room.ctypes.data >> 2)) % LANES
    return room[start : start + n]


def _every(kind: ir.VectorType, value: float) -> ir.Constant:
    return ir.Constant(kind, [value] * LANES)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any, vector: Any) -> Any:
    """Return the address of element `at` of an array, as that of a vector."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def _build_adding(vector: Any, n_places: int) -> Any:
    """Return the code that adds one vector to several."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, align = signature.args, signature.args[0].dtype.bitwidth // 8
        source = _pointer(context, builder, kinds[1], arguments[1], arguments[2], vector)
        added = builder.load(source, align=align)
        for q in range(n_places):
            place = builder.extract_value(arguments[3], q)
            target = _pointer(context, builder, kinds[0], arguments[0], place, vector)
            moved = builder.fadd(builder.load(target, align=align), added)
            builder.store(moved, target, align=align)
        return context.get_dummy_value()

    return build


def _signature_of_adding(sums: Any, values: Any, places: Any) -> Any:
    return types.void(sums, values, types.intp, types.UniTuple(types.intp, len(places)))


@intrinsic
def add_lanes(_: Any, sums: Any, values: Any, start: Any, places: Any) -> Any:
    """Add the lanes of `values` from `start` on to those of `sums` from every one of `places` on.

    ``add_lanes(sums, values, start, places)``, with contiguous float32 arrays `sums` (in and out)
    and `values`, an index, and a tuple of indices. The values are read once.
    """
    return _signature_of_adding(sums, values, places), _build_adding(_FLOATS, len(places))


@intrinsic
def add_pairs(_: Any, sums: Any, values: Any, start: Any, places: Any) -> Any:
    """Do as `add_lanes` with float64 arrays, two numbers at a time."""
    return _signature_of_adding(sums, values, places), _build_adding(_PAIR, len(places))


@intrinsic
def copy_lanes(_: Any, target: Any, place: Any, values: Any, start: Any) -> Any:
    """Copy the lanes of `values` from `start` on to `target` from `place` on, as float32.

    ``copy_lanes(target, place, values, start)``, with a contiguous float32 array `target` (out),
    and an array `values` of floats in C order, whose elements `start` counts row after row.
    """
    if values.layout != "C":
        raise numba.TypingError(f"an array in order {values.layout}: expected C order")
    signature = types.void(target, types.intp, values, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, number = signature.args, context.get_value_type(values.dtype)
        vector = ir.VectorType(number, LANES)
        source = _pointer(context, builder, kinds[2], arguments[2], arguments[3], vector)
        copied = builder.load(source, align=4)
        if number != ir.FloatType():
            copied = builder.fptrunc(copied, _FLOATS)
        goal = _pointer(context, builder, kinds[0], arguments[0], arguments[1], _FLOATS)
        builder.store(copied, goal, align=4)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def lead_lanes(
    _: Any,
    bins: Any,
    start: Any,
    low: Any,
    high: Any,
    halves: Any,
    clearly: Any,
    edges: Any,
    cuts: Any,
) -> Any:
    """Find the cut of largest ``|sum up to the cut - half|`` in every lane, and clear the bins.

    ``lead_lanes(bins, start, low, high, halves, clearly, edges, cuts)``: `bins` (float32, in and
    out) holds lanes for bin after bin from `start` on. Bins from `low` on, and before `high`, are
    summed up, and after each a cut is tried. It takes the lead where its edge exceeds the leader's
    by the factor `clearly`. All bins up to `high` are set to zero.

    `halves` (float32 lanes, in), `edges` (float32 lanes, out; times `clearly`), `cuts` (int32
    lanes, out).
    """
    index = types.intp
    signature = types.void(bins, index, index, index, halves, types.float32, edges, cuts)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zero = ir.Constant(ir.IntType(64), 0)

        def lanes(argument: int, at: Any, vector: Any) -> Any:
            kind, array = signature.args[argument], arguments[argument]
            return _pointer(context, builder, kind, array, at, vector)

        def in_all(value: Any, kind: Any) -> Any:
            undefined = ir.Constant(kind, ir.Undefined)
            first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
            return builder.shuffle_vector(first, undefined, _every(_INTS, 0))

        rows = lanes(0, arguments[1], _FLOATS)
        half = builder.load(lanes(4, zero, _FLOATS), align=4)
        factor = in_all(arguments[5], _FLOATS)
        sums = cgutils.alloca_once_value(builder, _every(_FLOATS, 0.0))
        lead = cgutils.alloca_once_value(builder, _every(_FLOATS, 0.0))
        leader = cgutils.alloca_once_value(builder, _every(_INTS, 0))
        one = ir.Constant(arguments[2].type, 1)
        with cgutils.for_range_slice(builder, arguments[2], arguments[3], one) as (cut, _):
            row = builder.gep(rows, [cut])
            left = builder.fadd(builder.load(sums), builder.load(row, align=4))
            builder.store(left, sums)
            builder.store(_every(_FLOATS, 0.0), row, align=4)
            bits = builder.bitcast(builder.fsub(left, half), _INTS)
            edge = builder.bitcast(builder.and_(bits, _every(_INTS, _MAGNITUDE)), _FLOATS)
            better = builder.fcmp_ordered(">", edge, builder.load(lead))
            demand = builder.fmul(edge, factor)
            builder.store(builder.select(better, demand, builder.load(lead)), lead)
            here = in_all(builder.trunc(cut, ir.IntType(32)), _INTS)
            builder.store(builder.select(better, here, builder.load(leader)), leader)
        builder.store(_every(_FLOATS, 0.0), builder.gep(rows, [arguments[3]]), align=4)
        builder.store(builder.load(lead), lanes(6, zero, _FLOATS), align=4)
        builder.store(builder.load(leader), lanes(7, zero, _INTS), align=4)
        return context.get_dummy_value()

    return signature, build
