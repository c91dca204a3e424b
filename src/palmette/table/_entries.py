"""A line of the leaderboard: scores of a model on folds, and what its fits cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

_GROWTH = 1.15  # exponent of the number of rows in the fit time, at least
_MEASURABLE = 0.05  # seconds
_LEAST_GROWING = 0.2  # share of a measured time that grows with the rows, whatever was measured
_LEARNING = 0.25  # exponent of the number of rows in the errors, of models with one sample only


class Score(NamedTuple):
    """Scores of a model on the test rows of a fold."""

    hierarchical_f1: float
    accuracy: float
    held_out: Any = None  # `HeldOutChains` of these rows, if there are probabilities


@dataclass
class Entry:
    """A line of the leaderboard.

    Parameters
    ----------
    name : str
    scores : list of Score
        One per fold; of the first fold, those of the largest sample.
    seconds : list of float
        Fit times, one per fold.
    costs : dict of int to float
        Fit times on the first fold, by the number of rows.
    curve : dict of int to float
        Hierarchical F1 on the first fold, by the number of rows.
    scoring : float
        Seconds of the last score.
    n_bytes : int
        Size of the model that was fitted last on the first fold.
    proba : bool
        Whether the model has probabilities.
    note : str
        Reason why it was not tried, or not on all rows and folds.
    """

    name: str
    scores: list[Score] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    costs: dict[int, float] = field(default_factory=dict)
    curve: dict[int, float] = field(default_factory=dict)
    scoring: float = 0.0
    n_bytes: int = 0
    proba: bool = True
    note: str = ""

    @property
    def mean(self) -> float:
        """Mean hierarchical F1; minus infinity if there is none."""
        return float(np.mean([s.hierarchical_f1 for s in self.scores])) if self.scores else -np.inf

    @property
    def rows(self) -> int:
        """Number of rows of the largest sample of the first fold."""
        return max(self.costs, default=0)

    @property
    def rank(self) -> tuple[int, int, float]:
        """The larger, the better: folds, rows, mean score."""
        return len(self.scores), self.rows, self.mean

    def foresee(self, n_rows: int) -> float:
        """Extrapolate the seconds of a fit on more rows, without those of the scores.

        Examples
        --------
        >>> once, twice = Entry("a", costs={1_000: 0.4}), Entry("b", costs={250: 0.3, 1_000: 0.4})
        >>> round(once.foresee(16_000), 1), round(twice.foresee(16_000), 1)  # most does not grow
        (9.7, 3.3)
        """
        if not self.costs:
            return np.inf
        last = self.rows
        ratio, slope, fixed = max(n_rows / last, 1.0), _GROWTH, 0.0
        before = max((n for n in self.costs if n < last), default=0)
        if before and self.costs[before] > _MEASURABLE:
            measured = np.log(self.costs[last] / self.costs[before]) / np.log(last / before)
            slope = min(max(slope, float(measured)), 3.0)
            if measured < _GROWTH:  # a part does not grow
                less = (before / last) ** _GROWTH
                growing = max(self.costs[last] - self.costs[before], 0.0) / (1.0 - less)
                fixed = self.costs[last] - max(growing, _LEAST_GROWING * self.costs[last])
        return float(fixed + (self.costs[last] - fixed) * ratio**slope)

    def expect(self, n_rows: int) -> float:
        """Extrapolate the hierarchical F1 on another number of rows.

        Examples
        --------
        >>> Entry("a", curve={1_000: 0.6, 4_000: 0.8}).expect(16_000)  # half the errors
        0.9
        """
        last = max(self.curve)
        error, slope = max(1.0 - self.curve[last], 1e-6), _LEARNING
        before = max((n for n in self.curve if n < last), default=0)
        if before:
            measured = np.log(max(1.0 - self.curve[before], 1e-6) / error) / np.log(last / before)
            slope = float(np.clip(measured, 0.0, 0.5))
        return float(1.0 - error * (last / n_rows) ** slope)

    def facts(self) -> dict[str, Any]:
        """Return plain values for a summary."""
        f1 = [score.hierarchical_f1 for score in self.scores]
        return {
            "model": self.name,
            "folds": len(f1),
            "rows": self.rows,
            "hierarchical_f1": round(float(np.mean(f1)), 6) if f1 else None,
            "hierarchical_f1_std": round(float(np.std(f1)), 6) if len(f1) > 1 else None,
            "hierarchical_f1_by_fold": [round(value, 6) for value in f1],
            "accuracy": round(float(np.mean([s.accuracy for s in self.scores])), 6) if f1 else None,
            "fit_seconds": round(float(np.mean(self.seconds)), 3) if f1 else None,
            "probabilities": self.proba,
            "note": self.note,
        }
