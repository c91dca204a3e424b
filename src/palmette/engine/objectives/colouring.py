"""The weights of AdaBoost.ECC: wrong labels, seen through a colouring that changes every round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.engine.hypotheses import Coloured
from palmette.engine.objectives.adaboost import NO_EDGE
from palmette.engine.weak.base import regrow

__all__ = ["ColouringWeights"]

Sums = NDArray[np.float64]


class ColouringWeights:
    """Weights ``d(i, l)`` of confusing row i with the wrong label l.

    Every round colours the labels -1 or +1 at random, half of them each. A row counts as much as
    its confusions with labels of the other colour; the hypothesis tells the colours apart, and
    votes for all labels of a colour at once.

    Parameters
    ----------
    targets : int array of shape (n_samples,)
        True label of every row.
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
        # a weight of k is k rows; weights of a small sum are no fewer rows than there are
        self._n_rows = max(float(weights.sum()), float(len(weights)))
        shares = weights / weights.sum() / max(n_labels - 1, 1)
        self.confusions = np.repeat(shares[:, None], n_labels, axis=1)
        self.confusions[np.arange(len(targets)), targets] = 0.0
        self._code = np.empty(n_labels, dtype=np.int8)
        self._signed = np.empty((len(targets), 1))
        self.edge = np.nan
        self.loss = 1.0

    @property
    def start(self) -> NDArray[np.float32]:
        """Scores that rows begin with: zeros."""
        return np.zeros(len(self._code), dtype=np.float32)

    def gradients(self, turn_seed: int) -> NDArray[np.float32]:
        """Colour the labels, and return the binary problem's signed weights: (n_samples, 1)."""
        n_labels = len(self._code)
        rng = np.random.default_rng([turn_seed, 1])
        self._code = np.full(n_labels, -1, dtype=np.int8)
        self._code[rng.permutation(n_labels)[: (n_labels + 1) // 2]] = 1
        own = self._code[self._targets].astype(np.float64)
        # weight of the labels of the other colour; not as a difference, in which it might drown
        above, below = self.confusions @ (self._code > 0), self.confusions @ (self._code < 0)
        apart = np.where(own > 0, below, above)
        if not apart.any():  # told apart beyond what numbers can say: rows count alike
            apart = self._row_weights.astype(np.float64)
        self._signed[:, 0] = own * apart / apart.sum()
        return self._signed.astype(np.float32)

    def take(self, grown: Any) -> Any:
        """Give a hypothesis its votes, and move on by it; None where it has no edge."""
        positive, negative = grown.sums(self._signed)
        self.edge = float(np.abs(positive - negative).sum())
        if self.edge <= NO_EDGE:
            return None
        extra = 0.5 / self._n_rows  # as if every leaf held an average row more
        values = 0.5 * self._rate * np.log((positive + extra) / (negative + extra))
        binary = grown.hypothesis(values, self._row_weights, positive + negative)
        hypothesis = Coloured(binary, self._code)
        self._move(grown.votes(binary.table())[:, 0], self._code)
        return hypothesis

    def _move(self, votes: Sums, code: NDArray[np.int8]) -> None:
        """Multiply d(i, l) by ``exp(vote (code(l) - code(y)) / 2)``."""
        own = code[self._targets]
        # code(l) - code(y) is 0 within the row's own colour, and twice the other colour elsewhere
        up = np.exp(-own * votes)
        other = code[None, :] != own[:, None]
        np.multiply(self.confusions, up[:, None], out=self.confusions, where=other)
        total = self.confusions.sum()
        self.confusions /= total
        self.loss *= float(total)

    def replay(self, hypothesis: Any, samples: Any) -> None:
        """Move on by a hypothesis of an earlier fit, as `take` did when it was found."""
        votes = regrow(hypothesis.binary, samples).votes(hypothesis.binary.table())
        self._move(votes[:, 0], hypothesis.code)
