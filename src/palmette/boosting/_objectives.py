"""Objectives: Newton steps for softmax and logistic losses, weights of AdaBoost and its codes."""

from __future__ import annotations

import itertools
from copy import copy
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.base._fitting import Threads
from palmette.base._scratch import Empty
from palmette.boosting._hypotheses import Coloured
from palmette.boosting._weak import regrow
from palmette.labels._space import LabelSpace

Floats = NDArray[np.float32]
Sums = NDArray[np.float64]

_LEAST_SHARE = 1e-4  # a column that is always or never true would start at infinity
_SMALL = 2**16  # up to this number of gradients, the cost of float64 is negligible
MAX_STEP = 4.0  # of a leaf before shrinkage
_FEW_COLUMNS = 8  # with fewer, plain loops are faster than vectors of sixteen columns


def working_dtype(size: int) -> type[np.floating]:
    """Return float32, or float64 for small arrays.

    Small data have many equally good splits; in float32, rounding would decide between them, and a
    weight of two would not equal two copies of a row.
    """
    return np.float64 if is_small(size) else np.float32


def is_small(size: int) -> bool:
    """Return whether data with a number of gradients are small: they have no blocks of rows."""
    return size <= _SMALL


def in_lanes(scores: NDArray[Any]) -> bool:
    """Return whether gradients are computed in vectors of float32 numbers.

    They are as precise as in plain loops, and several times as fast from a few columns on.
    """
    return scores.dtype == np.float32 and scores.shape[1] >= _FEW_COLUMNS


class Loss(Protocol):
    """A loss of scores whose gradients are ``weight (y - p)`` with p a probability."""

    n_columns: int

    def start(self) -> Floats:
        """Return the initial scores, of shape (n_columns,)."""

    def gradients(self, scores: Floats, out: Floats, start: int = 0) -> float:
        """Write weighted gradients and return the sum of the losses.

        `scores` and `out`, (n_rows, n_columns), are those of the rows from `start` on.
        """

    def of_rows(self, start: int, stop: int) -> Loss:
        """Return the loss of some rows, without initial scores."""

    def true_columns(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the columns true of row ``i``, ``columns[starts[i]:starts[i + 1]]``.

        The loss of a row is the logarithm of a normalizer less the sum of their scores.
        """


def newton_steps(sums: Sums, curvature: Sums, max_step: float = MAX_STEP) -> Sums:
    """Return the steps of leaves before shrinkage, given sums over their rows.

    The curvature is increased by one, so that the votes of pure leaves stay bounded.
    """
    return np.clip(sums / (curvature + 1.0), -max_step, max_step)


def gradients_of_blocks(
    loss: Loss, scores: Floats, out: Floats, last: Any, n_rows: int, threads: Threads
) -> list[float]:
    """Write gradients of large data, block by block.

    Parameters
    ----------
    loss : Loss
    scores, out : float32 arrays of shape (n_samples, n_columns)
        The votes of the last tree are added to the scores; `out` are the gradients.
    last : (leaf, values) or None
        Leaf of every row in the last tree, (n_samples,), and its votes, (n_leaves, n_columns).
    n_rows : int
        Rows of a block.
    threads : Threads

    Returns
    -------
    list of float
        Sum of the losses of every block.
    """
    from palmette.boosting._block_sums import WORTH, count_blocks
    from palmette.boosting._votes import add_leaf_values

    def write(start: int, stop: int) -> list[float]:
        losses = []
        for first in range(start * n_rows, min(stop * n_rows, len(scores)), n_rows):
            here = slice(first, first + n_rows)
            if last is not None:
                add_leaf_values(last[0][here], last[1], scores[here])
            losses.append(loss.gradients(scores[here], out[here], first))
        return losses

    parts = threads.share(write, count_blocks(len(scores), n_rows), scores.size // WORTH)
    return list(itertools.chain(*parts))


class GradientObjective:
    """Gradient boosting by Newton steps on the scores of the training rows.

    Parameters
    ----------
    loss : Loss
    weights : array of shape (n_samples,)
        Positive.
    learning_rate : float
    max_step : float
        Maximum step of a leaf before shrinkage.
    empty : callable
        Makes the arrays of rows and columns.

    Attributes
    ----------
    threads : Threads
        Divide the rows of large data; results do not depend on their number.

    Notes
    -----
    Holds scores and gradients: two float32 arrays of shape (n_samples, n_columns).
    """

    def __init__(
        self,
        loss: Loss,
        weights: Sums,
        learning_rate: float,
        max_step: float = MAX_STEP,
        empty: Empty = np.empty,
    ) -> None:
        self._loss = loss
        self._weights = weights.astype(np.float32)
        self._total = float(self._weights.sum(dtype=np.float64))
        self._rate = learning_rate
        self._max_step = max_step
        self.start = loss.start()
        shape = len(weights), len(self.start)
        dtype = working_dtype(shape[0] * shape[1])
        self._scores, self._buffer = empty(shape, dtype), empty(shape, dtype)
        self._scores[:] = self.start
        self._last: tuple[NDArray[np.int32], Floats] | None = None  # votes that are still to add
        self.threads = Threads(1)
        self.edge = np.nan
        self.loss = np.nan

    def gradients(self, turn_seed: int) -> Floats:
        """Return the weighted gradients, (n_samples, n_columns), and set `loss`."""
        if self._is_small:
            total = self._loss.gradients(self._scores, self._buffer)
        else:
            total = self._gradients_of_blocks()
        self.loss = total / self._total
        return self._buffer

    @property
    def _is_small(self) -> bool:
        return self._scores.dtype == np.float64

    def _gradients_of_blocks(self) -> float:
        """Add the votes of the last tree to the scores and write gradients, block by block."""
        from palmette.boosting._block_sums import block_rows

        last, self._last = self._last, None
        n_rows = block_rows(*self._scores.shape)
        given = self._loss, self._scores, self._buffer, last, n_rows, self.threads
        return float(sum(gradients_of_blocks(*given)))

    def take(self, grown: Any) -> Any:
        """Set the votes of the leaves of a tree, and add them to the scores."""
        sums, curvature, cover = self._sums_at_leaves(grown)
        steps = newton_steps(sums, curvature, self._max_step)
        tree = grown.hypothesis(self._rate * steps.T, self._weights, cover=cover)
        self._last = grown.leaf, tree.values
        if self._is_small:
            self._add_last()
        return tree

    def _sums_at_leaves(self, grown: Any) -> tuple[Sums, Sums, Sums | None]:
        if not self._is_small:
            from palmette.boosting._block_sums import sum_at_leaves

            return sum_at_leaves(
                self._buffer, self._weights, grown.leaf, grown.n_leaves, self.threads
            )
        from palmette.boosting._votes import newton_sums

        shape = grown.n_leaves, self._scores.shape[1]
        sums, curvature = np.zeros(shape), np.zeros(shape)
        newton_sums(self._buffer, self._weights, grown.leaf, sums, curvature)
        return sums, curvature, None

    def _add_last(self) -> None:
        """Add the votes of the last tree to the scores."""
        from palmette.boosting._votes import add_leaf_values

        if self._last is not None:
            add_leaf_values(*self._last, self._scores)
            self._last = None

    def replay(self, hypothesis: Any, samples: Any) -> None:
        """Update by a tree of an earlier fit, as `take` did."""
        self._add_last()
        hypothesis.add_scores(samples, self._scores)


class LeafSoftmax:
    """Log-likelihood of a softmax over the labels.

    Parameters
    ----------
    targets : int32 array of shape (n_samples,)
        Label of each row.
    weights : float array of shape (n_samples,)
        Positive.
    n_labels : int
    """

    def __init__(self, targets: NDArray[np.int32], weights: Sums, n_labels: int) -> None:
        self.n_columns = n_labels
        self._targets = targets
        self._shares = np.bincount(targets, weights, minlength=n_labels) / weights.sum()
        self._weights = weights.astype(np.float32)

    def start(self) -> Floats:
        """Return the logarithms of the shares of the labels."""
        return np.asarray(np.log(self._shares), dtype=np.float32)

    def gradients(self, scores: Floats, out: Floats, start: int = 0) -> float:
        """Write the gradients; see `Loss`."""
        rows = slice(start, start + len(scores))
        if in_lanes(scores):
            from palmette.boosting._loss_lanes import softmax_gradients
        else:
            from palmette.boosting._votes import softmax_gradients

        return float(softmax_gradients(scores, self._targets[rows], self._weights[rows], out))

    def of_rows(self, start: int, stop: int) -> LeafSoftmax:
        """Return the loss of some rows; see `Loss`."""
        part = copy(self)
        part._targets, part._weights = self._targets[start:stop], self._weights[start:stop]
        return part

    def true_columns(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the labels; see `Loss`."""
        return np.arange(len(self._targets) + 1), self._targets


class PathSoftmax:
    """Log-likelihood of paths, whose scores are the sums of the scores of their nodes.

    Parameters
    ----------
    targets : int32 array of shape (n_samples,)
        Label of each row, as a position in ``space.classes``.
    weights : float array of shape (n_samples,)
    space : LabelSpace
        The columns are its active nodes without the root.

    Attributes
    ----------
    parents : int32 array of shape (n_columns,)
        Column of every node's parent, smaller than its own; -1 below the root.
    ends : bool array of shape (n_columns,)
        Whether a path may end at a node.
    """

    def __init__(self, targets: NDArray[np.int32], weights: Sums, space: LabelSpace) -> None:
        self.n_columns = space.n_active - 1
        self._targets = (space.class_place[targets] - 1).astype(np.int32)
        self.parents = (space.parent[1:] - 1).astype(np.int32)
        self.ends = space.is_class[1:]
        self._weights = weights.astype(np.float32)

    def start(self) -> Floats:
        """Return zeros: all paths have the same score."""
        return np.zeros(self.n_columns, dtype=np.float32)

    def gradients(self, scores: Floats, out: Floats, start: int = 0) -> float:
        """Write the gradients; see `Loss`."""
        rows = slice(start, start + len(scores))
        if in_lanes(scores):
            from palmette.boosting._path_lanes import path_softmax_gradients
        else:
            from palmette.boosting._votes import path_softmax_gradients

        return float(
            path_softmax_gradients(
                *(scores, self._targets[rows], self._weights[rows]),
                *(self.parents, self.ends, out),
            )
        )

    def of_rows(self, start: int, stop: int) -> PathSoftmax:
        """Return the loss of some rows; see `Loss`."""
        part = copy(self)
        part._targets, part._weights = self._targets[start:stop], self._weights[start:stop]
        return part

    def true_columns(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the nodes on the paths of the labels; see `Loss`."""
        paths: list[list[int]] = []
        for k, parent in enumerate(self.parents.tolist()):  # parents come before their children
            paths.append([*(paths[parent] if parent >= 0 else []), k])
        lengths = np.array([len(path) for path in paths])
        columns = np.concatenate([np.asarray(path, np.int32) for path in paths])
        before = np.cumsum(lengths) - lengths
        sizes = lengths[self._targets]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        at = np.arange(starts[-1]) + np.repeat(before[self._targets] - starts[:-1], sizes)
        return starts, columns[at]


class Logistic:
    """Log-likelihood of independent columns, several of which may be true for a row.

    Parameters
    ----------
    positives : sparse bool array of shape (n_samples, n_columns)
    weights : float array of shape (n_samples,)
    """

    def __init__(self, positives: sparse.csr_array, weights: Sums) -> None:
        self.n_columns = int(positives.shape[1])
        self._starts = positives.indptr.astype(np.int64)
        self._columns = positives.indices.astype(np.int32)
        shares = weights @ positives.astype(np.float64) / weights.sum()
        self._shares = np.clip(shares, _LEAST_SHARE, 1 - _LEAST_SHARE)
        self._weights = weights.astype(np.float32)

    def start(self) -> Floats:
        """Return the log-odds of the shares of the columns."""
        return np.asarray(np.log(self._shares / (1 - self._shares)), dtype=np.float32)

    def gradients(self, scores: Floats, out: Floats, start: int = 0) -> float:
        """Write the gradients; see `Loss`."""
        rows = slice(start, start + len(scores))
        if in_lanes(scores):
            from palmette.boosting._loss_lanes import logistic_gradients
        else:
            from palmette.boosting._votes import logistic_gradients

        starts = self._starts[start : start + len(scores) + 1]
        return float(logistic_gradients(scores, starts, self._columns, self._weights[rows], out))

    def of_rows(self, start: int, stop: int) -> Logistic:
        """Return the loss of some rows; see `Loss`."""
        part, first, last = copy(self), self._starts[start], self._starts[stop]
        part._starts = self._starts[start : stop + 1] - first
        part._columns = self._columns[first:last]
        part._weights = self._weights[start:stop]
        return part

    def true_columns(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the positive columns; see `Loss`."""
        return self._starts, self._columns


NO_EDGE = 1e-6  # smaller edges are rounding errors

_SMALL_MASS = 1e-15
_IDLE = 8  # colourings in turn without an edge that end a fit
_PRIOR_PAIRS = 3.0
_TINY = np.finfo(np.float64).tiny


class AdaBoostWeights:
    """Weights ``w(i, j)`` of AdaBoost.MH, with the signs of the labels.

    The state is one float64 array of shape (n_samples, n_columns), whose signs are the labels. It
    is not normalized in every round (eq. 10 divides by Z): edges are relative to its sum, which is
    the exponential loss.

    Parameters
    ----------
    positives : sparse bool array of shape (n_samples, n_columns)
        The columns that are true for each row.
    weights : array of shape (n_samples,)
        Weights of the rows.
    costs : array of shape (n_columns,)
        Initial weights of the columns (eq. 5), up to a factor.
    coefficient : "global" or "per_class"
        One coefficient per round (eq. 8-9), or one per column; the weights of a column are then
        normalized to sum to its cost.
    votes : "sign" or "confidence"
        Votes -1 and +1 times the coefficient, or half the log-odds of the weights in a leaf.
    learning_rate : float
    by_column : bool
        Whether the weak learner fits every column independently of its scale: it then receives the
        weights without a scaled copy.
    needs_edge : bool
        Whether boosting ends at a hypothesis without an edge; else it is added, with votes close to
        zero. Votes by sign require an edge.
    empty : callable
        Makes the arrays of rows and columns.
    """

    def __init__(
        self,
        positives: sparse.csr_array,
        weights: Sums,
        costs: Sums,
        *,
        coefficient: str = "global",
        votes: str = "sign",
        learning_rate: float = 1.0,
        by_column: bool = False,
        needs_edge: bool = True,
        empty: Empty = np.empty,
    ) -> None:
        self._costs = costs / costs.sum()
        self._row_weights = weights.astype(np.float32)
        self._per_class = coefficient == "per_class"
        self._votes = votes
        self._rate = learning_rate
        self._needs_edge = needs_edge
        shape = len(weights), len(costs)
        self.signed: Sums = empty(shape, np.float64)
        np.multiply.outer(-weights / weights.sum(), self._costs, out=self.signed)
        rows, columns = positives.nonzero()
        self.signed[rows, columns] *= -1.0
        self._mass = self._costs.copy()
        self._scale = np.ones(len(costs))  # per column: `signed` times this is the weight
        self.threads = Threads(1)
        dtype = working_dtype(self.signed.size)
        self._buffer: NDArray[Any] | None = None if by_column else empty(shape, dtype)
        # a weight of k counts as k rows; small weights do not reduce the number of rows
        self._n_rows = max(float(weights.sum()), float(len(weights)))
        # without it, eq. 8 is infinite for an edge of one
        self._smoothing = 1.0 / (self._n_rows * len(costs))
        self.edge = np.nan

    @property
    def loss(self) -> float:
        """Mean of ``exp(-y F)`` over all pairs, weighted by the costs of the columns."""
        return float(self._mass @ self._scale)

    @property
    def start(self) -> NDArray[np.float32]:
        """Initial scores: zeros."""
        return np.zeros(self.signed.shape[1], dtype=np.float32)

    def gradients(self, turn_seed: int) -> NDArray[Any]:
        """Return the signed weights, (n_samples, n_columns), up to a factor per column."""
        if self._buffer is None:
            return self.signed
        if self._per_class:
            scale = self._costs / np.maximum(self._mass, _TINY)
        else:
            scale = np.full(len(self._mass), 1.0 / self._mass.sum())
        np.multiply(self.signed, scale, out=self._buffer, casting="same_kind")
        return self._buffer

    def take(self, grown: Any) -> Any:
        """Set the coefficients of a hypothesis and update by it; None if it has no edge."""
        positive, negative = grown.sums(self.signed)
        if self._votes == "confidence":
            values = self._rate * self._log_odds(positive, negative)
            self.edge = self._edge_of(np.abs(positive - negative).sum(axis=1))
            if self._needs_edge and self.edge <= NO_EDGE:
                return None
        else:
            signs = grown.signs(positive, negative)
            edges = ((positive - negative) * signs).sum(axis=1)
            self.edge = self._edge_of(edges)
            coefficients = self._coefficients(edges)
            if coefficients is None:
                return None
            values = coefficients[:, None] * signs
        hypothesis = grown.hypothesis(values, self._row_weights, positive + negative)
        # by the votes as they are stored, so that `replay` leads to the same weights
        self._update(grown, hypothesis.table())
        return hypothesis

    def _update(self, grown: Any, values: Sums) -> None:
        """Multiply the weights by the exponential loss of the votes (eq. 10)."""
        grown.reweigh(self.signed, values, self._mass)
        if self._mass.min() > _SMALL_MASS:
            return
        # rescale long before float32 sums underflow
        shrunk = self._mass / self._costs if self._per_class else self._mass.sum()
        shrunk = np.broadcast_to(np.maximum(shrunk, _TINY), self._mass.shape)
        self.signed /= shrunk
        self._mass /= shrunk
        self._scale *= shrunk

    def _edge_of(self, edges: Sums) -> float:
        """Return the edge of all columns together (eq. 9), given sums in the scale of `_mass`."""
        if self._per_class:  # the weights of every column are normalized to its cost
            return float(self._costs @ (edges / np.maximum(self._mass, _TINY)))
        return float(edges.sum() / self._mass.sum())

    def _coefficients(self, edges: Sums) -> Sums | None:
        """Return the coefficient of every column; None if there is no edge."""
        if not self._per_class:
            if self.edge <= NO_EDGE:
                return None
            alpha = coefficient_of(self.edge, self._smoothing)
            return np.full(len(edges), self._rate * alpha)
        relative = edges / np.maximum(self._mass, _TINY)
        if relative.max() <= NO_EDGE:
            return None
        relative[relative <= NO_EDGE] = 0.0
        return np.asarray(self._rate * coefficient_of(relative, self._smoothing))

    def _log_odds(self, positive: Sums, negative: Sums) -> Sums:
        # as if every leaf contained a few more average pairs of either sign, so that the votes of
        # pure leaves stay bounded; cross-validation hardly depends on their number
        extra = _PRIOR_PAIRS * self._mass[:, None] / self._n_rows
        return np.asarray(0.5 * np.log((positive + extra) / (negative + extra)))

    def replay(self, hypothesis: Any, samples: Any) -> None:
        """Update by a hypothesis of an earlier fit, as `take` did."""
        self._update(regrow(hypothesis, samples), hypothesis.table())


def coefficient_of(edge: Any, smoothing: float) -> Any:
    """Return half the log-odds of an edge (eq. 8), smoothed for edges close to one."""
    return 0.5 * np.log((1.0 + edge + smoothing) / (1.0 - edge + smoothing))


class ColouringWeights:
    """Weights ``d(i, l)`` of confusing row i with the wrong label l.

    Every round assigns the colours -1 and +1 to random halves of the labels. The weight of a row is
    the sum of its weights for labels of the other colour; the hypothesis predicts the colour, and
    votes for all labels of a colour at once.

    Parameters
    ----------
    targets : int array of shape (n_samples,)
        True label of each row.
    weights : array of shape (n_samples,)
    n_labels : int
    learning_rate : float
    """

    def __init__(
        self, targets: NDArray[np.int32], weights: Sums, n_labels: int, learning_rate: float = 1.0
    ) -> None:
        self._targets = targets
        self._row_weights = weights.astype(np.float32)
        self._rate = learning_rate
        # a weight of k counts as k rows; small weights do not reduce the number of rows
        self._n_rows = max(float(weights.sum()), float(len(weights)))
        shares = weights / weights.sum() / max(n_labels - 1, 1)
        self.confusions = np.repeat(shares[:, None], n_labels, axis=1)
        self.confusions[np.arange(len(targets)), targets] = 0.0
        self._code = np.empty(n_labels, dtype=np.int8)
        self._signed = np.empty((len(targets), 1))
        self.threads = Threads(1)
        self._idle = 0  # rounds without an edge; the next colouring may have one
        self.edge = np.nan
        self.loss = 1.0

    @property
    def start(self) -> NDArray[np.float32]:
        """Initial scores: zeros."""
        return np.zeros(len(self._code), dtype=np.float32)

    def gradients(self, turn_seed: int) -> NDArray[np.float32]:
        """Draw a colouring; return the signed weights of the binary problem: (n_samples, 1)."""
        n_labels = len(self._code)
        rng = np.random.default_rng([turn_seed, 1])
        self._code = np.full(n_labels, -1, dtype=np.int8)
        self._code[rng.permutation(n_labels)[: (n_labels + 1) // 2]] = 1
        own = self._code[self._targets].astype(np.float64)
        # weight of the labels of the other colour; a difference would lose digits
        above, below = self.confusions @ (self._code > 0), self.confusions @ (self._code < 0)
        weights = np.where(own > 0, below, above)
        if not weights.any():  # all weights have underflowed: use those of the rows
            weights = self._row_weights.astype(np.float64)
        self._signed[:, 0] = own * weights / weights.sum()
        return self._signed.astype(np.float32)

    def take(self, grown: Any) -> Any:
        """Set the votes of a hypothesis and update by it; None if it has no edge."""
        positive, negative = grown.sums(self._signed)
        self.edge = float(np.abs(positive - negative).sum())
        if self.edge <= NO_EDGE and self._idle >= _IDLE:
            return None
        extra = 0.5 / self._n_rows  # as if every leaf contained one more average row
        values = 0.5 * self._rate * np.log((positive + extra) / (negative + extra))
        binary = grown.hypothesis(values, self._row_weights, positive + negative)
        hypothesis = Coloured(binary, self._code)
        self._update(grown.votes(binary.table())[:, 0], self._code)
        return hypothesis

    def _update(self, votes: Sums, code: NDArray[np.int8]) -> None:
        """Multiply d(i, l) by ``exp(vote (code(l) - code(y)) / 2)``."""
        self._idle = 0 if np.abs(votes).max() > NO_EDGE else self._idle + 1
        own = code[self._targets]
        # code(l) - code(y) is 0 for labels of the row's colour, else twice the other colour
        up = np.exp(-own * votes)
        other = code[None, :] != own[:, None]
        np.multiply(self.confusions, up[:, None], out=self.confusions, where=other)
        total = self.confusions.sum()
        self.confusions /= total
        self.loss *= float(total)

    def replay(self, hypothesis: Any, samples: Any) -> None:
        """Update by a hypothesis of an earlier fit, as `take` did."""
        votes = regrow(hypothesis.binary, samples).votes(hypothesis.binary.table())
        self._update(votes[:, 0], hypothesis.code)
