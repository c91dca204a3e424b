"""What the methods of one data set are fitted with, and what a method is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.compare import Problem
from papers.h_ada_mh.collapsed import CollapsedSpace, paths_of
from papers.h_ada_mh.scoring import AnswerSpace, CollapsedAnswers, TreeAnswers

__all__ = ["Method", "Results", "Setting", "listed", "make_forest", "over_columns", "spread"]

Results = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """What the methods of one data set are fitted with.

    Parameters
    ----------
    problem : Problem
    rounds : int
        Of the stumps.
    quick_rounds : int or None
        Rounds of the classifiers that have a number of their own; None leaves it to them.
    n_levels : int or None
        Levels of the collapsed space; None for all.
    seed : int
    n_jobs : int or None
    """

    problem: Problem
    rounds: int
    quick_rounds: int | None = None
    n_levels: int | None = None
    seed: int = 0
    n_jobs: int | None = None

    @cached_property
    def space(self) -> CollapsedSpace:
        """The collapsed space."""
        return CollapsedSpace(paths_of(self.problem.y_train, self.problem.hierarchy), self.n_levels)

    @cached_property
    def collapsed(self) -> CollapsedAnswers:
        """The truth in the collapsed space."""
        return CollapsedAnswers.of(self.problem, self.space)

    @cached_property
    def tree(self) -> TreeAnswers:
        """The truth on the tree."""
        return TreeAnswers.of(self.problem)

    def answers(self, space: str) -> AnswerSpace:
        """Return the truth in a space, ``"collapsed"`` or ``"tree"``."""
        return self.collapsed if space == "collapsed" else self.tree


@dataclass(frozen=True)
class Method:
    """One fit.

    Parameters
    ----------
    key : str
    space : {"collapsed", "tree"}
    answers : dict of str to str
        Titles of what it answers, by key: one fit may be decoded in several ways.
    make : callable
        Takes a Setting and gives the unfitted estimator.
    work : callable
        Takes a Setting and the estimator and gives plain results: ``predicted``, by answer the
        classes of every test row; ``top_k``; and ``stages`` where there are any.
    """

    key: str
    space: str
    answers: dict[str, str]
    make: Callable[[Setting], Any]
    work: Callable[[Setting, Any], Results]


def listed(predicted: NDArray[np.bool_]) -> list[list[int]]:
    """Classes of every row, as plain numbers.

    Examples
    --------
    >>> listed(np.array([[True, False, True], [False, False, False]]))
    [[0, 2], []]
    """
    return [np.flatnonzero(row).tolist() for row in predicted]


def over_columns(estimator: Any, X: Any, n_columns: int) -> NDArray[np.float64]:
    """Scores of all classes by a fitted booster: shape (n_samples, n_columns).

    Classes without a positive row in training have -inf.
    """
    return spread(estimator.predict_node_scores(X), estimator.nodes_, n_columns)


def spread(scores: Any, nodes: Any, n_columns: int) -> NDArray[np.float64]:
    """Put scores of some nodes into the columns of all nodes below the root.

    Examples
    --------
    >>> spread(np.array([[0.5]]), np.array([2]), 3)
    array([[-inf,  0.5, -inf]])
    """
    table = np.full((len(scores), n_columns), -np.inf)
    table[:, np.asarray(nodes) - 1] = scores
    return table


def make_forest(setting: Setting, **options: Any) -> Any:
    """Return a random forest of 100 trees."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(
        n_estimators=100, random_state=setting.seed, n_jobs=setting.n_jobs, **options
    )
