"""Errors of a model: where paths diverge, confused pairs of labels, wrong rows, suspect labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.metrics._losses import first_errors
from palmette.reporting._confidence import CellConfidence, PathConfidence
from palmette.reporting._evaluation import Evaluation, RowTexts
from palmette.reporting._plain import plain, plain_facts

N_PAIRS = 50
_EXAMPLES_PER_PAIR = 3
_EXAMPLES_PER_LABEL = 2
_MOST_EXAMPLES = 5000  # wrong rows in the report, of which its page makes a table of errors
_MOST_CONFUSIONS = 10_000  # between siblings, stored in the report
_N_SUSPECTS = 50
_N_UNSURE = 25
_LEAST_EXCESS = (
    0.5  # expected nodes by which the prediction of a suspect row is nearer to the truth
)

IntArray = NDArray[np.int64]


def confusion_facts(
    evaluation: Evaluation,
    confidence: NDArray[np.float64] | None,
    texts: RowTexts,
    suspects: IntArray | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Find the most frequent pairs of a true label and a wrong predicted label.

    With several paths per row, every missed label is paired with every false label of the row.

    Parameters
    ----------
    evaluation : Evaluation
    confidence : array of shape (n_samples,), optional
        Confidence of the predictions: errors with the highest confidence are listed first.
    texts : RowTexts
    suspects : int array, optional
        Wrong rows of which the first are listed in any case.

    Returns
    -------
    pairs : list of dict
        ``true``, ``predicted``, ``rows`` (their number), ``examples`` (indices in the other list).
    examples : list of dict
        Wrong rows, up to `_MOST_EXAMPLES`: those of the pairs and two per label first, then those
        with the highest confidence. ``row``, ``name``, ``text``, ``true`` and ``predicted``
        (nodes), ``confidence``.
    """
    missed, false = _missed_and_false(evaluation)
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
    sure = np.zeros(0, np.int64) if suspects is None else suspects[:_N_SUSPECTS].astype(np.int64)
    shown = _with_labels(np.concatenate([*chosen, sure]), missed, false, rank)
    rest = order[~evaluation.is_right[order]]
    shown = _distinct(np.concatenate([shown, rest]))[:_MOST_EXAMPLES]
    place = {row: at for at, row in enumerate(shown.tolist())}
    for pair, rows in zip(pairs, chosen, strict=True):
        pair["examples"] = [place[row] for row in rows.tolist()]
    texts.hold(shown)
    examples = [_example(row, evaluation, confidence, texts) for row in shown.tolist()]
    return plain(pairs), plain(examples)


def _missed_and_false(evaluation: Evaluation) -> tuple[sparse.csc_array, sparse.csc_array]:
    """Return the most specific nodes that are missed, and those that are predicted falsely."""
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


def _first_rows(rows: IntArray, rank: IntArray, n: int = _EXAMPLES_PER_PAIR) -> IntArray:
    return rows[np.argsort(rank[rows])][:n].astype(np.int64)


def _with_labels(
    shown: IntArray, missed: sparse.csc_array, false: sparse.csc_array, rank: IntArray
) -> IntArray:
    """Add rows so that every label with errors has examples."""
    parts = [shown]
    for matrix in (missed, false):
        for node in np.flatnonzero(np.diff(matrix.indptr)).tolist():
            parts.append(_first_rows(_column(matrix, node), rank, _EXAMPLES_PER_LABEL))
    return _distinct(np.concatenate(parts))


def _distinct(rows: IntArray) -> IntArray:
    """Return rows in their order, each once."""
    _, first = np.unique(rows, return_index=True)
    return rows[np.sort(first)]


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


# ---------------------------------------------------------------------- rows to review


def find_suspects(
    evaluation: Evaluation, confidence: PathConfidence | CellConfidence | None
) -> IntArray:
    """Return the rows whose labels look wrong, the most suspect first.

    The measure is ``excess``: by how many nodes the prediction is expected to be nearer to the
    truth than the given label. It grows with the probability of the prediction against that of the
    given label and with the distance between them, so a label in another branch ranks above a
    sibling. Rows with labels that the model has never seen are left out.

    Parameters
    ----------
    evaluation : Evaluation
    confidence : PathConfidence or CellConfidence, optional

    Returns
    -------
    int array
        Positions of rows; empty without probabilities.
    """
    if confidence is None:
        return np.zeros(0, dtype=np.int64)
    excess = confidence.excess
    rows = np.flatnonzero((excess >= _LEAST_EXCESS) & ~evaluation.is_right & ~evaluation.is_unseen)
    return rows[np.argsort(-excess[rows], kind="stable")]


def review_facts(
    evaluation: Evaluation,
    confidence: PathConfidence | CellConfidence | None,
    suspects: IntArray,
    examples: list[dict[str, Any]],
    texts: RowTexts,
) -> dict[str, Any] | None:
    """List the rows to review first.

    Parameters
    ----------
    evaluation : Evaluation
    confidence : PathConfidence or CellConfidence, optional
    suspects : int array
        As from `find_suspects`.
    examples : list of dict
        Wrong rows of the report, which include the first suspects.
    texts : RowTexts

    Returns
    -------
    dict or None
        ``n_suspects`` and ``suspects``: ``example`` (index), ``excess``, ``given`` (probability of
        the given label) and ``distance`` (edges between given and predicted label), both only for
        one path per row; ``unsure``: rows as in ``examples``, with ``doubt``, the expected number
        of wrong and missed nodes. None without probabilities.
    """
    if confidence is None:
        return None
    place = {example["row"]: at for at, example in enumerate(examples)}
    given = confidence.given if isinstance(confidence, PathConfidence) else None
    distance = evaluation.overlap.apart
    listed = [
        {
            "example": place[row],
            "excess": round(float(confidence.excess[row]), 4),
            "given": None if given is None else round(float(given[row]), 4),
            "distance": None if given is None else int(distance[row]),
        }
        for row in suspects[:_N_SUSPECTS].tolist()
        if row in place
    ]
    doubt = confidence.doubt
    unsure = np.argsort(-doubt, kind="stable")[:_N_UNSURE]
    answer = confidence.answer if isinstance(confidence, PathConfidence) else None
    texts.hold(unsure)
    rows = [
        {
            **_example(row, evaluation, answer, texts),
            "doubt": round(float(doubt[row]), 4),
            "right": bool(evaluation.is_right[row]),
        }
        for row in unsure.tolist()
    ]
    return plain_facts({"n_suspects": len(suspects), "suspects": listed, "unsure": rows})


# ---------------------------------------------------------------------- where paths diverge


@dataclass(frozen=True)
class Divergences:
    """Nodes at which the true and the predicted paths of a row diverge.

    The node itself is correct, some of its children are not. With one path per row in a tree, the
    paths of a wrong row diverge once, at the lowest common ancestor of the true and the predicted
    node. With several paths they may diverge at several nodes.

    Parameters
    ----------
    row, node : int arrays of shape (n_divergences,)
    missed, false : int arrays of shape (n_divergences,)
        Number of the node's children that are missed, and that are predicted falsely.
    siblings : int array of shape (n_confusions, 3)
        Node, true child, predicted child: for every such pair at a divergence.
    first_level : int array of shape (n_rows,)
        Level of the first error of each row, 0 for a correct row.
    """

    row: IntArray
    node: IntArray
    missed: IntArray
    false: IntArray
    siblings: IntArray
    first_level: IntArray

    @property
    def confused(self) -> NDArray[np.bool_]:
        """Whether a wrong child is predicted in place of the true one."""
        return np.asarray((self.missed > 0) & (self.false > 0))

    @property
    def short(self) -> NDArray[np.bool_]:
        """Whether the prediction ends at the node and the true path continues."""
        return np.asarray(self.false == 0)

    @property
    def beyond(self) -> NDArray[np.bool_]:
        """Whether the prediction continues and the true path ends at the node."""
        return np.asarray(self.missed == 0)


def find_divergences(evaluation: Evaluation) -> Divergences:
    """Find the nodes at which the paths of every wrong row diverge."""
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
    return Divergences(where, at, missed, false, siblings, first_level)


def error_facts(evaluation: Evaluation, divergences: Divergences) -> dict[str, Any]:
    """Count errors by kind, by level and by node.

    Each count includes every wrong row; with one path per row, exactly once.

    Returns
    -------
    dict
        Numbers of ``right`` and ``wrong`` rows; ``kinds`` (rows whose prediction ends too early,
        ends too deep or is in another branch); ``by_level`` of the first error; ``by_node``,
        columns of the nodes at which paths diverge; ``siblings``, columns of parent, true child,
        predicted child and number of rows.
    """
    right = int(np.count_nonzero(evaluation.is_right))
    levels = np.bincount(divergences.first_level, minlength=evaluation.hierarchy.max_depth + 1)
    return plain_facts(
        {
            "rows": evaluation.n_rows,
            "right": right,
            "wrong": evaluation.n_rows - right,
            "kinds": _kinds(evaluation, divergences),
            "by_level": [
                {"level": level, "rows": count} for level, count in enumerate(levels.tolist())
            ][1:],
            "by_node": _by_node(divergences),
            "siblings": _siblings(divergences),
        }
    )


def _is_true(evaluation: Evaluation, rows: IntArray, nodes: NDArray[Any]) -> NDArray[np.bool_]:
    if not rows.size:
        return np.zeros(0, dtype=bool)
    if not evaluation.several:
        true = evaluation.pair.nodes[0][rows]
        return np.asarray(evaluation.hierarchy.closure[true, nodes]).ravel().astype(bool)
    return np.asarray(evaluation.pair.true.closed[rows, nodes]).ravel().astype(bool)


def _confused_siblings(
    event: IntArray, nodes: NDArray[Any], is_missed: NDArray[np.bool_], at: IntArray
) -> IntArray:
    """Return all pairs of a missed and a false child of one divergence: (n_pairs, 3)."""
    by_event = np.argsort(event, kind="stable")
    missed, false = (by_event[flag[by_event]] for flag in (is_missed, ~is_missed))
    starts = np.searchsorted(event[false], event[missed], side="left")
    n_false = np.searchsorted(event[false], event[missed], side="right") - starts
    left = np.repeat(np.arange(len(missed)), n_false)
    within = np.arange(len(left)) - np.repeat(np.cumsum(n_false) - n_false, n_false)
    pairs = nodes[missed[left]], nodes[false[starts[left] + within]]
    return np.column_stack([at[event[missed[left]]], *pairs]).astype(np.int64)


def _kinds(evaluation: Evaluation, divergences: Divergences) -> dict[str, int]:
    """Count rows by kind of error; the counts sum to the number of rows."""
    n_rows = evaluation.n_rows
    missed = np.bincount(divergences.row, divergences.missed, minlength=n_rows) > 0
    false = np.bincount(divergences.row, divergences.false, minlength=n_rows) > 0
    return {
        "right": int(np.count_nonzero(~missed & ~false)),
        "short": int(np.count_nonzero(missed & ~false)),
        "beyond": int(np.count_nonzero(false & ~missed)),
        "other_branch": int(np.count_nonzero(missed & false)),
    }


def _by_node(divergences: Divergences) -> dict[str, list[int]]:
    nodes, place = np.unique(divergences.node, return_inverse=True)
    kinds = {
        "confused": divergences.confused,
        "short": divergences.short,
        "beyond": divergences.beyond,
    }
    columns = {
        name: np.bincount(place, flags, minlength=len(nodes)).astype(int)
        for name, flags in kinds.items()
    }
    total = np.bincount(place, minlength=len(nodes))
    order = np.lexsort((nodes, -total))
    facts = {"node": nodes, "rows": total, **columns}
    return {name: column[order].tolist() for name, column in facts.items()}


def _siblings(divergences: Divergences) -> dict[str, Any]:
    triples, counts = np.unique(divergences.siblings, axis=0, return_counts=True)
    order = np.lexsort((*triples.T[::-1], -counts))
    kept = order[:_MOST_CONFUSIONS]
    names = ("parent", "true", "predicted")
    columns = {name: triples[kept, place].tolist() for place, name in enumerate(names)}
    left_out = int(counts[order[_MOST_CONFUSIONS:]].sum())
    return {**columns, "rows": counts[kept].tolist(), "left_out": left_out}
