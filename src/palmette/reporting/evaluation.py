"""Truth and answers of the rows of a report, on one hierarchy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels
from palmette.engine.adapters import find_in_parts, hierarchy_of
from palmette.metrics._counts import NodeCounts, RowOverlap, count_nodes, row_overlap
from palmette.metrics._pairs import LabelPair, extend_hierarchy, pair_labels

__all__ = ["Evaluation", "evaluate", "places_of", "primary_parents"]

IntArray = NDArray[np.int32]


@dataclass(frozen=True)
class Evaluation:
    """True and predicted labels of all rows.

    Parameters
    ----------
    pair : LabelPair
        On the hierarchy of the model, with the labels added that it never saw.
    several : bool
        Whether a row may have several paths, or a node several parents.
    node_place : int array of shape (n_model_nodes,)
        Number of each node of the model's hierarchy in that of `pair`.
    """

    pair: LabelPair
    several: bool
    node_place: IntArray

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of truth and answers."""
        return self.pair.hierarchy

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.pair.true.n_samples

    @cached_property
    def counts(self) -> NodeCounts:
        """True and false positives of every node."""
        return count_nodes(self.pair)

    @cached_property
    def overlap(self) -> RowOverlap:
        """Nodes that each row truly has, is given, and both."""
        return row_overlap(self.pair)

    @cached_property
    def is_right(self) -> NDArray[np.bool_]:
        """Whether the answer is exactly the truth, of shape (n_samples,)."""
        return np.asarray(self.overlap.apart == 0)

    @cached_property
    def parents(self) -> IntArray:
        """The parent under which each node is shown; see `primary_parents`."""
        return primary_parents(self.hierarchy)

    @cached_property
    def is_known(self) -> NDArray[np.bool_]:
        """Whether the model's hierarchy has each node, of shape (n_nodes,)."""
        known = np.zeros(self.hierarchy.n_nodes, dtype=bool)
        known[self.node_place] = True
        return known

    @cached_property
    def n_unseen(self) -> int:
        """Rows with a true label that the model's hierarchy does not have."""
        unknown = (~self.is_known).astype(np.int64)
        return int(np.count_nonzero(self.pair.true.closed @ unknown))


def evaluate(model: Any, X: Any, y: Any) -> Evaluation:
    """Predict the rows and put truth and answers on one hierarchy.

    Parameters
    ----------
    model : fitted classifier
    X : rows, as the model takes them
    y : labels of n_samples rows

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["cat", "dog"])
    >>> found = evaluate(tree, [[0.0], [0.1], [1.0]], ["cat", "dog", "wolf"])
    >>> found.is_right.tolist(), found.n_unseen
    ([True, False, False], 1)
    """
    known = hierarchy_of(model)
    hierarchy = extend_hierarchy(known, y)
    pair = pair_labels(y, model.predict(X), hierarchy)
    several = bool(find_in_parts(model, "several_paths_")) or not (
        hierarchy.is_tree and pair.true.is_single_path and pair.pred.is_single_path
    )
    if not several:
        pair = LabelPair(_one_node_a_row(pair.true), _one_node_a_row(pair.pred), pair.weight)
    return Evaluation(pair, several, _places(known, hierarchy))


def primary_parents(hierarchy: Hierarchy) -> IntArray:
    """Parent of every node, -1 for the root; in a DAG the deepest, of equally deep the first.

    Examples
    --------
    >>> dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "a"), ("r", "c")])
    >>> dag.names.tolist(), primary_parents(dag).tolist()
    (['r', 'b', 'a', 'c'], [-1, 0, 1, 2])
    """
    if hierarchy.is_tree:
        return hierarchy.parents
    above, below = hierarchy.edges[:, 0], hierarchy.edges[:, 1]
    best_last = np.lexsort((-above, hierarchy.depth[above]))
    parents = np.full(hierarchy.n_nodes, -1, dtype=np.int32)
    parents[below[best_last]] = above[best_last]  # of several, the last one written stays
    return parents


def places_of(hierarchy: Hierarchy, evaluation: Evaluation) -> IntArray:
    """Nodes of a part's hierarchy in that of the report, of shape (n_nodes,); 0 for unknown ones.

    A part may have a hierarchy of its own, such as one that it learnt.
    """
    if hierarchy.n_nodes == len(evaluation.node_place):
        return evaluation.node_place
    known, paths = evaluation.hierarchy, hierarchy.path_strings
    found = [known.index(path) if path in known else 0 for path in paths]
    return np.array(found, dtype=np.int32)


def _one_node_a_row(labels: NodeLabels) -> NodeLabels:
    return NodeLabels.from_terminals(labels.terminals, labels.hierarchy, labels.form)


def _places(known: Hierarchy, hierarchy: Hierarchy) -> IntArray:
    if known is hierarchy:
        return np.arange(known.n_nodes, dtype=np.int32)
    if not known.is_tree:
        return np.asarray(hierarchy.index(known.names.tolist()))
    rest = [known.path(node) for node in range(1, known.n_nodes)]
    return np.asarray(np.r_[np.int32(0), hierarchy.index(rest)])
