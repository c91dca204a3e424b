"""HOMERTree: a hierarchy over labels that are true of the same rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from palmette.core.containers import row_index
from palmette.core.labels import NodeLabels
from palmette.core.model_html import FittedHTML
from palmette.core.readings import node_csr
from palmette.engine.answers import labels_listed, lists_as_matrix
from palmette.engine.grow import grow_class_tree
from palmette.engine.target import check_target
from palmette.engine.weights import check_weights
from palmette.exceptions import LabelError, PalmetteError
from palmette.multilabel.balanced_k_means import BalancedKMeans, LabelSetProblem

__all__ = ["HOMERTree"]


class HOMERTree(FittedHTML, BaseEstimator):  # type: ignore[misc]
    """Learn a hierarchy over labels by balanced k-means, again and again.

    Labels that are true of the same rows come under one node. The features of the rows count for
    nothing. A fitted one has a `Hierarchy`; an unfitted one stands in the place of a hierarchy in
    every classifier that takes several paths a row: it is then learnt from the rows of each fit.

    Parameters
    ----------
    branching : int
        Clusters that a cluster is divided into; their sizes differ little. Clusters of up to as
        many labels are not divided.
    max_iter : int
        Rounds of a k-means.
    n_init : int
        Starts of a k-means.
    max_depth : int, optional
        Clusters at this depth are not divided.
    random_state : int, RandomState or None
        For the starts.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the labels.
    classes_ : array of shape (n_classes,)
        The labels; every column of an indicator matrix.
    tree_ : GrownTree
        The clusters as they were made, of positions in ``classes_``.

    References
    ----------
    G. Tsoumakas, I. Katakis and I. Vlahavas: Effective and efficient multilabel classification in
    domains with large number of labels. ECML PKDD 2008 workshop on mining multidimensional data.

    Examples
    --------
    >>> y = [{"cat", "fur"}, {"cat", "fur"}, {"oak", "leaf"}, {"oak", "leaf"}]
    >>> tree = HOMERTree(branching=2, random_state=0).fit([[0.0]] * 4, y)
    >>> print(tree.hierarchy_.draw())
    root
    ├─ group 1
    │  ├─ cat
    │  └─ fur
    └─ group 2
       ├─ leaf
       └─ oak
    """

    learns_from_label_sets = True

    def __init__(
        self,
        branching: int = 4,
        *,
        max_iter: int = 50,
        n_init: int = 3,
        max_depth: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.branching = branching
        self.max_iter = max_iter
        self.n_init = n_init
        self.max_depth = max_depth
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HOMERTree:
        """Learn the hierarchy.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Not used.
        y : labels of n_samples rows
            A 0/1 matrix, a list of sets, or one label a row.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if y is None:
            raise LabelError("HOMERTree requires y to be passed, but the target y is None.")
        partition = BalancedKMeans(self.branching, max_iter=self.max_iter, n_init=self.n_init)
        partition.check()
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        labels = _read_sets(y)
        check_consistent_length(X, labels.given)
        weights = check_weights(sample_weight, X.shape[0])
        if weights is not None and not weights.all():
            used = np.flatnonzero(weights)
            labels, weights = _take(labels, used), weights[used]
        if not labels.given.nnz:
            raise LabelError(f"none of the {labels.n_samples} rows of y has a label.")
        self.classes_, nodes = labels_listed(labels)
        if len(nodes) == 1:
            only = self.classes_.tolist()[0]
            raise PalmetteError(
                f"y has one class only, {only!r}: expected two or more to put in order."
            )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.tree_ = grow_class_tree(
            partition,
            LabelSetProblem(labels.given[:, nodes], weights, seed),
            leaf_size=self.branching,
            max_depth=self.max_depth,
        )
        self.hierarchy_ = self.tree_.to_hierarchy(self.classes_)
        return self

    def encode(self, y: Any, *, skip_unknown: bool = False) -> NodeLabels:
        """Read labels along ``hierarchy_``.

        Parameters
        ----------
        y : labels of n_samples rows
        skip_unknown : bool
            Whether labels that the hierarchy was not learnt over are left out, or an error.

        Returns
        -------
        NodeLabels
            Columns of a matrix are the leaves of their labels, in whatever order those stand.
        """
        check_is_fitted(self)
        labels, hierarchy = _read_sets(y), self.hierarchy_
        leaves = {hierarchy.names[leaf]: int(leaf) for leaf in hierarchy.leaves}
        names = labels.hierarchy.names.tolist()[1:]
        unknown = [name for name in names if name not in leaves]
        if unknown and not skip_unknown:
            raise LabelError(
                f"{len(unknown)} labels of y are none that the hierarchy was learnt over, e.g. "
                f"{unknown[0]!r}."
            )
        nodes = np.array([0, *(leaves.get(name, -1) for name in names)], dtype=np.int32)
        form, found = labels.form, nodes[labels.given.indices]
        form = replace(
            form,
            # of sets too: clusters are no labels, and are not told
            columns=nodes[nodes > 0] if form.columns is None else nodes[form.columns],
            spelling={int(nodes[node]): name for node, name in form.spelling.items()},
        )
        starts = np.concatenate([[0], np.cumsum(found >= 0)])[labels.given.indptr]
        along = node_csr(found[found >= 0], starts, hierarchy.n_nodes)
        return NodeLabels(hierarchy, along, form, index=row_index(y))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def _take(labels: NodeLabels, rows: NDArray[np.intp]) -> NodeLabels:
    return NodeLabels(labels.hierarchy, labels.given[rows], labels.form)


def _read_sets(y: Any) -> NodeLabels:
    """Read labels that have no hierarchy yet."""
    labels = NodeLabels.encode(check_target(lists_as_matrix(y, None)))
    if labels.hierarchy.depth.max() > 1:
        raise LabelError(
            "y holds paths, which have a hierarchy of their own: expected label sets, a 0/1 "
            "matrix, or one label a row."
        )
    return labels
