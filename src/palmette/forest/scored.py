"""Rows whose probabilities are known already, in the place of X."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scored"]


class Scored:
    """Raw probabilities of nodes that a model answers from, as if they were rows of X.

    Parameters
    ----------
    proba : array of shape (n_samples, n_columns)
        Columns as in ``nodes_`` of the model.
    """

    def __init__(self, proba: NDArray[np.floating]) -> None:
        self.proba = proba
        self.shape = proba.shape

    def __getitem__(self, rows: Any) -> Scored:
        return Scored(self.proba[rows])
