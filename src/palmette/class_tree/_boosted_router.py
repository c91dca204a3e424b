"""BoostedRouter: binary AdaBoost of full classification trees at every node of a class tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_expit, logsumexp
from sklearn.utils import check_random_state

from palmette._arrays import BinArray
from palmette.boosting._weak_answers import CartPerClass
from palmette.boosting._weak_base import TrainingRows
from palmette.class_tree._node_boost import NodeVotes, boost_node
from palmette.class_tree._routing import Router, Routes, RoutingProblem
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import integers, numbers, require
from palmette.trees._binning import MAX_BINS, BinMapper

__all__ = ["BoostedRouter", "BoostedRoutes", "StagedRoutes"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class BoostedRouter(Router):
    """Tell the options of every node apart by AdaBoost of full classification trees.

    Two options that share no class need one binary problem; others are told from the rest one by
    one. A problem sees the rows of its node alone.

    Parameters
    ----------
    n_estimators : int
        Rounds of AdaBoost.
    max_depth : int, optional
        Of the classification trees; without a limit their leaves are pure.
    max_features : int, float, "sqrt" or None
        Features that compete at a split; None for all.
    resample : bool or float
        Whether a round draws rows by their weights, as many as there are or the share given. If
        not, full trees make no mistake in training, and there is nothing to boost.
    sharpness : float
        What mean votes from -1 to +1 are multiplied by to make log-odds.
    max_bins : int
        Bins of a feature, at most 255.

    Examples
    --------
    >>> BoostedRouter(50, resample=0.5)
    BoostedRouter(n_estimators=50, resample=0.5)
    """

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
        """Boost at every node of several options; see `Router.train`.

        The trees of a problem depend on (seed, node, option) alone, whatever else is trained.
        """
        learner = self._learner()
        seed = check_random_state(problem.seed).randint(2**31 - 1)
        bins = BinMapper.fit(problem.X, self.max_bins)
        rows = _training_rows(problem, bins)

        def boost(task: _Task) -> NodeVotes:
            key = np.random.SeedSequence([seed, task.node, task.option])
            # the first seeds are the same however many there are: a stage is a shorter fit
            seeds = np.asarray(key.generate_state(self.n_estimators, np.uint64), dtype=np.uint64)
            return boost_node(rows, task.rows, task.positive, learner, seeds)

        tasks = [task for node in range(problem.table.n_nodes) for task in _tasks_of(problem, node)]
        models: dict[int, list[NodeVotes]] = {}
        for task, votes in zip(tasks, problem.run(boost, tasks), strict=True):
            models.setdefault(task.node, []).append(votes)
        return BoostedRoutes(
            bins, models, problem.table.sizes, self.sharpness, int(self.n_estimators)
        )

    def _learner(self) -> CartPerClass:
        """Check the parameters; return what a round grows."""
        if not isinstance(self.n_estimators, int | np.integer) or self.n_estimators < 1:
            raise PalmetteError(f"n_estimators={self.n_estimators!r}: expected a positive integer.")
        if not self.sharpness > 0:
            raise PalmetteError(f"sharpness={self.sharpness!r}: expected a positive number.")
        learner = CartPerClass(
            self.max_depth, max_features=self.max_features, resample=self.resample
        )
        learner.check()
        return learner


class _Task(NamedTuple):
    """One binary problem: an option against the other options of its node."""

    node: int
    option: int
    rows: IntArray
    member: IntArray  # place of every row's class among those of the node
    reached: sparse.csr_array  # classes by option

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Whether the option leads to the class of each row."""
        led = np.zeros(self.reached.shape[1], dtype=bool)
        led[self.reached[[self.option]].indices] = True
        return led[self.member]


def _tasks_of(problem: RoutingProblem, node: int) -> Iterator[_Task]:
    n_options = int(problem.table.sizes[node])
    if n_options == 1:
        return
    classes, reached = problem.table.family(node)
    rows, member = problem.rows_of(classes)
    are_apart = reached.nnz == len(classes)
    for option in range(1 if n_options == 2 and are_apart else n_options):
        yield _Task(node, option, rows.astype(np.int32), member, reached)


def _training_rows(problem: RoutingProblem, bins: BinMapper) -> TrainingRows:
    codes = bins.transform(problem.X)
    weights = np.ones(len(codes)) if problem.weights is None else problem.weights
    rows = TrainingRows(codes, bins.n_bins, weights.astype(np.float32))
    rows.content_rank, rows.by_feature
    return rows


class BoostedRoutes(Routes):
    """The boosted trees of all nodes.

    Parameters
    ----------
    bins : BinMapper
    models : dict of int to list of NodeVotes
        By node: one that tells the first of two options from the second, or one for every option.
        Nodes of one option have none.
    sizes : int array of shape (n_nodes,)
        Number of options of every node.
    sharpness : float
    n_rounds : int
    """

    def __init__(
        self,
        bins: BinMapper,
        models: dict[int, list[NodeVotes]],
        sizes: NDArray[np.int64],
        sharpness: float,
        n_rounds: int,
    ) -> None:
        self.bins = bins
        self.models = models
        self.sizes = sizes
        self.sharpness = sharpness
        self.n_rounds = n_rounds

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        require(isinstance(self.bins, BinMapper), "the bins of a model are no BinMapper")
        numbers(self.bins.starts, np.int64, 1, "starts of bins")
        integers(self.sizes, "sizes")
        require(isinstance(self.models, dict), "the models of nodes are no dictionary")
        for votes in (each for models in self.models.values() for each in models):
            require(isinstance(votes, NodeVotes), "a model of a node is no NodeVotes")
            largest = votes.carts.features.max(initial=-1)
            require(largest < self.bins.n_features, "a tree uses a feature that does not exist")

    def prepare(self, X: Any) -> BinArray:
        """Codes of rows, of shape (n_samples, n_features)."""
        return self.bins.transform(X)

    def score(
        self,
        X: BinArray,
        rows: NDArray[np.int64],
        nodes: NDArray[np.int32],
        starts: NDArray[np.int64],
    ) -> FloatArray:
        """Score the options of a node for every pair of a row and a node; see `Routes.score`."""

        def votes(node: int, asked: IntArray) -> FloatArray:
            return np.column_stack([each.scores(X, asked) for each in self.models[node]])

        return self._scores(votes, rows, nodes, starts)

    def stages(self, X: BinArray) -> Iterator[StagedRoutes]:
        """Yield the routes of rows after each round; they hold the votes of all models for them."""
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
        self,
        votes: Any,
        rows: NDArray[np.int64],
        nodes: NDArray[np.int32],
        starts: NDArray[np.int64],
    ) -> FloatArray:
        """Scores from what gives the mean votes of a node's models for rows."""
        scores = np.zeros(int(starts[-1]))
        first = np.flatnonzero(np.diff(nodes, prepend=-1))
        for begin, end in zip(first, np.append(first[1:], len(nodes)), strict=True):
            node = int(nodes[begin])
            if node in self.models:
                here = self.sharpness * votes(node, rows[begin:end].astype(np.int32))
                shares = _log_shares(here, int(self.sizes[node]))
                scores[starts[begin] : starts[end]] = shares.ravel()
        return scores


class StagedRoutes(Routes):
    """Boosted trees up to some round, for rows whose votes are counted already.

    What stands for X is a column of the numbers of these rows, of shape (n_samples, 1).

    Parameters
    ----------
    routes : BoostedRoutes
    votes : dict of int to array of shape (n_samples, n_models)
        Mean votes of the models of every node.
    """

    def __init__(self, routes: BoostedRoutes, votes: dict[int, FloatArray]) -> None:
        self.routes = routes
        self.votes = votes

    def prepare(self, X: Any) -> IntArray:
        """Numbers of the rows."""
        return np.asarray(X).ravel().astype(np.int32)

    def score(
        self,
        X: IntArray,
        rows: NDArray[np.int64],
        nodes: NDArray[np.int32],
        starts: NDArray[np.int64],
    ) -> FloatArray:
        """Score the options of a node for every pair of a row and a node; see `Routes.score`."""

        def votes(node: int, asked: IntArray) -> FloatArray:
            return self.votes[node][X[asked]]

        return self.routes._scores(votes, rows, nodes, starts)


def _log_shares(log_odds: FloatArray, n_options: int) -> FloatArray:
    """Logarithms of the options' shares, (n_rows, n_options), from the log-odds of the models."""
    if log_odds.shape[1] == 1 < n_options:
        return np.column_stack([log_expit(log_odds), log_expit(-log_odds)])
    chances = log_expit(log_odds)
    return np.asarray(chances - logsumexp(chances, axis=1, keepdims=True))
