"""Calibrating several paths a row, and DAGs: the probability of every node by itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit

from palmette.calibration.curves import Answers, CurveTable
from palmette.calibration.temperature import FamilyScores, fit_power, not_zero
from palmette.core.coherence import NodeColumns

__all__ = ["NodeCalibration"]

FloatArray = NDArray[np.float64]


class NodeCalibration:
    """How the scores of nodes become probabilities, each by itself.

    Parameters
    ----------
    curves : CurveTable, optional
        Of the columns.
    exponents : array of shape (n_columns,), optional
        What log-odds are multiplied with: one over the temperature of the node's level.
    """

    def __init__(
        self, curves: CurveTable | None = None, exponents: FloatArray | None = None
    ) -> None:
        self.curves = curves
        self.exponents = exponents

    @classmethod
    def fit(
        cls,
        method: str,
        scores: FloatArray,
        truth: sparse.csr_array,
        columns: NodeColumns,
        weights: FloatArray,
        prior: float,
    ) -> NodeCalibration:
        """Fit on scores of rows that the models did not learn from.

        Parameters
        ----------
        method : {"isotonic", "sigmoid", "temperature"}
        scores : array of shape (n_samples, n_columns)
        truth : sparse bool array of shape (n_samples, n_columns)
        columns : NodeColumns
        weights : array of shape (n_samples,)
        prior : float
            See `CurveTable.fit`.
        """
        levels = list(_by_level(columns))
        by_column = sparse.csc_array(truth)
        if method == "temperature":
            exponents = np.ones(columns.n_columns)
            for places in levels:
                true = by_column[:, places].toarray().T.ravel().astype(np.int32)
                yes_or_no = _two_options(scores[:, places].T.ravel().astype(np.float64))
                nodes = FamilyScores(yes_or_no, true, np.tile(weights, len(places)))
                exponents[places] = fit_power([nodes])
            return cls(exponents=exponents)

        def members(places: NDArray[np.intp]) -> list[tuple[int, Answers]]:
            return [
                (place, Answers(scores[:, place].astype(np.float64), true, weights))
                for place in places.tolist()
                for true in [by_column[:, [place]].toarray().ravel().astype(np.float64)]
            ]

        groups = (members(places) for places in levels)
        return cls(CurveTable.fit(method, groups, columns.n_columns, prior))

    def apply(self, scores: FloatArray) -> FloatArray:
        """Probabilities of shape (n_samples, n_columns); they need not be coherent."""
        if self.exponents is not None:
            share = not_zero(_two_options(scores.ravel()))[:, 1].reshape(scores.shape)
            return np.asarray(expit(self.exponents * logit(share)))
        assert self.curves is not None
        calibrated = [self.curves.at(i, scores[:, i]) for i in range(scores.shape[1])]
        return np.column_stack(calibrated)


def _by_level(columns: NodeColumns) -> Iterator[NDArray[np.intp]]:
    depth = columns.hierarchy.depth[columns.nodes]
    for level in np.unique(depth):
        yield np.flatnonzero(depth == level)


def _two_options(score: FloatArray) -> FloatArray:
    """Shares of no and yes: shape (n_scores, 2)."""
    return np.column_stack([1 - score, score])
