"""The most confused pairs of labels, and rows that show the errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.metrics._losses import first_errors
from palmette.reporting._evaluation import Evaluation, RowTexts
from palmette.reporting._plain import plain, plain_facts

__all__ = ["Partings", "confusion_facts", "error_facts", "find_partings"]


N_PAIRS = 50
_EXAMPLES_A_PAIR = 3
_EXAMPLES_A_LABEL = 2
_MOST_EXAMPLES = 1500

IntArray = NDArray[np.int64]


def confusion_facts(
    evaluation: Evaluation, confidence: NDArray[np.float64] | None, texts: RowTexts
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Find pairs of a true and a predicted label that are often taken for each other.

    With several paths a row, every label that only the truth has is paired with every one that only
    the prediction has.

    Parameters
    ----------
    evaluation : Evaluation
    confidence : array of shape (n_samples,), optional
        Of the answers: the errors that a model was surest of are shown first.
    texts : RowTexts

    Returns
    -------
    pairs : list of dict
        ``true``, ``predicted``, ``rows`` (how many), ``examples`` (places in the other list).
    examples : list of dict
        ``row``, ``name``, ``text``, ``true`` and ``predicted`` (nodes), ``confidence``.
    """
    missed, false = _apart(evaluation)
    n_rows = evaluation.n_rows
    priority = np.zeros(n_rows) if confidence is None else -np.nan_to_num(confidence)
    order = np.lexsort((np.arange(n_rows), priority))
    rank = np.empty(n_rows, dtype=np.int64)
    rank[order] = np.arange(n_rows)
    pairs = _most_confused(missed, false)
    chosen: list[IntArray] = [
        _first_rows(_rows_of(missed, pair["true"], false, pair["predicted"]), rank)
        for pair in pairs
    ]
    shown = _with_labels(np.concatenate([np.empty(0, np.int64), *chosen]), missed, false, rank)
    place = {row: at for at, row in enumerate(shown.tolist())}
    for pair, rows in zip(pairs, chosen, strict=True):
        pair["examples"] = [place[row] for row in rows.tolist()]
    examples = [_example(row, evaluation, confidence, texts) for row in shown.tolist()]
    return plain(pairs), plain(examples)


def _apart(evaluation: Evaluation) -> tuple[sparse.csc_array, sparse.csc_array]:
    """Most specific nodes that only the truth has, and that only the prediction has."""
    true, pred = (
        side.specific.astype(np.int32) for side in (evaluation.pair.true, evaluation.pair.pred)
    )
    both = true.multiply(pred)
    sides = [sparse.csc_array(side - both) for side in (true, pred)]
    for side in sides:
        side.eliminate_zeros()
    return sides[0], sides[1]


def _most_confused(missed: sparse.csc_array, false: sparse.csc_array) -> list[dict[str, Any]]:
    table = sparse.coo_array(missed.T @ false)
    order = np.lexsort((table.col, table.row, -table.data))[:N_PAIRS]
    columns = (table.row[order].tolist(), table.col[order].tolist(), table.data[order].tolist())
    return [{"true": a, "predicted": b, "rows": n} for a, b, n in zip(*columns, strict=True)]


def _rows_of(missed: sparse.csc_array, a: int, false: sparse.csc_array, b: int) -> IntArray:
    return np.intersect1d(_column(missed, a), _column(false, b))


def _column(matrix: sparse.csc_array, node: int) -> NDArray[Any]:
    return np.asarray(matrix.indices[matrix.indptr[node] : matrix.indptr[node + 1]])


def _first_rows(rows: IntArray, rank: IntArray, n: int = _EXAMPLES_A_PAIR) -> IntArray:
    return rows[np.argsort(rank[rows])][:n].astype(np.int64)


def _with_labels(
    shown: IntArray, missed: sparse.csc_array, false: sparse.csc_array, rank: IntArray
) -> IntArray:
    """Add rows so that every label with errors has examples, as far as there is room."""
    parts = [shown]
    for matrix in (missed, false):
        for node in np.flatnonzero(np.diff(matrix.indptr)).tolist():
            parts.append(_first_rows(_column(matrix, node), rank, _EXAMPLES_A_LABEL))
    rows = np.concatenate(parts)
    _, first = np.unique(rows, return_index=True)
    return rows[np.sort(first)][:_MOST_EXAMPLES]


def _example(
    row: int, evaluation: Evaluation, confidence: NDArray[np.float64] | None, texts: RowTexts
) -> dict[str, Any]:
    true, pred = evaluation.pair.true.specific, evaluation.pair.pred.specific
    return {
        "row": row,
        "name": texts.name(row),
        "text": texts.text(row),
        "true": true.indices[true.indptr[row] : true.indptr[row + 1]],
        "predicted": pred.indices[pred.indptr[row] : pred.indptr[row + 1]],
        "confidence": None if confidence is None else round(float(confidence[row]), 4),
    }


_MOST_CONFUSIONS = 10_000  # between siblings, kept for the picture


@dataclass(frozen=True)
class Partings:
    """Where a row's true and predicted paths part: right down to a node, and wrong below it.

    With one path a row in a tree a wrong row parts once, at the lowest common ancestor of truth
    and prediction. With several paths it may part at several nodes.

    Parameters
    ----------
    row, node : int arrays of shape (n_partings,)
    missed, false : int arrays of shape (n_partings,)
        Number of the node's children that only the truth has, and that only the prediction has.
    siblings : int array of shape (n_confusions, 3)
        Node, true child, predicted child: for every such pair of a parting.
    first_level : int array of shape (n_rows,)
        Level of a row's first error, 0 for a row that is right.
    """

    row: IntArray
    node: IntArray
    missed: IntArray
    false: IntArray
    siblings: IntArray
    first_level: IntArray

    @property
    def confused(self) -> NDArray[np.bool_]:
        """Whether another child is predicted than the true one."""
        return np.asarray((self.missed > 0) & (self.false > 0))

    @property
    def short(self) -> NDArray[np.bool_]:
        """Whether the prediction ends where the truth goes on."""
        return np.asarray(self.false == 0)

    @property
    def beyond(self) -> NDArray[np.bool_]:
        """Whether the prediction goes on where the truth ends."""
        return np.asarray(self.missed == 0)


def find_partings(evaluation: Evaluation) -> Partings:
    """Find where the paths of every wrong row part."""
    rows, nodes = first_errors(evaluation.pair)
    hierarchy, parents = evaluation.hierarchy, evaluation.parents
    is_missed = _is_true(evaluation, rows, nodes)
    key = rows * hierarchy.n_nodes + parents[nodes]
    events, event = np.unique(key, return_inverse=True)
    missed = np.bincount(event[is_missed], minlength=len(events))
    false = np.bincount(event[~is_missed], minlength=len(events))
    first_level = np.full(evaluation.n_rows, hierarchy.max_depth + 1)
    np.minimum.at(first_level, rows, hierarchy.depth[nodes])
    first_level[evaluation.is_right] = 0
    where, at = np.divmod(events, hierarchy.n_nodes)
    siblings = _confused_siblings(event, nodes, is_missed, at)
    return Partings(where, at, missed, false, siblings, first_level)


def error_facts(evaluation: Evaluation, partings: Partings) -> dict[str, Any]:
    """Count errors in three ways; each counts every wrong row, with one path a row just once.

    Parameters
    ----------
    evaluation : Evaluation
    partings : Partings

    Returns
    -------
    dict
        ``right`` and ``wrong`` rows; ``kinds`` (rows that stopped short, went too far or took
        another branch); ``by_level`` of the first error; ``by_node`` where paths part, columns;
        ``siblings``, columns of parent, true child, predicted child and rows.
    """
    right = int(np.count_nonzero(evaluation.is_right))
    levels = np.bincount(partings.first_level, minlength=evaluation.hierarchy.max_depth + 1)
    return plain_facts(
        {
            "rows": evaluation.n_rows,
            "right": right,
            "wrong": evaluation.n_rows - right,
            "kinds": _kinds(evaluation, partings),
            "by_level": [
                {"level": level, "rows": count} for level, count in enumerate(levels.tolist())
            ][1:],
            "by_node": _by_node(partings),
            "siblings": _siblings(partings),
        }
    )


def _is_true(evaluation: Evaluation, rows: IntArray, nodes: NDArray[Any]) -> NDArray[np.bool_]:
    if not rows.size:
        return np.zeros(0, dtype=bool)
    return np.asarray(evaluation.pair.true.closed[rows, nodes]).ravel().astype(bool)


def _confused_siblings(
    event: IntArray, nodes: NDArray[Any], is_missed: NDArray[np.bool_], at: IntArray
) -> IntArray:
    """All pairs of a missed and a false child of one parting: (n_pairs, 3)."""
    by_event = np.argsort(event, kind="stable")
    missed, false = (by_event[flag[by_event]] for flag in (is_missed, ~is_missed))
    starts = np.searchsorted(event[false], event[missed], side="left")
    n_false = np.searchsorted(event[false], event[missed], side="right") - starts
    left = np.repeat(np.arange(len(missed)), n_false)
    within = np.arange(len(left)) - np.repeat(np.cumsum(n_false) - n_false, n_false)
    pairs = nodes[missed[left]], nodes[false[starts[left] + within]]
    return np.column_stack([at[event[missed[left]]], *pairs]).astype(np.int64)


def _kinds(evaluation: Evaluation, partings: Partings) -> dict[str, int]:
    """Rows by kind: they add up to all rows."""
    n_rows = evaluation.n_rows
    missed = np.bincount(partings.row, partings.missed, minlength=n_rows) > 0
    false = np.bincount(partings.row, partings.false, minlength=n_rows) > 0
    return {
        "right": int(np.count_nonzero(~missed & ~false)),
        "short": int(np.count_nonzero(missed & ~false)),
        "beyond": int(np.count_nonzero(false & ~missed)),
        "other_branch": int(np.count_nonzero(missed & false)),
    }


def _by_node(partings: Partings) -> dict[str, list[int]]:
    nodes, place = np.unique(partings.node, return_inverse=True)
    kinds = {"confused": partings.confused, "short": partings.short, "beyond": partings.beyond}
    columns = {
        name: np.bincount(place, flags, minlength=len(nodes)).astype(int)
        for name, flags in kinds.items()
    }
    total = np.bincount(place, minlength=len(nodes))
    order = np.lexsort((nodes, -total))
    facts = {"node": nodes, "rows": total, **columns}
    return {name: column[order].tolist() for name, column in facts.items()}


def _siblings(partings: Partings) -> dict[str, Any]:
    triples, counts = np.unique(partings.siblings, axis=0, return_counts=True)
    order = np.lexsort((*triples.T[::-1], -counts))
    kept = order[:_MOST_CONFUSIONS]
    names = ("parent", "true", "predicted")
    columns = {name: triples[kept, place].tolist() for place, name in enumerate(names)}
    left_out = int(counts[order[_MOST_CONFUSIONS:]].sum())
    return {**columns, "rows": counts[kept].tolist(), "left_out": left_out}
