"""How errors are estimated: repeats on the published test part, or repeated cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold

from palmette.compare import Problem, Split
from palmette.core.rows import take_rows

__all__ = ["PAPER_PROTOCOL", "Protocol", "make_parts"]


@dataclass(frozen=True)
class Protocol:
    """How often a set is fitted.

    Parameters
    ----------
    n_folds, n_repeats : int
        Of cross-validation, where there is no test part.
    n_seeds : int
        Fits on the training part, where there is a test part.
    """

    n_folds: int = 4
    n_repeats: int = 3
    n_seeds: int = 5

    def words(self) -> str:
        """Say it in words."""
        return (
            f"{self.n_folds}-fold cross-validation {self.n_repeats} times where there is no test "
            f"part, {self.n_seeds} seeds where there is one"
        )


PAPER_PROTOCOL = Protocol(4, 10, 40)


def make_parts(problem: Problem, protocol: Protocol, seed: int) -> Iterator[Split]:
    """Yield training and test rows.

    Parameters
    ----------
    problem : Problem
    protocol : Protocol
    seed : int
        Of the first repeat; the others count on from it.

    Yields
    ------
    Split
        Named "seed-0", "seed-1", ... or "repeat-0-fold-0", ...
    """
    if problem.has_split:
        parts = (problem.X_train, problem.y_train, problem.X_test, problem.y_test)
        for number in range(protocol.n_seeds):
            yield Split(f"seed-{number}", seed + number, None, *parts)
        return
    X, y = problem.X_train, np.asarray(problem.y_train)
    for repeat in range(protocol.n_repeats):
        folds = StratifiedKFold(protocol.n_folds, shuffle=True, random_state=seed + repeat)
        for fold, (train, test) in enumerate(folds.split(np.zeros(len(y)), y)):
            parts = (take_rows(X, train), y[train], take_rows(X, test), y[test])
            name = f"repeat-{repeat}-fold-{fold}"
            yield Split(name, seed + repeat, 1 / protocol.n_folds, *parts)
