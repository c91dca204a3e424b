"""Score answers in two spaces: the collapsed one of the paper, and the true tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.compare import Problem
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.metrics import (
    hierarchical_costs,
    hierarchical_f1_score,
    hierarchical_top_k_accuracy_score,
    hmc_loss,
    multilabel_f1_score,
)
from papers.h_ada_mh.spaces import CollapsedSpace, paths_of

__all__ = [
    "AnswerSpace",
    "CollapsedAnswers",
    "TreeAnswers",
    "errors_of_losses",
    "losses_of_signs",
    "top_k_precision",
]


Flags = NDArray[np.bool_]
_LOWEST = float(np.finfo(np.float64).min)


@dataclass(frozen=True)
class AnswerSpace:
    """The classes of a space and the truth of the test rows.

    Parameters
    ----------
    truth : bool array of shape (n_test, n_classes)
    level : int array of shape (n_classes,)
        From 1.
    costs : float array of shape (n_classes,)
        Eq. 6: not scaled.
    ratio : float
        Negative over positive cells of the training labels: lambda of HMC-loss.
    """

    truth: Flags
    level: NDArray[np.int64]
    costs: NDArray[np.float64]
    ratio: float

    def scores(self, predicted: Flags) -> dict[str, float]:
        """Score answers of shape (n_test, n_classes), classes as they were given, none implied.

        Returns
        -------
        dict
            ``micro_f1`` with the ends of its interval; ``macro_f1`` over the classes that are true
            or predicted in some row, and ``macro_f1_by_level``, its mean over levels; ``h_f``;
            ``hmc_loss`` with costs that sum to one, and ``hmc_loss_unscaled`` with those of Eq. 6
            as they are; ``one_path``, the share of rows whose classes form one path from the top.
        """
        by_level = [
            _macro(self.truth[:, self.level == level], predicted[:, self.level == level])
            for level in range(1, self.level.max() + 1)
        ]
        hmc = self._hmc(predicted)
        low, high = self.micro_f1_interval(predicted)
        return {
            "micro_f1": multilabel_f1_score(self.truth, predicted, average="micro"),
            "micro_f1_low": low,
            "micro_f1_high": high,
            "macro_f1": _macro(self.truth, predicted),
            "macro_f1_by_level": float(np.mean(by_level)),
            "h_f": self.hierarchical_f1(predicted),
            "hmc_loss": hmc / float(self.costs.sum()),
            "hmc_loss_unscaled": hmc,
            "one_path": float(self.is_one_path(predicted).mean()),
        }

    def micro_f1_interval(self, predicted: Flags, n_draws: int = 1000) -> tuple[float, float]:
        """Ends of the middle 95% of the Micro-F1 of test rows drawn anew, with replacement."""
        right = (self.truth & predicted).sum(axis=1)
        listed = self.truth.sum(axis=1) + predicted.sum(axis=1)
        n_rows = len(right)
        drawn = np.random.default_rng(0).integers(n_rows, size=(n_draws, n_rows))
        found = 2 * right[drawn].sum(axis=1) / np.maximum(listed[drawn].sum(axis=1), 1)
        low, high = np.quantile(found, [0.025, 0.975])
        return float(low), float(high)

    def _hmc(self, predicted: Flags) -> float:
        # on a star nothing is implied; its root, which costs nothing, comes first
        star = Hierarchy.star(range(self.truth.shape[1]))
        costs = np.concatenate([[0.0], self.costs])
        return hmc_loss(
            self.truth.astype(np.uint8),
            predicted.astype(np.uint8),
            hierarchy=star,
            ratio=self.ratio,
            costs=costs,
        )

    def level_accuracy(self, predicted: Flags) -> list[float]:
        """Share of rows with exactly the true classes, of those that have any on a level."""
        shares = []
        for level in range(1, self.level.max() + 1):
            true, given = self.truth[:, self.level == level], predicted[:, self.level == level]
            reached = true.any(axis=1) | given.any(axis=1)
            right = (true == given).all(axis=1) & reached
            shares.append(float(right.sum() / reached.sum()) if reached.any() else float("nan"))
        return shares

    def hierarchical_f1(self, predicted: Flags) -> float:
        """H-F (Eq. 14), where nodes are identified by their paths."""
        raise NotImplementedError

    def is_one_path(self, predicted: Flags) -> Flags:
        """Which rows have one path from the top, whole: shape (n_test,)."""
        raise NotImplementedError

    def hierarchical_errors(self, predicted: Flags) -> Flags:
        """Cells that are wrong, or below a wrong one (Eq. 3)."""
        return np.asarray((self.truth != predicted) @ self._above.T > 0)

    @property
    def _above(self) -> NDArray[np.float32]:
        """Which class lies at or above which: (n_classes, n_classes), below by above."""
        raise NotImplementedError


def _macro(truth: Flags, predicted: Flags) -> float:
    return float(multilabel_f1_score(truth, predicted, average="macro", undefined=float("nan")))


@dataclass(frozen=True)
class CollapsedAnswers(AnswerSpace):
    """Answers in the collapsed space, one class on each level.

    Parameters
    ----------
    space : CollapsedSpace
    paths : list of tuples of str
        Of the test rows.
    nodes : set of tuples of str
        All paths of the tree.
    """

    space: CollapsedSpace
    paths: list[tuple[str, ...]]
    nodes: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, problem: Problem, space: CollapsedSpace) -> CollapsedAnswers:
        """Take the truth from a problem."""
        hierarchy = problem.hierarchy
        train = space.indicator(paths_of(problem.y_train, hierarchy))
        positive = int(train.sum(dtype=np.int64))
        paths = [path[: space.n_levels] for path in paths_of(problem.y_test, hierarchy)]
        nodes = (tuple(map(str, hierarchy.path(node))) for node in range(1, hierarchy.n_nodes))
        return cls(
            space.indicator(paths).astype(bool),
            space.level,
            space.costs,
            (train.size - positive) / positive,
            space,
            paths,
            frozenset(nodes),
        )

    def hierarchical_f1(self, predicted: Flags) -> float:
        """H-F of the classes of a row, read as a path."""
        return float(hierarchical_f1_score(self.paths, self.space.paths(predicted)))

    def is_one_path(self, predicted: Flags) -> Flags:
        """Which rows have classes that are a path of the tree."""
        return np.array([path in self.nodes for path in self.space.paths(predicted)])

    @property
    def _above(self) -> NDArray[np.float32]:
        return self.space.above


@dataclass(frozen=True)
class TreeAnswers(AnswerSpace):
    """Answers on the true tree: its nodes but the root are the classes.

    Parameters
    ----------
    hierarchy : Hierarchy
    """

    hierarchy: Hierarchy

    @classmethod
    def of(cls, problem: Problem) -> TreeAnswers:
        """Take the truth from a problem."""
        hierarchy = problem.hierarchy
        train = NodeLabels.encode(problem.y_train, hierarchy).closed[:, 1:]
        positive = int(train.sum())
        return cls(
            NodeLabels.encode(problem.y_test, hierarchy).closed[:, 1:].toarray().astype(bool),
            hierarchy.depth[1:].astype(np.int64),
            hierarchical_costs(hierarchy, normalize=False)[1:],
            (train.shape[0] * train.shape[1] - positive) / positive,
            hierarchy,
        )

    @cached_property
    def _above(self) -> NDArray[np.float32]:
        return np.asarray(self.hierarchy.closure[1:, 1:].toarray(), dtype=np.float32)

    def hierarchical_f1(self, predicted: Flags) -> float:
        """H-F of the nodes and all their ancestors."""
        truth, answer = self.truth.astype(np.uint8), predicted.astype(np.uint8)
        return float(hierarchical_f1_score(truth, answer, hierarchy=self.hierarchy))

    def is_one_path(self, predicted: Flags) -> Flags:
        """Which rows have some node, its ancestors, and nothing beside."""
        whole = (predicted @ self._above > 0).sum(axis=1) == predicted.sum(axis=1)
        deepest = (predicted * self.level).max(axis=1)
        return np.asarray(whole & predicted.any(axis=1) & (deepest == predicted.sum(axis=1)))


def errors_of_losses(space: AnswerSpace, scores: NDArray[np.float64]) -> list[float]:
    """Standard errors, over the test rows, of the two losses of `losses_of_signs`."""
    predicted = scores > 0
    wrong = space.truth != predicted, space.hierarchical_errors(predicted)
    return [float(each.mean(axis=1).std() / np.sqrt(len(each))) for each in wrong]


def losses_of_signs(space: AnswerSpace, scores: NDArray[np.float64]) -> tuple[float, float]:
    """Test errors of the signs of scores.

    Parameters
    ----------
    space : AnswerSpace
    scores : array of shape (n_test, n_classes)

    Returns
    -------
    hamming : float
        Share of cells that are wrong.
    hierarchical : float
        Share of cells that are wrong or below a wrong one (Eq. 2-3).
    """
    predicted = scores > 0
    hamming = float((space.truth != predicted).mean())
    return hamming, float(space.hierarchical_errors(predicted).mean())


def top_k_precision(truth: Flags, scores: Any, n_levels: int) -> list[float]:
    """Share of the k best-scored classes that are true, for k = 1 to the depth.

    Parameters
    ----------
    truth : bool array of shape (n_test, n_classes)
    scores : array of shape (n_test, n_classes)
    n_levels : int

    Returns
    -------
    list of n_levels floats

    Examples
    --------
    >>> top_k_precision(np.array([[True, False, True]]), np.array([[0.9, 0.5, 0.1]]), 2)
    [1.0, 0.5]
    """
    # every class that is true is told, and none is implied; -inf has no place in scores of nodes
    star = Hierarchy.star(range(np.shape(truth)[1]))
    flags, finite = np.asarray(truth).astype(np.uint8), np.nan_to_num(scores, neginf=_LOWEST)
    return [
        hierarchical_top_k_accuracy_score(flags, finite, hierarchy=star, k=k)
        for k in range(1, n_levels + 1)
    ]
