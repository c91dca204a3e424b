"""Answers of any fitted classifier as nodes with probabilities, and as the paths of these nodes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from palmette.base._adapters import (
    PathAnswers,
    best_labels,
    gives_node_proba,
    node_proba,
    node_sets,
    nodes_of,
)
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

__all__ = [
    "PathAnswers",
    "best_labels",
    "gives_node_proba",
    "label_sets",
    "node_proba",
    "node_sets",
    "nodes_of",
    "write_nodes",
    "write_sets",
]


def label_sets(estimator: Any, X: Any, hierarchy: Hierarchy, learnt: bool) -> sparse.csr_array:
    """Predict the labels of rows that have several: bool, (n_samples, n_nodes).

    Parameters
    ----------
    estimator : fitted classifier
    X : rows
    hierarchy : Hierarchy
    learnt : bool
        Whether the hierarchy was learned: its groups are not labels.
    """
    if not learnt:
        return node_sets(estimator, X, hierarchy)
    return NodeLabels.encode(estimator.predict(X), hierarchy).specific


def write_nodes(nodes: Any, hierarchy: Hierarchy) -> list[Any]:
    """Paths of nodes as tuples; names in a DAG."""
    known = {
        node: hierarchy.path(node) if hierarchy.is_tree else hierarchy.names[node]
        for node in np.unique(nodes).tolist()
    }
    return [known[node] for node in np.asarray(nodes).tolist()]


def write_sets(sets: sparse.csr_array, hierarchy: Hierarchy) -> list[set[Any]]:
    """Sets of paths of rows that have several nodes; the root is left out."""
    rows = (sets.indices[a:b] for a, b in pairwise(sets.indptr.tolist()))
    return [set(write_nodes(row[row > 0], hierarchy)) for row in rows]
