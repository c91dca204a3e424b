"""What a method is and what it is fitted with; fit all methods on a data set, keep the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.compare import Problem, describe_estimator, fingerprint
from papers.cells import Cells
from papers.h_ada_mh.scoring import AnswerSpace, CollapsedAnswers, TreeAnswers
from papers.h_ada_mh.spaces import CollapsedSpace, paths_of

__all__ = [
    "Answer",
    "Method",
    "Outcome",
    "Results",
    "Setting",
    "find_outcome",
    "listed",
    "make_forest",
    "over_columns",
    "spread",
]

# ---------------------------------------------------------------------- methods and their setting


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
    n_trees : int
        Of every forest.
    """

    problem: Problem
    rounds: int
    quick_rounds: int | None = None
    n_levels: int | None = None
    seed: int = 0
    n_jobs: int | None = None
    n_trees: int = 100

    @property
    def n_search_trees(self) -> int:
        """Trees of the forests that parameters are chosen with: a fifth."""
        return max(self.n_trees // 5, 1)

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
        classes of every test row; ``top_k``; ``stages`` where there are any; and ``chosen``, the
        parameters that were chosen by level, where they were.
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
    """Return a random forest, usually of 100 trees."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(
        n_estimators=setting.n_trees, random_state=setting.seed, n_jobs=setting.n_jobs, **options
    )


# ---------------------------------------------------------------------- answers of all methods


@dataclass(frozen=True)
class Answer:
    """What a method answered for the test rows.

    Parameters
    ----------
    title : str
    space : {"collapsed", "tree"}
    predicted : bool array of shape (n_test, n_classes)
    top_k : list of float
        Share of true classes among the k best-scored, k from 1.
    """

    title: str
    space: str
    predicted: NDArray[np.bool_]
    top_k: list[float]


@dataclass(frozen=True)
class Outcome:
    """The answers of all methods on a data set.

    Parameters
    ----------
    setting : Setting
    answers : dict of str to Answer
    stages : dict of str to dict
        By method: ``rounds``, ``hamming`` and ``hierarchical_hamming``, the test errors.
    chosen : dict of str to dict
        By answer: the parameters that cross-validation chose, by level.
    """

    setting: Setting
    answers: dict[str, Answer]
    stages: dict[str, dict[str, list[float]]]
    chosen: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the data set."""
        return self.setting.problem.name

    @cached_property
    def scores(self) -> dict[str, dict[str, float]]:
        """Scores of every answer, by its key."""
        return {
            key: self.setting.answers(answer.space).scores(answer.predicted)
            for key, answer in self.answers.items()
        }

    @cached_property
    def level_accuracy(self) -> dict[str, list[float]]:
        """Accuracy by level of every answer, by its key."""
        return {
            key: self.setting.answers(answer.space).level_accuracy(answer.predicted)
            for key, answer in self.answers.items()
        }

    def keys(self, space: str) -> list[str]:
        """Return the keys of the answers in a space."""
        return [key for key, answer in self.answers.items() if answer.space == space]


def find_outcome(setting: Setting, methods: Iterable[Method], cells: Cells) -> Outcome:
    """Fit every method, unless its results are there already.

    Parameters
    ----------
    setting : Setting
    methods : iterable of Method
    cells : Cells

    Returns
    -------
    Outcome
    """
    data = fingerprint(setting.problem)
    answers: dict[str, Answer] = {}
    stages: dict[str, dict[str, list[float]]] = {}
    chosen: dict[str, dict[str, str]] = {}
    for method in methods:
        found = cells.results(_cell(setting, method, data), _computation(setting, method))
        n_classes = setting.answers(method.space).truth.shape[1]
        for key, title in method.answers.items():
            predicted = _flags(found["predicted"][key], n_classes)
            answers[key] = Answer(title, method.space, predicted, found["top_k"])
            if "chosen" in found:
                chosen[key] = found["chosen"]
        if "stages" in found:
            stages[method.key] = found["stages"]
    return Outcome(setting, answers, stages, chosen)


def _cell(setting: Setting, method: Method, data: str) -> dict[str, Any]:
    # the hierarchy is in the fingerprint of the data, and would fill pages here
    made = method.make(setting)
    for key in ("hierarchy", "estimator__hierarchy"):
        if key in made.get_params():
            made.set_params(**{key: None})
    return {
        "dataset": setting.problem.name,
        "split": "published",
        "model": method.key,
        "data": data,
        "space": method.space,
        "n_levels": setting.n_levels,
        "answers": list(method.answers),
        "estimator": describe_estimator(made),
    }


def _computation(setting: Setting, method: Method) -> Any:
    return lambda: method.work(setting, method.make(setting))


def _flags(listed: list[list[int]], n_classes: int) -> NDArray[np.bool_]:
    flags = np.zeros((len(listed), n_classes), dtype=bool)
    rows = np.repeat(np.arange(len(listed)), [len(classes) for classes in listed])
    flags[rows, [one for classes in listed for one in classes]] = True
    return flags
