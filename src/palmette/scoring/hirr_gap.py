"""How far row-sparse least squares is from its optimum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ROUNDING", "duality_gap", "objective_and_gap", "reach_of", "row_norms"]

FloatArray = NDArray[np.float64]

ROUNDING = 1e-13  # of the objective of no weights: a smaller gap is not to be had in float64


def row_norms(values: FloatArray) -> FloatArray:
    """Length of every row."""
    squares: FloatArray = np.einsum("jk,jk->j", values, values)
    return np.sqrt(squares)


def reach_of(gradient: FloatArray, lam: float) -> float:
    """The factor, at most 1, that makes a residual with this gradient feasible for the dual."""
    longest = 2.0 * float(np.max(row_norms(gradient), initial=0.0))
    return 1.0 if longest <= lam else lam / longest


def duality_gap(square: float, norms: float, slack: float, reach: float) -> float:
    """Primal less dual objective, written so that no digits cancel.

    Parameters
    ----------
    square : float
        All squares of the primal objective.
    norms : float
        ``lam |W|_{2,1}``
    slack : float
        Product of the weights with minus half the gradient of the squares.
    reach : float
        See `reach_of`.

    Examples
    --------
    >>> duality_gap(10.0, 0.0, 0.0, 1.0)  # no weights, and nothing asks for any
    0.0
    """
    return (1.0 - reach) ** 2 * square + norms - 2.0 * reach * slack


def objective_and_gap(
    square: float, lam: float, values: FloatArray, own_gradient: FloatArray, gradient: FloatArray
) -> tuple[float, float]:
    """Objective and duality gap of one node.

    Parameters
    ----------
    square : float
        All squares of the objective.
    lam : float
    values : array of shape (n_rows, n_targets)
        Weights in some rows; the others are 0.
    own_gradient : array of shape (n_rows, n_targets)
        Minus half the gradient of the squares in these rows.
    gradient : array of shape (n_features, n_targets)
        The same in all rows.
    """
    norms, slack = lam * float(row_norms(values).sum()), float(np.sum(values * own_gradient))
    return square + norms, duality_gap(square, norms, slack, reach_of(gradient, lam))
