"""Early stopping: rows kept aside, and the losses on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.engine.hypotheses import Samples
from palmette.exceptions import PalmetteError

__all__ = ["Validation", "split_rows"]


def split_rows(
    targets: Any, fraction: float, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Draw rows to be kept aside, leaving at least one row of every class to be learnt from.

    Parameters
    ----------
    targets : int array of shape (n_samples,), or sparse bool array of shape (n_samples, n_columns)
    fraction : float
    seed : int

    Returns
    -------
    kept, held : int arrays, ascending
    """
    if not sparse.issparse(targets):
        n_classes = int(targets.max()) + 1
        starts = np.arange(len(targets) + 1)
        flags = np.ones(len(targets), dtype=bool)
        targets = sparse.csr_array((flags, targets, starts), shape=(len(targets), n_classes))
    n_samples = targets.shape[0]
    left = np.bincount(targets.indices, minlength=targets.shape[1])
    wanted = max(1, round(fraction * n_samples))
    held: list[int] = []
    for row in np.random.default_rng([seed, 5]).permutation(n_samples).tolist():
        if len(held) == wanted:
            break
        columns = targets.indices[targets.indptr[row] : targets.indptr[row + 1]]
        if (left[columns] > 1).all():
            left[columns] -= 1
            held.append(row)
    if not held:
        raise PalmetteError(
            "early stopping needs rows to validate on, but every class has one row only. Give more "
            "rows, or set n_iter_no_change=None."
        )
    aside = np.zeros(n_samples, dtype=bool)
    aside[held] = True
    return np.flatnonzero(~aside).astype(np.int32), np.flatnonzero(aside).astype(np.int32)


class Validation:
    """Losses on the rows kept aside.

    Parameters
    ----------
    samples : Samples
    loss : callable
        Of scores of shape (n_samples, n_columns).
    patience : int
        Rounds without improvement after which it is over.
    tol : float
        Improvement that counts.
    """

    def __init__(
        self,
        samples: Samples,
        loss: Callable[[NDArray[np.float64]], float],
        patience: int,
        tol: float,
    ) -> None:
        self._samples = samples
        self._loss = loss
        self._patience = patience
        self._tol = tol
        self.losses: list[float] = []

    def begin(
        self,
        start: NDArray[np.float32],
        rounds: Sequence[Any],
        losses: NDArray[np.float64],
    ) -> None:
        """Begin with the rounds of an earlier fit and the losses after each of them."""
        self._scores = np.tile(start.astype(np.float64), (len(self._samples.codes), 1))
        for hypothesis in rounds:
            hypothesis.add_scores(self._samples, self._scores)
        self.losses = losses.tolist()
        self._best_loss, self.best = np.inf, 0
        for turn, loss in enumerate(self.losses, start=1):
            self._note(turn, loss)

    def see(self, hypothesis: Any) -> None:
        """Score one more round."""
        hypothesis.add_scores(self._samples, self._scores)
        self.losses.append(self._loss(self._scores))
        self._note(len(self.losses), self.losses[-1])

    def _note(self, turn: int, loss: float) -> None:
        if loss < self._best_loss - self._tol:
            self._best_loss, self.best = loss, turn

    @property
    def is_over(self) -> bool:
        """Whether the last rounds have brought nothing."""
        return len(self.losses) - self.best >= self._patience
