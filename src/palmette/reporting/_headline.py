"""Headline scores of a report with bootstrap intervals, overall and per level.

Rows with the same true and predicted labels form groups, and resamples draw counts of the groups:
nothing is predicted again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray
from palmette.exceptions import PalmetteError
from palmette.metrics._counts import row_overlap
from palmette.reporting._confidence import CellConfidence
from palmette.reporting._evaluation import Evaluation
from palmette.reporting._plain import plain_facts

CONFIDENCE = 0.95  # of the intervals
_NUMBERS_AT_ONCE = 2**22  # maximum size of an array of draws or sums


@dataclass(frozen=True)
class Interval:
    """A score of the sample and the bounds of its bootstrap interval."""

    value: float
    low: float
    high: float


def bootstrap(
    scores: Callable[[NDArray[np.int64]], FloatArray],
    sizes: NDArray[Any],
    *,
    n_resamples: int,
    seed: int,
    width: int = 1,
) -> list[Interval]:
    """Return percentile bootstrap intervals of scores over resampled rows.

    Rows that are equal in everything the scores depend on form a group. The number of rows drawn
    from each group is then multinomial, so the cost of a resample is linear in the groups.

    Parameters
    ----------
    scores : callable
        Maps numbers of rows per group, of shape (n_draws, n_groups), to scores of shape
        (n_draws, n_scores).
    sizes : int array of shape (n_groups,)
        Number of rows in each group.
    n_resamples : int
        With 0, nothing is drawn and the bounds are NaN.
    seed : int
    width : int
        Number of values that `scores` computes per draw, which limits memory.

    Returns
    -------
    list of n_scores Intervals

    Examples
    --------
    >>> share = lambda drawn: drawn[:, :1] / drawn.sum(axis=1, keepdims=True)
    >>> [found] = bootstrap(share, np.array([80, 20]), n_resamples=1000, seed=0)
    >>> found.value, round(found.low, 1), round(found.high, 1)
    (0.8, 0.7, 0.9)
    """
    if not isinstance(n_resamples, int | np.integer) or n_resamples < 0:
        raise PalmetteError(f"n_bootstrap={n_resamples!r}: expected an integer >= 0.")
    [values] = scores(np.asarray(sizes, dtype=np.int64)[None, :])
    if not n_resamples:
        return [Interval(float(value), float("nan"), float("nan")) for value in values]
    draws = _draws(np.asarray(sizes), n_resamples, seed, width)
    resampled = np.concatenate([scores(drawn) for drawn in draws])
    tail = 50 * (1 - CONFIDENCE)
    bounds = [_bounds(column, tail) for column in resampled.T]
    return [Interval(float(v), *bound) for v, bound in zip(values, bounds, strict=True)]


def _draws(
    sizes: NDArray[Any], n_resamples: int, seed: int, width: int
) -> Iterator[NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    step = max(1, _NUMBERS_AT_ONCE // max(len(sizes), width))
    n_rows = int(sizes.sum())
    for start in range(0, n_resamples, step):
        yield rng.multinomial(n_rows, sizes / n_rows, size=min(step, n_resamples - start))


def _bounds(column: FloatArray, tail: float) -> tuple[float, float]:
    defined = column[np.isfinite(column)]
    if not defined.size:
        return float("nan"), float("nan")
    low, high = np.percentile(defined, [tail, 100 - tail])
    return float(low), float(high)


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
    shown = [_fact(score, each, evaluation) for score, each in zip(_ALWAYS, found, strict=False)]
    if evaluation.several:  # low thresholds of rare labels may raise macro F1, but at a price
        true, predicted, _ = groups.sizes @ groups.overlap
        shown[-1]["words"] += f" {predicted / max(true, 1):.2g} nodes are predicted per true one."
    if cells is not None:
        spread = found[-1] if curve is not None else Interval(np.nan, np.nan, np.nan)
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
    return list(zip(_ALWAYS, found, strict=True))


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
    reached = np.split(groups.sizes @ groups.level_flags, 2)[1]
    facts = []
    for level in range(1, len(sizes)):
        nodes = counts.select(level)
        tp, fp, fn = (side[nodes].sum() for side in (counts.tp, counts.fp, counts.fn))
        facts.append(
            {
                "level": level,
                "nodes": sizes[level],
                "nodes_with_rows": np.count_nonzero(counts.support[nodes]),
                "rows": reached[level - 1],
                "accuracy": found[level - 1].value,
                "low": found[level - 1].low,
                "high": found[level - 1].high,
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
