"""Products of one sparse row with the weights of several classifiers, in vectors of registers.

The weights of a feature are adjacent, one per classifier, as are the sums of a row. In plain loops
numba asks of every index whether it is negative, which keeps the compiler from using vectors. Here
the instructions are written out for eight, four or one classifiers at a time. Every sum has the
order of the row's entries, and products are rounded before they are added, as in plain loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from palmette._kernels import inner

Floats = NDArray[np.float32] | NDArray[np.float64]

_cgutils: Any = cgutils
_INT, _INDEX = ir.IntType(32), ir.IntType(64)


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
            total = _cgutils.alloca_once_value(builder, builder.load(here, align=size))
            with _cgutils.for_range(builder, given[4]) as loop:
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
            with _cgutils.for_range(builder, given[4]) as loop:
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


_add8, _add4, _add1 = intrinsic(_adder(8)), intrinsic(_adder(4)), intrinsic(_adder(1))
_move8, _move4, _move1 = intrinsic(_mover(8)), intrinsic(_mover(4)), intrinsic(_mover(1))


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
    while t + 8 <= n:
        _move8(values, first, places, start, length, weights, 0, n, steps, t)
        t += 8
    while t + 4 <= n:
        _move4(values, first, places, start, length, weights, 0, n, steps, t)
        t += 4
    while t < n:
        _move1(values, first, places, start, length, weights, 0, n, steps, t)
        t += 1
