"""EstimatorRouter, any scikit-learn classifier at every node, and SpectralRouter (MF-Tree)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from palmette._arrays import FloatArray, seed_each, take_rows
from palmette.base._class_moments import Matrix
from palmette.base._foreign import fit_foreign, margins_of, predicted_by, proba_of
from palmette.base._parameters import check_classifier
from palmette.base._statistics import ClassStatistics
from palmette.class_tree._linear_routes import LinearRoutes
from palmette.class_tree._routing import OptionTable, Router, Routes, RoutingProblem
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import held

_NOTHING = 1e-10  # eigenvalues below this share of the largest are rounding errors
_DENSE_CLASSES = 512  # up to this number, computing all eigenvectors is as fast as a few


class EstimatorRouter(Router):
    """Separate the options of every node by a clone of a classifier.

    Parameters
    ----------
    estimator : scikit-learn classifier
        The score of an option is the logarithm of its probability; if the classifier has only
        margins, it is ``-max(0, 1 - margin)^2``. If several options lead to the class of a row, as
        in a DAG, the row is used once per option.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> EstimatorRouter(GaussianNB())
    EstimatorRouter(estimator=GaussianNB())
    """

    takes_any_rows = True

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @property
    def takes_sparse(self) -> bool:  # type: ignore[override]
        """Whether the estimator accepts sparse matrices."""
        if self.estimator is None:
            raise PalmetteError("estimator is None: expected a scikit-learn classifier.")
        check_classifier(self.estimator)
        return bool(get_tags(self.estimator).input_tags.sparse)

    def train(self, problem: RoutingProblem) -> EstimatorRoutes:
        """Train a clone at every node with several options; see `Router.train`."""
        table = problem.table
        nodes = [node for node in range(table.n_nodes) if table.sizes[node] > 1]
        if problem.weights is not None and not has_fit_parameter(self.estimator, "sample_weight"):
            raise PalmetteError(
                f"sample_weight was given, but {type(self.estimator).__name__}.fit does not accept "
                "it. Use a classifier that does, or omit the weights."
            )
        clones = [clone(self.estimator) for _ in nodes]
        if problem.seed is not None:
            seed_each(clones, problem.seed)
        fitted = problem.run(lambda job: _fit(problem, *job), list(zip(nodes, clones, strict=True)))
        return EstimatorRoutes(dict(zip(nodes, fitted, strict=True)))


def _fit(problem: RoutingProblem, node: int, estimator: Any) -> Any:
    classes, within = problem.table.family(node)
    rows, member = problem.rows_of(classes)
    reached = within.T.tocsr()  # options by class
    reached.sort_indices()
    counts = np.diff(reached.indptr)[member]
    copies = np.repeat(np.arange(len(rows)), counts)
    within_row = np.arange(len(copies)) - np.repeat(np.cumsum(counts) - counts, counts)
    options = reached.indices[reached.indptr[member][copies] + within_row].astype(np.int32)
    used = rows[copies]
    order = np.argsort(used, kind="stable")  # the order of the rows in X
    used, options = used[order], options[order]
    weights = {} if problem.weights is None else {"sample_weight": problem.weights[used]}
    return fit_foreign(estimator, take_rows(problem.X, used), options, **weights)


class EstimatorRoutes(Routes):
    """Fitted classifiers of all nodes, by node.

    Parameters
    ----------
    estimators : dict of int to estimator
        Their classes are the positions of the options within the node; nodes with one option have
        no classifier.
    """

    in_files: ClassVar = {
        "estimators": held(dict),
    }

    def __init__(self, estimators: dict[int, Any]) -> None:
        self.estimators = estimators

    @property
    def are_log_proba(self) -> bool:  # type: ignore[override]
        """Whether the classifiers give probabilities."""
        return not any(_gives_margins(each) for each in self.estimators.values())

    def score(
        self, X: Any, rows: NDArray[np.int64], nodes: NDArray[np.int32], starts: NDArray[np.int64]
    ) -> FloatArray:
        """Score the options of a node for every pair of a row and a node; see `Routes.score`."""
        scores = np.zeros(int(starts[-1]))
        first = np.flatnonzero(np.diff(nodes, prepend=-1))
        for begin, end in zip(first, np.append(first[1:], len(nodes)), strict=True):
            estimator = self.estimators.get(int(nodes[begin]))
            if estimator is not None:
                found = _scores_of(estimator, take_rows(X, rows[begin:end]), int(nodes[begin]))
                scores[starts[begin] : starts[end]] = found.ravel()
        return scores


def _gives_margins(estimator: Any) -> bool:
    return not hasattr(estimator, "predict_proba") and hasattr(estimator, "decision_function")


def _scores_of(estimator: Any, X: Any, node: int) -> FloatArray:
    """Return scores of shape (n_rows, n_options)."""

    def where() -> str:
        return f" at node {node} of hierarchy_"

    if _gives_margins(estimator):
        margins = margins_of(estimator, X, where)
        if margins.ndim == 1:
            margins = np.column_stack([-margins, margins])
        return -(np.maximum(0.0, 1.0 - margins) ** 2)
    if hasattr(estimator, "predict_proba"):
        shares = proba_of(estimator, X, where)
    else:
        shares = predicted_by(estimator, X, where)[:, None] == np.asarray(estimator.classes_)
    with np.errstate(divide="ignore"):
        return np.log(shares)


class SpectralRouter(Router):
    """Choose the option with the largest projection on an eigenvector of the class similarity.

    At a node, D is the matrix of inner products of the class sums, after centring all rows. Each
    option has one of its leading eigenvectors: the one with the largest entries at its classes.
    The projections of a row x are G'Sx, with class sums S and eigenvectors G, so that nothing is
    trained. This router reproduces the paper. It makes errors at every level and depends on the
    signs of eigenvectors; `LinearRouter` is far more accurate.

    Parameters
    ----------
    one_hot : bool
        Whether to replace the eigenvectors by indicators of the options' classes, as in the paper's
        problem before the relaxation.

    References
    ----------
    Liu, Tan, Liu, MF-Tree: matrix factorization tree for large multi-class learning, CIKM 2015.

    Examples
    --------
    >>> SpectralRouter(one_hot=True)
    SpectralRouter(one_hot=True)
    """

    def __init__(self, *, one_hot: bool = False) -> None:
        self.one_hot = one_hot

    def train(self, problem: RoutingProblem) -> LinearRoutes:
        """Compute the projections of every node; see `Router.train`."""
        table = problem.table
        statistics = ClassStatistics.gather(
            problem.X, problem.codes, table.n_classes, problem.weights, "mean"
        )
        sums = statistics.sum
        weight = np.asarray(statistics.weight, dtype=np.float64)
        mean = np.asarray(sums.sum(axis=0)).ravel() / weight.sum()
        blocks = [self._project(table, node, sums, weight, mean) for node in range(table.n_nodes)]
        return LinearRoutes(table, blocks, sums.shape[1], "softmax")

    def _project(
        self, table: OptionTable, node: int, sums: Matrix, weight: FloatArray, mean: FloatArray
    ) -> tuple[sparse.csr_array, FloatArray]:
        n_options = int(table.sizes[node])
        if n_options == 1:
            return sparse.csr_array((len(mean), 0)), np.empty(0)
        classes, within = table.family(node)
        here, sizes = sums[classes], weight[classes]
        grouped = within.toarray().T.astype(np.float64)
        G = grouped if self.one_hot else _spectrum(here, sizes, mean, grouped)
        vectors = np.asarray(here.T @ G) - np.outer(mean, sizes @ G)
        return sparse.csr_array(vectors), np.zeros(n_options)


def _spectrum(sums: Matrix, sizes: FloatArray, mean: FloatArray, grouped: FloatArray) -> FloatArray:
    """Return leading eigenvectors of the centred class similarity, in the order of the options."""
    n_classes, n_options = grouped.shape

    def similar(G: FloatArray) -> FloatArray:
        centred = sums.T @ G - np.multiply.outer(mean, sizes @ G)
        product: FloatArray = sums @ centred - np.multiply.outer(sizes, mean @ centred)
        return product

    if n_classes <= max(_DENSE_CLASSES, n_options + 1):
        D = similar(np.eye(n_classes))
        values, vectors = np.linalg.eigh((D + D.T) / 2)
        values, vectors = values[::-1][:n_options], vectors[:, ::-1][:, :n_options]
    else:
        operator = LinearOperator(
            (n_classes, n_classes), matvec=lambda v: similar(v.ravel()), dtype=float
        )
        start = np.random.default_rng(0).normal(size=n_classes)
        values, vectors = eigsh(operator, k=n_options, v0=start)
        values, vectors = values[::-1], vectors[:, ::-1]
    # eigenvectors of the eigenvalue zero are arbitrary: they are left out
    vectors = np.where(values > _NOTHING * max(values[0], 0.0), vectors, 0.0)
    top = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[top, np.arange(n_options)] < 0, -1.0, 1.0)
    _, order = optimize.linear_sum_assignment(-(grouped.T @ np.abs(vectors)))
    return vectors[:, order]
