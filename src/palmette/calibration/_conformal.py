"""ConformalHierarchicalClassifier: answers that contain the truth with a chosen probability."""

from __future__ import annotations

import warnings
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import FloatArray, IntArray, count_rows, take_rows
from palmette._text import caller_level
from palmette.base._adapters import final_step, fitted_hierarchy
from palmette.base._answers import OnePath
from palmette.base._fitting import check_weights, run_jobs
from palmette.base._wrapping import WrappedClassifier, answers_by_node
from palmette.calibration._base import (
    Fold,
    WrappingClassifier,
    check_folds,
    held_out_part,
    random_folds,
    take_labels,
    used_part,
)
from palmette.calibration._conformal_answers import (
    CalibrationScores,
    ConformalNodeSets,
    ConformalPaths,
    MissedShares,
    check_coverage,
)
from palmette.calibration._nonconformity import LABEL_SCORES
from palmette.calibration._unseen import novelty
from palmette.decisions._rules import BestPath
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import as_list
from palmette.labels._containers import row_index
from palmette.labels._labels import NodeLabels

_CHOICES = {
    "answer": ("node", "set"),
    "method": ("split", "cross", "prefit"),
    "set_score": tuple(LABEL_SCORES),
    "control": ("row", "label"),
}


class ConformalHierarchicalClassifier(WrappingClassifier):
    """Predict the deepest node, or the smallest set, that contains the truth with a probability.

    The nonconformity of the true labels is computed for rows that the model was not fitted on. That
    of a new row is at most a quantile of these scores with the chosen probability, whatever the
    model and the distribution are, as long as rows are exchangeable. The probability is marginal,
    over calibration rows and new rows; it is not guaranteed for each label or node.

    Parameters
    ----------
    estimator : classifier, optional
        As in `CalibratedHierarchicalClassifier`, which may be one.
    coverage : float
        Probability with which an answer contains the true label. It can be changed after `fit`,
        and for each call of a predict method.
    answer : {"node", "set"}
        What `predict_careful` returns, and which scores ``quantile_`` refers to.
    method : {"split", "cross", "prefit"}
        ``"split"``: a random part of the rows is held out from the model: coverage is guaranteed.
        ``"cross"``: the rows of every fold are scored by a model of the other folds, and a new row
        by all of these models: every row is used for fitting, and coverage is close to the chosen
        one, but the guarantee is only one minus twice the error rate, minus a term that vanishes
        with more rows. ``"prefit"``: the estimator is fitted already, and `fit` gets rows that it
        has not seen: guaranteed as with ``"split"``.
    set_score : {"lac", "aps"}
        How sets are built: from all labels above one probability threshold for all rows, which
        gives the smallest sets on average; or from the most probable labels up to a cumulative
        probability, not randomized, which gives larger sets where a row is difficult. The most
        probable label is always in the set.
    control : {"row", "label"}
        What is guaranteed where rows have several paths: that a set contains all labels of a row
        with probability `coverage`, or that the expected share of its labels in the set is at
        least `coverage`.
    calibration_size : float or int
        Share or number of rows that ``"split"`` holds out.
    cv : int
        Number of folds of ``"cross"``.
    hierarchy, n_jobs, random_state, verbose
        As in `CalibratedHierarchicalClassifier`.
    decoding : "auto", name or rule of `palmette.decoding`
        Rule of `predict`, which has no coverage guarantee: ``"auto"`` is that of the estimator.

    Attributes
    ----------
    estimator_ : classifier
        Fitted; with ``method="cross"`` the first of ``estimators_``.
    estimators_ : list of classifiers
        All models: one, or one per fold.
    calibration_scores_ : array of shape (n_calibration,)
        Nonconformity of the true labels of the calibration rows, for `answer`, ascending; infinite
        for labels that no set can hold.
    quantile_ : float
        Quantile of these scores at `coverage`; infinite where there are too few rows, or too many
        labels that no set can hold.
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)

    Notes
    -----
    New rows may have labels that no row of the fit has. Where the hierarchy has leaves without any
    row, sets may contain them: they are ranked by the probabilities of the nodes above them. Other
    labels that the model has not seen count as missed. Where too many are, `fit` and the predict
    methods warn of the coverage that sets can keep; `predict_node` is not concerned.

    With sample weights coverage refers, approximately, to rows drawn in proportion to their
    weights. With several paths per row there are only sets, and ``method="cross"`` is not defined.

    Coverage is guaranteed for any probabilities, but better ones lead to smaller answers. Wrap a
    forest, which ties many labels at zero, or a classifier that has only margins in a
    `CalibratedHierarchicalClassifier` first.

    References
    ----------
    V. Vovk, A. Gammerman, G. Shafer (2005). Algorithmic learning in a random world. Springer.
    doi:10.1007/b106715

    R. F. Barber, E. J. Candes, A. Ramdas, R. J. Tibshirani (2021). Predictive inference with the
    jackknife+. Annals of Statistics 49. doi:10.1214/20-AOS1965

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> kind = np.where(X[:, 0] > 0, "animal", "plant")
    >>> name = np.where(X[:, 1] + rng.normal(size=400) > 0, "big", "small")
    >>> clf = ConformalHierarchicalClassifier(coverage=0.9, random_state=0)
    >>> clf = clf.fit(X, list(zip(kind.tolist(), name.tolist())))
    >>> clf.predict([[2.0, 0.1], [2.0, 4.0]])
    [('animal', 'big'), ('animal', 'big')]
    >>> clf.predict_node([[2.0, 0.1], [2.0, 4.0]])  # the first row may be big or small
    [('animal',), ('animal', 'big')]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        coverage: float = 0.9,
        answer: str = "node",
        method: str = "split",
        set_score: str = "lac",
        control: str = "row",
        calibration_size: float = 0.25,
        cv: int = 5,
        hierarchy: Hierarchy | None = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.coverage = coverage
        self.answer = answer
        self.method = method
        self.set_score = set_score
        self.control = control
        self.calibration_size = calibration_size
        self.cv = cv
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.verbose = verbose

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ConformalHierarchicalClassifier:
        """Fit the estimator, and compute calibration scores on rows that it was not fitted on.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of texts, of n_samples rows
            Whatever the estimator takes.
        y : labels of n_samples rows
            In any form that `NodeLabels.encode` reads.
        sample_weight : array-like of shape (n_samples,), optional
            Weights for the estimator and the quantiles. Only their ratios count; rows of weight 0
            are left out.

        Returns
        -------
        self
        """
        self._check_parameters()
        X = self._read_features(X, reset=True)
        weights = check_weights(sample_weight, count_rows(X))
        n_used = count_rows(X) if weights is None else int(np.count_nonzero(weights))
        folds = self._draw_folds(n_used)
        ready = self._ready_estimator(X, y, weights, folds)
        labels = self._read_labelled(X, y, weights, along=fitted_hierarchy(ready))
        X, weights = used_part(X, weights)
        self._models: list[WrappedClassifier] = []
        self._scores: dict[str, CalibrationScores] = {}
        self._missed: MissedShares | None = None
        self._novelties: list[float] = []
        self._conformal().check_method(self.method)
        if ready is not None:
            self._models = [self._adopt(ready)]
        else:
            self._models = self._fit_models(folds, X, labels, weights)
        self.estimators_ = [model.estimator for model in self._models]
        self.estimator_ = self.estimators_[0]
        self._estimate_novelty(folds, labels)
        self._calibrate(folds, X, labels, weights)
        self._warn_if_broken(self.coverage)
        return self

    def _check_parameters(self) -> None:
        self._check_base()
        check_coverage(self.coverage)
        check_folds(self.cv)
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise PalmetteError(
                    f"{name}={getattr(self, name)!r} is unknown: expected one of "
                    f"{', '.join(choices)}."
                )

    def _draw_folds(self, n_rows: int) -> list[Fold]:
        """Return rows to fit on and rows to calibrate on, for every model."""
        if self.method == "prefit":
            return [(np.arange(0), np.arange(n_rows))]
        if self.method == "cross":
            return random_folds(self.cv, n_rows, self.random_state)
        return [held_out_part(self.calibration_size, n_rows, self.random_state)]

    def _ready_estimator(
        self, X: Any, y: Any, weights: FloatArray | None, folds: list[Fold]
    ) -> Any:
        """Return a fitted estimator where it finds the hierarchy, which reading y requires."""
        if self.method == "prefit":
            return self._base()
        if not self._learns_tree(y):
            return None
        if self.method == "cross":
            raise PalmetteError(
                "method='cross' needs one hierarchy for all folds, but the estimator learns its "
                "own. Use method='split', or learn the hierarchy first."
            )
        # the estimator must not be fitted on calibration rows
        seen = np.ones(count_rows(X)) if weights is None else weights.copy()
        used = np.flatnonzero(seen)
        seen[used[folds[0][1]]] = 0.0
        return self._fit_tree_learner(X, y, seen, is_weighted=weights is not None)

    def _fit_models(
        self, folds: list[Fold], X: Any, labels: NodeLabels, weights: FloatArray | None
    ) -> list[WrappedClassifier]:
        def jobs() -> Any:
            for model, (train, _) in zip(self._unfitted(len(folds)), folds, strict=True):
                share = None if weights is None else weights[train]
                yield model, take_rows(X, train), take_labels(labels, train), share

        fit = partial(_fit_model, several=self._answers.by_node)
        return run_jobs(fit, jobs(), self.n_jobs, verbose=self.verbose)

    def _estimate_novelty(self, folds: list[Fold], labels: NodeLabels) -> None:
        """Estimate how often labels are new: to every model, and to all of them together."""
        if not isinstance(self._answers, OnePath):
            return
        nodes = labels.terminals
        self._novelties = [novelty(nodes[train]) if len(train) else 1.0 for train, _ in folds]
        self._novelty = novelty(nodes)

    def _calibrate(
        self, folds: list[Fold], X: Any, labels: NodeLabels, weights: FloatArray | None
    ) -> None:
        """Set the calibration scores: every model scores the rows that it was not fitted on."""
        held = np.concatenate([test for _, test in folds])
        scale = 1.0 if weights is None else float(weights[held].mean())
        shares = [
            np.ones(len(test)) if weights is None else weights[test] / scale for _, test in folds
        ]
        conformal = self._conformal()
        parts = [
            self._score_rows(conformal, model, take_rows(X, test), take_labels(labels, test))
            for model, (_, test) in zip(self._models, folds, strict=True)
        ]
        self._scores = {
            name: CalibrationScores([part[name] for part in parts], shares)
            for name in conformal.score_kinds
        }
        self._missed = conformal.missed(parts, take_labels(labels, held), shares[0])

    def _score_rows(
        self,
        conformal: ConformalPaths | ConformalNodeSets,
        model: WrappedClassifier,
        X: Any,
        labels: NodeLabels,
    ) -> dict[str, FloatArray]:
        """Return the nonconformity of true labels, computed for some rows at a time."""
        parts, start = [], 0
        for rows in self._parts(X, conformal.numbers_per_row):
            stop = start + count_rows(rows)
            true = take_labels(labels, np.arange(start, stop))
            start = stop
            parts.append(conformal.nonconformity(model, rows, true))
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _conformal(self) -> ConformalPaths | ConformalNodeSets:
        """Return what computes calibration scores and answers for the kind of labels."""
        answers = self._answers
        if isinstance(answers, OnePath):
            found = self.__dict__.get("_novelties", [])  # models of files may lack it
            return ConformalPaths(answers, self._models, self.set_score, self._scores, found)
        return ConformalNodeSets(
            answers, self._models, self.control, self._dag_rule(), self._scores, self._missed
        )

    def _warn_if_broken(self, coverage: float) -> None:
        """Warn of a coverage for which there are too few rows, or too many unseen labels."""
        scores = self._scores["set"]
        if not scores.suffices(coverage):
            needed = int(np.ceil(coverage / (1 - coverage) - 1e-9))
            warnings.warn(
                f"{scores.total:.0f} calibration rows are too few for coverage={coverage}: "
                f"expected at least {needed}. Nodes are the root and sets contain every label.",
                stacklevel=caller_level(),
            )
        elif not scores.can_keep(coverage) and self._missed is None:
            kept, possible = 1 - self._novelty, (scores.total - scores.missed) / (scores.total + 1)
            error = 2 * np.sqrt(kept * self._novelty / max(scores.total, 1))
            warnings.warn(
                f"{scores.missed:.0f} of {scores.total:.0f} calibration rows have a label that no "
                "row of the fit has, as new rows will, so that sets cannot have "
                f"coverage={coverage}: they contain every label, and the true one with a "
                f"probability of about {kept:.2f} +- {error:.2f}. Use predict_node, fit more rows, "
                "pass a hierarchy that has all labels, or choose a coverage of at most "
                f"{np.floor(100 * possible) / 100:.2f}.",
                stacklevel=caller_level(),
            )

    @property
    def calibration_scores_(self) -> FloatArray:
        """Nonconformity of the true labels of the calibration rows, ascending."""
        return self._fitted_scores().scores

    @property
    def quantile_(self) -> float:
        """Quantile of the calibration scores at `coverage`."""
        return self._fitted_scores().quantile(self.coverage)

    def _fitted_scores(self) -> CalibrationScores:
        if not self.__dict__.get("_scores"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit.")
        return self._scores[self._conformal().kind_of(self.answer)]

    # ------------------------------------------------------------------ conformal answers

    def predict_careful(self, X: Any, coverage: float | None = None) -> Any:
        """Predict by `predict_node` or `predict_set`, depending on the parameter `answer`.

        With several paths per row the prediction is always that of `predict_set`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, optional
            Replaces the parameter of the class.

        Returns
        -------
        labels of n_samples rows, or list of n_samples sets
        """
        check_is_fitted(self)
        if self._conformal().kind_of(self.answer) == "set":
            return self.predict_set(X, coverage)
        return self.predict_node(X, coverage)

    def predict_node(self, X: Any, coverage: float | None = None) -> Any:
        """Predict the deepest node that contains the true label with the chosen probability.

        The true label is at the node or below it. A higher coverage moves the node up its path.

        Parameters
        ----------
        X, coverage : as in `predict_careful`

        Returns
        -------
        labels of n_samples rows
            In the form of the `y` that the model was fitted on; the root where no other node is
            probable enough.
        """
        return self._answers.write_nodes(self.predict_node_numbers(X, coverage), row_index(X))

    def predict_node_numbers(self, X: Any, coverage: float | None = None) -> IntArray:
        """Predict the nodes of `predict_node` as node numbers of ``hierarchy_``.

        Parameters
        ----------
        X, coverage : as in `predict_careful`

        Returns
        -------
        int array of shape (n_samples,)
        """
        coverage = self._coverage(coverage)
        conformal = self._conformal().require_paths("predict_node")
        X = self._read_rows(X)
        parts = self._parts(X, conformal.numbers_per_row)
        return np.concatenate([conformal.nodes(part, coverage) for part in parts])

    def predict_set(self, X: Any, coverage: float | None = None) -> list[set[Any]]:
        """Predict a set of labels that contains the true label with the chosen probability.

        Sets grow with the coverage.

        Parameters
        ----------
        X, coverage : as in `predict_careful`

        Returns
        -------
        list of n_samples sets
            Labels as in ``classes_``, and leaves of a given hierarchy that no row has. With several
            paths per row they are nodes, with their ancestors where `y` lists them, and a set
            contains all true labels of a row.
        """
        nodes = self.predict_set_nodes(X, coverage)
        return self._label_sets(self._conformal().labels_in(nodes))

    def predict_set_nodes(self, X: Any, coverage: float | None = None) -> sparse.csr_array:
        """Predict the sets of `predict_set` as nodes of ``hierarchy_``.

        Parameters
        ----------
        X, coverage : as in `predict_careful`

        Returns
        -------
        sparse bool array of shape (n_samples, n_nodes)
            With one path per row the nodes of the labels in the set; with several all nodes of
            the set, without the root.
        """
        coverage = self._coverage(coverage)
        X, conformal = self._read_rows(X), self._conformal()
        parts = self._parts(X, conformal.numbers_per_row)
        return sparse.vstack([conformal.sets(part, coverage) for part in parts], "csr")

    def predict_cover(self, X: Any, coverage: float | None = None) -> list[set[Any]]:
        """Predict the fewest nodes with every label of `predict_set` at or below one of them.

        Parameters
        ----------
        X, coverage : as in `predict_careful`

        Returns
        -------
        list of n_samples sets
            Nodes, written as labels are; none is an ancestor of another.
        """
        return self._label_sets(self.predict_cover_nodes(X, coverage))

    def predict_cover_nodes(self, X: Any, coverage: float | None = None) -> sparse.csr_array:
        """Predict the covers of `predict_cover` as nodes of ``hierarchy_``.

        Parameters
        ----------
        X, coverage : as in `predict_careful`

        Returns
        -------
        sparse bool array of shape (n_samples, n_nodes)
        """
        coverage = self._coverage(coverage)
        conformal = self._conformal().require_paths("predict_cover")
        X = self._read_rows(X)
        parts = self._parts(X, conformal.numbers_per_row)
        return sparse.vstack([conformal.covers(part, coverage) for part in parts], "csr")

    def _coverage(self, coverage: float | None) -> float:
        check_is_fitted(self)
        if coverage is None:
            return check_coverage(self.coverage)
        self._warn_if_broken(check_coverage(coverage))
        return coverage

    def _label_sets(self, nodes: sparse.csr_array) -> list[set[Any]]:
        """Return sets of labels from sparse sets of nodes."""
        form, hierarchy = self.label_form_, self.hierarchy_
        used = np.unique(nodes.indices)
        labels = as_list(form.class_labels(used, hierarchy))
        names = dict(zip(used.tolist(), labels, strict=True))
        members = [names[node] for node in nodes.indices.tolist()]
        return [set(members[a:b]) for a, b in pairwise(nodes.indptr.tolist())]

    # ------------------------------------------------------------------ probabilities

    def _class_proba_of(self, X: Any) -> FloatArray:
        proba = [model.class_proba(X, self.space_) for model in self._models]
        return np.asarray(sum(proba[1:], proba[0]) / len(proba))

    def _node_proba_of(self, X: Any) -> FloatArray:
        return self._models[0].node_proba(X, self.nodes_)

    def _decision_rule(self) -> Any:
        if self.decoding != "auto":
            return super()._decision_rule()
        last = final_step(self.estimator_)
        if not hasattr(last, "_decision_rule") or "tree" in last.get_params(deep=False):
            return BestPath()  # as any classifier predicts
        return last._decision_rule()

    def _threshold_rule(self) -> Any:
        last = final_step(getattr(self, "estimator_", None))
        is_auto = isinstance(self.decoding, str) and self.decoding == "auto"
        if is_auto and answers_by_node(last):
            return last._threshold_rule()
        return super()._threshold_rule()


def _fit_model(
    model: WrappedClassifier,
    X: Any,
    labels: NodeLabels,
    weights: FloatArray | None,
    *,
    several: bool,
) -> WrappedClassifier:
    return model.fit(X, labels, weights, several=several)
