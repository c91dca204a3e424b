"""Decision rules for several labels per row: top k, best expected F, and tuned thresholds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from palmette.core.best_cuts import CutValue, best_cuts
from palmette.core.coherence import FloatArray, NodeColumns, threshold_sets
from palmette.core.decode import top_classes
from palmette.core.expected_f import best_set_sizes, f_thresholds
from palmette.core.thresholds import LabelRule, Threshold, is_threshold, resolve_threshold
from palmette.exceptions import PalmetteError

__all__ = [
    "BestF",
    "ExpectedF",
    "LabelRule",
    "TopK",
    "TunedRule",
    "Youden",
    "is_label_rule",
    "resolve_label_rule",
]

IntArray = NDArray[np.int32]


# ---------------------------------------------------------------------- rules without tuning


class TopK(LabelRule):
    """Predict the k most probable labels of every row.

    In a hierarchy only the most specific labels, those without a child among the columns, are
    counted: a row gets `k` of them and all of their ancestors. Ties go to the first label.

    Parameters
    ----------
    k : int
        If there are fewer labels, all are predicted.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> columns = NodeColumns(h, np.arange(1, h.n_nodes))
    >>> proba = np.array([[0.9, 0.2, 0.7, 0.3, 0.1]])
    >>> h.path_strings[columns.nodes[TopK(1).choose(proba, columns).indices]].tolist()
    ['animal', 'animal/dog']
    """

    def __init__(self, k: int = 1) -> None:
        self.k = k

    def choose(self, proba: FloatArray, columns: NodeColumns) -> sparse.csr_array:
        """Choose the nodes of every row; see `LabelRule.choose`."""
        if not isinstance(self.k, Integral) or isinstance(self.k, bool) or self.k < 1:
            raise PalmetteError(f"TopK(k={self.k!r}): expected a positive integer.")
        specific = np.setdiff1d(np.arange(columns.n_columns), columns.edges[:, 0])
        chosen = top_classes(proba[:, specific], min(int(self.k), len(specific)))
        n_rows, k = chosen.shape
        sets = sparse.csr_array(
            (np.ones(chosen.size, dtype=bool), chosen.ravel(), np.arange(n_rows + 1) * k),
            shape=(n_rows, len(specific)),
        )
        above = columns.hierarchy.closure[columns.nodes[specific]][:, columns.nodes]
        closed = sparse.csr_array(sets @ above, dtype=bool)
        closed.sort_indices()
        return closed


class ExpectedF(LabelRule):
    """Predict the labels with the best expected F under the predicted probabilities.

    Parameters
    ----------
    beta : float
        Weight of recall relative to precision; 1 is F1.
    by : {"row", "label"}
        ``"row"``: the label set of each row with the best expected F, if labels are independent
        given their probabilities. It is exact among all sets: the best set of each size has the
        most probable labels, and the expectation is an integral over one variable. F of an empty
        prediction is 1 if no label is true. Ancestors count as labels. ``"label"``: for each
        label the threshold F*/(1 + beta^2), where F* is the best ratio of expected counts over
        the rows; so predictions depend on the other rows passed to ``predict``.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> columns = NodeColumns(Hierarchy.star(["a", "b", "c"]), np.arange(1, 4))
    >>> proba = np.array([[0.9, 0.4, 0.1], [0.3, 0.2, 0.1]])
    >>> ExpectedF().choose(proba, columns).toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> ExpectedF(by="label").choose(proba, columns).toarray().astype(int).tolist()
    [[1, 1, 1], [0, 0, 1]]
    """

    def __init__(self, beta: float = 1.0, by: str = "row") -> None:
        self.beta = beta
        self.by = by

    @property
    def sees_all_rows(self) -> bool:  # type: ignore[override]
        """Whether the prediction of a row depends on the other rows."""
        return self.by == "label"

    def choose(self, proba: FloatArray, columns: NodeColumns) -> sparse.csr_array:
        """Choose the nodes of every row; see `LabelRule.choose`."""
        beta = _check_beta(self)
        if self.by == "label":
            return threshold_sets(proba, f_thresholds(proba, beta), columns)
        if self.by != "row":
            raise PalmetteError(f"ExpectedF(by={self.by!r}): expected 'row' or 'label'.")
        # a stable sort puts parents before equally probable children: every prefix is closed
        order = np.argsort(-proba, axis=1, kind="stable")
        falling = proba[np.arange(len(proba))[:, None], order]
        sizes = best_set_sizes(falling, beta)
        taken = np.arange(columns.n_columns) < sizes[:, None]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        flags = np.ones(starts[-1], dtype=bool)
        sets = sparse.csr_array((flags, order[taken], starts), shape=proba.shape)
        sets.sort_indices()
        return sets


# ---------------------------------------------------------------------- rules that are tuned


class TunedRule(BaseEstimator, ABC):  # type: ignore[misc]
    """A rule whose thresholds, one per node, are chosen on held-out probabilities.

    A threshold is the midpoint between two neighbouring scores; ties go to the highest. It is 0.5
    if the label or its score is constant, or if no threshold has a value above 0.
    """

    def tune(
        self,
        proba: FloatArray,
        truth: sparse.csr_array,
        columns: NodeColumns,
        weights: NDArray[np.float64] | None = None,
    ) -> Threshold:
        """Choose the thresholds.

        Parameters
        ----------
        proba : array of shape (n_samples, n_columns)
            Probabilities of rows that the model was not fitted on, coherent like those of
            ``predict``.
        truth : sparse bool array of shape (n_samples, n_columns)
            Nodes that are true.
        columns : NodeColumns
        weights : array of shape (n_samples,), optional

        Returns
        -------
        Threshold
            With one value per node of the hierarchy, 0.5 for those that are not columns.
        """
        values = np.full(columns.hierarchy.n_nodes, 0.5)
        values[columns.nodes] = best_cuts(proba, truth, self._cut_value(), weights)
        return Threshold(values)

    @abstractmethod
    def _cut_value(self) -> CutValue:
        """Return the function that values thresholds by their counts."""


class BestF(TunedRule):
    """Tune one threshold per label to the best F on held-out rows; its name is ``"f1"``.

    Parameters
    ----------
    beta : float
        Weight of recall relative to precision; 1 is F1.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> columns = NodeColumns(Hierarchy.star(["a", "b"]), np.arange(1, 3))
    >>> proba = np.array([[0.1, 0.6], [0.2, 0.5], [0.3, 0.2]])
    >>> truth = sparse.csr_array([[False, False], [True, False], [True, False]])
    >>> BestF().tune(proba, truth, columns).value.round(3).tolist()
    [0.5, 0.15, 0.5]
    """

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = beta

    def _cut_value(self) -> CutValue:
        square = _check_beta(self) ** 2

        def f_of(hits: Any, alarms: Any, positives: Any, negatives: Any) -> Any:
            return (1 + square) * hits / (square * positives + hits + alarms)

        return f_of


class Youden(TunedRule):
    """Tune one threshold per label to the largest difference of true and false positive rate.

    Its name is ``"youden"``.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> columns = NodeColumns(Hierarchy.star(["a"]), np.array([1]))
    >>> proba = np.array([[0.1], [0.2], [0.3], [0.4]])
    >>> truth = sparse.csr_array([[False], [True], [False], [True]])
    >>> Youden().tune(proba, truth, columns).value.round(3).tolist()
    [0.5, 0.35]
    """

    def _cut_value(self) -> CutValue:
        def difference_of(hits: Any, alarms: Any, positives: Any, negatives: Any) -> Any:
            return hits / positives - alarms / negatives

        return difference_of


def _check_beta(rule: ExpectedF | BestF) -> float:
    beta = rule.beta
    if not isinstance(beta, Real) or isinstance(beta, bool) or not 0 < beta < np.inf:
        raise PalmetteError(f"{rule!r}: expected beta to be a positive number.")
    return float(beta)


# ---------------------------------------------------------------------- by name

_BY_NAME: dict[str, type[TunedRule]] = {"f1": BestF, "youden": Youden}


def is_label_rule(decoding: Any) -> bool:
    """Whether an object, number or name is a rule for several labels per row.

    Examples
    --------
    >>> is_label_rule("f1"), is_label_rule(0.3), is_label_rule("best_path")
    (True, True, False)
    """
    is_name = isinstance(decoding, str) and decoding in _BY_NAME
    return is_name or isinstance(decoding, LabelRule | TunedRule) or is_threshold(decoding)


def resolve_label_rule(decoding: Any) -> LabelRule | TunedRule:
    """Return the rule for several labels per row: a threshold of 0.5 for ``"auto"``.

    Examples
    --------
    >>> resolve_label_rule("f1")
    BestF()
    """
    if isinstance(decoding, LabelRule | TunedRule):
        return decoding
    if isinstance(decoding, str) and decoding in _BY_NAME:
        return _BY_NAME[decoding]()
    return resolve_threshold(decoding)
