"""The numbers of the paper, the four methods over the same weak learner, and error estimation.

References
----------
G. Jun, J. Ghosh (2009). Multi-class boosting with class hierarchies. MCS 2009.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from palmette._arrays import take_rows
from palmette.compare import Problem, Split
from palmette.exceptions import PalmetteError

__all__ = [
    "LEARNERS",
    "METHODS",
    "PAPER_PROTOCOL",
    "Learner",
    "Method",
    "PaperSet",
    "Protocol",
    "find_methods",
    "make_parts",
    "paper_cost",
    "paper_set",
    "paper_sets",
]

# --------------------------------------------------- Tables 1 to 3, and the numbers of the figures


METHODS = ("MH", "MI", "ECC", "BHC")


@dataclass(frozen=True)
class PaperSet:
    """What the paper says of a data set.

    Parameters
    ----------
    title : str
        Its name in the paper.
    figure : int
        The figure that shows its errors.
    n_train, n_features, n_classes : int
    n_test : int or None
        None where the paper cross-validates (Table 2).
    seconds : tuple of 4 floats, or None
        Training time of 100 rounds, by method (Table 3).
    """

    title: str
    figure: int
    n_train: int
    n_test: int | None
    n_features: int
    n_classes: int
    seconds: tuple[float, float, float, float] | None = None


_SETS = {
    "iris": PaperSet("Iris", 2, 150, None, 4, 3),
    "glass": PaperSet("Glass", 3, 214, None, 10, 6),
    "yeast_uci": PaperSet("Yeast", 4, 1484, None, 8, 10, (32.0, 43.5, 5.5, 24.8)),
    "page_blocks": PaperSet("Page blocks", 5, 5473, None, 10, 5, (156.9, 128.1, 15.8, 49.3)),
    "landsat": PaperSet("Landsat", 6, 4435, 2000, 36, 6, (311.8, 331.0, 42.5, 167.1)),
    "optdigits": PaperSet("Optical digits", 7, 3823, 1797, 64, 10, (698.9, 731.4, 60.0, 198.7)),
    "pendigits": PaperSet("Pen-based digits", 8, 7494, 3498, 16, 10, (866.8, 688.4, 33.9, 138.1)),
}


def paper_set(name: str) -> PaperSet | None:
    """Return what the paper says of a data set, None where it says nothing.

    Examples
    --------
    >>> paper_set("landsat").seconds[3]
    167.1
    """
    return _SETS.get(name)


def paper_sets() -> list[str]:
    """Return the names of the data sets of the paper.

    Examples
    --------
    >>> paper_sets()[:2]
    ['iris', 'glass']
    """
    return list(_SETS)


def paper_cost(method: str, n_rows: float, n_classes: int, power: float) -> float:
    """Cost of a round as the paper counts it, for a weak learner of cost ``n_rows ** power``.

    Powers 1 and 2 are the rows of Table 1. (The paper's formula for BHC has 1 / 2^k nodes at depth
    k; its Table 1, and the text before it, ask for 2^k.)

    Parameters
    ----------
    method : {"MH", "MI", "ECC", "BHC"}
    n_rows : float
    n_classes : int
    power : float

    Returns
    -------
    float

    Examples
    --------
    >>> [paper_cost(method, 10, 4, 1) for method in METHODS]
    [40.0, 40.0, 10.0, 20.0]
    >>> [paper_cost(method, 10, 4, 2) for method in METHODS]
    [1600.0, 400.0, 100.0, 150.0]
    """
    if method == "MH":
        return float((n_classes * n_rows) ** power)
    if method == "MI":
        return float(n_classes * n_rows**power)
    if method == "ECC":
        return float(n_rows**power)
    if method == "BHC":
        depth = round(math.log2(n_classes))
        return float(sum(2**k * (n_rows / 2**k) ** power for k in range(depth)))
    raise PalmetteError(f"method={method!r}: expected one of {', '.join(METHODS)}.")


# ---------------------------------------------------------------------- methods


Make = Callable[[int, int, int | None], Any]


@dataclass(frozen=True)
class Learner:
    """A weak learner.

    Parameters
    ----------
    key : str
    words : str
    is_published : bool
        Whether it is that of the paper: classification trees over all features, BHC's class tree
        from the first class on.
    """

    key: str
    words: str
    is_published: bool


@dataclass(frozen=True)
class Method:
    """A method over a weak learner.

    Parameters
    ----------
    name : {"MH", "MI", "ECC", "BHC"}
    learner : Learner
    make : callable
        Takes rounds, seed and n_jobs and gives the unfitted classifier.
    """

    name: str
    learner: Learner
    make: Make

    @property
    def key(self) -> str:
        """Name of the method and of its weak learner."""
        return f"{self.name}, {self.learner.words}"


# rows are drawn by their weights in both: a full tree that sees all rows makes no mistake on them
LEARNERS = {
    "few": Learner("few", "sqrt(d) features per split", False),
    "all": Learner("all", "all features", True),
}


def find_methods(learner: str = "few") -> list[Method]:
    """Return the four methods over a weak learner.

    Parameters
    ----------
    learner : {"few", "all"}
        Full classification trees of resampled rows; sqrt(d) features compete at a split, or, as
        published, all of them.

    Returns
    -------
    list of Method

    Examples
    --------
    >>> [method.key for method in find_methods("all")]
    ['MH, all features', 'MI, all features', 'ECC, all features', 'BHC, all features']
    """
    if learner not in LEARNERS:
        raise PalmetteError(f"learner={learner!r}: expected one of {', '.join(LEARNERS)}.")
    own = LEARNERS[learner]
    flat = [
        Method(name, own, _flat(f"AdaBoost{name}Classifier", own)) for name in ("MH", "MI", "ECC")
    ]
    return [*flat, Method("BHC", own, _over_a_tree(own))]


def _flat(name: str, learner: Learner) -> Make:
    def make(rounds: int, seed: int, n_jobs: int | None) -> Any:
        from palmette import boosting
        from palmette.weak import CartPerClass

        method = getattr(boosting, name)
        options: dict[str, Any] = {"n_estimators": rounds, "random_state": seed, "n_jobs": n_jobs}
        model = method.preset("adaboost-bhc", **options)
        return model if learner.is_published else model.set_params(weak_learner=CartPerClass())

    return make


def _over_a_tree(learner: Learner) -> Make:
    def make(rounds: int, seed: int, n_jobs: int | None) -> Any:
        from palmette.class_tree._adaboost_bhc import AdaBoostBHCClassifier

        options: dict[str, Any] = {"n_estimators": rounds, "random_state": seed, "n_jobs": n_jobs}
        if learner.is_published:
            return AdaBoostBHCClassifier.preset("paper", **options)
        return AdaBoostBHCClassifier(decoding="greedy", **options)  # signs, as published

    return make


# -------------- error estimation: repeats on the published test part, or repeated cross-validation


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
