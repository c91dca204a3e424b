"""The figures at the top of a report, and accuracy by level, with bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.reporting.bootstrap import CONFIDENCE, Interval, bootstrap
from palmette.reporting.cell_confidence import CellConfidence
from palmette.reporting.evaluation import Evaluation
from palmette.reporting.plain import plain_facts
from palmette.reporting.row_groups import RowGroups, group_rows

__all__ = ["headline_facts"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """A headline figure: its key, its title, what it says, and which way is better."""

    name: str
    title: str
    words: str
    higher_is_better: bool = True


_ALWAYS = (
    Figure(
        "hierarchical_f1",
        "Hierarchical F1",
        "Harmonic mean of hierarchical precision and recall.",
    ),
    Figure(
        "hierarchical_precision",
        "Hierarchical precision",
        "Share of the predicted nodes, ancestors among them, that are true.",
    ),
    Figure(
        "hierarchical_recall",
        "Hierarchical recall",
        "Share of the true nodes, ancestors among them, that are predicted.",
    ),
    Figure("accuracy", "Accuracy", "Share of rows whose label is exactly right."),
    Figure(
        "tree_induced_error",
        "Tree-induced error",
        "Mean number of edges between the true and the predicted node.",
        higher_is_better=False,
    ),
    Figure("macro_f1", "Macro F1", "Mean F1 over the nodes, each counting alike."),
)
_AUPRC = Figure(
    "micro_auprc",
    "Micro AU(PRC)",
    "Area under the precision-recall curve over all cells of rows and nodes.",
)
_WORDS_OF_SETS = {
    "accuracy": "Share of rows whose labels are all exactly right.",
    "tree_induced_error": "Mean number of nodes that only truth or answer has.",
}


def headline_facts(
    evaluation: Evaluation,
    cells: CellConfidence | None,
    *,
    n_bootstrap: int,
    seed: int,
) -> dict[str, Any]:
    """Compute the figures and their intervals.

    Parameters
    ----------
    evaluation : Evaluation
    cells : CellConfidence, optional
        Probabilities of nodes, for models of several paths.
    n_bootstrap : int
    seed : int

    Returns
    -------
    dict
        ``figures``, ``levels`` (accuracy at each) and ``bootstrap`` (how intervals were made).
    """
    groups = group_rows(evaluation)
    curve = cells if cells is not None and cells.row_counts is not None else None

    def figures(drawn: NDArray[np.int64]) -> FloatArray:
        columns = [_figures_of_labels(groups, drawn), _levels(groups, drawn)]
        if curve is not None:
            columns.append(curve.average_precision(drawn)[:, None])
        return np.column_stack(columns)

    found = bootstrap(
        figures,
        groups.sizes,
        n_resamples=n_bootstrap,
        seed=seed,
        width=3 * groups.node_sides[0].shape[1],
    )
    shown = [_fact(figure, each, evaluation) for figure, each in zip(_ALWAYS, found, strict=False)]
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


def _fact(figure: Figure, found: Interval, evaluation: Evaluation) -> dict[str, Any]:
    words = figure.words
    if evaluation.several:
        words = _WORDS_OF_SETS.get(figure.name, words)
    return {
        "name": figure.name,
        "title": figure.title,
        "words": words,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "higher_is_better": figure.higher_is_better,
    }


def _figures_of_labels(groups: RowGroups, drawn: NDArray[np.int64]) -> FloatArray:
    """Figures in the order of `_ALWAYS`, of shape (n_draws, 6)."""
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
    """Mean over the nodes that a resample has or is given, of shape (n_draws,)."""
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
    sizes, counts = evaluation.hierarchy.level_sizes, evaluation.counts
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
    """Quotients, 0 where there is nothing to divide by, as the metrics have it."""
    share: FloatArray = np.divide(top, bottom, out=np.zeros(np.shape(top)), where=bottom > 0)
    return share
