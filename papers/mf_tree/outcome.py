"""Fit all methods on a data set, and hold what they answered and grew."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.compare import Problem, describe_estimator, fingerprint
from palmette.core.hierarchy import Hierarchy
from palmette.metrics import clade_purity, tree_mse, triplet_accuracy
from papers.cells import Cells
from papers.mf_tree.methods import Method, Options
from papers.mf_tree.sets import has_taxonomy
from papers.mf_tree.work import work

__all__ = ["Answer", "Grown", "Outcome", "find_outcome"]

Results = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What a method answered for the test rows, and what that took.

    Parameters
    ----------
    method : str
        Its key.
    way : str
        Such as "greedy"; empty where there is one way only.
    accuracy : float
        Equal to micro-averaged F1, as every row has one class.
    macro_f1 : float
        Mean F1 of the classes of the test rows.
    us : float
        CPU microseconds a row.
    dots : float
        Dot products a row.
    depth : int
    fit_s : float
        CPU seconds of the tree and the classifiers.
    """

    method: str
    way: str
    accuracy: float
    macro_f1: float
    us: float
    dots: float
    depth: int
    fit_s: float

    @property
    def title(self) -> str:
        """Name of the row."""
        return f"{self.method}, {self.way}" if self.way else self.method


@dataclass(frozen=True)
class Grown:
    """A tree that was learnt.

    Parameters
    ----------
    method : str
    tree : Hierarchy
    seconds : float or None
        CPU seconds; None where the classifier grew it.
    """

    method: str
    tree: Hierarchy
    seconds: float | None


@dataclass(frozen=True)
class Outcome:
    """The answers and trees of all methods on a data set.

    Parameters
    ----------
    problem : Problem
    answers : dict of str to Answer
        By title.
    grown : dict of str to Grown
        By method.
    """

    problem: Problem
    answers: dict[str, Answer]
    grown: dict[str, Grown]

    @property
    def name(self) -> str:
        """Of the data set."""
        return self.problem.name

    @cached_property
    def classes(self) -> NDArray[np.object_]:
        """Labels of the training rows, sorted."""
        return np.unique(self.problem.y_train)

    @cached_property
    def qualities(self) -> dict[str, dict[str, float]]:
        """How near trees are to the given one: ``mse``, ``triplets``, ``purity``, by method.

        Empty where none was given; DAGs are left out, as the measures are of trees.
        """
        if not has_taxonomy(self.problem) or len(self.classes) < 3:
            return {}
        return {
            key: self._quality(grown.tree)
            for key, grown in self.grown.items()
            if grown.tree.is_tree
        }

    def _quality(self, tree: Hierarchy) -> dict[str, float]:
        given, classes = self.problem.hierarchy, self.classes.tolist()
        return {
            "mse": tree_mse(tree, given, classes=classes),
            "triplets": triplet_accuracy(tree, given, classes=classes),
            "purity": clade_purity(tree, given, classes=classes),
            "depth": int(tree.max_depth),
        }


def find_outcome(
    problem: Problem, methods: Iterable[Method], options: Options, cells: Cells
) -> Outcome:
    """Fit every method, unless its results are there already.

    Parameters
    ----------
    problem : Problem
    methods : iterable of Method
    options : Options
    cells : Cells

    Returns
    -------
    Outcome
    """
    data = fingerprint(problem)
    classes = np.unique(problem.y_train)
    answers: dict[str, Answer] = {}
    grown: dict[str, Grown] = {}
    for method in methods:
        found = cells.results(
            _cell(method, problem, options, data), _computation(method, problem, options)
        )
        for way, told in found["answers"].items():
            answer = _answer(method, way, told, found, classes, problem)
            answers[answer.title] = answer
        if found["edges"] is not None:
            tree = Hierarchy.from_edges([tuple(edge) for edge in found["edges"]])
            grown[method.key] = Grown(method.key, tree, found["tree_s"])
    return Outcome(problem, answers, grown)


def _cell(method: Method, problem: Problem, options: Options, data: str) -> dict[str, Any]:
    makers = {
        "learner": None if method.grow is None else method.grow(options),
        "classifier": None if method.make is None else method.make(None, options),
    }
    return {
        "dataset": problem.name,
        "split": "published",
        "model": method.key,
        "data": data,
        "ways": method.answers,
        **{name: _described(made) for name, made in makers.items()},
    }


def _described(estimator: Any) -> str | None:
    """Write an estimator with all parameters: a default that changes makes another result."""
    from sklearn import config_context

    with config_context(print_changed_only=False):
        return None if estimator is None else describe_estimator(estimator)


def _computation(method: Method, problem: Problem, options: Options) -> Any:
    return lambda: work(method, problem, options)


def _answer(
    method: Method, way: str, told: Results, found: Results, classes: Any, problem: Problem
) -> Answer:
    from sklearn.metrics import accuracy_score, f1_score

    predicted = classes[told["predicted"]]
    truth = problem.y_test
    scores = f1_score(truth, predicted, average="macro", labels=np.unique(truth), zero_division=0.0)
    return Answer(
        method.key,
        way,
        float(accuracy_score(truth, predicted)),
        float(scores),
        told["us"],
        told["dots"],
        found["depth"],
        found["fit_s"],
    )
