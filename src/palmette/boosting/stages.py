"""Rows whose scores are known already, so that stages are answered without walking again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scored"]


class Scored:
    """Scores in the place of features.

    Parameters
    ----------
    scores : array of shape (n_samples, n_columns)
    n_rounds : int
        Rounds that they come from.
    index : pandas.Index, optional
        Of the rows, for answers that carry one.
    """

    def __init__(self, scores: NDArray[np.float64], n_rounds: int, index: Any = None) -> None:
        self.scores = scores
        self.n_rounds = n_rounds
        self.index = index

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the scores."""
        return self.scores.shape

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, rows: Any) -> Scored:
        return Scored(self.scores[rows], self.n_rounds)
