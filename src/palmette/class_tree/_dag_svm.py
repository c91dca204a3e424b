"""DAGSVMClassifier: pairwise linear classifiers, which eliminate one class at a time."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from palmette._arrays import IntArray, count_rows, read_rows, take_rows
from palmette.base._classifier import HierarchicalClassifier
from palmette.base._fitting import Threads, check_weights, used_rows
from palmette.class_tree._linear import LinearRouter
from palmette.class_tree._linear_routes import check_routes
from palmette.class_tree._routing import OptionTable, RoutingProblem
from palmette.class_tree._search import best_labels


class DAGSVMClassifier(HierarchicalClassifier):
    """Fit a linear classifier to every pair of classes, and eliminate one class at a time.

    The classes form a list. The first is compared with the last, the loser is removed from the
    list, and so on until one is left: of the c (c - 1) / 2 classifiers, c - 1 are evaluated per
    row. There are no probabilities, as eliminated classes have no score.

    Parameters
    ----------
    loss, C, prune, tol, max_iter
        Parameters of the classifiers; see `palmette.routing.LinearRouter`.
    hierarchy : Hierarchy, learner of one, or None
        Hierarchy of the labels in y. The classifiers do not use it.
    n_jobs : int, optional
        Number of threads; predictions do not depend on it.
    random_state : int, RandomState or None
        Seed of the order in which rows are visited during training.
    verbose : int
        Whether to print the number of classifiers before they are trained, and when they are.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    options_ : OptionTable
        The decision DAG.
    routes_ : LinearRoutes
        The classifiers, with sparse weights; none if there is only one class.
    n_iter_ : int
        Maximum number of passes over the rows, over all classifiers.

    Notes
    -----
    A classifier stores weights only for features that occur in its two classes. 1,000 classes need
    half a million classifiers: for more classes, use a tree.

    References
    ----------
    J. Platt, N. Cristianini, J. Shawe-Taylor (2000). Large margin DAGs for multiclass
    classification. NIPS 12.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> DAGSVMClassifier().fit(X, y).predict(X[::50])
    array([0, 1, 2])
    """

    _takes_several_paths: ClassVar[bool] = False
    decoding = "best_path"  # the DAG itself decides
    verbose: int = 0  # in models of files that do not know the parameter

    def __init__(
        self,
        loss: str = "squared_hinge",
        *,
        C: float | str = "scale",
        prune: float = 0.0,
        tol: float = 0.01,
        max_iter: int = 1000,
        hierarchy: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.C = C
        self.prune = prune
        self.tol = tol
        self.max_iter = max_iter
        self.hierarchy = hierarchy
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DAGSVMClassifier:
        """Train a classifier for every pair of classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y, sample_weight : as in `ClassTreeClassifier.fit`

        Returns
        -------
        self
        """
        router = LinearRouter(
            self.loss, C=self.C, prune=self.prune, tol=self.tol, max_iter=self.max_iter
        )
        X = read_rows(self._read_features(X, reset=True), named=self, dtype=np.float64)
        weights = check_weights(sample_weight, count_rows(X))
        used = used_rows(weights)
        codes = self._learn_target(X, y, weights)
        if weights is not None and used is not None:
            X, weights = take_rows(X, np.flatnonzero(used)), weights[used]
        self.options_, pairs = _decision_dag(self.space_.n_classes)
        seed = None
        if self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with Threads(self.n_jobs) as threads:
            problem = RoutingProblem(X, codes, self.options_, weights, seed, threads.map)
            if self.verbose:
                print(f"training {len(pairs)} classifiers of two classes", flush=True)
            self.routes_ = router.train_pairs(problem, pairs)
            if self.verbose:
                print("classifiers trained", flush=True)
        self.n_iter_ = self.routes_.n_passes
        return self

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        if hasattr(self, "routes_"):
            n_classes = len(self.space_.classes)
            check_routes(self.routes_, self.options_, self.n_features_in_, n_classes)

    def _gives_proba(self) -> bool:
        return False

    def _decide(self, X: Any) -> IntArray:
        X = read_rows(X, named=self, reset=False, dtype=np.float64)

        def follow(part: Any) -> IntArray:
            rows = self.routes_.prepare(part)
            return best_labels(self.options_, self.routes_, rows, count_rows(part), 1)[0][:, 0]

        with Threads(self.n_jobs) as threads:
            share = -(-count_rows(X) // threads.n_threads)
            starts = range(0, count_rows(X), share)
            found = threads.map(follow, [take_rows(X, slice(s, s + share)) for s in starts])
        return np.asarray(self.space_.classes[np.concatenate(found)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _decision_dag(n_classes: int) -> tuple[OptionTable, IntArray]:
    """Return the nodes of all pairs of classes, root first, and the two classes of each.

    A node represents the classes from its first to its second. Its first option eliminates the
    second class, its second option the first. A single class is a node with one option.
    """
    if n_classes == 1:
        one, none = np.zeros(1, dtype=np.int32), np.empty((0, 2), dtype=np.int32)
        only = sparse.csr_array((1, 1), dtype=bool)
        return OptionTable(one, np.array([0, 1]), one - 1, one, only), none
    # node i of level h, which h (h + 1) / 2 nodes precede, has the classes i and n - 1 - h + i
    level = np.repeat(np.arange(n_classes - 1), np.arange(1, n_classes))
    lower = np.arange(len(level)) - level * (level + 1) // 2
    upper = n_classes - 1 - level + lower
    last = level == n_classes - 2
    below = (level + 1) * (level + 2) // 2 + lower
    targets = np.column_stack([below, below + 1])
    ends = np.column_stack([lower, upper])
    table = OptionTable(
        np.arange(len(level), dtype=np.int32),
        2 * np.arange(len(level) + 1, dtype=np.int64),
        np.where(last[:, None], -1, targets).ravel().astype(np.int32),
        np.where(last[:, None], ends, -1).ravel().astype(np.int32),
        sparse.csr_array((2 * len(level), n_classes), dtype=bool),
    )
    return table, ends.astype(np.int32)
