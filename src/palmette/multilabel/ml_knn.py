"""MLkNN: labels by the counts of labels among the nearest rows."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.engine.multilabel import MultilabelClassifier
from palmette.exceptions import PalmetteError
from palmette.multilabel.neighbours import NeighbourLabels, check_n_neighbors

__all__ = ["MLkNN"]

FloatArray = NDArray[np.float64]


class MLkNN(MultilabelClassifier):
    """Multi-label k nearest neighbours.

    Of a row with :math:`c` neighbours that have a label, the label is true with probability

    .. math:: P(H \\mid c) = \\frac{P(H) P(c \\mid H)}{P(H) P(c \\mid H) + P(\\bar H) P(c \\mid
       \\bar H)},

    by the shares among the training rows, each of which is asked for its neighbours other than
    itself: with smoothing :math:`s`, :math:`n` rows, of which :math:`n_H` have the label and
    :math:`n_{H, c}` besides that have :math:`c` neighbours with it,

    .. math:: P(H) = \\frac{s + n_H}{2 s + n}, \\qquad
       P(c \\mid H) = \\frac{s + n_{H, c}}{(k + 1) s + n_H}.

    Parameters
    ----------
    n_neighbors : int
        k; no more are used than a training row has others.
    smoothing : float
        s, positive.
    metric : str or callable
        Distance, as in scikit-learn's NearestNeighbors.
    metric_params : dict, optional
        Of the distance.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}
        Of the search.
    hierarchy : Hierarchy, learner of one, or None
        Labels are closed upwards, and answers coherent. None takes it from y.
    decoding : "auto", number or decision rule
        "auto" answers with labels above one half.
    n_jobs : int, optional
        For the search of neighbours; -1 for all cores.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    nodes_ : int array of shape (n_columns,)
    prior_ : array of shape (n_columns,)
        P(H) of every node of ``nodes_``.
    posterior_ : array of shape (k + 1, n_columns)
        P(H | c) for c = 0, ..., k.

    Notes
    -----
    Weights are numbers of copies: a row of weight two counts as two neighbours. Counts that are not
    whole are rounded.

    References
    ----------
    M.-L. Zhang and Z.-H. Zhou: ML-kNN: A lazy learning approach to multi-label learning. Pattern
    Recognition 40(7), 2007.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = [{"a"}, {"a"}, {"a"}, {"b"}, {"b"}, {"b"}]
    >>> MLkNN(n_neighbors=2).fit(X, y).predict([[0.0], [1.3]])
    [{'a'}, {'b'}]
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        smoothing: float = 1.0,
        *,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        algorithm: str = "auto",
        hierarchy: Any = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_n_neighbors(self.n_neighbors)
        if not isinstance(self.smoothing, Real) or not self.smoothing > 0:
            raise PalmetteError(f"smoothing={self.smoothing!r}: expected a positive number.")

    def _fit_nodes(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        self._labels = NeighbourLabels(
            X,
            Y,
            weights,
            self.n_neighbors,
            metric=self.metric,
            metric_params=self.metric_params,
            algorithm=self.algorithm,
            n_jobs=self.n_jobs,
        )
        own = np.ones(X.shape[0]) if weights is None else weights
        total, positive = own.sum(), Y.T.astype(np.float64) @ own
        s, k = float(self.smoothing), self._labels.n_neighbors
        of_all, of_positive = self._histograms(Y, own, total, positive)
        given_true = (s + of_positive) / (s * (k + 1) + positive)
        given_false = (s + of_all - of_positive) / (s * (k + 1) + total - positive)
        self.prior_ = (s + positive) / (2 * s + total)
        true, false = self.prior_ * given_true, (1.0 - self.prior_) * given_false
        self.posterior_ = true / (true + false)

    def _histograms(
        self, Y: sparse.csr_array, own: FloatArray, total: float, positive: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Weight of the rows, and of those with the label, by their count of it.

        Returns
        -------
        of_all, of_positive : arrays of shape (k + 1, n_columns)
        """
        shape = (self._labels.n_neighbors + 1, Y.shape[1])
        tables = np.zeros((2, *shape))
        for rows, counts in self._labels.of_training_rows():
            for table, part in zip(tables, (counts, counts.multiply(Y[rows])), strict=True):
                cells = sparse.coo_array(part)
                place = np.rint(cells.data).astype(np.int64) * shape[1] + cells.col
                here = own[rows][cells.row]
                table += np.bincount(place, here, minlength=table.size).reshape(shape)
        for table, whole in zip(tables, (total, positive), strict=True):
            table[0] = whole - table[1:].sum(axis=0)  # sparse counts do not list none
        return np.maximum(tables[0], 0.0), np.maximum(tables[1], 0.0)

    def _node_proba_of(self, X: Any) -> FloatArray:
        counts = np.rint(self._labels.of(X).toarray()).astype(np.int64)
        return np.asarray(self.posterior_[counts, np.arange(len(self.nodes_))])
