"""Calibration of the options of every family (one path per row), or of every node (several)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit

from palmette._arrays import FloatArray, IntArray
from palmette.base._temperature import temperature_scaled
from palmette.calibration._curves import (
    Answers,
    CurveTable,
    FamilyScores,
    fit_family_temperature,
    not_zero,
)
from palmette.decisions._coherence import NodeColumns
from palmette.decisions._decode import Route, RouteByMarginals, normalize_rows
from palmette.labels._space import LabelSpace
from palmette.persistence.checks import array, held


def scores_on_true_paths(
    space: LabelSpace, proba: FloatArray, codes: IntArray, weights: FloatArray
) -> dict[int, FamilyScores]:
    """Return the conditional probabilities at the families on the true path of every row.

    Parameters
    ----------
    space : LabelSpace
    proba : array of shape (n_samples, n_classes)
        Of rows that the model was not fitted on.
    codes : int array of shape (n_samples,)
        True classes, as positions in ``space.classes``.
    weights : array of shape (n_samples,)

    Returns
    -------
    dict of int to FamilyScores
        By place of the parent, for families of several options.
    """
    route = RouteByMarginals(space, proba)
    found = {}
    for parent, options in space.families:
        first, stop = space.class_range[parent]
        rows = np.flatnonzero((codes >= first) & (codes < stop)).astype(np.int32)
        if len(options) == 1 or not len(rows):
            continue
        true = codes[rows]
        starts = space.class_range[options, 0].copy()
        chosen = np.searchsorted(starts, true, side="right") - 1
        if options[0] == parent:  # its range includes all classes below it; it is the first of them
            chosen = np.where(true == first, 0, np.searchsorted(starts[1:], true, side="right"))
        share = route(parent, options, rows).astype(np.float32)
        found[parent] = FamilyScores(share, chosen.astype(np.int32), weights[rows])
    return found


def merge_scores(parts: list[dict[int, FamilyScores]]) -> dict[int, FamilyScores]:
    """Concatenate the scores of several parts of the rows."""
    merged = {}
    for parent in sorted(set().union(*parts)):
        there = [part[parent] for part in parts if parent in part]
        columns = zip(*there, strict=True)
        merged[parent] = FamilyScores(*(np.concatenate(column) for column in columns))
    return merged


class FamilyCalibration:
    """Calibration of the options of every family, given that the path of a row reaches it.

    Curves, if there are any, calibrate every option separately. Normalized to sum to one, these
    probabilities are underconfident, more so with more options: a temperature per level corrects
    this.

    Parameters
    ----------
    exponents : array of shape (n_levels,)
        Inverse temperature for families whose parent is at each depth.
    curves : CurveTable, optional
        By place of the option; the option that a path ends at the parent is at `n_active` plus
        the place of the parent.
    """

    in_files: ClassVar = {
        "exponents": array("f", None),
        "curves": held(CurveTable, or_none=True),
    }

    def __init__(self, exponents: FloatArray, curves: CurveTable | None = None) -> None:
        self.exponents = exponents
        self.curves = curves

    @classmethod
    def fit(
        cls, method: str, scores: dict[int, FamilyScores], space: LabelSpace, prior: float
    ) -> FamilyCalibration:
        """Fit on scores of rows that the models were not fitted on.

        Parameters
        ----------
        method : {"isotonic", "sigmoid", "temperature"}
        scores : dict of int to FamilyScores
            As from `scores_on_true_paths`.
        space : LabelSpace
        prior : float
            See `CurveTable.fit`.
        """
        if method == "temperature":
            return cls(_fit_exponents(scores, space))
        options = dict(space.families)
        slots = {parent: _slots(parent, options[parent], space) for parent in scores}
        groups = (
            [member for parent in parents for member in _members(scores[parent], slots[parent])]
            for parents in _parents_by_level(scores, space)
        )
        curves = CurveTable.fit(method, groups, 2 * space.n_active, prior)
        curved = {
            parent: family._replace(share=_calibrated(curves, slots[parent], family.share))
            for parent, family in scores.items()
        }
        return cls(_fit_exponents(curved, space), curves)

    def apply(
        self, parent: int, options: IntArray, share: FloatArray, space: LabelSpace
    ) -> FloatArray:
        """Return probabilities of the options of a family: (n_rows, n_options)."""
        if self.curves is not None:
            share = _calibrated(self.curves, _slots(parent, options, space), share)
        return temperature_scaled(not_zero(share), float(self.exponents[space.depth[parent]]))


class CalibratedRoute:
    """A route with calibrated probabilities at every family.

    Parameters
    ----------
    route : Route
    calibration : FamilyCalibration
    space : LabelSpace
    """

    in_files: ClassVar = {
        "_route": held(object),
        "_calibration": held(FamilyCalibration),
        "_space": held(LabelSpace),
    }

    def __init__(self, route: Route, calibration: FamilyCalibration, space: LabelSpace) -> None:
        self._route = route
        self._calibration = calibration
        self._space = space

    def __call__(self, parent: int, options: IntArray, rows: IntArray | None) -> FloatArray:
        """Return probabilities of shape (n_rows, n_options); see `Route`."""
        share = self._route(parent, options, rows)
        return self._calibration.apply(parent, options, share, self._space)


# ---------------------------------------------------------------------- steps


def _parents_by_level(scores: dict[int, FamilyScores], space: LabelSpace) -> Iterator[list[int]]:
    depth = {parent: int(space.depth[parent]) for parent in scores}
    for level in sorted(set(depth.values())):
        yield [parent for parent in scores if depth[parent] == level]


def _slots(parent: int, options: IntArray, space: LabelSpace) -> list[int]:
    """Return the places of the curves of the options of a family."""
    return [space.n_active + parent if place == parent else place for place in options.tolist()]


def _members(scores: FamilyScores, slots: list[int]) -> Iterator[tuple[int, Answers]]:
    for i, slot in enumerate(slots):
        truth = (scores.chosen == i).astype(np.float64)
        yield slot, Answers(scores.share[:, i].astype(np.float64), truth, scores.weight)


def _calibrated(curves: CurveTable, slots: list[int], share: Any) -> FloatArray:
    """Return calibrated probabilities of options, normalized to sum to one."""
    return normalize_rows(
        np.column_stack([curves.at(slot, share[:, i]) for i, slot in enumerate(slots)])
    )


def _fit_exponents(scores: dict[int, FamilyScores], space: LabelSpace) -> FloatArray:
    """Return the inverse temperature of every level by maximum likelihood."""
    exponents = np.ones(int(space.depth.max()) + 1)
    for parents in _parents_by_level(scores, space):
        exponents[space.depth[parents[0]]] = fit_family_temperature(
            scores[parent] for parent in parents
        )
    return exponents


class NodeCalibration:
    """Calibration of every node separately, where rows have several paths.

    Parameters
    ----------
    curves : CurveTable, optional
        By column.
    exponents : array of shape (n_columns,), optional
        Inverse temperature of the level of each node: a factor of the log-odds.
    """

    in_files: ClassVar = {
        "curves": held(CurveTable, or_none=True),
        "exponents": array("f", None, or_none=True),
    }

    def __init__(
        self, curves: CurveTable | None = None, exponents: FloatArray | None = None
    ) -> None:
        self.curves = curves
        self.exponents = exponents

    @classmethod
    def fit(
        cls,
        method: str,
        scores: NDArray[np.floating],
        truth: sparse.csr_array,
        columns: NodeColumns,
        weights: FloatArray,
        prior: float,
    ) -> NodeCalibration:
        """Fit on scores of rows that the models were not fitted on.

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
        levels = list(_columns_by_level(columns))
        by_column = sparse.csc_array(truth)
        if method == "temperature":
            exponents = np.ones(columns.n_columns)
            for places in levels:
                true = by_column[:, places].toarray().T.ravel().astype(np.int32)
                yes_or_no = _two_options(scores[:, places].T.ravel().astype(np.float64))
                nodes = FamilyScores(yes_or_no, true, np.tile(weights, len(places)))
                exponents[places] = fit_family_temperature([nodes])
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
        """Return probabilities of shape (n_samples, n_columns), which need not be coherent."""
        if self.exponents is not None:
            share = not_zero(_two_options(scores.ravel()))[:, 1].reshape(scores.shape)
            return np.asarray(expit(self.exponents * logit(share)))
        assert self.curves is not None
        calibrated = [self.curves.at(i, scores[:, i]) for i in range(scores.shape[1])]
        return np.column_stack(calibrated)


def _columns_by_level(columns: NodeColumns) -> Iterator[NDArray[np.intp]]:
    depth = columns.hierarchy.depth[columns.nodes]
    for level in np.unique(depth):
        yield np.flatnonzero(depth == level)


def _two_options(score: FloatArray) -> FloatArray:
    """Return probabilities of no and yes: (n_scores, 2)."""
    return np.column_stack([1 - score, score])
