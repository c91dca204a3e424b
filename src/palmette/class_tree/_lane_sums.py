"""Products of one sparse row with the weights of several classifiers, in vectors of registers.

The weights of a feature are adjacent, one per classifier, as are the sums of a row. In plain loops
numba asks of every index whether it is negative, which keeps the compiler from using vectors. Here
the instructions are written out for up to sixteen classifiers at a time. Every sum has the order of
the row's entries, and products are rounded before they are added, as in plain loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from palmette._kernels import inner
from palmette._numba_parts import cgutils

Floats = NDArray[np.float32] | NDArray[np.float64]

_INT, _INDEX = ir.IntType(32), ir.IntType(64)
_SMALL = 1e-12  # gradients up to this value are regarded as zero


def _entries(context: Any, builder: Any, signature: Any, arguments: Any, n_lanes: int) -> Any:
    """Return functions that give arrays and vectors of a call, and the bytes of a number."""
    number = context.get_value_type(signature.args[5].dtype)
    kind = ir.VectorType(number, n_lanes) if n_lanes > 1 else number

    def data(k: int) -> Any:
        return context.make_array(signature.args[k])(context, builder, arguments[k]).data

    def vector_at(array: Any, place: Any) -> Any:
        pointer = builder.gep(array, [place])
        return builder.bitcast(pointer, kind.as_pointer())

    def in_all_lanes(value: Any) -> Any:
        if n_lanes == 1:
            return value
        undefined = ir.Constant(kind, ir.Undefined)
        first = builder.insert_element(undefined, value, ir.Constant(_INT, 0))
        places = ir.Constant(ir.VectorType(_INT, n_lanes), [0] * n_lanes)
        return builder.shuffle_vector(first, undefined, places)

    return data, vector_at, in_all_lanes, signature.args[5].dtype.bitwidth // 8


def _types_of(*arguments: Any) -> Any:
    """Return the signature of both functions: arrays and positions as 64-bit integers."""
    kinds = [each if isinstance(each, types.Array) else types.int64 for each in arguments]
    return types.void(*kinds)


def _weights_of(builder: Any, arguments: Any, places: Any, entry: Any) -> Any:
    """Return the position of the weights of an entry of a row."""
    _, _, _, start, _, _, offset, stride, _, at = arguments
    place = builder.load(builder.gep(places, [builder.add(start, entry)]))
    if place.type != _INDEX:
        place = builder.sext(place, _INDEX)
    return builder.add(builder.add(offset, builder.mul(place, stride)), at)


def _adder(n_lanes: int) -> Any:
    def add_products(
        context_: Any,
        values: Any,
        first: Any,
        places: Any,
        start: Any,
        length: Any,
        weights: Any,
        offset: Any,
        stride: Any,
        sums: Any,
        at: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            data, vector_at, in_all, size = _entries(context, builder, signature, given, n_lanes)
            values, places, weights, sums = data(0), data(2), data(5), data(8)
            here = vector_at(sums, given[9])
            total = cgutils.alloca_once_value(builder, builder.load(here, align=size))
            with cgutils.for_range(builder, given[4]) as loop:
                value = builder.load(builder.gep(values, [builder.add(given[1], loop.index)]))
                place = _weights_of(builder, given, places, loop.index)
                found = builder.load(vector_at(weights, place), align=size)
                product = builder.fmul(in_all(value), found)
                builder.store(builder.fadd(builder.load(total), product), total)
            builder.store(builder.load(total), here, align=size)
            return context.get_dummy_value()

        return _types_of(
            values, first, places, start, length, weights, offset, stride, sums, at
        ), generate

    return add_products


def _mover(n_lanes: int) -> Any:
    def move_weights(
        context_: Any,
        values: Any,
        first: Any,
        places: Any,
        start: Any,
        length: Any,
        weights: Any,
        offset: Any,
        stride: Any,
        steps: Any,
        at: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            data, vector_at, in_all, size = _entries(context, builder, signature, given, n_lanes)
            values, places, weights, steps = data(0), data(2), data(5), data(8)
            step = builder.load(vector_at(steps, given[9]), align=size)
            with cgutils.for_range(builder, given[4]) as loop:
                value = builder.load(builder.gep(values, [builder.add(given[1], loop.index)]))
                here = vector_at(weights, _weights_of(builder, given, places, loop.index))
                product = builder.fmul(in_all(value), step)
                builder.store(
                    builder.fadd(builder.load(here, align=size), product), here, align=size
                )
            return context.get_dummy_value()

        return _types_of(
            values, first, places, start, length, weights, offset, stride, steps, at
        ), generate

    return move_weights


def _step(context_: Any, features: Any, place: Any, half: Any, wanted: Any) -> Any:
    """Write one step of a binary search with a selection, where numba would write a branch."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, given[0]).data
        after = builder.add(given[1], given[2])
        found = builder.load(builder.gep(data, [after]))
        return builder.select(builder.icmp_signed("<=", found, given[3]), after, given[1])

    return types.int64(features, types.int64, types.int64, types.int32), generate


def search_step(features: NDArray[np.int32], place: int, half: int, wanted: int) -> int:
    """Return ``place + half`` if the feature there is at most the one wanted, else ``place``."""
    return place + half if features[place + half] <= wanted else place


_compiled_step: Any = intrinsic(_step)


@overload(search_step, inline="always", strict=False)
def _search_step(features: Any, place: Any, half: Any, wanted: Any) -> Any:
    return lambda features, place, half, wanted: _compiled_step(features, place, half, wanted)


def _stepper(n_lanes: int) -> Any:
    def hinge_steps(
        context_: Any,
        signs: Any,
        first_sign: Any,
        duals: Any,
        first_dual: Any,
        margins: Any,
        limits: Any,
        highest: Any,
        lowest: Any,
        steps: Any,
        softness: Any,
        curvature: Any,
        at: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            number = context.get_value_type(margins.dtype)
            kind = ir.VectorType(number, n_lanes) if n_lanes > 1 else number
            size = margins.dtype.bitwidth // 8

            def place(k: int, first: Any = None) -> Any:
                array = context.make_array(signature.args[k])(context, builder, given[k])
                here = given[11] if first is None else builder.add(first, given[11])
                return builder.gep(array.data, [here])

            def vector(pointer: Any) -> Any:
                return builder.bitcast(pointer, kind.as_pointer())

            def load(k: int) -> Any:
                return builder.load(vector(place(k)), align=size)

            def constant(value: float) -> Any:
                return ir.Constant(kind, value if n_lanes == 1 else [value] * n_lanes)

            def in_all(value: Any) -> Any:
                found = ir.Constant(kind, ir.Undefined)
                for lane in range(n_lanes):
                    found = builder.insert_element(found, value, ir.Constant(_INT, lane))
                return found

            def is_any(flags: Any) -> Any:
                if n_lanes > 1:
                    flags = builder.bitcast(flags, ir.IntType(n_lanes))
                    flags = builder.icmp_unsigned("!=", flags, flags.type(0))
                return builder.zext(flags, _INDEX)

            def compared(how: str, left: Any, right: Any) -> Any:
                return builder.fcmp_ordered(how, left, right)

            soft, curved = given[9], given[10]
            if n_lanes > 1:
                soft, curved = in_all(soft), in_all(curved)
            few = ir.IntType(8) if n_lanes == 1 else ir.VectorType(ir.IntType(8), n_lanes)
            sign = builder.bitcast(place(0, given[1]), few.as_pointer())
            sign = builder.sitofp(builder.load(sign, align=1), kind)
            dual = vector(place(2, given[3]))
            old, zero = builder.load(dual, align=size), constant(0.0)
            gradient = builder.fadd(
                builder.fsub(builder.fmul(sign, load(4)), constant(1.0)), builder.fmul(soft, old)
            )
            bound = compared("==", old, zero)
            kept = builder.not_(builder.and_(bound, compared(">", gradient, load(5))))
            upward = builder.and_(bound, compared(">", gradient, zero))
            projected = builder.select(upward, zero, gradient)
            for k, how in ((6, ">"), (7, "<")):
                extreme = load(k)
                farther = builder.and_(kept, compared(how, projected, extreme))
                found = builder.select(farther, projected, extreme)
                builder.store(found, vector(place(k)), align=size)
            moved = builder.fsub(old, builder.fdiv(gradient, curved))
            moved = builder.select(compared(">", moved, zero), moved, zero)
            small, negative = constant(_SMALL), constant(-_SMALL)
            moves = builder.or_(compared(">", projected, small), compared("<", projected, negative))
            moves = builder.and_(kept, moves)
            new = builder.select(moves, moved, old)
            builder.store(new, dual, align=size)
            step = builder.fmul(builder.fsub(new, old), sign)
            builder.store(step, vector(place(8)), align=size)
            return builder.or_(is_any(kept), builder.shl(is_any(moves), ir.Constant(_INDEX, 1)))

        kinds = [signs, types.int64, duals, types.int64, margins, limits, highest, lowest, steps]
        return types.int64(*kinds, margins.dtype, margins.dtype, types.int64), generate

    return hinge_steps


_add16, _add8 = intrinsic(_adder(16)), intrinsic(_adder(8))
_add4, _add1 = intrinsic(_adder(4)), intrinsic(_adder(1))
_move16, _move8 = intrinsic(_mover(16)), intrinsic(_mover(8))
_move4, _move1 = intrinsic(_mover(4)), intrinsic(_mover(1))
_step4, _step1 = intrinsic(_stepper(4)), intrinsic(_stepper(1))


@inner(inline="always")
def add_products(
    values: Floats,
    first: int,
    places: NDArray[np.int32] | NDArray[np.int64],
    start: int,
    length: int,
    weights: Floats,
    offset: int,
    n: int,
    sums: Floats,
) -> None:
    """Add the products of the entries of a row with the weights of n classifiers to n sums.

    Parameters
    ----------
    values, first : array and int, IN
        The entries are ``values[first:first + length]``. Arrays of numbers are all of one type,
        float32 or float64.
    places, start : int array and int, IN
        Entry ``e`` has the weights ``offset + n * places[start + e]`` and the n - 1 after it.
    length : int
    weights, offset : array, contiguous, and int, IN
    n : int
    sums : array of shape (n,), IN and OUT
    """
    t = 0
    while t + 16 <= n:
        _add16(values, first, places, start, length, weights, offset, n, sums, t)
        t += 16
    while t + 8 <= n:
        _add8(values, first, places, start, length, weights, offset, n, sums, t)
        t += 8
    while t + 4 <= n:
        _add4(values, first, places, start, length, weights, offset, n, sums, t)
        t += 4
    while t < n:
        _add1(values, first, places, start, length, weights, offset, n, sums, t)
        t += 1


@inner(inline="always")
def move_weights(
    values: Floats,
    first: int,
    places: NDArray[np.int32],
    start: int,
    length: int,
    weights: Floats,
    n: int,
    steps: Floats,
) -> None:
    """Add the entries of a row, times a step per classifier, to the weights of n classifiers.

    Parameters are those of `add_products`; `weights` is changed, `steps` is not.
    """
    t = 0
    while t + 16 <= n:
        _move16(values, first, places, start, length, weights, 0, n, steps, t)
        t += 16
    while t + 8 <= n:
        _move8(values, first, places, start, length, weights, 0, n, steps, t)
        t += 8
    while t + 4 <= n:
        _move4(values, first, places, start, length, weights, 0, n, steps, t)
        t += 4
    while t < n:
        _move1(values, first, places, start, length, weights, 0, n, steps, t)
        t += 1


@inner(inline="always")
def hinge_steps(
    signs: NDArray[np.int8],
    first_sign: int,
    duals: Floats,
    first_dual: int,
    margins: Floats,
    limits: Floats,
    highest: Floats,
    lowest: Floats,
    softness: float,
    curvature: float,
    n: int,
    steps: Floats,
) -> int:
    """Move the dual variables of one row for n classifiers with the squared hinge loss.

    A variable that is zero, and whose gradient is above the limit of its classifier, is left out.

    Parameters
    ----------
    signs, first_sign : array and int, IN
        Signs of the row are ``signs.ravel()[first_sign:first_sign + n]``.
    duals, first_dual : array and int, IN and OUT
        Its dual variables, likewise.
    margins, limits : arrays of shape (n,), IN
    highest, lowest : arrays of shape (n,), IN and OUT
        Extremes of the projected gradients.
    softness, curvature : float
        ``1 / (2 cost)`` of the row, and its squared length plus that.
    n : int
    steps : array of shape (n,), OUT
        Change of every dual variable times its sign.

    Returns
    -------
    int
        1 if a variable is not left out, plus 2 if one moves.
    """
    t, found = 0, 0
    while t + 4 <= n:
        found |= _step4(
            signs, first_sign, duals, first_dual, margins, limits, highest, lowest, steps,
            softness, curvature, t,
        )  # fmt: skip
        t += 4
    while t < n:
        found |= _step1(
            signs, first_sign, duals, first_dual, margins, limits, highest, lowest, steps,
            softness, curvature, t,
        )  # fmt: skip
        t += 1
    return found
