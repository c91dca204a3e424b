"""SpectralRouter: the router of the MF-Tree paper, to the letter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import LinearOperator, eigsh

from palmette.core.class_moments import Matrix
from palmette.core.statistics import ClassStatistics
from palmette.routing.base import Router, RoutingProblem
from palmette.routing.node_weights import LinearRoutes
from palmette.routing.options import OptionTable

__all__ = ["SpectralRouter"]

FloatArray = NDArray[np.float64]

_NOTHING = 1e-10  # eigenvalues of as small a share of the first are zero but for rounding
_DENSE_CLASSES = 512  # up to as many, all eigenvectors are as quick as a few


class SpectralRouter(Router):
    """Send a row to the option of the largest projection on the spectrum of class similarity.

    At a node, D holds the inner products of the sums of its classes after centring all rows, and
    an option has one of its leading eigenvectors: the one with the greatest entries at its classes.
    The projections of a row x are G'Sx, with class sums S and eigenvectors G, so that nothing is
    trained. It is kept to reproduce the paper: it errs at every level and depends on the signs of
    eigenvectors, and `LinearRouter` is far better.

    Parameters
    ----------
    one_hot : bool
        Whether to replace the eigenvectors by the options' own classes, as the paper's problem had
        them before it was relaxed.

    References
    ----------
    Liu, Tan, Liu, MF-Tree: matrix factorization tree for large multi-class learning, CIKM 2015.

    Examples
    --------
    >>> SpectralRouter(one_hot=True)
    SpectralRouter(one_hot=True)
    """

    def __init__(self, *, one_hot: bool = False) -> None:
        self.one_hot = one_hot

    def train(self, problem: RoutingProblem) -> LinearRoutes:
        """Project the classes of every node; see `Router.train`."""
        table = problem.table
        statistics = ClassStatistics.gather(
            problem.X, problem.codes, table.n_classes, problem.weights, "mean"
        )
        sums = statistics.sum
        weight = np.asarray(statistics.weight, dtype=np.float64)
        mean = np.asarray(sums.sum(axis=0)).ravel() / weight.sum()
        blocks = [self._project(table, node, sums, weight, mean) for node in range(table.n_nodes)]
        return LinearRoutes(table, blocks, sums.shape[1], "softmax")

    def _project(
        self, table: OptionTable, node: int, sums: Matrix, weight: FloatArray, mean: FloatArray
    ) -> tuple[sparse.csr_array, FloatArray]:
        n_options = int(table.sizes[node])
        if n_options == 1:
            return sparse.csr_array((len(mean), 0)), np.empty(0)
        classes, within = table.family(node)
        here, sizes = sums[classes], weight[classes]
        grouped = within.toarray().T.astype(np.float64)
        G = grouped if self.one_hot else _spectrum(here, sizes, mean, grouped)
        vectors = np.asarray(here.T @ G) - np.outer(mean, sizes @ G)
        return sparse.csr_array(vectors), np.zeros(n_options)


def _spectrum(sums: Matrix, sizes: FloatArray, mean: FloatArray, grouped: FloatArray) -> FloatArray:
    """Leading eigenvectors of the centred class similarity, one an option, in their order."""
    n_classes, n_options = grouped.shape

    def similar(G: FloatArray) -> FloatArray:
        centred = sums.T @ G - np.multiply.outer(mean, sizes @ G)
        product: FloatArray = sums @ centred - np.multiply.outer(sizes, mean @ centred)
        return product

    if n_classes <= max(_DENSE_CLASSES, n_options + 1):
        D = similar(np.eye(n_classes))
        values, vectors = np.linalg.eigh((D + D.T) / 2)
        values, vectors = values[::-1][:n_options], vectors[:, ::-1][:, :n_options]
    else:
        operator = LinearOperator(
            (n_classes, n_classes), matvec=lambda v: similar(v.ravel()), dtype=float
        )
        start = np.random.default_rng(0).normal(size=n_classes)
        values, vectors = eigsh(operator, k=n_options, v0=start)
        values, vectors = values[::-1], vectors[:, ::-1]
    # nothing projects on vectors of no similarity: rounding alone chooses among them
    vectors = np.where(values > _NOTHING * max(values[0], 0.0), vectors, 0.0)
    top = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[top, np.arange(n_options)] < 0, -1.0, 1.0)
    _, order = linear_sum_assignment(-(grouped.T @ np.abs(vectors)))
    return vectors[:, order]
