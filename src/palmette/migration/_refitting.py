"""Moving a fitted classifier to a changed hierarchy, and fitting the nodes that need rows."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from palmette._arrays import IntArray, take_rows
from palmette.base._adapters import final_step
from palmette.base._wrapping import WrappedClassifier, places_of_hierarchy
from palmette.decisions._thresholds import Threshold
from palmette.exceptions import PalmetteError
from palmette.hierarchy._changes import TreeChange
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._forms import LabelForm
from palmette.labels._labels import NodeLabels
from palmette.migration._classifier import MigratedClassifier
from palmette.migration._steps import Pending, Step

_CACHES = ("_columns_at", "_paths", "_shrunk")

# ---------------------------------------------------------------------- moving


def move_classifier(fitted: Any, change: TreeChange) -> MigratedClassifier:
    """Return a fitted classifier over a changed hierarchy, without fitting anything.

    Parameters
    ----------
    fitted : classifier
        It is not changed; one that was moved before is not wrapped again.
    change : TreeChange
        From its hierarchy to another one.

    Returns
    -------
    MigratedClassifier

    Examples
    --------
    >>> from palmette.local import FlatClassifier
    >>> from palmette.hierarchy._changes import change_tree, read_changes
    >>> clf = FlatClassifier().fit([[0.0], [1.0], [2.0]], [("a", "x"), ("a", "y"), ("b", "z")])
    >>> change = change_tree(clf.hierarchy_, read_changes([("a > y", "b > y")]))
    >>> moved = move_classifier(clf, change)
    >>> moved.predict([[1.0]]), moved.predict_node_proba([[1.0]], ["b"]).round(2).tolist()
    ([('b', 'y')], [[0.68]])
    """
    if isinstance(fitted, MigratedClassifier):
        model = _copy(fitted)
    else:
        model = MigratedClassifier.around(fitted)
    kept = change.kept
    before = model.targets_
    model.targets_ = _carried(before, kept)
    model.origins_ = _carried(model.origins_, kept)
    model.hierarchy = change.new
    model.pending_ = [_moved(each, kept) for each in model.pending_]
    alive = model.alive
    fresh = list(change.added)
    for split in change.splits:
        sources = np.flatnonzero(alive & (before == split.node)).astype(np.int32)
        if len(sources):
            keeps = _stays(change, split.node)
            model.pending_.append(Pending(sources, np.array(split.parts, dtype=np.int32), keeps))
        elif change.old.is_leaf[split.node]:  # a label without training rows
            fresh += split.parts
    if fresh:
        model.pending_.append(_new_leaves(fresh))
    model.pending_ = _without_doubles(model.pending_)
    listed = model._answers.class_nodes if model.several_paths_ else np.empty(0, np.int32)
    left = [split.node for split in change.splits if not _stays(change, split.node)]
    listed = _carried(np.setdiff1d(listed, left), kept)
    model.decoding = _moved_rule(model.decoding, change)
    model.settle(_moved_form(model.label_form_, change), listed[listed > 0])
    return model


def _copy(model: MigratedClassifier) -> MigratedClassifier:
    """Return a model with lists of its own, which shares all fitted parts."""
    other = copy.copy(model)
    for name in _CACHES:
        other.__dict__.pop(name, None)
    other.steps_, other.pending_ = list(model.steps_), list(model.pending_)
    return other


def _carried(nodes: IntArray, kept: IntArray) -> IntArray:
    return np.where(nodes >= 0, kept[nodes], -1).astype(np.int32)


def _moved(pending: Pending, kept: IntArray) -> Pending:
    parts = _carried(pending.parts, kept)
    return Pending(pending.sources, parts[parts > 0], pending.keeps)


def _stays(change: TreeChange, node: int) -> bool:
    """Return whether a node that was split is still in the tree, above or among its parts."""
    place = int(change.kept[node])
    return place > 0 and change.new.path(place) == change.old.path(node)


def _new_leaves(nodes: list[int]) -> Pending:
    return Pending(np.empty(0, dtype=np.int32), np.array(sorted(set(nodes)), dtype=np.int32))


def _without_doubles(pending: list[Pending]) -> list[Pending]:
    """Return what is pending, with all new leaves together."""
    leaves = [node for each in pending if not len(each.sources) for node in each.parts.tolist()]
    splits = [each for each in pending if len(each.sources) and len(np.unique(each.parts)) > 1]
    return [*splits, _new_leaves(leaves)] if leaves else splits


def _moved_form(form: LabelForm, change: TreeChange) -> LabelForm:
    """Return the form of labels with new node numbers; new names are spelled in its style."""
    old, new, kept = change.old, change.new, change.kept
    spelling = {}
    for node, text in form.spelling.items():
        place = int(kept[node]) if node < len(kept) else -1
        if place > 0 and place not in spelling and _path(new, place) == _path(old, node):
            spelling[place] = text
    return replace(form, spelling=spelling)


def _path(hierarchy: Hierarchy, node: int) -> Any:
    return hierarchy.path(node) if hierarchy.is_tree else hierarchy.names[node]


def _moved_rule(rule: Any, change: TreeChange) -> Any:
    """Return a rule; thresholds per node move with their nodes.

    A threshold is never above those of the children of a node that gained or lost some: they would
    be raised to it.
    """
    values = np.asarray(rule.value, dtype=np.float64) if isinstance(rule, Threshold) else None
    if values is None or values.ndim == 0:
        return rule
    new, sums = change.new, np.zeros(change.new.n_nodes)
    counts = np.zeros(new.n_nodes)
    there = change.kept >= 0
    np.add.at(sums, change.kept[there], values[there])
    np.add.at(counts, change.kept[there], 1.0)
    moved = np.divide(sums, counts, out=np.full(len(sums), 0.5), where=counts > 0)
    changed = set(change.changed_parents)
    for node in range(new.n_nodes - 1, 0, -1):
        if node in changed:
            moved[node] = min(moved[node], moved[new.children(node)].min())
    return Threshold(moved)


# ---------------------------------------------------------------------- fitting what needs rows


@dataclass(frozen=True)
class Refit:
    """What was fitted for one split, or for the new leaves.

    Parameters
    ----------
    parts : list of int
        Nodes that got a classifier.
    rows : list of int
        Number of rows of each.
    rest : int
        Number of rows that are none of them.
    without : list of int
        Nodes that still need rows.
    """

    parts: list[int]
    rows: list[int]
    rest: int
    without: list[int]


def fit_pending(
    model: MigratedClassifier,
    X: Any,
    closed: sparse.csr_array,
    tell: Callable[[str], None] | None = None,
) -> tuple[MigratedClassifier, list[Refit]]:
    """Fit classifiers of the nodes that need rows, and nothing else.

    A label that was split gets a classifier among its parts, fitted on their rows. New leaves get
    one classifier, fitted on all rows: its last answer, "none of them", is left to the model.

    Parameters
    ----------
    model : MigratedClassifier
        It is not changed.
    X : rows
        As the fitted classifier takes them.
    closed : sparse bool array of shape (n_samples, n_nodes)
        True nodes of every row in the new hierarchy, with their ancestors; rows without any are
        not used.
    tell : callable, optional
        Called with messages for the user.

    Returns
    -------
    model : MigratedClassifier
    refits : list of Refit
    """
    other = _copy(model)
    form, listed = other.label_form_, np.empty(0, dtype=np.int32)
    if other.several_paths_:
        listed = other._answers.class_nodes
    other.pending_, refits, left = [], [], []
    for pending in model.pending_:
        rows, options = _rows_of(pending, closed, other)
        counts = np.asarray(options[rows].sum(axis=0)).ravel()
        have = np.flatnonzero(counts > 0)
        rest = len(rows) - int(np.diff(options[rows].indptr).astype(bool).sum())
        is_new = not len(pending.sources)
        enough = len(have) and rest if is_new else len(have) > 1
        if other.several_paths_ and not is_new:
            enough = len(have) > 0
        if not enough:
            other.pending_.append(pending)
            refits.append(Refit([], [], rest, pending.parts.tolist()))
            continue
        step = _fit_step(other, pending, X, rows, options[:, have], is_new, tell)
        other.steps_.append(step)
        other.targets_ = np.concatenate([other.targets_, pending.parts[have]]).astype(np.int32)
        listed = np.concatenate([listed, pending.parts[have]])
        without = np.setdiff1d(pending.parts, pending.parts[have]).tolist()
        left += without
        counted = [int(each) for each in counts[have]]
        refits.append(Refit(pending.parts[have].tolist(), counted, rest, without))
    if left:
        other.pending_.append(_new_leaves(left))
    other.pending_ = _without_doubles(other.pending_)
    other.settle(form, listed.astype(np.int32))
    return other, refits


def _rows_of(
    pending: Pending, closed: sparse.csr_array, model: MigratedClassifier
) -> tuple[IntArray, sparse.csr_array]:
    """Return the rows of a fit, and the parts that are true of every row of the table."""
    options = sparse.csr_array(closed[:, pending.parts])
    if not model.several_paths_:  # the deepest part, where one is below another
        deepest = sparse.lil_array(options.shape, dtype=bool)
        order = np.argsort(pending.parts)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        for row in np.flatnonzero(np.diff(options.indptr)).tolist():
            columns = options.indices[options.indptr[row] : options.indptr[row + 1]]
            deepest[row, columns[np.argmax(rank[columns])]] = True
        options = sparse.csr_array(deepest)
        if len(pending.sources):
            options = _without_others(pending, options, closed, model)
    used = np.diff(options.indptr) > 0 if len(pending.sources) else np.diff(closed.indptr) > 0
    return np.flatnonzero(used).astype(np.int32), options


def _without_others(
    pending: Pending, options: sparse.csr_array, closed: sparse.csr_array, model: MigratedClassifier
) -> sparse.csr_array:
    """Return the parts without rows below them of labels that the model already has."""
    others = model.alive.copy()
    others[pending.sources] = False
    known = np.setdiff1d(model.targets_[others], pending.parts)
    deepest = np.maximum.reduceat(closed.indices, closed.indptr[:-1].clip(max=closed.nnz - 1))
    deepest[np.diff(closed.indptr) == 0] = 0  # nodes of a path are in preorder
    is_other = np.isin(deepest, known)
    kept = sparse.diags_array((~is_other).astype(np.int8), dtype=np.int8, format="csr")
    found = sparse.csr_array(kept @ options.astype(np.int8))
    found.eliminate_zeros()
    return found.astype(bool)


def _fit_step(
    model: MigratedClassifier,
    pending: Pending,
    X: Any,
    rows: IntArray,
    options: sparse.csr_array,
    is_new: bool,
    tell: Callable[[str], None] | None,
) -> Step:
    several = bool(model.several_paths_)
    n_parts = options.shape[1]
    has_rest = is_new and not several
    star = Hierarchy.star([f"part {i}" for i in range(n_parts)] + ["rest"] * has_rest)
    chosen = sparse.csr_array(options[rows])
    if several:
        given = (chosen.data, chosen.indices + 1, chosen.indptr)
        matrix = sparse.csr_array(given, shape=(len(rows), star.n_nodes))
        form = NodeLabels.encode([set(star.names[1:].tolist())], star).form
        labels = NodeLabels(star, matrix.astype(bool), form)
    else:
        codes = np.full(len(rows), n_parts)
        codes[np.flatnonzero(np.diff(chosen.indptr))] = chosen.indices
        labels = NodeLabels.encode(star.names[1:].astype(str)[codes], star)
    part = take_rows(X, rows)
    fitted = _fit_own_kind(model, part, labels, star, several, tell)
    sources = pending.sources
    if has_rest:
        sources = np.flatnonzero(model.alive).astype(np.int32)
    return Step(sources, len(model.targets_), fitted, star, has_rest, pending.keeps and several)


def _fit_own_kind(
    model: MigratedClassifier,
    X: Any,
    labels: NodeLabels,
    star: Hierarchy,
    several: bool,
    tell: Callable[[str], None] | None,
) -> WrappedClassifier:
    """Fit a classifier of the kind of the model; logistic regression where that is impossible."""
    template = _template(model.fitted_)
    template.set_params(**dict.fromkeys(places_of_hierarchy(template), star))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return WrappedClassifier(template).fit(X, labels, None, several=several)
        except (PalmetteError, ValueError) as error:
            if tell is not None:
                words = " ".join(str(error).split())[:200]
                name = type(final_step(template)).__name__
                tell(f"logistic regression instead of {name}, which cannot be fitted: {words}")
            from sklearn.linear_model import LogisticRegression

            plain = WrappedClassifier(LogisticRegression(max_iter=1000))
            return plain.fit(X, labels, None, several=several)


def _template(fitted: Any) -> Any:
    """Return an unfitted classifier of the kind of a fitted one."""
    fitted = getattr(fitted, "best_estimator_", fitted)
    while hasattr(fitted, "predict_set_nodes"):  # sets of labels are those of the whole model
        fitted = fitted.estimator
    template = clone(fitted)
    if isinstance(getattr(final_step(template), "estimator", None), dict):
        final_step(template).set_params(estimator=None)  # estimators by node of the old hierarchy
    return template
