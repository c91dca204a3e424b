"""What was found on a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from palmette.compare import describe_estimator, fingerprint
from papers.cells import Cells
from papers.multipath.methods import Method
from papers.multipath.sets import MultipathSet
from papers.multipath.work import prior_score, work

__all__ = ["Outcome", "find_outcome"]


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
        found = cells.results(cell, lambda method=method: work(method, data, seed, n_jobs))
        outcome.scores.update(found["scores"])
        outcome.cost[method.name] = {
            key: found[key] for key in ("fit_s", "predict_s", "peak_mib", "weights")
        }
    return outcome
