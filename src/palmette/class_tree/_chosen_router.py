"""Routers by name, and ChosenRouter: the best of several by cross-validation on a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from palmette._arrays import FloatArray, IntArray, count_rows, take_rows
from palmette.base._column_units import Kind, unit_kind_of
from palmette.class_tree._forest_router import ForestRouter
from palmette.class_tree._kernel_router import KernelRouter
from palmette.class_tree._linear import LinearRouter
from palmette.class_tree._routers import EstimatorRouter
from palmette.class_tree._routing import Router, Routes, RoutingProblem
from palmette.class_tree._search import class_scores
from palmette.class_tree._shared_router import AverageRouter, FlatRouter, SharedRouter
from palmette.class_tree._spectral_router import SpectralRouter
from palmette.exceptions import PalmetteError

_FOLDS = 3
_FEW_ROWS = 60  # up to this number, accuracies are too uncertain to choose by
_REPEATED_ROWS = 500  # up to this number, cross-validation is done twice
_MANY_CLASSES = 1_000  # more are separated by linear classifiers: others score every class
_FOREST_ROWS = 1_500  # up to this number, trees are tried for a sparse X: they grow slowly there
_ONE_FOLD = 2e7  # rows x features x classes of the sample: with more, one fold is held out
_MOST = 1e8  # with more, the sample is smaller
_FEWEST_ROWS = 1_000  # of a smaller sample
_WITHIN = 0.002  # the average is preferred if its accuracy is at most this much lower


class ChosenRouter(Router):
    """Choose between linear classifiers at the nodes and models of all classes.

    Routers are compared by 3-fold cross-validation on a stratified sample of the rows, and the most
    accurate one is trained on all rows; the average if it is within 0.002 of it, unless linear
    classifiers are the best. Candidates for a dense X are `LinearRouter`, `KernelRouter`,
    `ForestRouter`, and the average of the last two. For a sparse X they are `LinearRouter`,
    `FlatRouter`, and, for up to 1,500 rows, `ForestRouter`. `LinearRouter` is taken without
    comparison if there are no more than 60 rows, or more than 1,000 classes.

    Parameters
    ----------
    max_rows : int
        Number of rows of the sample.
    n_estimators : int
        Number of trees of a forest.

    Notes
    -----
    All candidates are fitted three times to two thirds of the sample, or six times if it has no
    more than 500 rows. If rows x features x classes of the sample exceed 2e7, they are fitted once
    to two thirds of it; if they exceed 1e8, the sample is smaller, but not below 1,000 rows. The
    choice takes about 1 CPU second for a few hundred rows and 3 to 10 for 3,000, whatever the
    number of further rows. Only if there are thousands of features and hundreds of classes does it
    take longer, then less than the linear classifiers take with all rows.

    Examples
    --------
    >>> ChosenRouter(max_rows=1000)
    ChosenRouter(max_rows=1000)
    """

    def __init__(self, max_rows: int = 3000, *, n_estimators: int = 100) -> None:
        self.max_rows = max_rows
        self.n_estimators = n_estimators

    def choose(self, problem: RoutingProblem) -> tuple[Router, dict[str, float]]:
        """Return the most accurate router and the accuracies; see `Router.choose`."""
        if not isinstance(self.max_rows, int | np.integer) or self.max_rows < 1:
            raise PalmetteError(f"max_rows={self.max_rows!r}: expected a positive integer.")
        if not 2 <= problem.table.n_classes <= _MANY_CLASSES:
            return LinearRouter(), {}
        problem = problem.without_copies()  # else copies are on both sides of a division
        if len(problem.codes) <= _FEW_ROWS:
            return LinearRouter(), {}
        rng = np.random.default_rng(problem.seed or 0)
        width = _width(problem)
        n_rows = min(self.max_rows, max(_FEWEST_ROWS, int(_MOST / width)))
        sample = problem.restrict(_stratified_rows(problem.codes, n_rows, rng))
        single = self._candidates(sample, len(problem.codes))
        hits: dict[str, float] = {}
        total = 0.0
        n_folds = 1 if len(sample.codes) * width > _ONE_FOLD else _FOLDS
        for _ in range(2 if len(sample.codes) <= _REPEATED_ROWS else 1):
            folds = _folds(sample.codes, rng)
            for fold in range(n_folds):
                held_out = np.flatnonzero(folds == fold)
                if held_out.size:
                    found, weight = _compare(sample, held_out, single)
                    total += weight
                    hits = {name: hits.get(name, 0.0) + value for name, value in found.items()}
        if not total:  # no class has two rows
            return LinearRouter(), {}
        scores = {name: value / total for name, value in hits.items()}
        parts = [single[part] for part in _best(scores).split("+")]
        return parts[0] if len(parts) == 1 else AverageRouter(parts), scores

    def _candidates(self, sample: RoutingProblem, n_rows: int) -> dict[str, Router]:
        """Return the routers to compare by name, those that predict faster first."""
        forest = ForestRouter(self.n_estimators)
        if sparse.issparse(sample.X):
            found: dict[str, Router] = {"linear": LinearRouter(), "flat": FlatRouter()}
            return found if n_rows > _FOREST_ROWS else {**found, "forest": forest}
        kernel = KernelRouter().choose(sample)[0]
        return {"linear": LinearRouter(), "kernel": kernel, "forest": forest}

    def train(self, problem: RoutingProblem) -> Routes:
        """Choose a router and train it; see `Router.train`."""
        return self.choose(problem)[0].train(problem)


def _width(problem: RoutingProblem) -> float:
    """Return a measure of the cost of a row: number of its values times number of classes."""
    X = problem.X
    values = X.nnz / X.shape[0] if sparse.issparse(X) else X.shape[1]
    return float(max(values, 1) * problem.table.n_classes)


def _best(scores: dict[str, float]) -> str:
    """Return the name of the best candidate: the first of equals, an average if it is close."""
    name = max(scores, key=lambda each: scores[each])
    close = [each for each in scores if "+" in each and scores[each] >= scores[name] - _WITHIN]
    return close[0] if close and name != "linear" else name


def _compare(
    problem: RoutingProblem, held_out: NDArray[np.int64], routers: dict[str, Router]
) -> tuple[dict[str, float], float]:
    """Return the weight of held-out rows that each router classifies correctly, and of all."""
    is_train = np.ones(len(problem.codes), dtype=bool)
    is_train[held_out] = False
    train = problem.restrict(np.flatnonzero(is_train))
    X, codes = take_rows(problem.X, held_out), problem.codes[held_out]
    weights = np.ones(len(codes)) if problem.weights is None else problem.weights[held_out]
    tables: dict[str, FloatArray] = {}
    shared = []
    for name, router in routers.items():
        routes: Any = router.train(train)
        if isinstance(router, SharedRouter):
            tables[name] = routes.proba(X)
            shared.append(name)
        else:
            tables[name] = class_scores(problem.table, routes, routes.prepare(X), count_rows(X))
    if len(shared) > 1 and not sparse.issparse(X):
        tables["+".join(shared)] = np.sum([tables[name] for name in shared], axis=0)
    hits = {
        name: float(weights @ (table.argmax(axis=1) == codes)) for name, table in tables.items()
    }
    return hits, float(weights.sum())


def _ranks(codes: IntArray, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the position of every row in a random order of its class, and the class sizes."""
    shuffled = rng.permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    sizes = np.bincount(codes)
    rank = np.empty(len(codes), dtype=np.int64)
    rank[by_class] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rank, sizes


def _stratified_rows(codes: IntArray, max_rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return about `max_rows` rows, the same share of every class but at least three rows."""
    if len(codes) <= max_rows:
        return np.arange(len(codes))
    rank, sizes = _ranks(codes, rng)
    wanted = np.maximum(_FOLDS, np.rint(sizes * (max_rows / len(codes))))
    return np.flatnonzero(rank < wanted[codes])


def _folds(codes: IntArray, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the fold of every row; -1 for the only row of a class, which is always trained on."""
    rank, sizes = _ranks(codes, rng)
    # classes start at different folds, so that small ones do not all have their first row in one
    return np.where(sizes[codes] > 1, (rank + codes) % _FOLDS, -1)


def _adaboost() -> Router:
    from palmette.class_tree._boosted_router import BoostedRouter

    return BoostedRouter()


_ROUTERS: dict[str, Callable[[], Router]] = {
    "adaboost": _adaboost,
    "auto": ChosenRouter,
    "flat": FlatRouter,
    "forest": ForestRouter,
    "kernel": KernelRouter,
    "linear": LinearRouter,
    "logistic": lambda: LinearRouter("logistic"),
    "spectral": SpectralRouter,
}


def unit_kind_of_router(router: Any, standardize: bool) -> Kind:
    """Return what a router makes of columns, before they are standardized, if they are."""
    resolved = resolve_router(router, copy=False)
    if isinstance(resolved, EstimatorRouter):
        return unit_kind_of(resolved.estimator)
    return "rows" if isinstance(resolved, KernelRouter) and not standardize else "columns"


def resolve_router(router: Any, *, copy: bool = True) -> Router:
    """Return the router for a name, an object or a scikit-learn classifier.

    Parameters
    ----------
    router : str, Router or scikit-learn classifier
    copy : bool
        Whether a router that is given is cloned, as it must be before it is fitted.

    Examples
    --------
    >>> resolve_router("logistic")
    LinearRouter(loss='logistic')
    """
    if isinstance(router, Router):
        return clone(router) if copy else router
    if isinstance(router, str) and router in _ROUTERS:
        return _ROUTERS[router]()
    if hasattr(router, "fit") and not isinstance(router, type):
        return EstimatorRouter(router)
    raise PalmetteError(
        f"router={router!r} is unknown: expected one of {sorted(_ROUTERS)}, an object of "
        "palmette.routing, or a scikit-learn classifier."
    )
