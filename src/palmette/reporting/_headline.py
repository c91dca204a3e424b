"""Headline scores of a report with intervals, overall and per level.

Rows with the same true and predicted labels form groups, and resamples draw counts of the groups:
nothing is predicted again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray
from palmette.metrics._counts import row_overlap
from palmette.reporting._confidence import CellConfidence
from palmette.reporting._evaluation import Evaluation
from palmette.reporting._intervals import (
    CONFIDENCE,
    Interval,
    bootstrap,
    mirrored,
    share_of_rows,
    with_spread,
)
from palmette.reporting._plain import plain_facts


@dataclass(frozen=True)
class RowGroups:
    """Groups of rows with the same true and predicted labels.

    Parameters
    ----------
    evaluation : Evaluation
    first : int array of shape (n_groups,)
        Index of one row of each group.
    sizes : int array of shape (n_groups,)
        Number of rows in each group.
    """

    evaluation: Evaluation
    first: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @cached_property
    def overlap(self) -> NDArray[np.int64]:
        """Number of true nodes, predicted nodes, and both, of shape (n_groups, 3)."""
        found = self.evaluation.overlap
        return np.column_stack([side[self.first] for side in (found.true, found.pred, found.both)])

    @cached_property
    def is_right(self) -> NDArray[np.bool_]:
        """Whether the prediction of each group is correct."""
        return self.evaluation.is_right[self.first]

    @cached_property
    def level_flags(self) -> NDArray[np.int64]:
        """Whether each level is correct, then whether it is reached: (n_groups, 2 * max_depth)."""
        right, reached = [], []
        for level in range(1, self.evaluation.hierarchy.max_depth + 1):
            found = row_overlap(self.evaluation.pair, level)
            there = (found.true + found.pred > 0)[self.first]
            reached.append(there)
            right.append(there & (found.apart == 0)[self.first])
        return np.column_stack([*right, *reached]).astype(np.int64)

    @cached_property
    def node_sides(self) -> list[sparse.csr_array]:
        """True nodes, predicted nodes, and both per group, without the root and unused nodes."""
        pair = self.evaluation.pair
        if self.evaluation.several:
            true, pred = (side.closed[self.first][:, 1:] for side in (pair.true, pair.pred))
        else:  # the ancestors of all rows are never listed
            true, pred = (side.take(self.first).closed[:, 1:] for side in (pair.true, pair.pred))
        used = np.unique(np.concatenate([true.indices, pred.indices]))
        true, pred = (sparse.csr_array(side[:, used], dtype=np.int64) for side in (true, pred))
        return [true, pred, sparse.csr_array(true.multiply(pred))]


def group_rows(evaluation: Evaluation) -> RowGroups:
    """Group rows by true and predicted label; with several paths, each row is its own group."""
    if evaluation.several:
        rows = np.arange(evaluation.n_rows)
        return RowGroups(evaluation, rows, np.ones(len(rows), dtype=np.int64))
    true, pred = evaluation.pair.nodes
    key = true.astype(np.int64) * evaluation.hierarchy.n_nodes + pred
    _, first, sizes = np.unique(key, return_index=True, return_counts=True)
    return RowGroups(evaluation, first, sizes)


@dataclass(frozen=True)
class Score:
    """A headline score: its key, title, description, and whether higher is better."""

    name: str
    title: str
    words: str
    higher_is_better: bool = True


_ALWAYS = (
    Score(
        "hierarchical_f1", "Hierarchical F1", "Harmonic mean of hierarchical precision and recall."
    ),
    Score(
        "hierarchical_precision",
        "Hierarchical precision",
        "Share of the predicted nodes, including ancestors, that are true.",
    ),
    Score(
        "hierarchical_recall",
        "Hierarchical recall",
        "Share of the true nodes, including ancestors, that are predicted.",
    ),
    Score("accuracy", "Accuracy", "Share of rows whose predicted label is exactly the true one."),
    Score(
        "tree_induced_error",
        "Tree-induced error",
        "Mean number of edges between the true and the predicted node.",
        higher_is_better=False,
    ),
    Score("macro_f1", "Macro F1", "Mean F1 over the nodes, with equal weights."),
)
_AUPRC = Score(
    "micro_auprc",
    "Micro AU(PRC)",
    "Area under the precision-recall curve over all pairs of a row and a node.",
)
_WORDS_FOR_SETS = {
    "accuracy": "Share of rows whose set of predicted labels is exactly the true one.",
    "tree_induced_error": "Mean number of nodes that are either true or predicted, but not both.",
}


def headline_facts(
    evaluation: Evaluation, cells: CellConfidence | None, *, n_bootstrap: int, seed: int
) -> dict[str, Any]:
    """Compute the headline scores and their intervals.

    Parameters
    ----------
    evaluation : Evaluation
    cells : CellConfidence, optional
        Node probabilities, for models that predict several paths per row.
    n_bootstrap : int
    seed : int

    Returns
    -------
    dict
        ``figures`` (the scores), ``levels`` (scores per level) and ``bootstrap`` (settings of the
        intervals).
    """
    groups = group_rows(evaluation)
    curve = cells if cells is not None and cells.row_counts is not None else None

    def scores(drawn: NDArray[np.int64]) -> FloatArray:
        columns = [_label_scores(groups, drawn), _levels(groups, drawn)]
        if curve is not None:
            columns.append(curve.average_precision(drawn)[:, None])
        return np.column_stack(columns)

    found = bootstrap(
        scores,
        groups.sizes,
        n_resamples=n_bootstrap,
        seed=seed,
        width=3 * groups.node_sides[0].shape[1],
    )
    n_right = int(groups.sizes @ groups.is_right)
    shown = [
        _fact(
            score,
            share_of_rows(each, n_right, evaluation.n_rows)
            if score.name == "accuracy"
            else with_spread(
                mirrored(each) if score.name == "macro_f1" else each,
                evaluation.n_rows,
                _range(score, evaluation),
            ),
            evaluation,
        )
        for score, each in zip(_ALWAYS, found, strict=False)
    ]
    if evaluation.several:  # low thresholds of rare labels may raise macro F1, but at a price
        true, predicted, _ = groups.sizes @ groups.overlap
        shown[-1]["words"] += f" {predicted / max(true, 1):.2g} nodes are predicted per true one."
    if cells is not None:
        spread = Interval(np.nan, np.nan, np.nan)
        if curve is not None:
            spread = with_spread(found[-1], evaluation.n_rows, None)
        area = Interval(cells.area(), spread.low, spread.high)
        shown.append(_fact(_AUPRC, area, evaluation))
    return plain_facts(
        {
            "figures": shown,
            "levels": _level_facts(evaluation, groups, found[len(_ALWAYS) :]),
            "bootstrap": {"resamples": n_bootstrap, "confidence": CONFIDENCE, "seed": seed},
        }
    )


def plain_scores(evaluation: Evaluation) -> tuple[dict[str, float], list[float]]:
    """Return the headline scores by name, and the accuracy of each level, without intervals."""
    groups = group_rows(evaluation)
    whole = groups.sizes[None, :]
    values = _label_scores(groups, whole)[0].tolist()
    levels: list[float] = _levels(groups, whole)[0].tolist()
    return {score.name: value for score, value in zip(_ALWAYS, values, strict=True)}, levels


def score_differences(
    first: Evaluation, second: Evaluation, *, n_bootstrap: int, seed: int
) -> list[tuple[Score, Interval]]:
    """Return the scores of the second model minus those of the first, on the same rows.

    Every resample draws the same rows for both models, so the intervals are those of the paired
    difference.
    """
    if first.several:
        rows = np.arange(first.n_rows)
        sizes = np.ones(len(rows), dtype=np.int64)
    else:
        keys = np.column_stack([*first.pair.nodes, second.pair.nodes[1]])
        _, rows, sizes = np.unique(keys, axis=0, return_index=True, return_counts=True)
    groups = [RowGroups(each, rows, sizes) for each in (first, second)]

    def scores(drawn: NDArray[np.int64]) -> FloatArray:
        return _label_scores(groups[1], drawn) - _label_scores(groups[0], drawn)

    width = 3 * max(each.node_sides[0].shape[1] for each in groups)
    found = bootstrap(scores, sizes, n_resamples=n_bootstrap, seed=seed, width=width)
    differences = []
    for score, each in zip(_ALWAYS, found, strict=True):
        bounds = _range(score, first)
        if bounds is not None:
            bounds = (bounds[0] - bounds[1], bounds[1] - bounds[0])
        differences.append((score, with_spread(each, first.n_rows, bounds)))
    return differences


def _range(score: Score, evaluation: Evaluation) -> tuple[float, float] | None:
    """Return the lowest and the highest score that a row can have; None if rows have none."""
    if score.name == "macro_f1":  # the mean over nodes: one row may be all rows of a node
        return None
    if score.name == "tree_induced_error":
        return None if evaluation.several else (0.0, 2.0 * evaluation.hierarchy.max_depth)
    return 0.0, 1.0


def _fact(score: Score, found: Interval, evaluation: Evaluation) -> dict[str, Any]:
    words = score.words
    if evaluation.several:
        words = _WORDS_FOR_SETS.get(score.name, words)
    return {
        "name": score.name,
        "title": score.title,
        "words": words,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "higher_is_better": score.higher_is_better,
    }


def _label_scores(groups: RowGroups, drawn: NDArray[np.int64]) -> FloatArray:
    """Return the scores in the order of `_ALWAYS`, of shape (n_draws, 6)."""
    n_rows = drawn.sum(axis=1)
    true, pred, both = (drawn @ groups.overlap).T
    return np.column_stack(
        [
            _share(2 * both, true + pred),
            _share(both, pred),
            _share(both, true),
            drawn @ groups.is_right.astype(np.int64) / n_rows,
            (true + pred - 2 * both) / n_rows,
            _macro_f1(groups, drawn),
        ]
    )


def _macro_f1(groups: RowGroups, drawn: NDArray[np.int64]) -> FloatArray:
    """Return the mean F1 over the true or predicted nodes of a resample: (n_draws,)."""
    true, pred, both = (drawn @ side for side in groups.node_sides)
    present = true + pred > 0
    scores = np.divide(2.0 * both, true + pred, out=np.zeros(both.shape), where=present)
    return _share(scores.sum(axis=1), present.sum(axis=1))


def _levels(groups: RowGroups, drawn: NDArray[np.int64]) -> FloatArray:
    right, reached = np.split(drawn @ groups.level_flags, 2, axis=1)
    return np.divide(right, reached, out=np.full(right.shape, np.nan), where=reached > 0)


def _level_facts(
    evaluation: Evaluation, groups: RowGroups, found: list[Interval]
) -> list[dict[str, Any]]:
    depth, counts = evaluation.hierarchy.depth, evaluation.counts
    sizes = np.bincount(depth[evaluation.is_known], minlength=evaluation.hierarchy.max_depth + 1)
    right, reached = np.split(groups.sizes @ groups.level_flags, 2)
    facts = []
    for level in range(1, len(sizes)):
        nodes = counts.select(level)
        tp, fp, fn = (side[nodes].sum() for side in (counts.tp, counts.fp, counts.fn))
        accuracy = share_of_rows(found[level - 1], right[level - 1], reached[level - 1])
        facts.append(
            {
                "level": level,
                "nodes": sizes[level],
                "nodes_with_rows": np.count_nonzero(counts.support[nodes]),
                "rows": reached[level - 1],
                "accuracy": accuracy.value,
                "low": accuracy.low,
                "high": accuracy.high,
                "precision": tp / (tp + fp) if tp + fp else None,
                "recall": tp / (tp + fn) if tp + fn else None,
                "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None,
            }
        )
    return facts


def _share(top: NDArray[Any], bottom: NDArray[Any]) -> FloatArray:
    """Divide; the result is 0 where the denominator is 0, as in the metrics."""
    share: FloatArray = np.divide(top, bottom, out=np.zeros(np.shape(top)), where=bottom > 0)
    return share
