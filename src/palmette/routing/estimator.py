"""EstimatorRouter: any scikit-learn classifier at every node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from palmette.core.rows import take_rows
from palmette.core.seeds import seed_each
from palmette.exceptions import PalmetteError
from palmette.routing.base import Router, Routes, RoutingProblem

__all__ = ["EstimatorRouter", "EstimatorRoutes"]

FloatArray = NDArray[np.float64]


class EstimatorRouter(Router):
    """Tell the options of every node apart by a clone of one classifier.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Options score the logarithms of its probabilities; where it has none, but margins, an
        option scores ``-max(0, 1 - margin)^2``. A row whose class several options reach, as in a
        DAG, is shown once for each.

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
        """Whether the estimator takes sparse matrices."""
        return bool(get_tags(self.estimator).input_tags.sparse)

    def train(self, problem: RoutingProblem) -> EstimatorRoutes:
        """Train a clone at every node of several options; see `Router.train`."""
        table = problem.table
        asked = [node for node in range(table.n_nodes) if table.sizes[node] > 1]
        if problem.weights is not None and not has_fit_parameter(self.estimator, "sample_weight"):
            raise PalmetteError(
                f"sample_weight was given, but {type(self.estimator).__name__}.fit does not take "
                "it. Use a classifier that does, or leave the weights out."
            )
        clones = [clone(self.estimator) for _ in asked]
        if problem.seed is not None:
            seed_each(clones, problem.seed)
        fitted = problem.run(lambda job: _fit(problem, *job), list(zip(asked, clones, strict=True)))
        return EstimatorRoutes(dict(zip(asked, fitted, strict=True)))


def _fit(problem: RoutingProblem, node: int, estimator: Any) -> Any:
    classes, within = problem.table.family(node)
    rows, member = problem.rows_of(classes)
    reached = within.T.tocsr()  # options by class
    reached.sort_indices()
    counts = np.diff(reached.indptr)[member]
    copies = np.repeat(np.arange(len(rows)), counts)
    within_row = np.arange(len(copies)) - np.repeat(np.cumsum(counts) - counts, counts)
    options = reached.indices[reached.indptr[member][copies] + within_row].astype(np.int32)
    seen = rows[copies]
    order = np.argsort(seen, kind="stable")  # as the rows came
    seen, options = seen[order], options[order]
    weights = {} if problem.weights is None else {"sample_weight": problem.weights[seen]}
    return estimator.fit(take_rows(problem.X, seen), options, **weights)


class EstimatorRoutes(Routes):
    """Fitted classifiers by node.

    Parameters
    ----------
    estimators : dict of int to estimator
        Classes are the places of the options within the node; nodes of one option need none.
    """

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
                answers = _scores_of(estimator, take_rows(X, rows[begin:end]))
                scores[starts[begin] : starts[end]] = answers.ravel()
        return scores


def _gives_margins(estimator: Any) -> bool:
    return not hasattr(estimator, "predict_proba") and hasattr(estimator, "decision_function")


def _scores_of(estimator: Any, X: Any) -> FloatArray:
    """Scores of shape (n_rows, n_options)."""
    if _gives_margins(estimator):
        margins = np.asarray(estimator.decision_function(X), dtype=np.float64)
        if margins.ndim == 1:
            margins = np.column_stack([-margins, margins])
        return -(np.maximum(0.0, 1.0 - margins) ** 2)
    if hasattr(estimator, "predict_proba"):
        shares = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    else:
        shares = np.asarray(estimator.predict(X))[:, None] == np.asarray(estimator.classes_)
    with np.errstate(divide="ignore"):
        return np.log(shares)
