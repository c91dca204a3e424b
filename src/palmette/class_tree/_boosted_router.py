"""BoostedRouter: binary AdaBoost of full classification trees at every node of a class tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_expit, logsumexp
from sklearn.utils import check_random_state

from palmette._arrays import BinArray, FloatArray, IntArray
from palmette.base._parameters import check_positive
from palmette.class_tree._node_boost import NodeVotes, boost_node
from palmette.class_tree._routing import Router, Routes, RoutingProblem
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import numbers, require
from palmette.trees._binning import MAX_BINS, BinMapper, BinnedRows
from palmette.trees._carts import CartSettings


class BoostedRouter(Router):
    """Choose among the options of every node by AdaBoost of full classification trees.

    Two options that share no class need one binary problem; otherwise there is one problem per
    option, against the rest. A problem is fitted on the rows of its node only.

    Parameters
    ----------
    n_estimators : int
        Number of rounds of AdaBoost.
    max_depth : int, optional
        Maximum depth of the trees; by default they grow until their leaves are pure.
    max_features : int, float, "sqrt" or None
        Number or share of the features considered at a split; None for all.
    resample : bool or float
        Whether a round draws rows by weight, as many as there are or the given share. Otherwise
        full trees make no errors on the training rows, and boosting has no effect.
    sharpness : float
        Factor that turns mean votes from -1 to +1 into log-odds.
    max_bins : int
        Maximum number of bins per feature, up to 255.

    Examples
    --------
    >>> BoostedRouter(50, resample=0.5)
    BoostedRouter(n_estimators=50, resample=0.5)
    """

    used_by: ClassVar[str] = "AdaBoostBHCClassifier"  # in errors: users do not pass the router

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = None,
        max_features: int | float | str | None = "sqrt",
        resample: bool | float = True,
        sharpness: float = 4.0,
        max_bins: int = MAX_BINS,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_features = max_features
        self.resample = resample
        self.sharpness = sharpness
        self.max_bins = max_bins

    def train(self, problem: RoutingProblem) -> BoostedRoutes:
        """Boost at every node with several options; see `Router.train`.

        The trees of a problem depend only on (seed, node, option).
        """
        settings = self._settings()
        seed = check_random_state(problem.seed).randint(2**31 - 1)
        bins = BinMapper.fit(problem.X, self.max_bins)
        rows = _training_rows(problem, bins)

        def boost(task: _Task) -> NodeVotes:
            key = np.random.SeedSequence([seed, task.node, task.option])
            # the first seeds do not depend on their number: a stage equals a shorter fit
            seeds = np.asarray(key.generate_state(self.n_estimators, np.uint64), dtype=np.uint64)
            return boost_node(rows, task.rows, task.positive, settings, seeds)

        tasks = [task for node in range(problem.table.n_nodes) for task in _tasks_of(problem, node)]
        models: dict[int, list[NodeVotes]] = {}
        for task, votes in zip(tasks, problem.run(boost, tasks), strict=True):
            models.setdefault(task.node, []).append(votes)
        return BoostedRoutes(
            bins, models, problem.table.sizes, self.sharpness, int(self.n_estimators)
        )

    def _settings(self) -> CartSettings:
        """Check the parameters; return those of the trees."""
        if not isinstance(self.n_estimators, int | np.integer) or self.n_estimators < 1:
            raise PalmetteError(f"n_estimators={self.n_estimators!r}: expected a positive integer.")
        check_positive(self, "sharpness")
        settings = CartSettings(self.max_depth, self.max_features, self.resample)
        settings.check()
        return settings


class _Task(NamedTuple):
    """One binary problem: an option against the other options of its node."""

    node: int
    option: int
    rows: IntArray
    member: IntArray  # position of every row's class among those of the node
    reached: sparse.csr_array  # classes by option

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Whether the option leads to the class of each row."""
        leads = np.zeros(self.reached.shape[1], dtype=bool)
        leads[self.reached[[self.option]].indices] = True
        return leads[self.member]


def _tasks_of(problem: RoutingProblem, node: int) -> Iterator[_Task]:
    n_options = int(problem.table.sizes[node])
    if n_options == 1:
        return
    classes, reached = problem.table.family(node)
    rows, member = problem.rows_of(classes)
    are_disjoint = reached.nnz == len(classes)
    for option in range(1 if n_options == 2 and are_disjoint else n_options):
        yield _Task(node, option, rows.astype(np.int32), member, reached)


def _training_rows(problem: RoutingProblem, bins: BinMapper) -> BinnedRows:
    codes = bins.transform(problem.X)
    weights = np.ones(len(codes)) if problem.weights is None else problem.weights
    rows = BinnedRows(codes, bins.n_bins, weights.astype(np.float32))
    _ = rows.content_rank, rows.by_feature  # computed before the threads start
    return rows


@dataclass(eq=False)
class BoostedRoutes(Routes):
    """The boosted trees of all nodes.

    Parameters
    ----------
    bins : BinMapper
    models : dict of int to list of NodeVotes
        By node: one model for the first of two options against the second, or one per option.
        Nodes with one option have none.
    sizes : int array of shape (n_nodes,)
        Number of options per node.
    sharpness : float
    n_rounds : int
    """

    bins: BinMapper
    models: dict[int, list[NodeVotes]]
    sizes: NDArray[np.int64]
    sharpness: float
    n_rounds: int

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        require(isinstance(self.bins, BinMapper), "the bins of a model are not a BinMapper")
        numbers(self.sizes, np.int64, 1, "sizes")
        require(isinstance(self.models, dict), "the models of nodes are not a dictionary")
        for votes in (each for models in self.models.values() for each in models):
            require(isinstance(votes, NodeVotes), "a model of a node is not a NodeVotes")
            largest = votes.carts.features.max(initial=-1)
            require(largest < self.bins.n_features, "a tree uses a feature that does not exist")

    def prepare(self, X: Any) -> BinArray:
        """Return the codes of rows, of shape (n_samples, n_features)."""
        return self.bins.transform(X)

    def score(
        self, X: BinArray, rows: NDArray[np.int64], nodes: IntArray, starts: NDArray[np.int64]
    ) -> FloatArray:
        """Return the scores of the options for pairs of a row and a node; see `Routes.score`."""

        def votes(node: int, chosen: IntArray) -> FloatArray:
            return np.column_stack([each.scores(X, chosen) for each in self.models[node]])

        return self._scores(votes, rows, nodes, starts)

    def stages(self, X: BinArray) -> Iterator[StagedRoutes]:
        """Yield the routes after each round, with the votes of all models for the given rows."""
        staged = {
            node: [each.staged_scores(X) for each in models] for node, models in self.models.items()
        }
        for _ in range(self.n_rounds):
            votes = {
                node: np.column_stack([next(each) for each in models])
                for node, models in staged.items()
            }
            yield StagedRoutes(self, votes)

    def _scores(
        self, votes: Any, rows: NDArray[np.int64], nodes: IntArray, starts: NDArray[np.int64]
    ) -> FloatArray:
        """Return the scores, given a function for the mean votes of the models of a node."""
        scores = np.zeros(int(starts[-1]))
        first = np.flatnonzero(np.diff(nodes, prepend=-1))
        for begin, end in zip(first, np.append(first[1:], len(nodes)), strict=True):
            node = int(nodes[begin])
            if node in self.models:
                here = self.sharpness * votes(node, rows[begin:end].astype(np.int32))
                proba = _log_proba(here, int(self.sizes[node]))
                scores[starts[begin] : starts[end]] = proba.ravel()
        return scores


class StagedRoutes(Routes):
    """Boosted trees up to some round, for rows whose votes are already computed.

    X is a column of the positions of these rows, of shape (n_samples, 1).

    Parameters
    ----------
    routes : BoostedRoutes
    votes : dict of int to array of shape (n_samples, n_models)
        Mean votes of the models at every node.
    """

    def __init__(self, routes: BoostedRoutes, votes: dict[int, FloatArray]) -> None:
        self.routes = routes
        self.votes = votes

    def prepare(self, X: Any) -> IntArray:
        """Return the positions of the rows."""
        return np.asarray(X).ravel().astype(np.int32)

    def score(
        self, X: IntArray, rows: NDArray[np.int64], nodes: IntArray, starts: NDArray[np.int64]
    ) -> FloatArray:
        """Return the scores of the options for pairs of a row and a node; see `Routes.score`."""

        def votes(node: int, chosen: IntArray) -> FloatArray:
            return self.votes[node][X[chosen]]

        return self.routes._scores(votes, rows, nodes, starts)


def _log_proba(log_odds: FloatArray, n_options: int) -> FloatArray:
    """Return the log-probabilities of the options, (n_rows, n_options), from log-odds."""
    if log_odds.shape[1] == 1 < n_options:
        return np.column_stack([log_expit(log_odds), log_expit(-log_odds)])
    scores = log_expit(log_odds)
    return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))
