"""HOMER: a hierarchy of multi-label classifiers over clusters of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from palmette.core.rows import take_rows
from palmette.engine.grow import GrownTree, grow_class_tree
from palmette.engine.multilabel import MultilabelClassifier
from palmette.exceptions import PalmetteError
from palmette.multilabel.balanced_k_means import BalancedKMeans, LabelSetProblem
from palmette.multilabel.members import (
    ask_positive,
    fit_member,
    in_threads,
    make_members,
    part_to_fit,
    rows_to_ask,
    rows_to_share,
)

__all__ = ["HOMER"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class _Choice:
    """A cluster whose parts are told apart by a classifier each."""

    cluster: int
    children: list[int]  # clusters; empty where the labels themselves are told apart
    labels: IntArray


class HOMER(MultilabelClassifier):
    """Hierarchy of multi-label classifiers (HOMER).

    Labels are divided by balanced k-means into clusters of labels that go together, and those again
    (see `HOMERTree`). A cluster is a meta-label, true of a row where one of its labels is. At each
    cluster binary classifiers, trained on the rows that have one of its labels, tell which of its
    parts are true; at the root on all rows. A label is true where all meta-labels above it are.

    Parameters
    ----------
    branching : int
        Clusters that a cluster is divided into.
    estimator : classifier, optional
        Base of the classifiers; `C45Tree` by default.
    routing : {"soft", "hard"}
        What becomes of the probabilities :math:`p_1, \\ldots, p_d` along the path to a label. With
        "soft" its score is the least of them, above one half where all are. With "hard", as first
        published, the answers are the same, but the score is :math:`p_d` where all before are above
        one half, and else 0.
    hierarchy : Hierarchy, learner of one, or None
        Labels are closed upwards, and answers coherent; clusters then are of nodes. None takes it
        from y.
    decoding : "auto", number or decision rule
        "auto" answers with labels above one half.
    n_jobs : int, optional
        Clusters at a time, in threads; -1 for all cores.
    random_state : int, RandomState or None

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Of the labels as they are answered, not of the clusters.
    classes_ : array of shape (n_classes,)
    nodes_ : int array of shape (n_columns,)
    tree_ : GrownTree
        The clusters, of columns of ``nodes_``.
    models_ : list of lists of fitted classifiers
        For the parts of every cluster that has some.

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

    def __init__(
        self,
        branching: int = 4,
        estimator: Any = None,
        *,
        routing: Literal["soft", "hard"] = "soft",
        hierarchy: Any = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.branching = branching
        self.estimator = estimator
        self.routing = routing
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        self._partition().check()
        if self.routing not in ("soft", "hard"):
            raise PalmetteError(f"routing={self.routing!r}: expected 'soft' or 'hard'.")

    def _partition(self) -> BalancedKMeans:
        return BalancedKMeans(self.branching)

    def _fit_nodes(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        rng = check_random_state(self.random_state)
        problem = LabelSetProblem(Y, weights, int(rng.randint(2**31 - 1)))
        self.tree_ = grow_class_tree(self._partition(), problem, leaf_size=self.branching)
        self._choices = _choices_of(self.tree_)
        jobs = [
            (make_members(self.estimator, len(choice.children) or len(choice.labels), rng), choice)
            for choice in self._choices
        ]
        columns, shared = sparse.csc_array(Y), rows_to_share(X, self.estimator)
        self.models_ = in_threads(
            self._fit_choice, ((*job, shared, columns, weights) for job in jobs), self.n_jobs
        )

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
        pairs = zip(members, targets, strict=True)
        return [fit_member(member, X, target, weights) for member, target in pairs]

    # ------------------------------------------------------------------ answering

    def _node_proba_of(self, X: Any) -> FloatArray:
        X = rows_to_ask(X, self.estimator)
        scores = np.zeros((X.shape[0], len(self.nodes_)))
        reached = {0: np.ones(X.shape[0])}
        for level in self._levels():
            jobs = (
                (self.models_[at], X, self._rows_at(reached[self._choices[at].cluster]))
                for at in level
            )
            for at, found in zip(level, in_threads(_ask_some, jobs, self.n_jobs), strict=True):
                choice = self._choices[at]
                above = reached.pop(choice.cluster)[:, None]
                if self.routing == "soft":
                    found = np.minimum(found, above)
                if not choice.children:
                    scores[:, choice.labels] = found
                for child, share in zip(choice.children, found.T, strict=False):
                    group = self.tree_.groups[child]
                    if len(group) == 1:  # a label that is a cluster of its own
                        scores[:, group[0]] = share
                    else:
                        reached[child] = share
        return scores

    def _levels(self) -> list[list[int]]:
        """Places of the choices, by their depth."""
        depths = np.zeros(len(self.tree_.parents), dtype=np.int64)
        for cluster, parent in enumerate(self.tree_.parents):
            depths[cluster] = depths[parent] + 1 if parent >= 0 else 0
        levels: dict[int, list[int]] = {}
        for at, choice in enumerate(self._choices):
            levels.setdefault(int(depths[choice.cluster]), []).append(at)
        return [levels[depth] for depth in sorted(levels)]

    def _rows_at(self, reached: FloatArray) -> NDArray[np.intp] | None:
        """Rows that a cluster is asked for, None for all."""
        return np.flatnonzero(reached > 0.5) if self.routing == "hard" else None


def _choices_of(tree: GrownTree) -> list[_Choice]:
    """Clusters that are told apart into several parts, or into labels; the root always."""
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
    """Whether a row has one of some labels, of shape (n_samples,)."""
    has = np.zeros(Y.shape[0], dtype=bool)
    has[Y[:, labels].indices] = True
    return has


def _ask_some(models: list[Any], X: Any, rows: NDArray[np.intp] | None) -> FloatArray:
    """Probabilities of the parts of a cluster, 0 for rows that are not asked for."""
    if rows is None:
        return np.column_stack([ask_positive(model, X) for model in models])
    found = np.zeros((X.shape[0], len(models)))
    if len(rows):
        part = take_rows(X, rows)
        found[rows] = np.column_stack([ask_positive(model, part) for model in models])
    return found
