"""Fit the methods on a data set, and score their probabilities with intervals over test rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.utils import get_tags

from palmette.compare import describe_estimator, fingerprint, measure
from palmette.labels._labels import NodeLabels
from palmette.metrics._counts import average_precision_of_cells
from papers.cells import Cells
from papers.multipath.methods import EQUAL, Method, MultipathSet

__all__ = ["N_DRAWS", "Outcome", "find_outcome", "prior_score", "score_interval", "work"]

# ---------------------------------------------------------------------- one method


Results = dict[str, Any]

N_DRAWS = 100
_LEVEL = 0.95


def work(method: Method, data: MultipathSet, seed: int, n_jobs: int | None) -> Results:
    """Fit a method on the training rows and score its answers for the test rows.

    Returns
    -------
    dict
        ``scores``: by name (the method's, and those of the members of the equal blend) the micro
        AU(PRC), the ends of its interval and the largest step by which a child exceeds a parent;
        ``fit_s`` and ``predict_s``, CPU seconds; ``peak_mib``; ``weights`` of a blend.
    """
    problem = data.problem
    classifier = method.make(data.hierarchy, seed, n_jobs)
    X_train, X_test = _filled(classifier, problem.X_train, problem.X_test)
    with measure() as fitting:
        classifier.fit(X_train, problem.y_train)
    with measure() as predicting:
        proba = classifier.predict_node_proba(X_test)
    found: Results = {
        "scores": {method.name: _scored(data, proba, seed)},
        "fit_s": fitting.cpu_seconds,
        "predict_s": predicting.cpu_seconds,
        "peak_mib": max(fitting.peak_mib or 0.0, predicting.peak_mib or 0.0),
        "weights": [float(w) for w in getattr(classifier, "weights_", [])],
    }
    if method.name == EQUAL:
        for name, member in classifier.named_estimators_.items():
            found["scores"][name] = _scored(data, member.predict_node_proba(X_test), seed)
    return found


def _filled(classifier: Any, X_train: Any, X_test: Any) -> tuple[Any, Any]:
    """Rows with the training means for missing values, where the classifier takes none."""
    takes_nan = get_tags(classifier).input_tags.allow_nan
    if takes_nan or sparse.issparse(X_train) or not np.isnan(X_train).any():
        return X_train, X_test
    means = SimpleImputer(keep_empty_features=True).fit(X_train)
    return means.transform(X_train), means.transform(X_test)


def _scored(data: MultipathSet, proba: NDArray[np.float64], seed: int) -> dict[str, float]:
    counted = proba[:, data.nodes]
    low, high = score_interval(data.truth, counted, seed)
    edges = data.hierarchy.edges
    above = proba[:, edges[:, 1]] - proba[:, edges[:, 0]]
    return {
        "auprc": average_precision_of_cells(data.truth, counted),
        "low": low,
        "high": high,
        "incoherence": float(above.max(initial=0.0)),
    }


def prior_score(data: MultipathSet) -> float:
    """Micro AU(PRC) of the training rows' shares of the nodes, the same for every row."""
    labels = NodeLabels.encode(data.problem.y_train, data.hierarchy).closed[:, data.nodes]
    shares = np.asarray(labels.mean(axis=0)).ravel()
    return average_precision_of_cells(data.truth, np.tile(shares, (data.truth.shape[0], 1)))


def score_interval(
    truth: sparse.csr_array, scores: NDArray[np.float64], seed: int, n_draws: int = N_DRAWS
) -> tuple[float, float]:
    """Ends of the interval that holds 95% of the scores of rows drawn anew, with replacement.

    Cells are sorted once; a draw only weighs them anew. Those below the last true cell do not
    count, and are left out.

    Parameters
    ----------
    truth : sparse bool array of shape (n_samples, n_columns)
    scores : array of shape (n_samples, n_columns)
    seed, n_draws : int

    Returns
    -------
    low, high : float
    """
    flags = truth.toarray().ravel()
    values = scores.ravel()
    kept = np.flatnonzero(values >= values[flags].min(initial=np.inf))
    order = kept[np.argsort(-values[kept], kind="stable")]
    rows, flags, values = order // scores.shape[1], flags[order], values[order]
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True))  # ends of equal scores
    rng = np.random.default_rng(seed)
    n_rows = scores.shape[0]
    found = []
    for _ in range(n_draws):
        weight = np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows)[rows]
        told, hits = np.cumsum(weight)[last], np.cumsum(weight * flags)[last]
        precision = np.divide(hits, told, out=np.zeros(len(last)), where=told > 0)
        total = hits[-1] if len(hits) else 0
        found.append(float((precision * np.diff(hits, prepend=0)).sum() / max(total, 1)))
    low, high = np.quantile(found, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)


# ---------------------------------------------------------------------- all methods


@dataclass
class Outcome:
    """Scores of all methods on a data set.

    Attributes
    ----------
    name : str
    n_train, n_test, n_features, n_nodes : int
    left_out : tuple of str
        Nodes that the measure leaves out, besides the root.
    prior : float
        Score of the training rows' shares.
    scores : dict of str to dict
        By method: ``auprc``, ``low``, ``high``, ``incoherence``.
    cost : dict of str to dict
        By method that was fitted: ``fit_s``, ``predict_s``, ``peak_mib``, ``weights``.
    is_dag : bool
        Whether a node has several parents.
    """

    name: str
    n_train: int
    n_test: int
    n_features: int
    n_nodes: int
    left_out: tuple[str, ...]
    prior: float
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    cost: dict[str, dict[str, Any]] = field(default_factory=dict)
    is_dag: bool = False


def find_outcome(
    data: MultipathSet, methods: Sequence[Method], seed: int, n_jobs: int | None, cells: Cells
) -> Outcome:
    """Fit all methods on a data set, or find what they came to in the store."""
    problem = data.problem
    outcome = Outcome(
        data.name,
        len(problem.y_train),
        len(problem.y_test),
        problem.X_train.shape[1],
        data.hierarchy.n_nodes - 1,
        data.left_out,
        prior_score(data),
        is_dag=not data.hierarchy.is_tree,
    )
    digest = fingerprint(problem)
    for method in methods:
        cell = {
            "dataset": data.name,
            "model": method.name,
            "data": digest,
            "estimator": describe_estimator(method.make(None, seed, None)),
            "seed": seed,
        }
        found = cells.results(cell, partial(work, method, data, seed, n_jobs))
        outcome.scores.update(found["scores"])
        outcome.cost[method.name] = {
            key: found[key] for key in ("fit_s", "predict_s", "peak_mib", "weights")
        }
    return outcome
