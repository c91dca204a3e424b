"""The base of all hierarchical classifiers: reading X and y, decision rules, predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_consistent_length
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from palmette._arrays import (
    FloatArray,
    IntArray,
    count_rows,
    in_memory,
    is_text,
    joined,
    read_rows,
    row_chunks,
    take_rows,
)
from palmette._imports import import_after
from palmette._text import caller_level
from palmette.base._column_units import ColumnUnits, Kind
from palmette.base._fitting import (
    check_jobs,
    closed_targets,
    given_hierarchy,
    has_several,
    node_target,
    path_target,
    read_labels,
    used_rows,
)
from palmette.base._lazy import answers_by_parts, is_lazy, lazy_answers
from palmette.base._one_path import check_one_path
from palmette.decisions._coherence import check_dag_rule
from palmette.decisions._decode import Route, RouteByMarginals
from palmette.decisions._rules import (
    BestPath,
    Decoding,
    Marginal,
    MinExpectedLoss,
    RoutedDecoding,
    resolve_decoding,
)
from palmette.decisions._thresholds import LabelRule
from palmette.decisions._tuned import TunedRule, is_label_rule, resolve_label_rule
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import as_list, object_array
from palmette.hierarchy._pictures import fitted_html
from palmette.labels._containers import row_index
from palmette.labels._labels import NodeLabels
from palmette.persistence.checks import array, held

# scoring="hierarchical_f1" is known to scikit-learn as soon as it knows scorers at all
import_after("sklearn.metrics._scorer", "palmette.metrics")


def _has_proba(self: HierarchicalClassifier) -> bool:
    return self._gives_proba()


def _may_answer_with_sets(self: HierarchicalClassifier) -> bool:
    return self._takes_several_paths


class HierarchicalClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all classifiers, for one path per row or several, in trees and DAGs.

    With one path per row in a tree a model decides by probabilities of classes. Otherwise, if it
    supports several paths, every node is decided separately: rows may have several paths or none,
    and predictions are the nodes that a `LabelRule` chooses, by default those above a threshold,
    always with the ancestors that the hierarchy implies.

    A subclass sets the parameters ``hierarchy`` and ``decoding`` and, optionally, ``dag_rule``:
    with "all", the default, a node of a DAG is true only if all of its parents are, with "any"
    if at least one of them is. It calls `_learn_target` in its `fit`, which sets the attributes
    below, and defines `_class_proba_of`, `_node_proba_of` or both.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    label_form_ : LabelForm
    classes_ : array of shape (n_classes,)
        Labels as y lists them; every column of an indicator matrix.
    space_ : LabelSpace
        The classes and the nodes above them, with one path per row.
    nodes_ : int array of shape (n_columns,)
        Nodes with a training row, their ancestors among them, without the root; ascending. Of
        classifiers that support several paths.
    several_paths_ : bool
        Whether nodes are decided separately, since y has several paths per row, or a DAG. Of
        classifiers that support several paths.
    column_units_ : ColumnUnits
        Where a column is too far from zero for its spread, too fine or too coarse for the method:
        ``centres`` that were subtracted from the columns, and ``exponents`` of the powers of two
        that they were multiplied by. The parts of the model have seen columns in these units.
        Absent otherwise.
    """

    client: Any = None  # of a cluster, in models of files that do not know the parameter
    _takes_several_paths: ClassVar[bool] = True  # else several paths, and DAGs, are errors
    _routes_cheaply: ClassVar[bool] = False  # whether a route costs less than all probabilities

    in_files: ClassVar = {
        "_answers": held(object),
        "hierarchy_": held(Hierarchy, same="_answers.hierarchy"),
        "label_form_": held(object, same="_answers.form"),
        "classes_": held(object, same="_answers.classes"),
        "space_": held(object, same="_answers.space", or_absent=True),
        "nodes_": array("i", "_answers.nodes", or_absent=True),
        "n_features_in_": held(int, np.integer, below=2**62, or_absent=True),
        "column_units_": held(ColumnUnits, or_absent=True),
        "column_units_.centres": array("f", "n_features_in_", or_absent=True),
    }

    hierarchy: Any
    decoding: Any

    def _set_shared(
        self, hierarchy: Any, decoding: Any, n_jobs: int | None, random_state: Any
    ) -> None:
        """Set the parameters that most classifiers have; for the `__init__` of a subclass."""
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_clone__(self) -> Any:
        """Return an unfitted copy, with the same client of a cluster: it cannot be copied."""
        if self.client is None:
            return super().__sklearn_clone__()
        return clone(copy(self)).set_params(client=self.client)  # `copy` uses the state below

    def __getstate__(self) -> Any:
        """Return what is copied and stored, without the client of a cluster."""
        state = super().__getstate__()
        return {**state, "client": None} if state.get("client") is not None else state

    # ------------------------------------------------------------------ for subclasses

    def _class_proba_of(self, X: Any) -> FloatArray:
        """Return probabilities of ``space_.classes``: (n_samples, n_classes).

        By default derived from those of the nodes, for models that are fitted by node.
        """
        return np.asarray(self._answers.table_from_nodes(self._node_proba_of(X), "all"))

    def _node_proba_of(self, X: Any) -> Any:
        """Return raw probabilities of ``nodes_``: (n_samples, n_columns).

        They need not be coherent. The array is changed in place by the caller.
        """
        raise NotImplementedError

    def _route_of(self, X: Any) -> Route:
        """Return the route over the rows of X; by default that of the class probabilities."""
        return RouteByMarginals(self.space_, self._class_proba_of(X))

    def _gives_proba(self) -> bool:
        """Return whether the model has probabilities, not only margins."""
        return True

    def _takes_any_scale(self) -> bool:
        """Return whether values of X are only compared, so that no square can overflow."""
        return False

    def _kind_of_units(self) -> Kind:
        """Return what the method makes of columns, by which they get other units if need be."""
        return "columns"

    def _hierarchy_setting(self) -> Any:
        """Return the hierarchy parameter: a Hierarchy, a learner of one, or None."""
        return self.hierarchy

    def _dag_rule(self) -> str:
        return getattr(self, "dag_rule", "all")

    # ------------------------------------------------------------------ reading

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        """Check X, and return it in units that the method can tell values apart in.

        Sets ``column_units_`` in a fit, where some column needs another unit.
        """
        rows = self._check_features(X, reset=reset)
        if reset:
            self._find_units(rows)
        return self._in_units(rows)

    def _find_units(self, rows: Any) -> None:
        """Set ``column_units_`` if some column needs another unit."""
        self.__dict__.pop("column_units_", None)  # of an earlier fit
        kind = self._kind_of_units()
        units = None if kind == "own" else ColumnUnits.of(rows, kind)
        if units is not None and kind == "unknown":
            warnings.warn(units.as_advice(), stacklevel=caller_level())
        elif units is not None:
            self.column_units_ = units

    def _in_units(self, rows: Any) -> Any:
        """Return checked rows in the units of the fit."""
        units: ColumnUnits | None = getattr(self, "column_units_", None)
        return rows if units is None else units.apply(rows)

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        """Check X; tables and texts are not converted, so that pipelines can use their columns."""
        if reset:
            check_jobs(self)
        X = in_memory(X, tell=True)
        if is_text(X) or hasattr(X, "columns") or hasattr(X, "column_names"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if not is_text(X) and 0 in X.shape:
                raise ValueError(f"X has shape {X.shape}: expected at least one row and column.")
            return X
        tags = self.__sklearn_tags__().input_tags
        return read_rows(
            X,
            self,
            reset=reset,
            any_scale=self._takes_any_scale(),
            dtype=None,
            ensure_all_finite="allow-nan" if tags.allow_nan else True,
        )

    def _read_rows(self, X: Any) -> Any:
        """Check X for a fitted model, and return it in the units that the model was fitted in."""
        check_is_fitted(self)
        return self._read_features(X, reset=False)

    def _learn_target(
        self,
        X: Any,
        y: Any,
        weights: FloatArray | None = None,
        *,
        by_node: bool = False,
        takes_several: bool | None = None,
    ) -> Any:
        """Read y, and set ``_answers`` and the attributes of the class.

        Parameters
        ----------
        X : rows
        y : labels of n_samples rows
            Or `NodeLabels`, which are used unchanged.
        weights : array of shape (n_samples,), optional
            Rows of weight 0, and labels that only they have, are left out.
        by_node : bool
            Whether to return targets by node also for one path per row. If y has the form of sets
            or an indicator matrix, ``several_paths_`` is then True, as it is if the rule is a
            threshold; if y has names or paths, predictions are single paths.
        takes_several : bool, optional
            Whether rows may have several paths, and the hierarchy may be a DAG; by default that of
            the class.

        Returns
        -------
        int array of shape (n_used,) or sparse bool array of shape (n_used, n_columns)
            Classes as positions in ``space_.classes``; or, for targets by node, the nodes of
            ``nodes_`` that are true, their ancestors included.
        """
        if takes_several is None:
            takes_several = self._takes_several_paths
        if takes_several and hasattr(self, "dag_rule"):
            check_dag_rule(self._dag_rule())
        setting = self._hierarchy_setting()
        who = None if takes_several else type(self).__name__
        labels, learner = read_labels(
            setting, X, y, weights, takes_matrices=takes_several, needs_tree=who
        )
        if learner is not None:
            self.hierarchy_learner_ = learner
        if who is not None:
            check_one_path(labels, who)
        check_consistent_length(X, labels.given)
        used = used_rows(weights)
        if not takes_several:
            answers, targets = path_target(labels, used)
            self._set_answers(answers)
            return targets
        learned = labels
        if used is not None:
            learned = NodeLabels(labels.hierarchy, labels.given[used], labels.form)
        return self._learn_any(labels, learned, used, by_node=by_node)

    def _learn_any(
        self,
        labels: NodeLabels,
        learned: NodeLabels,
        used: NDArray[np.bool_] | None,
        *,
        by_node: bool,
    ) -> Any:
        """Set the answers of labels, of which `learned` are those of used rows; return targets."""
        prefers_sets = by_node or self._has_label_rule()
        several = has_several(learned) or (prefers_sets and labels.form.several)
        self._check_decoding(several)
        if several:
            node_sets, targets = node_target(learned)
            self._set_answers(node_sets)
            return targets
        # errors for one path per row refer to all rows, unless rows of weight 0 have several paths
        is_whole = labels.is_single_path
        answers, codes = path_target(labels, used) if is_whole else path_target(learned, None)
        self._set_answers(answers)
        return closed_targets(learned, answers) if by_node else codes

    def _set_answers(self, answers: Any) -> None:
        """Set ``_answers`` and the public attributes that depend on it."""
        self._answers = answers
        self.hierarchy_ = answers.hierarchy
        self.label_form_ = answers.form
        self.classes_ = answers.classes
        self.__dict__.pop("space_", None)  # of an earlier fit
        if not answers.by_node:
            self.space_ = answers.space
        if self._takes_several_paths:
            self.nodes_, self.several_paths_ = answers.nodes, answers.by_node

    def _given_hierarchy(self) -> Hierarchy | None:
        """Return the hierarchy that the user set, None if it is found in y or learned."""
        return given_hierarchy(self._hierarchy_setting())

    # ------------------------------------------------------------------ deciding

    def _rule(self) -> Any:
        """Return the decision rule for one path per row or for sets of nodes."""
        return self._threshold_rule() if self._answers.by_node else self._decision_rule()

    def _decision_rule(self) -> Any:
        """Return the rule for one path per row."""
        if self._takes_several_paths:
            self._check_decoding(False)
        if self.decoding != "auto":
            rule = resolve_decoding(self.decoding)
            chosen = getattr(self, "decoding_", None)
            is_open = isinstance(rule, Marginal) and rule.is_open
            return chosen if is_open and chosen is not None else rule
        if self.space_.depth.max() <= 1:
            return BestPath()  # equal to the best expected F1 on a star
        return MinExpectedLoss("hierarchical_f1", candidates="classes")

    def _threshold_rule(self) -> LabelRule:
        """Return the rule for several paths per row."""
        rule = resolve_label_rule(self.decoding)
        if isinstance(rule, TunedRule):
            raise PalmetteError(
                f"decoding={self.decoding!r} is tuned on held-out rows, but "
                f"{type(self).__name__} has none. Wrap it: "
                "ThresholdedMultilabel(estimator, rule=...)."
            )
        return rule

    def _has_label_rule(self) -> bool:
        """Return whether the rule is for several paths per row only."""
        is_open = isinstance(self.decoding, str) and self.decoding == "auto"
        return not is_open and is_label_rule(self.decoding)

    def _check_decoding(self, several: bool) -> None:
        """Raise an error for a rule for several paths if y has one, or the other way round."""
        if several:
            self._threshold_rule()
        elif self._has_label_rule():
            raise PalmetteError(
                f"decoding={self.decoding!r} is a rule for several paths per row, but y has one "
                "path per row: expected 'auto' or a rule for one path, such as 'best_path' or "
                "palmette.decoding.Confident(0.5), which can choose an inner node."
            )

    def _table_of(self, X: Any) -> FloatArray:
        """Return the table that `_answers` decides by, for rows that have been read."""
        if self._answers.by_node:
            proba = self._node_proba_of(X)
            return np.asarray(self._answers.table_from_nodes(proba, self._dag_rule()))
        return self._class_proba_of(X)

    def _tables(self, X: Any) -> Iterator[FloatArray]:
        """Yield the tables of some rows at a time."""
        for part in self._parts(X):
            yield self._table_of(part)

    def _decide(self, X: Any) -> Any:
        """Choose the predictions for rows that have been read; see `Answers.decide`."""
        rule = self._rule()
        if not isinstance(rule, RoutedDecoding):
            return self._answers.decide(self._tables(X), rule)
        if isinstance(rule, Decoding) and not self._routes_cheaply:
            return self._answers.decide(self._tables(X), rule)
        size = rule.numbers_per_row(self.space_) if self._routes_cheaply else None
        return np.concatenate(
            [
                rule.follow(self._route_of(part), count_rows(part), self.space_)
                for part in self._parts(X, size)
            ]
        )

    def _parts(self, X: Any, numbers_per_row: int | None = None) -> Iterator[Any]:
        """Yield chunks of rows whose tables over all nodes fit in memory."""
        n_rows = count_rows(X)
        if numbers_per_row is None:
            numbers_per_row = self._numbers_over_nodes()
        for chunk in row_chunks(n_rows, numbers_per_row):
            yield X if chunk == slice(0, n_rows) else take_rows(X, chunk)

    def _numbers_over_nodes(self) -> int:
        """Return how many numbers the tables of one row have."""
        numbers: int = self._answers.numbers_per_row
        return numbers

    # ------------------------------------------------------------------ predictions

    def predict(self, X: Any) -> Any:
        """Predict labels in the form of the `y` that the model was fitted on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels of n_samples rows
            With several paths per row: sets, or a 0/1 matrix, of the nodes that the rule chooses,
            such as those above a threshold; with all of their ancestors if `y` lists them,
            otherwise the most specific. If X is a Dask array or DataFrame, a Dask array.
        """
        if is_lazy(X):
            return lazy_answers(self, "predict", X)
        rows = self._read_rows(X)
        return self._answers.write(self._decide(rows), row_index(X))

    def predict_nodes(self, X: Any) -> Any:
        """Predict one node number of ``hierarchy_`` per row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        int array of shape (n_samples,)
            If X is a Dask array or DataFrame, a Dask array.
        """
        check_is_fitted(self)
        self._answers.check_one_node()
        if is_lazy(X):
            return lazy_answers(self, "predict_nodes", X)
        return self._decided(X)

    @available_if(_may_answer_with_sets)
    def predict_node_sets(self, X: Any) -> sparse.csr_array:
        """Predict the nodes of ``hierarchy_`` that are true of every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        sparse bool array of shape (n_samples, n_nodes)
            With the root, and with all ancestors of every node; in a DAG with ``dag_rule="any"``
            with at least one parent of every node.
        """
        if is_lazy(X):
            return joined(answers_by_parts(self, "predict_node_sets", X))
        rows = self._read_rows(X)
        return self._answers.node_sets(self._decide(rows))

    @available_if(_has_proba)
    def predict_proba(self, X: Any) -> Any:
        """Return probabilities of the labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns as in ``classes_``. With one path per row in a tree rows sum to one; otherwise
            every column is the probability that its node is true; 0 for a node without rows. If X
            is a Dask array or DataFrame, a Dask array.
        """
        if is_lazy(X):
            return lazy_answers(self, "predict_proba", X)
        rows = self._read_rows(X)
        proba = self._filled(self._tables(rows), count_rows(rows), self._answers.label_proba)
        return self._answers.arrange(proba)

    @available_if(_has_proba)
    def predict_node_proba(self, X: Any, nodes: Any = None) -> Any:
        """Return probabilities of nodes: a child never exceeds its parent, the root has 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        nodes : list of names or paths, optional
            All nodes of ``hierarchy_`` by default.

        Returns
        -------
        array of shape (n_samples, n_nodes)
            With one path per row in a tree siblings sum to their parent. In a DAG a node never
            exceeds its least probable parent with ``dag_rule="all"``, its most probable one with
            ``"any"``. If X is a Dask array or DataFrame, a Dask array.
        """
        if is_lazy(X):
            return lazy_answers(self, "predict_node_proba", X, nodes=nodes)
        rows = self._read_rows(X)
        hierarchy = self.hierarchy_
        wanted = np.arange(hierarchy.n_nodes) if nodes is None else hierarchy.index(_listed(nodes))
        return self._proba_of_nodes(rows, wanted)

    def _proba_of_nodes(self, X: Any, wanted: IntArray) -> FloatArray:
        """Return probabilities of nodes for rows that have been read: (n_samples, n_wanted)."""
        return self._filled(
            self._tables(X), count_rows(X), lambda t: self._answers.node_proba(t, wanted)
        )

    def _filled(
        self, tables: Iterable[FloatArray], n_rows: int, convert: Callable[[FloatArray], FloatArray]
    ) -> FloatArray:
        """Convert the tables of some rows at a time into one array."""
        filled, start = np.empty((0, 0)), 0
        for table in tables:
            part = convert(table)
            if not start:
                filled = np.empty((n_rows, part.shape[1]))
            filled[start : start + len(part)] = part
            start += len(part)
        return filled

    @available_if(_has_proba)
    def predict_top_k(self, X: Any, k: int = 5) -> tuple[list[list[Any]], FloatArray]:
        """Return the `k` most probable labels of every row, best first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        k : int

        Returns
        -------
        labels : list of n_samples lists of k labels
            As in ``classes_``; fewer if there are fewer. Measures such as
            `palmette.metrics.precision_at_k` accept them.
        proba : array of shape (n_samples, k)
            With several paths per row, the probability that a row lists this very label: of an
            inner node less than that of `predict_proba`, which includes everything below it.
        """
        if is_lazy(X):
            parts = answers_by_parts(self, "predict_top_k", X, k=k)
            by_part, shares = zip(*parts, strict=True)
            return list(chain.from_iterable(by_part)), np.concatenate(shares)
        rows = self._read_rows(X)
        if k < 1:
            raise PalmetteError(f"k={k!r}: expected a positive integer.")
        nodes, proba = self._top_k(rows, k)
        unique, places = np.unique(nodes, return_inverse=True)
        names = object_array(
            as_list(self._answers.form.class_labels(unique, self._answers.hierarchy))
        )
        return names[places.reshape(nodes.shape)].tolist(), proba

    def _top_k(self, X: Any, k: int) -> tuple[IntArray, FloatArray]:
        """Return nodes and probabilities of the best labels of rows that have been read."""
        nodes, proba = zip(
            *(self._answers.best_labels(table, k) for table in self._tables(X)), strict=True
        )
        return np.concatenate(nodes), np.concatenate(proba)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose labels are predicted exactly.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : labels of n_samples rows
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
            With one path per row a row is correct if its most specific node is, with several if all
            of its nodes are, including ancestors.
        """
        check_is_fitted(self)
        y, sample_weight = in_memory(y), in_memory(sample_weight)
        chosen = joined(answers_by_parts(self, "_decided", X)) if is_lazy(X) else None
        check_consistent_length(X if chosen is None else chosen, y, sample_weight)
        return self._share_right(self._decided(X) if chosen is None else chosen, y, sample_weight)

    def _decided(self, X: Any) -> Any:
        """Choose the predictions for rows of a fitted model; see `_decide`."""
        return self._decide(self._read_rows(X))

    def _share_right(self, chosen: Any, y: Any, sample_weight: Any) -> float:
        """Return the share of predictions that are correct."""
        is_given = self._given_hierarchy() is not None
        right = self._answers.are_right(chosen, y, is_given=is_given)
        return float(np.average(right, weights=sample_weight))

    # ------------------------------------------------------------------ scikit-learn

    def _html_repr(self) -> str:
        return fitted_html(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._takes_several_paths
        return tags


def _listed(nodes: Any) -> list[Any]:
    """Return nodes as a list; a single node is a string or a tuple."""
    return [nodes] if isinstance(nodes, str | tuple) else list(nodes)
