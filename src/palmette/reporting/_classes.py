"""The labels: how many rows each has in training and here, and how F1 depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.base._adapters import find_in_parts, hierarchy_of
from palmette.exceptions import PalmetteError
from palmette.reporting._evaluation import Evaluation
from palmette.reporting._plain import plain_facts, rounded

_STEPS = (0, 1, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000)  # of the table
_MOST_LABELS = 20_000  # listed one by one

IntArray = NDArray[np.int64]


def training_rows(model: Any, evaluation: Evaluation) -> IntArray | None:
    """Return the number of training rows with each node as their label; None where unknown.

    Table models store it (``summary_["class_rows"]``); those of earlier versions, and other
    classifiers, do not. What comes from a file is checked: numbers that do not fit are ignored.

    Parameters
    ----------
    model : fitted classifier
    evaluation : Evaluation

    Returns
    -------
    int array of shape (n_nodes,) or None
    """
    summary, classes = find_in_parts(model, "summary_"), find_in_parts(model, "class_paths_")
    rows = summary.get("class_rows") if isinstance(summary, dict) else None
    if not isinstance(rows, list) or classes is None or len(rows) != len(classes):
        return None
    if not all(type(n) is int and 0 <= n < 2**53 for n in rows):
        return None
    try:
        nodes = np.asarray(hierarchy_of(model).index(list(classes)))
    except PalmetteError:
        return None
    found = np.zeros(evaluation.hierarchy.n_nodes, dtype=np.int64)
    found[evaluation.node_place[nodes]] = rows
    return found


def rows_at_or_below(rows: IntArray, evaluation: Evaluation) -> IntArray:
    """Add up the rows of labels along the hierarchy, of shape (n_nodes,)."""
    closure = evaluation.hierarchy.closure.astype(np.int64)
    return np.asarray(rows @ closure)


@dataclass(frozen=True)
class LabelCounts:
    """Number of rows per label, exactly as given and predicted: ancestors are not counted.

    Parameters
    ----------
    true, predicted, right : int arrays of shape (n_nodes,)
    """

    true: IntArray
    predicted: IntArray
    right: IntArray

    @property
    def f1(self) -> NDArray[np.float64]:
        """F1 of every label, NaN where it is neither true nor predicted."""
        total = self.true + self.predicted
        found = np.full(len(total), np.nan)
        np.divide(2.0 * self.right, total, out=found, where=total > 0)
        return found


def count_labels(evaluation: Evaluation) -> LabelCounts:
    """Count the rows of every label.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from palmette.reporting._evaluation import evaluate
    >>> model = DummyClassifier(strategy="constant", constant="b").fit([[0]] * 2, ["a", "b"])
    >>> found = count_labels(evaluate(model, [[0]] * 3, ["a", "b", "b"]))
    >>> found.true.tolist(), found.predicted.tolist(), found.right.tolist()
    ([0, 1, 2], [0, 0, 3], [0, 0, 2])
    """
    true, pred = (
        sparse.csr_array(side.specific, dtype=np.int64)
        for side in (evaluation.pair.true, evaluation.pair.pred)
    )
    sides = (true, pred, sparse.csr_array(true.multiply(pred)))
    counts = [np.asarray(side.sum(axis=0)).ravel().astype(np.int64) for side in sides]
    for each in counts:
        each[0] = 0  # the root stands for rows without a label
    return LabelCounts(*counts)


def class_facts(evaluation: Evaluation, training: IntArray | None) -> dict[str, Any]:
    """Describe the distribution of the labels, and F1 by the number of their rows.

    Parameters
    ----------
    evaluation : Evaluation
    training : int array of shape (n_nodes,), optional
        Training rows of every label; without it, labels are grouped by their rows here.

    Returns
    -------
    dict
        ``source`` ("training" or "report"); columns ``node``, ``train``, ``rows``, ``predicted``,
        ``f1`` of the labels, the largest first; ``left_out``, the number of labels that are not
        listed; ``groups`` of labels by number of rows; ``half``, the number of labels that have
        half of the rows.
    """
    counts = count_labels(evaluation)
    sizes = counts.true if training is None else training
    labels = np.flatnonzero((counts.true > 0) | (counts.predicted > 0) | (sizes > 0))
    labels = labels[np.lexsort((labels, -counts.true[labels], -sizes[labels]))]
    shown = labels[:_MOST_LABELS]
    share = np.cumsum(sizes[labels]) / max(int(sizes.sum()), 1)
    return plain_facts(
        {
            "source": "report" if training is None else "training",
            "labels": len(labels),
            "total": int(sizes.sum()),
            "half": int(np.searchsorted(share, 0.5) + 1) if len(labels) else 0,
            "node": shown.tolist(),
            "train": None if training is None else training[shown].tolist(),
            "rows": counts.true[shown].tolist(),
            "predicted": counts.predicted[shown].tolist(),
            "f1": rounded(counts.f1[shown]),
            "left_out": len(labels) - len(shown),
            "groups": _groups(labels, sizes, counts),
        }
    )


def _groups(labels: IntArray, sizes: IntArray, counts: LabelCounts) -> list[dict[str, Any]]:
    """Group labels by their number of rows; groups without labels are left out."""
    facts = []
    for low, above in pairwise((*_STEPS, np.inf)):
        chosen = labels[(sizes[labels] >= low) & (sizes[labels] < above)]
        if not len(chosen):
            continue
        f1, rows = counts.f1[chosen], int(counts.true[chosen].sum())
        facts.append(
            {
                "low": low,
                "high": int(above) - 1 if np.isfinite(above) else None,
                "labels": len(chosen),
                "rows": rows,
                "right": int(counts.right[chosen].sum()),
                "accuracy": counts.right[chosen].sum() / rows if rows else None,
                "f1": np.nanmean(f1) if np.isfinite(f1).any() else None,
            }
        )
    return facts
