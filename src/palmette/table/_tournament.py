"""A tournament of models by cross-validation within a time limit."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import take_rows
from palmette._stopping import OutOfTime
from palmette.exceptions import PalmetteError
from palmette.table._candidates import Candidate
from palmette.table._clock import Clock
from palmette.table._entries import Entry, Score
from palmette.table.answers import gives_node_proba

IntArray = NDArray[np.int64]

_NEAR = 0.01  # maximum distance to the best hierarchical F1 to continue on further folds
# maximum distance to the best to continue on more rows, by the size of the sample
_BEHIND = ((500, 0.1), (1_500, 0.05), (5_000, 0.03), (np.inf, 0.015))
_FINALISTS = 3
_SEARCHED = 2  # number of models whose parameters are searched
_FIRST = 1_000  # rows of the first sample; each further one has three times as many
_SHARE, _HOPE = 0.5, 0.8  # of the free time, for a fit; for one of the best two on fewer rows
_FIRST_SHARE = 0.2  # of the free time, for the first fit of a model on a sample
_FOR_MORE_ROWS = 0.5  # of the time beside the final fit; models are tried first in the rest of it
_MATTERS = 0.15  # share of the time left, of a final fit that is foreseen from two fits
_CHEAP = 0.03  # the same, of the first fit, most of which may not grow
_WARM_ROWS = 50
_FEW = 400  # with less rows there is only one sample
_TEST = 3_000  # maximum number of test rows for a sample
_MOST_STOPPED = 3  # fits that were given up, after which no further model is tried
_SURPLUS = 1.2  # of the seconds that are kept for the final fit
_SHORT = 0.5  # seconds in which no further model is tried


class Fold(NamedTuple):
    """Features and labels of training and test rows, and what has learned the features."""

    X_train: Any
    y_train: list[Any]
    X_test: Any
    test: IntArray
    vectorizer: Any = None


class Fallback(NamedTuple):
    """The best model so far, fitted on a sample of the training rows of the first fold."""

    name: str
    estimator: Any
    n_rows: int
    vectorizer: Any = None


class Tournament:
    """Fit candidates on growing samples of the first fold, and the best of them on all folds.

    Without a time limit there is one sample: all training rows of the fold. With a limit, models
    that are behind are left out as the samples grow, and a fit is started only if its foreseen
    time is at most half of what is left after the final fit, more for the best two; it is given up
    if it takes longer.

    Parameters
    ----------
    candidates : sequence of Candidate
        From cheap to expensive.
    make : callable
        Returns the unfitted estimator of a name.
    folds : sequence of callables
        Each returns a `Fold` and is called once.
    finer : sequence of callables
        More folds of the same rows, which replace these for the best models if there is time.
    score : callable
        Returns the `Score` of a fitted estimator and a Fold.
    clock : Clock
    always : str or None
        A model that stays whatever its scores, if time allows: the baseline.
    final : callable, optional
        Returns the seconds that the final fit of an Entry on all rows takes; by default those of a
        fit on the first fold.
    load_seconds : float
        Time to compute the features of a fold.
    seed : int
        Of the samples.
    fit : callable, optional
        Fits an estimator to rows and labels, and returns it.
    variants : callable, optional
        For a search: returns the names of variants of an entry that differ in the value of its
        first (0) or second (1) main parameter.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        make: Callable[[str], Any],
        folds: Sequence[Callable[[], Fold]],
        score: Callable[[Any, Fold], Score],
        clock: Clock,
        *,
        finer: Sequence[Callable[[], Fold]] = (),
        always: str | None = None,
        final: Callable[[Entry], float] | None = None,
        load_seconds: float = 0.0,
        seed: int = 0,
        variants: Callable[[str, int], list[str]] | None = None,
        fit: Callable[[Any, Any, list[Any]], Any] | None = None,
    ) -> None:
        self.entries = {c.name: Entry(c.name, note=c.reason or "") for c in candidates}
        self.interrupted: BaseException | None = None
        self.fallback: Fallback | None = None
        self._order = [c.name for c in candidates if c.reason is None]
        self._make, self._load, self._score, self._clock = make, folds, score, clock
        self._finer = finer
        self._always, self._load_seconds, self._seed = always, load_seconds, seed
        self._final = final or (lambda entry: entry.foresee(len(self._fold(0).y_train)))
        self._variants = variants
        self._fit_with = fit or (lambda estimator, X, y: estimator.fit(X, y))
        self._folds: dict[int, Fold] = {}
        self._n_stopped = 0
        self._at_first = np.inf  # seconds that were left before the first model

    def run(self) -> list[Entry]:
        """Run the tournament and return the leaderboard, best first.

        Ctrl-C and SIGTERM end it, and the finished fits count.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about convergence, which shows in the scores
                self._first_fold()
                self._search()
                self._further_folds()
        except (KeyboardInterrupt, SystemExit) as stop:
            self.interrupted = stop
        for name in self._order:
            entry = self.entries[name]
            if not entry.scores and not entry.note:
                entry.note = "stopped before its turn"
        return self.leaderboard()

    def leaderboard(self) -> list[Entry]:
        """Return the entries, best first, those on the same folds and rows together."""
        return sorted(self.entries.values(), key=lambda entry: entry.rank, reverse=True)

    def winner(self) -> Entry:
        """Return the best model with probabilities, among those with the most folds and rows."""
        tried = [entry for entry in self.entries.values() if entry.scores]
        able = [entry for entry in tried if entry.proba] or tried
        if not able:
            noted = [entry for entry in self.entries.values() if entry.note]
            notes = "; ".join(f"{each.name}: {each.note.rstrip('.')}" for each in noted)
            failed = all(each.note.startswith("failed") for each in noted)
            advice = (
                "Correct its settings, or choose another model" if failed else "Allow more time"
            )
            raise PalmetteError(f"no model could be fitted ({notes}). {advice}, or add rows.")
        return max(able, key=lambda entry: entry.rank)

    # ------------------------------------------------------------------ rounds

    def _first_fold(self) -> None:
        """Fit models on growing samples of the training rows of the first fold."""
        n_all = len(self._fold(0).y_train)
        sizes = [n_all]
        if self._clock.seconds is not None:
            sizes = _samples(n_all)
            if self._order:
                self._warm_up()
        going, self._at_first = list(self._order), self._clock.left()
        for size in sizes:
            fold = self._sample(size)
            for place, name in enumerate(going):
                self._try_sample(name, fold, size, _HOPE if place < 2 else _SHARE)
            if size < n_all:
                self._try_again(going, fold)
            tried = [self.entries[name] for name in going if self.entries[name].rows == size]
            if not tried:
                return
            best = max(entry.mean for entry in tried)
            near = next(gap for most, gap in _BEHIND if size <= most)
            going = [
                e.name for e in sorted(tried, key=lambda e: -e.mean)
                if e.mean >= best - near or e.name == self._always
            ]  # fmt: skip
            for entry in tried:
                if size < n_all and entry.name not in going:
                    entry.note = f"{best - entry.mean:.3f} behind the best on {size:,} rows"

    def _try_again(self, names: list[str], fold: Fold) -> None:
        """Fit the first model that was given up on a sample, if much time is left after all."""
        stopped = [
            self.entries[n] for n in names if self.entries[n].note.startswith("stopped after")
        ]
        if stopped and not stopped[0].costs and np.isfinite(self._free()) and self._free() > 0:
            stopped[0].note = ""
            self._try(stopped[0].name, 0, fold, _HOPE * self._free())

    def _warm_up(self) -> None:
        """Fit the first model to a few rows, so that libraries and kernels are loaded.

        That takes as long as some fits, and does not grow with the number of rows.
        """
        fold = self._sample(min(_WARM_ROWS, len(self._fold(0).y_train)))
        self._clock.step("loading libraries")
        with suppress(OutOfTime, *_FAILURES):
            fit = partial(self._fit, self._order[0], fold.X_train, fold.y_train)
            self._clock.within(0.3 * self._clock.left(), fit)

    def _search(self) -> None:
        """Vary the parameters of the best two models, one after the other, on the first fold."""
        if self._variants is None or not self._order:
            return
        tried = [entry for entry in self.leaderboard() if entry.scores and entry.proba]
        size = tried[0].rows if tried else 0
        for base in [entry for entry in tried if entry.rows == size][:_SEARCHED]:
            best = base
            for axis in (0, 1):
                for name in self._variants(best.name, axis):
                    cost = 1.25 * base.costs[size] + base.scoring
                    if cost > 0.5 * self._free():
                        return
                    entry = self.entries[name] = Entry(name)
                    self._order.append(name)
                    self._try(name, 0, self._sample(size), max(0.5 * self._free(), 2 * cost))
                    if entry.mean > best.mean:
                        best = entry

    def _sample(self, size: int) -> Fold:
        """Return the first fold with a sample of its training rows; samples are nested."""
        fold = self._fold(0)
        n_all = len(fold.y_train)
        if size >= n_all:
            return fold
        rows = np.sort(np.random.default_rng(self._seed).permutation(n_all)[:size]).astype(np.int32)
        y = [fold.y_train[i] for i in rows.tolist()]
        n_test = min(len(fold.test), _TEST)
        test = np.linspace(0, len(fold.test) - 1, n_test).astype(np.int32)
        X_train, X_test = take_rows(fold.X_train, rows), take_rows(fold.X_test, test)
        return Fold(X_train, y, X_test, fold.test[test], fold.vectorizer)

    def _try_sample(self, name: str, fold: Fold, size: int, share: float) -> None:
        """Fit a model on a sample, if that takes at most a share of the free time."""
        entry = self.entries[name]
        limit = np.inf
        if self._clock.seconds is not None:
            n_all = len(self._fold(0).y_train)
            short = min(_SHORT, 0.03 * self._clock.seconds)
            if self.fallback is not None and self._free() <= short:  # nor is anything compiled
                entry.note = entry.note or _too_long(0.0, 0.0, size, n_all)
                return
            free = self._free()
            cost = 1.25 * entry.foresee(size) + entry.scoring if entry.costs else 0.0
            if self.fallback is not None and (free <= 0 or cost > share * free):
                entry.note = _too_long(cost, free, size, n_all)
                return
            kept = _FOR_MORE_ROWS * (self._at_first - self._final_seconds())
            if not entry.costs and size < n_all and self.fallback is not None and free < kept:
                entry.note = "no time: it is kept to fit the others on more rows"
                return
            if not entry.costs and self.fallback is not None and self._n_stopped >= _MOST_STOPPED:
                entry.note = f"no time: {_MOST_STOPPED} other models were too slow"
                return
            # a model that is slow on a small sample would not come to the end of all rows
            share = share if size == n_all or entry.costs else _FIRST_SHARE
            limit = max(share * free, min(2 * cost, free))
            if self.fallback is None:  # there must be an answer, even a little late
                limit = max(self._clock.left(), 0.1 * self._clock.seconds + 5.0)
        self._try(name, 0, fold, limit)
        if self._clock.seconds is not None and [*entry.costs] == [size]:
            self._measure_growth(entry, size)

    def _measure_growth(self, entry: Entry, size: int) -> None:
        """Fit a model on fewer rows, if the time of all rows matters: a part may not grow."""
        n_all = len(self._fold(0).y_train)
        left = self._clock.left()
        is_cheap = entry.costs[size] < _CHEAP * left
        if size < n_all and is_cheap and entry.foresee(n_all) > _MATTERS * left:
            fold = self._sample(size // 4)
            fit = partial(self._fit, entry.name, fold.X_train, fold.y_train)
            start = self._clock.counted()
            with suppress(OutOfTime, *_FAILURES):
                self._clock.within(2 * entry.costs[size], fit)
                entry.costs[size // 4] = max(self._clock.counted() - start, 1e-4)

    def _fit(self, name: str, X: Any, y: list[Any]) -> Any:
        return self._fit_with(self._make(name), X, y)

    def _further_folds(self) -> None:
        """Fit the best models on all folds: on more and finer ones, if there is time for all."""
        if self._finer:
            names = self._finalists(1)
            if self._finer_seconds(names) > self._free():
                for name in names:
                    self.entries[name].note = f"no time for {len(self._finer)} folds"
            else:
                self._load, self._folds = self._finer, {}
                for fold in range(len(self._finer)):
                    self._continue(fold, [n for n in names if self._is_at(self.entries[n], fold)])
                for entry in (self.entries[name] for name in names):
                    entry.curve[entry.rows] = entry.mean  # the first of ten folds has few test rows
                return
        for fold in range(1, len(self._load)):
            self._continue(fold, self._finalists(fold))

    def _finer_seconds(self, names: list[str]) -> float:
        """Extrapolate the seconds of the finer folds, with their features and scores."""
        fold, n_folds = self._fold(0), len(self._finer)
        n_rows = len(fold.y_train) + len(fold.test)
        fits = sum(self.entries[name].foresee(n_rows - n_rows // n_folds) for name in names)
        scores = sum(self.entries[name].scoring for name in names) * n_rows / len(fold.test)
        return 1.3 * (n_folds * (fits + 1.3 * self._load_seconds) + scores)

    def _is_at(self, entry: Entry, fold: int) -> bool:
        """Return whether a model has scores on all rows of the folds before one."""
        if fold == 0:
            return True
        return len(entry.scores) == fold and entry.rows == len(self._fold(0).y_train)

    def _finalists(self, fold: int) -> list[str]:
        """Choose the models to continue with by their scores on the folds before one."""
        tried = [e for e in self.leaderboard() if self._is_at(e, fold)]
        best = max((e.mean for e in tried), default=-np.inf)
        able = [e for e in tried if e.proba and e.mean >= best - _NEAR] or tried[:1]
        going = [e.name for e in able[:_FINALISTS]]
        best_able = max((e for e in tried if e.proba), key=lambda e: e.mean, default=None)
        if best_able is not None and best_able.name not in going:
            going.insert(0, best_able.name)
        if self._always is not None and self.entries[self._always] in tried:
            going = [name for name in going if name != self._always]
            going.insert(1, self._always)
        for entry in tried:
            if entry.name not in going and (fold > 1 or not entry.note):
                behind = f"{best - entry.mean:.3f} behind the best on {_folds(fold)}"
                entry.note = behind if entry.proba else "it gives no probabilities"
        return going

    def _continue(self, fold: int, going: list[str]) -> None:
        """Fit models on one more fold, if time allows that."""
        # all of them, or none: scores are compared on the same folds
        entries = [self.entries[name] for name in going]
        cost = 1.3 * sum(entry.seconds[0] + entry.scoring for entry in entries)
        if cost + 1.3 * self._load_seconds > self._free():
            for entry in entries:
                entry.note = f"{fold} of {len(self._load)} folds: no time for more"
            return
        for name in going:
            left = self._free()
            self._try(name, fold, self._fold(fold), left if np.isfinite(left) else np.inf)
        if fold:
            self._folds.pop(fold, None)  # features of many folds would need much memory

    def _try(self, name: str, number: int, fold: Fold, limit: float) -> None:
        """Fit a model on a fold and score it; an error becomes a note."""
        entry = self.entries[name]
        n_rows, n_all = len(fold.y_train), len(self._fold(number).y_train)
        part = "" if n_rows == n_all else f", {n_rows:,} of {n_all:,} rows"
        self._clock.step(f"{name}, fold {number + 1} of {len(self._load)}{part}")
        try:
            if number == 0 and not entry.costs:
                self._make(name)  # its libraries are loaded once, whatever the number of rows
            start = self._clock.counted()
            fit = partial(self._fit, name, fold.X_train, fold.y_train)
            estimator = self._clock.within(limit, fit)
            seconds = self._clock.counted() - start
            score = self._clock.within(limit, partial(self._score, estimator, fold))
        except OutOfTime as error:
            self._n_stopped += 1
            entry.note = f"{error} on {n_rows:,} rows"
            return
        except _FAILURES as error:
            entry.note = f"failed: {' '.join(str(error).split())[:160]}"
            return
        entry.proba = gives_node_proba(estimator)
        if number > 0:
            entry.scores.append(score)
            entry.seconds.append(seconds)
            self._show_best()
            return
        entry.scores, entry.seconds = [score], [seconds]
        entry.costs[n_rows] = max(seconds, 1e-4)
        entry.n_bytes = 0 if self._clock.seconds is None else _bytes_of(estimator)
        entry.curve[n_rows] = score.hierarchical_f1
        entry.scoring = self._clock.counted() - start - seconds
        if entry.proba and self.winner().name == name:
            self.fallback = Fallback(name, estimator, n_rows, fold.vectorizer)
        self._show_best()

    def _show_best(self) -> None:
        best = self.winner()
        self._clock.best = f"{best.name}, hierarchical F1 {best.mean:.3f}"

    # ------------------------------------------------------------------ time

    def _final_seconds(self) -> float:
        """Return the seconds to keep for the final fit of the best model so far."""
        tried = [entry for entry in self.entries.values() if entry.scores and entry.proba]
        if not tried or self._clock.seconds is None:
            return 0.0
        left = max(self._clock.left(), 0.0)
        by_rank = sorted(tried, key=lambda entry: entry.rank, reverse=True)
        costs = [self._final(entry) for entry in by_rank]
        # the best that all rows can be fitted with; of what nobody can be fitted with, a part
        cost = next((each for each in costs if each <= _SURPLUS * left), 0.5 * left)
        return min(_SURPLUS * cost, left)

    def _free(self) -> float:
        """Return the seconds that are left beside the final fit."""
        return self._clock.left() - self._final_seconds()

    def _fold(self, number: int) -> Fold:
        if number not in self._folds:
            self._clock.step(f"features of fold {number + 1}")
            self._folds[number] = self._clock.within(np.inf, self._load[number])
        return self._folds[number]


def _bytes_of(estimator: Any) -> int:
    """Return the bytes of the arrays of a fitted model, without a copy of them; zero if unknown."""
    found: list[int] = []
    try:
        pickle.dumps(estimator, 5, buffer_callback=lambda part: found.append(part.raw().nbytes))
    except Exception:  # of whatever kind: models of others, too
        return 0
    return sum(found)


_FAILURES = (ValueError, MemoryError, ArithmeticError, TypeError, IndexError)


def _samples(n_rows: int) -> list[int]:
    """Return growing numbers of rows up to all.

    Examples
    --------
    >>> _samples(300), _samples(800), _samples(24_000)
    ([300], [200, 800], [1000, 3000, 9000, 24000])
    """
    if n_rows < 2 * _FIRST:
        return [n_rows // 4, n_rows] if n_rows >= _FEW else [n_rows]
    sizes = [_FIRST]
    while 3 * sizes[-1] <= n_rows // 2:
        sizes.append(3 * sizes[-1])
    return [*sizes, n_rows]


def _folds(number: int) -> str:
    return f"{number} fold{'s' if number > 1 else ''}"


def _too_long(cost: float, free: float, size: int, n_all: int) -> str:
    if free <= 0:
        return "no time left"
    rows = "per fold" if size == n_all else f"on {size:,} rows"
    return f"would take about {cost:.1f} s {rows}, {free:.1f} s were left"
