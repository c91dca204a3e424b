"""The final fit of `fit_table`: on all rows, or on as many as time and memory allow."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from palmette._stopping import OutOfTime
from palmette.base._scratch import Scratch
from palmette.calibration._chains import ChainCalibration
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.models import find_model
from palmette.table._candidates import sharpen
from palmette.table._class_weights import balanced_weights, fit_balanced
from palmette.table._clock import Clock
from palmette.table._entries import Entry
from palmette.table._features import TableFeatures
from palmette.table._fit import Race, Wrapping, n_bytes
from palmette.table._held_out import learned_calibration
from palmette.table._large import GIB, stratified_rows
from palmette.table._problem import TableProblem
from palmette.table._schema import Unread
from palmette.table._tournament import Tournament
from palmette.table.answers import gives_node_proba

_CLEARLY = 0.005  # hierarchical F1 that a quicker model must be better by than the winner
_FAR = 0.02  # the same, of a model that there was no time to compare with it on as many rows
_MARGIN = 1.2  # of the seconds of a fit on a part of the rows
_GROWTH = 1.15  # exponent of the number of rows in the time of a fit
_TOLD = r".* needs a tree, but \w+ has learned a DAG"  # a warning of a fit that is shown


@dataclass(frozen=True)
class Finished:
    """The parts of the final model.

    Parameters
    ----------
    name : str
        The model that was fitted.
    estimator : fitted classifier
    vectorizer : TableFeatures
    hierarchy : Hierarchy
    n_rows : int
        Number of rows that it was fitted on.
    seconds : float
        Seconds of the final fit.
    interrupted : {None, "Ctrl-C", "SIGTERM"}
        What ended the tournament or the final fit early.
    calibration : ChainCalibration or None
        By the test rows of its folds; None if there were none, or it is calibrated otherwise.
    """

    name: str
    estimator: Any
    vectorizer: TableFeatures
    hierarchy: Hierarchy
    n_rows: int
    seconds: float
    interrupted: str | None
    calibration: ChainCalibration | None = None


def _fit(
    estimator: Any,
    X: Any,
    y: list[Any],
    name: str,
    class_weight: str | None,
    n_passes: int = 0,
    seed: int = 0,
) -> Any:
    """Fit an estimator of any library, or a local one by passes; errors become a PalmetteError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("always", message=_TOLD)
            if not n_passes:
                return fit_balanced(estimator, X, y, class_weight)
            from palmette.local import fit_in_passes

            weights = None if class_weight is None else balanced_weights(y)
            return fit_in_passes(estimator, X, y, weights, n_passes=n_passes, seed=seed)
    except PalmetteError:
        raise
    except (ValueError, TypeError, ArithmeticError) as error:
        words = " ".join(str(error).split())[:300]
        raise PalmetteError(
            f"{name} cannot be fitted on this table ({words}). Choose another model: "
            "`palmette models` lists them."
        ) from error


def finish(
    problem: TableProblem,
    name: str,
    race: Race,
    wrapping: Wrapping,
    tournament: Tournament | None,
    say: Callable[[str], None],
    clock: Clock,
) -> Finished:
    """Fit the winner on all rows, or on as many as the time allows; see `_choose`.

    Once a fit on a part of the rows has ended, and all would fit into the time that is left, they
    are used. If not even the rows of the tournament can be exceeded, or after Ctrl-C or SIGTERM,
    the model of the tournament is kept.

    Parameters
    ----------
    problem : TableProblem
    name : str
        The winner.
    race : Race
    wrapping : Wrapping
    tournament : Tournament or None
    say : callable
        Called with messages for the user.
    clock : Clock
    """
    start = time.monotonic()
    kept = None if tournament is None else tournament.fallback
    stop = None if tournament is None else tournament.interrupted
    winner, n_rows = name, race.rows_in_memory(name, wrapping)
    is_timed = tournament is not None and kept is not None and clock.seconds is not None
    if is_timed and kept is not None and tournament is not None:
        name, n_rows = _choose(name, race, wrapping, tournament, clock)
        n_rows = n_rows if n_rows > kept.n_rows else 0
        if name != winner and n_rows:
            say(
                f"there is no time to fit {winner} on all rows: {name}, which is quicker, is "
                f"fitted on {n_rows:,}"
            )
    most = race.rows_in_memory(name, wrapping)
    calibration = None if wrapping.calibrate else _calibration(name, tournament)
    sharpens = wrapping.calibrate is None and calibration is None
    estimator: Any = None
    n_fitted, ending = 0, "there is no time for a final fit: "
    try:
        while n_rows:
            part = f"all {n_rows:,}" if n_rows == problem.n_all else f"{n_rows:,}"
            clock.step(f"{name}, {part} rows")
            began = clock.counted()
            limit = np.inf if kept is None else max(clock.left(), 0.0) + clock.grace()
            rows = _draw(problem, n_rows, race.seed)
            fit = partial(_final_fit, problem, name, race, wrapping, sharpens, rows)
            if problem.rest is not None:
                fit = partial(_fit_rest, problem, name, race, wrapping, sharpens, rows, say)
            estimator, vectorizer = clock.within(limit, fit)
            n_fitted, seconds = n_rows, clock.counted() - began
            n_rows = most if is_timed and _has_time(n_fitted, seconds, most, clock) else 0
    except OutOfTime:
        ending = "the final fit did not end in time: "
    except (KeyboardInterrupt, SystemExit) as error:
        if kept is None:
            raise
        stop, ending = error, "interrupted: "
    if 0 < n_fitted < problem.n_all:
        lacking = "memory" if n_fitted == most else "time"
        say(
            f"{name} is fitted on {n_fitted:,} of {problem.n_all:,} rows: allow more {lacking} "
            "to use all"
        )
    if estimator is None and kept is not None:
        name, estimator, n_fitted, vectorizer = kept
        say(f"{ending}kept {name} as fitted on {n_fitted:,} rows of the first fold")
        calibration = _calibration(name, tournament)
    if wrapping.calibrate is None and not gives_node_proba(estimator):
        say(f"{name} has no probabilities, so predictions are written without them")
    hierarchy = getattr(estimator, "hierarchy_", problem.hierarchy)
    if not isinstance(hierarchy, Hierarchy):
        raise PalmetteError(
            f"{name} has no hierarchy_ after fit: expected a hierarchical classifier."
        )
    ended = None if stop is None else "Ctrl-C" if isinstance(stop, KeyboardInterrupt) else "SIGTERM"
    seconds = time.monotonic() - start
    return Finished(name, estimator, vectorizer, hierarchy, n_fitted, seconds, ended, calibration)


def _calibration(name: str, tournament: Tournament | None) -> ChainCalibration | None:
    """Return the calibration by the test rows of a model's folds."""
    if tournament is None:
        return None
    return learned_calibration([score.held_out for score in tournament.entries[name].scores])


def _final_fit(
    problem: TableProblem,
    name: str,
    race: Race,
    wrapping: Wrapping,
    sharpens: bool,
    rows: Any,
) -> tuple[Any, TableFeatures]:
    vectorizer = TableFeatures(problem.schema, race.text)
    whole = len(rows) == problem.n_rows
    frame, y = problem.training_rows(None if whole else rows)
    X = vectorizer.fit_transform(frame)
    estimator = race.make(name)
    if sharpens:
        estimator = sharpen(estimator, race.settings_of(name))
    wrapped = wrapping.around(estimator, race.seed, problem.several_paths)
    if problem.groups is None or wrapping.calibrate is None or wrapping.coverage is not None:
        return _fit(wrapped, X, y, name, race.class_weight), vectorizer
    cv, wrapped.cv = wrapped.cv, race.folds(rows, wrapped.cv)  # equal inputs stay together
    fitted = _fit(wrapped, X, y, name, race.class_weight)
    fitted.cv = cv  # the rows of the folds are not stored
    return fitted, vectorizer


def _fit_rest(
    problem: TableProblem,
    name: str,
    race: Race,
    wrapping: Wrapping,
    sharpens: bool,
    rows: Any,
    say: Callable[[str], None],
) -> tuple[Any, TableFeatures]:
    """Fit a model to rows of a table that is larger than memory.

    Features are learned from the sample, and those of the rows are written to a scratch folder. A
    model that reads rows in place reads them from there; for others they fit in memory.
    """
    assert problem.rest is not None
    vectorizer = TableFeatures(problem.schema, race.text)
    sample = vectorizer.fit_transform(problem.frame)
    estimator = race.make(name)
    if sharpens:
        estimator = sharpen(estimator, race.settings_of(name))
        if estimator.get_params(deep=False).get("calibration") == "out_of_fold":
            found = _fit(estimator, sample, problem.y, name, race.class_weight)
            estimator = race.make(name).set_params(calibration=found.exponent_)
    size, n_sample = n_bytes(sample), sample.shape[0]
    del sample
    with Scratch(race.scratch) as scratch:
        needed = size * len(rows) // n_sample
        in_place = race.reads_in_place(name, wrapping)
        if in_place and "scratch" in estimator.get_params(deep=False):
            estimator.set_params(scratch=scratch.path)
            needed += estimator.scratch_bytes(
                len(rows), vectorizer.n_features_, problem.hierarchy.n_nodes
            )
        scratch.require(needed, "the features of the table")
        say(
            f"the features of {len(rows):,} rows need about {needed / GIB:.1f} GiB in the scratch "
            f"folder {scratch.path}, which is removed at the end"
        )
        X, y = _write_features(problem, vectorizer, rows, scratch, race.clock)
        race.clock.step(f"{name}, {len(rows):,} rows")
        if not in_place:
            X = X.copy() if sparse.issparse(X) else np.array(X)
        n_passes = 0
        if in_place and find_model(race.base(name)).in_passes:
            n_passes = estimator.estimator.max_iter
        wrapped = wrapping.around(estimator, race.seed, problem.several_paths)
        fitted = _fit(wrapped, X, y, name, race.class_weight, n_passes, race.seed)
        del X
    if in_place and "scratch" in fitted.get_params(deep=False):
        fitted.set_params(scratch=None)  # a folder that is gone
    return fitted, vectorizer


def _write_features(
    problem: TableProblem, vectorizer: TableFeatures, rows: Any, scratch: Scratch, clock: Clock
) -> tuple[Any, list[Any]]:
    """Return the features, in files, and the labels of some labelled rows of a large table."""
    assert problem.rest is not None
    table, labels = problem.rest.table, problem.rest.labels
    chosen = np.zeros(table.n_rows, dtype=bool)
    chosen[np.flatnonzero(problem.rest.is_labelled())[rows]] = True
    found, y = scratch.rows(vectorizer.n_features_), list[Any]()
    for frame, codes in table.chunks(chosen):
        cast = problem.schema.cast(frame, unread=Unread())
        found.append(vectorizer.transform(cast))
        y += [labels[code] for code in codes.tolist()]
        clock.step(f"features of {len(y):,} of {len(rows):,} rows")
    return found.mapped(), y


def _choose(
    name: str, race: Race, wrapping: Wrapping, tournament: Tournament, clock: Clock
) -> tuple[str, int]:
    """Choose what is fitted finally, and the number of its rows.

    It is the winner on all rows, if the time that is left allows it or is exceeded by a little.
    Otherwise it is the model that is expected to be the best on those rows that it has time for: a
    quick one on all rows may be better than the winner on some.

    Returns
    -------
    str, int
        Zero rows if there is no time for any.
    """
    entry = tournament.entries[name]
    n_rows = _affordable(entry, race, wrapping, clock)
    is_whole = n_rows >= race.rows_in_memory(name, wrapping)
    kept = tournament.fallback
    expected = [entry.expect(n_rows)] if n_rows else []
    if kept is not None:
        expected.append(tournament.entries[kept.name].expect(kept.n_rows))
    best = max(expected, default=0.0) + _CLEARLY
    for other in tournament.entries.values():
        if other is entry or not other.curve or not other.proba:
            continue
        same = entry.curve.get(other.rows, entry.mean)  # the winner's, on as many rows
        if is_whole and (other.rows >= entry.rows or other.curve[other.rows] < same + _FAR):
            continue  # it was compared with the winner, or is not far ahead
        rows = _affordable(other, race, wrapping, clock)
        if (rows > n_rows or (is_whole and rows == n_rows)) and other.expect(rows) > best:
            name, n_rows, best = other.name, rows, other.expect(rows)
    return name, n_rows


def _affordable(entry: Entry, race: Race, wrapping: Wrapping, clock: Clock) -> int:
    """Return the number of rows that a final fit has time and memory for."""
    most = race.rows_in_memory(entry.name, wrapping)
    seconds = partial(race.final_seconds, entry, wrapping)
    left = max(clock.left(), 0.0)
    if seconds(most) <= left + clock.grace():
        return most
    low, high = 0, most
    while high - low > max(most // 1000, 1):
        middle = (low + high) // 2
        low, high = (middle, high) if _MARGIN * seconds(middle) <= left else (low, middle)
    return low


def _has_time(n_rows: int, seconds: float, most: int, clock: Clock) -> bool:
    """Return whether there is time for a fit on more rows than the one that has ended."""
    return n_rows < most and seconds * (most / n_rows) ** _GROWTH <= clock.left() + clock.grace()


def _draw(problem: TableProblem, n_rows: int, seed: int) -> Any:
    """Return the rows of the final fit."""
    if n_rows >= problem.n_all:
        return np.arange(problem.n_all)
    if problem.rest is not None:
        codes = problem.rest.table.codes[problem.rest.is_labelled()]
        return stratified_rows(codes, n_rows, seed)
    return np.sort(np.random.default_rng(seed).choice(problem.n_all, n_rows, replace=False))
