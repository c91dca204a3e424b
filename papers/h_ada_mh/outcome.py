"""Fit all methods on a data set, and hold what they answered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.compare import describe_estimator, fingerprint
from papers.cells import Cells
from papers.h_ada_mh.setting import Method, Setting

__all__ = ["Answer", "Outcome", "find_outcome"]


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
    """

    setting: Setting
    answers: dict[str, Answer]
    stages: dict[str, dict[str, list[float]]]

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
    for method in methods:
        found = cells.results(_cell(setting, method, data), _computation(setting, method))
        n_classes = setting.answers(method.space).truth.shape[1]
        for key, title in method.answers.items():
            predicted = _flags(found["predicted"][key], n_classes)
            answers[key] = Answer(title, method.space, predicted, found["top_k"])
        if "stages" in found:
            stages[method.key] = found["stages"]
    return Outcome(setting, answers, stages)


def _cell(setting: Setting, method: Method, data: str) -> dict[str, Any]:
    # the hierarchy is in the fingerprint of the data, and would fill pages here
    made = method.make(setting)
    if "hierarchy" in made.get_params(deep=False):
        made.set_params(hierarchy=None)
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
