"""Routers with one model of all classes: linear, kernel, forest, and averages of these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.special import softmax
from sklearn.tree import ExtraTreeClassifier

from palmette._arrays import (
    FloatArray,
    IntArray,
    check_single_precision,
    count_rows,
    row_chunks,
    take_rows,
)
from palmette.base._temperature import fit_inverse_temperature
from palmette.class_tree._linear import LinearRouter
from palmette.class_tree._linear_routes import LinearRoutes, check_routes
from palmette.class_tree._routing import OptionTable, Router, Routes, RoutingProblem
from palmette.class_tree._search import class_scores
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import check_starts, numbers, require, same_shapes, within

_GAMMAS = (0.03125, 0.125, 0.5, 2.0, 8.0)  # tried by gamma="auto"
_RIDGES = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)  # tried by ridge="auto"
_CHOICE_ROWS, _CHOICE_LANDMARKS = 2_000, 500  # used to choose between these
_SMALLEST = 1e-10  # eigenvalues below this share of the largest are rounding errors
_SHARPNESS = 8.0  # typical factor between regressions of indicators and log-odds
_CELLS_AT_ONCE = 2**22  # of a kernel matrix
_ROUNDS_OUT = 1e-300  # probabilities have a logarithm


class SharedModel(ABC):
    """A fitted model of all classes."""

    @abstractmethod
    def proba(self, X: Any) -> FloatArray:
        """Return class probabilities of shape (n_samples, n_classes)."""


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


class SharedRouter(Router):
    """A router that fits one model of all classes: an option has the sum of their probabilities.

    Along a tree, the product of these is the probability of the class, as the model gives it.
    """

    takes_sparse = False

    def train(self, problem: RoutingProblem) -> SharedRoutes:
        """Fit the model; see `Router.train`."""
        if sparse.issparse(problem.X) and not self.takes_sparse:
            raise PalmetteError(
                f"X is sparse, but {self!r} needs dense rows. Pass X.toarray(), or use the router "
                "'linear'."
            )
        return SharedRoutes(problem.table, self.fit_models(problem))

    @abstractmethod
    def fit_models(self, problem: RoutingProblem) -> list[SharedModel]:
        """Return fitted models, whose probabilities are averaged."""


class SharedRoutes(Routes):
    """Models of all classes, as routes along a class tree.

    Parameters
    ----------
    table : OptionTable
    models : list of SharedModel
        Their probabilities are averaged.
    """

    def __init__(self, table: OptionTable, models: list[SharedModel]) -> None:
        self.table = table
        self.models = models

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        require(isinstance(self.table, OptionTable), "the options of routes are missing")
        require(isinstance(self.models, list) and self.models, "the models of routes are missing")
        n_classes = self.table.n_classes
        for model in self.models:
            require(isinstance(model, SharedModel), "a model of routes is not a SharedModel")
            fits = getattr(model, "n_classes", None) == n_classes
            require(fits, "a model has another number of classes than the routes")

    def proba(self, X: Any) -> FloatArray:
        """Return class probabilities of shape (n_samples, n_classes)."""
        total: Any = sum(model.proba(X) for model in self.models)
        return np.asarray(total / len(self.models))

    def prepare(self, X: Any) -> FloatArray:
        """Return the scores of all options, of shape (n_samples, n_options)."""
        table = self.table
        options = np.asarray(self.proba(X) @ table.below.T.astype(np.float64))
        scores = np.log(np.maximum(options, _ROUNDS_OUT))
        nodes = np.log(np.add.reduceat(np.exp(scores), table.first[:-1], axis=1))
        return np.asarray(scores - np.repeat(nodes, table.sizes, axis=1))

    def score(
        self, X: FloatArray, rows: NDArray[np.int64], nodes: IntArray, starts: NDArray[np.int64]
    ) -> FloatArray:
        """Return the scores of the options for pairs of a row and a node; see `Routes.score`."""
        sizes = np.diff(starts)
        pair = np.repeat(np.arange(len(rows)), sizes)
        option = self.table.first[nodes][pair] + np.arange(len(pair)) - starts[pair]
        return np.asarray(X[rows[pair], option])

    def score_all(self, X: FloatArray) -> FloatArray:
        """Return the scores of all options, which are computed already."""
        return X


class AverageRouter(SharedRouter):
    """Average the probabilities of several models of all classes.

    Parameters
    ----------
    routers : list of FlatRouter, KernelRouter or ForestRouter

    Examples
    --------
    >>> AverageRouter([KernelRouter(), ForestRouter()])
    AverageRouter(routers=[KernelRouter(), ForestRouter()])
    """

    def __init__(self, routers: Sequence[Any]) -> None:
        self.routers = routers

    def choose(self, problem: RoutingProblem) -> tuple[Router, dict[str, float]]:
        """Return the average of routers whose parameters are chosen."""
        return AverageRouter([router.choose(problem)[0] for router in self.routers]), {}

    def fit_models(self, problem: RoutingProblem) -> list[SharedModel]:
        """Return the models of all routers."""
        return [model for router in self.routers for model in router.fit_models(problem)]


# ---------------------------------------------------------------------- linear


class FlatRouter(SharedRouter):
    """Separate every class from all others by a linear classifier, whatever the tree.

    With many classes it takes far longer than `LinearRouter`, whose classifiers are trained on the
    rows of their node only. It is more accurate where the tree separates similar classes early, as
    it does if classes have few rows.

    Parameters
    ----------
    C : "scale" or float
        See `LinearRouter`.

    Examples
    --------
    >>> FlatRouter(C=1.0)
    FlatRouter(C=1.0)
    """

    takes_sparse = True

    def __init__(self, *, C: float | str = "scale") -> None:
        self.C = C

    def fit_models(self, problem: RoutingProblem) -> list[SharedModel]:
        """Return the fitted classifiers."""
        star = _star(problem.table.n_classes)
        routes = LinearRouter(C=self.C).train(replace(problem, table=star))
        return [LinearModel(star, routes)]


def _star(n_classes: int) -> OptionTable:
    """Return the options of a root with all classes below it."""
    codes = np.arange(n_classes, dtype=np.int32)
    return OptionTable(
        np.zeros(1, dtype=np.int32),
        np.array([0, n_classes], dtype=np.int64),
        np.full(n_classes, -1, dtype=np.int32),
        codes,
        sparse.csr_array(sparse.eye_array(n_classes, dtype=bool)),
    )


class LinearModel(SharedModel):
    """Linear classifiers of all classes; probabilities are the softmax of their scores.

    Parameters
    ----------
    table : OptionTable
        One node with all classes.
    routes : LinearRoutes
    """

    def __init__(self, table: OptionTable, routes: LinearRoutes) -> None:
        self.table = table
        self.routes = routes

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        fits = isinstance(self.table, OptionTable) and isinstance(self.routes, LinearRoutes)
        require(fits, "a linear model lacks its options or its routes")
        require(self.table.n_nodes == 1, "a linear model has several nodes")
        check_routes(self.routes, self.table, self.routes.n_features, self.table.n_classes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.table.n_classes

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.routes.n_features

    def proba(self, X: Any) -> FloatArray:
        """Return class probabilities of shape (n_samples, n_classes)."""
        scores = class_scores(self.table, self.routes, self.routes.prepare(X), count_rows(X))
        return np.asarray(softmax(scores, axis=1))


# ---------------------------------------------------------------------- kernel


class KernelRouter(SharedRouter):
    """Separate the classes by ridge regression on the features of a Gaussian kernel.

    The kernel is approximated by its values at some of the rows (Nystroem). One system of linear
    equations serves all classes. Scores become probabilities by a softmax whose temperature has
    the maximum likelihood, with every row left out of its own score.

    Parameters
    ----------
    n_landmarks : int
        Number of rows at which the kernel is evaluated; all rows if there are fewer.
    gamma : "auto" or float
        The kernel is ``exp(-gamma * d2 / v)`` for rows of squared distance d2, with v the sum of
        the variances of all features. "auto" takes the best of 1/32, 1/8, 1/2, 2 and 8, together
        with `ridge`, by leave-one-out accuracy on a sample of 2,000 rows with 500 landmarks.
    ridge : "auto" or float
        Penalty of the squared weights, per row. "auto" takes the best of 1e-7 to 1e-2.

    References
    ----------
    Rifkin, Klautau, In defense of one-vs-all classification, JMLR 5, 2004.
    Williams, Seeger, Using the Nyström method to speed up kernel machines, NIPS 2000.

    Examples
    --------
    >>> KernelRouter(gamma=0.5)
    KernelRouter(gamma=0.5)
    """

    def __init__(
        self, n_landmarks: int = 1000, *, gamma: float | str = "auto", ridge: float | str = "auto"
    ) -> None:
        self.n_landmarks = n_landmarks
        self.gamma = gamma
        self.ridge = ridge

    def choose(self, problem: RoutingProblem) -> tuple[Router, dict[str, float]]:
        """Return a router with numbers for "auto"; see `Router.choose`."""
        self._check()
        if not isinstance(self.gamma, str) and not isinstance(self.ridge, str):
            return self, {}
        gammas = _GAMMAS if isinstance(self.gamma, str) else (float(self.gamma),)
        ridges = _RIDGES if isinstance(self.ridge, str) else (float(self.ridge),)
        rows = np.random.default_rng(problem.seed or 0).permutation(len(problem.codes))
        rows = rows[:_CHOICE_ROWS]
        data = _RidgeData.of(problem, rows)
        marks = rows[: min(self.n_landmarks, _CHOICE_LANDMARKS)]
        found: dict[tuple[float, float], float] = {}
        for gamma in gammas:
            features = _LandmarkMap.of(take_rows(problem.X, marks), gamma / data.variance)
            for ridge, scores in data.left_out(features(data.X), ridges):
                hits = scores.argmax(axis=1) == data.codes
                found[gamma, ridge] = float(np.average(hits, weights=data.weights))
        gamma, ridge = max(found, key=lambda pair: found[pair])
        return KernelRouter(self.n_landmarks, gamma=gamma, ridge=ridge), {}

    def fit_models(self, problem: RoutingProblem) -> list[SharedModel]:
        """Return the fitted regression."""
        router: Any = self.choose(problem)[0]
        rows = np.random.default_rng(problem.seed or 0).permutation(len(problem.codes))
        whole = _RidgeData.of(problem, np.arange(len(rows)))
        marks = take_rows(problem.X, np.sort(rows[: self.n_landmarks]))
        features = _LandmarkMap.of(marks, router.gamma / whole.variance)
        n_kept = features.matrix.shape[1]
        gram, right = np.zeros((n_kept, n_kept)), np.zeros((n_kept, whole.n_classes))
        for part in row_chunks(len(rows), len(marks), at_once=_CELLS_AT_ONCE):
            mapped = features(whole.X[part])
            weighted = mapped * whole.weights[part, None]
            gram += weighted.T @ mapped
            right += weighted.T @ whole.targets(part)
        factor = cho_factor(gram + router.ridge * whole.weights.sum() * np.eye(n_kept))
        coef = cho_solve(factor, right)
        model = KernelModel(
            features.marks, features.gamma, features.matrix @ coef, whole.shares, sharpness=1.0
        )
        some = np.sort(rows[:_CHOICE_ROWS])
        mapped = features(whole.X[some])
        own = whole.weights[some] * np.sum(mapped * cho_solve(factor, mapped.T).T, axis=1)
        scores = _without_own(mapped @ coef, whole.targets(some), own) + whole.shares
        proba = np.asarray(softmax(_SHARPNESS * scores, axis=1))
        model.sharpness = _SHARPNESS * fit_inverse_temperature(
            proba, whole.codes[some], whole.weights[some]
        )
        return [model]

    def _check(self) -> None:
        if not isinstance(self.n_landmarks, int | np.integer) or self.n_landmarks < 1:
            raise PalmetteError(f"n_landmarks={self.n_landmarks!r}: expected a positive integer.")
        for name in ("gamma", "ridge"):
            given = getattr(self, name)
            if isinstance(given, str) and given != "auto":
                raise PalmetteError(f"{name}={given!r}: expected 'auto' or a positive number.")
            if not isinstance(given, str) and not given > 0:
                raise PalmetteError(f"{name}={given!r}: expected 'auto' or a positive number.")


class _RidgeData:
    """Rows of a regression of class indicators."""

    def __init__(self, X: FloatArray, codes: IntArray, weights: FloatArray, n_classes: int) -> None:
        self.X, self.codes, self.weights, self.n_classes = X, codes, weights, n_classes
        self.shares = np.bincount(codes, weights, minlength=n_classes) / weights.sum()
        mean = weights @ X / weights.sum()
        variance = float(weights @ np.square(X - mean).sum(axis=1) / weights.sum())
        self.variance = variance if variance > 0 else 1.0

    @classmethod
    def of(cls, problem: RoutingProblem, rows: NDArray[np.int64]) -> _RidgeData:
        """Take some rows of a problem."""
        weights = np.ones(len(rows)) if problem.weights is None else problem.weights[rows]
        X = np.asarray(take_rows(problem.X, rows), dtype=np.float64)
        return cls(X, problem.codes[rows], weights, problem.table.n_classes)

    def targets(self, rows: Any) -> FloatArray:
        """Return centred indicators of the classes of some rows."""
        codes = self.codes[rows]
        indicators = np.tile(-self.shares, (len(codes), 1))
        indicators[np.arange(len(codes)), codes] += 1.0
        return indicators

    def left_out(self, features: FloatArray, ridges: Sequence[float]) -> Any:
        """Yield every ridge with the scores of rows by regressions without them."""
        targets = self.targets(slice(None))
        values, vectors = eigh((features.T * self.weights) @ features)
        turned = features @ vectors
        right = (turned.T * self.weights) @ targets
        for ridge in ridges:
            inverse = 1.0 / (np.maximum(values, 0.0) + ridge * self.weights.sum())
            own = self.weights * (np.square(turned) @ inverse)
            fitted = turned @ (inverse[:, None] * right)
            yield ridge, _without_own(fitted, targets, own) + self.shares


def _without_own(fitted: FloatArray, targets: FloatArray, own: FloatArray) -> FloatArray:
    """Return the values that a linear smoother fits to rows if they are left out."""
    return np.asarray(targets - (targets - fitted) / np.maximum(1.0 - own, 1e-6)[:, None])


def _gaussian(X: FloatArray, marks: FloatArray, gamma: float) -> FloatArray:
    """Return the kernel between rows and landmarks."""
    squares = np.square(X).sum(axis=1)[:, None] + np.square(marks).sum(axis=1)
    squares -= 2.0 * (X @ marks.T)
    return np.asarray(np.exp(-gamma * np.maximum(squares, 0.0)))


class _LandmarkMap:
    """Features whose inner products approximate the kernel."""

    def __init__(self, marks: FloatArray, gamma: float, matrix: FloatArray) -> None:
        self.marks, self.gamma, self.matrix = marks, gamma, matrix

    @classmethod
    def of(cls, marks: FloatArray, gamma: float) -> _LandmarkMap:
        values, vectors = eigh(_gaussian(marks, marks, gamma))
        kept = values > _SMALLEST * values[-1]
        return cls(marks, gamma, vectors[:, kept] / np.sqrt(values[kept]))

    def __call__(self, X: FloatArray) -> FloatArray:
        return np.asarray(_gaussian(X, self.marks, self.gamma) @ self.matrix)


class KernelModel(SharedModel):
    """A regression on kernels at landmarks.

    Parameters
    ----------
    marks : array of shape (n_landmarks, n_features)
    gamma : float
    coef : array of shape (n_landmarks, n_classes)
    shares : array of shape (n_classes,)
        Scores of a row that is far from all landmarks.
    sharpness : float
        Factor of the scores in the softmax.
    """

    def __init__(
        self,
        marks: FloatArray,
        gamma: float,
        coef: FloatArray,
        shares: FloatArray,
        sharpness: float,
    ) -> None:
        self.marks = np.ascontiguousarray(marks)
        self.gamma = float(gamma)
        self.coef = np.ascontiguousarray(coef)
        self.shares = shares
        self.sharpness = sharpness

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        marks = numbers(self.marks, np.float64, 2, "marks")
        coef = numbers(self.coef, np.float64, 2, "coef")
        shares = numbers(self.shares, np.float64, 1, "shares")
        fits = coef.shape == (len(marks), len(shares))
        require(fits, "landmarks and coefficients do not fit together")
        are_numbers = isinstance(self.gamma, float) and isinstance(self.sharpness, float)
        require(are_numbers, "gamma and sharpness are not numbers")

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.shares)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.marks.shape[1])

    def proba(self, X: Any) -> FloatArray:
        """Return class probabilities of shape (n_samples, n_classes)."""
        X = _dense(X)
        found = np.empty((len(X), self.n_classes))
        for part in row_chunks(len(X), len(self.marks), at_once=_CELLS_AT_ONCE):
            found[part] = _gaussian(X[part], self.marks, self.gamma) @ self.coef + self.shares
        return np.asarray(softmax(self.sharpness * found, axis=1))


# ---------------------------------------------------------------------- forest


class ForestRouter(SharedRouter):
    """Separate the classes by extremely randomized trees, as `ExtraTreesClassifier` does.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    max_features : int, float, "sqrt", "log2" or None
        Number or share of the features considered at a split; None for all.

    References
    ----------
    Geurts, Ernst, Wehenkel, Extremely randomized trees, Machine Learning 63, 2006.

    Examples
    --------
    >>> ForestRouter(50)
    ForestRouter(n_estimators=50)
    """

    def __init__(
        self, n_estimators: int = 100, *, max_features: int | float | str | None = "sqrt"
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features

    def fit_models(self, problem: RoutingProblem) -> list[SharedModel]:
        """Return the fitted trees; a tree depends on the seed and on its number only."""
        if not isinstance(self.n_estimators, int | np.integer) or self.n_estimators < 1:
            raise PalmetteError(f"n_estimators={self.n_estimators!r}: expected a positive integer.")
        check_single_precision(problem.X)
        X = np.asarray(problem.X, dtype=np.float32)
        key = np.random.SeedSequence([problem.seed or 0, 1])
        seeds = (key.generate_state(self.n_estimators) >> 1).tolist()

        def grow(seed: int) -> _Grown:
            tree = ExtraTreeClassifier(max_features=self.max_features, random_state=seed)
            tree.fit(X, problem.codes, sample_weight=problem.weights, check_input=False)
            return _grown(tree.tree_)

        grown = problem.run(grow, seeds)
        return [ForestModel.join(grown, problem.table.n_classes, int(X.shape[1]))]


# features, cuts, left and right children, class shares of leaves (class, share, number per node)
_Grown = tuple[IntArray, FloatArray, IntArray, IntArray, IntArray, FloatArray, IntArray]


def _grown(tree: Any) -> _Grown:
    """Return a tree of scikit-learn without the shares of inner nodes and the zeros of leaves."""
    is_leaf = tree.children_left < 0
    here = np.arange(tree.node_count)
    shares = np.where(is_leaf[:, None], tree.value[:, 0, :], 0.0)
    node, label = np.nonzero(shares)
    share = shares[node, label]
    share = share / np.bincount(node, share, minlength=tree.node_count)[node]
    return (
        np.where(is_leaf, 0, tree.feature).astype(np.int32),
        np.where(is_leaf, np.inf, tree.threshold),
        np.where(is_leaf, here, tree.children_left).astype(np.int32),
        np.where(is_leaf, here, tree.children_right).astype(np.int32),
        label.astype(np.int32),
        share,
        np.bincount(node, minlength=tree.node_count).astype(np.int32),
    )


class ForestModel(SharedModel):
    """Trees as flat arrays with one place per node; a leaf is its own child.

    Parameters
    ----------
    starts : int64 array of shape (n_trees + 1,)
        Places of the roots, and the number of nodes.
    features : int32 array of shape (n_nodes,)
    cuts : float64 array of shape (n_nodes,)
        Values up to the cut go left.
    left, right : int32 arrays of shape (n_nodes,)
        Children, as places within the tree.
    first : int64 array of shape (n_nodes + 1,)
        Offsets of the class shares of every node.
    labels, shares : int32 and float64 arrays of shape (n_shares,)
    n_classes, n_features : int
    """

    def __init__(
        self,
        starts: NDArray[np.int64],
        features: IntArray,
        cuts: FloatArray,
        left: IntArray,
        right: IntArray,
        first: NDArray[np.int64],
        labels: IntArray,
        shares: FloatArray,
        n_classes: int,
        n_features: int,
    ) -> None:
        self.starts, self.features, self.cuts = starts, features, cuts
        self.left, self.right = left, right
        self.first, self.labels, self.shares = first, labels, shares
        self.n_classes, self.n_features = n_classes, n_features

    @classmethod
    def join(cls, grown: Sequence[_Grown], n_classes: int, n_features: int) -> ForestModel:
        """Return the trees as one model."""
        starts = np.concatenate([[0], np.cumsum([len(tree[0]) for tree in grown])])
        features, cuts, left, right, labels, shares, counts = (
            np.concatenate(parts) for parts in zip(*grown, strict=True)
        )
        first = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return cls(
            starts, features, cuts, left, right, first, labels, shares, n_classes, n_features
        )

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        features = numbers(self.features, np.int32, 1, "features")
        n_nodes = len(features)
        same_shapes(
            features,
            numbers(self.cuts, np.float64, 1, "cuts"),
            left := numbers(self.left, np.int32, 1, "left"),
            right := numbers(self.right, np.int32, 1, "right"),
        )
        for count in (self.n_classes, self.n_features):
            require(type(count) is int and count > 0, "a number of classes or features is missing")
        numbers(self.starts, np.int64, 1, "starts")
        sizes = check_starts(self.starts, len(self.starts) - 1, n_nodes, "starts")
        require(len(sizes) > 0, "there is no tree")
        require(sizes > 0, "a tree has no nodes")
        place = np.arange(n_nodes) - np.repeat(self.starts[:-1], sizes)
        is_leaf = (left == place) & (right == place)
        below = np.repeat(sizes, sizes)
        leads_on = (left > place) & (left < below) & (right > place) & (right < below)
        require(is_leaf | leads_on, "a node has a child that does not exist")
        require(within(features, self.n_features), "a tree uses a feature that does not exist")
        labels = numbers(self.labels, np.int32, 1, "labels")
        same_shapes(labels, numbers(self.shares, np.float64, 1, "shares"))
        numbers(self.first, np.int64, 1, "first")
        check_starts(self.first, n_nodes, len(labels), "first")
        require(within(labels, self.n_classes), "a leaf has a class that does not exist")

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.starts) - 1

    def proba(self, X: Any) -> FloatArray:
        """Return class probabilities of shape (n_samples, n_classes)."""
        X = np.asarray(_dense(X), dtype=np.float32)
        shape = (len(self.features), self.n_classes)
        of_node = sparse.csr_array((self.shares, self.labels, self.first), shape=shape)
        found = np.empty((len(X), self.n_classes))
        for part in row_chunks(len(X), 8 * self.n_trees, at_once=_CELLS_AT_ONCE):
            leaves = self._leaves(X[part])
            ends = np.arange(len(leaves) + 1, dtype=np.int64) * self.n_trees
            ones = np.ones(leaves.size)
            reached = sparse.csr_array((ones, leaves.ravel(), ends), (len(leaves), shape[0]))
            found[part] = (reached @ of_node).toarray() / self.n_trees
        return found

    def _leaves(self, X: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the leaf of every row in every tree, of shape (n_samples, n_trees)."""
        leaves = np.empty((count_rows(X), self.n_trees), dtype=np.int64)
        for tree in range(self.n_trees):
            nodes = slice(self.starts[tree], self.starts[tree + 1])
            features, cuts = self.features[nodes], self.cuts[nodes]
            left, right = self.left[nodes], self.right[nodes]
            at = np.zeros(len(X), dtype=np.int32)
            moving = np.arange(len(X))
            while moving.size:
                here = at[moving]
                below = np.where(X[moving, features[here]] <= cuts[here], left[here], right[here])
                at[moving] = below
                moving = moving[below != here]
            leaves[:, tree] = at + self.starts[tree]
        return leaves
