"""Learn a hierarchy over the labels of a data set."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import count_rows
from palmette.compare._preparing import prepare
from palmette.compare._problems import Problem
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.models._registry import ModelSpec
from palmette.models._tree_learners import TreeLearner, find_tree_learner, make_tree_learner

__all__ = ["LearntTree", "learn_tree"]


@dataclass(frozen=True)
class LearntTree:
    """A hierarchy and where it comes from.

    Attributes
    ----------
    hierarchy : Hierarchy
        Its leaves are the labels.
    learner : estimator
        Fitted, on numbers of labels.
    counts : int array of shape (n_nodes,)
        Training rows with a label at or below each node.
    n_rows : int
    cpu_seconds : float
    """

    hierarchy: Hierarchy
    learner: Any
    counts: NDArray[np.int64]
    n_rows: int
    cpu_seconds: float


def learn_tree(
    problem: Problem,
    method: str = "bhc",
    *,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    parameters: dict[str, Any] | None = None,
) -> LearntTree:
    """Learn a hierarchy over the labels of a data set, from its training rows.

    Labels that have a hierarchy already are seen without it, each as one class.

    Parameters
    ----------
    problem : Problem
    method : str
        Name of a learner; see `palmette.models._tree_learners`.
    random_state : int or None
    n_jobs : int, optional
    parameters : dict, optional
        Of the learner.

    Returns
    -------
    LearntTree

    Examples
    --------
    >>> h = Hierarchy.star(["ant", "bee", "whale"])
    >>> X, y = np.array([[0.0], [1.0], [9.0]] * 5), ["ant", "bee", "whale"] * 5
    >>> print(learn_tree(Problem("animals", h, X, y), "agglomerative").hierarchy.draw())
    root
    ├─ group 1
    │  ├─ ant
    │  └─ bee
    └─ whale
    """
    spec = find_tree_learner(method)
    learner = make_tree_learner(method, random_state, n_jobs, **(parameters or {}))
    labels = NodeLabels.encode(problem.y_train, problem.hierarchy)
    _require_kind(problem.name, labels, spec)
    nodes = np.unique(labels.specific.indices)
    names = _names_of(labels.hierarchy, nodes)
    matrix = labels.specific[:, nodes]  # rows by labels
    started = time.process_time()
    if spec.label_sets:
        learner.fit(np.zeros((matrix.shape[0], 1)), matrix.toarray().astype(np.int8))
    else:
        codes = matrix.indices  # one per row
        as_model = ModelSpec(spec.name, lambda _: learner, spec.summary, scale=spec.scale)
        prepare(learner, as_model, problem.X_train, categorical=problem.categorical).fit(
            problem.X_train, codes
        )
    seconds = time.process_time() - started
    # labels may be longer than any array of text should be: the learner has seen their numbers
    hierarchy = learner.tree_.to_hierarchy(names)
    return LearntTree(
        hierarchy,
        learner,
        _counts(hierarchy, names, matrix),
        count_rows(problem.X_train),
        seconds,
    )


def _require_kind(name: str, labels: NodeLabels, spec: TreeLearner) -> None:
    """Refuse labels that the learner can do nothing with."""
    if spec.label_sets and labels.is_single_path:
        raise PalmetteError(
            f"{name} has one label per row, and {spec.name} learns from labels that occur in the "
            "same rows. Choose another method, such as bhc."
        )
    if not spec.label_sets and not labels.is_single_path:
        raise PalmetteError(
            f"{name} has several labels per row, or rows without one, and {spec.name} learns from "
            "rows of one label. Choose the method homer."
        )


def _names_of(hierarchy: Hierarchy, nodes: NDArray[Any]) -> NDArray[np.object_]:
    """Name labels by their bare name where all of these differ, else by their path."""
    names = hierarchy.names[nodes]
    if len({str(name) for name in names}) < len(names):
        names = hierarchy.path_strings[nodes]
    return np.array(names, dtype=object)


def _counts(hierarchy: Hierarchy, names: NDArray[np.object_], matrix: Any) -> NDArray[np.int64]:
    leaves = {hierarchy.names[leaf]: int(leaf) for leaf in hierarchy.leaves}
    at = np.array([leaves[name] for name in names], dtype=np.int64)
    above = hierarchy.closure[at].astype(np.int64)  # labels by nodes above them
    rows = (matrix.astype(np.int64) @ above) > 0
    return np.asarray(rows.sum(axis=0)).ravel().astype(np.int64)
