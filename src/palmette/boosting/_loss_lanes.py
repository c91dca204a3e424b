"""Gradients of softmax and logistic losses in float32, sixteen columns at a time.

Vectors at the end of a row have four lanes, and the last of them may reach beyond the row. Its
lanes there are left out of all sums, and what is written there is overwritten by the next row; rows
at the end of the arrays are copied into a padded one.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import kernel
from palmette.boosting._histogram import LANES, every, intrinsic, types
from palmette.boosting._lanes import (
    DOUBLE,
    FEW,
    INT,
    LOWEST,
    Row,
    Total,
    all_lanes,
    bits_of,
    chosen,
    exp_of,
    floats_of,
    halves_of,
    in_all_lanes,
    inverse,
    lanes,
    largest,
    only,
    require_c_order,
)

Floats: TypeAlias = NDArray[np.float32]
Indices: TypeAlias = NDArray[np.int32]

# a factor of the loss is at most 2, a product of them less than the largest float64, 2^1024, and
# that of one lane less than the largest float32
_BLOCK = 62 * LANES


# ---------------------------------------------------------------------------- logistic columns


@intrinsic
def logistic_lanes(_: Any, scores: Any, gradients: Any, start: Any, n: Any, weight: Any) -> Any:
    """Write the gradients ``-weight p`` of at most `_BLOCK` columns, and return parts of the loss.

    ``logistic_lanes(scores, gradients, start, n, weight)``: `scores` (in) and `gradients` (out)
    are float32 arrays in C order, whose elements `start` counts row after row. The results are the
    product of ``1 + exp(-|s|)`` and the sum of ``max(s, 0)`` over the columns, in float64.
    """
    require_c_order(scores, gradients)
    result = types.UniTuple(types.float64, 2)
    signature = result(scores, gradients, types.intp, types.intp, types.float32)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row = Row(context, builder, signature, arguments)
        minus_weight = builder.fneg(arguments[4])
        product = Total(builder, builder.fmul, 1.0)
        above = Total(builder, builder.fadd, 0.0, DOUBLE, LANES // 2)

        def body(first: Any, n: int, mask: Any) -> None:
            score = only(builder, mask, row.load(first, n))
            ones, zeros = all_lanes(score, 1.0), all_lanes(score, 0.0)
            sign = every(lanes(n, INT), -(2**31))
            minus_size = floats_of(builder, builder.or_(bits_of(builder, score), sign))
            small = only(builder, mask, exp_of(builder, minus_size))
            factor = builder.fadd(ones, small)
            product.add(factor)
            positive = builder.fcmp_ordered(">", score, zeros)
            share = builder.fmul(builder.select(positive, ones, small), inverse(builder, factor))
            row.store(builder.fmul(share, in_all_lanes(builder, minus_weight, n)), first)
            over = largest(builder, score, zeros)
            for part in halves_of(builder, over) if n == LANES else [over]:
                above.add(builder.fpext(part, lanes(part.type.count, DOUBLE)))

        row.each(body)
        found = [product.result(DOUBLE), above.result()]
        return context.make_tuple(builder, signature.return_type, found)

    return signature, build


@kernel
def logistic_gradients(
    scores: Floats,
    starts: NDArray[np.int64],
    positives: Indices,
    weights: Floats,
    gradients: Floats,
) -> float:
    """Write the gradients ``weight (y - p)`` of independent logistic columns; return the loss.

    Parameters
    ----------
    scores : float32 array of shape (n_samples, n_columns), IN
    starts : int array of shape (n_samples + 1,), IN
    positives : int array, IN
        Columns true of row ``i`` are ``positives[starts[i]:starts[i + 1]]``.
    weights : float32 array of shape (n_samples,), IN
    gradients : float32 array of shape (n_samples, n_columns), OUT

    Returns
    -------
    float
        Weighted sum of ``-log p`` of the true values, over rows and columns.
    """
    n_samples, n_columns = scores.shape
    width = -(-n_columns // FEW) * FEW
    padded, room = np.zeros((1, width), np.float32), np.zeros((1, width), np.float32)
    loss = 0.0
    for i in range(n_samples):
        source, target, at = scores, gradients, i * n_columns
        is_last = at + width > n_samples * n_columns
        if is_last:
            source, target, at = padded, room, 0
            for k in range(n_columns):
                padded[0, k] = scores[i, k]
        row_loss = 0.0
        for first in range(0, n_columns, _BLOCK):
            n = min(_BLOCK, n_columns - first)
            product, above = logistic_lanes(source, target, at + first, n, weights[i])
            row_loss += np.log(product) + above
        if is_last:
            for k in range(n_columns):
                gradients[i, k] = room[0, k]
        for place in range(starts[i], starts[i + 1]):
            k = positives[place]
            row_loss -= scores[i, k]
            gradients[i, k] += weights[i]
        loss += weights[i] * row_loss
    return loss


# ---------------------------------------------------------------------------- softmax of labels


@intrinsic
def exp_lanes(_: Any, scores: Any, gradients: Any, start: Any, n: Any) -> Any:
    """Write ``exp(s - top)`` of a row; return the largest score, `top`, and the sum in float64.

    ``exp_lanes(scores, gradients, start, n)``, with arrays as of `logistic_lanes`.
    """
    require_c_order(scores, gradients)
    result = types.Tuple((types.float32, types.float64))
    signature = result(scores, gradients, types.intp, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row = Row(context, builder, signature, arguments)

        highest = Total(builder, lambda a, b: largest(builder, a, b), LOWEST)
        total = Total(builder, builder.fadd, 0.0)

        def compare(first: Any, n: int, mask: Any) -> None:
            score = row.load(first, n)
            if mask is not None:
                score = chosen(builder, mask, score, all_lanes(score, LOWEST))
            highest.add(score)

        row.each(compare)
        top = highest.result()

        def body(first: Any, n: int, mask: Any) -> None:
            below = builder.fsub(row.load(first, n), in_all_lanes(builder, top, n))
            value = only(builder, mask, exp_of(builder, below))
            row.store(value, first)
            total.add(value)

        row.each(body)
        return context.make_tuple(builder, signature.return_type, [top, total.result(DOUBLE)])

    return signature, build


@intrinsic
def scale_lanes(_: Any, scores: Any, gradients: Any, start: Any, n: Any, factor: Any) -> Any:
    """Multiply n gradients from `start` on by a factor.

    ``scale_lanes(scores, gradients, start, n, factor)``, with arrays as of `logistic_lanes`.
    """
    signature = types.void(scores, gradients, types.intp, types.intp, types.float32)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row = Row(context, builder, signature, arguments)

        def body(first: Any, n: int, mask: Any) -> None:
            factors = in_all_lanes(builder, arguments[4], n)
            row.store(builder.fmul(row.load_output(first, n), factors), first)

        row.each(body)
        return context.get_dummy_value()

    return signature, build


@kernel
def softmax_gradients(
    scores: Floats, targets: Indices, weights: Floats, gradients: Floats
) -> float:
    """Write the gradients ``weight (y - p)`` of a softmax over the labels; return the loss.

    Parameters
    ----------
    scores : float32 array of shape (n_samples, n_labels), IN
    targets : int32 array of shape (n_samples,), IN
        True label of every row.
    weights : float32 array of shape (n_samples,), IN
    gradients : float32 array of shape (n_samples, n_labels), OUT

    Returns
    -------
    float
        Weighted sum of ``-log p`` of the true labels.
    """
    n_samples, n_labels = scores.shape
    width = -(-n_labels // FEW) * FEW
    padded, room = np.zeros((1, width), np.float32), np.zeros((1, width), np.float32)
    loss = 0.0
    for i in range(n_samples):
        source, target, at = scores, gradients, i * n_labels
        is_last = at + width > n_samples * n_labels
        if is_last:
            source, target, at = padded, room, 0
            for k in range(n_labels):
                padded[0, k] = scores[i, k]
        top, total = exp_lanes(source, target, at, n_labels)
        scale_lanes(source, target, at, n_labels, np.float32(-weights[i] / total))
        if is_last:
            for k in range(n_labels):
                gradients[i, k] = room[0, k]
        loss -= weights[i] * (np.float64(scores[i, targets[i]]) - top - np.log(total))
        gradients[i, targets[i]] += weights[i]
    return loss
