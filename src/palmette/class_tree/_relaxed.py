"""RelaxedTree: two sides with a large margin; some classes are on both sides (DRHL)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from palmette.base._foreign import margins_of
from palmette.base._grow import ClassProblem, IntArray
from palmette.base._parameters import check_classifier, is_number
from palmette.class_tree._confusion import held_out_confusion
from palmette.class_tree._eigenvectors import leading_eigenvectors
from palmette.class_tree._learner import ClassTreeLearner
from palmette.exceptions import PalmetteError

Colours = NDArray[np.int8]
_END = 4  # at first, a quarter of the classes at either end is coloured


class RelaxedTree(ClassTreeLearner):
    """Divide the classes by colours that a large margin separates; some go to both sides.

    The classes of a node are coloured -1, 0 or +1, in turns with a classifier of the colours, which
    is fitted to the rows of coloured classes. Then every class gets the colour that costs least:
    its mean hinge loss on that side, or `rho` for no colour at all. A class without a colour goes
    to both sides. The two steps are repeated until the colours do not change. The hierarchy is a
    DAG unless ``max_copies=1``: a class may have several parents.

    Parameters
    ----------
    rho : float, default=0.7
        Cost of no colour, between 0 and 1, in mean hinge losses of a class: the smaller, the more
        classes go to both sides.
    imbalance : float, default=0.4
        Maximum difference between the numbers of classes coloured +1 and -1, as a share of the
        classes of the node. Both colours are always used.
    max_copies : float, default=2.0
        Maximum average number of leaves of a class; 1 makes a tree. The copies that are left are
        divided among the nodes.
    estimator : classifier, optional
        A classifier of two classes with `decision_function`; `LinearSVC` by default.
    n_starts : int, default=2
        Number of first colourings, of which the one with the cheapest result is taken.
    starts : {"eigenvectors", "pairs"}, default="eigenvectors"
        First colourings: the classes at either end of the leading eigenvectors of the class means,
        a quarter each; or, as published, single pairs of classes, those that a linear classifier
        confuses least in cross-validation.
    max_iter : int, default=5
        Maximum number of iterations, each with a step of colouring and one of classifying, for each
        start.
    leaf_size : int, default=1
        Maximum number of classes in a group that is not divided.
    max_depth : int, optional
        Groups at this depth are not divided.
    random_state : int, RandomState or None
        For the default classifier.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_, tree_ : as in `RandomTree`

    Notes
    -----
    All classes have the same weight, whatever their numbers of rows, if the estimator accepts
    weights. Dense features are scaled to mean zero and variance one, in a copy of X; sparse X is
    not scaled. Each side lacks the classes of the other colour, so it is smaller than the node.
    Where all class means are the same, the first and the last classes are coloured first.

    References
    ----------
    T. Gao, D. Koller (2011). Discriminative learning of relaxed hierarchy for large-scale visual
    recognition. ICCV 2011, 2072-2079. doi:10.1109/ICCV.2011.6126481

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.tile([-4.0, 4.0], 4), np.full(4, -4.0), np.full(4, 4.0)])[:, None]
    >>> tree = RelaxedTree(random_state=0).fit(X, np.repeat(["both", "left", "right"], [8, 4, 4]))
    >>> sorted(tree.hierarchy_.names[tree.hierarchy_.leaves].tolist())
    ['both', 'left', 'right']
    >>> sorted(group.tolist() for group in tree.tree_.groups[1:3])
    [[0, 1], [0, 2]]
    """

    _may_overlap = True

    def __init__(
        self,
        rho: float = 0.7,
        *,
        imbalance: float = 0.4,
        max_copies: float = 2.0,
        estimator: Any = None,
        n_starts: int = 2,
        starts: Literal["eigenvectors", "pairs"] = "eigenvectors",
        max_iter: int = 5,
        leaf_size: int = 1,
        max_depth: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.rho = rho
        self.imbalance = imbalance
        self.max_copies = max_copies
        self.estimator = estimator
        self.n_starts = n_starts
        self.starts = starts
        self.max_iter = max_iter
        self.leaf_size = leaf_size
        self.max_depth = max_depth
        self.random_state = random_state

    def _begin(self, problem: ClassProblem) -> _Relaxation:
        """Scale the rows and count the copies that are allowed; see `Partition.begin`."""
        check_classifier(self.estimator)
        _check_range("rho", self.rho, 0.0, 1.0)
        _check_range("imbalance", self.imbalance, 0.0, 1.0)
        _check_range("max_copies", self.max_copies, 1.0, np.inf)
        _check_range("n_starts", self.n_starts, 1, np.inf)
        _check_range("max_iter", self.max_iter, 1, np.inf)
        if self.starts not in ("eigenvectors", "pairs"):
            raise PalmetteError(f"starts={self.starts!r}: expected 'eigenvectors' or 'pairs'.")
        everything = np.arange(problem.n_classes, dtype=np.int32)
        spare = min((self.max_copies - 1.0) * problem.n_classes, 2.0**62)
        if sparse.issparse(problem.X):
            X = problem.X
        else:
            from sklearn.preprocessing import StandardScaler

            X = StandardScaler().fit_transform(problem.X, sample_weight=problem.weights)
        confusion = None
        if self.starts == "pairs" and problem.n_classes > 2:
            rates = held_out_confusion(problem, soft=True)
            confusion = rates + rates.T
        return _Relaxation(problem, X, {everything.tobytes(): int(spare)}, confusion)

    def _split(self, state: _Relaxation, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        spare = state.spare.pop(classes.tobytes(), 0)
        # copies are kept for every level below, so that the first levels do not use all of them
        n_uncoloured = min(len(classes) - 2, -(-spare // max(int(np.log2(len(classes))), 1)))
        colours = self._colour(state, classes, node, n_uncoloured)
        sides = [classes[colours <= 0], classes[colours >= 0]]
        spare -= int((colours == 0).sum())
        first = spare * len(sides[0]) // (len(sides[0]) + len(sides[1]))
        for side, part in zip(sides, (first, spare - first), strict=True):
            key = side.tobytes()
            state.spare[key] = state.spare.get(key, 0) + part
        return sides

    def _colour(
        self, state: _Relaxation, classes: IntArray, node: int, n_uncoloured: int
    ) -> Colours:
        """Return the cheapest colours that the starts lead to."""
        here = _NodeRows.take(state, classes)
        limits = n_uncoloured, int(self.imbalance * len(classes))
        known: dict[bytes, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}

        def losses(colours: Colours) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            """Fit a classifier of the colours, unless another start has led to the same ones."""
            key = colours.tobytes()
            if key not in known:
                known[key] = here.losses(self._score(here, colours, state.problem.seed))
            return known[key]

        found = [
            self._alternate(losses, start, limits, relax_at)
            for start in self._first_colours(state, classes, node)
            for relax_at in ((0, 1) if n_uncoloured else (0,))
        ]
        return min(found, key=lambda each: each[0])[1]

    def _first_colours(self, state: _Relaxation, classes: IntArray, node: int) -> list[Colours]:
        if state.confusion is not None:
            return _least_confused(state.confusion[np.ix_(classes, classes)], self.n_starts)
        scores = _leading_scores(state.problem, classes, node, self.n_starts)
        return [_extremes(each) for each in scores.T]

    def _alternate(
        self,
        losses: Callable[[Colours], tuple[NDArray[np.float64], NDArray[np.float64]]],
        colours: Colours,
        limits: tuple[int, int],
        relax_at: int,
    ) -> tuple[float, Colours]:
        """Colour and classify until the colours do not change; return the lowest cost and colours.

        `losses` gives those of all classes on either side, given colours to classify. Classes may
        be uncoloured from the iteration `relax_at` on. A class that the classifier was not fitted
        to tends to stay uncoloured, and another tends to keep its colour: neither start is always
        better.
        """
        n_uncoloured, imbalance = limits
        best = np.inf, colours
        seen = {colours.tobytes()}
        for turn in range(max(self.max_iter, relax_at + 1)):
            spared = n_uncoloured if turn >= relax_at else 0
            colours, cost = colour_classes(*losses(colours), self.rho, spared, imbalance)
            best = min(best, (cost, colours), key=lambda each: each[0])
            if turn > relax_at and colours.tobytes() in seen:
                break
            seen.add(colours.tobytes())
        return best

    def _score(self, here: _NodeRows, colours: Colours, seed: int) -> NDArray[np.float64]:
        """Fit a classifier to the rows of coloured classes, and score all."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC
        from sklearn.utils.validation import has_fit_parameter

        plain = LinearSVC(random_state=seed)
        model = plain if self.estimator is None else clone(self.estimator)
        side = colours[here.at]
        used = side != 0
        weights = {}
        if has_fit_parameter(model, "sample_weight"):
            weights["sample_weight"] = here.average * here.weights[used]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # approximate sides are enough
            model.fit(here.X[used], side[used], **weights)
        return margins_of(model, here.X)


@dataclass
class _Relaxation:
    """The problem, its scaled rows, and the number of copies left to the groups not yet divided."""

    problem: ClassProblem
    X: Any
    spare: dict[bytes, int]
    confusion: NDArray[np.float64] | None  # of every two classes, if pairs of them are starts


@dataclass(frozen=True, eq=False)
class _NodeRows:
    """Rows of the classes of a node."""

    X: Any
    at: NDArray[np.intp]  # class of every row, as a position in the node
    weights: NDArray[np.float64]  # sum to one in every class
    average: float  # mean weight of a class before that

    @classmethod
    def take(cls, state: _Relaxation, classes: IntArray) -> _NodeRows:
        """Take the rows of some classes."""
        by_class = [state.problem.rows_of[k] for k in classes.tolist()]
        rows = np.concatenate(by_class)
        at = np.repeat(np.arange(len(classes)), [len(each) for each in by_class])
        given = state.problem.weights
        weights = np.ones(len(rows)) if given is None else given[rows]
        average = float(weights.sum()) / len(classes)
        return cls(state.X[rows], at, weights / np.bincount(at, weights)[at], average)

    def losses(
        self, scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean hinge loss of every class on the positive and on the negative side."""
        positive = np.bincount(self.at, self.weights * np.maximum(0.0, 1.0 - scores))
        negative = np.bincount(self.at, self.weights * np.maximum(0.0, 1.0 + scores))
        return np.asarray(positive, np.float64), np.asarray(negative, np.float64)


def colour_classes(
    positive: NDArray[np.float64],
    negative: NDArray[np.float64],
    rho: float,
    n_uncoloured: int,
    imbalance: int,
) -> tuple[Colours, float]:
    """Give every class the colour that costs least.

    Parameters
    ----------
    positive, negative : arrays of shape (n_classes,)
        Costs of the colours +1 and -1.
    rho : float
        Cost of no colour.
    n_uncoloured : int
        Maximum number of classes without colour: those whose colours cost most.
    imbalance : int
        Maximum difference between the numbers of classes of either colour. The classes that lose
        least change sides; both colours are always used.

    Returns
    -------
    colours : int8 array of shape (n_classes,)
    cost : float

    Examples
    --------
    >>> costs = np.array([0.0, 0.25, 1.0, 2.0]), np.array([2.0, 1.75, 1.5, 0.0])
    >>> colour_classes(*costs, rho=0.5, n_uncoloured=1, imbalance=2)
    (array([ 1,  1,  0, -1], dtype=int8), 0.75)
    >>> colour_classes(*costs, rho=0.5, n_uncoloured=0, imbalance=0)
    (array([ 1,  1, -1, -1], dtype=int8), 1.75)
    """
    n = len(positive)
    cheapest = np.minimum(positive, negative)
    dearest = np.argsort(-cheapest, kind="stable")[: max(min(n_uncoloured, n - 2), 0)]
    uncoloured = dearest[cheapest[dearest] > rho]
    colours = np.where(positive <= negative, 1, -1).astype(np.int8)
    colours[uncoloured] = 0
    n_coloured = n - len(uncoloured)
    allowed = max(min(imbalance, n_coloured - 2), n_coloured % 2)
    surplus = int(colours.sum())
    side = 1 if surplus > 0 else -1
    loss = side * (negative - positive)
    on_side = np.flatnonzero(colours == side)
    n_moved = max(-(-(abs(surplus) - allowed) // 2), 0)
    colours[on_side[np.argsort(loss[on_side], kind="stable")[:n_moved]]] = -side
    cost = positive[colours > 0].sum() + negative[colours < 0].sum() + rho * len(uncoloured)
    return colours, float(cost)


def _extremes(scores: NDArray[np.float64]) -> Colours:
    """Colour the classes at either end, a quarter each; the classifier will colour the others.

    A classifier tends to confirm the colours that it was fitted to, so that few are given at first.
    """
    order = np.argsort(scores, kind="stable")
    n_end = max(len(order) // _END, 1)
    colours = np.zeros(len(order), dtype=np.int8)
    colours[order[:n_end]] = -1
    colours[order[-n_end:]] = 1
    return colours


def _least_confused(confusion: NDArray[np.float64], n_starts: int) -> list[Colours]:
    """Colour one class +1 and one -1: the pairs that are confused least, the first ones of equals.

    Parameters
    ----------
    confusion : array of shape (n_classes, n_classes)
        Symmetric.
    n_starts : int

    Returns
    -------
    list of int8 arrays of shape (n_classes,)
    """
    first, second = np.triu_indices(len(confusion), 1)
    found = []
    for pair in np.argsort(confusion[first, second], kind="stable")[:n_starts].tolist():
        colours = np.zeros(len(confusion), dtype=np.int8)
        colours[first[pair]], colours[second[pair]] = 1, -1
        found.append(colours)
    return found


def _leading_scores(
    problem: ClassProblem, classes: IntArray, node: int, k: int
) -> NDArray[np.float64]:
    """Return leading eigenvectors of the centred means; the order of the classes if equal."""
    gram = problem.statistics.gram(classes)
    rows = gram.mean(axis=1)
    centred = gram - rows[:, None] - rows + rows.mean()
    values, vectors = leading_eigenvectors(centred, k, problem.rng(node))
    kept = values > 1e-12 * np.abs(np.diagonal(gram)).max()
    return vectors[:, kept] if kept.any() else np.linspace(1.0, -1.0, len(classes))[:, None]


def _check_range(name: str, value: float, least: float, most: float) -> None:
    """Raise an error for a parameter out of range."""
    if not (is_number(value) and least <= value <= most):
        limits = f"of at least {least:g}" if most == np.inf else f"from {least:g} to {most:g}"
        raise PalmetteError(f"{name}={value!r}: expected a number {limits}.")
