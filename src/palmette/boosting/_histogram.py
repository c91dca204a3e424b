"""Histograms of sixteen columns at a time in SIMD vectors, and the best decision stumps from them.

Numba has no way to declare that two arrays do not overlap. It therefore leaves a loop over sixteen
columns scalar, or checks for overlap in every row, which costs as much as the sums themselves. Here
the vector instructions are written out, and LLVM splits them into the registers of the machine.

A cut or feature replaces the best one so far only if its edge is larger by the factor `CLEARLY`, so
that rounding does not decide between equally good ones.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numba.extending
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numpy.typing import NDArray

from palmette._kernels import inner, int64, kernel
from palmette._numba_parts import cgutils

Codes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]
Columns: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int32]
Sums: TypeAlias = NDArray[np.float64]

LANES = 16
GROUP = 4  # features summed in one pass over the rows: 64 KiB of bins
BINS = 256 * LANES  # numbers per feature
CLEARLY = np.float32(1.00001)
_CLEARLY_EXACT = 1.00001

# the types of the code generator are not described by Python's types
intrinsic: Any = numba.extending.intrinsic
types: Any = numba.types

_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_INTS = ir.VectorType(ir.IntType(32), LANES)
_PAIR = ir.VectorType(ir.DoubleType(), 2)
_MAGNITUDE = 0x7FFFFFFF  # all bits of a float32 except its sign


@kernel
def aligned_floats(n: int) -> NDArray[np.float32]:
    """Return n float32 zeros that begin at a cache line."""
    zeros = np.zeros(n + LANES, dtype=np.float32)
    start = (-(zeros.ctypes.data >> 2)) % LANES
    return zeros[start : start + n]


def every(kind: ir.VectorType, value: float) -> ir.Constant:
    """Return a vector whose lanes are all one constant."""
    return ir.Constant(kind, [value] * kind.count)


def lanes_at(context: Any, builder: Any, kind: Any, array: Any, at: Any, vector: Any) -> Any:
    """Return the address of element `at` of an array as a pointer to a vector."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def _build_adding(vector: Any, n_places: int) -> Any:
    """Return the code generator that adds one vector to several."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, align = signature.args, signature.args[0].dtype.bitwidth // 8
        source = lanes_at(context, builder, kinds[1], arguments[1], arguments[2], vector)
        added = builder.load(source, align=align)
        for q in range(n_places):
            place = builder.extract_value(arguments[3], q)
            target = lanes_at(context, builder, kinds[0], arguments[0], place, vector)
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
    """Add like `add_lanes`, but pairs of numbers of float64 arrays."""
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
        source = lanes_at(context, builder, kinds[2], arguments[2], arguments[3], vector)
        copied = builder.load(source, align=4)
        if number != ir.FloatType():
            copied = builder.fptrunc(copied, _FLOATS)
        goal = lanes_at(context, builder, kinds[0], arguments[0], arguments[1], _FLOATS)
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
    out) holds the lanes of one bin after another from `start` on. The bins from `low` to
    ``high - 1`` are summed up, and each of them is a possible cut. A cut replaces the best one so
    far if its edge exceeds it by the factor `clearly`. All bins up to `high` are set to zero.

    `halves` (float32 lanes, in), `edges` (float32 lanes, out; times `clearly`), `cuts` (int32
    lanes, out).
    """
    index = types.intp
    signature = types.void(bins, index, index, index, halves, types.float32, edges, cuts)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zero = ir.Constant(ir.IntType(64), 0)

        def lanes(argument: int, at: Any, vector: Any) -> Any:
            kind, array = signature.args[argument], arguments[argument]
            return lanes_at(context, builder, kind, array, at, vector)

        def in_all(value: Any, kind: Any) -> Any:
            undefined = ir.Constant(kind, ir.Undefined)
            first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
            return builder.shuffle_vector(first, undefined, every(_INTS, 0))

        rows = lanes(0, arguments[1], _FLOATS)
        half = builder.load(lanes(4, zero, _FLOATS), align=4)
        factor = in_all(arguments[5], _FLOATS)
        sums = cgutils.alloca_once_value(builder, every(_FLOATS, 0.0))
        lead = cgutils.alloca_once_value(builder, every(_FLOATS, 0.0))
        leader = cgutils.alloca_once_value(builder, every(_INTS, 0))
        one = ir.Constant(arguments[2].type, 1)
        with cgutils.for_range_slice(builder, arguments[2], arguments[3], one) as (cut, _):
            row = builder.gep(rows, [cut])
            left = builder.fadd(builder.load(sums), builder.load(row, align=4))
            builder.store(left, sums)
            builder.store(every(_FLOATS, 0.0), row, align=4)
            bits = builder.bitcast(builder.fsub(left, half), _INTS)
            edge = builder.bitcast(builder.and_(bits, every(_INTS, _MAGNITUDE)), _FLOATS)
            better = builder.fcmp_ordered(">", edge, builder.load(lead))
            demand = builder.fmul(edge, factor)
            builder.store(builder.select(better, demand, builder.load(lead)), lead)
            here = in_all(builder.trunc(cut, ir.IntType(32)), _INTS)
            builder.store(builder.select(better, here, builder.load(leader)), leader)
        builder.store(every(_FLOATS, 0.0), builder.gep(rows, [arguments[3]]), align=4)
        builder.store(builder.load(lead), lanes(6, zero, _FLOATS), align=4)
        builder.store(builder.load(leader), lanes(7, zero, _INTS), align=4)
        return context.get_dummy_value()

    return signature, build


@kernel
def column_totals(signed: Columns) -> Sums:
    """Sum every column of an array of shape (n_samples, n_columns), in float64."""
    totals = np.zeros(signed.shape[1])
    for i in range(signed.shape[0]):
        for k in range(signed.shape[1]):
            totals[k] += signed[i, k]
    return totals


@inner
def pack_columns(columns: Columns, rows: Indices | None, first: int, packed: Floats) -> None:
    """Copy `LANES` columns, from `first` on, into one contiguous array.

    Lanes without a column are zero. If `rows` is given, only these rows are copied, in their order.
    """
    n_columns = columns.shape[1]
    n_here = min(LANES, n_columns - first)
    for i in range(len(packed) // LANES):
        row = i if rows is None else rows[i]
        if n_here == LANES:
            copy_lanes(packed, i * LANES, columns, row * n_columns + first)
            continue
        for k in range(LANES):
            packed[i * LANES + k] = columns[row, first + k] if k < n_here else 0.0


@inner
def sum_bins(codes: Codes, members: Indices, packed: Floats, bins: Floats) -> None:
    """Add packed rows to the bins of up to four features with 256 bins each.

    Parameters
    ----------
    codes : uint8 array of shape (n_features, n_rows), IN
    members : int32 array, IN
        The features; four of them are summed in one pass over the rows.
    packed : float32 array of shape (n_rows * LANES,), IN
    bins : float32 array of shape (GROUP * BINS,), IN and OUT
    """
    if len(members) == GROUP:
        a, b, c, d = codes[members[0]], codes[members[1]], codes[members[2]], codes[members[3]]
        for i in range(codes.shape[1]):
            places = (
                a[i] * LANES,
                b[i] * LANES + BINS,
                c[i] * LANES + 2 * BINS,
                d[i] * LANES + 3 * BINS,
            )
            add_lanes(bins, packed, i * LANES, places)
        return
    for g in range(len(members)):
        a = codes[members[g]]
        for i in range(codes.shape[1]):
            add_lanes(bins, packed, i * LANES, (a[i] * LANES + g * BINS,))


@inner(inline="always")
def _range(codes: Codes) -> tuple[int, int]:
    """Return the lowest and the highest code."""
    low = high = int64(codes[0])
    for i in range(len(codes)):
        code = int64(codes[i])
        low = code if code < low else low
        high = code if code > high else high
    return low, high


@kernel
def stump_edges(
    codes_by_feature: Codes,
    signed: Columns,
    totals: Sums,
    features: Indices,
    out_cuts: Codes,
    out_edges: Floats,
) -> None:
    """Find the best cut of every feature for every column.

    The edge of a cut is ``|2 L - T|``: L is the sum of the column over the rows whose code is at
    most the cut, T its total. Cuts are compared in ascending order. The result of a feature does
    not depend on the others, so threads may divide the features among them.

    Parameters
    ----------
    codes_by_feature : uint8 array of shape (n_features, n_samples), IN
    signed : float32 or float64 array of shape (n_samples, n_columns), IN
        In C order. Sums are in float32 for either dtype.
    totals : float64 array of shape (n_columns,), IN
        From `column_totals`.
    features : int32 array of shape (n_candidates,), IN
    out_cuts : uint8 array of shape (n_candidates, n_columns), OUT
    out_edges : float32 array of shape (n_candidates, n_columns), OUT
        0 where a feature does not vary.
    """
    n_samples, n_columns = signed.shape
    packed = aligned_floats(n_samples * LANES)
    bins = aligned_floats(GROUP * BINS)
    halves, edges = aligned_floats(LANES), aligned_floats(LANES)
    cuts = np.zeros(LANES, dtype=np.int32)
    for q in range(len(features)):
        for k in range(n_columns):
            out_cuts[q, k], out_edges[q, k] = 0, 0.0
    if n_samples == 0:
        return
    for first in range(0, n_columns, LANES):
        n_here = min(LANES, n_columns - first)
        pack_columns(signed, None, first, packed)
        for k in range(n_here):
            halves[k] = 0.5 * totals[first + k]
        for start in range(0, len(features), GROUP):
            members = features[start : start + GROUP]
            sum_bins(codes_by_feature, members, packed, bins)
            for g in range(len(members)):
                low, high = _range(codes_by_feature[members[g]])
                lead_lanes(bins, g * BINS, low, high, halves, CLEARLY, edges, cuts)
                for k in range(n_here):
                    out_cuts[start + g, first + k] = cuts[k]
                    out_edges[start + g, first + k] = 2.0 * edges[k] / CLEARLY


@kernel
def exact_stump_edges(
    codes_by_feature: NDArray[np.uint8],
    signed: NDArray[np.float64],
    totals: NDArray[np.float64],
    features: NDArray[np.int32],
    out_cuts: NDArray[np.uint8],
    out_edges: NDArray[np.float64],
) -> None:
    """Find the best cut of every feature for every column; as `stump_edges`, in float64.

    If the weights of a column almost cancel, rounding in float32 would decide between equal
    candidates.
    """
    n_samples, n_columns = signed.shape
    for q in range(len(features)):
        codes = codes_by_feature[features[q]]
        bins = np.zeros((256, n_columns))
        seen = np.zeros(256, dtype=np.bool_)
        for i in range(n_samples):
            seen[codes[i]] = True
            for k in range(n_columns):
                bins[codes[i], k] += signed[i, k]
        last = 255
        while last > 0 and not seen[last]:
            last -= 1
        for k in range(n_columns):
            left, best, best_cut = 0.0, 0.0, 0
            for cut in range(last):
                if seen[cut]:
                    left += bins[cut, k]
                    edge = abs(2 * left - totals[k])
                    if edge > best * _CLEARLY_EXACT:
                        best, best_cut = edge, cut
            out_cuts[q, k] = best_cut
            out_edges[q, k] = best


@kernel
def pick_stumps(
    features: Indices, cuts: Codes, edges: Floats, totals: Sums
) -> tuple[Indices, Codes, Floats]:
    """Choose the best of the features' cuts for every column, or no split.

    Features are compared in the order given, after no split, whose edge is ``|T|``.

    Parameters
    ----------
    features : int32 array of shape (n_candidates,), IN
    cuts, edges : uint8 and float32 arrays of shape (n_candidates, n_columns), IN
        From `stump_edges`.
    totals : float64 array of shape (n_columns,), IN

    Returns
    -------
    feature : int32 array of shape (n_columns,)
        -1 where no split is better.
    cut : uint8 array of shape (n_columns,)
    edge : float32 array of shape (n_columns,)
    """
    n_columns = len(totals)
    feature, cut = np.empty(n_columns, np.int32), np.empty(n_columns, np.uint8)
    edge = np.empty(n_columns, np.float32)
    for k in range(n_columns):
        feature[k], cut[k], edge[k] = -1, 0, abs(totals[k])
    for q in range(len(features)):
        for k in range(n_columns):
            if edges[q, k] > edge[k] * CLEARLY:
                feature[k], cut[k], edge[k] = features[q], cuts[q, k], edges[q, k]
    return feature, cut, edge


def best_stumps(
    codes_by_feature: Codes, signed: Columns, features: Indices
) -> tuple[Indices, Codes, Floats]:
    """Find the stump of largest edge for every column: `stump_edges`, then `pick_stumps`.

    Parameters
    ----------
    codes_by_feature : uint8 array of shape (n_features, n_samples), IN
    signed : float32 or float64 array of shape (n_samples, n_columns), IN
    features : int32 array of shape (n_candidates,), IN

    Returns
    -------
    feature, cut, edge : arrays of shape (n_columns,)
        As of `pick_stumps`.

    Examples
    --------
    >>> codes = np.array([[0, 1, 1, 2]], dtype=np.uint8)
    >>> signed = np.array([[-0.1, 0.1], [-0.2, 0.2], [-0.3, 0.3], [0.4, 0.4]])
    >>> feature, cut, edge = best_stumps(codes, signed, np.array([0], dtype=np.int32))
    >>> feature.tolist(), cut.tolist(), edge.round(3).tolist()
    ([0, -1], [1, 0], [1.0, 1.0])
    """
    totals = column_totals(signed)
    cuts = np.empty((len(features), signed.shape[1]), dtype=np.uint8)
    edges = np.empty((len(features), signed.shape[1]), dtype=np.float32)
    stump_edges(codes_by_feature, signed, totals, features, cuts, edges)
    return pick_stumps(features, cuts, edges, totals)
