"""Probabilities of rows by models that were not fitted on them, and similarities to classes."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, row_chunks, take_rows
from palmette.exceptions import PalmetteError
from palmette.table._folds import make_folds
from palmette.table._model import TableModel
from palmette.table._problem import find_groups
from palmette.table._schema import Unread
from palmette.table.answers import PathAnswers, gives_node_proba, node_proba

_AT_ONCE = 2**22  # probabilities in memory at a time: 32 MiB, several times
_MIN_ROWS = 200  # that a model is fitted on, however short the time

Watch = Callable[[str, float], None]
IntArray = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Part:
    """Probabilities of some rows, which their model has not seen.

    Parameters
    ----------
    fold : int
    rows : int array of shape (n_part,)
        Places in the table.
    proba : array of shape (n_part, n_labels)
        In the order of `HeldOut.labels`.
    known : bool array of shape (n_labels,)
        Labels of which the model has seen rows; the others have probability 0.
    """

    fold: int
    rows: IntArray
    proba: FloatArray
    known: NDArray[np.bool_]


class HeldOut:
    """Held-out probabilities of the rows of a table, in chunks.

    Parameters
    ----------
    model : TableModel
        Fitted; models of its kind are fitted on the training rows of every fold.
    frame : DataFrame of n_samples rows
    labels : int array of shape (n_labels,)
        Nodes of ``model.hierarchy_``, ascending.
    labelled : bool array of shape (n_samples,)
        Rows that models are fitted on; the others are only predicted.
    codes : int array of shape (n_samples,) or None
        A label of every labelled row, to stratify folds.
    groups : int array of shape (n_samples,)
        Rows of a group are equal, and stay in the same fold.
    n_folds : int
        0 uses `model` itself, for a table that it was not fitted on.
    seconds : float or None
        Approximate limit: models are fitted on fewer rows if all would take longer.
    seed : int
    watch : callable, optional
        Called with the current step and the seconds spent.
    """

    def __init__(
        self,
        model: TableModel,
        frame: Any,
        labels: IntArray,
        labelled: NDArray[np.bool_],
        codes: IntArray | None,
        groups: IntArray,
        *,
        n_folds: int,
        seconds: float | None = None,
        seed: int = 0,
        watch: Watch | None = None,
    ) -> None:
        self.model, self.frame, self.labels = model, frame, labels
        self.labelled, self.n_folds, self.seconds = labelled, n_folds, seconds
        self.seed, self._watch, self._begun = seed, watch, time.monotonic()
        self.smallest_share = 1.0  # of the training rows of a fold that its model was fitted on
        self.fold_of = _fold_of_rows(labelled, codes, groups, n_folds, seed)
        self.n_folds = int(self.fold_of.max()) + 1 if n_folds else 0

    def __iter__(self) -> Iterator[Part]:
        """Yield the probabilities of all rows, one chunk of one fold at a time."""
        if not self.n_folds:
            self._tell("predicting")
            yield from self._predict(self.model, 0, np.arange(len(self.frame)))
            return
        rng = np.random.default_rng(self.seed)
        n_train = int(self.labelled.sum() * (1 - 1 / self.n_folds))
        facts = self.model.summary_
        n_fitted = facts.get("rows_fitted", facts.get("rows", 1))
        per_row = facts.get("fit_seconds", 0.0) / max(n_fitted, 1)
        for fold in range(self.n_folds):
            train = np.flatnonzero(self.labelled & (self.fold_of != fold))
            share = self._share(per_row * n_train * (self.n_folds - fold))
            if share < 1:
                n_kept = max(int(share * len(train)), min(_MIN_ROWS, len(train)))
                self.smallest_share = min(self.smallest_share, n_kept / len(train))
                train = np.sort(rng.choice(train, n_kept, replace=False))
            self._tell(f"fold {fold + 1} of {self.n_folds}, {len(train):,} rows")
            start = time.monotonic()
            fitted = _refit(self.model, self.frame.iloc[train])
            per_row = (time.monotonic() - start) / len(train)
            yield from self._predict(fitted, fold, np.flatnonzero(self.fold_of == fold))

    def _share(self, foreseen: float) -> float:
        """Return the share of the training rows for which the time is enough."""
        if self.seconds is None:
            return 1.0
        left = self.seconds - (time.monotonic() - self._begun)
        return min(1.0, max(left, 0.0) / max(1.2 * foreseen, 1e-6))

    def _predict(self, model: TableModel, fold: int, rows: IntArray) -> Iterator[Part]:
        if not gives_node_proba(model.estimator_):
            raise PalmetteError(
                f"the model {model.summary_.get('model')} has no probabilities, which a review "
                "needs. Fit it again with --calibrate sigmoid, or another model, such as --model "
                "class-tree."
            )
        several = self.model.several_paths_
        h = model.hierarchy_
        answers = None if several else PathAnswers(model.estimator_, h)
        own = (
            np.asarray(h.index(list(model.class_paths_)))
            if answers is None
            else answers.space.classes
        )
        columns = self._columns(model, own)
        known = np.zeros(len(self.labels), dtype=bool)
        known[columns[columns >= 0]] = True
        for part in row_chunks(len(rows), max(h.n_nodes, len(self.labels)), _AT_ONCE):
            X = model.features(self.frame.iloc[rows[part]])
            if answers is None:
                found = node_proba(model.estimator_, X, h)[:, own]
            else:
                found = answers.class_proba(X)
            proba = np.zeros((len(found), len(self.labels)))
            proba[:, columns[columns >= 0]] = found[:, columns >= 0]
            yield Part(fold, rows[part], proba, known)

    def _columns(self, model: TableModel, nodes: IntArray) -> IntArray:
        """Return the places in `labels` of nodes of a model; -1 for those that are not there."""
        h = self.model.hierarchy_
        if self.model.learnt_:  # every fold has learned a tree of its own, over the same names
            ours = {h.names[node]: node for node in self.labels.tolist()}
            nodes = np.array([ours.get(model.hierarchy_.names[n], -1) for n in nodes.tolist()])
        places = np.searchsorted(self.labels, nodes).clip(max=len(self.labels) - 1)
        return np.where(self.labels[places] == nodes, places, -1)

    def _tell(self, step: str) -> None:
        if self._watch is not None:
            self._watch(step, time.monotonic() - self._begun)


def _refit(model: TableModel, frame: Any) -> TableModel:
    """Fit a model of the same kind on other rows."""
    again = copy.copy(model)
    settings = dict(model.summary_["settings"])
    if "calibration" in model.estimator_.get_params(deep=False):
        settings.setdefault("calibration", 1.0)  # a review estimates the temperature itself
    again.summary_ = {**model.summary_, "settings": settings, "coverage": None}
    return again.refit(frame)


def equal_rows(model: TableModel, frame: Any) -> IntArray:
    """Number the rows so that rows with equal inputs have equal numbers: (n_samples,).

    Parameters
    ----------
    model : TableModel
    frame : DataFrame of n_samples rows
    """
    groups = find_groups(model.schema_.cast(frame, unread=Unread()))
    return np.arange(len(frame)) if groups is None else groups


def _fold_of_rows(
    labelled: NDArray[np.bool_], codes: IntArray | None, groups: IntArray, n_folds: int, seed: int
) -> IntArray:
    """Return the fold in which every row is held out; equal rows share one."""
    if not n_folds:
        return np.zeros(len(labelled), dtype=np.int64)
    import pandas as pd

    rows = np.flatnonzero(labelled)
    strata = None if codes is None else pd.factorize(codes[rows])[0]
    is_grouped = len(np.unique(groups[rows])) < len(rows)
    pairs = make_folds(strata, len(rows), n_folds, seed, groups[rows] if is_grouped else None)
    # rows without a label are where labelled ones with equal inputs are, or anywhere
    of_group = np.random.default_rng(seed).integers(0, n_folds, int(groups.max()) + 1)
    for fold, (_, test) in enumerate(pairs):
        of_group[groups[rows[test]]] = fold
    return of_group[groups]


# ---------------------------------------------------------------------- similarity to classes


def class_similarity(X: Any, given: sparse.csr_array) -> FloatArray:
    """Return how similar rows are to the most similar class, without themselves.

    Sparse rows, as of texts, are compared with the mean of every class by the cosine. Dense rows
    are compared by the squared distance d: the similarity is 1 / (1 + d / s), where s is the median
    of d over the given labels.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
    given : sparse bool array of shape (n_samples, n_labels)
        Given labels; rows without a label only get a similarity.

    Returns
    -------
    array of shape (n_samples,)
        Between 0 and 1; 0 for rows without features.

    Examples
    --------
    >>> X = sparse.csr_array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> class_similarity(X, sparse.csr_array([[1, 0], [1, 0], [0, 1], [0, 0]])).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    Y = sparse.csr_array(given, dtype=np.float64)
    sums = Y.T @ X
    squares = _squares(X)
    counts = np.asarray(Y.sum(axis=0)).ravel()
    sum_squares = _squares(sums)
    own_squares = np.full(X.shape[0], np.nan)
    nearest = np.zeros(X.shape[0])
    for part in row_chunks(X.shape[0], Y.shape[1], _AT_ONCE):
        rows = take_rows(X, part)
        products = rows @ sums.T
        dots = products.toarray() if sparse.issparse(products) else np.asarray(products)
        own = take_rows(Y, part).toarray()
        size = squares[part][:, None]
        # the row itself is taken out of the sums of its labels
        norms = np.maximum(sum_squares - 2 * own * dots + own * size, 0.0)
        dots = dots - own * size
        left = counts - own
        if sparse.issparse(X):
            with np.errstate(divide="ignore", invalid="ignore"):
                cosines = dots / np.sqrt(norms * size)
            usable = (left > 0) & (norms > 1e-12) & (size > 0)
            nearest[part] = np.where(usable, cosines, 0.0).max(axis=1, initial=0.0).clip(0.0, 1.0)
        else:
            means = np.maximum(left, 1.0)
            distances = np.maximum(size - 2 * dots / means + norms / means**2, 0.0)
            distances[left <= 0] = np.inf
            nearest[part] = distances.min(axis=1, initial=np.inf)
            at_own = np.where(own > 0, distances, np.inf).min(axis=1, initial=np.inf)
            own_squares[part] = np.where(np.isfinite(at_own), at_own, np.nan)
    if sparse.issparse(X):
        return nearest
    usual = own_squares[np.isfinite(own_squares)]
    scale = max(float(np.median(usual)) if len(usual) else 1.0, 1e-12)
    return np.asarray(1.0 / (1.0 + nearest / scale))


def _squares(X: Any) -> FloatArray:
    """Squared lengths of rows."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))
