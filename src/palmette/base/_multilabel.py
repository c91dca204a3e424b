"""The base of multi-label classifiers, which predict for every node whether it is true."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from palmette._arrays import FloatArray, count_rows, read_rows, take_rows
from palmette.base._classifier import HierarchicalClassifier
from palmette.base._column_units import Kind, unit_kind_of
from palmette.base._fitting import check_jobs, check_weights, used_rows
from palmette.decisions._thresholds import LabelRule, Threshold
from palmette.decisions._tuned import ShrunkF, TunedRule, resolve_label_rule
from palmette.exceptions import PalmetteError


class _TunedAs(NamedTuple):
    """Tuned thresholds, and the rule that they were tuned with."""

    rule: str
    threshold: Threshold


class MultilabelClassifier(HierarchicalClassifier):
    """Base of multi-label classifiers.

    Labels may have any form: an indicator matrix, label sets, one label per row, or paths in a
    hierarchy. The target is always a sparse matrix of the nodes that are true of each row, with
    their ancestors; in a flat problem the nodes are the labels.

    A subclass sets the parameters ``hierarchy`` and ``decoding``, and defines `_fit_nodes` and
    `_node_proba_of`. A subclass with out-of-bag scores also defines `_tunes_itself` and
    `_out_of_bag_proba`: ``decoding="auto"`` then means the thresholds that `ShrunkF` finds on these
    scores, and other tuned rules are possible too.

    Attributes
    ----------
    thresholds_ : array of shape (n_classes,)
        Of the labels in ``classes_``, if `decoding` is a tuned rule and the model tunes itself.
    """

    verbose: int = 0  # in models of files that do not know the parameter
    _takes_tables = False  # whether X may be a table or texts, which are not converted to numbers
    _tunes_on_seen_rows = False  # whether thresholds are tuned on rows of the fit
    _auto_before = "BestF()"  # what "auto" meant in models that were saved by earlier versions

    # ------------------------------------------------------------------ for subclasses

    def _check_parameters(self) -> None:
        """Raise an error for invalid parameters, before X and y are read."""

    def _fit_nodes(
        self, X: Any, Y: sparse.csr_array, weights: FloatArray | None
    ) -> FloatArray | None:
        """Fit the model to a matrix of true nodes.

        Parameters
        ----------
        X : float64 array or CSR matrix of shape (n_samples, n_features)
            Rows of positive weight.
        Y : sparse bool array of shape (n_samples, n_columns)
            Columns as in ``nodes_``; each is true of at least one row.
        weights : array of shape (n_samples,), optional
            All positive.

        Returns
        -------
        array of shape (n_samples, n_columns) or None
            Scores that thresholds are tuned on, if they are not those of `_out_of_bag_proba`.
        """
        raise NotImplementedError

    def _tunes_itself(self) -> bool:
        """Return whether the model will have out-of-bag scores; called before it is fitted."""
        return False

    def _out_of_bag_proba(self) -> FloatArray:
        """Return out-of-bag scores of the rows and columns of `_fit_nodes`.

        Called once, after `_fit_nodes`: an array of shape (n_samples, n_columns) from 0 to 1.
        """
        raise NotImplementedError

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        y : labels of n_samples rows
            A 0/1 matrix, a list of sets, or any other form that `NodeLabels.encode` reads.
        sample_weight : array-like of shape (n_samples,), optional
            Only their ratios count; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        check_jobs(self)
        self._check_parameters()
        X, targets, weights = self._read_fit(X, y, sample_weight)
        scores = self._fit_nodes(X, targets, weights)
        self._tune(targets, weights, scores)
        return self

    def _read_fit(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, sparse.csr_array, FloatArray | None]:
        """Read the arguments of `fit`: rows of positive weight, their nodes, weights."""
        X = self._read_features(X, reset=True)
        weights = check_weights(sample_weight, count_rows(X))
        targets = self._learn_target(X, y, weights, by_node=True)
        used = used_rows(weights)
        if weights is not None and used is not None:
            X, weights = take_rows(X, np.flatnonzero(used).astype(np.int32)), weights[used]
        return X, targets, weights

    def _kind_of_units(self) -> Kind:
        if not hasattr(self, "estimator"):
            return super()._kind_of_units()
        base = self._base() if hasattr(self, "_base") else self.estimator
        return "order" if base is None else unit_kind_of(base)  # of a C45Tree

    # ------------------------------------------------------------------ deciding

    def _tune(
        self, truth: sparse.csr_array, weights: FloatArray | None, scores: FloatArray | None = None
    ) -> None:
        """Set ``thresholds_`` if the rule is tuned.

        Parameters
        ----------
        truth : sparse bool array of shape (n_samples, n_columns)
        weights : array of shape (n_samples,), optional
        scores : array of shape (n_samples, n_columns), optional
            Scores that thresholds are tuned on; by default those of `_out_of_bag_proba`.
        """
        for name in ("thresholds_", "_tuned"):
            self.__dict__.pop(name, None)  # of an earlier fit
        rule = self._several_rule() if self._answers.by_node else None
        if not isinstance(rule, TunedRule):
            return
        # a copy, since it is made coherent in place
        proba = np.array(self._out_of_bag_proba() if scores is None else scores, dtype=np.float64)
        table = self._answers.table_from_nodes(proba, self._dag_rule())
        tuned = rule.tune(table, truth, self._answers.columns, weights)
        self._tuned = _TunedAs(repr(rule), tuned)
        self.thresholds_ = np.asarray(tuned.value)[self._answers.class_nodes]

    def _several_rule(self) -> LabelRule | TunedRule:
        if self._decides_by_default() and self._tunes_itself():
            return self._auto_rule()
        return resolve_label_rule(self.decoding)

    def _auto_rule(self) -> TunedRule:
        """Return what "auto" means if the model tunes itself."""
        return ShrunkF()

    def _decides_by_default(self) -> bool:
        return isinstance(self.decoding, str) and self.decoding == "auto"

    def _threshold_rule(self) -> LabelRule:
        if not self._tunes_itself():
            return super()._threshold_rule()
        rule = self._several_rule()
        if not isinstance(rule, TunedRule):
            return rule
        tuned: _TunedAs | None = getattr(self, "_tuned", None)
        meant = {repr(rule), self._auto_before if self._decides_by_default() else ""}
        if tuned is None or tuned.rule not in meant:
            raise PalmetteError(
                f"decoding={self.decoding!r} is tuned during fit, but the model was fitted with "
                "another rule. Fit it again, or choose a rule that is not tuned."
            )
        return tuned.threshold

    def _check_decoding(self, several: bool) -> None:
        if several and self._tunes_itself():
            self._several_rule()
        else:
            super()._check_decoding(several)

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        if self._takes_tables:
            return super()._check_features(X, reset=reset)
        if hasattr(X, "columns") and 0 in X.shape:
            raise ValueError(f"X has shape {X.shape}: expected at least one row and column.")
        allow_nan = self.__sklearn_tags__().input_tags.allow_nan
        finite = "allow-nan" if allow_nan else True
        return read_rows(X, self, reset=reset, dtype=np.float64, ensure_all_finite=finite)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags
