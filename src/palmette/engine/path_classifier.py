"""What every classifier with any number of paths a row shares, in trees and DAGs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_consistent_length
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from palmette.core.coherence import NodeColumns, add_root, check_dag_rule, make_coherent
from palmette.core.containers import row_index
from palmette.core.decode import path_product, top_classes
from palmette.core.label_rules import LabelRule, TunedRule, is_label_rule, resolve_label_rule
from palmette.core.labels import NodeLabels
from palmette.core.rows import count_rows
from palmette.engine.several_paths import (
    NodeRoute,
    closed_on,
    count_open_rows,
    has_several,
    labels_listed,
    lists_as_matrix,
    nodes_in,
)
from palmette.engine.single_path import (
    SinglePathClassifier,
    _asked_for_proba,
    _listed,
)
from palmette.engine.target import check_target
from palmette.engine.weights import used_rows
from palmette.exceptions import LabelError, PalmetteError

__all__ = ["PathClassifier"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class PathClassifier(SinglePathClassifier):
    """Base of classifiers that take one path a row or several, in trees and DAGs.

    With one path a row in a tree it is a `SinglePathClassifier`. Otherwise every node is a yes or
    no of its own: rows may have several paths or none, and answers are the nodes that a `LabelRule`
    chooses, a threshold by default, always with the ancestors that the hierarchy asks for.

    A subclass sets the parameters ``hierarchy``, ``decoding`` and, if it likes, ``dag_rule``: with
    "all", the default, a node of a DAG is true only where all of its parents are, with "any" where
    one of them is. It calls `_read_any_target` in its `fit`, and gives `_node_proba_of` for targets
    by node and `_class_proba_of` for targets by class.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    label_form_ : LabelForm
    classes_ : array of shape (n_classes,)
        Labels as y lists them; every column of an indicator matrix.
    nodes_ : int array of shape (n_columns,)
        Nodes with a training row, their ancestors among them, without the root; ascending.
    several_paths_ : bool
        Whether nodes are answered one by one: y has several paths a row, or a DAG.
    """

    # ------------------------------------------------------------------ for subclasses

    def _node_proba_of(self, X: Any) -> Any:
        """Raw probabilities of shape (n_samples, n_columns), columns as in ``nodes_``.

        They need not be coherent. A float array from 0 to 1 that nobody else uses: it is changed.
        """
        raise NotImplementedError

    def _class_proba_of(self, X: Any) -> FloatArray:
        """Probabilities of shape (n_samples, n_classes), columns as in ``space_.classes``.

        Here those that the nodes imply, for models that learnt one path a row by node.
        """
        return self._class_proba_by_node(self._node_proba_of(X))

    def _class_proba_by_node(self, proba: Any) -> FloatArray:
        """Probabilities of classes, one path a row, from raw ones of nodes.

        In every family the options share what there is, a label with children taking what they
        leave.

        Parameters
        ----------
        proba : array of shape (n_samples, n_columns)
            As from `_node_proba_of`; changed in place.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        coherent = make_coherent(proba, self._columns)
        return path_product(self.space_, NodeRoute(coherent), len(proba))

    # ------------------------------------------------------------------ reading

    def _read_any_target(
        self,
        X: Any,
        y: Any,
        weights: NDArray[np.float64] | None = None,
        *,
        force_several: bool = False,
    ) -> IntArray | sparse.csr_array:
        """Encode y, and set the attributes of the class and, with one path a row, ``space_``.

        Parameters
        ----------
        X : rows
        y : labels of n_samples rows
            Or `NodeLabels`, which are taken as they are.
        weights : array of shape (n_samples,), optional
            Labels of rows without weight are not learnt, and the rows count for nothing.
        force_several : bool
            Whether to ask for targets by node of data with one path a row too. Where y is written
            as sets or an indicator matrix, ``several_paths_`` is then True, as it is where a
            threshold is the rule; where y is written as names or paths, answers are single paths.

        Returns
        -------
        int array of shape (n_used,) or sparse bool array of shape (n_used, n_columns)
            Classes as positions in ``space_.classes``; or, for targets by node, the nodes of
            ``nodes_`` that are true, their ancestors included.
        """
        check_dag_rule(self._dag_rule())
        labels = self._encode_any(X, y, weights)
        check_consistent_length(X, labels.given)
        learnt, used = labels, used_rows(weights)
        if used is not None:
            learnt = NodeLabels(labels.hierarchy, labels.given[used], labels.form)
        asked_for = force_several or is_label_rule(self.decoding)
        self.several_paths_ = has_several(learnt) or (asked_for and labels.form.several)
        self._check_decoding()
        if self.several_paths_:
            self._learn_nodes(learnt)
            return self._closed_targets(learnt)
        if labels.is_single_path:
            codes = self._learn_paths(labels, used)  # errors then count all rows
        else:
            codes = self._learn_paths(learnt, None)
        self.nodes_ = self.space_.nodes[1:]
        return self._closed_targets(learnt) if force_several else codes

    def _encode_any(self, X: Any, y: Any, weights: NDArray[np.float64] | None) -> NodeLabels:
        if isinstance(y, NodeLabels):
            self._check_same_hierarchy(y.hierarchy)
            return y
        hierarchy, y = self._hierarchy_for(X, y, weights)
        if isinstance(y, NodeLabels):
            return y  # a learner of the hierarchy has read them
        return NodeLabels.encode(check_target(lists_as_matrix(y, hierarchy)), hierarchy)

    def _closed_targets(self, labels: NodeLabels) -> sparse.csr_array:
        self._columns = NodeColumns(labels.hierarchy, self.nodes_)
        return sparse.csr_array(labels.closed[:, self.nodes_])

    def _learn_nodes(self, labels: NodeLabels) -> None:
        """Set what follows from labels of several paths a row, or of a DAG."""
        self.nodes_ = nodes_in(labels.closed)
        if not len(self.nodes_):
            raise LabelError(
                f"none of the {labels.n_samples} rows of y has a label: expected some to learn."
            )
        self.hierarchy_ = labels.hierarchy
        self.label_form_ = labels.form.as_answer()
        self._lists_root = bool((labels.given.indices == 0).any())
        self.classes_, self._class_nodes = labels_listed(labels)
        empty = ~np.isin(self._class_nodes, np.r_[0, self.nodes_])
        if empty.any():
            warnings.warn(
                f"{empty.sum()} of the {len(empty)} columns of y have no positive row, e.g. "
                f"{self.classes_[empty][0]!r}: they are never predicted.",
                stacklevel=4,
            )
        n_open = count_open_rows(labels)
        if n_open:
            warnings.warn(
                f"{n_open} of the {labels.n_samples} rows of y mark a node but not its ancestors, "
                "which are columns too: ancestors are taken to be true.",
                stacklevel=4,
            )

    def _dag_rule(self) -> str:
        return getattr(self, "dag_rule", "all")

    # ------------------------------------------------------------------ deciding

    def _decision_rule(self) -> Any:
        self._check_decoding()
        return super()._decision_rule()

    def _threshold_rule(self) -> LabelRule:
        """Return the rule for several paths, ready to choose."""
        rule = resolve_label_rule(self.decoding)
        if isinstance(rule, TunedRule):
            raise PalmetteError(
                f"decoding={self.decoding!r} is tuned on held-out rows, and "
                f"{type(self).__name__} sets none aside. Wrap it: "
                "ThresholdedMultilabel(estimator, rule=...)."
            )
        return rule

    def _check_decoding(self) -> None:
        """Refuse rules for several paths where there is one, and the other way round."""
        if self.several_paths_:
            self._threshold_rule()
        elif is_label_rule(self.decoding):
            raise PalmetteError(
                f"decoding={self.decoding!r} is a rule for several paths a row, but y has one path "
                "a row: expected 'auto' or a rule that chooses one, such as 'best_path' or "
                "palmette.decoding.Confident(0.5), which may end at an inner node."
            )

    def _coherent_proba(self, X: Any) -> Any:
        return make_coherent(self._node_proba_of(X), self._columns, self._dag_rule())

    def _numbers_over_nodes(self) -> int:
        if self.several_paths_:
            return 4 * len(self.nodes_)  # raw, coherent, flags, and what makes them
        return super()._numbers_over_nodes()

    @property
    def _answers_with_sets(self) -> bool:
        """Whether an answer may be several paths; names of a DAG are one label a row."""
        check_is_fitted(self)
        return self.several_paths_ and self.label_form_.several

    # ------------------------------------------------------------------ answering

    def predict(self, X: Any) -> Any:
        """Predict labels, in the form of the `y` that the model was fitted on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels of n_samples rows
            With several paths a row: sets, or a 0/1 matrix, of the nodes that the rule chooses,
            those above a threshold, say; with all of their ancestors where `y` lists them, else the
            most specific.
        """
        if not self._answers_with_sets:
            return super().predict(X)
        form, hierarchy = self.label_form_, self.hierarchy_
        nodes = self._told_sets(X)
        if not form.lists_ancestors:
            nodes = NodeLabels(hierarchy, nodes, form).specific
        if form.kind == "indicator" and self._lists_root:
            nodes = add_root(nodes)
        return form.write_sets(nodes.indptr, nodes.indices, hierarchy, row_index(X))

    def _chosen_sets(self, X: Any) -> sparse.csr_array:
        """Nodes below the root that are true of every row: sparse bool, (n_samples, n_nodes)."""
        X = self._read_features(X, reset=False)
        rule = self._threshold_rule()
        tables = (self._coherent_proba(part) for part in self._parts(X))
        if rule.sees_all_rows:
            tables = iter([np.concatenate(list(tables))])
        parts = [rule.choose(table, self._columns) for table in tables]
        return self._columns.sets_of_nodes(sparse.vstack(parts, format="csr"))

    def _told_sets(self, X: Any) -> sparse.csr_array:
        """Those of `_chosen_sets` that the form of y can tell: a matrix has only its columns."""
        nodes, columns = self._chosen_sets(X), self.label_form_.columns
        if columns is not None:
            nodes.data &= np.isin(nodes.indices, columns)
            nodes.eliminate_zeros()
        return nodes

    def predict_nodes(self, X: Any) -> IntArray:
        """Predict node numbers of ``hierarchy_``, of shape (n_samples,), for one label a row."""
        if self._answers_with_sets:
            raise PalmetteError(
                "predict_nodes answers with one node a row, but this model was fitted on several "
                "paths a row. Use predict_node_sets."
            )
        if not self.several_paths_:
            return super().predict_nodes(X)
        X = self._read_features(X, reset=False)
        rule, labels = self._threshold_rule(), self._class_nodes
        parts = [
            rule.choose_labels(self._coherent_proba(part), self._columns, labels)
            for part in self._parts(X)
        ]
        return np.concatenate(parts)

    def predict_node_sets(self, X: Any) -> sparse.csr_array:
        """Predict the nodes of ``hierarchy_`` that are true of every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        sparse bool array of shape (n_samples, n_nodes)
            With the root, and with all ancestors of every node; in a DAG with ``dag_rule="any"``
            with one parent of every node at least.
        """
        if self._answers_with_sets:
            return add_root(self._chosen_sets(X))
        return sparse.csr_array(self.hierarchy_.closure[self.predict_nodes(X)])

    @available_if(_asked_for_proba)
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns as in ``classes_``. With one path a row in a tree rows sum to one; otherwise
            every column is the probability that its node is true, and 0 for a node never seen.
        """
        check_is_fitted(self)
        if not self.several_paths_:
            return super().predict_proba(X)
        return self._proba_of_nodes(X, self._class_nodes)

    @available_if(_asked_for_proba)
    def predict_node_proba(self, X: Any, nodes: Any = None) -> FloatArray:
        """Probabilities of nodes: a child never exceeds its parent, the root is certain.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        nodes : list of names or paths, optional
            Nodes wanted; all of ``hierarchy_`` by default.

        Returns
        -------
        array of shape (n_samples, n_nodes)
            In a DAG a node never exceeds any of its parents with ``dag_rule="all"``, and not all of
            them with ``"any"``. With one path a row in a tree siblings sum to their parent.
        """
        check_is_fitted(self)
        if not self.several_paths_:
            return super().predict_node_proba(X, nodes)
        hierarchy = self.hierarchy_
        wanted = np.arange(hierarchy.n_nodes) if nodes is None else hierarchy.index(_listed(nodes))
        return self._proba_of_nodes(X, wanted)

    def _proba_of_nodes(self, X: Any, wanted: IntArray) -> FloatArray:
        X = self._read_features(X, reset=False)
        proba = np.empty((count_rows(X), len(wanted)))
        start = 0
        for part in self._parts(X):
            stop = start + count_rows(part)
            proba[start:stop] = self._columns.pick(self._coherent_proba(part), wanted)
            start = stop
        return proba

    @available_if(_asked_for_proba)
    def predict_top_k(self, X: Any, k: int = 5) -> tuple[list[Any], FloatArray]:
        """Return the `k` most probable labels of every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        k : int

        Returns
        -------
        labels : list of k answers
            The best label of every row, the second best, ...: each in the form of `y`.
        proba : array of shape (n_samples, k)
        """
        check_is_fitted(self)
        if not self.several_paths_:
            return super().predict_top_k(X, k)
        if k < 1:
            raise PalmetteError(f"k={k!r}: expected a positive integer.")
        labels = self._class_nodes[self._class_nodes > 0]
        X = self._read_features(X, reset=False)
        best, values = [], []
        for part in self._parts(X):
            proba = self._columns.pick(self._coherent_proba(part), labels)
            chosen = top_classes(proba, k)
            best.append(labels[chosen])
            values.append(np.take_along_axis(proba, chosen, axis=1))
        nodes = np.concatenate(best)
        return [self._write(column, row_index(X)) for column in nodes.T], np.concatenate(values)

    # ------------------------------------------------------------------ scoring

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose labels are predicted exactly.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : labels of n_samples rows
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
            With several paths a row a row is right where all of its nodes are, ancestors included.
        """
        check_is_fitted(self)
        if self.label_form_.kind == "indicator":
            y = lists_as_matrix(y, self.hierarchy_)
        if not self._answers_with_sets:
            return super().score(X, y, sample_weight)
        check_consistent_length(X, y, sample_weight)
        if self._given_hierarchy() is None:
            true, known = closed_on(self.hierarchy_, y, self.label_form_.columns)
        else:
            true, known = NodeLabels.encode(y, self.hierarchy_).closed, True
        form, predicted = self.label_form_, self._told_sets(X)
        compared = np.arange(1, self.hierarchy_.n_nodes)
        if not form.lists_ancestors:
            predicted = NodeLabels(self.hierarchy_, predicted, form).closed
        elif form.columns is not None:
            compared = form.columns[form.columns > 0]
        wrong = sparse.csr_array(predicted[:, compared] != true[:, compared])
        right = (np.diff(wrong.indptr) == 0) & known
        return float(np.average(right, weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
