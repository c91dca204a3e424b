"""The weights of HiRR-FS as the authors' program finds them: random start, ten sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from palmette.scoring.base import NodeTask
from papers.hirr_fs.matlab_stream import MatlabStream

__all__ = ["AuthorsWeights", "authors_order", "authors_weights"]

FloatArray = NDArray[np.float64]

LAM = 10.0
_SHORTEST = 1e-8
_SWEEPS = 10


@dataclass
class AuthorsWeights:
    """What the sweeps end with.

    Parameters
    ----------
    weights : list of arrays of shape (n_features, width)
        By task; the first is that of the root.
    objective : list of float
        Equation 20 after every sweep, with Frobenius norms as printed.
    """

    weights: list[FloatArray]
    objective: list[float] = field(default_factory=list)


def authors_weights(
    X: FloatArray,
    tasks: Sequence[NodeTask],
    stream: MatlabStream,
    *,
    parent: float,
    sibling: float,
    lam: float = LAM,
    sweeps: int = _SWEEPS,
) -> AuthorsWeights:
    """Sweep over the root and its internal children, on a tree of two levels.

    The lengths of rows are those before the sweep, all other weights the newest ones. Weights are
    drawn from the stream, for the children first. The root is drawn to its children only where
    `sibling` is above 0: so HiRRpar-FS as it was run differs from its equations.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    tasks : sequence of NodeTask
        The root's and then those of its children, which have none below.
    stream : MatlabStream
    parent, sibling, lam : float
        The alpha, beta and lambda of the paper.
    sweeps : int

    Returns
    -------
    AuthorsWeights
    """
    n_features, width = X.shape[1], max(task.n_options for task in tasks)
    grams, crosses, energies = zip(*(_design(X, task, width) for task in tasks), strict=True)
    children = range(1, len(tasks))
    weights = [np.empty(0)] * len(tasks)
    for t in (*children, 0):
        weights[t] = stream.matrix(n_features, width)
    found = AuthorsWeights(weights)
    for _ in range(sweeps):
        ridges = [0.5 * lam / np.maximum(np.linalg.norm(w, axis=1), _SHORTEST) for w in weights]
        for t in range(len(tasks)):
            matrix, right = grams[t] + np.diag(ridges[t]), crosses[t]
            if t == 0 and sibling > 0:
                matrix = matrix + parent * len(children) * np.eye(n_features)
                right = right + parent * sum(weights[c] for c in children)
            if t > 0:
                matrix = matrix + parent * np.eye(n_features)
                right = right + parent * weights[0]
                for other in children:
                    if other != t and sibling > 0:
                        centred = _centred(weights[other])
                        matrix = matrix + 2.0 * sibling * centred @ centred.T
            weights[t] = solve(matrix, right, assume_a="pos", check_finite=False)
        found.objective.append(_objective(weights, grams, crosses, energies, lam, parent, sibling))
    return found


def authors_order(weights: FloatArray, n_options: int) -> NDArray[np.intp]:
    """Order features by the lengths of their rows, longest first, equal ones by number."""
    return np.argsort(-(weights[:, :n_options] ** 2).sum(axis=1), kind="stable")


def _design(X: FloatArray, task: NodeTask, width: int) -> tuple[FloatArray, FloatArray, float]:
    rows = X[task.rows]
    indicators = np.eye(width)[task.codes]
    return rows.T @ rows, rows.T @ indicators, float(len(rows))


def _centred(weights: FloatArray) -> FloatArray:
    return np.asarray(weights - weights.mean(axis=0))


def _objective(
    weights: Sequence[FloatArray],
    grams: Sequence[FloatArray],
    crosses: Sequence[FloatArray],
    energies: Sequence[float],
    lam: float,
    parent: float,
    sibling: float,
) -> float:
    total = 0.0
    for t, w in enumerate(weights):
        loss = energies[t] - 2.0 * np.sum(w * crosses[t]) + np.sum(w * (grams[t] @ w))
        total += float(loss + lam * np.linalg.norm(w, axis=1).sum())
        if t == 0:
            continue
        total += parent * float(np.sum((w - weights[0]) ** 2))
        for other in range(1, len(weights)):
            if other != t and sibling > 0:
                # tr(K H K' H) is a squared norm of a small matrix
                common: Any = w.T @ _centred(weights[other])
                total += sibling * float(np.sum(common**2))
    return total
