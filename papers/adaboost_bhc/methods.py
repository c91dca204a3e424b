"""The four methods, each over the same weak learner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from palmette.exceptions import PalmetteError

__all__ = ["LEARNERS", "Learner", "Method", "find_methods"]

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
    "few": Learner("few", "sqrt(d) features a split", False),
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

        return getattr(boosting, name)(
            weak_learner=CartPerClass(max_features=None if learner.is_published else "sqrt"),
            n_estimators=rounds,
            random_state=seed,
            n_jobs=n_jobs,
        )

    return make


def _over_a_tree(learner: Learner) -> Make:
    def make(rounds: int, seed: int, n_jobs: int | None) -> Any:
        from palmette.class_tree.adaboost_bhc import AdaBoostBHCClassifier

        options = {"n_estimators": rounds, "random_state": seed, "n_jobs": n_jobs}
        if learner.is_published:
            return AdaBoostBHCClassifier.preset("paper", **options)
        return AdaBoostBHCClassifier(**options)

    return make
