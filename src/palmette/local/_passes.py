"""Local classifiers that learn from chunks of rows: `partial_fit`, and passes over mapped rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from palmette._arrays import FloatArray, IntArray, count_rows, seed_each, take_rows
from palmette.base._fitting import check_weights, weight_keyword
from palmette.exceptions import LabelError, PalmetteError
from palmette.labels._labels import NodeLabels
from palmette.labels._space import TaskRows

if TYPE_CHECKING:
    from palmette.local._base import BaseLocalClassifier

_BLOCK = 256  # adjacent rows, which are read together from a file
_VALUES_AT_ONCE = 2**23  # of the rows that are shuffled together
_FEWEST_ROWS, _MOST_ROWS = 2**10, 2**16  # which these are


def learn_chunk(
    model: BaseLocalClassifier, X: Any, y: Any, classes: Any, sample_weight: Any
) -> None:
    """Let all local estimators learn from their rows of a chunk; see `partial_fit`.

    Parameters
    ----------
    model : local classifier
        Its estimators are made in the first call.
    X : rows
    y : labels of n_samples rows
    classes : labels, or None
        All labels that will occur; for the first call.
    sample_weight : array-like of shape (n_samples,), or None
    """
    is_first = not hasattr(model, "estimators_")
    X = model._read_features(X, reset=is_first)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weights is not None:
        check_weights(weights, count_rows(X))  # raises an error for wrong ones
    if is_first:
        begin(model, classes)
    elif classes is not None:
        _check_classes(model, classes)
    _learn(model, X, _codes_of(model, y), weights)


def fit_in_passes(
    model: BaseLocalClassifier,
    X: Any,
    y: Any,
    sample_weight: FloatArray | None = None,
    *,
    n_passes: int,
    seed: int,
) -> Any:
    """Fit a local classifier by passes over rows that may be a file larger than memory.

    In every pass, blocks of adjacent rows are drawn at random, as many as fit in memory together,
    and the rows of these blocks come in random order: the file is read in long pieces, and rows
    that are sorted by label do no harm. The result depends on the rows and the seed alone.

    Parameters
    ----------
    model : local classifier
        Whose estimators have `partial_fit`.
    X : array or CSR array of shape (n_samples, n_features)
    y : labels of n_samples rows
    sample_weight : array of shape (n_samples,), optional
        Only their ratios count.
    n_passes : int
    seed : int

    Returns
    -------
    fitted model

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from palmette.local import FlatClassifier
    >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), ["a", "a", "b", "b"]
    >>> model = FlatClassifier(SGDClassifier(loss="log_loss", random_state=0))
    >>> fit_in_passes(model, X, y, n_passes=20, seed=0).predict(X).tolist()
    ['a', 'a', 'b', 'b']
    """
    rows = model._check_features(X, reset=True)
    model._find_units(rows)  # all rows in other units might not fit in memory
    weights = check_weights(sample_weight, count_rows(rows))
    codes = model._learn_target(rows, y)
    _make_estimators(model)
    for some in shuffled_rows(rows, n_passes, seed):
        own = None if weights is None else weights[some]
        _learn(model, model._in_units(take_rows(rows, some)), codes[some], own)
    return model


def shuffled_rows(X: Any, n_passes: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers of rows that are learned together, those of one pass after another.

    Examples
    --------
    >>> [rows.tolist() for rows in shuffled_rows(np.zeros((4, 1)), 2, seed=0)]
    [[2, 0, 1, 3], [3, 0, 2, 1]]
    """
    n_rows = count_rows(X)
    per_row = X.nnz // max(n_rows, 1) if sparse.issparse(X) else X.shape[1]
    at_once = int(np.clip(_VALUES_AT_ONCE // max(per_row, 1), _FEWEST_ROWS, _MOST_ROWS))
    n_together = max(at_once // _BLOCK, 1)
    for turn in range(n_passes):
        rng = np.random.default_rng([seed, turn])
        blocks = rng.permutation(-(-n_rows // _BLOCK))
        for first in range(0, len(blocks), n_together):
            starts = np.sort(blocks[first : first + n_together]) * _BLOCK
            rows = (starts[:, None] + np.arange(_BLOCK)).ravel()
            yield rng.permutation(rows[rows < n_rows])


def begin(model: BaseLocalClassifier, classes: Any) -> None:
    """Set the labels of a model that has no rows so far, and make its estimators."""
    if classes is None:
        raise PalmetteError(
            "the first call of partial_fit needs classes: pass all labels that will occur, in the "
            "form of y."
        )
    if hasattr(model._hierarchy_setting(), "fit"):
        raise PalmetteError(
            f"hierarchy={model.hierarchy!r} is learned from all rows: partial_fit needs one that "
            "is known, such as palmette.Hierarchy.from_paths(...)."
        )
    model._learn_target(np.empty(count_rows(classes)), classes)
    _make_estimators(model)


def _make_estimators(model: BaseLocalClassifier) -> None:
    """Set ``estimators_`` to unfitted ones, and check that they can learn from chunks."""
    if model.feature_selector is not None:
        raise PalmetteError(
            "features are selected from all rows: partial_fit needs feature_selector=None. Select "
            "them before, or call fit."
        )
    if model._answers.by_node:
        raise PalmetteError(
            "partial_fit is for one path per row, but there are several, or a DAG: call fit."
        )
    model.feature_selector_ = None
    table, choose = model._make_tasks(model.space_), model._chooser()
    estimators = [clone(choose(model._task_key(task))) for task in table.tasks]
    for estimator in estimators:
        if not hasattr(estimator, "partial_fit"):
            raise PalmetteError(
                f"{type(estimator).__name__} has no partial_fit: expected an estimator that has, "
                "such as SGDClassifier(loss='log_loss') or palmette.local.MixedNaiveBayes()."
            )
    if model.random_state is not None:
        seed_each(estimators, model.random_state)
    model._keep(table, estimators)


def _learn(model: BaseLocalClassifier, X: Any, codes: IntArray, weights: FloatArray | None) -> None:
    """Let every estimator learn from the rows of its task."""
    table = model._make_tasks(model.space_)
    rows = TaskRows(codes, table.n_classes)
    for task in table.tasks:
        seen, options = rows.select(task)
        if not len(seen):
            continue
        estimator = model._estimator_at(task)
        given: dict[str, Any] = {}
        if weights is not None:
            given[weight_keyword(estimator)] = weights[seen]
        if not hasattr(estimator, "classes_"):
            given["classes"] = task.options
        part = X if len(seen) == len(codes) else take_rows(X, seen)
        estimator.partial_fit(part, options, **given)


def _codes_of(model: BaseLocalClassifier, y: Any) -> IntArray:
    """Return the class of every row, as a position in ``space_.classes``."""
    labels = NodeLabels.encode(y, model.hierarchy_)
    known, terminals = model.space_.classes, labels.terminals
    codes = np.minimum(np.searchsorted(known, terminals), len(known) - 1)
    new = np.flatnonzero(known[codes] != terminals)
    if len(new):
        name = model.hierarchy_.path_strings[terminals[new[0]]]
        raise LabelError(
            f"y[{new[0]}] is {name!r}, which is not among the labels of the first call: pass all "
            "labels that will occur as classes to the first call of partial_fit."
        )
    return codes.astype(np.int32)


def _check_classes(model: BaseLocalClassifier, classes: Any) -> None:
    """Raise an error for classes that are not those of the first call."""
    found = np.unique(NodeLabels.encode(classes, model.hierarchy_).terminals)
    if not np.array_equal(found, model.space_.classes):
        raise LabelError(
            f"classes has {len(found)} labels, which are not the {len(model.space_.classes)} of "
            "the first call of partial_fit: leave them out, or call fit."
        )
