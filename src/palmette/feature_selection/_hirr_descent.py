"""Block coordinate descent for row-sparse least squares: one row of weights after the other.

The objective is ``quadratic(W) + lam * sum_j ||W_j||``, with `W` of shape (n_features, n_targets).
For one row, with the others fixed, the minimizer is known: with the gradient ``C`` of minus half
the quadratic and its curvature ``h``, it is ``C_j + h_j W_j``, whose norm is reduced by
``lam / 2``, divided by ``h_j``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, kernel

FloatArray = NDArray[np.float64]
State = tuple[FloatArray, ...]
ROUNDING = 1e-13  # smallest gap in float64, relative to the objective of zero weights
MEMORY = 6  # number of passes that an extrapolation uses
_PATIENCE = 24  # number of passes before the first long step
_BETWEEN = 3  # number of passes from one long step to the next


def descend(
    one_pass: Callable[..., object],
    measure: Callable[..., tuple[float, float]],
    state: State,
    tolerance: float,
    max_passes: int,
    long_step: Callable[..., object] | None = None,
) -> None:
    """Repeat passes, with extrapolation, until the duality gap is small.

    Parameters
    ----------
    one_pass : callable
        Updates the arrays of the state in place.
    measure : callable
        Returns the objective and the duality gap of the arrays of the state. An extrapolation is
        accepted only if the objective decreases.
    state : tuple of arrays, IN and OUT
        First the variables; the others are affine functions of them.
    tolerance : float
        Maximum duality gap at convergence.
    max_passes : int
    long_step : callable, optional
        Like `one_pass`, slower but with more progress. It replaces some passes if the descent does
        not converge soon.

    Examples
    --------
    >>> x = np.array([1.0, 1.0])
    >>> def one_pass(x):
    ...     x *= [0.9, 0.99]
    >>> descend(one_pass, lambda x: (x @ x, x @ x), (x,), 1e-6, 24)  # 0.99**24 is 0.8
    >>> bool(x @ x < 1e-6)
    True
    """
    past = [_copy(state)]
    for n in range(max_passes):
        if long_step is not None and n > _PATIENCE and n % _BETWEEN == 0:
            long_step(*state)
        else:
            one_pass(*state)
        past.append(_copy(state))
        if len(past) > MEMORY:
            value, gap = measure(*state)
            ahead = extrapolate(past)
            if ahead is not None:
                value_ahead, gap_ahead = measure(*ahead)
                if value_ahead < value:
                    gap = gap_ahead
                    for array, new in zip(state, ahead, strict=True):
                        array[...] = new
            if gap <= tolerance:
                return
            past = [_copy(state)]


def _copy(state: State) -> State:
    return tuple(array.copy() for array in state)


def extrapolate(past: list[State]) -> State | None:
    """Return the affine combination of states with the smallest change; None if undefined.

    Parameters
    ----------
    past : list of tuples of arrays
        See `descend`.
    """
    points = np.array([state[0].ravel() for state in past])
    changes = np.diff(points, axis=0)
    try:
        shares = np.linalg.solve(changes @ changes.T, np.ones(len(changes)))
    except np.linalg.LinAlgError:  # the changes are linearly dependent
        return None
    if not np.isfinite(shares).all() or shares.sum() == 0:
        return None
    shares /= shares.sum()
    return tuple(
        np.tensordot(shares, np.stack(arrays[1:]), axes=1) for arrays in zip(*past, strict=True)
    )


def objective_and_gap(
    square: float, lam: float, values: FloatArray, own_gradient: FloatArray, gradient: FloatArray
) -> tuple[float, float]:
    """Return the objective and the duality gap of one node.

    Parameters
    ----------
    square : float
        Sum of all squares in the objective.
    lam : float
    values : array of shape (n_rows, n_targets)
        Nonzero rows of the weights.
    own_gradient : array of shape (n_rows, n_targets)
        Minus half the gradient of the squares in these rows.
    gradient : array of shape (n_features, n_targets)
        Minus half the gradient of the squares in all rows.
    """
    norms, slack = lam * float(row_norms(values).sum()), float(np.sum(values * own_gradient))
    return square + norms, duality_gap(square, norms, slack, dual_scale(gradient, lam))


def duality_gap(square: float, norms: float, slack: float, scale: float) -> float:
    """Return the primal minus the dual objective, by a formula without cancellation.

    Parameters
    ----------
    square : float
        Sum of all squares in the primal objective.
    norms : float
        ``lam |W|_{2,1}``
    slack : float
        Inner product of the weights with minus half the gradient of the squares.
    scale : float
        See `dual_scale`.

    Examples
    --------
    >>> duality_gap(10.0, 0.0, 0.0, 1.0)  # zero weights, which are optimal
    0.0
    """
    return (1.0 - scale) ** 2 * square + norms - 2.0 * scale * slack


def dual_scale(gradient: FloatArray, lam: float) -> float:
    """Return the factor, at most 1, that makes a residual with this gradient dual feasible."""
    largest = 2.0 * float(np.max(row_norms(gradient), initial=0.0))
    return 1.0 if largest <= lam else lam / largest


def row_norms(values: FloatArray) -> FloatArray:
    """Return the norm of every row."""
    squares: FloatArray = np.einsum("jk,jk->j", values, values)
    return np.sqrt(squares)


@kernel
def pass_over_gram(
    quadratic: NDArray[np.float64],
    lam: float,
    weights: NDArray[np.float64],
    gradient: NDArray[np.float64],
) -> None:
    """Update every row of the weights once, with the whole matrix of the quadratic.

    Parameters
    ----------
    quadratic : float64 array of shape (n_active, n_active), IN
        Symmetric.
    lam : float
    weights : float64 array of shape (n_active, n_targets), IN and OUT
    gradient : float64 array of shape (n_active, n_targets), IN and OUT
        Of minus half the quadratic at `weights`.
    """
    n_active, n_targets = weights.shape
    own, steps = np.empty(n_targets), np.empty((4, n_targets))
    moved, n_moved = np.empty(4, np.int64), 0
    for a in range(n_active):
        for k in range(n_targets):
            own[k] = gradient[a, k]
        for m in range(n_moved):  # which the stored gradient lacks
            along = quadratic[moved[m], a]
            for k in range(n_targets):
                own[k] -= along * steps[m, k]
        if not _step(own, quadratic[a, a], lam, weights[a], steps[n_moved]):
            continue
        moved[n_moved] = a
        n_moved += 1
        if n_moved == 4:  # together they read and write the gradient once
            _add_four(quadratic, moved, steps, gradient)
            n_moved = 0
    for m in range(n_moved):
        for b in range(n_active):
            along = quadratic[moved[m], b]
            for k in range(n_targets):
                gradient[b, k] -= along * steps[m, k]


@inner
def _add_four(
    quadratic: NDArray[np.float64],
    moved: NDArray[np.int64],
    steps: NDArray[np.float64],
    gradient: NDArray[np.float64],
) -> None:
    """Add the steps of four rows of weights to the gradient of all."""
    first, second = quadratic[moved[0]], quadratic[moved[1]]
    third, fourth = quadratic[moved[2]], quadratic[moved[3]]
    for b in range(len(gradient)):
        p, q, r, s = first[b], second[b], third[b], fourth[b]
        for k in range(steps.shape[1]):
            change = gradient[b, k] - p * steps[0, k] - q * steps[1, k]
            gradient[b, k] = change - r * steps[2, k] - s * steps[3, k]


@kernel
def pass_over_columns(
    values: NDArray[np.float64],
    rows: NDArray[np.int32],
    starts: NDArray[np.int64],
    means: NDArray[np.float64],
    scales: NDArray[np.float64],
    unit: NDArray[np.float64],
    curvature: NDArray[np.float64],
    ridge: float,
    pull: NDArray[np.float64],
    factor: NDArray[np.float64],
    lam: float,
    weights: NDArray[np.float64],
    residual: NDArray[np.float64],
    along: NDArray[np.float64],
) -> None:
    """Update every row of the weights once, for sparse columns with implicit centring and scaling.

    Column ``j`` of the design is ``(x_j - means[j] * unit) / scales[j]``. The quadratic is the sum
    of squares of the residual, of `along` and of the weights times `ridge`, minus twice the inner
    product of the weights with `pull`.

    Parameters
    ----------
    values, rows, starts : arrays, IN
        CSC matrix of the active features.
    means, scales : float64 arrays of shape (n_active,), IN
        The means of the columns, or zeros without centring.
    unit : float64 array of shape (n_rows,), IN
        The constant column: square roots of the sample weights.
    curvature : float64 array of shape (n_active,), IN
    ridge : float
    pull : float64 array of shape (n_active, n_targets), IN
    factor : float64 array of shape (n_active, n_along), IN
    lam : float
    weights : float64 array of shape (n_active, n_targets), IN and OUT
    residual : float64 array of shape (n_rows, n_targets), IN and OUT
        Residuals, up to a multiple of `unit` per target.
    along : float64 array of shape (n_along, n_targets), IN and OUT
        ``factor.T @ weights``
    """
    n_active, n_targets = weights.shape
    n_along = along.shape[0]
    mass = np.sum(unit * unit)
    total = unit @ residual
    step, gradient = np.empty(n_targets), np.empty(n_targets)
    for a in range(n_active):
        mean, scale = means[a], 1.0 / scales[a]
        for k in range(n_targets):
            gradient[k] = -mean * total[k]
        for e in range(starts[a], starts[a + 1]):
            for k in range(n_targets):
                gradient[k] += values[e] * residual[rows[e], k]
        for k in range(n_targets):
            gradient[k] = gradient[k] * scale + pull[a, k] - ridge * weights[a, k]
        for v in range(n_along):
            for k in range(n_targets):
                gradient[k] -= factor[a, v] * along[v, k]
        if not _step(gradient, curvature[a], lam, weights[a], step):
            continue
        for v in range(n_along):
            for k in range(n_targets):
                along[v, k] += factor[a, v] * step[k]
        for k in range(n_targets):
            step[k] *= scale
            total[k] -= mean * mass * step[k]
        for e in range(starts[a], starts[a + 1]):
            for k in range(n_targets):
                residual[rows[e], k] -= values[e] * step[k]


@inner
def _step(
    gradient: NDArray[np.float64],
    curvature: float,
    lam: float,
    weights: NDArray[np.float64],
    step: NDArray[np.float64],
) -> bool:
    """Set one row of weights to its minimizer; return whether it changed, and the change in `step`.

    Parameters
    ----------
    gradient : float64 array of shape (n_targets,), IN
    curvature, lam : float
    weights : float64 array of shape (n_targets,), IN and OUT
    step : float64 array of shape (n_targets,), OUT
    """
    if curvature <= 0.0:  # constant feature
        return False
    n_targets = len(weights)
    length = 0.0
    for k in range(n_targets):
        step[k] = gradient[k] + curvature * weights[k]
        length += step[k] * step[k]
    length = np.sqrt(length)
    shrink = 0.0
    if 2.0 * length > lam:
        shrink = (1.0 - 0.5 * lam / length) / curvature
    moved = False
    for k in range(n_targets):
        new = shrink * step[k]
        step[k] = new - weights[k]
        weights[k] = new
        moved = moved or step[k] != 0.0
    return moved
