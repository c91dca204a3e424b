"""Routers with one model of all classes: their base, linear models, and averages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from palmette._arrays import FloatArray, IntArray, count_rows
from palmette.class_tree._linear import LinearRouter
from palmette.class_tree._linear_routes import LinearRoutes, check_routes
from palmette.class_tree._routing import OptionTable, Router, Routes, RoutingProblem
from palmette.class_tree._search import class_scores
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import held, require

_ROUNDS_OUT = 1e-300  # probabilities have a logarithm


class SharedModel(ABC):
    """A fitted model of all classes, with the attributes `n_classes` and `n_features`."""

    n_classes: int
    n_features: int

    @abstractmethod
    def proba(self, X: Any) -> FloatArray:
        """Return class probabilities of shape (n_samples, n_classes)."""


class SharedRouter(Router):
    """A router that fits one model of all classes: an option has the sum of their probabilities.

    Along a tree, the product of these is the probability of the class, as the model gives it.
    Copies of a row are one row with the sum of their weights, so that a weight of k equals k copies
    even where rows are drawn.
    """

    takes_sparse = False

    def train(self, problem: RoutingProblem) -> SharedRoutes:
        """Fit the model; see `Router.train`."""
        if sparse.issparse(problem.X) and not self.takes_sparse:
            raise PalmetteError(
                f"X is sparse, but {self!r} needs dense rows. Pass X.toarray(), or use the router "
                "'linear'."
            )
        return SharedRoutes(problem.table, self.fit_models(problem.without_copies()))

    @abstractmethod
    def fit_models(self, problem: RoutingProblem) -> list[SharedModel]:
        """Return fitted models, whose probabilities are averaged.

        Parameters
        ----------
        problem : RoutingProblem
            Without copies of rows.
        """


class SharedRoutes(Routes):
    """Models of all classes, as routes along a class tree.

    Parameters
    ----------
    table : OptionTable
    models : list of SharedModel
        Their probabilities are averaged.
    """

    in_files: ClassVar = {
        "table": held(OptionTable),
        "models": held(list),
    }

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
            fits = getattr(model, "n_features", None) == self.n_features
            require(fits, "the models of routes have different numbers of features")

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.models[0].n_features)

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
    def n_classes(self) -> int:  # type: ignore[override]
        """Number of classes."""
        return self.table.n_classes

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of features."""
        return self.routes.n_features

    def proba(self, X: Any) -> FloatArray:
        """Return class probabilities of shape (n_samples, n_classes)."""
        scores = class_scores(self.table, self.routes, self.routes.prepare(X), count_rows(X))
        return np.asarray(softmax(scores, axis=1))


class AverageRouter(SharedRouter):
    """Average the probabilities of several models of all classes.

    Parameters
    ----------
    routers : list of FlatRouter, KernelRouter or ForestRouter

    Examples
    --------
    >>> from palmette.routing import ForestRouter, KernelRouter
    >>> AverageRouter([KernelRouter(), ForestRouter()])
    AverageRouter(routers=[KernelRouter(), ForestRouter()])
    """

    def __init__(self, routers: Sequence[Any]) -> None:
        self.routers = routers

    @property
    def takes_sparse(self) -> bool:  # type: ignore[override]
        """Whether rows may be a sparse matrix."""
        self._check()
        return all(router.takes_sparse for router in self.routers)

    def choose(self, problem: RoutingProblem) -> tuple[Router, dict[str, float]]:
        """Return the average of routers whose parameters are chosen."""
        self._check()
        return AverageRouter([router.choose(problem)[0] for router in self.routers]), {}

    def fit_models(self, problem: RoutingProblem) -> list[SharedModel]:
        """Return the models of all routers."""
        self._check()
        return [model for router in self.routers for model in router.fit_models(problem)]

    def _check(self) -> None:
        given = self.routers
        are_routers = isinstance(given, list | tuple) and len(given) > 0
        if not are_routers or not all(isinstance(each, SharedRouter) for each in given):
            raise PalmetteError(
                f"routers={given!r}: expected a list of routers with one model of all classes: "
                "FlatRouter, KernelRouter or ForestRouter."
            )
