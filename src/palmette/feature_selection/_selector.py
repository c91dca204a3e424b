"""A parameter that bears the name of a method."""

from __future__ import annotations

import inspect
import warnings
from copy import copy
from importlib import import_module
from numbers import Integral
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from palmette._arrays import take_rows
from palmette.base._fitting import check_weights, path_target, read_labels, used_rows
from palmette.exceptions import HierarchyError, LabelError, PalmetteError
from palmette.feature_selection._base import FeatureScore, NodeScores, ScoringProblem
from palmette.feature_selection._ranking import (
    NodeColumns,
    NodeTransform,
    counts_by_node,
    top_features,
)
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._pictures import FittedHTML

__all__ = ["SCORES", "HierarchicalFeatureSelector", "ParameterNotMethod", "resolve_score"]


class ParameterNotMethod:
    """Hides a parameter from those who would call it.

    scikit-learn's tools take whatever an estimator has under the name ``score`` for its method of
    that name: a pipeline would call it. As a parameter it is set, searched, cloned and shown like
    any other, and read with ``get_params()["score"]``; but an object has no such attribute.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self._name] = value

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        raise AttributeError(
            f"{owner.__name__} has no method {self._name!r}; its parameter of that name is "
            f"get_params()[{self._name!r}]."
        )


# name, in small letters: (module, maker, parameters)
SCORES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "hirr": ("_hirr", "HirrScore", {}),
    "fisher": ("_univariate", "FisherScore", {}),
    "fsnm": ("_fsnm", "FsnmScore", {}),
    "mrmr": ("_mrmr", "MrmrScore", {}),
    "f_classif": ("_univariate", "UnivariateScore", {"function": "f_classif"}),
    "chi2": ("_univariate", "UnivariateScore", {"function": "chi2"}),
    "mutual_info": ("_univariate", "UnivariateScore", {"function": "mutual_info_classif"}),
    "mutual_info_classif": ("_univariate", "UnivariateScore", {"function": "mutual_info_classif"}),
    # as in the tables of the HiRR-FS paper
    "hierfisher": ("_univariate", "FisherScore", {}),
    "hierfsnm": ("_fsnm", "FsnmScore", {"lam": 10.0, "relative": False, "standardize": False}),
    "hiermrmr": ("_mrmr", "MrmrScore", {"bins": "round"}),
    "hier-fs": ("_hirr", "HirrScore.published", {"name": "hier-fs"}),
    "hirrpar-fs": ("_hirr", "HirrScore.published", {"name": "hirrpar-fs"}),
    "hirrsib-fs": ("_hirr", "HirrScore.published", {"name": "hirrsib-fs"}),
    "hirrfam-fs": ("_hirr", "HirrScore.published", {"name": "hirrfam-fs"}),
}


def resolve_score(score: Any) -> FeatureScore:
    """Return a score object for a name, a score function of scikit-learn, or such an object.

    Examples
    --------
    >>> resolve_score("fisher"), resolve_score("chi2")
    (FisherScore(), UnivariateScore(function='chi2'))
    """
    if isinstance(score, FeatureScore):
        return score
    if isinstance(score, str) and score.lower() in SCORES:
        module, maker, parameters = SCORES[score.lower()]
        found = attrgetter(maker)(import_module(f"palmette.feature_selection.{module}"))
        return found(**parameters)  # type: ignore[no-any-return]
    if inspect.isclass(score) and issubclass(score, FeatureScore):
        raise PalmetteError(
            f"score is the class {score.__name__}: expected an object, {score.__name__}()."
        )
    if callable(score) and not inspect.isclass(score):
        from palmette.feature_selection._univariate import UnivariateScore

        return UnivariateScore(score)
    raise PalmetteError(
        f"score={score!r} is unknown: expected one of {', '.join(map(repr, SCORES))}, a score "
        "function of scikit-learn such as f_classif, or an object of palmette.scoring."
    )


FloatArray = NDArray[np.float64]

_MOST_SCORES = 50_000_000  # numbers: 600 MB as they are kept


class HierarchicalFeatureSelector(
    FittedHTML,
    NodeTransform,
    SelectorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Chooses the features that tell the children of every node apart.

    Parameters
    ----------
    score : str, object of `palmette.scoring`, or callable
        What makes a feature good: ``"hirr"`` (sparse regression), ``"fisher"``, ``"fsnm"``,
        ``"mrmr"``, ``"f_classif"``, ``"chi2"``, ``"mutual_info"``; or a published name, with its
        published settings: ``"HierFisher"``, ``"HierFSNM"``, ``"HierMRMR"``, ``"Hier-FS"``,
        ``"HiRRpar-FS"``, ``"HiRRsib-FS"``, ``"HiRRfam-FS"``. An object such as
        ``HirrScore(parent=1.0)``, whose parameters searches reach as ``score__parent``. Or any
        score function of scikit-learn.
    hierarchy : Hierarchy, or a learner of one, optional
        A tree. By default taken from the paths in y, or a star.
    n_features_to_select : int, float, dict or None
        How many features a node gets: a count, or a share of all features, at least one. A dict has
        either by the path of the node, by its depth (an int), and under ``"default"``. None is no
        limit: all features that reach `threshold`, or that a sparse model uses, such as
        ``HirrScore(support_only=True)``.
    threshold : float, optional
        Least score of a feature to be chosen.
    n_jobs : int, optional
        Nodes scored at a time, where the score takes them one by one.
    random_state : int, RandomState or None
        For scores that draw random numbers.

    Attributes
    ----------
    node_supports_ : sparse bool array of shape (n_nodes, n_features)
        Features chosen at each node of ``hierarchy_``.
    node_scores_ : sparse float array of shape (n_nodes, n_features)
        Scores; of the chosen features only, where all would be more than 5e7 numbers.
    skipped_nodes_ : int array
        Inner nodes without a choice to make: they have one child, or no rows. They get no features.
    hierarchy_ : Hierarchy
    score_ : object of `palmette.scoring`
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    objective_, dual_gap_, lambda_max_, ...
        What else the score found; see there.

    Notes
    -----
    Where paths end at an inner node, "the path ends here" is one of its options. A feature's score
    is taken over the rows below the node. Of features of equal score the first are chosen.

    References
    ----------
    Zhao, Hu, Zhu, Chen and Wang, "A recursive regularization based feature selection framework for
    hierarchical classification", IEEE TKDE 33 (2021).

    Examples
    --------
    >>> X = np.array([[0.0, 0.0, 3.0], [0.0, 1.0, 3.0], [5.0, 0.0, 3.0], [5.0, 1.0, 3.0]])
    >>> y = [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "fern")]
    >>> selector = HierarchicalFeatureSelector("fisher", n_features_to_select=1).fit(X, y)
    >>> selector.get_support("animal"), selector.get_support("animal", indices=True)
    (array([False,  True, False]), array([1]))
    >>> selector.transform(X).shape, selector.transform(X, node="animal").shape
    ((4, 2), (4, 1))
    """

    score = ParameterNotMethod()

    def __init__(
        self,
        score: str | FeatureScore | Any = "hirr",
        *,
        hierarchy: Hierarchy | None = None,
        n_features_to_select: int | float | dict[Any, int | float] | None = 0.1,
        threshold: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.score = score
        self.hierarchy = hierarchy
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, those of the score and others among them as score__name.

        Parameters
        ----------
        deep : bool
            Whether to give the parameters of parts.

        Returns
        -------
        dict
        """
        own = {name: vars(self)[name] for name in self._get_param_names()}
        if deep:
            for name, part in list(own.items()):
                if hasattr(part, "get_params") and not isinstance(part, type):
                    own |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return own

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HierarchicalFeatureSelector:
        """Choose features for every node.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : labels of n_samples rows
            In any form that `NodeLabels.encode` reads, one path a row, or `NodeLabels`.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of k is k copies of a row; one of 0 leaves it out.

        Returns
        -------
        self
        """
        score = clone(resolve_score(vars(self)["score"]))
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        weights = check_weights(sample_weight, rows.shape[0])
        classes = self._learn_paths(rows, y, weights)
        used = used_rows(weights)
        if weights is not None and used is not None:
            rows, weights = take_rows(rows, np.flatnonzero(used)), weights[used]
        problem = ScoringProblem(
            _canonical(rows, score),
            self.space_,
            classes,
            weights,
            self.n_jobs,
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )
        if not len(problem.nodes):
            raise LabelError(
                f"y has one class only, {self.classes_[0]!r}: expected two or more to tell apart."
            )
        counts = self._counts(problem.nodes)
        problem.n_wanted = int(counts.max())
        self.skipped_nodes_ = _without_task(self.hierarchy_, problem.nodes)
        self.score_ = score
        self._choose(score.score(problem), problem.nodes, counts)
        return self

    def _learn_paths(self, X: Any, y: Any, weights: FloatArray | None) -> NDArray[np.int32]:
        """Read y; returns the class of every used row, as a position in ``space_.classes``."""
        labels, learner = read_labels(self.hierarchy, X, y, weights)
        if learner is not None:
            self.hierarchy_learner_ = learner
        labels.hierarchy.require_tree(type(self).__name__)
        check_consistent_length(X, labels.given)
        answers, codes = path_target(labels, used_rows(weights))
        self.hierarchy_, self.space_ = answers.hierarchy, answers.space
        self.classes_, self.label_form_ = answers.classes, answers.form
        return codes

    def _counts(self, nodes: NDArray[np.int32]) -> NDArray[np.int64]:
        return counts_by_node(
            self.n_features_to_select,
            nodes,
            self.hierarchy_,
            self.n_features_in_,
            is_given=isinstance(self.hierarchy, Hierarchy),
        )

    def _choose(
        self, scores: NodeScores, nodes: NDArray[np.int32], counts: NDArray[np.int64]
    ) -> None:
        """Set the supports and scores of all nodes, and what else was found."""
        keep_all = len(nodes) * self.n_features_in_ <= _MOST_SCORES
        chosen, kept = [], []
        for row, count in zip(scores.rows(), counts.tolist(), strict=True):
            best = top_features(row, count, self.threshold, scores.sparse_is_final)
            chosen.append(best)
            scored = np.flatnonzero(row) if keep_all else best
            kept.append((scored, row[scored]))
        for name, value in scores.facts.items():
            setattr(self, name, value)
        shape = (self.hierarchy_.n_nodes, self.n_features_in_)
        self._warn_of_empty(nodes, chosen, [values for _, values in kept])
        self.node_supports_ = _matrix(
            nodes, chosen, [np.ones(len(best), dtype=bool) for best in chosen], shape
        )
        self.node_scores_ = _matrix(
            nodes, [scored for scored, _ in kept], [values for _, values in kept], shape
        )

    def _warn_of_empty(
        self, nodes: NDArray[np.int32], chosen: list[Any], values: list[FloatArray]
    ) -> None:
        """Say which nodes got no feature, and why that may be; raise where none got any."""
        empty = [int(node) for node, best in zip(nodes, chosen, strict=True) if not len(best)]
        if not empty:
            return
        largest = max((float(each.max(initial=0.0)) for each in values), default=0.0)
        reasons = []
        if self.threshold is not None:
            high = f"threshold={self.threshold} is too high"
            reasons.append(f"{high}: the largest score is {largest:.6g}")
        if hasattr(self, "lambda_max_"):
            reasons.append(
                f"the penalty is too strong: with lam of lambda_max = {_shown(self.lambda_max_)} "
                "or more nothing is chosen"
            )
        why = ", or ".join(reasons) or "all scores are 0"
        if len(empty) == len(nodes):
            raise PalmetteError(f"no feature was chosen at any node: {why}.")
        names = [str(self.hierarchy_.path_strings[node]) for node in empty[:5]]
        more = f" and {len(empty) - 5} more" if len(empty) > 5 else ""
        warnings.warn(
            f"no feature was chosen at {', '.join(map(repr, names))}{more}: {why}.",
            UserWarning,
            stacklevel=4,
        )

    def reduced_to(self, n_features: int) -> HierarchicalFeatureSelector:
        """Return a fitted copy with fewer features: the best of those chosen at each node.

        Parameters
        ----------
        n_features : int
            For every node, at most.

        Returns
        -------
        HierarchicalFeatureSelector

        Examples
        --------
        >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]]), list("aabb")
        >>> selector = HierarchicalFeatureSelector("fisher", n_features_to_select=2).fit(X, y)
        >>> selector.reduced_to(1).get_support(0)
        array([ True, False])
        """
        check_is_fitted(self)
        if n_features < 1:
            raise PalmetteError(f"n_features={n_features!r}: expected a count of 1 or more.")
        fewer: HierarchicalFeatureSelector = copy(self)
        fewer.set_params(n_features_to_select=n_features)
        nodes = np.flatnonzero(np.diff(self.node_supports_.indptr)).astype(np.int32)
        kept = []
        for node in nodes:
            chosen = self.get_support(node, indices=True)
            scores = self.node_scores_[[node]].toarray()[0, chosen]
            kept.append(chosen[top_features(scores, n_features, None, False)])
        shape = self.node_supports_.shape
        fewer.node_supports_ = _matrix(
            nodes, kept, [np.ones(len(each), dtype=bool) for each in kept], shape
        )
        return fewer

    # ------------------------------------------------------------------ answering

    def get_support(self, node: Any = None, indices: bool = False) -> NDArray[Any]:
        """Features chosen at a node, or at any node.

        Parameters
        ----------
        node : int, str or tuple, optional
            Number, name or path of a node; its own features, none for leaves and skipped nodes. By
            default those of all nodes together.
        indices : bool
            Whether to give feature numbers.

        Returns
        -------
        bool array of shape (n_features,), or int array of shape (n_chosen,)
        """
        check_is_fitted(self)
        if node is None:
            found = np.unique(self.node_supports_.indices)
        else:
            number = self._node_number(node)
            start, stop = self.node_supports_.indptr[number : number + 2]
            found = self.node_supports_.indices[start:stop]
        if indices:
            return found.astype(np.intp)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[found] = True
        return mask

    def _node_number(self, node: Any) -> int:
        if not isinstance(node, Integral) or isinstance(node, bool):
            return int(self.hierarchy_.index(node))
        number = int(node)
        if not 0 <= number < self.hierarchy_.n_nodes:
            raise HierarchyError(
                f"node number {number} is out of range: expected 0 to "
                f"{self.hierarchy_.n_nodes - 1}."
            )
        return number

    def _get_support_mask(self) -> NDArray[np.bool_]:
        return self.get_support()

    def get_feature_names_out(self, input_features: Any = None, node: Any = None) -> NDArray[Any]:
        """Names of the chosen features.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of all features; by default those seen in `fit`, or x0, x1, ...
        node : int, str or tuple, optional
            As in `get_support`.

        Returns
        -------
        object array of shape (n_chosen,)
        """
        check_is_fitted(self)
        names: NDArray[Any] = NodeColumns(self, node).get_feature_names_out(input_features)
        return names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def _canonical(rows: Any, score: FeatureScore) -> Any:
    """Rows as scores expect them; sparse ones without duplicates."""
    if not sparse.issparse(rows):
        return rows
    if not score.takes_sparse:
        raise PalmetteError(
            f"X is sparse, and {score!r} takes dense rows only. Give X.toarray(), or another score."
        )
    rows = sparse.csr_array(rows)
    if not rows.has_canonical_format:
        rows = rows.copy()  # not to change what the caller has
        rows.sum_duplicates()
    return rows


def _without_task(hierarchy: Hierarchy, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    inner = np.flatnonzero(~hierarchy.is_leaf)
    return np.setdiff1d(inner, nodes).astype(np.int32)


def _matrix(
    nodes: NDArray[np.int32],
    columns: list[NDArray[np.intp]],
    values: list[NDArray[Any]],
    shape: tuple[int, int],
) -> sparse.csr_array:
    """Rows of some nodes, ascending, as a sparse array over all nodes."""
    lengths = np.zeros(shape[0], dtype=np.int64)
    lengths[nodes] = [len(each) for each in columns]
    indptr = np.r_[0, np.cumsum(lengths)]
    return sparse.csr_array((np.concatenate(values), np.concatenate(columns), indptr), shape=shape)


def _shown(number: Any) -> str:
    values = np.ravel(np.asarray(number, dtype=np.float64))
    low, high = values.min(), values.max()
    return f"{high:.6g}" if low == high else f"{low:.6g} to {high:.6g}, by node"
