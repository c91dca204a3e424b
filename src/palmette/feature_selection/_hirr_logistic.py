"""The logistic loss of HiRR-FS: nodes as least squares that bound it from above, and the solver.

The loss of a row is ``log(1 + exp(f)) - y f``, summed over the options of its node, where ``f`` is
linear in the features. Its second derivative is at most 1/4, so that at any ``f`` an eighth of the
squared distance to ``f + 4 (y - p)`` is an upper bound, up to a constant, that touches it. A step
minimizes this bound by the descent of the squared loss; the objective never increases. Everything
is multiplied by `SCALE`, which makes the bound a sum of squares without a factor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import entr, expit

from palmette._arrays import FloatArray
from palmette.feature_selection._base import ScoringProblem
from palmette.feature_selection._hirr_descent import (
    MEMORY,
    ROUNDING,
    dual_scale,
)
from palmette.feature_selection._hirr_design import Design, SparseDesign
from palmette.feature_selection._hirr_problem import (
    HirrProblem,
    RowDesigns,
    Solution,
    Weights,
    indicators,
)
from palmette.feature_selection._hirr_solvers import _descend_node, weights_ahead

SCALE = 8.0  # of the squares that bound the logistic loss
_CLOSE, _CLOSEST = 0.1, 1e-8  # accuracy of a bound's minimum relative to the gap: at first, at last
_SLOW = 0.9  # a sweep that leaves more than this of the gap makes the next one more accurate
_NEWTON = 50  # maximum number of steps for an intercept
_STEEPEST = 30.0  # intercepts are at most this: of options that all rows have, they are infinite


class LogisticNode:
    """Rows of a node with 0/1 targets, the linear function at the current weights, and its loss.

    Parameters
    ----------
    problem : ScoringProblem
    t : int
        The task.
    design : DenseDesign or SparseDesign
        Its targets are replaced.
    width : int
        Number of targets. Those beyond the options of the node are 1/2 in all rows, which a
        function of 0 fits best.
    has_intercept : bool
        Whether there is an intercept; then the columns of the design are centred.

    Attributes
    ----------
    energy : float
        Loss of zero weights.
    lambda_max : float
        Smallest lambda at which zero weights are optimal, if nodes are not coupled.
    """

    def __init__(
        self, problem: ScoringProblem, t: int, design: Design, width: int, has_intercept: bool
    ) -> None:
        task = problem.task(t)
        self.unit, targets = indicators(problem, task, width)
        self.y = targets / self.unit[:, None]
        self.y[:, task.n_options :] = 0.5
        self.design: Any = design
        self._mass, self._has_intercept = self.unit**2, has_intercept
        self._constant = float(np.log(2.0) * self._mass.sum() * (width - task.n_options))
        self._intercept = np.zeros(width)
        self.move(Weights.none(width))
        self.energy = self.loss()
        self.lambda_max = float(np.sqrt(np.max(np.sum(self.gradient() ** 2, axis=1), initial=0.0)))

    def move(self, weights: Weights) -> None:
        """Set the linear function and the targets of the design to those of some weights."""
        design, rows = self.design, weights.rows
        if isinstance(design, SparseDesign):
            values = weights.values / design.scales[rows, None]
            fitted = design.X[:, rows] @ values - np.outer(self.unit, design.means[rows] @ values)
        else:
            fitted = design.Z[:, rows] @ weights.values
        self.f = fitted / self.unit[:, None]
        if self._has_intercept:
            self._find_intercept()
        self.residual = self.y - expit(self.f)
        targets = (self.f + 4.0 * self.residual) * self.unit[:, None]
        if self._has_intercept:
            targets -= np.outer(self.unit, self.unit @ targets / self._mass.sum())
        design.set_targets(targets)

    def _find_intercept(self) -> None:
        """Add the intercept that minimizes the loss, by steps of Newton from the last one."""
        b, wanted = self._intercept, self._mass @ self.y
        for _ in range(_NEWTON):
            p = expit(self.f + b)
            slope = wanted - self._mass @ p
            # the step is limited by that of the bound where the curvature is small
            curvature = np.maximum(self._mass @ (p * (1.0 - p)), 1e-6 * self._mass.sum())
            step = np.clip(slope / curvature, -2.0, 2.0)
            b = np.clip(b + step, -_STEEPEST, _STEEPEST)
            if np.abs(step).max(initial=0.0) < 1e-12:
                break
        self._intercept = b
        self.f = self.f + b

    def loss(self) -> float:
        """Return the loss; targets that the node does not have count from log 2 on."""
        cells = np.logaddexp(0.0, self.f) - self.y * self.f
        return float(self._mass @ cells.sum(axis=1)) - self._constant

    def gradient(self) -> FloatArray:
        """Return minus the gradient of the loss: (n_features, n_targets)."""
        rows: FloatArray = self.residual * self.unit[:, None]
        if isinstance(self.design, SparseDesign):
            return self.design._transposed(rows)
        product: FloatArray = self.design.Z.T @ rows
        return product

    def fenchel(self, scale: float) -> float:
        """Return what the loss lacks to be tight against `scale` times its residuals; 0 for 1."""
        dual = scale * self.residual
        p = self.y - dual
        cells = np.logaddexp(0.0, self.f) - self.y * self.f + self.f * dual
        return float(self._mass @ (cells - entr(p) - entr(1.0 - p)).sum(axis=1))


class LogisticDesigns:
    """The designs of all tasks, whose targets follow the weights.

    Parameters
    ----------
    problem : ScoringProblem
    designs : RowDesigns
        Kept in memory.
    """

    def __init__(self, problem: ScoringProblem, designs: RowDesigns) -> None:
        self.nodes = [
            LogisticNode(problem, t, designs[t], int(width), bool(designs.standardize))
            for t, width in enumerate(designs.widths)
        ]

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, t: int) -> Design:
        design: Design = self.nodes[t].design
        return design


def assess_logistic(
    problem: HirrProblem, nodes: Sequence[LogisticNode], weights: Sequence[Weights]
) -> tuple[float, float]:
    """Return the objective at the weights to which the nodes were moved, and the duality gap.

    The gap means what that of `HirrProblem.assess` does. `problem` is multiplied by `SCALE`, the
    result is not.
    """
    parts = []
    for t, (node, own) in enumerate(zip(nodes, weights, strict=True)):
        gradient, coupling, square = node.gradient(), problem.couple(t, weights), 0.0
        if coupling is not None:
            gradient += coupling.gradient(own.rows, own.values) * (2.0 / SCALE)
            square = problem.coupling_square(t, weights, coupling) / SCALE
        lam = float(problem.lam[t]) / SCALE
        slack = float(np.sum(own.values * gradient[own.rows]))
        # dual_scale is that of squares, of which the gradient is doubled
        parts.append((square, lam * own.norms.sum(), slack, dual_scale(0.5 * gradient, lam)))
    found = np.array(parts)
    if problem.is_coupled:
        found[:, 3] = found[:, 3].min(initial=1.0)
    square, norms, slack, scale = found.T
    value = sum(node.loss() for node in nodes) + float(square.sum() + norms.sum())
    gap = sum(node.fenchel(each) for node, each in zip(nodes, scale, strict=True))
    return value, gap + float(np.sum(norms - scale * slack + (1.0 - scale) ** 2 * square))


def solve_logistic(
    problem: HirrProblem,
    nodes: Sequence[LogisticNode],
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    start: Sequence[Weights] | None = None,
    callback: Callable[[int, float], object] | None = None,
) -> Solution:
    """Minimize the logistic objective by sweeps over the nodes, each a step to a bound's minimum.

    Parameters
    ----------
    problem : HirrProblem
        With `LogisticDesigns`, and all strengths multiplied by `SCALE`.
    nodes : sequence of LogisticNode
    tol, max_iter, start, callback
        As in `solve_bcd`; the tolerance is relative to the loss of zero weights.
    """
    widths = [node.y.shape[1] for node in nodes]
    weights = [Weights.none(width) for width in widths] if start is None else list(start)
    _move_all(nodes, weights)
    value, gap = assess_logistic(problem, nodes, weights)
    tolerance = max(tol, ROUNDING) * sum(node.energy for node in nodes)
    objective, past, share = [value], [list(weights)], _CLOSE
    while gap > tolerance and len(objective) <= max_iter:
        before = gap
        for t, node in enumerate(nodes):
            close = SCALE * share * gap / len(nodes)
            weights[t] = _descend_node(problem, t, weights, close / node.design.energy)
            node.move(weights[t])
        value, gap = assess_logistic(problem, nodes, weights)
        past.append(list(weights))
        if len(past) > MEMORY:
            ahead = weights_ahead(past)
            if ahead is not None:
                _move_all(nodes, ahead)
                value_ahead, gap_ahead = assess_logistic(problem, nodes, ahead)
                if value_ahead < value:
                    weights, value, gap = ahead, value_ahead, gap_ahead
                else:
                    _move_all(nodes, weights)
            past = [list(weights)]
        if gap > _SLOW * before:  # a node with small weights may determine the gap of all
            share = max(0.5 * share, _CLOSEST)
        objective.append(value)
        if callback is not None:
            callback(len(objective) - 1, value)
    return Solution(weights, objective, gap, "bcd", gap <= tolerance)


def _move_all(nodes: Sequence[LogisticNode], weights: Sequence[Weights]) -> None:
    for node, own in zip(nodes, weights, strict=True):
        node.move(own)
