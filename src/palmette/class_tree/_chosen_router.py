"""ChosenRouter: the best of several routers by cross-validation on a sample of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray, count_rows, take_rows
from palmette.class_tree._linear import LinearRouter
from palmette.class_tree._routing import Router, Routes, RoutingProblem
from palmette.class_tree._search import class_scores
from palmette.class_tree._shared_routers import (
    AverageRouter,
    FlatRouter,
    ForestRouter,
    KernelRouter,
    SharedRouter,
)
from palmette.exceptions import PalmetteError

_FOLDS = 3
_FEW_ROWS = 60  # up to this number, accuracies are too uncertain to choose by
_REPEATED_ROWS = 500  # up to this number, cross-validation is done twice
_MANY_CLASSES = 1_000  # more are separated by linear classifiers: others score every class
_WITHIN = 0.002  # a router that predicts faster is preferred if it is at most this much worse


class ChosenRouter(Router):
    """Choose between linear classifiers at the nodes and models of all classes.

    Routers are compared by 3-fold cross-validation on a stratified sample of the rows, and the most
    accurate one is trained on all rows. Candidates for a dense X are `LinearRouter`,
    `KernelRouter`, `ForestRouter`, and the average of the last two; for a sparse X they are
    `LinearRouter` and `FlatRouter`. `LinearRouter` is taken without comparison if there are no more
    than 60 rows, or more than 1,000 classes.

    Parameters
    ----------
    max_rows : int
        Number of rows of the sample. All candidates together are fitted three times to two thirds
        of it, or six times if it has no more than 500 rows: with the default, this takes 2 to 10
        CPU seconds for 3,000 rows or more, about 2 for few.

    Examples
    --------
    >>> ChosenRouter(max_rows=1000)
    ChosenRouter(max_rows=1000)
    """

    def __init__(self, max_rows: int = 3000) -> None:
        self.max_rows = max_rows

    def choose(self, problem: RoutingProblem) -> tuple[Router, dict[str, float]]:
        """Return the most accurate router and the accuracies; see `Router.choose`."""
        if not isinstance(self.max_rows, int | np.integer) or self.max_rows < 1:
            raise PalmetteError(f"max_rows={self.max_rows!r}: expected a positive integer.")
        n_rows, n_classes = len(problem.codes), problem.table.n_classes
        if n_rows <= _FEW_ROWS or n_classes < 2 or n_classes > _MANY_CLASSES:
            return LinearRouter(), {}
        rng = np.random.default_rng(problem.seed or 0)
        sample = problem.restrict(_stratified_rows(problem.codes, self.max_rows, rng))
        single = _candidates(sample)
        hits: dict[str, float] = {}
        total = 0.0
        for _ in range(2 if len(sample.codes) <= _REPEATED_ROWS else 1):
            folds = _folds(sample.codes, rng)
            for fold in range(_FOLDS):
                held_out = np.flatnonzero(folds == fold)
                if held_out.size:
                    found, weight = _compare(sample, held_out, single)
                    total += weight
                    hits = {name: hits.get(name, 0.0) + value for name, value in found.items()}
        if not total:  # no class has two rows
            return LinearRouter(), {}
        scores = {name: value / total for name, value in hits.items()}
        best = max(scores.values())
        name = next(name for name, score in scores.items() if score >= best - _WITHIN)
        parts = [single[part] for part in name.split("+")]
        return parts[0] if len(parts) == 1 else AverageRouter(parts), scores

    def train(self, problem: RoutingProblem) -> Routes:
        """Choose a router and train it; see `Router.train`."""
        return self.choose(problem)[0].train(problem)


def _candidates(sample: RoutingProblem) -> dict[str, Router]:
    """Return the routers to compare by name, those that predict faster first."""
    if sparse.issparse(sample.X):
        return {"linear": LinearRouter(), "flat": FlatRouter()}
    kernel = KernelRouter().choose(sample)[0]
    return {"linear": LinearRouter(), "kernel": kernel, "forest": ForestRouter()}


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
    if len(shared) > 1:
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
