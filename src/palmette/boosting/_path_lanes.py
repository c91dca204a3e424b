"""Gradients of a softmax over paths in float32, sixteen rows at a time.

Sixteen rows are turned, so that the scores of a node are one vector and that of its parent is
another. Vector 0 is that of the root, and node k of the columns has vector ``k + 1``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numpy.typing import NDArray

from palmette._kernels import kernel
from palmette._numba_parts import cgutils
from palmette.boosting._histogram import LANES, intrinsic, lanes_at, types
from palmette.boosting._lanes import (
    FEW,
    FLOAT,
    INDEX,
    INT,
    LOWEST,
    all_lanes,
    chosen,
    exp_of,
    in_all_lanes,
    lanes,
    largest,
    only,
    require_c_order,
)

Floats: TypeAlias = NDArray[np.float32]
Indices: TypeAlias = NDArray[np.int32]

_MANY = lanes(LANES)
_ZERO, _ONE = ir.Constant(INDEX, 0), ir.Constant(INDEX, 1)


# ---------------------------------------------------------------------------- turning rows


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    """Return the columns of four vectors of four lanes."""

    def mixed(a: Any, b: Any, order: tuple[int, ...]) -> Any:
        return builder.shuffle_vector(a, b, ir.Constant(lanes(FEW, INT), list(order)))

    a, b, c, d = rows
    left, right = (0, 4, 1, 5), (2, 6, 3, 7)
    ac, bd = (mixed(a, c, left), mixed(a, c, right)), (mixed(b, d, left), mixed(b, d, right))
    return [mixed(ac[i], bd[i], order) for i in range(2) for order in (left, right)]


def _turning(context: Any, builder: Any, signature: Any, arguments: Any, inwards: bool) -> Any:
    """Generate the code of `turn_in`, or else of `turn_out`."""

    def base(i: int, at: Any) -> Any:
        return lanes_at(context, builder, signature.args[i], arguments[i], at, FLOAT)

    def few(pointer: Any, at: Any) -> Any:
        return builder.bitcast(builder.gep(pointer, [at]), lanes(FEW).as_pointer())

    table, room, n = base(0, arguments[1]), base(3, _ZERO), arguments[2]
    factors = None if inwards else base(4, _ZERO)
    step = ir.Constant(INDEX, FEW)
    n_steps = builder.udiv(builder.add(n, ir.Constant(INDEX, FEW - 1)), step)
    with cgutils.for_range(builder, n_steps, intp=INDEX) as loop:
        # outwards from the last columns to the first: the first of a row overwrite what was
        # written beyond the row before it
        number = loop.index
        if not inwards:
            number = builder.sub(builder.sub(n_steps, _ONE), number)
        column = builder.mul(number, step)
        for row in range(0, LANES, FEW):
            at_rows = [
                few(table, builder.add(builder.mul(n, ir.Constant(INDEX, row + r)), column))
                for r in range(FEW)
            ]
            at_columns = [
                few(
                    room,
                    builder.add(
                        builder.mul(column, ir.Constant(INDEX, LANES)),
                        ir.Constant(INDEX, (k + 1) * LANES + row),
                    ),
                )
                for k in range(FEW)
            ]
            source, target = (at_rows, at_columns) if inwards else (at_columns, at_rows)
            found = [builder.load(place, align=4) for place in source]
            if not inwards:
                factor = builder.load(few(factors, ir.Constant(INDEX, row)), align=4)
                found = [builder.fmul(each, factor) for each in found]
            for vector, place in zip(_turned(builder, found), target, strict=True):
                builder.store(vector, place, align=4)
    return context.get_dummy_value()


@intrinsic
def turn_in(_: Any, scores: Any, start: Any, n_columns: Any, room: Any) -> Any:
    """Copy sixteen rows into vectors of nodes.

    ``turn_in(scores, start, n_columns, room)``: float32 arrays in C order, `scores` (in) and
    `room` (out), of shape (at least n_columns + 4, LANES). `start` counts elements of the scores.
    Up to three numbers after the last row are read.
    """
    require_c_order(scores, room)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _turning(context, builder, signature, arguments, inwards=True)

    return types.void(scores, types.intp, types.intp, room), build


@intrinsic
def turn_out(_: Any, gradients: Any, start: Any, n_columns: Any, room: Any, factors: Any) -> Any:
    """Copy vectors of nodes, times `factors`, (1, LANES), into sixteen rows; as `turn_in`.

    Up to three numbers after the last row are overwritten.
    """
    require_c_order(gradients, room, factors)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _turning(context, builder, signature, arguments, inwards=False)

    return types.void(gradients, types.intp, types.intp, room, factors), build


# ---------------------------------------------------------------------------- paths


class _Nodes:
    """Vectors of nodes, their parents and whether paths end there, in the code of an intrinsic.

    Its first arguments are `room`, `parents`, `ends` and `tops`, as of `path_lanes`.
    """

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        def base(i: int, kind: Any) -> Any:
            return lanes_at(context, builder, signature.args[i], arguments[i], _ZERO, kind)

        self._builder = builder
        self._room, self._parents, self._ends = base(0, _MANY), base(1, INT), base(2, ir.IntType(8))
        self.tops = base(3, _MANY)

    def place(self, k: Any) -> Any:
        """Return the address of the vector of node k."""
        return self._builder.gep(self._room, [self._builder.add(k, _ONE)])

    def parent(self, k: Any) -> Any:
        """Return the address of the vector of the parent of node k."""
        builder = self._builder
        parent = builder.load(builder.gep(self._parents, [k]))
        return self.place(builder.sext(parent, INDEX))

    def is_end(self, k: Any) -> Any:
        """Return a mask of bits: all if a path may end at node k, else none."""
        builder = self._builder
        end = builder.load(builder.gep(self._ends, [k]))
        bits = builder.sext(builder.icmp_unsigned("!=", end, ir.Constant(ir.IntType(8), 0)), INT)
        return in_all_lanes(builder, bits, LANES)


@intrinsic
def path_lanes(_: Any, room: Any, parents: Any, ends: Any, tops: Any, n: Any) -> Any:
    """Add to the scores of every node those of its ancestors, and find the best path of each row.

    ``path_lanes(room, parents, ends, tops, n)``, with float32 arrays `room` (in and out) of shape
    (more than n, LANES), whose row 0 is zero, and `tops` (out) of shape (1, LANES); `parents` and
    `ends` are those of the n columns.
    """
    require_c_order(room, parents, ends, tops)
    signature = types.void(room, parents, ends, tops, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        nodes = _Nodes(context, builder, signature, arguments)
        lowest = all_lanes(ir.Constant(_MANY, ir.Undefined), LOWEST)
        top = cgutils.alloca_once_value(builder, lowest)
        with cgutils.for_range(builder, arguments[4], intp=INDEX) as loop:
            own, above = nodes.place(loop.index), nodes.parent(loop.index)
            path = builder.fadd(builder.load(own, align=4), builder.load(above, align=4))
            builder.store(path, own, align=4)
            end = chosen(builder, nodes.is_end(loop.index), path, lowest)
            builder.store(largest(builder, builder.load(top), end), top)
        builder.store(builder.load(top), nodes.tops, align=4)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def subtree_lanes(_: Any, room: Any, parents: Any, ends: Any, tops: Any, n: Any) -> Any:
    """Replace paths by the sums of ``exp(path - top)`` over the ends in the subtree of each node.

    ``subtree_lanes(room, parents, ends, tops, n)``, with arrays as `path_lanes` leaves them. The
    sum of all ends is in row 0 of `room`.
    """
    signature = types.void(room, parents, ends, tops, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        nodes = _Nodes(context, builder, signature, arguments)
        top, n = builder.load(nodes.tops, align=4), arguments[4]
        with cgutils.for_range(builder, n, intp=INDEX) as loop:
            own = nodes.place(loop.index)
            value = exp_of(builder, builder.fsub(builder.load(own, align=4), top))
            builder.store(only(builder, nodes.is_end(loop.index), value), own, align=4)
        with cgutils.for_range(builder, n, intp=INDEX) as loop:
            k = builder.sub(builder.sub(n, _ONE), loop.index)
            own, above = nodes.place(k), nodes.parent(k)
            both = builder.fadd(builder.load(above, align=4), builder.load(own, align=4))
            builder.store(both, above, align=4)
        return context.get_dummy_value()

    return signature, build


@kernel
def path_softmax_gradients(
    scores: Floats,
    targets: Indices,
    weights: Floats,
    parents: Indices,
    ends: NDArray[np.bool_],
    gradients: Floats,
) -> float:
    """Write the gradients of a softmax over paths, whose scores are sums over their nodes.

    Parameters
    ----------
    scores : float32 array of shape (n_samples, n_columns), IN
        Scores of the nodes.
    targets : int32 array of shape (n_samples,), IN
        Column at which the true path of every row ends.
    weights : float32 array of shape (n_samples,), IN
    parents : int32 array of shape (n_columns,), IN
        Column of every node's parent, smaller than its own; -1 below the root.
    ends : bool array of shape (n_columns,), IN
        Whether a path may end at a node.
    gradients : float32 array of shape (n_samples, n_columns), OUT

    Returns
    -------
    float
        Weighted sum of ``-log p`` of the true paths.
    """
    n_samples, n_columns = scores.shape
    room = np.zeros((n_columns + FEW, LANES), np.float32)
    tops, factors = np.zeros((1, LANES), np.float32), np.zeros((1, LANES), np.float32)
    right = np.zeros((1, LANES), np.float32)
    padded = np.zeros((LANES + FEW, n_columns), np.float32)  # the last rows, and what is beyond
    loss = 0.0
    for i in range(0, n_samples, LANES):
        source, target, at = scores, gradients, i * n_columns
        n_here = min(LANES, n_samples - i)
        is_last = at + LANES * n_columns + FEW > n_samples * n_columns
        if is_last:
            source, target, at = padded, padded, 0
            for r in range(n_here):
                for k in range(n_columns):
                    padded[r, k] = scores[i + r, k]
        for r in range(LANES):
            room[0, r] = 0.0
        turn_in(source, at, n_columns, room)
        path_lanes(room, parents, ends, tops, n_columns)
        for r in range(n_here):
            right[0, r] = room[targets[i + r] + 1, r] - tops[0, r]
        subtree_lanes(room, parents, ends, tops, n_columns)
        for r in range(n_here):
            factors[0, r] = -weights[i + r] / room[0, r]
            loss -= weights[i + r] * (right[0, r] - np.log(np.float64(room[0, r])))
        turn_out(target, at, n_columns, room, factors)
        for r in range(n_here):
            if is_last:
                for k in range(n_columns):
                    gradients[i + r, k] = padded[r, k]
            k = targets[i + r]
            while k >= 0:
                gradients[i + r, k] += weights[i + r]
                k = parents[k]
    return loss
