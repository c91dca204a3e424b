"""Labels among the nearest training rows: what instance-based multi-label methods count."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors

from palmette._arrays import row_chunks, take_rows
from palmette.base._multilabel import MultilabelClassifier
from palmette.exceptions import PalmetteError
from palmette.multilabel._members import ask_positive, fit_member, in_threads

__all__ = ["IBLR", "MLkNN", "NeighbourLabels", "check_n_neighbors"]


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_NEIGHBOURS_AT_ONCE = 2**23  # places of neighbours, and their distances, that are held at a time


def check_n_neighbors(n_neighbors: Any) -> None:
    """Refuse what is no positive whole number."""
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise PalmetteError(f"n_neighbors={n_neighbors!r}: expected a positive integer.")


class NeighbourLabels:
    """How many of the nearest training rows have each label.

    Weights are numbers of copies: neighbours are taken in the order of their distance until their
    weights come to `n_neighbors`, and of the last one as much as is needed.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    Y : sparse bool array of shape (n_samples, n_labels)
    weights : array of shape (n_samples,), optional
    n_neighbors : int
        At most as many as there are other rows for a training row, so that all rows, old and new,
        have equally many.
    n_jobs : int, optional
    **search
        Metric and algorithm, as in scikit-learn's NearestNeighbors.

    Attributes
    ----------
    n_neighbors : int
        Of every row.

    Examples
    --------
    >>> X, Y = np.array([[0.0], [1.0], [5.0]]), sparse.csr_array([[1, 0], [1, 1], [0, 1]])
    >>> labels = NeighbourLabels(X, Y.astype(bool), None, 2)
    >>> next(labels.of_training_rows())[1].toarray()
    array([[1., 2.],
           [1., 1.],
           [2., 1.]])
    """

    def __init__(
        self,
        X: Any,
        Y: sparse.csr_array,
        weights: FloatArray | None,
        n_neighbors: int,
        *,
        n_jobs: int | None = None,
        **search: Any,
    ) -> None:
        self._X, self._Y, self._weights = X, Y.astype(np.float64), weights
        n_rows = X.shape[0]
        total = n_rows if weights is None else int(np.ceil(weights.sum() - 1e-9))
        self.n_neighbors = min(int(n_neighbors), total - 1)
        n_asked = self.n_neighbors
        if weights is not None:  # the lightest rows tell how many it may take
            reached = np.cumsum(np.sort(weights))
            n_asked = int(np.searchsorted(reached, self.n_neighbors - 1e-9)) + 1
        self._n_asked = min(n_asked, n_rows)
        self._search = NearestNeighbors(
            n_neighbors=max(self._n_asked, 1), n_jobs=n_jobs, **search
        ).fit(X)

    def of_training_rows(self) -> Iterator[tuple[slice, sparse.csr_array]]:
        """Rows, a slice at a time, and their counts; a row is no neighbour of itself."""
        n_rows = self._X.shape[0]
        for rows in row_chunks(n_rows, 2 * self._n_asked + 2, _NEIGHBOURS_AT_ONCE):
            part = self._X if rows == slice(0, n_rows) else take_rows(self._X, rows)
            itself = np.arange(rows.start, rows.stop)
            yield rows, self._count(self._nearest_others(part, itself), itself)

    def of(self, X: Any) -> sparse.csr_array:
        """Counts of new rows: sparse float64, of shape (n_samples, n_labels)."""
        if self.n_neighbors == 0:
            return self._none(X.shape[0])
        chunks = row_chunks(X.shape[0], 2 * self._n_asked, _NEIGHBOURS_AT_ONCE)
        counts = [
            self._count(self._search.kneighbors(X[rows], self._n_asked, return_distance=False))
            for rows in chunks
        ]
        return sparse.vstack(counts, format="csr")

    def _nearest_others(self, X: Any, itself: IntArray) -> IntArray:
        """Neighbours of training rows, nearest first, without the rows themselves."""
        n_others = min(self._n_asked, self._X.shape[0] - 1)
        if n_others < 1:
            return np.empty((len(itself), 0), dtype=np.int64)
        found = self._search.kneighbors(X, n_others + 1, return_distance=False)
        others = found != itself[:, None]
        # among many copies of a row it may not be found itself: then the farthest is left out
        others[others.all(axis=1), -1] = False
        return np.asarray(found[others].reshape(len(itself), n_others))

    def _count(self, found: IntArray, itself: IntArray | None = None) -> sparse.csr_array:
        n_rows = len(found)
        if self.n_neighbors == 0:
            return self._none(n_rows)
        if self._weights is None:
            found = found[:, : self.n_neighbors]
            shares = np.ones(found.shape)
        else:
            shares = self._weights[found]
            if itself is not None:  # a row of weight w has w - 1 copies of itself beside it
                copies = np.maximum(self._weights[itself] - 1.0, 0.0)[:, None]
                found, shares = np.hstack([itself[:, None], found]), np.hstack([copies, shares])
            before = np.cumsum(shares, axis=1) - shares
            shares = np.clip(self.n_neighbors - before, 0.0, shares)
        starts = np.arange(n_rows + 1) * found.shape[1]
        shape = (n_rows, self._X.shape[0])
        near = sparse.csr_array((shares.ravel(), found.ravel(), starts), shape=shape)
        return sparse.csr_array(near @ self._Y)

    def _none(self, n_rows: int) -> sparse.csr_array:
        return sparse.csr_array((n_rows, self._Y.shape[1]), dtype=np.float64)


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


_TOLERANCE = 1e-6  # solvers then agree, whichever the rows ask for
_MANY = 512  # columns from which neither dense rows nor a Hessian matrix pay


class IBLR(MultilabelClassifier):
    """Instance-based learning and logistic regression, combined.

    For every label a logistic regression on the labels of the k nearest rows: with
    :math:`\\omega_j(x)` the share of them that have label :math:`j`,

    .. math:: \\log \\frac{\\pi_i(x)}{1 - \\pi_i(x)} = b_i + \\sum_j a_{ij} \\, \\omega_j(x),

    so that labels learn from each other. With `add_features` (IBLR-ML+) the features of the row
    stand beside the shares. Training rows are asked for neighbours other than themselves.

    Parameters
    ----------
    n_neighbors : int
        k; no more are used than a training row has others.
    add_features : bool
        Whether the regressions see the features too.
    C : float
        Inverse of the strength of the l2 penalty; as published, there is next to none.
    max_iter : int
        Of the solver.
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
        Labels fitted at a time, in threads; and for the search of neighbours.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    nodes_ : int array of shape (n_columns,)
    models_ : list of fitted classifiers
        One for every node of ``nodes_``.
    n_iter_ : int
        Most iterations that a regression took.

    Notes
    -----
    Weights are numbers of copies: a row of weight two counts as two neighbours, and twice in the
    regressions.

    References
    ----------
    W. Cheng and E. Hüllermeier: Combining instance-based learning and logistic regression for
    multilabel classification. Machine Learning 76, 2009.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = [{"a"}, {"a"}, {"a"}, {"b"}, {"b"}, {"b"}]
    >>> IBLR(n_neighbors=2).fit(X, y).predict([[0.0], [1.3]])
    [{'a'}, {'b'}]
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        add_features: bool = False,
        *,
        C: float = 1e6,
        max_iter: int = 1000,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        algorithm: str = "auto",
        hierarchy: Any = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.add_features = add_features
        self.C = C
        self.max_iter = max_iter
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_n_neighbors(self.n_neighbors)
        if not isinstance(self.C, Real) or not self.C > 0:
            raise PalmetteError(f"C={self.C!r}: expected a positive number.")

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
        counts = [part for _, part in self._labels.of_training_rows()]
        features = self._features(sparse.vstack(counts, format="csr"), X)
        small = not sparse.issparse(features) and features.shape[1] <= _MANY
        solver = "newton-cholesky" if small else "lbfgs"
        columns = sparse.csc_array(Y)
        jobs = (
            (
                LogisticRegression(C=self.C, solver=solver, tol=_TOLERANCE, max_iter=self.max_iter),
                features,
                columns[:, [j]].toarray().ravel(),
                weights,
            )
            for j in range(Y.shape[1])
        )
        self.models_ = in_threads(fit_member, jobs, self.n_jobs)
        # constant labels need no regression
        self.n_iter_ = max([1, *(int(max(getattr(m, "n_iter_", [0]))) for m in self.models_)])

    def _features(self, counts: sparse.csr_array, X: Any) -> Any:
        """Shares of labels, with the features of the rows where they are asked for."""
        shares = counts / max(self._labels.n_neighbors, 1)
        if not self.add_features:
            return shares if counts.shape[1] > _MANY else shares.toarray()
        if sparse.issparse(X):
            return sparse.hstack([shares, X], format="csr")
        return np.hstack([shares.toarray(), X])

    def _node_proba_of(self, X: Any) -> FloatArray:
        features = self._features(self._labels.of(X), X)
        jobs = ((model, features) for model in self.models_)
        return np.column_stack(in_threads(ask_positive, jobs, self.n_jobs))
