"""LabelEmbeddingTree: classes that a classifier confuses stay together (CMTL)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from palmette._arrays import FloatArray, row_chunks
from palmette.base._foreign import margins_of, proba_of
from palmette.base._grow import ClassProblem, IntArray
from palmette.base._parameters import check_branching, check_classifier, is_count, is_number
from palmette.class_tree._eigenvectors import leading_eigenvectors
from palmette.class_tree._groups import groups_of, near_groups
from palmette.class_tree._learner import ClassTreeLearner
from palmette.exceptions import PalmetteError

_SHARPNESS = 3.0  # factor of decision values in the softmax: they are about -1 and 1


class LabelEmbeddingTree(ClassTreeLearner):
    """Divide the classes by spectral clustering of a held-out confusion matrix.

    Every row is predicted once by a classifier that was not fitted to it. The rates at which class
    i is predicted as class j, averaged with those of j as i, are similarities; the classes of a
    node are clustered by the leading eigenvectors of the random walk along these (normalized cuts).

    Parameters
    ----------
    branching : int, default=2
        Number of parts of a group.
    estimator : classifier, optional
        Any classifier of scikit-learn. By default a linear one, one against the rest: least squares
        on scaled features (`RidgeClassifier`), or `LinearSVC` where X is sparse.
    n_folds : int, default=3
        Number of folds; the rows of every class are spread evenly over them.
    confusion : {"hard", "soft"}, default="hard"
        What is counted: the class predicted, as published, or the share that every class has in the
        scores of a row (a softmax of decision values, or the probabilities of an estimator without
        decision values). Soft confusions take n_classes**2 numbers, and are more informative if
        hardly any row is predicted wrong; otherwise neither is better on all data.
    smoothing : float, default=0.1
        Similarity added between all classes, as a multiple of the average similarity of the node.
        It keeps classes that are never confused together, and avoids groups of one class.
    leaf_size : int, default=1
        Maximum number of classes in a group that is not divided.
    min_side : float, default=0.0
        Minimum share of a group's classes outside of the largest part, 0 to .5: a group is divided
        in halves where the parts that are found are smaller.
    max_depth : int, optional
        Groups at this depth are not divided.
    n_jobs : int, optional
        Number of folds that are fitted at a time.
    random_state : int, RandomState or None
        For the folds, the default estimator and the clustering.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_, tree_ : as in `RandomTree`

    Notes
    -----
    A class that is never confused is equally similar to all others, by the smoothing; where no
    class of a node is ever confused, the node is cut in groups of equal size, in the order of the
    classes. A class of one row is unknown to the classifier that predicts it: it counts as
    confused.

    Sample weights count in the rates; they are passed to the estimator if its `fit` accepts them.

    References
    ----------
    S. Bengio, J. Weston, D. Grangier (2010). Label embedding trees for large multi-class tasks.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.0], [0.1], [5.0], [5.1]], 8, axis=0) + np.tile([-0.2, 0.2], 16)[:, None]
    >>> tree = LabelEmbeddingTree(random_state=0).fit(X, np.repeat(list("abcd"), 8))
    >>> [group.tolist() for group in tree.tree_.groups[1:3]]
    [[0, 1], [2, 3]]
    """

    def __init__(
        self,
        branching: int = 2,
        *,
        estimator: Any = None,
        n_folds: int = 3,
        confusion: Literal["hard", "soft"] = "hard",
        smoothing: float = 0.1,
        leaf_size: int = 1,
        min_side: float = 0.0,
        max_depth: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.branching = branching
        self.estimator = estimator
        self.n_folds = n_folds
        self.confusion = confusion
        self.smoothing = smoothing
        self.leaf_size = leaf_size
        self.min_side = min_side
        self.max_depth = max_depth
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _begin(self, problem: ClassProblem) -> _Similarity | None:
        """Estimate the confusions; see `Partition.begin`."""
        if self.confusion not in ("hard", "soft"):
            raise PalmetteError(f"confusion={self.confusion!r}: expected 'hard' or 'soft'.")
        check_branching(self.branching)
        check_classifier(self.estimator)
        if not (is_number(self.smoothing) and self.smoothing >= 0):
            raise PalmetteError(f"smoothing={self.smoothing!r}: expected a number of at least 0.")
        if problem.n_classes < 3:
            return None  # two classes are divided without the rule
        soft = self.confusion == "soft"
        rates = held_out_confusion(problem, self.estimator, n_folds=self.n_folds, soft=soft)
        similarity = (rates + rates.T) / 2
        if sparse.issparse(similarity):
            similarity = sparse.csr_array(similarity)
            similarity.setdiag(0.0)
            similarity.eliminate_zeros()
        else:
            np.fill_diagonal(similarity, 0.0)
        return _Similarity(similarity, problem)

    def _split(self, state: _Similarity, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        rng = state.problem.rng(node)
        within = state.within(classes)
        degrees = np.asarray(within.sum(axis=1)).ravel()
        if not degrees.any():
            return groups_of(classes, None, self.branching)
        added = self.smoothing * degrees.mean() / len(classes)
        points = _spectral_points(within, degrees, added, self.branching, rng)
        return groups_of(classes, near_groups(points, self.branching, rng), self.branching)


@dataclass(frozen=True, eq=False)
class _Similarity:
    """Symmetric similarities of classes, sparse where most are zero."""

    matrix: Any
    problem: ClassProblem

    def within(self, classes: IntArray) -> Any:
        """Return the similarities of some classes, as an array where they are few."""
        part = self.matrix[classes][:, classes]
        return part.toarray() if sparse.issparse(part) and len(classes) <= 2048 else part


def _spectral_points(
    similarity: Any, degrees: FloatArray, added: float, k: int, rng: np.random.Generator
) -> FloatArray:
    """Return coordinates in the leading eigenvectors of the random walk, without the first."""
    total = degrees + added * len(degrees)
    scale = np.divide(1.0, np.sqrt(total), out=np.zeros_like(total), where=total > 0)
    if isinstance(similarity, np.ndarray):
        matrix: Any = scale[:, None] * (similarity + added) * scale
    else:

        def times(v: FloatArray) -> FloatArray:
            scaled = scale * v.ravel()
            return np.asarray(scale * (similarity @ scaled + added * scaled.sum()))

        matrix = sparse.linalg.LinearOperator(similarity.shape, matvec=times, dtype=np.float64)
    # the first vector depends only on how often a class is confused at all
    return leading_eigenvectors(matrix, k, rng)[1][:, 1:] * scale[:, None]


# ---------------------------------------------------------------------- held-out predictions


def held_out_confusion(
    problem: ClassProblem, estimator: Any = None, *, n_folds: int = 3, soft: bool = False
) -> Any:
    """Estimate how often rows of every class are predicted as every other.

    Parameters
    ----------
    problem : ClassProblem
    estimator : classifier, optional
    n_folds : int
    soft : bool
        Whether shares in the scores are counted instead of predictions.

    Returns
    -------
    CSR array, or array where soft, of shape (n_classes, n_classes)
        Row i: the share of the rows of class i predicted as each class, which sums to one.
    """
    if not is_count(n_folds, 2):
        raise PalmetteError(f"n_folds={n_folds!r}: expected an integer of at least 2.")
    estimator = _default_estimator(problem) if estimator is None else estimator
    X = problem.X
    folds = _spread_over_folds(problem, n_folds)
    held_out = [np.flatnonzero(folds == fold) for fold in range(n_folds)]
    held_out = [rows for rows in held_out if rows.size]
    counts = sum(
        Parallel(n_jobs=problem.n_jobs)(
            delayed(_confusion_of_fold)(
                X, problem.codes, problem.n_classes, problem.weights, rows, estimator, soft
            )
            for rows in held_out
        )
    )
    totals = np.bincount(problem.codes, problem.weights, minlength=problem.n_classes)
    if soft:
        return counts / totals[:, None]
    return sparse.csr_array(sparse.diags_array(1.0 / totals) @ counts)


def _default_estimator(problem: ClassProblem) -> Any:
    """Return a fast linear classifier for dense or sparse rows."""
    if sparse.issparse(problem.X):
        from sklearn.svm import LinearSVC

        return LinearSVC(random_state=problem.seed)
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), RidgeClassifier())


def _spread_over_folds(problem: ClassProblem, n_folds: int) -> NDArray[np.intp]:
    """Return the fold of every row; the rows of every class are spread evenly over the folds."""
    order = problem.rng(n_folds).permutation(len(problem.codes))
    order = order[np.argsort(problem.codes[order], kind="stable")]
    folds = np.empty(len(order), dtype=np.intp)
    folds[order] = np.arange(len(order)) % n_folds
    return folds


def _confusion_of_fold(
    X: Any,
    codes: IntArray,
    n_classes: int,
    weights: FloatArray | None,
    held_out: NDArray[np.intp],
    estimator: Any,
    soft: bool,
) -> Any:
    """Return the confusions of some rows by a classifier of all others, of shape (c, c)."""
    seen = np.ones(len(codes), dtype=bool)
    seen[held_out] = False
    known = np.unique(codes[seen])
    weight = np.ones(len(held_out)) if weights is None else weights[held_out]
    if len(known) < 2:  # too few rows for a classifier: the one class left is predicted
        taken: Any = np.full(len(held_out), known[0] if known.size else 0)
    else:
        model = _fit(estimator, X[seen], codes[seen], None if weights is None else weights[seen])
        if soft:
            return _soft_counts(model, X, codes, n_classes, weight, held_out)
        taken = model.predict(X[held_out])
    counts = sparse.coo_array((weight, (codes[held_out], taken)), shape=(n_classes, n_classes))
    return counts.toarray() if soft else counts.tocsr()


def _soft_counts(
    model: Any,
    X: Any,
    codes: IntArray,
    n_classes: int,
    weight: FloatArray,
    held_out: NDArray[np.intp],
) -> FloatArray:
    """Return the sums of the shares of the rows of every class, of shape (c, c)."""
    counts = np.zeros((n_classes, n_classes))
    for chunk in row_chunks(len(held_out), n_classes):
        rows = held_out[chunk]
        shares = _shares(model, X[rows])
        by_class = sparse.csr_array(
            (weight[chunk], (codes[rows], np.arange(len(rows)))), shape=(n_classes, len(rows))
        )
        counts[:, model.classes_] += by_class @ shares
    return counts


def _shares(model: Any, X: Any) -> FloatArray:
    """Return the share of every class in the scores of every row."""
    if not hasattr(model, "decision_function"):
        return proba_of(model, X)
    scores = margins_of(model, X)
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    shares = np.exp(_SHARPNESS * (scores - scores.max(axis=1, keepdims=True)))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _fit(estimator: Any, X: Any, y: IntArray, weights: FloatArray | None) -> Any:
    """Fit a clone, with weights if its `fit` accepts them."""
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    model = clone(estimator)
    last = model.steps[-1] if isinstance(model, Pipeline) else ("", model)
    if weights is None or not has_fit_parameter(last[1], "sample_weight"):
        return model.fit(X, y)
    return model.fit(X, y, **{f"{last[0]}__sample_weight".removeprefix("__"): weights})
