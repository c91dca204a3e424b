"""EstimatorRouter: any scikit-learn classifier at every node."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from palmette._arrays import FloatArray, seed_each, take_rows
from palmette.base._foreign import fit_foreign, margins_of, predicted_by, proba_of
from palmette.base._parameters import check_classifier
from palmette.class_tree._routing import Router, Routes, RoutingProblem
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import held


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
