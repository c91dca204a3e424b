"""ClassTreeEnsemble: classifiers along several class trees, whose predictions are averaged."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.utils import check_random_state

from palmette._arrays import FloatArray, IntArray, count_rows, is_text, read_rows, take_rows
from palmette.base._answers import true_nodes
from palmette.base._classifier import HierarchicalClassifier
from palmette.base._column_units import Kind
from palmette.base._fitting import check_weights
from palmette.base._temperature import fit_inverse_temperature, held_out_third, temperature_scaled
from palmette.class_tree._chosen_router import resolve_router, unit_kind_of_router
from palmette.class_tree._classifier import ClassTreeClassifier
from palmette.class_tree._label_set_answers import (
    SEARCHES,
    closed_sets,
    fill_empty_sets,
    one_label_each,
    votes_for_sets,
)
from palmette.class_tree._learner import ClassTreeLearner
from palmette.class_tree._simple import RandomTree, ShuffledTree
from palmette.decisions._rules import resolve_decoding
from palmette.decisions._thresholds import Threshold
from palmette.exceptions import PalmetteError
from palmette.labels._labels import NodeLabels

_HELD_OUT = 2**24  # maximum number of probabilities used for calibration: 128 MiB
_TINY = np.finfo(np.float64).tiny


class ClassTreeEnsemble(HierarchicalClassifier):
    """Classify along several trees over the classes, and average their predictions.

    A tree makes errors where it separates similar classes too early; another tree separates them
    later. The trees after the first differ from it by the seed of the learner, by the order of the
    classes and, with `bootstrap`, by the rows.

    Parameters
    ----------
    tree : learner of a hierarchy, Hierarchy, or None
        As in `ClassTreeClassifier`. None takes the hierarchy from the paths in y; if y has plain
        labels, it is ``RandomTree(4)``, which gives the most diverse trees; if it has label sets,
        ``KMeansTree()``.
    n_trees : int
        Number of trees.
    router : "linear", "logistic", "adaboost", "spectral", Router, or scikit-learn classifier
        Trains the classifiers of the nodes; see `ClassTreeClassifier`. Models of all classes, such
        as "kernel", and "auto", which chooses per tree, gain little from several trees.
    decoding : "beam", "greedy", "exact", or a rule of `palmette.decoding`
        How every tree is searched. With "beam" and "greedy" the trees vote, with probabilities as
        weights, for the labels that the search finds; otherwise the mean probabilities of all
        labels decide.
    beam_width : int
        Number of paths that "beam" keeps.
    bootstrap : bool
        Whether the trees after the first are fitted to rows drawn with replacement, as many per
        class as it has. It is needed if the learner depends neither on random numbers nor on the
        order of the classes; the router must accept sample weights.
    calibration : None, float, or "out_of_fold"
        Exponent of the mean probabilities, as in `ClassTreeClassifier`. "out_of_fold" fits all
        trees a second time, to two thirds of the rows.
    standardize : bool
        Whether the columns of a dense X are scaled to mean 0 and standard deviation 1, as in
        `ClassTreeClassifier`.
    n_jobs : int, optional
        Number of threads; predictions do not depend on it.
    random_state : int, RandomState or None
    verbose : int
        Whether to print a line per tree.

    Attributes
    ----------
    estimators_ : list of ClassTreeClassifier
    hierarchy_ : Hierarchy
        The first tree.
    classes_ : array of shape (n_classes,)
    exponent_ : float
        Exponent of the probabilities, as set or found by `calibration`.
    threshold_ : float
        With label sets: the mean of the thresholds of the members.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = ClassTreeEnsemble(random_state=0).fit(X[:1000], y[:1000])
    >>> one = clf.estimators_[0]
    >>> bool(clf.score(X[1000:], y[1000:]) > one.score(X[1000:], y[1000:]))
    True
    """

    verbose: int = 0  # files may lack the parameter

    def __init__(
        self,
        tree: Any = None,
        *,
        n_trees: int = 5,
        router: Any = "linear",
        decoding: Any = "beam",
        beam_width: int = 5,
        bootstrap: bool = False,
        calibration: float | str | None = None,
        standardize: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.tree = tree
        self.n_trees = n_trees
        self.router = router
        self.decoding = decoding
        self.beam_width = beam_width
        self.bootstrap = bootstrap
        self.calibration = calibration
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __setstate__(self, state: dict[str, Any]) -> None:
        lacks = {"standardize": False} if "standardize" in self._get_param_names() else {}
        super().__setstate__({**lacks, **state})  # a parameter that older files lack

    @property
    def hierarchy(self) -> Any:
        """The tree, under the parameter name of the other classifiers."""
        return self.tree

    def _default_tree(self) -> Any:
        """Return the learner that is used when `tree` is None."""
        return RandomTree(4)

    def _tree_for(self, y: Any) -> Any:
        """Return the learner or hierarchy of the first tree; None for the paths in y."""
        if self.tree is not None or y is None:
            return self.tree
        plain = NodeLabels.encode(y, flat=True).form.kind == "names"
        return self._default_tree() if plain else None

    def _kind_of_units(self) -> Kind:
        return unit_kind_of_router(self.router, self.standardize)

    def _member(self, tree: Any) -> ClassTreeClassifier:
        """Return an unfitted classifier along one tree."""
        return ClassTreeClassifier(
            tree,
            router=self.router,
            decoding=self.decoding,
            beam_width=self.beam_width,
            standardize=self.standardize,
            n_jobs=self.n_jobs,
        )

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ClassTreeEnsemble:
        """Learn the trees, if they are not given, and the classifiers of their nodes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y, sample_weight : as in `ClassTreeClassifier.fit`

        Returns
        -------
        self
        """
        if not isinstance(self.n_trees, int | np.integer) or self.n_trees < 1:
            raise PalmetteError(f"n_trees={self.n_trees!r}: expected a positive integer.")
        X = self._read_features(X, reset=True)
        weights = check_weights(sample_weight, count_rows(X))
        rng = check_random_state(self.random_state)
        seeds = rng.randint(2**31 - 1, size=self.n_trees + 1).tolist()
        first = self._member(self._tree_for(y)).set_params(random_state=seeds[0])
        any_rows = resolve_router(first.router).takes_any_rows
        if not any_rows and (is_text(X) or hasattr(X, "columns")):
            read_rows(X, named=self, dtype=np.float64)  # an error names the ensemble
        first.set_params(calibration=self.calibration)._check_calibration()
        if self.n_trees > 1 and self.calibration is not None:
            first.set_params(calibration=None)  # the mean of the members is calibrated instead
        self._copy_labels(first.fit(X, y, weights))
        self._print_tree(1)
        self.estimators_ = [first, *self._fit_more(first, X, y, weights, seeds[1:-1])]
        self.exponent_ = first.exponent_
        self.__dict__.pop("threshold_", None)  # of an earlier fit
        if self._answers.by_node:
            self.threshold_ = float(np.mean([each.threshold_ for each in self.estimators_]))
            self.exponent_ = 1.0  # every member has its own
            return self
        if self.n_trees > 1 and self.calibration == "out_of_fold":
            self.exponent_ = self._fit_exponent(X, y, weights, seeds[-1])
        elif self.n_trees > 1 and self.calibration is not None:
            self.exponent_ = float(self.calibration)
        return self

    def _copy_labels(self, member: ClassTreeClassifier) -> None:
        """Copy the attributes that a fitted member has read from y."""
        self._set_answers(member._answers)
        if hasattr(member, "hierarchy_learner_"):
            self.hierarchy_learner_ = member.hierarchy_learner_

    def _fit_more(
        self, first: ClassTreeClassifier, X: Any, y: Any, weights: Any, seeds: list[int]
    ) -> list[ClassTreeClassifier]:
        """Fit the members after the first."""
        if not seeds:
            return []
        tree = getattr(first, "hierarchy_learner_", self.tree)
        if isinstance(tree, ClassTreeLearner):
            tree = ShuffledTree(clone(tree))
        codes = None
        if self.bootstrap and self._answers.by_node:
            codes = np.zeros(count_rows(X), dtype=np.int32)
            codes[[] if weights is None else weights == 0] = -1
        elif self.bootstrap:
            codes = self._codes_of(y, weights)
        members = []
        for seed in seeds:
            member = self._member(tree).set_params(random_state=seed)
            drawn = weights
            if codes is not None:
                times = _draw_within(codes, np.random.default_rng(seed))
                drawn = times if weights is None else times * weights
            members.append(member.fit(X, y, drawn))
            self._print_tree(1 + len(members))
        return members

    def _print_tree(self, number: int) -> None:
        if self.verbose:
            print(f"tree {number} of {self.n_trees}", flush=True)

    def _codes_of(self, y: Any, weights: FloatArray | None) -> IntArray:
        """Return the position of every row's class in ``space_.classes``; -1 for weight 0."""
        is_given = self._given_hierarchy() is not None
        nodes = true_nodes(self.hierarchy_, self.label_form_, y, is_given)
        codes = np.searchsorted(self.space_.classes, nodes).astype(np.int32)
        if weights is not None:
            codes[weights == 0] = -1
        return codes

    def _fit_exponent(self, X: Any, y: Any, weights: FloatArray | None, seed: int) -> float:
        """Fit the exponent to a third of the rows, with trees fitted to the other two thirds."""
        codes = self._codes_of(y, weights)
        weights = np.ones(len(codes)) if weights is None else weights
        used = np.flatnonzero(codes >= 0)
        held_out = used[held_out_third(codes[used], seed)]
        if not held_out.size:  # no class has three rows
            return 1.0
        test = held_out[:: max(1, len(held_out) * self.space_.n_classes // _HELD_OUT)]
        train_weights = weights.copy()
        train_weights[held_out] = 0.0
        part = clone(self).set_params(calibration=None, random_state=seed).fit(X, y, train_weights)
        proba = part._class_proba_of(take_rows(X, test))[:, _matching(part, self)]
        return fit_inverse_temperature(proba, codes[test], weights[test])

    # ------------------------------------------------------------------ prediction

    # `decoding` of the ensemble may be changed after `fit`; that of its members is not used
    _width, _check_width = ClassTreeClassifier._width, ClassTreeClassifier._check_width

    def _knows_all_classes(self) -> bool:
        return all(member._knows_all_classes() for member in self.estimators_)

    def _decide(self, X: Any) -> Any:
        if self._answers.by_node:
            return self._decide_sets(X)
        width = self._width()
        classes = self.space_.classes
        if width:
            return np.asarray(classes[self._most_voted(X, width)])
        if width is None:
            rule: Any = resolve_decoding(self.decoding)
            chosen = [
                rule.choose(self._class_proba_of(each), self.space_) for each in self._parts(X)
            ]
            return np.concatenate(chosen)
        order = self._answers.class_order  # of equal probabilities, the first label wins
        best = [self._class_proba_of(each)[:, order].argmax(axis=1) for each in self._parts(X)]
        return np.asarray(classes[order[np.concatenate(best)]])

    def _most_voted(self, X: Any, width: int) -> IntArray:
        """Return the class with the most votes per row, among those that the trees find."""
        first = self.estimators_[0]
        if len(self.estimators_) == 1:
            return np.asarray(first._search(X, width)[0][:, 0])
        rows, classes, votes = [], [], []
        for member in self.estimators_:
            found, values = member._search(X, width)
            shares = np.exp(values) if member.routes_.are_log_proba else softmax(values, axis=1)
            row, place = np.nonzero(found >= 0)
            rows.append(row)
            classes.append(_matching(self, member)[found[row, place]])
            votes.append(shares[row, place] + _TINY)
        every = (np.concatenate(votes), (np.concatenate(rows), np.concatenate(classes)))
        table = sparse.coo_array(every, (count_rows(X), self.space_.n_classes)).tocsr()
        # a column before scipy 1.15
        return np.asarray(table.argmax(axis=1)).astype(np.int32).reshape(-1)

    def _decide_sets(self, X: Any) -> Any:
        """Choose the nodes of rows with label sets: those above the threshold."""
        if self.decoding not in SEARCHES:
            return super()._decide(X)
        trees = [each.label_tree_ for each in self.estimators_]
        if min(tree.max_labels for tree in trees) == 1:
            return one_label_each(self, X)[0]
        votes = votes_for_sets(self._members(), X)
        if votes is None:
            closed = self._answers.decide(self._tables(X), Threshold(self.threshold_))
        else:
            votes = votes.tocoo()
            chosen = votes.data > self.threshold_
            nodes = self._answers.class_nodes[votes.col[chosen]]
            closed = closed_sets(self, votes.row[chosen], nodes, count_rows(X))
        return fill_empty_sets(self, X, (closed, None), min(tree.min_labels for tree in trees))[0]

    def _members(self) -> list[ClassTreeClassifier]:
        """Return the members, with the search of the ensemble, which may have been changed."""
        search = {"decoding": self.decoding, "beam_width": self.beam_width}
        return [copy(each).set_params(**search) for each in self.estimators_]

    def _node_proba_of(self, X: Any) -> FloatArray:
        """Return the mean probabilities of labels; groups of the first tree have the largest."""
        first, *others = self.estimators_
        answers: Any = self._answers
        tables = [
            each._answers.table_from_nodes(each._node_proba_of(X)) for each in (first, *others)
        ]
        if all(each.hierarchy_ == first.hierarchy_ for each in others):
            return np.asarray(np.mean(tables, axis=0))
        labels = zip(self.estimators_, tables, strict=True)
        mean = np.mean([each._answers.label_proba(table) for each, table in labels], axis=0)
        above = self.hierarchy_.closure[answers.class_nodes][:, answers.nodes].tocoo()
        found = np.zeros((answers.columns.n_columns, len(mean)))
        np.maximum.at(found, above.col, mean.T[above.row])
        return found.T.copy()

    def _top_k(self, X: Any, k: int) -> tuple[IntArray, FloatArray]:
        """Return the best labels of rows that have been read."""
        votes = votes_for_sets(self._members(), X, k) if self._answers.by_node else None
        if votes is None:
            return super()._top_k(X, k)
        k = min(k, len(self._answers.class_nodes))
        nodes, proba = np.empty((votes.shape[0], k), dtype=np.int32), np.zeros((votes.shape[0], k))
        for row, (start, end) in enumerate(pairwise(votes.indptr.tolist())):
            if end - start < k:  # the searches reached too few labels
                return super()._top_k(X, k)
            order = np.argsort(-votes.data[start:end], kind="stable")[:k]
            nodes[row] = self._answers.class_nodes[votes.indices[start:end][order]]
            proba[row] = votes.data[start:end][order]
        return nodes, proba

    def _class_proba_of(self, X: Any) -> FloatArray:
        return self._mean(member._class_proba_of(X) for member in self.estimators_)

    def _mean(self, proba: Any) -> FloatArray:
        """Return the calibrated mean probabilities, in the order of ``space_.classes``."""
        if len(self.estimators_) == 1:
            (only,) = proba
            return np.asarray(only)
        total: Any = 0.0
        for member, own in zip(self.estimators_, proba, strict=True):
            total = total + own[:, _matching(member, self)]
        mean = total / len(self.estimators_)
        return mean if self.exponent_ == 1.0 else temperature_scaled(mean, self.exponent_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        member = self._member(self.tree).__sklearn_tags__()
        tags.input_tags.sparse = member.input_tags.sparse
        tags.classifier_tags.multi_label = member.classifier_tags.multi_label
        return tags


def _matching(model: Any, other: Any) -> NDArray[np.intp]:
    """Return, for every class of another model, its position in the classes of a model."""
    order: NDArray[np.intp] = model._answers.class_order
    return order[np.argsort(other._answers.class_order)]


def _draw_within(codes: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return how often each row is drawn with replacement, within its class; 0 for code -1."""
    order = np.argsort(codes, kind="stable")
    order = order[codes[order] >= 0]
    sizes = np.bincount(codes[order])
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    drawn = starts + (rng.random(len(order)) * np.repeat(sizes, sizes)).astype(np.int64)
    return np.bincount(order[drawn], minlength=len(codes)).astype(np.float64)
