"""Gradient boosting with scores and gradients on a device of torch.

The losses differ in their probabilities p only: the gradient is ``weight (y - p)``, and the loss of
a row is the logarithm of a normalizer less the scores of its true columns. Opposites of gradients
are kept, so that p is written once. Sums are in float64, but for those of a few rows, in an order
that is the same in every run. The time of a round is that of reading and writing all scores or
gradients: there are few such passes.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette.base._devices import placed, require_memory
from palmette.base._fitting import Threads
from palmette.boosting._device_tree import DeviceGradients, GroupedRows, at_once, sum_rows, taken
from palmette.boosting._hypotheses import Samples
from palmette.boosting._objectives import (
    LeafSoftmax,
    Logistic,
    PathSoftmax,
    newton_steps,
    working_dtype,
)

Sums: TypeAlias = NDArray[np.float64]
Tensor: TypeAlias = Any  # of torch, which is imported where it is used


# ---------------------------------------------------------------------------- probabilities


class _Softmax:
    """Probabilities of a softmax over the columns."""

    def write(self, scores: Tensor, out: Tensor) -> Tensor | None:
        """Write the probabilities of some rows; return the logarithms of their normalizers.

        Parameters
        ----------
        scores, out : tensors of shape (n_rows, n_columns)

        Returns
        -------
        float64 tensor of shape (n_rows,), or None
            None if the loss of a row is the logarithm of the probability of its only true column.
        """
        import torch

        torch.softmax(scores, 1, out=out)
        return None


class _Logistic:
    """Probabilities of independent columns."""

    def write(self, scores: Tensor, out: Tensor) -> Tensor:
        """Write probabilities, and return sums of ``log(1 + exp(score))``; see `_Softmax`."""
        import torch

        total = torch.nn.functional.softplus(scores).sum(1).double()
        torch.sigmoid(scores, out=out)
        return total


class _PathSoftmax:
    """Probabilities of nodes by a softmax over paths, whose scores are sums over their nodes.

    Parameters
    ----------
    parents : int array of shape (n_columns,)
        Column of every node's parent, -1 below the root; columns are in preorder.
    ends : bool array of shape (n_columns,)
        Whether a path may end at a node.
    device : torch.device
    """

    def __init__(self, parents: NDArray[np.int32], ends: NDArray[np.bool_], device: Any) -> None:
        n_columns = len(parents)
        depth, after = np.zeros(n_columns, np.int64), np.arange(1, n_columns + 1)
        for k, parent in enumerate(parents):
            depth[k] = 0 if parent < 0 else depth[parent] + 1
        for k in range(n_columns - 1, -1, -1):  # the end of each subtree
            if parents[k] >= 0:
                after[parents[k]] = max(after[parents[k]], after[k])
        self._levels = []
        for level in range(1, int(depth.max(initial=0)) + 1):
            columns = np.flatnonzero(depth == level)
            above = parents[columns].astype(np.int64)
            self._levels.append((placed(columns, device), placed(above, device)))
        self._no_end, self._after = placed(~ends, device), placed(after, device)

    def write(self, scores: Tensor, out: Tensor) -> Tensor:
        """Write the probabilities of nodes; see `_Softmax`."""
        import torch

        paths = scores.clone()
        for columns, parents in self._levels:
            paths[:, columns] += paths[:, parents]
        paths.masked_fill_(self._no_end, -torch.inf)
        torch.softmax(paths, 1, out=out)
        # the largest probability is exp(top - normalizer)
        norm = paths.amax(1).double() - out.amax(1).double().log()
        # a node has the sum over its subtree, which is a range of columns
        before = torch.nn.functional.pad(out.cumsum(1, dtype=torch.float64), (1, 0))
        out.copy_(before[:, self._after] - before[:, :-1])
        return norm


def _probabilities(loss: Any, device: Any) -> Any:
    """Return the probabilities of a loss on a device."""
    if isinstance(loss, PathSoftmax):
        return _PathSoftmax(loss.parents, loss.ends, device)
    return {LeafSoftmax: _Softmax, Logistic: _Logistic}[type(loss)]()


# ---------------------------------------------------------------------------- the objective


class DeviceObjective:
    """Newton steps as of `GradientObjective`, on a device.

    Parameters
    ----------
    loss : LeafSoftmax, PathSoftmax or Logistic
    weights : array of shape (n_samples,)
        Positive.
    learning_rate : float
    device : torch.device
    start : float32 array of shape (n_columns,), optional
        Initial scores; by default those of the loss.

    Notes
    -----
    Holds scores and gradients on the device: two float32 arrays of shape (n_samples, n_columns), or
    float64 for small data, where `GradientObjective` has float64, too.
    """

    def __init__(
        self,
        loss: Any,
        weights: Sums,
        learning_rate: float,
        device: Any,
        start: NDArray[np.float32] | None = None,
    ) -> None:
        import torch

        self.start = loss.start() if start is None else start
        n_samples, n_columns = len(weights), len(self.start)
        is_small = working_dtype(n_samples * n_columns) is np.float64
        dtype = torch.float64 if is_small else torch.float32
        n_bytes = 2 * (n_samples + at_once(n_columns)) * n_columns * (8 if is_small else 4)
        require_memory(device, n_bytes, f"{n_samples} rows with {n_columns} scores and gradients")
        self._probabilities = _probabilities(loss, device)
        starts, columns = loss.true_columns()
        # the true columns of all rows, and the row of each
        self._columns = placed(columns.astype(np.int64), device)
        self._rows = placed(np.repeat(np.arange(n_samples), np.diff(starts)), device)
        self._rate = learning_rate
        single = weights.astype(np.float32)
        self._total = float(single.sum(dtype=np.float64))
        self._unit = 2.0 ** (np.ceil(np.log2(self._total)) - 60)
        self._is_weighted = bool((single != 1).any())
        # of the last row, which stands at empty places, only zeros are summed
        self._weights = torch.as_tensor(np.append(single, np.float32(1)), device=device).double()
        self._scores = torch.as_tensor(self.start, device=device).to(dtype).repeat(n_samples, 1)
        self._buffer = torch.zeros((n_samples + 1, n_columns), dtype=dtype, device=device)
        self._last: tuple[Tensor, Tensor] | None = None  # votes that are still to add
        self.threads = Threads(1)
        self.edge = np.nan
        self.loss = np.nan

    def gradients(self, turn_seed: int) -> DeviceGradients:
        """Return opposites of the weighted gradients, and set `loss`."""
        import torch

        total = torch.zeros((), dtype=torch.float64, device=self._scores.device)
        norms = None
        for start, stop in self._blocks():
            self._add_votes(start, stop)
            out, weights = self._buffer[start:stop], self._weights[start:stop]
            norms = self._probabilities.write(self._scores[start:stop], out)
            if norms is not None:
                total += weights @ norms
            if self._is_weighted:
                out.mul_(weights.to(out.dtype)[:, None])
        self._last = None
        cells, weights = self._cells(), self._weights[self._rows]
        true = self._buffer.view(-1)[cells]
        if norms is None:
            total = self._surprise(true, weights)
        else:
            total -= weights @ self._scores.view(-1)[cells].double()
        true -= weights.to(true.dtype)
        self._buffer.view(-1)[cells] = self._true = true
        self.loss = float(total) / self._total
        if not np.isfinite(self.loss):
            raise FloatingPointError("the scores are not finite")
        return DeviceGradients(self._buffer)

    def _cells(self) -> Tensor:
        """Return the true cells of the table of scores, counted row after row."""
        return self._rows * self._scores.shape[1] + self._columns

    def _surprise(self, true: Tensor, weights: Tensor) -> Tensor:
        """Return the sum of opposites of logarithms of true probabilities, given times weights."""
        import torch

        shares = true.double() / weights
        kind = torch.finfo(self._scores.dtype)
        is_tiny = shares < kind.tiny / kind.eps  # it has too few digits
        total = -(weights @ shares.masked_fill(is_tiny, 1.0).log())
        rows = self._rows[is_tiny]
        if len(rows):
            norms = torch.logsumexp(self._scores[rows].double(), 1)
            right = self._scores[rows, self._columns[is_tiny]].double()
            total += weights[is_tiny] @ (norms - right)
        return total

    def take(self, grown: Any) -> Any:
        """Set the votes of the leaves of a tree, and add them to the scores of the next round."""
        import torch

        sums, curvature, cover = self._sums_at_leaves(grown.leaf, grown.n_leaves)
        steps = newton_steps(-sums, curvature)
        tree = grown.hypothesis(self._rate * steps.T, None, cover=cover)
        values = placed(tree.values, self._scores.device)
        self._last = grown.leaf.to(torch.int64), values.to(self._scores.dtype)
        return tree

    def replay(self, hypothesis: Any, samples: Any) -> None:
        """Update by a tree of an earlier fit."""
        from palmette.boosting._heap_tree import shared_leaf

        tree, device = hypothesis, self._scores.device
        leaf = shared_leaf(samples.codes, tree.features, tree.cuts, tree.leaf_at)
        values = placed(tree.values, device).to(self._scores.dtype)
        self._last = placed(leaf.astype(np.int64), device), values
        for start, stop in self._blocks():
            self._add_votes(start, stop)
        self._last = None

    def _blocks(self) -> list[tuple[int, int]]:
        """Return ranges of rows whose scores are computed together."""
        n_samples, n_columns = self._scores.shape
        step = at_once(n_columns)
        return [(i, min(i + step, n_samples)) for i in range(0, n_samples, step)]

    def _add_votes(self, start: int, stop: int) -> None:
        if self._last is not None:
            leaf, values = self._last
            self._scores[start:stop].add_(values.index_select(0, leaf[start:stop]))

    def _sums_at_leaves(self, leaf: Tensor, n_leaves: int) -> tuple[Sums, Sums, Sums]:
        """Sum opposites of gradients, curvatures and weights over the rows of every leaf.

        The curvature of a gradient g of a row of weight w is ``|g| (1 - |g| / w)``. Opposites are
        negative in true columns only.
        """
        import torch

        n_columns = self._scores.shape[1]
        kind: Any = {"dtype": torch.float64, "device": self._scores.device}
        sums, cover = torch.zeros((n_leaves, 2, n_columns), **kind), torch.zeros(n_leaves, **kind)
        grouped = GroupedRows(leaf, n_leaves)
        masses = torch.nn.functional.pad(self._weights[:-1], (0, 1))
        for part in grouped.parts(n_columns):
            here = taken(self._buffer, part.rows)
            numbers = sum_rows(here, "numbers")
            if self._is_weighted:
                here.mul_(self._weights[part.rows].rsqrt().to(here.dtype)[:, :, None])
                part.add_to(cover, masses[part.rows].sum(1))
            part.add_to(sums, torch.stack([numbers, sum_rows(here, "squares")], dim=1))
        total, squares = sums.unbind(1)
        curvature = total - squares - 2.0 * self._true_sums(leaf, n_leaves)
        found = torch.stack([total, curvature]).cpu().numpy()
        covered = cover.cpu().numpy() if self._is_weighted else grouped.counts.astype(np.float64)
        return found[0], found[1], covered

    def _true_sums(self, leaf: Tensor, n_leaves: int) -> Tensor:
        """Sum the opposites of gradients of true columns only: (n_leaves, n_columns).

        They are summed as integers, so that the order in which the device adds changes nothing.
        """
        import torch

        n_columns = self._scores.shape[1]
        cells = leaf[self._rows].to(torch.int64) * n_columns + self._columns
        whole = (self._true.double() / self._unit).to(torch.int64)
        sums = torch.zeros(n_leaves * n_columns, dtype=torch.int64, device=leaf.device)
        sums.index_add_(0, cells, whole)
        return sums.reshape(n_leaves, n_columns).double() * self._unit


class HeldOutOnDevice:
    """Scores of validation rows on a device, and their loss; see `HeldOutScores`.

    Parameters
    ----------
    samples : Samples
    losses : list of Loss
        One per model.
    weights : array of shape (n_samples,)
    device : torch.device
    start : float32 array of shape (n_columns,)
        Initial scores of all models.
    """

    def __init__(
        self,
        samples: Samples,
        losses: list[Any],
        weights: Sums,
        device: Any,
        start: NDArray[np.float32],
    ) -> None:
        starts = np.split(start, np.cumsum([loss.n_columns for loss in losses])[:-1])
        self._samples = samples
        self._objectives = [
            DeviceObjective(loss, weights, 0.0, device, own)
            for loss, own in zip(losses, starts, strict=True)
        ]

    def add(self, hypothesis: Any) -> None:
        """Add the votes of a round."""
        parts = getattr(hypothesis, "parts", (hypothesis,))
        for objective, part in zip(self._objectives, parts, strict=True):
            objective.replay(part, self._samples)

    def loss(self) -> float:
        """Return the mean over the models of the mean loss."""
        for objective in self._objectives:
            objective.gradients(0)
        return float(np.mean([objective.loss for objective in self._objectives]))
