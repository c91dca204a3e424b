"""Probabilistic label trees: class trees for rows with label sets.

An option of a node is true of a row if any label below it is. Its classifier is trained on the rows
of which the node is true, and its score is the probability given the node: the probability of a
label is the product along its path.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from palmette._arrays import FloatArray, count_rows, row_chunks, take_rows
from palmette.base._class_moments import Run
from palmette.class_tree._linear import LinearRouter, scaled_cost
from palmette.class_tree._linear_routes import FlatRows, LinearRoutes, check_routes
from palmette.class_tree._routing import OptionTable
from palmette.class_tree._set_routing import LabelOptions, SetProblem, TermScale, owners
from palmette.decisions._coherence import NodeColumns
from palmette.persistence.checks import numbers, require, within

_HELD_OUT = 0.3  # share of the rows on which settings and the threshold are chosen
_TRIAL_ROWS = 30_000  # maximum number of rows for the choice
_CELLS = 2**23  # maximum number of probabilities of all nodes for the threshold
_MANY_POSITIVES = 40  # rows per label from which less weight of the loss is better
_FEW_POSITIVES = 8  # rows per label up to which more weight is
_FACTORS = (0.3, 3.0)  # steps of C
_LARGE = 2**22  # rows times labels: above, one step of C is tried in a direction, not two
_TRIAL_SHARE = 0.75  # of the rows that settings are compared on then
_UNIT = 1e-6  # by which lengths of rows may differ from one
_PRUNE = 0.1  # of rows of length one: a quarter of the weights is left
_EXPONENTS = (-1.5, 1.5)  # logarithms: if held-out rows are separated, any would do
_ALMOST_SURE = 1.0 - 1e-15  # the logarithm of its complement is finite
_ALWAYS = 2.0  # score of a label that is predicted in any case
_AT = 5  # settings are compared by nDCG at this number of labels, if no hierarchy is given


@dataclass(eq=False)
class LabelTree:
    """A fitted label tree.

    Parameters
    ----------
    table, columns, leaves : as in `LabelOptions`
    routes : LinearRoutes
    scale : TermScale or None
    searches : bool
        Whether labels are the classes of the tree, and can be found by a beam search.
    exponent : float
        Scores to this power are probabilities.
    threshold : float
        Probability from which a label is predicted.
    n_answers : int
        Number of labels per row that a search looks for.
    nodes : int array of shape (n_columns,), optional
        Node of every column, if they are not the nodes of the model in their order. The first
        `n_whole` columns are probabilities that a node or anything below it is true, the others
        that a row lists the label of the node itself.
    n_whole : int
    min_labels : {0, 1}
        1 if no training row was without labels: then every prediction has one.
    max_labels : {0, 1}
        1 if every training row had one label: then every prediction has one only. 0 is any number.
    """

    table: OptionTable
    columns: NDArray[np.intp]
    leaves: NDArray[np.intp]
    routes: LinearRoutes
    scale: TermScale | None
    searches: bool
    exponent: float = 1.0
    threshold: float = 0.5
    n_answers: int = 20
    nodes: NDArray[np.int32] | None = None
    n_whole: int = 0
    min_labels: int = 0
    max_labels: int = 0

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        require(isinstance(self.routes, LinearRoutes), "the routes of a label tree are missing")
        require(self.routes.link.startswith("label_"), "the routes are not those of label sets")
        require(isinstance(self.table, OptionTable), "the options of a label tree are missing")
        check_routes(self.routes, self.table, self.routes.n_features, len(self.leaves))
        columns = numbers(self.columns, np.int64, 1, "columns")
        leaves = numbers(self.leaves, np.int64, 1, "leaves")
        require(len(columns) == self.table.n_options, "options and columns do not fit together")
        own = np.sort(columns[columns != -1])  # groups have no column
        require(np.array_equal(own, np.arange(self.n_columns)), "a column is missing")
        require(within(leaves, self.n_columns), "a class of a label tree does not exist")
        if self.scale is not None:
            require(isinstance(self.scale, TermScale), "the scale of a label tree is unknown")
            fits = len(self.scale.weights_) == self.routes.n_features
            require(fits, "the scale has another number of features")
        for name in ("exponent", "threshold"):
            value = getattr(self, name)
            require(type(value) is float and 0 <= value < np.inf, f"{name} is not a number")
        require(type(self.searches) is bool, "searches is neither True nor False")
        require(type(self.n_answers) is int and self.n_answers > 0, "n_answers is not positive")
        for name in ("min_labels", "max_labels"):
            value = getattr(self, name)
            require(type(value) is int and 0 <= value <= 1, f"{name} is neither 0 nor 1")
        if self.nodes is not None:
            nodes = numbers(self.nodes, np.int32, 1, "nodes of columns")
            require(len(nodes) == self.n_columns, "nodes and columns do not fit together")
            whole = self.n_whole
            require(type(whole) is int and 0 <= whole <= len(nodes), "n_whole is not a number")
            for part in (nodes[:whole], nodes[whole:]):
                require(len(np.unique(part)) == len(part), "a node has two columns")

    @property
    def has_whole_nodes(self) -> bool:
        """Whether columns are nodes with what is below them, and not labels alone."""
        return self.nodes is None or self.n_whole > 0

    @property
    def n_columns(self) -> int:
        """Number of nodes of the model."""
        return int(np.count_nonzero(self.columns != -1))

    def prepare(self, X: Any) -> FlatRows:
        """Return rows as the routes take them."""
        return self.routes.prepare(X if self.scale is None else self.scale.transform(X))

    def best(self, X: Any, k: int, beam: int) -> tuple[NDArray[np.intp], FloatArray]:
        """Find the best labels of every row by a beam search.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        k : int
        beam : int
            Number of nodes that are followed at every level.

        Returns
        -------
        columns : int array of shape (n_samples, k)
            Best first; -1 if the search found fewer labels.
        proba : array of shape (n_samples, k)
        """
        k = min(k, len(self.leaves))
        labels, totals = self.routes.follow(self.prepare(X), self.table, max(k, beam), beam)
        labels, totals = labels[:, :k], totals[:, :k]
        return np.where(labels < 0, -1, self.leaves[labels]), np.exp(self.exponent * totals)

    def proba(self, X: Any) -> FloatArray:
        """Return the probabilities of all columns, of shape (n_samples, n_columns)."""
        rows, table = self.prepare(X), self.table
        found = np.empty((len(rows), self.n_columns))
        reach = np.zeros((table.n_nodes, len(rows)))
        all_scores, every = self.routes.score_all(rows), np.arange(len(rows), dtype=np.int64)
        for node, size in enumerate(table.sizes.tolist()):
            options = slice(table.first[node], table.first[node + 1])
            if all_scores is not None:
                scores = all_scores[:, options]
            else:
                starts = np.arange(len(rows) + 1, dtype=np.int64) * size
                visited = np.full(len(rows), node, dtype=np.int32)
                scores = self.routes.score(rows, every, visited, starts).reshape(-1, size)
            totals = scores + reach[node][:, None]
            leads_on = table.targets[options] >= 0
            reach[table.targets[options][leads_on]] = totals[:, leads_on].T
            own = self.columns[options] >= 0
            found[:, self.columns[options][own]] = np.exp(self.exponent * totals[:, own])
        return found

    def whole_proba(self, proba: FloatArray, nodes: NodeColumns) -> FloatArray:
        """Return the probabilities of nodes, each with what is below it: (n_samples, n_nodes).

        If all columns are labels alone, that of a node is the probability of any label at or below
        it, as if they were independent: ``1 - prod(1 - p)``.

        Parameters
        ----------
        proba : array of shape (n_samples, n_columns)
        nodes : NodeColumns
        """
        if self.nodes is None:
            return proba
        if self.n_whole:
            return proba[:, : self.n_whole]
        above = nodes.hierarchy.closure[self.nodes][:, nodes.nodes]
        none = np.log1p(-np.minimum(proba, _ALMOST_SURE)) @ above.astype(np.float64)
        found: FloatArray = -np.expm1(none)
        place = nodes.place(self.nodes)
        found[:, place] = np.maximum(found[:, place], proba)  # whatever the rounding
        return found

    def own_proba(self, proba: FloatArray, labels: NDArray[Any]) -> FloatArray:
        """Return probabilities that rows list labels themselves: (n_samples, n_labels).

        Parameters
        ----------
        proba : array of shape (n_samples, n_columns)
        labels : int array of shape (n_labels,)
            Nodes; those without a column have the probability 0.
        """
        nodes: Any = self.nodes
        found = np.zeros((len(proba), len(labels)))
        for part in (slice(0, self.n_whole), slice(self.n_whole, len(nodes))):  # own labels last
            order = np.argsort(nodes[part]) + part.start
            place = np.searchsorted(nodes[order], labels).clip(max=max(len(order) - 1, 0))
            there = nodes[order][place] == labels if len(order) else np.zeros(len(labels), bool)
            found[:, there] = proba[:, order[place[there]]]
        return found


class LabelTreeFit(NamedTuple):
    """What is needed to fit a label tree.

    Parameters
    ----------
    options : LabelOptions
    targets : sparse bool array of shape (n_samples, n_columns)
    weights : array of shape (n_samples,), optional
    router : LinearRouter
    chooses : bool
        Whether the weight of the loss and the scale of sparse rows are chosen on held-out rows.
    searches : bool
        Whether labels are the classes of the tree, found by a search; else all columns are labels.
    beam : int
    exponent : float or None
        None: found on held-out rows.
    tunes : bool
        Whether the threshold is tuned on held-out rows.
    seed : int
    run : callable
    nodes : int array of shape (n_columns,), optional
        As in `LabelTree`.
    n_whole, min_labels, max_labels : int
    """

    options: LabelOptions
    targets: sparse.csr_array
    weights: FloatArray | None
    router: LinearRouter
    chooses: bool
    searches: bool
    beam: int
    exponent: float | None
    tunes: bool
    seed: int
    run: Run
    nodes: NDArray[np.int32] | None = None
    n_whole: int = 0
    min_labels: int = 0
    max_labels: int = 0

    def fit(self, X: Any) -> tuple[LabelTree, LinearRouter, dict[str, float]]:
        """Choose the settings, if they are open, and train the classifiers on all rows.

        Returns
        -------
        tree : LabelTree
        router : LinearRouter
            With the settings that were chosen.
        scores : dict of str to float
            Measures of the settings that were compared, on held-out rows: nDCG at 5 of the labels
            or, along a given hierarchy, the micro-averaged area below the precision-recall curve
            of its nodes.
        """
        trial = _Trial(self, X)
        setting = trial.choose() if self.chooses else trial.first()
        scale, router = trial.scale(setting.idf), trial.router(setting)
        reached = self.options.reached(self.targets)
        tree = self._train(_scaled(X, scale), reached, self.weights, router, scale)
        if self.exponent is not None:
            tree.exponent = self.exponent
        held = trial.held(setting) if self.tunes or self.exponent is None else None
        if held is not None:
            tree.exponent = held.exponent if self.exponent is None else self.exponent
            tree.threshold = float(held.threshold**tree.exponent)
        return tree, router, {trial.name(each): one.score for each, one in trial.found.items()}

    def _train(
        self,
        X: Any,
        reached: sparse.csc_array,
        weights: FloatArray | None,
        router: LinearRouter,
        scale: TermScale | None,
    ) -> LabelTree:
        problem = SetProblem(X, reached, self.options.table, weights, self.seed, self.run)
        routes = router.train_sets(problem)
        leaves = self.options.leaves
        most = int(np.diff(self.targets.indptr).max(initial=1))
        n_answers = max(1, min(len(leaves), max(20, 2 * most)))
        return LabelTree(
            *self.options[:3], routes, scale, self.searches,
            n_answers=n_answers, nodes=self.nodes, n_whole=self.n_whole,
            min_labels=self.min_labels, max_labels=self.max_labels,
        )  # fmt: skip


def _have_length_one(X: sparse.csr_array) -> bool:
    """Return whether all rows have length one, but for those that are empty."""
    squares = np.bincount(owners(X), X.data * X.data, minlength=X.shape[0])
    return bool((np.abs(squares[squares > 0] - 1.0) < _UNIT).all())


def _scaled(X: Any, scale: TermScale | None) -> Any:
    return X if scale is None else scale.transform(X)


# ---------------------------------------------------------------------- choosing on held-out rows


class _Setting(NamedTuple):
    """Settings that are compared: C, and the scale of the rows, None for unchanged rows."""

    C: float
    idf: bool | None


@dataclass(eq=False)
class _Held:
    """Results on held-out rows: a measure, and pairs of rows and labels that tell the rest.

    Parameters
    ----------
    score : float
    pairs : tuple of arrays of shape (n_pairs,)
        Scores, whether they are true, and weights.
    ranked : array of shape (n_pairs,)
        Scores that the threshold is compared with.
    n_true : float
        Weight of all true labels.
    """

    score: float
    pairs: Any
    ranked: FloatArray
    n_true: float

    @cached_property
    def threshold(self) -> float:
        """Threshold with the best micro-F1."""
        _, hits, weights = self.pairs
        return _best_threshold(self.ranked, hits, weights, self.n_true)

    @cached_property
    def exponent(self) -> float:
        """Exponent of the scores with the largest likelihood."""
        return _best_exponent(*self.pairs)

    def settle(self) -> _Held:
        """Compute both, and forget the pairs, which may be many."""
        _ = self.threshold, self.exponent
        self.pairs, self.ranked = None, np.empty(0)
        return self


class _Trial:
    """Classifiers on two thirds of the rows with different settings, compared on the others."""

    def __init__(self, fit: LabelTreeFit, X: Any) -> None:
        self.fit, self.X = fit, X
        self.found: dict[_Setting, _Held] = {}
        self._scales: dict[bool, TermScale] = {}
        self._parts: tuple[Any, Any, Any] | None = None  # a scale, training and held-out rows
        rng = np.random.default_rng([fit.seed, 1])
        n_leaves = len(fit.options.leaves)
        self.is_large = count_rows(X) * n_leaves > _LARGE
        share = _TRIAL_SHARE if self.is_large else 1.0
        n_trial = min(_TRIAL_ROWS, int(share * count_rows(X)))
        rows = rng.permutation(count_rows(X))[:n_trial]
        n_held = int(_HELD_OUT * len(rows))
        self.held_rows, self.train_rows = np.sort(rows[:n_held]), np.sort(rows[n_held:])

    @cached_property
    def _positives(self) -> float:
        """Mean number of rows of a label."""
        leaves = self.fit.options.leaves
        return float(self.fit.targets[:, leaves].nnz / max(len(leaves), 1))

    def scale(self, idf: bool | None) -> TermScale | None:
        """Return the scale of all rows."""
        if idf is None:
            return None
        if idf not in self._scales:
            self._scales[idf] = TermScale(idf).fit(self.X, self.fit.weights)
        return self._scales[idf]

    def router(self, setting: _Setting) -> LinearRouter:
        """Return the router with some settings."""
        found = copy(self.fit.router)  # without what a clone checks
        found.C = setting.C
        return found

    def name(self, setting: _Setting) -> str:
        """Return the name of settings, for users."""
        how = {None: "", True: ", rows of length one with idf", False: ", rows of length one"}
        return f"C={setting.C:.3g}{how[setting.idf]}"

    def first(self) -> _Setting:
        """Return the settings that need no comparison."""
        given = self.fit.router.C
        idf: bool | None = None
        if self.fit.chooses and sparse.issparse(self.X):
            # rows of length one are weighted already, such as by tf-idf
            idf = not (self.X.data < 0).any() and not _have_length_one(self.X)
        if not isinstance(given, str):
            return _Setting(float(given), idf)
        base = 1.0
        if not self.fit.searches or self._positives >= _MANY_POSITIVES:
            base = _FACTORS[0]  # nodes of a given hierarchy have the rows of all labels below
        elif self._positives <= _FEW_POSITIVES:
            base = _FACTORS[1]
        if idf is not None:
            return _Setting(base, idf)  # rows of length one
        return _Setting(scaled_cost(FlatRows.of(self.X), self.fit.weights, base), None)

    def choose(self) -> _Setting:
        """Return the best settings: first of the rows, then C in steps while they help."""
        best = self.first()
        if self.held(best) is None:
            return best
        if best.idf:
            best = self._better([best, best._replace(idf=False)])
        first = best
        n_steps = 1 if self.is_large else 2 if self.fit.searches else 3
        up_first = self.fit.searches and self._positives <= _FEW_POSITIVES
        for factor in _FACTORS[::-1] if up_first else _FACTORS:
            for power in range(1, n_steps + 1):
                other = first._replace(C=first.C * factor**power)
                if self._better([best, other]) != other:
                    break
                best = other
            if best != first:
                break
        return best

    def _better(self, settings: list[_Setting]) -> _Setting:
        """Return the best of some settings; the first of equal ones."""
        return max(settings, key=self._score)

    def _score(self, setting: _Setting) -> float:
        held = self.held(setting)
        return -1.0 if held is None else held.score

    def held(self, setting: _Setting) -> _Held | None:
        """Return the results of settings; None if there are no held-out rows with labels."""
        if setting in self.found:
            return self.found[setting]
        fit, weights = self.fit, self.fit.weights
        truth, targets = self._targets
        if not self._n_true.any() or not targets.nnz:
            return None
        if self._parts is None or self._parts[0] != setting.idf:
            X = _scaled(self.X, self.scale(setting.idf))
            rows = take_rows(X, self.train_rows), take_rows(X, self.held_rows)
            self._parts = setting.idf, *rows
        _, train, held = self._parts
        part = None if weights is None else weights[self.train_rows]
        # the rows are scaled already
        tree = fit._train(train, self._reached, part, self.router(setting), None)
        each = np.ones(len(self.held_rows)) if weights is None else weights[self.held_rows]
        self.found[setting] = _measure(tree, held, truth, self._n_true, each, fit)
        return self.found[setting]

    @cached_property
    def _targets(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Targets of the held-out rows and of those that are trained on."""
        targets = self.fit.targets
        return targets[self.held_rows], targets[self.train_rows]

    @cached_property
    def _reached(self) -> sparse.csc_array:
        """Options that the rows that are trained on reach."""
        return self.fit.options.reached(self._targets[1])

    @cached_property
    def _n_true(self) -> NDArray[Any]:
        """Number of labels of the held-out rows."""
        return np.diff(self._targets[0][:, self.fit.options.leaves].indptr)


def _measure(
    tree: LabelTree,
    X: Any,
    truth: sparse.csr_array,
    n_labels: NDArray[Any],
    weights: FloatArray,
    fit: LabelTreeFit,
) -> _Held:
    """Measure a tree on held-out rows, of which `n_labels` are the numbers of labels."""
    if fit.searches:
        columns, scores = tree.best(X, max(_AT, tree.n_answers), fit.beam)
        hits = _are_true(truth, columns)
        measure = _ndcg(hits[:, :_AT], n_labels, weights)
        each = np.broadcast_to(weights[:, None], hits.shape)
        n_true = float(weights @ n_labels)
        pairs = scores[columns >= 0], hits[columns >= 0], each[columns >= 0]
        ranked = scores.copy()
        ranked[:, : tree.min_labels] = _ALWAYS  # whatever the threshold
        return _Held(measure, pairs, ranked[columns >= 0], n_true)
    rows = np.arange(max(1, min(len(weights), _CELLS // truth.shape[1])))
    whole = slice(None) if tree.nodes is None else slice(0, tree.n_whole)
    parts = [
        tree.proba(take_rows(X, rows[chunk]))[:, whole]
        for chunk in row_chunks(len(rows), 4 * truth.shape[1])
    ]
    scores = np.concatenate(parts)
    hits = truth[rows][:, whole].toarray().astype(bool)
    each = np.broadcast_to(weights[rows, None], hits.shape)
    n_true = float((each * hits).sum())
    pairs = scores.ravel(), hits.ravel(), each.ravel()
    measure = 0.0
    if n_true > 0:
        from sklearn.metrics import average_precision_score  # which imports scipy.stats

        measure = float(average_precision_score(pairs[1], pairs[0], sample_weight=pairs[2]))
    return _Held(measure, pairs, pairs[0], n_true).settle()


def _are_true(truth: sparse.csr_array, columns: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return whether columns are true of their rows: bool, of the shape of `columns`."""
    n_columns = truth.shape[1]
    known = np.sort(owners(truth) * n_columns + truth.indices)
    wanted = np.arange(len(columns))[:, None] * n_columns + columns
    place = np.searchsorted(known, wanted).clip(max=max(len(known) - 1, 0))
    return np.asarray((known[place] == wanted) & (columns >= 0))


def _ndcg(hits: NDArray[np.bool_], n_true: NDArray[Any], weights: FloatArray) -> float:
    """Return the mean nDCG of rows with labels."""
    gains = 1.0 / np.log2(np.arange(hits.shape[1]) + 2.0)
    ideal = np.concatenate([[0.0], np.cumsum(gains)])[np.minimum(n_true, hits.shape[1])]
    has = n_true > 0
    return float(np.average((hits[has] @ gains) / ideal[has], weights=weights[has]))


def _best_threshold(
    scores: FloatArray, hits: NDArray[np.bool_], weights: FloatArray, n_true: float
) -> float:
    """Return the threshold of all labels with the best micro-F1, between two scores.

    Scores above 1 are those of labels that are predicted in any case.
    """
    order = np.argsort(-scores, kind="stable")
    scores, right = scores[order], np.cumsum((weights * hits)[order])
    f1 = 2.0 * right / (np.cumsum(weights[order]) + n_true)
    f1[:-1][scores[:-1] == scores[1:]] = -1.0  # equal scores are predicted together
    last = int(np.argmax(f1))
    lower = scores[last + 1] if last + 1 < len(scores) else 0.0
    return float((min(scores[last], 1.0) + lower) / 2.0)


def _best_exponent(scores: FloatArray, hits: NDArray[np.bool_], weights: FloatArray) -> float:
    """Return the exponent of the scores with the largest likelihood."""
    logs = np.log(np.clip(scores, 1e-12, 1.0 - 1e-9))

    def loss(log_exponent: float) -> float:
        found = np.exp(log_exponent) * logs
        missed = np.log(-np.expm1(np.minimum(found, -1e-12)))
        return -float(weights @ np.where(hits, found, missed))

    return float(np.exp(optimize.minimize_scalar(loss, bounds=_EXPONENTS, method="bounded").x))


def set_router(sparse_rows: bool, loss: str = "squared_hinge") -> LinearRouter:
    """Return the router that is used for label sets by default."""
    return LinearRouter(loss, tol=0.1, prune=_PRUNE if sparse_rows else 0.0)
