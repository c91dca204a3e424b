"""CoherentForestClassifier: extremely randomized trees on a projection of the label matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.tree import ExtraTreeRegressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import FloatArray, count_rows, row_chunks, take_rows
from palmette.base._parameters import check_counts
from palmette.decisions._thresholds import Threshold
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics._counts import average_precision_of_cells
from palmette.multipath._base import CoherentClassifier, FeatureScaling
from palmette.persistence.checks import held

Setting: TypeAlias = tuple[Any, Any]  # min_samples_leaf, max_features

_FOR_WEAK_SIGNALS: Setting = (5, "sqrt")
_TREES_TO_CHOOSE = 50
_ROWS_TO_CHOOSE = 3_000
_MIN_ROWS_TO_CHOOSE = 100
_COLUMNS_TO_CHOOSE = 500  # the most frequent nodes


class CoherentForestClassifier(CoherentClassifier):
    """Extremely randomized trees over a hierarchy, for several paths per row, in trees and DAGs.

    Trees are grown on a projection of the label matrix (labels with ancestors) on its leading
    singular vectors, so that their cost does not grow with the number of nodes. Leaf values are not
    used: the neighbours of a row are the training rows in its leaves, with weight 1 / (size of the
    leaf) per tree, and the probability of a node is the total weight of the neighbours that have
    it. Hence no child exceeds a parent, in trees and DAGs.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    n_directions : int
        Number of leading singular vectors of the label matrix.
    min_samples_leaf : int or "auto"
        Minimum number of rows in a leaf. "auto" is 1 if every row has one path, else 3.
    max_features : float, int, "sqrt" or "auto"
        Features considered at a split; "auto" is half of them, or with over 500 features twice the
        square root of their number.

        If both are "auto" and rows have several paths, leaves of 5 rows and the square root of the
        number of features, which suit weak signals, are used where their micro-averaged average
        precision on held-out rows is higher. This makes the fit about a third longer.
    missing : {"mean", "error"}
        Whether NaN is replaced by the training mean or raises an error.
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        Features that are categories, whose values or codes have no order: a mask, or indices or
        names of features. "from_dtype" are the columns of a table with a type of categories. Each
        category is a column of 0 and 1; a row with a missing or new category has 0 in all of them.
    hierarchy : Hierarchy, a learner of one, or None
        Hierarchy of the labels. None: taken from y.
    decoding : "auto", float or rule
        See `palmette.decoding`; "auto" predicts the nodes with a probability above one half.
    dag_rule : {"all", "any"}
        Whether a node of a DAG requires all of its parents or any of them.
    n_jobs : int, optional
        Passed to the forest.
    random_state : int, RandomState or None
    verbose : int
        Passed to the forest.

    Attributes
    ----------
    forest_ : ExtraTreesRegressor
    choices_ : dict of (min_samples_leaf, max_features) to float
        Average precision on held-out rows; empty if nothing was chosen.
    closed_labels_ : sparse bool array of shape (n_samples, n_columns)
        Labels of the training rows with their ancestors; columns as in ``nodes_``.
    is_categorical_ : bool array of shape (n_features,) or None
        Which features are categories; None if no feature is.
    feature_importances_ : array of shape (n_features,)

    Examples
    --------
    >>> from palmette import CoherentForestClassifier
    >>> X, y = [[0.0], [0.1], [1.0], [1.1]], [{"a/b"}, {"a/b"}, {"a/c", "d"}, {"a/c", "d"}]
    >>> forest = CoherentForestClassifier(n_estimators=10, min_samples_leaf=1, random_state=0)
    >>> sorted(forest.fit(X, y).predict([[1.05]])[0])
    ['a/c', 'd']
    """

    def __init__(
        self,
        n_estimators: int = 150,
        *,
        n_directions: int = 100,
        min_samples_leaf: int | str = "auto",
        max_features: float | int | str = "auto",
        missing: str = "mean",
        categorical_features: Any = "from_dtype",
        hierarchy: Hierarchy | None = None,
        decoding: str | float | Threshold = "auto",
        dag_rule: str = "all",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_directions = n_directions
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.missing = missing
        self.categorical_features = categorical_features
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.dag_rule = dag_rule
        self.verbose = verbose

    in_files: ClassVar = {
        "forest_": held(ExtraTreesRegressor),
        "forest_.estimators_": held(list, each=(ExtraTreeRegressor,)),
        "scaling_": held(FeatureScaling),
    }

    def _check_parameters(self) -> None:
        check_counts(self, "n_directions")

    # ------------------------------------------------------------------ fitting

    def _fit_nodes(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        X = self._scale(X, weights)
        targets = leading_directions(Y, self.n_directions, weights, seed)
        setting = self._choose_setting(X, Y, targets, weights, seed)
        self.forest_ = self._grow(X, targets, weights, setting, self.n_estimators, seed)
        self.closed_labels_ = Y
        self._members = leaf_members(self.forest_, X, weights)

    def _grow(
        self,
        X: Any,
        targets: FloatArray,
        weights: FloatArray | None,
        setting: Setting,
        n_trees: int,
        seed: int,
    ) -> ExtraTreesRegressor:
        """Grow trees on scaled rows, given (min_samples_leaf, max_features)."""
        return ExtraTreesRegressor(
            n_trees,
            min_samples_leaf=setting[0],
            max_features=setting[1],
            n_jobs=self.n_jobs,
            random_state=seed,
            verbose=self.verbose,
        ).fit(X, targets, sample_weight=weights)

    def _choose_setting(
        self,
        X: Any,
        Y: sparse.csr_array,
        targets: FloatArray,
        weights: FloatArray | None,
        seed: int,
    ) -> Setting:
        """Return (min_samples_leaf, max_features), chosen on held-out rows if both are "auto"."""
        self.choices_: dict[Setting, float] = {}
        leaf, features = self.min_samples_leaf, self.max_features
        both = leaf == "auto" and features == "auto"
        if leaf == "auto":
            leaf = 1 if self._has_one_path_per_row(Y) else 3
        if features == "auto":
            features = float(2.0 / np.sqrt(X.shape[1])) if X.shape[1] > 500 else 0.5
        if not both or leaf == 1 or Y.shape[0] < _MIN_ROWS_TO_CHOOSE:
            return leaf, features
        order = np.random.default_rng([seed, 1]).permutation(Y.shape[0])[:_ROWS_TO_CHOOSE]
        held, kept = np.sort(order[: len(order) // 3]), np.sort(order[len(order) // 3 :])
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        columns = np.sort(np.argsort(-counts, kind="stable")[:_COLUMNS_TO_CHOOSE])
        known, truth = Y[kept][:, columns], Y[held][:, columns]
        of_kept, of_held = (None, None) if weights is None else (weights[kept], weights[held])
        rows, others = take_rows(X, kept), take_rows(X, held)
        for setting in ((leaf, features), _FOR_WEAK_SIGNALS):
            forest = self._grow(rows, targets[kept], of_kept, setting, _TREES_TO_CHOOSE, seed)
            near = neighbour_weights(forest, leaf_members(forest, rows, of_kept), others)
            scores = (near @ known).toarray()
            self.choices_[setting] = average_precision_of_cells(truth, scores, of_held)
        return max(self.choices_, key=lambda setting: self.choices_[setting])

    # ------------------------------------------------------------------ predicting

    def _neighbour_weights(self, X: Any) -> sparse.csr_array:
        """Return the weights of the neighbours of every row: (n_samples, n_training_rows)."""
        return neighbour_weights(self.forest_, self._members, self.scaling_.transform(X))

    def _node_proba_of(self, X: Any) -> FloatArray:
        proba: FloatArray = (self._neighbour_weights(X) @ self.closed_labels_).toarray()
        return np.minimum(proba, 1.0)

    def _numbers_over_nodes(self) -> int:
        # a row has a few neighbours per tree
        return super()._numbers_over_nodes() + 8 * self.n_estimators

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean decrease of the variance of the targets per feature, of shape (n_features,)."""
        check_is_fitted(self)
        importances = np.asarray(self.forest_.feature_importances_)
        return self.scaling_.sum_by_feature(importances)

    def neighbors(self, X: Any, n_neighbors: int = 5) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the training rows that share most leaves with each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        n_neighbors : int

        Returns
        -------
        rows : int array of shape (n_samples, n_neighbors)
            Nearest first, ties in the order of the rows. -1 if there are no more neighbours.
        weights : array of shape (n_samples, n_neighbors)
            Weights of the rows; the weights of all neighbours of a row sum to 1.
        """
        X = self._read_rows(X)
        found, near = [], []
        for chunk in row_chunks(count_rows(X), 16 * self.n_estimators):
            weights = self._neighbour_weights(take_rows(X, chunk))
            for start, stop in zip(weights.indptr[:-1], weights.indptr[1:], strict=True):
                rows, values = weights.indices[start:stop], weights.data[start:stop]
                order = np.lexsort((rows, -values))[:n_neighbors]
                gap = (0, n_neighbors - len(order))
                found.append(np.pad(rows[order], gap, constant_values=-1))
                near.append(np.pad(values[order], gap))
        return np.array(found, dtype=np.int64), np.array(near)

    def explain(self, X: Any, node: Any, n_neighbors: int = 5) -> list[NodeExplanation]:
        """Explain the probability of a node by the nearest training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        node : name or path
        n_neighbors : int

        Returns
        -------
        list of NodeExplanation, one per row
            `str` of an explanation is readable text.
        """
        hierarchy = self.hierarchy_
        number = int(hierarchy.index([node])[0])
        proba = self.predict_node_proba(X, [node])[:, 0]
        rows, weights = self.neighbors(X, n_neighbors)
        sets = self._answers.columns.sets_of_nodes(self.closed_labels_)
        has = np.asarray(sets[:, [number]].todense()).ravel().astype(bool)
        specific = _most_specific(sets, hierarchy)
        names = hierarchy.path_strings
        explanations = []
        for i in range(len(rows)):
            there = rows[i] >= 0
            mine = rows[i][there]
            labels = [
                tuple(str(names[k]) for k in specific.indices[a:b])
                for a, b in zip(specific.indptr[mine], specific.indptr[mine + 1], strict=True)
            ]
            explanations.append(
                NodeExplanation(
                    str(names[number]), float(proba[i]), mine, weights[i][there], has[mine], labels
                )
            )
        return explanations


def _most_specific(sets: sparse.csr_array, hierarchy: Hierarchy) -> sparse.csr_array:
    """Return the nodes of closed sets without a child in the set."""
    edges = hierarchy.edges
    ones = np.ones(len(edges), dtype=np.int32)
    up = sparse.csr_array((ones, (edges[:, 1], edges[:, 0])), shape=(hierarchy.n_nodes,) * 2)
    has_child = (sets.astype(np.int32) @ up) > 0
    kept = sets.astype(np.int8) - sets.astype(np.int8).multiply(has_child.astype(np.int8))
    kept = sparse.csr_array(kept)
    kept.eliminate_zeros()
    return kept


@dataclass(frozen=True)
class NodeExplanation:
    """Explanation of the probability of a node by the nearest training rows.

    Parameters
    ----------
    node : str
        Path of the node.
    probability : float
        Total weight of the neighbours that have the node.
    rows : int array of shape (n_neighbors,)
        Training rows, nearest first.
    weights : array of shape (n_neighbors,)
        Weight of each row; the weights of all neighbours sum to 1.
    has_node : bool array of shape (n_neighbors,)
        Whether each row has the node.
    labels : list of tuples of str
        Most specific nodes of each row.
    """

    node: str
    probability: float
    rows: NDArray[np.int64]
    weights: FloatArray
    has_node: NDArray[np.bool_]
    labels: list[tuple[str, ...]]

    def __str__(self) -> str:
        lines = [f"{self.node}: {self.probability:.3f}"]
        parts = zip(self.rows, self.weights, self.has_node, self.labels, strict=True)
        for row, weight, has, labels in parts:
            mark = "+" if has else "-"
            lines.append(f"  {mark} row {row} ({weight:.3f}): {', '.join(labels) or 'no label'}")
        return "\n".join(lines)


def leaf_numbers(forest: ExtraTreesRegressor, X: Any) -> NDArray[np.int64]:
    """Return the leaves of scaled rows, numbered over all trees: (n_samples, n_trees)."""
    return np.asarray(forest.apply(X) + _tree_starts(forest)[:-1])


def _tree_starts(forest: ExtraTreesRegressor) -> NDArray[np.int64]:
    sizes = [tree.tree_.node_count for tree in forest.estimators_]
    return np.concatenate([[0], np.cumsum(sizes)])


def leaf_members(
    forest: ExtraTreesRegressor, X: Any, weights: FloatArray | None
) -> sparse.csr_array:
    """Return the weights of the training rows per leaf, of shape (n_tree_nodes, n_samples).

    The row of a leaf sums to 1 / n_trees.
    """
    leaves = leaf_numbers(forest, X)
    n_rows, n_trees = leaves.shape
    each = np.ones(n_rows) if weights is None else weights
    amounts = np.repeat(each[:, None], n_trees, axis=1)
    shape = (_tree_starts(forest)[-1], n_rows)
    rows = np.repeat(np.arange(n_rows), n_trees)
    members = sparse.csr_array((amounts.ravel(), (leaves.ravel(), rows)), shape=shape)
    totals = np.asarray(members.sum(axis=1)).ravel() * n_trees
    members.data /= np.repeat(totals, np.diff(members.indptr))
    return members


def neighbour_weights(
    forest: ExtraTreesRegressor, members: sparse.csr_array, X: Any
) -> sparse.csr_array:
    """Return the weights of the training rows for scaled rows: (n_samples, n_training_rows).

    Parameters
    ----------
    forest : ExtraTreesRegressor
    members : sparse array of shape (n_tree_nodes, n_training_rows)
        Of `leaf_members`.
    X : array of shape (n_samples, n_columns)
    """
    leaves = leaf_numbers(forest, X)
    n_rows, n_trees = leaves.shape
    starts = np.arange(0, leaves.size + 1, n_trees)
    shape = (n_rows, members.shape[0])
    reached = sparse.csr_array((np.ones(leaves.size), leaves.ravel(), starts), shape=shape)
    reached.check_format(full_check=True)  # in a changed file, trees may have more leaves
    return sparse.csr_array(reached @ members)


def leading_directions(
    Y: sparse.csr_array, n_directions: int, weights: FloatArray | None = None, seed: int = 0
) -> FloatArray:
    """Project the centred rows of a label matrix on its leading right singular vectors.

    Parameters
    ----------
    Y : sparse bool array of shape (n_samples, n_columns)
    n_directions : int
        Number of singular vectors; all of them if there are fewer.
    weights : array of shape (n_samples,), optional
        Weights of the rows in the mean and in the decomposition.
    seed : int
        Seed of the initial vector of the decomposition.

    Returns
    -------
    array of shape (n_samples, n_kept)
        Distances between rows approximate the distances between their label sets.
    """
    labels = Y.astype(np.float64)
    root = np.ones(Y.shape[0]) if weights is None else np.sqrt(weights / weights.mean())
    mean = np.asarray(labels.T @ (root**2)).ravel() / (root**2).sum()
    smaller = min(Y.shape)
    if n_directions >= smaller - 1 or smaller < 64:
        centred = labels.toarray() - mean
        right = np.linalg.svd(root[:, None] * centred, full_matrices=False)[2][:n_directions]
        return np.asarray(centred @ right.T)

    def times(v: Any) -> Any:
        return root * (labels @ v.ravel() - mean @ v.ravel())

    def transposed(u: Any) -> Any:
        weighted = root * u.ravel()
        return labels.T @ weighted - mean * weighted.sum()

    centred = LinearOperator(Y.shape, times, rmatvec=transposed, dtype=np.float64)
    start = np.random.default_rng(seed).normal(size=smaller)
    right = svds(centred, k=n_directions, v0=start, return_singular_vectors="vh")[2][::-1]
    return np.asarray(labels @ right.T - mean @ right.T)
