"""ChainCalibration: calibrated probabilities of the nodes above the most probable label of a row.

Models score differently: naive Bayes is far too sure, the votes of trees are not sure enough. How
often the most probable label of a row, and every node above it, is right can be learned from rows
that the model was not fitted on, whatever the scores are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import FloatArray, IntArray
from palmette.calibration._curves import Answers, CurveTable
from palmette.labels._space import LabelSpace
from palmette.persistence.checks import array, held, require

_LEAST = 30  # rows below which nothing is learned
_PRIOR = 10.0  # wrong rows at which the curve of a level and that of all levels weigh the same
_STEPS = 1_000  # confidences that thresholds are learned for
_RESAMPLES = 30
_TINY = 1e-300
_SLACK = 1e-9  # of a threshold, since sums are rounded


@dataclass(frozen=True)
class HeldOutChains:
    """The nodes from the root to the most probable label, of rows that a model was not fitted on.

    Parameters
    ----------
    odds : array of shape (n_samples, n_levels)
        Log-odds of the node at every level below the root; NaN below the end of the chain.
    right : bool array of shape (n_samples, n_levels)
        Whether the node is the true label or above it.
    """

    odds: FloatArray
    right: NDArray[np.bool_]

    @classmethod
    def of(cls, proba: FloatArray, space: LabelSpace, true: IntArray) -> HeldOutChains:
        """Reduce the probabilities of some rows.

        Parameters
        ----------
        proba : array of shape (n_samples, n_classes)
        space : LabelSpace
        true : int array of shape (n_samples,)
            Nodes of the hierarchy of the space; -1 for a label that it lacks.
        """
        chains = Chains(proba, space)
        nodes = space.nodes[chains.places[:, 1:]]
        below = (true[:, None] >= nodes) & (true[:, None] < space.hierarchy.subtree_end[nodes])
        return cls(chains.odds(), below & chains.there[:, 1:])

    @classmethod
    def joined(cls, parts: list[HeldOutChains]) -> HeldOutChains:
        """Concatenate the rows of several folds, whose hierarchies may be of different depths."""
        depth = max(part.odds.shape[1] for part in parts)
        wide = [(0, 0), (0, 0)]
        odds, right = [], []
        for part in parts:
            wide[1] = (0, depth - part.odds.shape[1])
            odds.append(np.pad(part.odds, wide, constant_values=np.nan))
            right.append(np.pad(part.right, wide))
        return cls(np.concatenate(odds), np.concatenate(right))


class ChainCalibration:
    """Calibrates the nodes above the most probable label of a row, and the label itself.

    The log-odds of a node of this chain become a probability by a non-decreasing curve, one for
    labels and one for the other nodes of each level. The other labels share the rest as before, so
    that children sum to their parent; the most probable label stays it.

    Of the rows that reach a threshold more are right than the threshold says, as most of them are
    surer. So for every confidence the lowest threshold is learned with which so many answers are
    right.

    Parameters
    ----------
    curves : CurveTable
        Of labels, then by level.
    thresholds : array of shape (1001,)
        The least probability of an answer, for confidences of 0, 0.001, ..., 1.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> space = LabelSpace(h, h.leaves)
    >>> proba = np.tile([0.98, 0.01, 0.01], (100, 1))  # of 100 rows, 60 of which are cats
    >>> true = np.repeat(h.index(["cat", "dog", "oak"]), [60, 30, 10])
    >>> calibration = ChainCalibration.fit(HeldOutChains.of(proba, space, true))
    >>> calibration.apply(proba[:1], space).round(2).tolist()
    [[0.6, 0.3, 0.1]]
    >>> sure = calibration.sure(calibration.apply(proba[:1], space), space, 0.85)
    >>> h.path_strings[sure].tolist()
    ['animal']
    """

    in_files: ClassVar = {
        "curves": held(CurveTable),
        "thresholds": array("f", _STEPS + 1),
    }

    def __init__(self, curves: CurveTable, thresholds: FloatArray) -> None:
        self.curves = curves
        self.thresholds = thresholds

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        require(self.curves.method == "centred", "the curves are of another method")

    @classmethod
    def fit(cls, chains: HeldOutChains) -> ChainCalibration | None:
        """Learn from rows that the model was not fitted on; None if they are too few."""
        n_rows, n_levels = chains.odds.shape
        if n_rows < _LEAST:
            return None
        there, place = ~np.isnan(chains.odds), _curve_places(chains.odds)
        members = []
        for each in np.unique(place[there]).tolist():
            cells = there & (place == each)
            odds, right = chains.odds[cells], chains.right[cells].astype(np.float64)
            members.append((each, Answers(odds, right, np.ones(len(odds)))))
        curves = CurveTable.fit("centred", [members], n_levels, _PRIOR)
        self = cls(curves, np.zeros(_STEPS + 1))
        reach = np.minimum.accumulate(self._reach(chains.odds), axis=1)
        self.thresholds = _thresholds(np.where(there, reach, 0.0), chains.right)
        return self

    def apply(self, proba: FloatArray, space: LabelSpace) -> FloatArray:
        """Return calibrated probabilities of the classes: (n_samples, n_classes).

        Parameters
        ----------
        proba : array of shape (n_samples, n_classes)
            Of the model.
        space : LabelSpace
        """
        chains = Chains(proba, space)
        reach = np.ones(chains.places.shape)
        reach[:, 1:] = self._reach(chains.odds())
        reach[~chains.there] = 1.0
        for level in range(1, reach.shape[1]):  # never above the parent, equal to it if it is alone
            capped = np.minimum(reach[:, level], reach[:, level - 1])
            alone = (chains.size[:, level - 1] == 0) | ~chains.there[:, level]
            reach[:, level] = np.where(alone, reach[:, level - 1], capped)
        return chains.shared(proba, reach)

    def sure(self, proba: FloatArray, space: LabelSpace, confidence: float) -> IntArray:
        """Return the deepest node above the most probable label that may be answered; 0 for none.

        Parameters
        ----------
        proba : array of shape (n_samples, n_classes)
            Calibrated.
        space : LabelSpace
        confidence : float
            Wanted share of right answers.
        """
        threshold = self.thresholds[int(np.ceil(confidence * _STEPS - _SLACK))]
        return np.asarray(space.nodes[Chains(proba, space).deepest_above(threshold - _SLACK)])

    def _reach(self, odds: FloatArray) -> FloatArray:
        """Return the probability of each node of a chain by its own curve; NaN below the end."""
        found, there = np.full(odds.shape, np.nan), ~np.isnan(odds)
        place = _curve_places(odds).clip(max=len(self.curves.group) - 1)  # if it is deeper now
        for each in np.unique(place[there]).tolist():
            cells = there & (place == each)
            value = self.curves.at(each, odds[cells])
            found[cells] = value if self.curves.group[each] >= 0 else 1.0
        return found


def _curve_places(odds: FloatArray) -> IntArray:
    """Return the curve of each node: one for labels, the ends of chains, others by level."""
    ended = np.pad(np.isnan(odds[:, 1:]), ((0, 0), (0, 1)), constant_values=True)
    place = np.arange(1, odds.shape[1] + 1, dtype=np.int32)
    return np.where(ended, 0, place).astype(np.int32)


class Chains:
    """The nodes from the root down to the most probable label, per row.

    The nonconformity of a label is the probability of the first node of the chain that is not an
    ancestor of it. So the labels with a nonconformity up to a threshold are those below one node of
    the chain: the deepest one that is more probable than the threshold.

    Parameters
    ----------
    proba : array of shape (n_samples, n_classes)
    space : LabelSpace

    Attributes
    ----------
    best : int array of shape (n_samples,)
        The most probable class.
    places : int array of shape (n_samples, n_levels)
        Places of the chain's nodes in the space, the root first; the last one is repeated where
        the chain is shorter.
    there : bool array of shape (n_samples, n_levels)
        Where the chain has not ended.
    ring : int array of shape (n_samples, n_classes)
        The level of the last node of the chain at or above every class: where its path leaves it.
    mass, size : arrays of shape (n_samples, n_levels)
        Sum of the probabilities of each ring, and number of its classes.
    values : array of shape (n_samples, n_levels)
        Probabilities of the nodes; 0 where the chain has ended.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> chains = Chains(np.array([[0.5, 0.3, 0.2]]), LabelSpace(h, h.leaves))
    >>> chains.scores().tolist()  # of cat, dog and oak
    [[0.0, 0.5, 0.8]]
    >>> [h.names[chains.space.nodes[chains.deepest_above(t)]].item() for t in (0.4, 0.6, 0.9)]
    ['cat', 'animal', 'root']
    """

    def __init__(self, proba: FloatArray, space: LabelSpace) -> None:
        n_rows, n_classes = proba.shape
        self.space = space
        self.best = proba.argmax(axis=1)
        self.places = paths_of_classes(space)[self.best]
        n_levels = self.places.shape[1]
        end = space.depth[space.class_place[self.best]]
        self.there = np.arange(n_levels) <= end[:, None]
        steps = np.zeros((n_rows, n_classes + 1), dtype=np.int16)
        for level in range(1, n_levels):
            rows = np.flatnonzero(self.there[:, level])
            first, stop = space.class_range[self.places[rows, level]].T
            steps[rows, first] += 1
            steps[rows, stop] -= 1
        self.ring = np.cumsum(steps[:, :-1], axis=1, dtype=np.int16)
        flat = (self.ring + n_levels * np.arange(n_rows)[:, None]).ravel()
        shape, n_cells = (n_rows, n_levels), n_rows * n_levels
        # sums of a ring alone: one minus a probability of nearly one would be rounded to zero
        self.mass = np.bincount(flat, proba.ravel(), minlength=n_cells).reshape(shape)
        self.size = np.bincount(flat, minlength=n_cells).reshape(shape)
        totals = self.mass[:, ::-1].cumsum(axis=1)[:, ::-1]
        self.values = np.where(self.there, np.minimum(totals, 1.0), 0.0)

    def deepest_above(self, threshold: float) -> IntArray:
        """Return the places of the deepest nodes above a probability threshold: (n_samples,)."""
        sure = self.values > threshold
        sure[:, 0] = True
        depth = sure.sum(axis=1) - 1  # probabilities decrease along a chain
        deepest: IntArray = self.places[np.arange(len(depth)), depth]
        return deepest

    def scores_of(self, codes: IntArray) -> FloatArray:
        """Return the nonconformity of one label per row, given as a position of a class."""
        return self._beyond()[np.arange(len(codes)), self.ring[np.arange(len(codes)), codes]]

    def scores(self) -> FloatArray:
        """Return the nonconformity of every label: (n_samples, n_classes)."""
        return np.take_along_axis(self._beyond(), self.ring.astype(np.intp), axis=1)

    def _beyond(self) -> FloatArray:
        """Return the probability of the next node of the chain, 0 at its end."""
        return np.pad(self.values[:, 1:], ((0, 0), (0, 1)))

    def odds(self) -> FloatArray:
        """Return log-odds of the nodes below the root, NaN where there is none."""
        outside = self.mass.cumsum(axis=1)[:, :-1]
        odds = np.log(np.maximum(self.values[:, 1:], _TINY)) - np.log(np.maximum(outside, _TINY))
        odds[~self.there[:, 1:]] = np.nan
        return np.asarray(odds)

    def shared(self, proba: FloatArray, reach: FloatArray) -> FloatArray:
        """Return probabilities of classes whose chains have given probabilities.

        Parameters
        ----------
        proba : array of shape (n_samples, n_classes)
        reach : array of shape (n_samples, n_levels)
            Of the nodes of the chain; that of the last one is repeated.
        """
        rows = np.arange(len(proba))
        wanted = reach.copy()
        wanted[:, :-1] -= reach[:, 1:]
        last = self.there.sum(axis=1) - 1
        wanted[rows, last] = reach[rows, last]
        empty = self.mass <= _TINY
        scale = np.divide(wanted, self.mass, out=np.zeros_like(wanted), where=~empty)
        even = np.divide(wanted, self.size, out=np.zeros_like(wanted), where=self.size > 0)
        mix = np.where(empty, 1.0, self._evenness(proba, scale, even, last))
        cells = self.ring.astype(np.intp)
        found = proba * np.take_along_axis(scale * (1 - mix), cells, axis=1)
        found += np.take_along_axis(even * mix, cells, axis=1)
        return self._best_first(found)

    def _evenness(
        self, proba: FloatArray, scale: FloatArray, even: FloatArray, last: IntArray
    ) -> FloatArray:
        """Return how even the shares of a ring must be for none to exceed the best class.

        After a model that was too sure, a single rival would get all that the best class loses.
        """
        rows = np.arange(len(proba))
        most = np.zeros_like(scale)
        for ring in range(scale.shape[1]):
            most[:, ring] = np.where(self.ring == ring, proba, 0.0).max(axis=1) * scale[:, ring]
        top = most[rows, last][:, None]
        over, spread = most - top, most - even
        mix = np.divide(over, spread, out=np.zeros_like(over), where=(over > 0) & (spread > 0))
        mix = np.clip(mix, 0.0, 1.0)
        mix[rows, last] = 0.0
        return mix

    def _best_first(self, proba: FloatArray) -> FloatArray:
        """Return rows that sum to one and whose best class is that of before."""
        rows = np.arange(len(proba))
        top = proba[rows, self.best].copy()
        proba[rows, self.best] = 0.0
        rival = proba.max(axis=1, initial=0.0) * (1 + 1e-12)
        proba[rows, self.best] = top
        lacking = np.maximum(rival - top, 0.0)
        proba *= (1.0 / (1.0 + lacking))[:, None]
        proba[rows, self.best] += lacking / (1.0 + lacking)
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))


def paths_of_classes(space: LabelSpace) -> IntArray:
    """Return places from the root to every class, the last one repeated: (n_classes, n_levels)."""
    place = space.class_place.copy()
    paths = np.repeat(place[:, None], len(space.levels), axis=1)
    for level in range(len(space.levels) - 1, 0, -1):
        deep = space.depth[place] == level
        place[deep] = space.parent[place[deep]]
        paths[deep, level - 1] = place[deep]
    return paths


def _thresholds(reach: FloatArray, right: NDArray[np.bool_]) -> FloatArray:
    """Return the lowest threshold per confidence with which so many answers are right.

    The answer of a row is its deepest node that reaches the threshold. The lowest one is the
    luckiest of many, and jumps where the share of right answers hardly changes with it. So it is
    the median of those of resampled rows, and one more answer counts as wrong.

    Parameters
    ----------
    reach : array of shape (n_samples, n_levels)
        Probabilities, which decrease from level to level; 0 below the end of a chain.
    right : bool array of shape (n_samples, n_levels)

    Returns
    -------
    array of shape (1001,)
    """
    n_rows = len(reach)
    draws = np.random.default_rng(0).integers(n_rows, size=(_RESAMPLES, n_rows))
    return np.asarray(np.median([_lowest(reach[rows], right[rows]) for rows in draws], axis=0))


def _lowest(reach: FloatArray, right: NDArray[np.bool_]) -> FloatArray:
    """Return the lowest thresholds on some rows; the confidence itself where none is enough."""
    values, n_answers, n_right = answers_by_threshold(reach, right)
    at_least = np.maximum.accumulate((n_right / (n_answers + 1))[::-1])  # by any up to this one
    place = np.searchsorted(at_least, np.arange(_STEPS + 1) / _STEPS - _SLACK)
    lowest = values[::-1]
    found = np.where(place < len(lowest), lowest[place.clip(max=len(lowest) - 1)], 0.0)
    unknown = place >= len(lowest)
    found[unknown] = np.maximum(found.max(initial=0.0), np.flatnonzero(unknown) / _STEPS)
    return np.maximum.accumulate(found)


def answers_by_threshold(
    reach: FloatArray, right: NDArray[np.bool_]
) -> tuple[FloatArray, NDArray[np.int64], NDArray[np.int64]]:
    """Count the answers and the right ones by threshold; the answer is the deepest node above it.

    Parameters
    ----------
    reach : array of shape (n_samples, n_levels)
        Probabilities, which decrease from level to level; 0 below the end of a chain.
    right : bool array of shape (n_samples, n_levels)

    Returns
    -------
    thresholds, n_answers, n_right : arrays of shape (n_thresholds,)
        Thresholds decrease.

    Examples
    --------
    >>> reach, right = np.array([[0.9, 0.6], [0.8, 0.0]]), np.array([[True, False], [True, True]])
    >>> [counts.tolist() for counts in answers_by_threshold(reach, right)]
    [[0.9, 0.8, 0.6], [1, 2, 2], [1, 2, 1]]
    """
    wider = np.pad(right, ((0, 0), (1, 0)))
    gained = np.diff(wider.astype(np.int64), axis=1)  # right answers, one level deeper
    gained[:, 0] = right[:, 0]
    answered = np.zeros(reach.shape, dtype=np.int64)
    answered[:, 0] = 1
    order = np.argsort(-reach.ravel(), kind="stable")  # the level above comes first
    order = order[reach.ravel()[order] > 0]
    values = reach.ravel()[order]
    n_answers = np.cumsum(answered.ravel()[order])
    n_right = np.cumsum(gained.ravel()[order])
    is_last = np.append(values[1:] < values[:-1], True)  # equal ones are answered together
    return values[is_last], n_answers[is_last], n_right[is_last]
