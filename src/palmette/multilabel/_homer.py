"""HOMER: a hierarchy of multi-label classifiers, and HOMERTree, the hierarchy it learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from palmette._arrays import FloatArray, IntArray, read_rows, take_rows
from palmette.base._answers import labels_listed
from palmette.base._fitting import check_weights
from palmette.base._grow import GrownTree, grow_class_tree
from palmette.base._label_sets import encode_label_sets, read_label_sets
from palmette.base._multilabel import MultilabelClassifier
from palmette.base._presets import Preset, preset, presets
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._pictures import FittedHTML
from palmette.labels._labels import NodeLabels
from palmette.multilabel._balanced_k_means import BalancedKMeans, LabelSetProblem
from palmette.multilabel._c45 import MULAN, SOSHF_TABLE, j48
from palmette.multilabel._label_ranking import CalibratedLabelRanking
from palmette.multilabel._members import (
    fit_member,
    in_threads,
    make_members,
    part_to_fit,
    positive_proba,
    rows_to_predict,
    rows_to_share,
    ties_to_positive,
)


class HOMERTree(FittedHTML, BaseEstimator):  # type: ignore[misc]
    """Learn a hierarchy of labels by recursive balanced k-means.

    Labels of the same rows are placed below the same node. The features are not used. A fitted
    `HOMERTree` has a `Hierarchy`. An unfitted one can be passed as the hierarchy of every
    classifier for several paths per row: it is then learned from the training rows of each fit.

    Parameters
    ----------
    branching : int
        Number of clusters that a cluster is divided into, of nearly equal sizes. Clusters of at
        most this many labels are not divided.
    max_iter : int
        Maximum number of iterations of k-means.
    n_init : int
        Number of initializations of k-means.
    max_depth : int, optional
        Clusters at this depth are not divided.
    random_state : int, RandomState or None
        Seed of the initializations.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the labels.
    classes_ : array of shape (n_classes,)
        The labels; every column of an indicator matrix.
    tree_ : GrownTree
        The clusters of positions in ``classes_``.

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
            A 0/1 matrix, a list of sets, or one label per row.
        sample_weight : array-like of shape (n_samples,), optional
            Only their ratios count; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        if y is None:
            raise LabelError("HOMERTree requires y to be passed, but the target y is None.")
        partition = BalancedKMeans(self.branching, max_iter=self.max_iter, n_init=self.n_init)
        partition.check()
        X = read_rows(X, self, any_scale=True, dtype=[np.float64, np.float32])
        labels = read_label_sets(y)
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
                f"y has one class only, {only!r}: expected two or more to learn a hierarchy."
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
        """Encode labels as nodes of ``hierarchy_``.

        Parameters
        ----------
        y : labels of n_samples rows
        skip_unknown : bool
            Whether labels that are not in the hierarchy are skipped; otherwise they are an error.

        Returns
        -------
        NodeLabels
            The columns of a matrix are the leaves of their labels, in the order of the columns.
        """
        check_is_fitted(self)
        return encode_label_sets(self.hierarchy_, y, skip_unknown=skip_unknown)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def _take(labels: NodeLabels, rows: NDArray[np.intp]) -> NodeLabels:
    return NodeLabels(labels.hierarchy, labels.given[rows], labels.form)


@dataclass(frozen=True, eq=False)
class _Choice:
    """A cluster with one binary classifier per part."""

    cluster: int
    children: list[int]  # clusters; empty if the parts are the labels themselves
    labels: IntArray


class HOMER(MultilabelClassifier):
    """Hierarchy of multi-label classifiers (HOMER).

    Labels are clustered recursively by balanced k-means (see `HOMERTree`). A cluster is a
    meta-label, true for a row if one of its labels is. Each cluster has one binary classifier per
    part, trained on the rows that have one of its labels; the root on all rows. A label is
    predicted if all meta-labels above it are.

    Parameters
    ----------
    branching : int
        Number of clusters that a cluster is divided into.
    estimator : classifier, optional
        Base estimator, one per part of a cluster; `C45Tree` by default. If it predicts several
        labels per row itself, for example a `CalibratedLabelRanking`, there is one per cluster,
        whose labels are the parts.
    routing : {"soft", "hard", "mulan"}
        How the probabilities :math:`p_1, \\ldots, p_d` along the path to a label are combined.
        "soft": the score is their minimum. "hard", as first published: the score is :math:`p_d` if
        all others are above one half, else 0. "mulan", as in the library of the authors: the score
        is the first :math:`p_i`, for i < d, that is below one half; if there is none,
        :math:`p_d`, or 0 if that is below one half. The predictions are the same, up to ties.
    hierarchy : Hierarchy, learner of one, or None
        Ancestors of labels are labels too, and predictions are coherent; clusters are then clusters
        of nodes. None: taken from y.
    decoding : "auto", number or decision rule
        "auto" predicts labels with scores above one half.
    n_jobs : int, optional
        Number of clusters at a time, in threads; -1 for all cores.
    random_state : int, RandomState or None
    verbose : int
        Passed to joblib: positive numbers print the progress.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Hierarchy of the predicted labels, not of the clusters.
    classes_ : array of shape (n_classes,)
    nodes_ : int array of shape (n_columns,)
    tree_ : GrownTree
        The clusters of columns of ``nodes_``.
    models_ : list of lists of fitted classifiers
        One per part of every cluster that is divided, or only one for all parts of a cluster.

    References
    ----------
    G. Tsoumakas, I. Katakis and I. Vlahavas: Effective and efficient multilabel classification in
    domains with large number of labels. ECML PKDD 2008 workshop on mining multidimensional data.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = [{"a"}, {"a"}, {"a"}, {"b", "c"}, {"b", "c"}, {"b", "c"}]
    >>> HOMER(branching=2, random_state=0).fit(X, y).predict([[0.0], [1.3]]) == [{"a"}, {"b", "c"}]
    True
    """

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        "mulan": Preset(
            "J48's trees, and the scores of rejected clusters, as in MULAN",
            {"estimator": j48(), "routing": "mulan"},
            MULAN,
        ),
        "soshf": Preset(
            "calibrated label ranking in four balanced clusters, as in the comparison of SOSHF",
            {
                "branching": 4,
                "estimator": CalibratedLabelRanking.preset("mulan"),
                "routing": "mulan",
            },
            f"{SOSHF_TABLE}, HOMER",
            "The classifier of a cluster is not printed. With MULAN's default, a tree for each "
            "label, F agrees with print and AUC does not; with label ranking both do.",
        ),
    }

    def __init__(
        self,
        branching: int = 4,
        estimator: Any = None,
        *,
        routing: Literal["soft", "hard", "mulan"] = "soft",
        hierarchy: Any = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.branching = branching
        self.estimator = estimator
        self.routing = routing
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.verbose = verbose

    def _check_parameters(self) -> None:
        self._partition().check()
        if self.routing not in ("soft", "hard", "mulan"):
            raise PalmetteError(f"routing={self.routing!r}: expected 'soft', 'hard' or 'mulan'.")

    def _partition(self) -> BalancedKMeans:
        return BalancedKMeans(self.branching)

    def _fit_nodes(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        rng = check_random_state(self.random_state)
        problem = LabelSetProblem(Y, weights, int(rng.randint(2**31 - 1)))
        self.tree_ = grow_class_tree(self._partition(), problem, leaf_size=self.branching)
        self._choices = _choices_of(self.tree_)
        jobs = [
            (make_members(self.estimator, self._n_models(choice), rng), choice)
            for choice in self._choices
        ]
        columns, shared = sparse.csc_array(Y), rows_to_share(X, self.estimator)
        self.models_ = in_threads(
            self._fit_choice,
            ((*job, shared, columns, weights) for job in jobs),
            self.n_jobs,
            self.verbose,
        )

    def _n_models(self, choice: _Choice) -> int:
        if isinstance(self.estimator, MultilabelClassifier):
            return 1
        return len(choice.children) or len(choice.labels)

    def _fit_choice(
        self,
        members: list[Any],
        choice: _Choice,
        X: Any,
        Y: sparse.csc_array,
        weights: FloatArray | None,
    ) -> list[Any]:
        """Fit the classifiers of the parts of a cluster."""
        if choice.children:
            targets = [_any_of(Y, self.tree_.groups[child]) for child in choice.children]
        else:
            targets = [_any_of(Y, np.array([label])) for label in choice.labels.tolist()]
        rows = None
        if choice.cluster > 0:
            rows = np.flatnonzero(_any_of(Y, choice.labels))
            targets = [target[rows] for target in targets]
            weights = None if weights is None else weights[rows]
        X = part_to_fit(X, self.estimator, rows)
        if isinstance(self.estimator, MultilabelClassifier):
            return [members[0].fit(X, np.column_stack(targets).astype(np.int8), weights)]
        pairs = zip(members, targets, strict=True)
        return [fit_member(member, X, target, weights) for member, target in pairs]

    # ------------------------------------------------------------------ predicting

    def _node_proba_of(self, X: Any) -> FloatArray:
        X = rows_to_predict(X, self.estimator)
        scores = np.zeros((X.shape[0], len(self.nodes_)))
        reached = {0: np.ones(X.shape[0])}
        for level in self._levels():
            jobs = (
                (self.models_[at], X, self._rows_at(reached[self._choices[at].cluster]))
                for at in level
            )
            for at, found in zip(level, in_threads(_predict_parts, jobs, self.n_jobs), strict=True):
                choice = self._choices[at]
                above = reached.pop(choice.cluster)[:, None]
                if self.routing == "soft":
                    found = np.minimum(found, above)
                elif self.routing == "mulan":  # rejected clusters pass their score on
                    found = np.where(above >= 0.5, found, above)
                at_labels = found
                if self.routing == "mulan":
                    at_labels = np.where((above >= 0.5) & (found < 0.5), 0.0, found)
                if not choice.children:
                    scores[:, choice.labels] = at_labels
                for k, child in enumerate(choice.children):
                    group = self.tree_.groups[child]
                    if len(group) == 1:  # a cluster of one label
                        scores[:, group[0]] = at_labels[:, k]
                    else:
                        reached[child] = found[:, k]
        return ties_to_positive(scores) if self.routing == "mulan" else scores

    def _levels(self) -> list[list[int]]:
        """Return the indices of the choices by depth."""
        depths = np.zeros(len(self.tree_.parents), dtype=np.int64)
        for cluster, parent in enumerate(self.tree_.parents):
            depths[cluster] = depths[parent] + 1 if parent >= 0 else 0
        levels: dict[int, list[int]] = {}
        for at, choice in enumerate(self._choices):
            levels.setdefault(int(depths[choice.cluster]), []).append(at)
        return [levels[depth] for depth in sorted(levels)]

    def _rows_at(self, reached: FloatArray) -> NDArray[np.intp] | None:
        """Return the rows that a cluster is evaluated for, None for all."""
        if self.routing == "soft":
            return None
        return np.flatnonzero(reached > 0.5 if self.routing == "hard" else reached >= 0.5)


def _choices_of(tree: GrownTree) -> list[_Choice]:
    """Return the clusters that have several parts, and always the root."""
    children: list[list[int]] = [[] for _ in tree.parents]
    for cluster, parent in enumerate(tree.parents):
        if parent >= 0:
            children[parent].append(cluster)
    return [
        _Choice(cluster, children[cluster], group)
        for cluster, group in enumerate(tree.groups)
        if len(group) > 1 or cluster == 0
    ]


def _any_of(Y: sparse.csc_array, labels: IntArray) -> NDArray[np.bool_]:
    """Return whether each row has any of some labels, of shape (n_samples,)."""
    has = np.zeros(Y.shape[0], dtype=bool)
    has[Y[:, labels].indices] = True
    return has


def _predict_parts(models: list[Any], X: Any, rows: NDArray[np.intp] | None) -> FloatArray:
    """Return the probabilities of the parts of a cluster, 0 for other rows than `rows`."""
    if rows is None:
        return _parts_of(models, X)
    n_parts = len(models)
    if isinstance(models[0], MultilabelClassifier):
        n_parts = len(models[0].classes_)
    found = np.zeros((X.shape[0], n_parts))
    if len(rows):
        found[rows] = _parts_of(models, take_rows(X, rows))
    return found


def _parts_of(models: list[Any], X: Any) -> FloatArray:
    if isinstance(models[0], MultilabelClassifier):
        return np.asarray(models[0].predict_proba(X))
    return np.column_stack([positive_proba(model, X) for model in models])
