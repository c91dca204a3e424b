"""What could be accepted without a check by people, at a precision that the user chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import FloatArray, IntArray
from palmette.exceptions import PalmetteError
from palmette.reporting._confidence import CellConfidence, PathConfidence, ancestors_by_level
from palmette.reporting._evaluation import Evaluation
from palmette.reporting._intervals import wilson_interval
from palmette.reporting._plain import plain_facts

_LEAST_UNITS = 5  # predictions from which a label is called unreliable
POINTS = (0.8, 0.9, 0.95, 0.98, 0.99)  # precisions that are shown beside the chosen one


@dataclass(frozen=True)
class Answers:
    """The answers that could be accepted for each unit, the most specific one first.

    A unit is a row, or a predicted label of a row if rows have several. The first answers are the
    complete predictions, one kind per level at which they end. The others are coarser: "at or below
    this node", for the nodes of the predicted path from the deepest level to the first.

    Parameters
    ----------
    row, label : int arrays of shape (n_units,)
        The row and the predicted node.
    proba : array of shape (n_units, n_answers)
        Probability of each answer, NaN where there is none.
    right : bool array of shape (n_units, n_answers)
        Whether the answer is correct: equal to the true label, or, if it is coarser, equal to it
        or an ancestor of it.
    kinds : list of length n_answers
        Whether the answers are complete, and their level, None for all levels.
    """

    row: IntArray
    label: IntArray
    proba: FloatArray
    right: NDArray[np.bool_]
    kinds: list[tuple[bool, int | None]]

    @property
    def is_complete(self) -> NDArray[np.bool_]:
        """Whether each kind of answer is complete, of shape (n_answers + 1,); no answer is last."""
        return np.array([complete for complete, _ in self.kinds] + [False])

    def of(self, units: NDArray[np.bool_]) -> Answers:
        """Return the answers of some units."""
        return Answers(
            self.row[units], self.label[units], self.proba[units], self.right[units], self.kinds
        )

    def without(self, labels: IntArray) -> Answers:
        """Return the answers without the complete predictions of some labels."""
        proba = self.proba.copy()
        proba[np.ix_(np.isin(self.label, labels), self.is_complete[:-1])] = np.nan
        return Answers(self.row, self.label, proba, self.right, self.kinds)


def answers_of_paths(evaluation: Evaluation, confidence: PathConfidence) -> Answers:
    """Return the predictions of all rows and the nodes of their paths."""
    hierarchy = evaluation.hierarchy
    true, predicted = evaluation.pair.nodes
    ancestors, ends = ancestors_by_level(hierarchy), hierarchy.depth[predicted]
    is_leaf = np.zeros(hierarchy.n_nodes, dtype=bool)
    is_leaf[hierarchy.leaves] = True
    columns: list[tuple[FloatArray, NDArray[np.bool_]]] = []
    kinds: list[tuple[bool, int | None]] = []
    for level in range(1, hierarchy.max_depth + 1):
        here = ends == level
        columns.append((np.where(here, confidence.answer, np.nan), here & evaluation.is_right))
        kinds.append((True, level))
    for level in range(hierarchy.max_depth - 1, 0, -1):
        at = level - 1
        here = (ends > level) | ((ends == level) & ~is_leaf[predicted])
        proba = np.where(here, confidence.on_path[:, at], np.nan)
        columns.append((proba, here & (ancestors[predicted, at] == ancestors[true, at])))
        kinds.append((False, level))
    rows = np.arange(evaluation.n_rows, dtype=np.int32)
    proba, right = (np.column_stack(side) for side in zip(*columns, strict=True))
    return Answers(rows, predicted, proba, right, kinds)


def answers_of_cells(confidence: CellConfidence) -> Answers:
    """Return every predicted label of rows that have several."""
    rows, nodes, proba, right = confidence.labels
    return Answers(rows, nodes, proba[:, None], right[:, None], [(True, None)])


def unreliable_labels(answers: Answers, precision: float) -> IntArray:
    """Return labels whose complete predictions are too often wrong where they are most confident.

    Of the more confident half of the predictions of such a label, so few are correct that the upper
    bound of their share is below the precision. One threshold for all labels would have to be so
    high for them that little of the others could be accepted.
    """
    complete = answers.is_complete[:-1]
    proba = np.where(complete, answers.proba, np.nan)
    units = np.flatnonzero(~np.isnan(proba).all(axis=1))
    scores = np.nanmax(proba[units], axis=1, initial=0.0)
    right = np.asarray(answers.right[units][:, complete].any(axis=1))
    order = np.lexsort((-scores, answers.label[units]))
    labels, starts = np.unique(answers.label[units][order], return_index=True)
    found = []
    groups = np.split(right[order], starts[1:]) if len(labels) else []
    for label, group in zip(labels, groups, strict=True):
        best = group[: (len(group) + 1) // 2]
        upper = wilson_interval(int(np.count_nonzero(best)), len(best))[1]
        if len(best) >= _LEAST_UNITS and upper < precision:
            found.append(int(label))
    return np.array(found, dtype=np.int32)


def choose_thresholds(answers: Answers, precision: float) -> FloatArray:
    """Choose the lowest probability from which on answers are accepted, one per kind of answer.

    Of k accepted answers with e errors, (e + 1) / (k + 1) is at most 1 - precision. The added error
    makes up for the choice of the threshold on the same rows, and asks for 19 correct answers at
    least for a precision of .95.

    Parameters
    ----------
    answers : Answers
    precision : float

    Returns
    -------
    array of shape (n_answers,)
        Infinite where nothing can be accepted. Coarser answers are considered for the units only
        whose more specific answers are not accepted.

    Examples
    --------
    >>> rows = np.arange(40, dtype=np.int32)
    >>> proba = np.linspace(1, 0.61, 40)[:, None]
    >>> answers = Answers(rows, rows, proba, (rows < 30)[:, None], [(True, 1)])
    >>> choose_thresholds(answers, 0.95).round(2).tolist()
    [0.71]
    """
    found = np.full(len(answers.kinds), np.inf)
    left = np.ones(len(answers.row), dtype=bool)
    for place in range(len(found)):
        units = np.flatnonzero(left & ~np.isnan(answers.proba[:, place]))
        units = units[np.argsort(-answers.proba[units, place], kind="stable")]
        scores = answers.proba[units, place]
        errors = np.cumsum(~answers.right[units, place])
        n_accepted = np.arange(1, len(units) + 1)
        holds = (errors + 1) / (n_accepted + 1) <= 1 - precision + 1e-12
        holds[:-1] &= scores[:-1] > scores[1:]  # equal probabilities are accepted together
        if holds.any():
            found[place] = scores[np.flatnonzero(holds)[-1]]
            left &= ~(answers.proba[:, place] >= found[place])
    return found


def accept(answers: Answers, thresholds: FloatArray) -> IntArray:
    """Return the first answer of each unit that reaches its threshold, -1 if none does."""
    reaches = answers.proba >= thresholds
    return np.where(reaches.any(axis=1), reaches.argmax(axis=1), -1).astype(np.int32)


def accept_held_out(answers: Answers, precision: float, n_rows: int, seed: int) -> IntArray:
    """Accept the answers of each half of the rows by the rules chosen on the other half."""
    rng = np.random.default_rng(seed)
    second = np.zeros(n_rows, dtype=bool)
    second[rng.permutation(n_rows)[: n_rows // 2]] = True
    side = second[answers.row]
    found = np.full(len(answers.row), -1, dtype=np.int32)
    for half in (side, ~side):
        unreliable = unreliable_labels(answers.of(~half), precision)
        known = answers.without(unreliable)
        thresholds = choose_thresholds(known.of(~half), precision)
        found[half] = accept(known.of(half), thresholds)
    return found


def acceptance_facts(
    evaluation: Evaluation,
    confidence: PathConfidence | CellConfidence | None,
    *,
    precision: float,
    seed: int,
) -> dict[str, Any] | None:
    """Measure how much could be accepted automatically, and how much would go to people.

    Thresholds are chosen on one half of the rows and the figures are measured on the other half,
    and the other way round; the reported thresholds are chosen on all rows.

    Parameters
    ----------
    evaluation : Evaluation
    confidence : PathConfidence or CellConfidence, optional
    precision : float
        Wanted share of correct answers among the accepted ones.
    seed : int
        Seed of the halves.

    Returns
    -------
    dict or None
        ``of`` ("rows" or "labels"), ``precision``, ``count``, ``people`` (number of units of which
        nothing is accepted), ``accepted`` (all kinds of answers), ``whole`` (complete predictions),
        ``answers`` (one entry per kind, with ``complete``, ``level`` and ``threshold``),
        ``unreliable`` (nodes whose complete predictions are never accepted) and ``points``, the
        same in short at other precisions. None without probabilities.
    """
    check_precision(precision)
    if confidence is None:
        return None
    if isinstance(confidence, PathConfidence):
        answers = answers_of_paths(evaluation, confidence)
    else:
        answers = answers_of_cells(confidence)
    n_rows = evaluation.n_rows
    taken = accept_held_out(answers, precision, n_rows, seed)
    unreliable = unreliable_labels(answers, precision)
    thresholds = choose_thresholds(answers.without(unreliable), precision)
    kinds = [
        {
            "complete": complete,
            "level": level,
            "threshold": float(thresholds[place]) if np.isfinite(thresholds[place]) else None,
            **_measured(answers, taken, taken == place),
        }
        for place, (complete, level) in enumerate(answers.kinds)
    ]
    points = []
    for each in sorted({*POINTS, precision}):
        found = taken if each == precision else accept_held_out(answers, each, n_rows, seed)
        points.append(_point(answers, found, each))
    return plain_facts(
        {
            "of": "labels" if evaluation.several else "rows",
            "precision": precision,
            "count": len(answers.row),
            "people": int(np.count_nonzero(taken < 0)),
            "accepted": _measured(answers, taken, taken >= 0),
            "whole": _measured(answers, taken, answers.is_complete[taken]),
            "answers": kinds,
            "unreliable": unreliable.tolist(),
            "points": points,
            "seed": seed,
        }
    )


def check_precision(precision: Any) -> None:
    """Raise an error unless the precision is a number between 0 and 1."""
    if not isinstance(precision, int | float | np.number) or not 0 < precision < 1:
        raise PalmetteError(
            f"precision={precision!r}: expected a number between 0 and 1, such as 0.95."
        )


def _measured(answers: Answers, taken: IntArray, chosen: NDArray[np.bool_]) -> dict[str, Any]:
    """Count the chosen units, and measure the precision of their accepted answers."""
    units = np.flatnonzero(chosen)
    n_units, n_right = len(units), int(np.count_nonzero(answers.right[units, taken[units]]))
    total = len(taken)
    low, high = wilson_interval(n_right, n_units)
    return {
        "count": n_units,
        "share": n_units / total if total else float("nan"),
        "right": n_right,
        "precision": n_right / n_units if n_units else float("nan"),
        "low": low,
        "high": high,
    }


def _point(answers: Answers, taken: IntArray, precision: float) -> dict[str, Any]:
    total = max(len(taken), 1)
    found = _measured(answers, taken, taken >= 0)
    n_complete = int(np.count_nonzero(answers.is_complete[taken]))
    return {
        "precision": precision,
        "complete": n_complete / total,
        "coarser": (found["count"] - n_complete) / total,
        "people": np.count_nonzero(taken < 0) / total,
        "measured": found["precision"],
        "low": found["low"],
        "high": found["high"],
    }
