"""Calibration scores, and what they say of new ones: quantiles, and ranks among several models."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from palmette.calibration._nonconformity import LABEL_SCORES, Chains, cover_of_sets
from palmette.exceptions import PalmetteError
from palmette.labels._containers import row_index
from palmette.labels._forms import node_csr
from palmette.labels._labels import NodeLabels

__all__ = ["CalibrationScores", "ConformalAnswers", "MissedShares", "check_coverage"]


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


IntArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]


class ConformalAnswers:
    """The answers of `ConformalHierarchicalClassifier`."""

    @property
    def calibration_scores_(self) -> FloatArray:
        """How strange the truth of the calibration rows looked, ascending: (n_calibration,)."""
        return self._fitted_scores().scores

    @property
    def quantile_(self) -> float:
        """Quantile of the calibration scores at `coverage`."""
        return self._fitted_scores().quantile(self.coverage)

    def _fitted_scores(self) -> Any:
        if "_scores" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet.")
        return self._scores["set" if self.several_paths_ else self.answer]

    # ------------------------------------------------------------------ answers

    def predict_careful(self, X: Any, coverage: float | None = None) -> Any:
        """Answer as `answer` says: `predict_node` or `predict_set`; always sets of several paths.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, optional
            Other than the parameter.
        """
        check_is_fitted(self)
        if self.answer == "set" or self.several_paths_:
            return self.predict_set(X, coverage)
        return self.predict_node(X, coverage)

    def predict_node(self, X: Any, coverage: float | None = None) -> Any:
        """Predict the deepest node that holds the truth with the chosen probability.

        The true label is at the node or below it. With more coverage nodes rise along their path.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, optional
            Other than the parameter.

        Returns
        -------
        labels of n_samples rows
            In the form of the `y` that the model was fitted on; the root where nothing is sure.
        """
        return self._answers.write_nodes(self.predict_node_numbers(X, coverage), row_index(X))

    def predict_node_numbers(self, X: Any, coverage: float | None = None) -> IntArray:
        """Predict what `predict_node` does, as node numbers of ``hierarchy_``: (n_samples,)."""
        coverage = self._coverage(coverage)
        if self.several_paths_:
            raise PalmetteError(
                "predict_node answers with one node a row, but this model was fitted on several "
                "paths a row, or a DAG. Use predict_set."
            )
        X = self._read_features(X, reset=False)
        return np.concatenate([self._node_places(part, coverage) for part in self._parts(X)])

    def predict_set(self, X: Any, coverage: float | None = None) -> list[set[Any]]:
        """Predict the labels among which the truth is with the chosen probability.

        Sets grow with the coverage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, optional
            Other than the parameter.

        Returns
        -------
        list of n_samples sets
            Of labels spelled as in ``classes_``. With several paths a row they are nodes, with
            their ancestors where `y` lists them, and the truth is to be among them.
        """
        nodes = self.predict_set_nodes(X, coverage)
        if self.several_paths_ and not self.label_form_.lists_ancestors:
            nodes = NodeLabels(self.hierarchy_, nodes, self.label_form_).specific
        return self._spell_sets(nodes)

    def predict_set_nodes(self, X: Any, coverage: float | None = None) -> sparse.csr_array:
        """Predict what `predict_set` does, as nodes of ``hierarchy_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, optional

        Returns
        -------
        sparse bool array of shape (n_samples, n_nodes)
            With one path a row the nodes that are labels in the set; with several all nodes of the
            set, without the root.
        """
        coverage = self._coverage(coverage)
        tables = (
            self._answers.columns.sets_of_nodes(sparse.csr_array(members))
            if self.several_paths_
            else self._sets_at(members, self.space_.classes)
            for members in self._members(X, coverage)
        )
        return sparse.vstack(list(tables), format="csr")

    def predict_cover(self, X: Any, coverage: float | None = None) -> list[set[Any]]:
        """Predict the fewest nodes with every label of `predict_set` at or below one of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, optional
            Other than the parameter.

        Returns
        -------
        list of n_samples sets
            Of nodes, spelled as labels are; none lies above another.
        """
        return self._spell_sets(self.predict_cover_nodes(X, coverage))

    def predict_cover_nodes(self, X: Any, coverage: float | None = None) -> sparse.csr_array:
        """Predict what `predict_cover` does, as nodes of ``hierarchy_``.

        Returns
        -------
        sparse bool array of shape (n_samples, n_nodes)
        """
        coverage = self._coverage(coverage)
        if self.several_paths_:
            raise PalmetteError(
                "predict_cover stands for the labels of one path a row, but this model was fitted "
                "on several paths a row, or a DAG. Use predict_set."
            )
        tables = (
            self._sets_at(cover_of_sets(members, self.space_), self.space_.nodes)
            for members in self._members(X, coverage)
        )
        return sparse.vstack(list(tables), format="csr")

    # ------------------------------------------------------------------ steps

    def _coverage(self, coverage: float | None) -> float:
        check_is_fitted(self)
        if coverage is None:
            return check_coverage(self.coverage)
        self._warn_if_few(check_coverage(coverage))
        return coverage

    def _members(self, X: Any, coverage: float) -> Iterator[BoolArray]:
        """Members of the sets of some rows at a time: bool, over classes, or over columns."""
        X = self._read_features(X, reset=False)
        for part in self._parts(X):
            if self.several_paths_:
                yield self._table_of(part) >= self._least_proba(coverage)
                continue
            tables = [model.class_proba(part, self.space_) for model in self._models]
            scores = [LABEL_SCORES[self.set_score](proba) for proba in tables]
            members = self._scores["set"].includes(scores, coverage)
            yield _with_best(members, tables)

    def _least_proba(self, coverage: float) -> float:
        """Least probability of a node in a set, where rows have several paths."""
        if self.control == "label":
            return self._missed.threshold(coverage)
        return 1.0 - self._scores["set"].quantile(coverage)

    def _node_places(self, X: Any, coverage: float) -> IntArray:
        """Node of every row, as node numbers."""
        space, scores = self.space_, self._scores["node"]
        tables = [model.class_proba(X, space) for model in self._models]
        chains = [Chains(proba, space) for proba in tables]
        if len(chains) == 1:
            places = chains[0].deepest_above(scores.quantile(coverage))
        else:
            members = scores.includes([chain.scores() for chain in chains], coverage)
            places = _lowest_above(_with_best(members, tables), space)
        return np.asarray(space.nodes[places], dtype=np.int32)

    def _sets_at(self, members: BoolArray, nodes: IntArray) -> sparse.csr_array:
        """Sparse sets of nodes, (n_samples, n_nodes), from flags over some of them."""
        flags = sparse.csr_array(members)
        return node_csr(nodes[flags.indices], flags.indptr, self.hierarchy_.n_nodes)

    def _spell_sets(self, nodes: sparse.csr_array) -> list[set[Any]]:
        form, hierarchy = self.label_form_, self.hierarchy_
        used = np.unique(nodes.indices)
        names = dict(zip(used.tolist(), form.class_labels(used, hierarchy).tolist(), strict=True))
        members = [names[node] for node in nodes.indices.tolist()]
        return [set(members[a:b]) for a, b in pairwise(nodes.indptr.tolist())]


def _with_best(members: BoolArray, tables: list[FloatArray]) -> BoolArray:
    """Sets with the most probable label of every row in them, so that none is empty."""
    best = sum(tables[1:], tables[0]).argmax(axis=1)
    members[np.arange(len(members)), best] = True
    return members


def _lowest_above(members: BoolArray, space: Any) -> IntArray:
    """Place of the deepest node with all labels of a set at or below it, (n_samples,)."""
    n_classes = members.shape[1]
    first = members.argmax(axis=1)
    last = n_classes - 1 - members[:, ::-1].argmax(axis=1)
    places = space.class_place[first].copy()
    end = space.class_range[:, 1]
    while (outside := end[places] <= last).any():
        places[outside] = space.parent[places[outside]]
    return np.asarray(places, dtype=np.int32)
