"""The most confused pairs of labels, and rows that show the errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.reporting.evaluation import Evaluation
from palmette.reporting.plain import plain
from palmette.reporting.row_texts import RowTexts

__all__ = ["confusion_facts"]

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
