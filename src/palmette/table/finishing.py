"""The final fit on all rows, with what wraps the winner."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import PalmetteError
from palmette.table.answers import gives_node_proba
from palmette.table.candidates import sharpen
from palmette.table.problem import TableProblem
from palmette.table.vectorize import TableFeatures

__all__ = ["Finished", "Wrapping", "finish"]

_CALIBRATION_FOLDS = 3


@dataclass(frozen=True)
class Wrapping:
    """What is put around the winner.

    Parameters
    ----------
    calibrate : str or None
        Method of `CalibratedHierarchicalClassifier`.
    coverage : float or None
        Of `ConformalHierarchicalClassifier`.
    """

    calibrate: str | None = None
    coverage: float | None = None

    @property
    def fits(self) -> float:
        """Fits on a fold that the final fit costs about as much as."""
        fits = 1.2 + (_CALIBRATION_FOLDS if self.calibrate else 1.0)
        return fits * 2 if self.coverage else fits

    def around(self, estimator: Any, seed: int) -> Any:
        """Wrap an unfitted estimator."""
        if self.calibrate is not None:
            from palmette.calibration import CalibratedHierarchicalClassifier

            estimator = CalibratedHierarchicalClassifier(
                estimator, method=self.calibrate, cv=_CALIBRATION_FOLDS, random_state=seed
            )
        if self.coverage is not None:
            from palmette.calibration import ConformalHierarchicalClassifier

            estimator = ConformalHierarchicalClassifier(
                estimator, coverage=self.coverage, random_state=seed
            )
        return estimator


@dataclass(frozen=True)
class Finished:
    """The parts of the final model.

    Parameters
    ----------
    estimator : fitted classifier
    vectorizer : TableFeatures
    hierarchy : Hierarchy
    seconds : float
        Of the last fit.
    """

    estimator: Any
    vectorizer: TableFeatures
    hierarchy: Hierarchy
    seconds: float


def _fit(estimator: Any, X: Any, y: list[Any], name: str) -> Any:
    """Fit an estimator of any library, whose refusals become errors of ours."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return estimator.fit(X, y)
    except PalmetteError:
        raise
    except (ValueError, TypeError, ArithmeticError) as error:
        words = " ".join(str(error).split())[:300]
        raise PalmetteError(
            f"{name} cannot be fitted on this table ({words}). Choose another model: "
            "`palmette models` names them."
        ) from error


def finish(
    problem: TableProblem,
    name: str,
    race: Any,
    wrapping: Wrapping,
    tournament: Any,
    watch: Callable[[str, float], None] | None,
    say: Callable[[str], None],
    clock: Any,
) -> Finished:
    """Fit the winner on all rows; Ctrl-C keeps the fit on the first fold, where there is one.

    Parameters
    ----------
    problem : TableProblem
    name : str
        The winner.
    race : object
        With ``make(name)``, ``text``, ``seed``, ``settings`` and the first fold's ``vectorizer``.
    wrapping : Wrapping
    tournament : Tournament or None
    watch, say : callable
        As in `fit_table`.
    clock : Clock
    """
    if watch is not None:
        watch(f"{name}, all {problem.n_rows:,} rows", clock.spent())
    start = time.monotonic()
    try:
        vectorizer = TableFeatures(problem.schema, race.text)
        X = vectorizer.fit_transform(problem.frame)
        estimator = race.make(name)
        if wrapping.calibrate is None:
            estimator = sharpen(estimator, race.settings if name == race.model else None)
        estimator = _fit(wrapping.around(estimator, race.seed), X, problem.y, name)
    except KeyboardInterrupt:
        kept = None if tournament is None else tournament.fallback
        if kept is None:
            raise
        name, estimator = kept
        vectorizer = race.vectorizer
        say(f"interrupted again: kept {name} as fitted on the training rows of the first fold")
    if wrapping.calibrate is None and not gives_node_proba(estimator):
        say(f"{name} gives no probabilities: predictions come without them")
    hierarchy = getattr(estimator, "hierarchy_", problem.hierarchy)
    if not isinstance(hierarchy, Hierarchy):
        raise PalmetteError(f"{name} has no hierarchy after fitting.")
    return Finished(estimator, vectorizer, hierarchy, time.monotonic() - start)
