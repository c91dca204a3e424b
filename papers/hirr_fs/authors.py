"""The authors' program and protocol: MATLAB's random numbers, their weights, their folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from palmette.compare import Problem
from palmette.exceptions import PalmetteError
from palmette.feature_selection._base import FeatureScore, NodeTask, ScoringProblem
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.labels._space import LabelSpace
from palmette.metrics import hierarchical_f1_score, tree_induced_error

__all__ = [
    "AUTHORS",
    "AuthorsWeights",
    "FoldScores",
    "MatlabStream",
    "Parity",
    "authors_order",
    "authors_weights",
    "cross_validate",
    "matlab_folds",
    "score_folds",
]

# ------------ random numbers and folds as MATLAB's old generator gives them, after rand('seed', 1)


_FACTOR = 16807
_MODULUS = 2**31 - 1
_FIRST_STATE = 65536  # what the seed 1 stands for


class MatlabStream:
    """The multiplicative congruential generator MCG16807.

    Parameters
    ----------
    state : int
        Before the first number.

    Examples
    --------
    >>> MatlabStream().uniform(2).round(6)
    array([0.512909, 0.460484])
    """

    def __init__(self, state: int = _FIRST_STATE) -> None:
        self._state = state

    def uniform(self, n: int) -> NDArray[np.float64]:
        """Return the next numbers between 0 and 1, of shape (n,)."""
        states = np.empty(n)
        state = self._state
        for place in range(n):
            states[place] = state = state * _FACTOR % _MODULUS
        self._state = state
        return states / _MODULUS

    def matrix(self, n_rows: int, n_columns: int) -> NDArray[np.float64]:
        """Return a matrix of the next numbers, filled column by column."""
        return self.uniform(n_rows * n_columns).reshape(n_columns, n_rows).T

    def permutation(self, n: int) -> NDArray[np.intp]:
        """Return the numbers from 0 to n - 1 in random order."""
        return np.argsort(self.uniform(n), kind="stable")


def matlab_folds(stream: MatlabStream, n_rows: int, n_folds: int) -> NDArray[np.intp]:
    """Divide rows into folds of nearly equal size, as ``crossvalind('Kfold', ...)`` does.

    Parameters
    ----------
    stream : MatlabStream
        Of which ``n_folds + n_rows`` numbers are used.
    n_rows, n_folds : int

    Returns
    -------
    int array of shape (n_rows,)
        Fold of every row, from 0.

    Examples
    --------
    >>> np.bincount(matlab_folds(MatlabStream(), 7, 3))
    array([3, 2, 2])
    """
    in_order = -(-n_folds * np.arange(1, n_rows + 1) // n_rows) - 1  # rounded up
    names = stream.permutation(n_folds)
    fold = np.empty(n_rows, dtype=np.intp)
    fold[stream.permutation(n_rows)] = names[in_order]
    return fold


# --------------------------------------------------------------- weights: random start, ten sweeps


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


# ------------------- protocol: features of the training rows, cross-validation among the test rows


N_FOLDS = 10
Orders = dict[int, NDArray[np.intp]]

# name in the tables: (parent, sibling) of HiRR-FS, or the name of another score
AUTHORS: dict[str, tuple[float, float] | str] = {
    "HierFisher": "hierfisher",
    "HierFSNM": "hierfsnm",
    "HierMRMR": "hiermrmr",
    "Hier-FS": (0.0, 0.0),
    "HiRRpar-FS": (1.0, 0.0),
    "HiRRsib-FS": (0.0, 1.0),
    "HiRRfam-FS": (1.0, 1.0),
}


@dataclass(frozen=True)
class FoldScores:
    """Scores over folds.

    Parameters
    ----------
    f1 : float
        Hierarchical F1 per row, including ancestors and root: mean of the folds' means.
    tie : float
        Mean tree-induced error per row.
    tie_as_printed : float
        Mean of the folds' sums, divided by the rows of all folds: as many times smaller as there
        are folds.
    """

    f1: float
    tie: float
    tie_as_printed: float


class Parity:
    """A problem as the authors' program sees it: raw values, a tree of two levels.

    Parameters
    ----------
    problem : Problem
        With a test part, whose rows all end at leaves below a child of the root.

    Attributes
    ----------
    hierarchy : Hierarchy
    tasks : list of NodeTask
        Of the training rows: the root's, and those of its children.
    """

    def __init__(self, problem: Problem) -> None:
        self.hierarchy = problem.hierarchy
        self._X, self._X_test = np.asarray(problem.X_train), np.asarray(problem.X_test)
        self._y_test = NodeLabels.encode(problem.y_test, self.hierarchy)
        self._y = NodeLabels.encode(problem.y_train, self.hierarchy)
        space = LabelSpace(self.hierarchy, np.unique(self._y.terminals))
        classes = np.searchsorted(space.classes, self._y.terminals).astype(np.int32)
        self.tasks = list(ScoringProblem(self._X, space, classes).tasks())
        above = self.hierarchy.parents[self.nodes]
        if above.tolist() != [-1] + [0] * (len(above) - 1):
            raise PalmetteError(f"{problem.name} has more than two levels, or nodes of one child.")

    @property
    def nodes(self) -> list[int]:
        """The root, and its children that have children."""
        return [task.node for task in self.tasks]

    def stream(self) -> MatlabStream:
        """Return the stream as it is when the weights are drawn: after the folds."""
        stream = MatlabStream()
        stream.uniform(N_FOLDS + len(self._X_test))
        return stream

    def sweep(self, parent: float, sibling: float) -> AuthorsWeights:
        """Find the weights of HiRR-FS on the training rows."""
        return authors_weights(self._X, self.tasks, self.stream(), parent=parent, sibling=sibling)

    def orders(self, method: str, n_wanted: int) -> Orders:
        """Features of every node, best first; as many as are wanted at least.

        Parameters
        ----------
        method : str
            A key of `AUTHORS`.
        n_wanted : int
        """
        setting = AUTHORS[method]
        if isinstance(setting, str):
            return self.orders_by(setting, n_wanted)
        return self.orders_of(self.sweep(*setting))

    def orders_of(self, found: AuthorsWeights) -> Orders:
        """Features of every node by the lengths of their weights."""
        return {
            task.node: authors_order(w, task.n_options)
            for task, w in zip(self.tasks, found.weights, strict=True)
        }

    def orders_by(self, score: str | FeatureScore, n_wanted: int) -> Orders:
        """Features of every node by a score, as `HierarchicalFeatureSelector` takes it."""
        from palmette.feature_selection import HierarchicalFeatureSelector

        selector = HierarchicalFeatureSelector(
            score, hierarchy=self.hierarchy, n_features_to_select=n_wanted
        ).fit(self._X, self._y)
        scores = selector.node_scores_
        return {
            task.node: np.argsort(-scores[[task.node]].toarray()[0], kind="stable")
            for task in self.tasks
        }

    def evaluate(self, orders: Mapping[int, Any], k: int) -> FoldScores:
        """Cross-validate with the k best features of every node."""
        folds = matlab_folds(MatlabStream(), len(self._X_test), N_FOLDS)
        chosen = {node: np.asarray(order[:k]) for node, order in orders.items()}
        truth = self._y_test
        predicted = cross_validate(self._X_test, truth.terminals, folds, self.hierarchy, chosen)
        return score_folds(truth, predicted, folds)


def cross_validate(
    X: NDArray[np.float64],
    truth: NDArray[Any],
    folds: NDArray[np.intp],
    hierarchy: Hierarchy,
    chosen: Mapping[int, NDArray[np.intp]],
) -> NDArray[np.int32]:
    """Return the leaf that linear machines, one per node, lead each row of a left-out fold to.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    truth : int array of shape (n_samples,)
        Leaves.
    folds : int array of shape (n_samples,)
    hierarchy : Hierarchy
    chosen : mapping of node to features
        The root comes first.
    """
    predicted = np.zeros(len(X), dtype=np.int32)
    above = hierarchy.parents
    for fold in np.unique(folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        for node, columns in chosen.items():
            # the root separates its children, and they separate the leaves
            option = above[truth] if node == 0 else truth
            own = train if node == 0 else train[above[truth[train]] == node]
            asked = test if node == 0 else test[predicted[test] == node]
            if not len(asked):
                continue
            machine, names = _fit_machine(X[np.ix_(own, columns)], option[own])
            predicted[asked] = names[machine.predict(X[np.ix_(asked, columns)])]
    return predicted


def _fit_machine(X: NDArray[np.float64], options: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """Fit libsvm with the options in the order of their first rows, in which it breaks ties."""
    from sklearn.svm import SVC

    names, first, codes = np.unique(options, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.argsort(order)
    return SVC(kernel="linear", C=1.0, cache_size=500).fit(X, place[codes]), names[order]


def score_folds(
    truth: NodeLabels, predicted: NDArray[np.int32], folds: NDArray[np.intp]
) -> FoldScores:
    """Score predicted nodes as the authors do, and over all rows.

    Parameters
    ----------
    truth : NodeLabels
    predicted : int array of shape (n_samples,)
        Nodes.
    folds : int array of shape (n_samples,)

    Returns
    -------
    FoldScores
    """
    hierarchy, n_rows = truth.hierarchy, len(truth)
    by_fold, sums = [], []
    for fold in np.unique(folds):
        rows = folds == fold
        pair = [
            NodeLabels.from_terminals(nodes[rows], hierarchy, truth.form).decode()
            for nodes in (truth.terminals, predicted)
        ]
        by_fold.append(
            hierarchical_f1_score(*pair, hierarchy=hierarchy, average="samples", include_root=True)
        )
        sums.append(rows.sum() * tree_induced_error(*pair, hierarchy=hierarchy))
    return FoldScores(
        float(np.mean(by_fold)), float(np.sum(sums) / n_rows), float(np.mean(sums) / n_rows)
    )
