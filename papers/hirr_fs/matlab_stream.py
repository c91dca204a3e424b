"""Random numbers and folds as MATLAB's old generator gives them, after ``rand('seed', 1)``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["MatlabStream", "matlab_folds"]

_FACTOR = 16807
_MODULUS = 2**31 - 1
_FIRST_STATE = 65536  # what the seed 1 stands for


class MatlabStream:
    """The multiplicative congruential generator MCG16807.

    Parameters
    ----------
    state : int
        Before the first number.

    Examples
    --------
    >>> MatlabStream().uniform(2).round(6)
    array([0.512909, 0.460484])
    """

    def __init__(self, state: int = _FIRST_STATE) -> None:
        self._state = state

    def uniform(self, n: int) -> NDArray[np.float64]:
        """Return the next numbers between 0 and 1, of shape (n,)."""
        states = np.empty(n)
        state = self._state
        for place in range(n):
            states[place] = state = state * _FACTOR % _MODULUS
        self._state = state
        return states / _MODULUS

    def matrix(self, n_rows: int, n_columns: int) -> NDArray[np.float64]:
        """Return a matrix of the next numbers, filled column by column."""
        return self.uniform(n_rows * n_columns).reshape(n_columns, n_rows).T

    def permutation(self, n: int) -> NDArray[np.intp]:
        """Return the numbers from 0 to n - 1 in random order."""
        return np.argsort(self.uniform(n), kind="stable")


def matlab_folds(stream: MatlabStream, n_rows: int, n_folds: int) -> NDArray[np.intp]:
    """Divide rows into folds of nearly equal size, as ``crossvalind('Kfold', ...)`` does.

    Parameters
    ----------
    stream : MatlabStream
        Of which ``n_folds + n_rows`` numbers are used.
    n_rows, n_folds : int

    Returns
    -------
    int array of shape (n_rows,)
        Fold of every row, from 0.

    Examples
    --------
    >>> np.bincount(matlab_folds(MatlabStream(), 7, 3))
    array([3, 2, 2])
    """
    in_order = -(-n_folds * np.arange(1, n_rows + 1) // n_rows) - 1  # rounded up
    names = stream.permutation(n_folds)
    fold = np.empty(n_rows, dtype=np.intp)
    fold[stream.permutation(n_rows)] = names[in_order]
    return fold
