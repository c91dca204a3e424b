"""Code generators of vectors of float32 numbers, for the kernels of losses and sums of gradients.

The instructions are written out, and with them the order of all sums, so that results depend
neither on the compiler's choice nor on how rows are divided among calls. LLVM splits vectors into
the registers of the machine.

The functions here are called while kernels (`palmette._kernels`) are compiled. `builder` and
`context` are those of llvmlite and numba.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]

from palmette._numba_parts import cgutils
from palmette.boosting._histogram import LANES, every, intrinsic, lanes_at, types

FEW = 4  # the lanes of vectors at the end of a row
FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
INT, INDEX = ir.IntType(32), ir.IntType(64)
_ANY_ORDER = ("nnan", "nsz")  # of two numbers in a maximum; there are no NaNs

_LEAST = -87.0  # exp of smaller numbers is not a normal float32
LOWEST = float(np.finfo(np.float32).min)
_ROUNDING = 1.5 * 2.0**23  # float32 numbers of this size are integers
_LOG2_E = 1.4426950408889634
_MINUS_LN2 = -0.6931471805599453
# exp(x) = 1 + x + x^2 p(x) for |x| <= log(2) / 2: p of Cephes' expf, highest power first
_EXP = (
    1.9875691500e-4,
    1.3981999507e-3,
    8.3334519073e-3,
    4.1665795894e-2,
    1.6666665459e-1,
    5.0000001201e-1,
    1.0,
    1.0,
)


# ---------------------------------------------------------------------------- code generators


def lanes(n: int, kind: Any = FLOAT) -> Any:
    return ir.VectorType(kind, n)


def all_lanes(like: Any, value: float) -> ir.Constant:
    """Return a vector of as many lanes as another, all of which are one float32 constant."""
    return every(lanes(like.type.count), float(np.float32(value)))


def in_all_lanes(builder: Any, value: Any, n: int) -> Any:
    """Return a vector of n lanes that are all one number."""
    undefined = ir.Constant(lanes(n, value.type), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(INT, 0))
    return builder.shuffle_vector(first, undefined, every(lanes(n, INT), 0))


def bits_of(builder: Any, vector: Any) -> Any:
    return builder.bitcast(vector, lanes(vector.type.count, INT))


def floats_of(builder: Any, bits: Any) -> Any:
    return builder.bitcast(bits, lanes(bits.type.count))


def only(builder: Any, mask: Any, vector: Any) -> Any:
    """Return a vector with zeros outside a mask of bits; None is a mask of all lanes."""
    if mask is None:
        return vector
    return floats_of(builder, builder.and_(bits_of(builder, vector), mask))


def chosen(builder: Any, mask: Any, a: Any, b: Any) -> Any:
    """Return the lanes of `a` inside a mask of bits, and those of `b` outside."""
    inside = builder.and_(bits_of(builder, a), mask)
    outside = builder.and_(bits_of(builder, b), builder.not_(mask))
    return floats_of(builder, builder.or_(inside, outside))


def fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Return ``a b + c``, rounded once where the machine has an instruction for it."""
    kind = ir.FunctionType(c.type, [c.type] * 3)
    name = f"llvm.fmuladd.v{c.type.count}f32"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [a, b, c])


def largest(builder: Any, a: Any, b: Any) -> Any:
    above = builder.fcmp_ordered(">", a, b, flags=_ANY_ORDER)
    return builder.select(above, a, b, flags=_ANY_ORDER)


def exp_of(builder: Any, x: Any) -> Any:
    """Return exp(x) for x <= 0; numbers below `_LEAST` count as it."""
    x = largest(builder, x, all_lanes(x, _LEAST))
    shifted = fma(builder, x, all_lanes(x, _LOG2_E), all_lanes(x, _ROUNDING))
    power = builder.fsub(shifted, all_lanes(x, _ROUNDING))
    rest = fma(builder, power, all_lanes(x, _MINUS_LN2), x)
    # pairs of coefficients, then powers of the square: fewer steps wait for each other
    square = builder.fmul(rest, rest)
    value = None
    for a, b in zip(_EXP[::2], _EXP[1::2], strict=True):
        pair = fma(builder, all_lanes(x, a), rest, all_lanes(x, b))
        value = pair if value is None else fma(builder, value, square, pair)
    # the power of two is added to the exponent; it is in the last bits of the shifted number
    bits = bits_of(builder, shifted)
    exponent = builder.shl(bits, every(bits.type, 23))
    return floats_of(builder, builder.add(bits_of(builder, value), exponent))


def halves_of(builder: Any, vector: Any) -> list[Any]:
    n = vector.type.count // 2
    undefined = ir.Constant(vector.type, ir.Undefined)
    places = [ir.Constant(lanes(n, INT), list(range(at, at + n))) for at in (0, n)]
    return [builder.shuffle_vector(vector, undefined, each) for each in places]


def across(builder: Any, combine: Any, vector: Any) -> Any:
    """Combine all lanes of a vector: its halves, then the halves of these, and so on."""
    while vector.type.count > 1:
        vector = combine(*halves_of(builder, vector))
    return builder.extract_element(vector, ir.Constant(INT, 0))


def inverse(builder: Any, vector: Any) -> Any:
    """Return 1 / x, where many lanes with one division for two of them: 1 / a is b / (a b)."""
    if vector.type.count == FEW:
        return builder.fdiv(all_lanes(vector, 1.0), vector)
    a, b = halves_of(builder, vector)
    both = builder.fdiv(all_lanes(a, 1.0), builder.fmul(a, b))
    order = ir.Constant(lanes(vector.type.count, INT), list(range(vector.type.count)))
    return builder.shuffle_vector(builder.fmul(b, both), builder.fmul(a, both), order)


class Row:
    """The vectors of a part of a row: `LANES` numbers each, then `FEW` each.

    Parameters
    ----------
    context, builder, signature, arguments
        Of the code of an intrinsic whose arguments are two arrays (in and out), the place where
        the part begins, counted row after row, and the number of its columns.
    """

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self._builder = builder
        self._source, self._target = (
            lanes_at(context, builder, signature.args[i], arguments[i], arguments[2], FLOAT)
            for i in range(2)
        )
        self._n = arguments[3]

    def each(self, body: Any) -> None:
        """Call ``body(first, n, mask)`` for the vectors of n columns, from `first` on.

        `mask` has the bits of those lanes of the last vectors that are columns; it is None where
        all are.
        """
        builder = self._builder
        whole = builder.and_(self._n, ir.Constant(INDEX, -LANES))
        begin, step = ir.Constant(INDEX, 0), ir.Constant(INDEX, LANES)
        with cgutils.for_range_slice(builder, begin, whole, step) as (first, _):
            body(first, LANES, None)
        lane = ir.Constant(lanes(FEW, INT), list(range(FEW)))
        step = ir.Constant(INDEX, FEW)
        with cgutils.for_range_slice(builder, whole, self._n, step) as (first, _):
            rest = builder.trunc(builder.sub(self._n, first), INT)
            is_column = builder.icmp_signed("<", lane, in_all_lanes(builder, rest, FEW))
            body(first, FEW, builder.sext(is_column, lane.type))

    def _place(self, base: Any, first: Any, n: int) -> Any:
        builder = self._builder
        return builder.bitcast(builder.gep(base, [first]), lanes(n).as_pointer())

    def load(self, first: Any, n: int) -> Any:
        """Return the input from column `first` on."""
        return self._builder.load(self._place(self._source, first, n), align=4)

    def load_output(self, first: Any, n: int) -> Any:
        """Return what has been written from column `first` on."""
        return self._builder.load(self._place(self._target, first, n), align=4)

    def store(self, vector: Any, first: Any) -> None:
        """Write a vector from column `first` on."""
        place = self._place(self._target, first, vector.type.count)
        self._builder.store(vector, place, align=4)


class Total:
    """Combines the vectors of a row: those of many lanes, those of few, then lanes.

    Parameters
    ----------
    builder, combine
        ``combine(a, b)`` generates the code for two vectors.
    start : float
        What changes nothing.
    kind
        Type of the numbers.
    many : int
        Lanes of the longer vectors.
    """

    def __init__(
        self, builder: Any, combine: Any, start: float, kind: Any = FLOAT, many: int = LANES
    ) -> None:
        self._builder, self._combine = builder, combine
        self._parts = {
            n: cgutils.alloca_once_value(builder, every(lanes(n, kind), start)) for n in (many, FEW)
        }

    def add(self, vector: Any) -> None:
        """Combine with one more vector."""
        part = self._parts[vector.type.count]
        self._builder.store(self._combine(self._builder.load(part), vector), part)

    def result(self, kind: Any = None) -> Any:
        """Return the combination of everything, in float64 if `kind` is given."""
        parts = [self._builder.load(part) for part in self._parts.values()]
        if kind is not None:
            parts = [self._builder.fpext(each, lanes(each.type.count, kind)) for each in parts]
        whole, rest = parts
        while whole.type.count > FEW:
            whole = self._combine(*halves_of(self._builder, whole))
        whole = self._combine(whole, rest)
        return across(self._builder, self._combine, whole)


def require_c_order(*arrays: Any) -> None:
    for array in arrays:
        if array.layout != "C":
            raise numba.TypingError(f"an array in order {array.layout}: expected C order")


# ---------------------------------------------------------------------------- adding rows


class _Vectors:
    """Loops over vectors of n numbers of several float32 arrays, in the code of an intrinsic.

    Parameters
    ----------
    context, builder, signature, arguments
        Of the code of the intrinsic.
    starts : list of (int, int)
        Arguments that are an array in C order, and the place where its numbers begin, counted row
        after row.
    n
        The argument that is the number of numbers.
    """

    def __init__(
        self,
        context: Any,
        builder: Any,
        signature: Any,
        arguments: Any,
        starts: list[tuple[int, int]],
        n: int,
    ) -> None:
        self._builder, self._n = builder, arguments[n]
        self._bases = [
            lanes_at(context, builder, signature.args[i], arguments[i], arguments[at], FLOAT)
            for i, at in starts
        ]

    def each(self, body: Any) -> None:
        """Call ``body(pointers, n_lanes)`` for vectors of 16 numbers, then of 4, then of one."""
        builder = self._builder
        begin = ir.Constant(INDEX, 0)
        for n_lanes in (LANES, FEW, 1):
            end = builder.and_(self._n, ir.Constant(INDEX, -n_lanes))
            step = ir.Constant(INDEX, n_lanes)
            vector = lanes(n_lanes).as_pointer()
            with cgutils.for_range_slice(builder, begin, end, step) as (at, _):
                places = [builder.bitcast(builder.gep(base, [at]), vector) for base in self._bases]
                body(places, n_lanes)
            begin = end


def _add_to(builder: Any, place: Any, vector: Any) -> None:
    builder.store(builder.fadd(builder.load(place, align=4), vector), place, align=4)


@intrinsic
def add_row(_: Any, sums: Any, place: Any, values: Any, start: Any, n: Any) -> Any:
    """Add n numbers of `values` from `start` on to those of `sums` from `place` on.

    ``add_row(sums, place, values, start, n)``, with float32 arrays in C order, whose elements
    `place` and `start` count row after row. They do not overlap.
    """
    signature = types.void(sums, types.intp, values, types.intp, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def body(places: list[Any], n_lanes: int) -> None:
            _add_to(builder, places[0], builder.load(places[1], align=4))

        given = context, builder, signature, arguments
        _Vectors(*given, starts=[(0, 1), (2, 3)], n=4).each(body)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def add_curved(
    _: Any, sums: Any, place: Any, bend: Any, values: Any, start: Any, n: Any, share: Any
) -> Any:
    """Add n numbers g, as `add_row` does, and their curvatures ``|g| (1 - |g| share)``.

    ``add_curved(sums, place, bend, values, start, n, share)``: the curvatures are added to those
    of `sums` from `bend` on.
    """
    index, number = types.intp, types.float32
    signature = types.void(sums, index, index, values, index, index, number)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def body(places: list[Any], n_lanes: int) -> None:
            value = builder.load(places[2], align=4)
            bits = bits_of(builder, value)
            magnitude = builder.and_(bits, every(bits.type, 2**31 - 1))
            size = floats_of(builder, magnitude)
            part = builder.fmul(size, in_all_lanes(builder, arguments[6], n_lanes))
            rest = builder.fsub(every(value.type, 1.0), part)
            _add_to(builder, places[0], value)
            _add_to(builder, places[1], builder.fmul(size, rest))

        given = context, builder, signature, arguments
        _Vectors(*given, starts=[(0, 1), (0, 2), (3, 4)], n=5).each(body)
        return context.get_dummy_value()

    return signature, build
