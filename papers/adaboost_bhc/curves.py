"""Errors by round of all methods on a data set, and the CPU seconds of their fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.compare import Problem, Split, describe_estimator, fingerprint, measure
from papers.adaboost_bhc.methods import Method
from papers.adaboost_bhc.parts import Protocol, make_parts
from papers.cells import Cells

__all__ = ["Curves", "Outcome", "find_outcome", "staged_errors", "warm_up"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curves:
    """Errors of a method.

    Parameters
    ----------
    train, test : arrays of shape (n_fits, n_rounds)
        Shares of wrong rows after every round.
    seconds : array of shape (n_fits,)
        CPU seconds of `fit`.
    """

    train: FloatArray
    test: FloatArray
    seconds: FloatArray

    def mean(self, part: str) -> FloatArray:
        """Mean error by round of a part, ``"train"`` or ``"test"``."""
        return np.asarray(getattr(self, part).mean(axis=0))

    def last(self, part: str) -> float:
        """Mean error of a part after the last round."""
        return float(self.mean(part)[-1])


@dataclass(frozen=True, eq=False)
class Outcome:
    """Curves of all methods on a data set.

    Parameters
    ----------
    problem : Problem
    rounds : int
    curves : dict of str to dict
        By key of the weak learner, then by name of the method.
    """

    problem: Problem
    rounds: int
    curves: dict[str, dict[str, Curves]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the data set."""
        return self.problem.name

    @cached_property
    def n_tested(self) -> int:
        """Number of different rows that errors are counted on."""
        tested = self.problem.X_test if self.problem.has_split else self.problem.X_train
        return int(tested.shape[0])

    def standard_error(self, error: float) -> float:
        """Standard error of an error over the rows tested: sqrt(e (1 - e) / n)."""
        return math.sqrt(error * (1 - error) / self.n_tested)


def find_outcome(
    problem: Problem,
    methods: Sequence[Method],
    cells: Cells,
    *,
    rounds: int,
    protocol: Protocol,
    seed: int,
    n_jobs: int | None,
) -> Outcome:
    """Fit every method on every part, unless its errors are there already.

    Parameters
    ----------
    problem : Problem
    methods : sequence of Method
    cells : Cells
    rounds : int
    protocol : Protocol
    seed : int
    n_jobs : int or None

    Returns
    -------
    Outcome
    """
    outcome, data = Outcome(problem, rounds), fingerprint(problem)
    found: dict[Method, list[dict[str, Any]]] = {method: [] for method in methods}
    for part in make_parts(problem, protocol, seed):
        for method in methods:
            made = method.make(rounds, part.seed, n_jobs)
            cell = {
                "dataset": problem.name,
                "split": part.name,
                "model": method.key,
                "data": data,
                "n_folds": None if problem.has_split else protocol.n_folds,
                "split_seed": part.seed,
                "estimator": describe_estimator(made),
            }
            found[method].append(cells.results(cell, _computation(method, made, part, rounds)))
    for method, results in found.items():
        columns = ([one[key] for one in results] for key in ("train", "test", "fit_s"))
        by_name = outcome.curves.setdefault(method.learner.key, {})
        by_name[method.name] = Curves(*(np.array(column) for column in columns))
    return outcome


def _computation(method: Method, made: Any, part: Split, rounds: int) -> Any:
    def compute() -> dict[str, Any]:
        warm_up(method)
        with measure() as usage:
            made.fit(part.X_train, part.y_train)
        return {
            "train": staged_errors(made, part.X_train, part.y_train, rounds),
            "test": staged_errors(made, part.X_test, part.y_test, rounds),
            "fit_s": usage.cpu_seconds,
        }

    return compute


def staged_errors(fitted: Any, X: Any, y: Any, rounds: int) -> list[float]:
    """Share of wrong rows after every round; boosting that ended early stays as it was.

    Parameters
    ----------
    fitted : classifier
    X, y : features and labels
    rounds : int

    Returns
    -------
    list of `rounds` floats
    """
    truth = np.asarray(y)
    errors = [
        round(float(np.mean(np.asarray(said) != truth)), 6) for said in fitted.staged_predict(X)
    ]
    if not errors:  # no round was any good
        errors = [round(float(np.mean(np.asarray(fitted.predict(X)) != truth)), 6)]
    return (errors + errors[-1:] * rounds)[:rounds]


@cache
def warm_up(method: Method) -> None:
    """Compile what a method needs, once: that is no part of its time."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 4
    X = rng.normal(size=(40, 3)) + y[:, None]
    method.make(2, 0, 1).fit(X, y)
