"""The data sets: rows to learn from, rows to be asked about, and the cells that count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.compare import Problem
from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels
from palmette.exceptions import PalmetteError

__all__ = ["NAMESPACES", "MultipathSet", "read_set", "set_of"]

# roots of the three parts of the Gene Ontology: true of nearly every row, so nothing to tell
NAMESPACES = ("GO0003674", "GO0005575", "GO0008150")


@dataclass(frozen=True, eq=False)
class MultipathSet:
    """A problem as its measure sees it.

    Parameters
    ----------
    problem : Problem
        With sets of labels, and a test part.
    nodes : int array of shape (n_counted,)
        Nodes that count in the measure.
    truth : sparse bool array of shape (n_test_rows, n_counted)
    left_out : tuple of str
        Names of the nodes that do not count, the root not named.
    """

    problem: Problem
    nodes: NDArray[np.int64]
    truth: sparse.csr_array
    left_out: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the data set."""
        return self.problem.name

    @property
    def hierarchy(self) -> Hierarchy:
        """Of the problem."""
        return self.problem.hierarchy


def read_set(name: str) -> MultipathSet:
    """Read a data set of the data home; validation rows are learnt from, too."""
    from palmette.compare import find_problem

    return set_of(find_problem(name))


def set_of(problem: Problem) -> MultipathSet:
    """Make labels sets, take categories apart, and find the cells that count.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    MultipathSet
    """
    if not problem.has_split:
        raise PalmetteError(f"{problem.name} has no test part: expected a published split.")
    hierarchy = problem.hierarchy
    X_train, X_test = _categories_apart(problem)
    sets = Problem(
        *(problem.name, hierarchy, X_train, _as_sets(problem.y_train)),
        *(X_test, _as_sets(problem.y_test)),
    )
    left_out = tuple(name for name in NAMESPACES if name in hierarchy)
    dropped = [0, *(int(node) for node in hierarchy.index(list(left_out)))]
    nodes = np.setdiff1d(np.arange(hierarchy.n_nodes), dropped)
    closed = NodeLabels.encode(sets.y_test, hierarchy).closed
    return MultipathSet(sets, nodes, sparse.csr_array(closed[:, nodes]), left_out)


def _categories_apart(problem: Problem) -> tuple[Any, Any]:
    """Rows with a 0/1 column for every category; a missing one is none of them."""
    categorical = problem.categorical
    if categorical is None or not np.any(categorical):
        return problem.X_train, problem.X_test
    numbers = np.flatnonzero(~np.asarray(categorical))
    parts = [[X[:, numbers]] for X in (problem.X_train, problem.X_test)]
    for j in np.flatnonzero(categorical):
        column = problem.X_train[:, j]
        values = np.unique(column[~np.isnan(column)])
        for part, X in zip(parts, (problem.X_train, problem.X_test), strict=True):
            part.append((X[:, [j]] == values).astype(np.float64))
    return np.hstack(parts[0]), np.hstack(parts[1])


def _as_sets(y: Iterable[Any]) -> list[Any]:
    """Labels as sets, one of one label where a row has one path."""
    return [row if isinstance(row, set | frozenset) else frozenset([_label(row)]) for row in y]


def _label(row: Any) -> Any:
    return tuple(row) if isinstance(row, list | np.ndarray) else row
