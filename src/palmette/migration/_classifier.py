"""MigratedClassifier: a fitted classifier that answers over a changed hierarchy."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from palmette._arrays import FloatArray, IntArray, count_rows
from palmette.base._adapters import (
    PathAnswers,
    final_step,
    gives_node_proba,
    hierarchy_of,
    node_proba,
    node_sets,
    nodes_of,
    to_last_step,
)
from palmette.base._answers import NodeSets, OnePath, label_order
from palmette.base._classifier import HierarchicalClassifier
from palmette.base._wrapping import places_of_hierarchy
from palmette.decisions._coherence import NodeColumns
from palmette.decisions._decode import normalize_rows
from palmette.decisions._rules import BestPath, TopDown
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._containers import Container
from palmette.labels._forms import LabelForm
from palmette.labels._labels import NodeLabels
from palmette.labels._space import LabelSpace
from palmette.migration._steps import Pending, Step, any_of
from palmette.persistence.checks import numbers, require, within

# facts of the fit that do not depend on the hierarchy, for reports
_FACTS = ("feature_importances_", "train_loss_", "validation_loss_", "train_score_",
          "validation_score_", "loss_curve_", "objective_")  # fmt: skip


def _has_sets(self: MigratedClassifier) -> bool:
    fitted = getattr(self, "fitted_", None)
    return hasattr(fitted, "predict_set_nodes") and not getattr(self, "several_paths_", True)


class MigratedClassifier(HierarchicalClassifier):
    """A fitted classifier, unchanged, that answers over a changed hierarchy.

    Its probabilities are carried over: a renamed or moved label keeps its probability, merged
    labels have the sum, and the rest is rescaled if labels are removed. A label that was split, or
    a new one, gets a classifier of its own once there are rows for it, see `fit_pending`. With
    several paths per row nodes keep theirs; merged nodes have the probability that one of them is
    true.

    Parameters
    ----------
    estimator : classifier
        The classifier that was fitted over the old hierarchy.
    hierarchy : Hierarchy
        The new hierarchy.
    decoding : rule of `palmette.decoding`
        By default that of the estimator.

    Attributes
    ----------
    fitted_ : classifier
        The estimator, fitted over the old hierarchy.
    targets_ : int array of shape (n_columns,)
        Node of every column of probabilities, -1 for removed ones. Columns are the labels of the
        fitted classifier (its nodes, if they are decided separately), then those of `steps_`.
    origins_ : int array of shape (n_old_nodes,)
        Node of every node of the old hierarchy, -1 for removed ones.
    steps_ : list of Step
        Classifiers that were fitted after the hierarchy had changed.
    pending_ : list of Pending
        Nodes that still need rows.
    """

    fitted_: Any
    origins_: IntArray
    targets_: IntArray
    steps_: list[Step]
    pending_: list[Pending]

    def __init__(
        self, estimator: Any = None, hierarchy: Hierarchy | None = None, decoding: Any = "auto"
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.decoding = decoding

    @classmethod
    def around(cls, fitted: Any) -> MigratedClassifier:
        """Wrap a fitted classifier whose hierarchy has not changed yet."""
        hierarchy = hierarchy_of(fitted)
        answers = _answers_of(fitted, hierarchy)
        self = cls(fitted, hierarchy, _rule_of(fitted))
        self.fitted_ = fitted
        self.origins_ = np.arange(hierarchy.n_nodes, dtype=np.int32)
        self.targets_ = self.origins_.copy()
        if not answers.by_node:
            self.targets_ = answers.space.classes.astype(np.int32)
        self.steps_, self.pending_ = [], []
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        self._set_answers(answers)
        return self

    def fit(self, X: Any, y: Any) -> MigratedClassifier:
        """Fit the estimator again on all rows, over the new hierarchy.

        Parameters
        ----------
        X : rows
        y : labels of n_samples rows

        Returns
        -------
        self
        """
        estimator = clone(self.estimator)
        estimator.set_params(**dict.fromkeys(places_of_hierarchy(estimator), self.hierarchy))
        again = MigratedClassifier.around(estimator.fit(X, y))
        again.set_params(**self.get_params(deep=False))
        self.__dict__.clear()
        self.__dict__.update(again.__dict__)
        return self

    def __getattr__(self, name: str) -> Any:
        if name in _FACTS and "fitted_" in self.__dict__:
            return getattr(self.fitted_, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    # ------------------------------------------------------------------ state

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Whether each column has a node, and was not divided among others: (n_columns,)."""
        found: NDArray[np.bool_] = self.targets_ >= 0
        for step in self.steps_:
            if not step.has_rest and not step.keeps:
                found[step.sources] = False
        return found

    @property
    def has_new_names_only(self) -> bool:
        """Whether all nodes are where they were when the classifier was fitted."""
        same = np.array_equal(self.origins_, np.arange(self.hierarchy_.n_nodes))
        old = hierarchy_of(self.fitted_)
        return not self.steps_ and same and np.array_equal(old.edges, self.hierarchy_.edges)

    def origins_of(self, node: int) -> IntArray:
        """Return the nodes of the old hierarchy that are now this node."""
        return np.flatnonzero(self.origins_ == node).astype(np.int32)

    def settle(self, form: LabelForm, listed: IntArray) -> None:
        """Set the answers after nodes or columns have changed.

        Parameters
        ----------
        form : LabelForm
            Form of the labels, with node numbers of the new hierarchy.
        listed : int array of shape (n_listed,)
            With several paths per row, the nodes that are labels.
        """
        hierarchy = self.hierarchy
        nodes = np.unique(self.targets_[self.alive]).astype(np.int32)
        if not self.several_paths_:
            space = type(self.space_)(hierarchy, nodes)
            self._set_answers(OnePath(space, form))
            return
        above = np.unique(hierarchy.closure[nodes].indices)
        columns = NodeColumns(hierarchy, above[above > 0].astype(np.int32))
        listed = np.unique(listed[np.isin(listed, nodes)]).astype(np.int32)
        names = form.class_labels(listed, hierarchy)
        order = label_order(names)
        self._set_answers(NodeSets(columns, form, listed[order], names[order]))

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        if not hasattr(self, "fitted_"):
            return
        hierarchy, answers = self.hierarchy_, self._answers
        old = hierarchy_of(self.fitted_)
        require(answers.hierarchy is hierarchy is self.hierarchy, "another hierarchy was expected")
        origins = numbers(self.origins_, np.int32, 1, "origins_")
        targets = numbers(self.targets_, np.int32, 1, "targets_")
        require(len(origins) == old.n_nodes, "origins_ has another number of nodes")
        for each in (origins, targets):
            require(within(each + 1, hierarchy.n_nodes + 1), "a node is not in the hierarchy")
        require(all(type(step) is Step for step in self.steps_), "steps_ has no steps")
        require(all(type(each) is Pending for each in self.pending_), "pending_ is of another type")
        n_columns = self._n_first
        for step in self.steps_:
            require(step.first == n_columns, "a step has other columns")
            n_columns += step.n_parts
        require(len(targets) == n_columns, "targets_ has another number of columns")
        for waiting in self.pending_:
            require(within(waiting.sources, n_columns), "a column is unknown")
            require(within(waiting.parts, hierarchy.n_nodes), "a node is not in the hierarchy")
        known = answers.nodes if answers.by_node else answers.space.classes
        used = targets[self.alive]
        require(np.isin(used[used > 0], known), "a column has no label")

    # ------------------------------------------------------------------ probabilities

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        return X  # read by the fitted classifier

    def _gives_proba(self) -> bool:
        return hasattr(self, "fitted_") and gives_node_proba(self.fitted_)

    @property
    def _n_first(self) -> int:
        """Number of columns of the fitted classifier."""
        if self._answers.by_node:
            return len(self.origins_)
        return len(_answers_of(self.fitted_, hierarchy_of(self.fitted_)).space.classes)

    @cached_property
    def _paths(self) -> PathAnswers:
        return PathAnswers(self.fitted_, hierarchy_of(self.fitted_))

    def _numbers_over_nodes(self) -> int:
        return super()._numbers_over_nodes() + len(self.targets_)

    def _class_proba_of(self, X: Any) -> FloatArray:
        first = self._fitted_proba(X)
        if self.has_new_names_only and first.shape[1] == self.space_.n_classes:
            return first
        table = np.zeros((len(first), len(self.targets_)))
        table[:, : first.shape[1]] = first
        for step in self.steps_:
            step.divide(table, X)
        used = np.flatnonzero(self.alive)
        place = np.searchsorted(self.space_.classes, self.targets_[used])
        ones = (np.ones(len(used)), (place, np.arange(len(used))))
        sums = sparse.csr_array(ones, shape=(self.space_.n_classes, len(used)))
        proba = np.ascontiguousarray((sums @ table[:, used].T).T)
        return normalize_rows(proba) if (self.targets_ < 0).any() else proba

    def _fitted_proba(self, X: Any) -> FloatArray:
        """Return probabilities of the labels of the fitted classifier, in the order of nodes.

        Without probabilities they are shares of its margins, or 1 for what it predicts.
        """
        if gives_node_proba(self.fitted_):
            return self._paths.class_proba(X)
        old = hierarchy_of(self.fitted_)
        kind, base = type(final_step(self.fitted_)), HierarchicalClassifier
        if issubclass(kind, base) and kind._class_proba_of is not base._class_proba_of:
            X, model = to_last_step(self.fitted_, X)
            return np.asarray(model._class_proba_of(model._read_rows(X)))
        classes = _answers_of(self.fitted_, old).space.classes
        return np.asarray(nodes_of(self.fitted_, X, old)[:, None] == classes, dtype=np.float64)

    def _node_proba_of(self, X: Any) -> FloatArray:
        old = hierarchy_of(self.fitted_)
        table = np.zeros((count_rows(X), len(self.targets_)))
        if gives_node_proba(self.fitted_):
            table[:, : old.n_nodes] = node_proba(self.fitted_, X, old)
        else:
            table[:, : old.n_nodes] = node_sets(self.fitted_, X, old).toarray()
        for step in self.steps_:
            step.add(table, X)
        hierarchy, columns = self.hierarchy_, self._columns_at
        values = np.zeros((hierarchy.n_nodes, len(table)))
        shrunk = self._shrunk
        for node in self.nodes_[::-1].tolist():
            children = hierarchy.children(node)
            below = any_of(values[children].T) if len(children) else None
            own = any_of(table[:, columns[node]]) if node in columns else None
            if own is None:
                values[node] = 0.0 if below is None else below
            else:
                values[node] = own
                if below is not None and node in shrunk:
                    values[node] = below if shrunk[node] else np.minimum(own, below)
        return np.ascontiguousarray(values[self.nodes_].T)

    @cached_property
    def _columns_at(self) -> dict[int, list[int]]:
        """Columns by node; not those of nodes that were below another of them, which imply it."""
        found: dict[int, list[int]] = {}
        for column in np.flatnonzero(self.alive).tolist():
            found.setdefault(int(self.targets_[column]), []).append(column)
        old = hierarchy_of(self.fitted_)
        if old.is_tree:
            ends = [*old.subtree_end.tolist(), *range(old.n_nodes + 1, len(self.targets_) + 1)]
            for node, columns in found.items():
                top = [c for c in columns if not any(o < c < ends[o] for o in columns)]
                found[node] = top
        return found

    @cached_property
    def _shrunk(self) -> dict[int, bool]:
        """Nodes that lost a part of what was below them, and whether they gained another part.

        Not nodes that are labels themselves: their probability is not that of their children.
        """
        hierarchy, old = self.hierarchy_, hierarchy_of(self.fitted_)
        if not hierarchy.is_tree:
            return {}
        own = set() if self.label_form_.lists_ancestors else set(self._answers.class_nodes.tolist())
        ends, found = hierarchy.subtree_end, {}
        for node in np.unique(self.origins_[self.origins_ > 0]).tolist():
            if node in own or hierarchy.is_leaf[node]:
                continue
            inside = (self.targets_ >= node) & (self.targets_ < ends[node])
            before = np.zeros(len(self.targets_), dtype=bool)
            for origin in self.origins_of(node).tolist():
                before[origin : old.subtree_end[origin]] = True
            if (before & ~inside).any():
                found[node] = bool((inside & ~before).any())
        return found

    # ------------------------------------------------------------------ decisions

    def _decide(self, X: Any) -> Any:
        if not self._answers.by_node and self.has_new_names_only:
            return nodes_of(self.fitted_, X, hierarchy_of(self.fitted_))
        return super()._decide(X)

    @property
    def coverage(self) -> float:
        """Coverage of the sets of the fitted classifier."""
        return float(self.fitted_.coverage)

    @available_if(_has_sets)
    def predict_set_nodes(self, X: Any, coverage: float | None = None) -> sparse.csr_array:
        """Predict the sets of the fitted classifier as nodes of ``hierarchy_``.

        A set that contains a label contains it also where it is now, and all parts of one that was
        split, so that the coverage is kept. It says nothing about labels that are new.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, optional

        Returns
        -------
        sparse bool array of shape (n_samples, n_nodes)
        """
        sets = self.fitted_.predict_set_nodes(X, coverage)
        return sparse.csr_array((sets.astype(np.int32) @ self._places_of_old) > 0)

    @available_if(_has_sets)
    def predict_set(self, X: Any, coverage: float | None = None) -> list[set[Any]]:
        """Predict the sets of `predict_set_nodes` as labels."""
        sets = self.predict_set_nodes(X, coverage)
        used = np.unique(sets.indices).astype(np.int32)
        names = self.label_form_.class_labels(used, self.hierarchy_).tolist()
        label = dict(zip(used.tolist(), names, strict=True))
        return [
            {label[node] for node in row.tolist()}
            for row in np.split(sets.indices, sets.indptr[1:-1])
        ]

    @available_if(_has_sets)
    def predict_node_numbers(self, X: Any, coverage: float | None = None) -> IntArray:
        """Predict the deepest node that contains the true label with the chosen probability."""
        old = self.fitted_.predict_node_numbers(X, coverage)
        found = np.zeros(len(old), dtype=np.int32)
        tree, places = hierarchy_of(self.fitted_), self._places_of_old
        for node in np.unique(old).tolist():
            inside = np.unique(places[node : tree.subtree_end[node]].indices)
            place = int(inside[0]) if len(inside) else 0
            for other in inside[1:].tolist():
                place = int(self.hierarchy_.lca(place, other))
            found[old == node] = place
        return found

    @property
    def _places_of_old(self) -> sparse.csr_array:
        """Nodes that stand for every old label, parts too: (n_old_nodes, n_nodes), 0 or 1."""
        classes = _answers_of(self.fitted_, hierarchy_of(self.fitted_)).space.classes
        reach = sparse.lil_array((len(self.targets_), self.hierarchy_.n_nodes), dtype=np.int32)
        for column, node in enumerate(self.targets_.tolist()):
            if node >= 0:
                reach[column, node] = 1
        for pending in self.pending_:
            for column in pending.sources.tolist():
                reach[column, pending.parts] = 1
        for step in reversed(self.steps_):
            if step.has_rest:
                continue
            for column in step.sources.tolist():
                for part in range(step.new.start, step.new.stop):
                    reach[[column]] = ((reach[[column]] + reach[[part]]) > 0).astype(np.int32)
        first = sparse.csr_array(reach)[: len(classes)].tocoo()
        shape = (len(self.origins_), self.hierarchy_.n_nodes)
        return sparse.csr_array((first.data, (classes[first.row], first.col)), shape=shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            inner = get_tags(self.estimator)
            tags.input_tags = inner.input_tags
        return tags


# ---------------------------------------------------------------------- of fitted classifiers


def _answers_of(fitted: Any, hierarchy: Hierarchy) -> Any:
    """Return the answers of any fitted classifier."""
    model = final_step(getattr(fitted, "best_estimator_", fitted))
    if isinstance(model, HierarchicalClassifier):
        answers = model._answers
        if type(answers) not in (OnePath, NodeSets):
            raise PalmetteError(
                f"{type(model).__name__} predicts several columns: expected a model of paths in a "
                "hierarchy."
            )
        if isinstance(answers, NodeSets) and answers.form.kind == "indicator":
            return _as_sets(answers)
        return answers
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise PalmetteError(
            f"{type(model).__name__} has no classes_: expected a fitted classifier."
        )
    labels = NodeLabels.encode(np.asarray(classes), hierarchy)
    form = getattr(model, "label_form_", labels.form)
    return OnePath(LabelSpace(hierarchy, np.unique(labels.terminals).astype(np.int32)), form)


def _as_sets(answers: NodeSets) -> NodeSets:
    """Return answers as sets of names: the columns of a matrix are those of the old labels."""
    form = replace(answers.form, kind="sets", container=Container("list"), dtype=None, width=0,
                   row_type=set, columns=None)  # fmt: skip
    listed = np.sort(answers.class_nodes[answers.class_nodes > 0])
    names = form.class_labels(listed, answers.hierarchy)
    order = label_order(names)
    return NodeSets(answers.columns, form, listed[order], names[order])


def _rule_of(fitted: Any) -> Any:
    """Return the decision rule of a fitted classifier; the most probable label if it has none."""
    model = final_step(getattr(fitted, "best_estimator_", fitted))
    if not isinstance(model, HierarchicalClassifier):
        return BestPath()
    width = model._width() if hasattr(model, "_width") else None
    if width is not None:
        return TopDown() if width == 1 else BestPath()
    try:
        return model._rule()
    except PalmetteError:  # a rule of its own, such as the signs of AdaBoost
        return BestPath()
