"""IBLR: logistic regression on the labels of the nearest rows."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from palmette.engine.multilabel import MultilabelClassifier
from palmette.exceptions import PalmetteError
from palmette.multilabel.members import ask_positive, fit_member, in_threads
from palmette.multilabel.neighbours import NeighbourLabels, check_n_neighbors

__all__ = ["IBLR"]

FloatArray = NDArray[np.float64]

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
