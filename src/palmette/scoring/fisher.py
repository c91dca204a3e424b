"""FisherScore: spread of the options' means over the spread within options (HierFisher)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.statistics import ClassStatistics
from palmette.scoring.base import FeatureScore, NodeScores, ScoringProblem
from palmette.scoring.each_node import NodeData, each_node

__all__ = ["FisherScore"]

FloatArray = NDArray[np.float64]

_LARGEST = 1e12  # score of a feature that is the same in all rows of an option, but for rounding


class FisherScore(FeatureScore):
    """Fisher score of every feature at every node: HierFisher.

    At a node it is the sum over options of ``n_c (mean_c - mean)^2`` divided by the sum of
    ``n_c variance_c``, with sample weights for counts. It does not depend on the scale of features,
    nor on other features. A constant feature has score 0; one that is constant within every option,
    but not over all, has score 1e12, the largest there is.

    References
    ----------
    Duda, Hart and Stork, "Pattern classification" (2001). Gu, Li and Han, "Generalized Fisher score
    for feature selection", UAI (2011).

    Examples
    --------
    >>> from palmette.core.hierarchy import Hierarchy
    >>> from palmette.core.space import LabelSpace
    >>> h = Hierarchy.star("ab")
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0], [6.0, 1.0]])
    >>> codes = np.array([0, 0, 1, 1], dtype=np.int32)
    >>> problem = ScoringProblem(X, LabelSpace(h, h.leaves), codes)
    >>> [row.tolist() for row in FisherScore().score(problem).rows()]
    [[4.0, 0.0]]
    """

    def score(self, problem: ScoringProblem) -> NodeScores:
        """Score all features at all nodes."""
        return NodeScores(each_node(problem, _node_score), {})


def _node_score(node: NodeData) -> FloatArray:
    stats = ClassStatistics.gather(node.X, node.codes, node.n_options, node.weights, "diagonal")
    between, within = _between(stats), _column_sums(stats.scatter)
    # of a constant feature the means differ by rounding alone, which is nothing beside its size
    size = within + between + stats.weight.sum() * _grand_mean(stats) ** 2
    between = np.where(between <= 1e-24 * size, 0.0, between)
    floor = np.where(between > 0.0, between / _LARGEST, 1.0)
    return np.asarray(between / np.maximum(within, floor))


def _grand_mean(stats: ClassStatistics) -> FloatArray:
    return np.asarray(_column_sums(stats.sum) / stats.weight.sum())


def _between(stats: ClassStatistics) -> FloatArray:
    """Weighted squares of the options' means less the mean of all, of shape (n_features,)."""
    centre, means, weight = _grand_mean(stats), stats.mean, stats.weight
    if not sparse.issparse(means):
        return np.asarray(weight @ (means - centre) ** 2)
    # options without a feature have the mean 0 there: only the others are visited
    means = sparse.csr_array(means)
    of_option = np.repeat(weight, np.diff(means.indptr))
    n_features, total = means.shape[1], weight.sum()
    terms = of_option * (means.data - centre[means.indices]) ** 2
    visited = np.bincount(means.indices, of_option, minlength=n_features)
    others = np.where(visited >= (1.0 - 1e-12) * total, 0.0, total - visited)
    return np.bincount(means.indices, terms, minlength=n_features) + others * centre**2


def _column_sums(matrix: Any) -> FloatArray:
    return np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel()
