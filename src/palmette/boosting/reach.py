"""How far votes can carry a score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["total_reach"]


def total_reach(rounds: list[Any], n_columns: int, by_column: bool) -> NDArray[np.float64]:
    """Largest score that the votes of the first rounds can add up to.

    Parameters
    ----------
    rounds : list of hypotheses
    n_columns : int
    by_column : bool
        Whether columns are told apart; else their mean is given.

    Returns
    -------
    array of shape (n_rounds + 1, n_columns) or (n_rounds + 1, 1)
        After 0, 1, ... rounds; positive.
    """
    width = n_columns if by_column else 1
    reach = np.zeros((len(rounds) + 1, width))
    for turn, hypothesis in enumerate(rounds, start=1):
        largest = np.abs(hypothesis.table()).max(axis=1)
        reach[turn] = largest if by_column else largest.mean()
    reach = np.cumsum(reach, axis=0)
    reach[reach <= 0] = 1.0  # a column that no round votes for has scores of zero, in any scale
    return reach
