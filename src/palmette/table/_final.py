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
from palmette.table._features import TableFeatures
from palmette.table._fit import Race, Wrapping, n_bytes
from palmette.table._held_out import learned_calibration
from palmette.table._large import GIB, stratified_rows
from palmette.table._problem import TableProblem
from palmette.table._schema import Unread
from palmette.table._tournament import Tournament
from palmette.table.answers import gives_node_proba

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
    """Fit the winner on all rows, or on as many as the time allows.

    If not even the rows of the tournament can be exceeded, or after Ctrl-C or SIGTERM, the model of
    the tournament is kept.

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
    most = race.rows_in_memory(name, wrapping)
    rows = _final_rows(problem, name, race, wrapping, tournament, clock, most)
    stop = None if tournament is None else tournament.interrupted
    calibration = None if wrapping.calibrate else _calibration(name, tournament)
    estimator: Any = None
    ending = "there is no time for a final fit: "
    if rows is not None:
        n_rows = len(rows)
        part = f"all {n_rows:,}" if n_rows == problem.n_all else f"{n_rows:,}"
        clock.step(f"{name}, {part} rows")
        if n_rows < problem.n_all:
            lacking = "memory" if n_rows == most else "time"
            say(
                f"{name} is fitted on {n_rows:,} of {problem.n_all:,} rows: allow more {lacking} "
                "to use all"
            )
        try:
            limit = np.inf if kept is None else _left(clock)
            sharpens = wrapping.calibrate is None and calibration is None
            fit = partial(_final_fit, problem, name, race, wrapping, sharpens, rows)
            if problem.rest is not None:
                fit = partial(_fit_rest, problem, name, race, wrapping, sharpens, rows, say)
            estimator, vectorizer = clock.within(limit, fit)
        except OutOfTime:
            ending = "the final fit did not end in time: "
        except (KeyboardInterrupt, SystemExit) as error:
            if kept is None:
                raise
            stop, ending = error, "interrupted: "
    if estimator is None and kept is not None:
        name, estimator, n_rows = kept
        say(f"{ending}kept {name} as fitted on {n_rows:,} rows of the first fold")
        calibration = _calibration(name, tournament)
        vectorizer = race.vectorizer
    if wrapping.calibrate is None and not gives_node_proba(estimator):
        say(f"{name} has no probabilities, so predictions are written without them")
    hierarchy = getattr(estimator, "hierarchy_", problem.hierarchy)
    if not isinstance(hierarchy, Hierarchy):
        raise PalmetteError(
            f"{name} has no hierarchy_ after fit: expected a hierarchical classifier."
        )
    ended = None if stop is None else "Ctrl-C" if isinstance(stop, KeyboardInterrupt) else "SIGTERM"
    seconds = time.monotonic() - start
    return Finished(name, estimator, vectorizer, hierarchy, n_rows, seconds, ended, calibration)


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


def _final_rows(
    problem: TableProblem,
    name: str,
    race: Race,
    wrapping: Wrapping,
    tournament: Tournament | None,
    clock: Clock,
    most: int,
) -> Any:
    """Return the rows of the final fit, at most `most`; None if the tournament's model is kept."""
    n_all = problem.n_all
    kept = None if tournament is None else tournament.fallback

    def draw(n_rows: int) -> Any:
        if problem.rest is not None:
            codes = problem.rest.table.codes[problem.rest.is_labelled()]
            return stratified_rows(codes, n_rows, race.seed)
        rng = np.random.default_rng(race.seed)
        return np.sort(rng.choice(n_all, n_rows, replace=False))

    if tournament is None or kept is None or clock.seconds is None:
        return np.arange(n_all) if most == n_all else draw(most)
    entry = tournament.entries[name]

    def cost(n_rows: int) -> float:
        fits = 1.0 if wrapping.calibrate is None and wrapping.coverage is None else wrapping.fits
        return 1.25 * (race.row_seconds * n_rows + fits * entry.foresee(n_rows)) + 0.5

    left = _left(clock)
    if cost(most) <= left:
        return np.arange(n_all) if most == n_all else draw(most)
    low, high = 0, most
    while high - low > max(most // 1000, 1):
        middle = (low + high) // 2
        low, high = (middle, high) if cost(middle) <= left else (low, middle)
    if low <= kept.n_rows:
        return None
    return draw(low)


def _left(clock: Clock) -> float:
    """Return the seconds of the final fit, which may exceed the limit by a twentieth."""
    if clock.seconds is None or clock.hurried:
        return clock.left()
    return max(clock.left(), 0.05 * clock.seconds)
