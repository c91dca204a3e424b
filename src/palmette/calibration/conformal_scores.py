"""Calibration scores, and what they say of new ones: quantiles, and ranks among several models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from palmette.exceptions import PalmetteError

__all__ = ["CalibrationScores", "MissedShares", "check_coverage"]

FloatArray = NDArray[np.float64]

_SLACK = 1e-9  # of weights: 0.9 * 10 is 9, whatever binary fractions say


def check_coverage(coverage: float) -> float:
    """Refuse what is no probability strictly between 0 and 1."""
    if not 0 < coverage < 1:
        raise PalmetteError(
            f"coverage={coverage!r}: expected a probability between 0 and 1, such as 0.9."
        )
    return float(coverage)


class CalibrationScores:
    """How strange the truth looked to models that had not seen it: higher is stranger.

    Parameters
    ----------
    parts : list of arrays of shape (n_rows,)
        Scores by one model each.
    weights : list of arrays of shape (n_rows,)
        Of the same rows, with a mean of one over all parts: a new row then weighs as much as a
        calibration row does on average.

    Examples
    --------
    >>> nine = CalibrationScores([np.arange(1.0, 10.0)], [np.ones(9)])  # a new row is the tenth
    >>> nine.quantile(0.8), nine.quantile(0.9), nine.quantile(0.95)
    (8.0, 9.0, inf)
    """

    def __init__(self, parts: list[FloatArray], weights: list[FloatArray]) -> None:
        orders = [np.argsort(scores, kind="stable") for scores in parts]
        self.parts = [scores[order] for scores, order in zip(parts, orders, strict=True)]
        self._reached = [
            np.concatenate([[0.0], np.cumsum(share[order])])  # weight of the k lowest
            for share, order in zip(weights, orders, strict=True)
        ]

    @property
    def scores(self) -> FloatArray:
        """All scores, ascending."""
        return np.sort(np.concatenate(self.parts))

    @property
    def total(self) -> float:
        """Weight of all rows, which is their number."""
        return float(sum(reached[-1] for reached in self._reached))

    def _wanted(self, coverage: float) -> float:
        """Weight of rows, of n + 1 with the new one, among whose scores its own shall be."""
        return check_coverage(coverage) * (self.total + 1) - _SLACK

    def suffices(self, coverage: float) -> bool:
        """Whether there are rows enough for a quantile: otherwise it is infinite."""
        return self._wanted(coverage) <= self.total

    def quantile(self, coverage: float) -> float:
        """Least score that a new row does not exceed with probability `coverage` at least.

        The score of one of n + 1 exchangeable rows is among the k lowest with probability
        k / (n + 1) at least. Infinite where that takes more rows.
        """
        scores = np.concatenate(self.parts)
        order = np.argsort(scores, kind="stable")
        weights = np.concatenate([np.diff(reached) for reached in self._reached])[order]
        place = int(np.searchsorted(np.cumsum(weights), self._wanted(coverage)))
        return float(scores[order][place]) if place < len(scores) else float("inf")

    def includes(self, values: list[FloatArray], coverage: float) -> NDArray[np.bool_]:
        """Whether new scores are not too strange.

        Parameters
        ----------
        values : list of arrays of one shape
            Scores of the same candidates by every model, each to be ranked among its own.
        coverage : float

        Returns
        -------
        bool array of the same shape
            With one model, whether a score is at most the quantile.
        """
        below = np.zeros(values[0].shape)
        for scores, reached, new in zip(self.parts, self._reached, values, strict=True):
            below += reached[np.searchsorted(scores, new, side="left")]
        included: NDArray[np.bool_] = below < self._wanted(coverage)
        return included


class MissedShares:
    """Probabilities that were given to true labels, several a row, and what missing them costs.

    Conformal risk control: the expected share of a row's labels that is missed is at most one less
    the coverage.

    Parameters
    ----------
    proba : array of shape (n_labels,)
        Of the true nodes of all calibration rows.
    lengths : int array of shape (n_rows,)
        Number of true nodes of every row, in that order.
    weights : array of shape (n_rows,)
        With a mean of one.

    References
    ----------
    A. N. Angelopoulos, S. Bates, A. Fisch, L. Lei, T. Schuster (2024). Conformal risk control.
    ICLR.

    Examples
    --------
    >>> shares = MissedShares(np.tile([0.9, 0.2], 4), np.full(4, 2), np.ones(4))
    >>> shares.threshold(0.5), shares.threshold(0.4), shares.threshold(0.9)
    (0.2, 0.9, -inf)
    """

    def __init__(self, proba: FloatArray, lengths: NDArray[np.int32], weights: FloatArray) -> None:
        order = np.argsort(proba, kind="stable")
        costs = np.repeat(weights / np.maximum(lengths, 1), lengths)
        self.proba = proba[order]
        self.lost = np.cumsum(costs[order])  # by missing this label and all that are less probable
        self.n_rows = len(lengths)

    def suffices(self, coverage: float) -> bool:
        """Whether there are rows enough for a threshold: otherwise it is minus infinity."""
        return self._budget(coverage) >= 0

    def _budget(self, coverage: float) -> float:
        """What may be lost, a new row being counted as lost."""
        return (1 - check_coverage(coverage)) * (self.n_rows + 1) - 1 + _SLACK

    def threshold(self, coverage: float) -> float:
        """Highest probability that a node needs to be answered."""
        if not self.suffices(coverage):
            return float("-inf")
        place = int(np.searchsorted(self.lost, self._budget(coverage), side="right"))
        return float(self.proba[place]) if place < len(self.proba) else float("inf")
