"""Hierarchical precision, recall and F, and accuracy by level and of whole paths."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from palmette._arrays import FloatArray
from palmette._text import caller_level
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.metrics._counts import NodeCounts, count_nodes, row_overlap
from palmette.metrics._pairs import LabelPair, check_weight, pair_labels

Average = Literal["micro", "macro", "samples", "weighted"] | None
Level = int | Literal["each"] | None
ZeroDivision = float | Literal["warn"]
_AVERAGES = ("micro", "macro", "samples", "weighted", None)


def hierarchical_precision_recall_fscore(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    beta: float = 1.0,
    average: Average = "micro",
    level: Level = None,
    include_root: bool = False,
    count_absent: bool = False,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> tuple[Any, Any, Any]:
    """Hierarchical precision, recall and F in one pass.

    Every label stands for its whole path from the root. Precision is the share of predicted nodes
    that are true, recall the share of true nodes that are predicted, F their harmonic mean. Nodes
    are identified by their paths, never by bare names.

    Parameters
    ----------
    y_true, y_pred : array-like
        In any form that `NodeLabels.encode` takes: names, paths, sets, indicator matrices.
    hierarchy : Hierarchy, optional
        By default the union of the paths of both, or a star over their names. DAGs are accepted.
    beta : float, default=1.0
        Weight of recall in F.
    average : {"micro", "macro", "samples", "weighted"} or None, default="micro"
        - "micro": over all pairs of row and node, as in Kiritchenko et al. and Silla and Freitas;
        - "macro": mean over nodes;
        - "weighted": mean over nodes, weighted by how often they are true;
        - "samples": mean over rows;
        - None: one value for every node, in the order of the hierarchy without the root.
    level : int, "each" or None
        Only the nodes of this depth, 1 being just below the root; "each" gives an array of shape
        (max_depth,).
    include_root : bool, default=False
        Whether the root counts. It is right in every row, so it only raises the scores.
    count_absent : bool, default=False
        Whether "macro" counts nodes that are neither true nor predicted anywhere, with the value
        `zero_division`. scikit-learn leaves such labels out too.
    sample_weight : array-like of shape (n_samples,), optional
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        Value of 0 / 0, as in scikit-learn: "warn" is 0 with a warning, nan is left out of means.

    Returns
    -------
    precision, recall, fscore : float or float array
        Arrays for ``average=None`` and ``level="each"``.

    Examples
    --------
    >>> y_true = [("animal", "cat"), ("animal", "dog"), ("plant", "oak")]
    >>> y_pred = [("animal", "cat"), ("animal", "cat"), ("animal",)]
    >>> hierarchical_precision_recall_fscore(y_true, y_pred)
    (0.6, 0.5, 0.5454545454545454)
    """
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    tallies = _tallies(pair, average, level, include_root, count_absent)
    precision = _answer(tallies, "precision", beta, zero_division, level)
    recall = _answer(tallies, "recall", beta, zero_division, level)
    fscore = _answer(tallies, "F", beta, zero_division, level)
    return precision, recall, fscore


def hierarchical_precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: Average = "micro",
    level: Level = None,
    include_root: bool = False,
    count_absent: bool = False,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> Any:
    """Share of the predicted nodes, including ancestors, that are true.

    Parameters are those of `hierarchical_precision_recall_fscore`.

    Returns
    -------
    float, or float array for ``average=None`` and ``level="each"``

    Examples
    --------
    >>> hierarchical_precision_score([("animal", "cat")], [("animal", "dog")])
    0.5
    """
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    tallies = _tallies(pair, average, level, include_root, count_absent)
    return _answer(tallies, "precision", 1.0, zero_division, level)


def hierarchical_recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: Average = "micro",
    level: Level = None,
    include_root: bool = False,
    count_absent: bool = False,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> Any:
    """Share of the true nodes, including ancestors, that are predicted.

    Parameters are those of `hierarchical_precision_recall_fscore`.

    Returns
    -------
    float, or float array for ``average=None`` and ``level="each"``

    Examples
    --------
    >>> hierarchical_recall_score([("animal", "cat", "tabby")], [("animal", "cat")])
    0.6666666666666666
    """
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    tallies = _tallies(pair, average, level, include_root, count_absent)
    return _answer(tallies, "recall", 1.0, zero_division, level)


def hierarchical_fbeta_score(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float,
    hierarchy: Hierarchy | None = None,
    average: Average = "micro",
    level: Level = None,
    include_root: bool = False,
    count_absent: bool = False,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> Any:
    """Weighted harmonic mean of hierarchical precision and recall.

    Parameters are those of `hierarchical_precision_recall_fscore`.

    Returns
    -------
    float, or float array for ``average=None`` and ``level="each"``

    Examples
    --------
    >>> hierarchical_fbeta_score([("animal", "cat")], [("animal",)], beta=2.0)
    0.5555555555555556
    """
    if not beta > 0:
        raise PalmetteError(f"beta={beta!r}: expected a positive number.")
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    tallies = _tallies(pair, average, level, include_root, count_absent)
    return _answer(tallies, "F", beta, zero_division, level)


def hierarchical_f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: Average = "micro",
    level: Level = None,
    include_root: bool = False,
    count_absent: bool = False,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> Any:
    """Harmonic mean of hierarchical precision and recall.

    Parameters are those of `hierarchical_precision_recall_fscore`.

    Returns
    -------
    float, or float array for ``average=None`` and ``level="each"``

    References
    ----------
    C. N. Silla, A. A. Freitas (2011). A survey of hierarchical classification across different
    application domains. Data Mining and Knowledge Discovery 22, 31-72.
    doi:10.1007/s10618-010-0175-9

    Examples
    --------
    >>> hierarchical_f1_score([("animal", "cat")], [("animal", "dog")])
    0.5
    >>> hierarchical_f1_score([("animal", "cat")], [("animal", "dog")], level="each",
    ...                       zero_division=0.0)
    array([1., 0.])
    """
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    tallies = _tallies(pair, average, level, include_root, count_absent)
    return _answer(tallies, "F", 1.0, zero_division, level)


# ---------------------------------------------------------------------- from counts to scores


@dataclass(frozen=True)
class _Tally:
    """Counts of the units (cells, nodes or rows) from which one score is computed.

    `weights` is None if every unit keeps its own score.
    """

    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    weights: FloatArray | None


def _tallies(
    pair: LabelPair, average: Average, level: Level, include_root: bool, count_absent: bool
) -> list[_Tally]:
    """Make one tally, or one per level."""
    if average not in _AVERAGES:
        raise PalmetteError(f"average={average!r}: expected one of {_AVERAGES}.")
    if level == "each" and average is None:
        raise PalmetteError(
            "level='each' and average=None would give arrays of unequal length: pass one level."
        )
    levels = range(1, pair.hierarchy.max_depth + 1) if level == "each" else [level]
    if average == "samples":
        return [_tally_rows(pair, one, include_root) for one in levels]
    counts = count_nodes(pair)
    return [_tally_nodes(counts, average, one, include_root, count_absent) for one in levels]


def _tally_rows(pair: LabelPair, level: int | None, include_root: bool) -> _Tally:
    overlap = row_overlap(pair, level, include_root)
    both = overlap.both.astype(np.float64)
    return _Tally(both, overlap.pred - both, overlap.true - both, pair.weight)


def _tally_nodes(
    counts: NodeCounts, average: Average, level: int | None, include_root: bool, count_absent: bool
) -> _Tally:
    nodes = counts.select(level, include_root)
    tp, fp, fn = counts.tp[nodes], counts.fp[nodes], counts.fn[nodes]
    if average == "micro":
        tp, fp, fn = (side.sum(keepdims=True) for side in (tp, fp, fn))
        return _Tally(tp, fp, fn, np.ones(1))
    if average is None:
        return _Tally(tp, fp, fn, None)
    if average == "weighted":
        return _Tally(tp, fp, fn, tp + fn)
    present = (tp + fp + fn > 0) | count_absent
    return _Tally(tp, fp, fn, present.astype(np.float64))


def _answer(
    tallies: list[_Tally], kind: str, beta: float, zero_division: ZeroDivision, level: Level
) -> Any:
    scores = []
    for tally in tallies:  # no comprehension: its frame would change the stack level of the warning
        scores.append(_score(tally, kind, beta, zero_division))
    return np.asarray(scores) if level == "each" else scores[0]


def _score(tally: _Tally, kind: str, beta: float, zero_division: ZeroDivision) -> Any:
    tp, fp, fn = tally.tp, tally.fp, tally.fn
    if kind == "precision":
        top, bottom = tp, tp + fp
    elif kind == "recall":
        top, bottom = tp, tp + fn
    else:
        top, bottom = (1 + beta**2) * tp, (1 + beta**2) * tp + beta**2 * fn + fp
    used = np.ones(len(tp), dtype=bool) if tally.weights is None else tally.weights > 0
    undefined = (bottom == 0) & used
    if zero_division == "warn" and (undefined.any() or not used.any()):
        _warn_undefined(kind)
    filler = 0.0 if zero_division == "warn" else float(zero_division)
    values = np.full(len(tp), filler)
    np.divide(top, bottom, out=values, where=bottom > 0)
    if tally.weights is None:
        return values
    defined = used & ~np.isnan(values)
    if not defined.any():
        return filler
    return float(np.average(values[defined], weights=tally.weights[defined]))


def _warn_undefined(kind: str) -> None:
    warnings.warn(
        f"hierarchical {kind} is 0 / 0 for some rows, nodes or levels and set to 0 there. "
        "Pass zero_division to choose the value and silence this warning.",
        UndefinedMetricWarning,
        stacklevel=caller_level(),
    )


# ---------------------------------------------------------------------- levels and whole paths


def leaf_accuracy_score(
    y_true: Any, y_pred: Any, *, hierarchy: Hierarchy | None = None, sample_weight: Any = None
) -> float:
    """Share of rows whose label is predicted exactly, down to the last node of every path.

    Parameters
    ----------
    y_true, y_pred : array-like
        In any form that `NodeLabels.encode` takes.
    hierarchy : Hierarchy, optional
        By default the union of the paths of both, or a star over their names.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> leaf_accuracy_score([("a", "x"), ("a", "y")], [("a", "x"), ("a",)])
    0.5
    """
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    return pair.mean(row_overlap(pair).apart == 0)


def level_accuracy_score(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    level: int | None = None,
    sample_weight: Any = None,
) -> Any:
    """Share of rows that are right at each level of the hierarchy.

    A row counts at a level that its truth or its prediction reaches, and is right if both have the
    same nodes there. So paths that are too short and paths that are too long are both errors.

    Parameters
    ----------
    y_true, y_pred, hierarchy : as in `leaf_accuracy_score`
    level : int, optional
        Only this depth, 1 being just below the root.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float array of shape (max_depth,), or float for one `level`
        NaN at a level that no row reaches.

    Examples
    --------
    >>> level_accuracy_score([("a", "x"), ("a", "y"), ("b",)], [("a", "x"), ("a", "x"), ("b",)])
    array([1. , 0.5])
    """
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    if level is not None:
        return _accuracy_at(pair, level)
    return np.array([_accuracy_at(pair, one) for one in range(1, pair.hierarchy.max_depth + 1)])


def _accuracy_at(pair: LabelPair, level: int) -> float:
    overlap = row_overlap(pair, level)
    reached = overlap.true + overlap.pred > 0
    right: NDArray[np.bool_] = (overlap.apart == 0) & reached
    weight = float(pair.weight[reached].sum())
    return float(pair.weight[right].sum()) / weight if weight else float("nan")


def path_consistency_score(
    y_pred: Any, *, hierarchy: Hierarchy | None = None, sample_weight: Any = None
) -> float:
    """Share of rows in which every given node comes with all its ancestors.

    Parameters
    ----------
    y_pred : array-like
        0/1 matrix with a column for every node (or every node but the root), or sets of nodes that
        list their ancestors. The root may be missing.
    hierarchy : Hierarchy, optional
        Needed for a matrix, whose columns say nothing about parents.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> h = Hierarchy.from_paths([("a", "x"), ("b",)])
    >>> path_consistency_score(np.array([[1, 1, 0], [0, 1, 0]]), hierarchy=h)  # a, x, b
    0.5
    """
    labels = NodeLabels.encode(y_pred, hierarchy)
    weight = check_weight(sample_weight, labels.n_samples)
    ones = np.ones(labels.hierarchy.n_nodes, dtype=np.int64)
    ones[0] = 0
    consistent = labels.closed @ ones == labels.given @ ones
    return float(weight @ consistent) / float(weight.sum())
