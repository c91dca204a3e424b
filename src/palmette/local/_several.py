"""Local estimators of label sets: one per parent, per level or for all labels, several true."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn import multioutput
from sklearn.base import clone
from sklearn.utils import get_tags

from palmette._arrays import FloatArray, IntArray, count_rows, seed_each, take_cells
from palmette.base._fitting import weight_keyword
from palmette.base._foreign import Where, at_level, at_node, outputs_of
from palmette.decisions._coherence import NodeColumns
from palmette.labels._labels import NodeLabels
from palmette.labels._space import Task
from palmette.local._features import fit_selector
from palmette.local._tasks import Part, TaskKey, fit_parts, option_scores

if TYPE_CHECKING:
    from palmette.local._base import BaseLocalClassifier

_YES_OR_NO = np.array([0, 1], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class LabelBlock:
    """Labels that one estimator decides together.

    Parameters
    ----------
    key : int
        The parent, the level, or 0 for all labels.
    columns : int array of shape (n_block,)
        Columns of a table of nodes; each has rows with it and rows without it.
    rows : int array of shape (n_rows,) or None
        Rows that the estimator is fitted to, ascending; None for all.
    """

    key: int
    columns: IntArray
    rows: IntArray | None


def parent_blocks(columns: NodeColumns, Y: sparse.csr_array) -> list[LabelBlock]:
    """Return a block per parent: its children, on the rows that have the parent.

    A node of a DAG is in the block of each of its parents.

    Parameters
    ----------
    columns : NodeColumns
    Y : sparse bool array of shape (n_samples, n_columns)
        True nodes, with all of their ancestors.
    """
    by_column = sparse.csc_array(Y)
    parents, children = _edges_of(columns)
    blocks = []
    for parent in np.unique(parents).tolist():
        rows = None
        if parent:
            place = int(columns.place(np.array([parent]))[0])
            rows = by_column.indices[by_column.indptr[place] : by_column.indptr[place + 1]]
        blocks.append(_varying(parent, children[_run(parents, parent)], rows, by_column))
    return [block for block in blocks if len(block.columns)]


def _run(values: IntArray, value: int) -> slice:
    """Return where a value is in a sorted array."""
    first, stop = np.searchsorted(values, [value, value + 1])
    return slice(int(first), int(stop))


def level_blocks(columns: NodeColumns, Y: sparse.csr_array) -> list[LabelBlock]:
    """Return a block per depth: the nodes of this depth, on all rows."""
    by_column, depth = sparse.csc_array(Y), columns.hierarchy.depth[columns.nodes]
    blocks = [
        _varying(int(level), np.flatnonzero(depth == level).astype(np.int32), None, by_column)
        for level in np.unique(depth)
    ]
    return [block for block in blocks if len(block.columns)]


def label_blocks(columns: NodeColumns, Y: sparse.csr_array, labels: IntArray) -> list[LabelBlock]:
    """Return the block of all labels, which are nodes, on all rows."""
    places = columns.place(np.unique(labels[labels > 0]).astype(np.int32))
    block = _varying(0, places[places >= 0], None, sparse.csc_array(Y))
    return [block] if len(block.columns) else []


def _varying(
    key: int, columns: IntArray, rows: IntArray | None, by_column: sparse.csc_array
) -> LabelBlock:
    """Return the block without the nodes that all of its rows have."""
    n_rows = by_column.shape[0] if rows is None else len(rows)
    counts = np.diff(by_column.indptr)[columns]  # rows with a node have its parents
    return LabelBlock(key, columns[counts < n_rows].astype(np.int32), rows)


# ---------------------------------------------------------------------- fitting


def fit_label_sets(
    model: BaseLocalClassifier,
    X: Any,
    Y: sparse.csr_array,
    weights: FloatArray | None,
    choose: Callable[[TaskKey], Any],
) -> None:
    """Fit the estimators of a local classifier to several paths per row, or a DAG.

    Parameters
    ----------
    model : local classifier
        Gets ``estimators_`` and ``label_nodes_``.
    X : rows
    Y : sparse bool array of shape (n_samples, n_columns)
        True nodes, with all of their ancestors.
    weights : array of shape (n_samples,), optional
    choose : callable
        Returns the unfitted estimator of the key of a task.
    """
    fit_selector_of_sets(model, X, Y, weights)
    blocks = model._make_blocks(Y)
    model.estimators_ = fit_blocks(
        X,
        Y,
        blocks,
        lambda key: model._estimator_of(Task.of(key, []), choose),
        columns_for=model._columns_of,
        weights=weights,
        random_state=model.random_state,
        n_jobs=model.n_jobs,
        verbose=model.verbose,
        client=model.client,
    )
    model.label_nodes_ = {each.key: model.nodes_[each.columns] for each in blocks}


def fit_selector_of_sets(
    model: BaseLocalClassifier, X: Any, Y: sparse.csr_array, weights: FloatArray | None
) -> None:
    """Set ``feature_selector_``, fitted to several paths per row; see `fit_label_sets`."""
    model.feature_selector_ = None
    if model.feature_selector is not None:
        given = model._answers.columns.sets_of_nodes(Y)
        model.feature_selector_ = fit_selector(
            model.feature_selector,
            X,
            NodeLabels(model.hierarchy_, given, model.label_form_),
            weights,
            n_jobs=model.n_jobs,
            random_state=model.random_state,
        )


def fit_blocks(
    X: Any,
    Y: sparse.csr_array,
    blocks: list[LabelBlock],
    estimator_for: Callable[[int], Any],
    *,
    columns_for: Callable[[int], NDArray[np.intp] | None],
    weights: FloatArray | None,
    random_state: Any,
    n_jobs: int | None,
    verbose: int,
    client: Any,
) -> dict[int, Any]:
    """Fit one estimator per block.

    An estimator that supports several labels per row gets a 0/1 matrix; others are cloned for every
    label, in a `MultiOutputClassifier` of scikit-learn.

    Parameters
    ----------
    X : rows
    Y : sparse bool array of shape (n_samples, n_columns)
    blocks : list of LabelBlock
    estimator_for : callable
        Returns the unfitted estimator of the key of a block.
    columns_for : callable
        Returns the columns of X that the estimator of a block uses, None for all.
    weights : array of shape (n_samples,), optional
    random_state, n_jobs, verbose, client
        As in `fit_tasks`.

    Returns
    -------
    dict of int to estimator
        By the key of the block.
    """
    estimators = [_for_labels(estimator_for(each.key), len(each.columns)) for each in blocks]
    if random_state is not None:
        seed_each(estimators, random_state)
    names = [None if weights is None else _weight_name(each) for each in estimators]
    by_column = sparse.csc_array(Y)

    def parts() -> Iterator[Part]:
        for block, estimator, name in zip(blocks, estimators, names, strict=True):
            some = sparse.csr_array(by_column[:, block.columns])
            target = (some if block.rows is None else some[block.rows]).toarray().astype(np.int32)
            yes = target[:, 0] if target.shape[1] == 1 else target
            yield Part(estimator, block.rows, columns_for(block.key), yes, name)

    fitted = fit_parts(X, weights, parts(), len(blocks), n_jobs, verbose, client)
    return {block.key: estimator for block, estimator in zip(blocks, fitted, strict=True)}


def _for_labels(estimator: Any, n_labels: int) -> Any:
    """Return a clone for a 0/1 matrix of this number of columns; for one column, for a vector."""
    if n_labels == 1 or get_tags(estimator).classifier_tags.multi_label:
        return clone(estimator)
    return multioutput.MultiOutputClassifier(clone(estimator))


def _weight_name(estimator: Any) -> str:
    inner = (
        estimator.estimator
        if isinstance(estimator, multioutput.MultiOutputClassifier)
        else estimator
    )
    return weight_keyword(inner)


# ---------------------------------------------------------------------- probabilities


def label_proba(estimator: Any, X: Any, n_labels: int, where: Where) -> FloatArray:
    """Return the probabilities of the labels of a block: (n_samples, n_labels)."""
    if n_labels == 1:
        return yes_proba(estimator, X, where)[:, None]
    if isinstance(estimator, multioutput.MultiOutputClassifier):
        return np.column_stack([yes_proba(each, X, where) for each in estimator.estimators_])
    return outputs_of(estimator, X, n_labels, where)


def yes_proba(estimator: Any, X: Any, where: Where) -> FloatArray:
    """Return the probability of 1 of an estimator of zeros and ones: (n_samples,)."""
    scores = option_scores(estimator, X, _YES_OR_NO, where)
    if scores.are_margins:
        return np.asarray(expit(scores.values[:, 1] - scores.values[:, 0]))
    return scores.values[:, 1]


def block_proba(model: BaseLocalClassifier, X: Any, key: int) -> tuple[IntArray, FloatArray] | None:
    """Return the columns of a block and their probabilities; None if it has no estimator."""
    if key not in model.estimators_:
        return None
    nodes = model.label_nodes_[key]
    cells = take_cells(X, columns=model._columns_of(key))
    where = at_node(model.hierarchy_, key) if model._tasks_are_nodes else at_level(key)
    proba = label_proba(model.estimators_[key], cells, len(nodes), where)
    return model._answers.columns.place(nodes), proba


def with_blocks(model: BaseLocalClassifier, X: Any, proba: FloatArray) -> FloatArray:
    """Write the probabilities of all blocks to their columns: (n_samples, n_columns)."""
    for key in model.estimators_:
        found = block_proba(model, X, key)
        if found is not None:
            proba[:, found[0]] = found[1]
    return proba


def multiplied_down(model: BaseLocalClassifier, X: Any) -> FloatArray:
    """Multiply probabilities given the parent down a hierarchy: (n_samples, n_columns).

    A node of a DAG has as many such products as parents, which estimate the same number, since a
    row that has the node has all of its parents: their mean is taken.
    """
    columns, n_rows = model._answers.columns, count_rows(X)
    parents, children = _edges_of(columns)
    n_parents = np.bincount(children, minlength=columns.n_columns)
    proba = np.zeros((n_rows, columns.n_columns))
    for parent in np.unique(parents).tolist():  # ascending: parents come before children
        below = children[_run(parents, parent)]
        shares = np.ones((n_rows, len(below)))  # true whenever the parent is, without an estimator
        found = block_proba(model, X, parent)
        if found is not None:
            shares[:, np.searchsorted(below, found[0])] = found[1]
        if parent:
            shares *= proba[:, columns.place(np.array([parent]))]
        proba[:, below] += shares / n_parents[below]
    return np.minimum(proba, 1.0)  # means of ones may round to above 1


def _edges_of(columns: NodeColumns) -> tuple[IntArray, IntArray]:
    """Return the parent, a node, and the child, a column, of every edge, sorted by both."""
    edges = columns.hierarchy.edges
    children = columns.place(edges[:, 1])
    kept = children >= 0
    order = np.lexsort((children[kept], edges[kept, 0]))
    return edges[kept, 0][order], children[kept][order]


# ---------------------------------------------------------------------- one label per row


def fit_one_label(
    model: BaseLocalClassifier,
    X: Any,
    Y: sparse.csr_array,
    weights: FloatArray | None,
    choose: Callable[[TaskKey], Any],
) -> None:
    """Fit one multi-class estimator to rows with one label each, in a DAG.

    Parameters
    ----------
    model, X, Y, weights, choose
        As in `fit_label_sets`.
    """
    fit_selector_of_sets(model, X, Y, weights)
    label = np.zeros(Y.shape[0], dtype=np.int32)  # the root, of rows without a label
    filled = np.diff(Y.indptr) > 0
    last = np.maximum.reduceat(model.nodes_[Y.indices], Y.indptr[:-1][filled])
    label[filled] = last  # a label has a higher number than its ancestors
    model.label_nodes_, model.estimators_ = {0: np.unique(label)}, {}
    if len(model.label_nodes_[0]) == 1:
        return
    estimator = clone(model._estimator_of(Task.of(0, []), choose))
    if model.random_state is not None:
        seed_each([estimator], model.random_state)
    name = None if weights is None else weight_keyword(estimator)
    part = Part(estimator, None, model._columns_of(0), label, name)
    model.estimators_[0] = fit_parts(
        X, weights, iter([part]), 1, model.n_jobs, model.verbose, model.client
    )[0]


def proba_above(model: BaseLocalClassifier, X: Any) -> FloatArray:
    """Return the sum of the probabilities of the labels at or below every column."""
    labels = model.label_nodes_[0]
    shares = np.ones((count_rows(X), 1))
    if model.estimators_:
        X = take_cells(X, columns=model._columns_of(0))
        shares = option_scores(model.estimators_[0], X, labels).shares()
    above = sparse.csr_array(model.hierarchy_.closure[labels][:, model.nodes_]).astype(np.float64)
    proba: FloatArray = np.minimum(np.asarray(shares @ above), 1.0)
    return proba
