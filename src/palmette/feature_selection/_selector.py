"""HierarchicalFeatureSelector: selection of features for every node of a hierarchy."""

from __future__ import annotations

import inspect
import warnings
from copy import copy
from importlib import import_module
from numbers import Integral
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import FloatArray, IntArray, read_rows, take_rows
from palmette._text import caller_level
from palmette.base._column_units import ColumnUnits
from palmette.base._fitting import (
    check_jobs,
    check_weights,
    has_several,
    path_target,
    read_labels,
    used_rows,
)
from palmette.base._parameters import is_number
from palmette.exceptions import HierarchyError, LabelError, PalmetteError
from palmette.feature_selection._base import FeatureScore, NodeScores, ScoringProblem
from palmette.feature_selection._ranking import (
    NodeColumns,
    NodeTransform,
    counts_by_node,
    top_features,
)
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import shown
from palmette.hierarchy._pictures import FittedHTML
from palmette.labels._labels import NodeLabels
from palmette.labels._space import LabelSpace
from palmette.persistence.checks import array, held

SEVERAL = ("copies", "yes_no")
_MAX_SCORES = 50_000_000  # maximum number of scores that are stored: 600 MB
# name in lower case: (module, class or function, parameters)
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
    "hier-fs": ("_hirr", "HirrScore.preset", {"name": "hier-fs"}),
    "hirrpar-fs": ("_hirr", "HirrScore.preset", {"name": "hirrpar-fs"}),
    "hirrsib-fs": ("_hirr", "HirrScore.preset", {"name": "hirrsib-fs"}),
    "hirrfam-fs": ("_hirr", "HirrScore.preset", {"name": "hirrfam-fs"}),
}


class ParameterNotMethod:
    """Descriptor that hides a parameter with the name of a scikit-learn method.

    scikit-learn regards an attribute ``score`` of an estimator as a method: a pipeline would call
    it. The parameter is set, searched, cloned and displayed like any other, and read by
    ``get_params()["score"]``, but the estimator has no such attribute.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self._name] = value

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        raise AttributeError(
            f"{owner.__name__} has no method {self._name!r}. Its parameter of this name is "
            f"get_params()[{self._name!r}]."
        )


class HierarchicalFeatureSelector(
    FittedHTML,
    NodeTransform,
    SelectorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Select the features that separate the children of every node.

    Parameters
    ----------
    score : str, object of `palmette.scoring`, or callable
        Score of the features: ``"hirr"`` (sparse regression), ``"fisher"``, ``"fsnm"``,
        ``"mrmr"``, ``"f_classif"``, ``"chi2"``, ``"mutual_info"``; or a published name, with its
        published settings: ``"HierFisher"``, ``"HierFSNM"``, ``"HierMRMR"``, ``"Hier-FS"``,
        ``"HiRRpar-FS"``, ``"HiRRsib-FS"``, ``"HiRRfam-FS"``; or an object such as
        ``HirrScore(parent=1.0)``, whose parameters are nested parameters such as
        ``score__parent``; or any score function of scikit-learn.
    hierarchy : Hierarchy, or a learner of one, optional
        A tree or a DAG. By default it is taken from the paths in y, or flat.
    n_features_to_select : int, float, dict or None
        Number of features per node: a count, or a share of all features, at least one. A dict has
        such values by the path of the node, by its depth (an int), and for ``"default"``. None sets
        no limit: all features that reach `threshold` are selected, or those with nonzero weights in
        a sparse model such as ``HirrScore(support_only=True)``.
    threshold : float, optional
        Minimum score of a selected feature.
    n_jobs : int, optional
        Number of nodes that are scored at a time, if the score treats nodes separately.
    random_state : int, RandomState or None
        For scores that use random numbers.
    several : {"copies", "yes_no"}
        How rows are read for which several options of a node are true: with several paths per row,
        or in a DAG. With "copies", a row counts once for each path, in a DAG once for each true
        option of the node. With "yes_no", every option is a question, with yes or no for each row
        once: `HirrScore` regresses all answers jointly; other scores are averaged over the
        options.
    verbose : int
        Whether to print the objective after every sweep of `HirrScore`, unless it has a `callback`,
        and the number of nodes whose features are selected: 1 about ten times, 2 for every node.

    Attributes
    ----------
    node_supports_ : sparse bool array of shape (n_nodes, n_features)
        Features selected at each node of ``hierarchy_``.
    node_scores_ : sparse float array of shape (n_nodes, n_features)
        Scores; those of the selected features only, if all scores would be more than 5e7 numbers.
    skipped_nodes_ : int array
        Inner nodes without a choice or without rows, for which no features are selected.
    hierarchy_ : Hierarchy
    score_ : object of `palmette.scoring`
    n_features_in_, feature_names_in_
        As in scikit-learn.
    objective_, dual_gap_, lambda_max_, ...
        Further results of the score; see its documentation.

    Notes
    -----
    If paths end at an inner node, the end of the path is one of its options. The score of a feature
    is computed from the rows below the node. Of features with equal scores, the first are selected.

    References
    ----------
    H. Zhao, Q. Hu, P. Zhu, Y. Wang, P. Wang (2021). A recursive regularization based feature
    selection framework for hierarchical classification. IEEE Transactions on Knowledge and Data
    Engineering 33. doi:10.1109/TKDE.2019.2960251

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
    several = "copies"  # in files that do not know the parameter
    verbose = 0  # as well

    in_files: ClassVar = {
        "hierarchy_": held(Hierarchy),
        "space_": held(LabelSpace, or_none=True),
        "classes_": array("", None),
        "label_form_": held(object),
        "n_features_in_": held(int, np.integer, below=2**62),
        "node_supports_": held(
            sparse.csr_array, dtype="b", shape=("hierarchy_.n_nodes", "n_features_in_")
        ),
        "node_scores_": held(
            sparse.csr_array, dtype="f", shape=("hierarchy_.n_nodes", "n_features_in_")
        ),
    }

    def __init__(
        self,
        score: str | FeatureScore | Any = "hirr",
        *,
        hierarchy: Hierarchy | None = None,
        n_features_to_select: int | float | dict[Any, int | float] | None = 0.1,
        threshold: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        several: str = "copies",
        verbose: int = 0,
    ) -> None:
        self.score = score
        self.hierarchy = hierarchy
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.several = several
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; those of nested objects as in ``score__name``.

        Parameters
        ----------
        deep : bool
            Whether to include the parameters of nested objects.

        Returns
        -------
        dict
        """
        own = {
            name: vars(self)[name] if name == "score" else getattr(self, name)
            for name in self._get_param_names()
        }
        if deep:
            for name, part in list(own.items()):
                if hasattr(part, "get_params") and not isinstance(part, type):
                    own |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return own

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HierarchicalFeatureSelector:
        """Select features for every node.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : labels of n_samples rows
            In any form that `NodeLabels.encode` reads, or `NodeLabels`. For rows with several
            paths, see the parameter `several`; with "copies", a row without a path is left out.
        sample_weight : array-like of shape (n_samples,), optional
            Only their ratios count. Whole multiples of the smallest weight are numbers of copies of
            the rows; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        check_jobs(self)
        if self.threshold is not None and not is_number(self.threshold):
            raise PalmetteError(f"threshold={self.threshold!r}: expected a number, or None.")
        score = clone(resolve_score(vars(self)["score"]))
        if self.several not in SEVERAL:
            raise PalmetteError(
                f"several={self.several!r} is unknown: expected one of {', '.join(SEVERAL)}."
            )
        rows = read_rows(X, self, dtype=np.float64)
        weights = check_weights(sample_weight, rows.shape[0])
        labels, learner = read_labels(self.hierarchy, rows, y, weights)
        if learner is not None:
            self.hierarchy_learner_ = learner
        check_consistent_length(rows, labels.given)
        if labels.hierarchy.is_tree and self.several == "copies":
            target, owners = self._learn_paths(labels, weights)
        else:
            target, owners = self._learn_sets(labels, weights)
        if owners is not None:
            rows = take_rows(rows, owners)
            weights = None if weights is None else weights[owners]
        units = ColumnUnits.of(rows, score._kind_of_units())
        problem = ScoringProblem(
            _rows_for(score, rows if units is None else units.apply(rows)),
            self.hierarchy_ if self.space_ is None else self.space_,
            target,
            weights,
            self.n_jobs,
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            yes_no=self.several == "yes_no",
        )
        if not len(problem.nodes):
            raise LabelError(
                f"y has one class only, {shown(self.classes_[0])}: expected two classes or more."
            )
        counts = self._counts(problem.nodes)
        problem.n_wanted = int(counts.max())
        self.skipped_nodes_ = _without_task(self.hierarchy_, problem.nodes)
        self.score_ = score
        self._choose(self._score_nodes(score, problem), problem.nodes, counts)
        return self

    def _score_nodes(self, score: FeatureScore, problem: ScoringProblem) -> NodeScores:
        """Return the scores of all nodes; a sparse regression prints its sweeps if it should."""
        if not self.verbose or getattr(score, "callback", _print_sweep) is not None:
            return score.score(problem)
        score.set_params(callback=_print_sweep)
        try:
            return score.score(problem)
        finally:
            score.set_params(callback=None)  # it is no part of the model

    def _learn_paths(
        self, labels: NodeLabels, weights: FloatArray | None
    ) -> tuple[IntArray, NDArray[np.intp] | None]:
        """Return the class of every path in a tree, and its row; None if each row has one.

        Classes are positions in ``space_.classes``. Rows of weight 0 have no path.
        """
        used, owners = used_rows(weights), None
        if not has_several(labels):
            answers, codes = path_target(labels, used)
            owners = None if used is None else np.flatnonzero(used)
        else:
            paths = labels.specific
            owners = np.repeat(np.arange(len(labels)), np.diff(paths.indptr))
            kept = paths.indices > 0 if used is None else (paths.indices > 0) & used[owners]
            if not kept.any():
                raise LabelError(f"none of the {len(labels)} rows of y has a label.")
            single = NodeLabels.from_terminals(paths.indices[kept], labels.hierarchy, labels.form)
            answers, codes = path_target(single, None)
            owners = owners[kept]
        self.hierarchy_ = answers.hierarchy
        self.space_: LabelSpace | None = answers.space
        self.classes_, self.label_form_ = answers.classes, answers.form
        return codes, owners

    def _learn_sets(
        self, labels: NodeLabels, weights: FloatArray | None
    ) -> tuple[sparse.csr_array, NDArray[np.intp] | None]:
        """Return the true nodes of every row, and its number; None for all rows."""
        used = used_rows(weights)
        owners = None if used is None else np.flatnonzero(used)
        true = sparse.csr_array(labels.closed if owners is None else labels.closed[owners])
        given = labels.given if owners is None else labels.given[owners]
        nodes = np.unique(given.indices[given.indices > 0])
        if not len(nodes):
            raise LabelError(f"none of the {len(labels)} rows of y has a label.")
        self.hierarchy_, self.space_ = labels.hierarchy, None
        single = NodeLabels.from_terminals(nodes.astype(np.int32), labels.hierarchy, labels.form)
        self.classes_, self.label_form_ = single.decode(), labels.form
        return true, owners

    def _counts(self, nodes: IntArray) -> NDArray[np.int64]:
        return counts_by_node(
            self.n_features_to_select,
            nodes,
            self.hierarchy_,
            self.n_features_in_,
            is_given=isinstance(self.hierarchy, Hierarchy),
        )

    def _choose(self, scores: NodeScores, nodes: IntArray, counts: NDArray[np.int64]) -> None:
        """Set the supports and scores of all nodes, and further results of the score."""
        keep_all = len(nodes) * self.n_features_in_ <= _MAX_SCORES
        chosen, kept = [], []
        every = 1 if self.verbose > 1 else max(1, len(nodes) // 10)
        for row, count in zip(scores.rows(), counts.tolist(), strict=True):
            best = top_features(row, count, self.threshold, scores.sparse_is_final)
            chosen.append(best)
            scored = np.flatnonzero(row) if keep_all else best
            kept.append((scored, row[scored]))
            if self.verbose and (len(kept) % every == 0 or len(kept) == len(nodes)):
                print(f"features of {len(kept)} of {len(nodes)} nodes", flush=True)
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

    def _warn_of_empty(self, nodes: IntArray, chosen: list[Any], values: list[FloatArray]) -> None:
        """Warn of nodes without features, with possible reasons; raise an error if all are."""
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
                f"the penalty is too strong: no feature is selected if lam is lambda_max = "
                f"{_shown(self.lambda_max_)} or more"
            )
        why = ", or ".join(reasons) or "all scores are 0"
        if len(empty) == len(nodes):
            raise PalmetteError(f"no feature was selected at any node: {why}.")
        names = [str(self.hierarchy_.path_strings[node]) for node in empty[:5]]
        more = f" and {len(empty) - 5} more" if len(empty) > 5 else ""
        warnings.warn(
            f"no feature was selected at {', '.join(map(repr, names))}{more}: {why}.",
            UserWarning,
            stacklevel=caller_level(),
        )

    def reduced_to(self, n_features: int) -> HierarchicalFeatureSelector:
        """Return a fitted copy with fewer features: the best of those selected at each node.

        Parameters
        ----------
        n_features : int
            Maximum number of features per node.

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

    # ------------------------------------------------------------------ selected features

    def get_support(self, node: Any = None, indices: bool = False) -> NDArray[Any]:
        """Return the features selected at a node, or at any node.

        Parameters
        ----------
        node : int, str or tuple, optional
            Number, name or path of a node; leaves and skipped nodes have no features. By default,
            the features of all nodes together.
        indices : bool
            Whether to return feature indices instead of a mask.

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
        """Return the names of the selected features.

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


def _print_sweep(number: int, objective: float) -> None:
    print(f"sweep {number}: objective {objective:.6g}", flush=True)


def _rows_for(score: FeatureScore, rows: Any) -> Any:
    """Return rows in the form that a score expects; sparse rows as an array, or as an error."""
    if not sparse.issparse(rows):
        return rows
    if not score.takes_sparse:
        raise PalmetteError(
            f"X is sparse, but {score!r} accepts dense rows only. Pass X.toarray(), or use another "
            "score."
        )
    return sparse.csr_array(rows)


def _without_task(hierarchy: Hierarchy, nodes: IntArray) -> IntArray:
    inner = np.flatnonzero(~hierarchy.is_leaf)
    return np.setdiff1d(inner, nodes).astype(np.int32)


def _matrix(
    nodes: IntArray,
    columns: list[NDArray[np.intp]],
    values: list[NDArray[Any]],
    shape: tuple[int, int],
) -> sparse.csr_array:
    """Return values of some nodes, in ascending order, as a sparse array over all nodes."""
    lengths = np.zeros(shape[0], dtype=np.int64)
    lengths[nodes] = [len(each) for each in columns]
    indptr = np.r_[0, np.cumsum(lengths)]
    parts = np.concatenate(values), np.concatenate(columns), indptr
    matrix = sparse.csr_array(parts, shape=shape)
    matrix.check_format(full_check=True)  # in a changed file, columns may be any numbers
    return matrix


def _shown(number: Any) -> str:
    values = np.ravel(np.asarray(number, dtype=np.float64))
    low, high = values.min(), values.max()
    return f"{high:.6g}" if low == high else f"{low:.6g} to {high:.6g}, by node"


def resolve_score(score: Any) -> FeatureScore:
    """Return the score object for a name, a score function of scikit-learn, or a score object.

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
