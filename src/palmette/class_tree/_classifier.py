"""Routers by name, as objects, or made of scikit-learn classifiers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.utils import check_array, check_consistent_length, check_random_state

from palmette._arrays import count_rows, take_rows
from palmette.base._answers import OnePath
from palmette.base._classifier import HierarchicalClassifier
from palmette.base._fitting import Threads, check_target, check_weights, path_target
from palmette.base._temperature import fit_exponent, held_out_third, raise_to
from palmette.class_tree._linear import LinearRouter
from palmette.class_tree._linear_routes import check_routes
from palmette.class_tree._routers import EstimatorRouter, SpectralRouter
from palmette.class_tree._routing import OptionTable, Router, Routes, RoutingProblem
from palmette.class_tree._search import best_labels, class_scores
from palmette.decisions._decode import normalize_rows
from palmette.decisions._rules import Beam, BestPath, TopDown, resolve_decoding
from palmette.exceptions import HierarchyError, LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

__all__ = ["ClassTreeClassifier", "DagSpace", "resolve_router"]


def _adaboost() -> Router:
    from palmette.class_tree._boosted_router import BoostedRouter

    return BoostedRouter()


_ROUTERS: dict[str, Callable[[], Router]] = {
    "adaboost": _adaboost,
    "linear": LinearRouter,
    "logistic": lambda: LinearRouter("logistic"),
    "spectral": SpectralRouter,
}


def resolve_router(router: Any) -> Router:
    """Return a router of one's own.

    Parameters
    ----------
    router : str, Router or scikit-learn classifier

    Returns
    -------
    Router

    Examples
    --------
    >>> resolve_router("logistic")
    LinearRouter(loss='logistic')
    """
    if isinstance(router, Router):
        return clone(router)
    if isinstance(router, str) and router in _ROUTERS:
        return _ROUTERS[router]()
    if hasattr(router, "fit") and not isinstance(router, type):
        return EstimatorRouter(router)
    raise PalmetteError(
        f"router={router!r} is unknown: expected one of {sorted(_ROUTERS)}, an object of "
        "palmette.routing, or a scikit-learn classifier."
    )


IntArray = NDArray[np.int32]


class DagSpace:
    """The classes of a problem in a DAG, with the nodes above them: `LabelSpace` for DAGs.

    Parameters
    ----------
    hierarchy : Hierarchy
    classes : int array of shape (n_classes,)
        Nodes that are labels, ascending.

    Examples
    --------
    >>> h = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("b", "y")])
    >>> DagSpace(h, h.leaves).marginals(np.array([[0.25, 0.75]])).ravel().tolist()
    [1.0, 0.25, 1.0, 0.25, 0.75]
    """

    def __init__(self, hierarchy: Hierarchy, classes: IntArray) -> None:
        self.hierarchy = hierarchy
        self.classes = np.asarray(classes, dtype=np.int32)
        above = sparse.csr_array(hierarchy.closure[self.classes])
        self.nodes = np.unique(above.indices).astype(np.int32)
        self._below = sparse.csr_array(above[:, self.nodes].T, dtype=np.float64)

    @property
    def n_classes(self) -> int:
        """Number of labels."""
        return len(self.classes)

    @property
    def n_active(self) -> int:
        """Number of nodes with a label at or below them."""
        return len(self.nodes)

    def marginals(self, proba: Any) -> NDArray[np.float64]:
        """Probability of every active node, (n_active, n_samples): of all classes below it."""
        return np.minimum(self._below @ np.asarray(proba, dtype=np.float64).T, 1.0)


FloatArray = NDArray[np.float64]

_HELD_OUT = 2**24  # most probabilities that the exponent is fitted to: 128 MiB


class ClassTreeClassifier(HierarchicalClassifier):
    """Classify along a tree over the classes, asking only the nodes on the best few paths.

    At every node a router scores the options, scores add up along a path, and the label of the best
    path is the answer. Groups of many classes are simply wide nodes, whose classes are told apart
    one against the rest. Where a class stands below several groups, the best path to it counts.

    Parameters
    ----------
    tree : learner of a hierarchy, Hierarchy, or None
        A learner, such as ``MFTree()``, is cloned and fitted inside `fit`. None takes the hierarchy
        from the paths in y; where y holds plain labels it learns
        ``MFTree("auto", leaf_size="auto")``.
    router : "linear", "logistic", "adaboost", "spectral", Router, or scikit-learn classifier
        What tells the options of a node apart.
    decoding : "beam", "greedy", "exact", or a rule of `palmette.decoding`
        Follow the best `beam_width` paths, or the best one, or ask all nodes. Other rules decide by
        the probabilities, which ask all nodes too.
    beam_width : int
        Paths kept by "beam".
    calibration : None, float, or "out_of_fold"
        Power to which probabilities of classes are raised before they are scaled to sum to one:
        above 1 they become surer, and the most probable class stays so. "out_of_fold" finds the
        power that makes a third of the rows most likely to classifiers of the other two thirds,
        which costs about as much as `fit` without.
    n_jobs : int, optional
        Threads; the answers do not depend on it.
    random_state : int, RandomState or None
        Seeds the tree and the classifiers, as far as they draw; None leaves their own seeds.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    hierarchy_learner_ : learner
        Where the hierarchy was learnt.
    classes_ : array of shape (n_classes,)
    options_ : OptionTable
        The choices from the root to the classes.
    routes_ : Routes
        The fitted classifiers of all nodes.
    exponent_ : float
        The power that `calibration` came to.

    Notes
    -----
    Classifiers of a hinge loss score ``-max(0, 1 - margin)^2``: an option that is well taken costs
    nothing, so that paths of unequal depth can be compared. Probabilities are then the softmax of
    the scores of the classes. Where the router gives probabilities, those of the classes are
    products along paths.

    Probabilities belong to the model, not to the search: `predict_proba` always asks all nodes, its
    rows sum to one, and its largest entry is the answer of ``decoding="exact"``. With a beam,
    `predict` and `predict_top_k` cost as much as the depth and not as the number of classes; the
    best label differs from the most probable one where the beam lost it on the way.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> from palmette.class_tree import RandomTree
    >>> clf = ClassTreeClassifier(RandomTree(random_state=0)).fit(X[:1000] / 16, y[:1000])
    >>> clf.predict(X[1000:1005] / 16)
    array([1, 4, 0, 5, 3])
    """

    _takes_several_paths: ClassVar[bool] = False

    def __init__(
        self,
        tree: Any = None,
        *,
        router: Any = "linear",
        decoding: Any = "beam",
        beam_width: int = 5,
        calibration: float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.tree = tree
        self.router = router
        self.decoding = decoding
        self.beam_width = beam_width
        self.calibration = calibration
        self.n_jobs = n_jobs
        self.random_state = random_state

    # ------------------------------------------------------------------ parts

    @property
    def hierarchy(self) -> Any:
        """The tree, under the name that other classifiers have for it."""
        return self.tree

    def _make_tree(self) -> Any:
        """Hierarchy, unfitted learner, or None for what y holds."""
        tree = self.tree
        if tree is None or isinstance(tree, Hierarchy):
            return tree
        if hasattr(tree, "fit") and not isinstance(tree, type):
            return clone(tree)
        raise HierarchyError(
            f"tree is a {type(tree).__name__}: expected a palmette.Hierarchy, a learner of one "
            "(such as palmette.MFTree()) or None."
        )

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ClassTreeClassifier:
        """Learn the tree, if it is not given, and the classifiers of its nodes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Tables and texts too, where the tree is given and the router is a classifier that takes
            them.
        y : labels of n_samples rows
            In any form that `NodeLabels.encode` reads, one path a row.
        sample_weight : array-like of shape (n_samples,), optional
            Rows of weight 0 are left out.

        Returns
        -------
        self
        """
        self._check_width()
        self._check_calibration()
        router = resolve_router(self.router)
        X = self._read_features(X, reset=True)
        weights = check_weights(sample_weight, count_rows(X))
        used = None if weights is None or weights.all() else weights > 0
        check_consistent_length(X, y)
        if weights is not None and used is not None:  # a weight of zero is no copy of a row
            X, weights = take_rows(X, np.flatnonzero(used)), weights[used]
        self._any_rows = router.takes_any_rows
        rng = None if self.random_state is None else check_random_state(self.random_state)
        X = self._prepare(X, rng, reset=True)
        codes = self._read_labels(X, y, weights, used, rng)
        self.options_ = OptionTable.of(self.hierarchy_, self.space_.classes)
        seed = None if rng is None else int(rng.randint(2**31 - 1))
        with Threads(self.n_jobs) as threads:
            problem = RoutingProblem(X, codes, self.options_, weights, seed, threads.map)
            self.routes_ = router.train(problem)
            self.exponent_ = self._find_exponent(router, problem)
        return self

    def _find_exponent(self, router: Router, problem: RoutingProblem) -> float:
        """Power of probabilities, as given or by classifiers that saw two thirds of the rows."""
        if self.calibration != "out_of_fold":
            return 1.0 if self.calibration is None else float(self.calibration)
        held = held_out_third(problem.codes, problem.seed or 0)
        seen, unseen = np.flatnonzero(~held), np.flatnonzero(held)
        if not unseen.size:  # no class has three rows
            return 1.0
        routes = router.train(problem.restrict(seen))
        at_most = max(1, _HELD_OUT // self.space_.n_classes)
        if len(unseen) > at_most:
            unseen = unseen[np.linspace(0, len(unseen) - 1, at_most).astype(np.int64)]
        proba = self._proba_by(routes, take_rows(problem.X, unseen))
        weights = np.ones(len(unseen)) if problem.weights is None else problem.weights[unseen]
        return fit_exponent(proba, problem.codes[unseen], weights)

    def _prepare(self, X: Any, rng: Any = None, *, reset: bool = False) -> Any:
        """X as the tree and the router take it: numbers, CSR or dense, unless they take all."""
        if self._any_rows:
            return X
        return check_array(X, accept_sparse="csr", dtype=np.float64)

    def _read_labels(
        self, X: Any, y: Any, weights: FloatArray | None, used: Any, rng: Any
    ) -> IntArray:
        """Set ``hierarchy_``, ``space_`` and ``classes_``; returns the class of every used row.

        X and weights are those of the used rows, y of all.
        """
        tree = self._make_tree()
        if isinstance(tree, Hierarchy):
            return self._learn_paths(NodeLabels.encode(check_target(y), tree), used)
        labels = NodeLabels.encode(check_target(y))
        if labels.form.kind != "names":
            if tree is not None:
                raise LabelError(
                    f"tree={self.tree!r} is learnt over labels, but y holds paths or sets. Give "
                    "one label a row, or leave tree at None."
                )
            return self._learn_paths(labels, used)
        terminals = labels.terminals if used is None else labels.terminals[used]
        nodes, codes = np.unique(terminals, return_inverse=True)
        names = _plain(labels.form.class_labels(nodes, labels.hierarchy))[codes]
        learner = default_tree() if tree is None else tree
        if rng is not None and "random_state" in learner.get_params():
            learner.set_params(random_state=int(rng.randint(2**31 - 1)))
        given = {} if weights is None else {"sample_weight": weights}
        self.hierarchy_learner_ = learner.fit(X, names, **given)
        learnt = NodeLabels.encode(names, learner.hierarchy_)
        learnt.form = replace(learnt.form, container=labels.form.container)
        return self._learn_paths(learnt, None)

    def _learn_paths(self, labels: NodeLabels, used: NDArray[np.bool_] | None) -> IntArray:
        """Set what follows from labels; returns the class of every used row."""
        if labels.hierarchy.is_tree:
            answers, codes = path_target(labels, used)
        else:
            terminals = labels.terminals if used is None else labels.terminals[used]
            classes, codes = np.unique(terminals, return_inverse=True)
            answers = OnePath(DagSpace(labels.hierarchy, classes), labels.form)
        self._set_answers(answers)
        return codes.astype(np.int32)

    # ------------------------------------------------------------------ answering

    def _check_width(self) -> None:
        if not (isinstance(self.beam_width, int | np.integer) and self.beam_width >= 1):
            raise PalmetteError(f"beam_width={self.beam_width!r}: expected a positive integer.")

    def _check_calibration(self) -> None:
        given = self.calibration
        if given is None or given == "out_of_fold":
            return
        if isinstance(given, Real) and np.isfinite(given) and given > 0:
            return
        raise PalmetteError(
            f"calibration={given!r}: expected None, a positive number or 'out_of_fold'."
        )

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        if hasattr(self, "routes_"):
            check_routes(self.routes_, self.options_, self.n_features_in_)

    def _width(self) -> int | None:
        """Paths that the decision rule follows; 0 for all, None where it decides otherwise."""
        rule = self.decoding
        if rule == "beam":
            self._check_width()
            return self.beam_width
        if rule in ("greedy", "top_down") or isinstance(rule, TopDown):
            return 1
        if rule in ("exact", "best_path") or isinstance(rule, BestPath):
            return 0
        if isinstance(rule, Beam):
            return rule.width
        if rule == "auto" or resolve_decoding(rule) is None:
            raise PalmetteError(
                f"decoding={rule!r} is unknown: expected 'beam', 'greedy', 'exact'."
            )
        if isinstance(self.space_, DagSpace):
            raise HierarchyError(
                f"decoding={rule!r} needs a tree, but here classes stand below several groups: "
                "expected 'beam', 'greedy' or 'exact'."
            )
        return None

    def _decide(self, X: Any) -> IntArray:
        width = self._width()
        if width is None:
            return super()._decide(X)
        if width:
            return self.space_.classes[self._search(X, width)[0][:, 0]]
        order = self._answers.class_order  # of equal probabilities the first label wins
        best = [table[:, order].argmax(axis=1) for table in self._tables(X)]
        return self.space_.classes[order[np.concatenate(best)]]

    def _search(self, X: Any, width: int) -> tuple[IntArray, FloatArray]:
        """Labels and values of the best paths, both of shape (n_samples, width)."""
        table = self.options_
        width = min(width, table.n_classes)

        def follow(part: Any) -> tuple[IntArray, FloatArray]:
            rows = self.routes_.prepare(self._prepare(part))
            return best_labels(table, self.routes_, rows, count_rows(part), width)

        held = 2 * width * int(table.sizes.max())
        with Threads(self.n_jobs) as threads:
            share = -(-count_rows(X) // threads.n_threads)
            pieces = [
                take_rows(X, slice(start, start + share))
                for start in range(0, count_rows(X), share)
            ]
            found = threads.map(
                follow, [part for each in pieces for part in self._parts(each, held)]
            )
        labels, values = zip(*found, strict=True)
        return np.concatenate(labels), np.concatenate(values)

    def _class_proba_of(self, X: Any) -> FloatArray:
        proba = self._proba_by(self.routes_, self._prepare(X))
        return proba if self.exponent_ == 1.0 else raise_to(proba, self.exponent_)

    def _proba_by(self, routes: Routes, X: Any) -> FloatArray:
        """Probabilities of classes before calibration."""
        scores = class_scores(self.options_, routes, routes.prepare(X), count_rows(X))
        if routes.are_log_proba:
            return normalize_rows(np.exp(scores))
        return np.asarray(softmax(scores, axis=1))

    def _top_k(self, X: Any, k: int) -> tuple[IntArray, FloatArray]:
        """Best labels; with "beam" or "greedy" the ends of the best paths, at least `k` of them.

        With a beam, and a router without probabilities or calibration, probabilities are shares
        among the labels that the beam reached.
        """
        width = self._width()
        if not width:
            return super()._top_k(X, k)
        k = min(k, self.options_.n_classes)
        labels, values = self._search(X, max(width, k))
        if (labels[:, :k] < 0).any():  # paths that met in a DAG have left too few
            return super()._top_k(X, k)
        if self.routes_.are_log_proba and self.exponent_ == 1.0:
            shares = np.exp(values)
        else:
            shares = softmax(self.exponent_ * values, axis=1)
        return self.space_.classes[labels[:, :k]], shares[:, :k]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = resolve_router(self.router).takes_sparse
        return tags


def _plain(names: NDArray[Any]) -> NDArray[Any]:
    """Names as an array of numbers where they are a list of numpy's numbers."""
    values = names.tolist()
    return np.array(values) if all(isinstance(v, np.number) for v in values) else names


def default_tree() -> Any:
    """Return the learner of those who give none."""
    from palmette.class_tree._spectral import MFTree

    return MFTree("auto", leaf_size="auto")
