"""A tournament of models by cross-validation within a time limit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import take_rows
from palmette.exceptions import PalmetteError
from palmette.table._candidates import Candidate
from palmette.table.answers import gives_node_proba

IntArray = NDArray[np.int64]
Watch = Callable[[str, float], None]

_BEHIND = 0.01  # maximum distance to the best hierarchical F1 to continue
_FINALISTS = 3
_PROBE = 1500  # maximum number of rows to estimate the fit time
_GROWTH = 1.15  # exponent of the number of rows in the fit time


class Score(NamedTuple):
    """Scores of a model on the test rows of a fold."""

    hierarchical_f1: float
    accuracy: float


class Fold(NamedTuple):
    """Features and labels of training and test rows."""

    X_train: Any
    y_train: list[Any]
    X_test: Any
    test: IntArray


class Clock:
    """The time that is left.

    Parameters
    ----------
    seconds : float or None
        None for no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.start = time.monotonic()

    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    def left(self) -> float:
        """Seconds that are left; infinite without a limit."""
        return np.inf if self.seconds is None else self.seconds - self.spent()


@dataclass
class Entry:
    """A line of the leaderboard.

    Parameters
    ----------
    name : str
    scores : list of Score
        One per fold.
    seconds : list of float
        Fit times, one per fold.
    proba : bool
        Whether the model has probabilities.
    note : str
        Reason why it was not tried, or not on all folds.
    """

    name: str
    scores: list[Score] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    proba: bool = True
    note: str = ""

    @property
    def mean(self) -> float:
        """Mean hierarchical F1; minus infinity if there is none."""
        return float(np.mean([s.hierarchical_f1 for s in self.scores])) if self.scores else -np.inf

    def facts(self) -> dict[str, Any]:
        """Return plain values for a summary."""
        f1 = [score.hierarchical_f1 for score in self.scores]
        return {
            "model": self.name,
            "folds": len(f1),
            "hierarchical_f1": round(float(np.mean(f1)), 6) if f1 else None,
            "hierarchical_f1_std": round(float(np.std(f1)), 6) if len(f1) > 1 else None,
            "hierarchical_f1_by_fold": [round(value, 6) for value in f1],
            "accuracy": round(float(np.mean([s.accuracy for s in self.scores])), 6) if f1 else None,
            "fit_seconds": round(float(np.mean(self.seconds)), 3) if f1 else None,
            "probabilities": self.proba,
            "note": self.note,
        }


class Tournament:
    """Fit candidates on the first fold, and the best of them on all folds.

    Parameters
    ----------
    candidates : sequence of Candidate
        From cheap to expensive.
    make : callable
        Returns the unfitted estimator of a name.
    folds : sequence of callables
        Each returns a `Fold` and is called once.
    score : callable
        Returns the `Score` of a fitted estimator and a Fold.
    clock : Clock
    always : str or None
        A model that is fitted on all folds whatever its scores: the baseline.
    reserve : float
        Time of the final fit, in fits on a fold.
    watch : callable, optional
        Called with the current step and the seconds spent.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        make: Callable[[str], Any],
        folds: Sequence[Callable[[], Fold]],
        score: Callable[[Any, Fold], Score],
        clock: Clock,
        *,
        always: str | None = None,
        reserve: float = 2.0,
        watch: Watch | None = None,
    ) -> None:
        self.entries = {c.name: Entry(c.name, note=c.reason or "") for c in candidates}
        self.interrupted = False
        self.fallback: tuple[str, Any] | None = None  # best fit on the first fold
        self._order = [c.name for c in candidates if c.reason is None]
        self._make, self._load, self._score, self._clock = make, folds, score, clock
        self._always, self._reserve, self._watch = always, reserve, watch
        self._folds: dict[int, Fold] = {}

    def run(self) -> list[Entry]:
        """Run the tournament and return the leaderboard, best first.

        Ctrl-C ends it, and the finished fits count.
        """
        try:
            for name in self._order:
                self._try_first(name)
            for fold in range(1, len(self._load)):
                self._continue(fold)
        except KeyboardInterrupt:
            self.interrupted = True
        for name in self._order:
            entry = self.entries[name]
            if not entry.scores and not entry.note:
                entry.note = "stopped before its turn"
        return self.leaderboard()

    def leaderboard(self) -> list[Entry]:
        """Return the entries, best first; models that were not tried come last."""
        return sorted(self.entries.values(), key=lambda entry: -entry.mean)

    def winner(self) -> Entry:
        """Return the best model with probabilities, among those with the most folds."""
        tried = [entry for entry in self.entries.values() if entry.scores]
        able = [entry for entry in tried if entry.proba] or tried
        if not able:
            notes = "; ".join(f"{e.name}: {e.note}" for e in self.entries.values() if e.note)
            raise PalmetteError(
                f"no model could be fitted ({notes}). Allow more time, or add rows."
            )
        most = max(len(entry.scores) for entry in able)
        return max((e for e in able if len(e.scores) == most), key=lambda entry: entry.mean)

    # ------------------------------------------------------------------ rounds

    def _try_first(self, name: str) -> None:
        fold = self._fold(0)
        if self._clock.seconds is not None and self.fallback is not None:
            cost = self._estimate_seconds(name, fold) if self._free() > 0 else np.inf
            if cost > self._free():
                self.entries[name].note = _too_long(cost, self._free())
                return
        self._try(name, 0)

    def _continue(self, fold: int) -> None:
        """Fit the best models on one more fold, as far as time allows."""
        tried = [e for e in self.leaderboard() if len(e.scores) == fold]
        best = max((e.mean for e in tried), default=-np.inf)
        able = [e for e in tried if e.proba and e.mean >= best - _BEHIND] or tried[:1]
        going = [e.name for e in able[:_FINALISTS]]
        best_able = max((e for e in tried if e.proba), key=lambda e: e.mean, default=None)
        if best_able is not None and best_able.name not in going:
            going.insert(0, best_able.name)
        if self._always is not None and len(self.entries[self._always].scores) == fold:
            going = [name for name in going if name != self._always]
            going.insert(1, self._always)
        for name in going:
            cost = self.entries[name].seconds[0] * 1.3
            if cost > self._clock.left() - self._final_seconds():
                self.entries[name].note = f"{fold} of {len(self._load)} folds: no time for more"
                continue
            self._try(name, fold)

    def _try(self, name: str, number: int) -> None:
        """Fit a model on a fold and score it; an error becomes a note."""
        entry = self.entries[name]
        self._report(f"{name}, fold {number + 1} of {len(self._load)}")
        fold = self._fold(number)
        start = time.monotonic()
        try:
            estimator = _fit(self._make(name), fold.X_train, fold.y_train)
            seconds = time.monotonic() - start
            score = self._score(estimator, fold)
        except (ValueError, MemoryError, ArithmeticError, TypeError, IndexError) as error:
            entry.note = f"failed: {' '.join(str(error).split())[:160]}"
            return
        entry.scores.append(score)
        entry.seconds.append(seconds)
        entry.proba = gives_node_proba(estimator)
        if number == 0 and entry.proba and self.winner().name == name:
            self.fallback = (name, estimator)

    # ------------------------------------------------------------------ time

    def _estimate_seconds(self, name: str, fold: Fold) -> float:
        """Estimate the seconds of a fit from one on few rows."""
        n_rows = len(fold.y_train)
        few = min(max(n_rows // 10, 200), _PROBE)
        if few >= n_rows:
            return 0.0
        self._report(f"{name}, estimating the fit time")
        rows = np.linspace(0, n_rows - 1, few).astype(np.int32)
        X, y = take_rows(fold.X_train, rows), [fold.y_train[i] for i in rows.tolist()]
        cost = 0.0
        for _ in range(2):  # the first fit may include the compilation of kernels
            start = time.monotonic()
            try:
                _fit(self._make(name), X, y)
            except (ValueError, MemoryError, ArithmeticError, TypeError, IndexError):
                return 0.0  # the fit on the fold will report the error
            cost = (time.monotonic() - start) * (n_rows / few) ** _GROWTH
            if cost <= self._free():
                break
        return cost

    def _final_seconds(self) -> float:
        """Return the seconds that the final fit of the best model so far needs."""
        tried = [entry for entry in self.entries.values() if entry.scores and entry.proba]
        if not tried:
            return 0.0
        best = max(tried, key=lambda entry: entry.mean)
        share = len(self._load) / max(len(self._load) - 1, 1)
        return self._reserve * share * best.seconds[0] + 1.0

    def _free(self) -> float:
        """Return the seconds left for models that were not yet tried."""
        tried = [entry for entry in self.entries.values() if entry.scores]
        names = {max(tried, key=lambda entry: entry.mean).name, self._always} if tried else set()
        later = sum(entry.seconds[0] for entry in tried if entry.name in names)
        return self._clock.left() - self._final_seconds() - (len(self._load) - 1) * later

    def _fold(self, number: int) -> Fold:
        if number not in self._folds:
            self._report(f"features of fold {number + 1}")
            self._folds[number] = self._load[number]()
        return self._folds[number]

    def _report(self, words: str) -> None:
        if self._watch is not None:
            self._watch(words, self._clock.spent())


def _fit(estimator: Any, X: Any, y: list[Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about convergence, which shows in the scores
        return estimator.fit(X, y)


def _too_long(cost: float, free: float) -> str:
    if free <= 0:
        return "no time left"
    return f"would take about {cost:.1f} s per fold, {free:.1f} s were left"


def make_folds(
    codes: NDArray[Any] | None, n_rows: int, n_folds: int, seed: int
) -> list[tuple[IntArray, IntArray]]:
    """Split rows into training and test rows, stratified by label if possible.

    Parameters
    ----------
    codes : int array of shape (n_rows,) or None
        Label of every row; None if rows have several.
    n_rows, n_folds, seed : int

    Returns
    -------
    list of (training rows, test rows)
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    n_folds = min(n_folds, n_rows)
    if n_folds < 2:
        raise PalmetteError(
            f"{n_rows} labelled rows are too few for cross-validation: expected at least 2."
        )
    plain = KFold(n_folds, shuffle=True, random_state=seed)
    if codes is None or np.bincount(codes).max() < n_folds:
        return list(plain.split(np.zeros(n_rows)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels of fewer rows than folds
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        return list(splitter.split(np.zeros(n_rows), codes))
