"""The methods, the data sets with the cells that count, and the published scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.compare import Problem
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

__all__ = [
    "BLEND",
    "BOOSTING",
    "DATASETS",
    "EQUAL",
    "H_ADA",
    "MEMBERS",
    "METHODS",
    "NAMESPACES",
    "PER_NODE",
    "PUBLISHED",
    "REFERENCE",
    "RIVALS",
    "Method",
    "MultipathSet",
    "find_methods",
    "read_set",
    "set_of",
]

# ------------------ published micro AU(PRC) on test rows, learned from training and validation rows


REFERENCE = (
    "E. Giunchiglia, T. Lukasiewicz (2020). Coherent hierarchical multi-label classification "
    "networks. NeurIPS 33. With HMCN-F (Wehrmann et al., 2018) and CLUS-ENS (Schietgat et al., "
    "2010)."
)

RIVALS = ("CLUS-ENS", "HMCN-F", "C-HMCNN")

# CLUS-ENS, HMCN-F, C-HMCNN; None where no figure is at hand
PUBLISHED: dict[str, tuple[float | None, float | None, float]] = {
    "cellcycle_fun": (0.227, 0.252, 0.255),
    "derisi_fun": (0.188, 0.193, 0.195),
    "eisen_fun": (0.271, 0.298, 0.306),
    "gasch1_fun": (0.267, 0.284, 0.286),
    "spo_fun": (0.210, 0.211, 0.215),
    "cellcycle_go": (None, 0.400, 0.413),
    "derisi_go": (None, None, 0.370),
    "eisen_go": (None, None, 0.455),
    "gasch1_go": (None, None, 0.436),
    "spo_go": (None, None, 0.382),
    "enron_corr": (None, None, 0.756),
    "diatoms": (None, None, 0.758),
    "imclef07a": (None, None, 0.956),
    "imclef07d": (None, None, 0.927),
}
DATASETS = tuple(PUBLISHED)


# ---------------------------------------------------------------------- methods


Make = Callable[[Hierarchy | None, int, int | None], Any]

BLEND, EQUAL, BOOSTING, H_ADA = "blend", "blend, equal", "boosting", "H-Ada.MH"
PER_NODE = "logistic per node"
MEMBERS = ("forest", "kernel", "network")  # of the equal blend, which is fitted once for them all


@dataclass(frozen=True)
class Method:
    """A classifier for several paths per row.

    Parameters
    ----------
    name : str
    make : callable
        Takes (hierarchy, seed, n_jobs) and gives a classifier.
    """

    name: str
    make: Make


def _blend(weights: str) -> Make:
    def make(hierarchy: Hierarchy | None, seed: int, n_jobs: int | None) -> Any:
        from palmette.multipath import CoherentBlendClassifier

        return CoherentBlendClassifier(
            weights=weights, hierarchy=hierarchy, n_jobs=n_jobs, random_state=seed
        )

    return make


def _boosting(hierarchy: Hierarchy | None, seed: int, n_jobs: int | None) -> Any:
    from palmette.boosting import HierarchicalBoostingClassifier

    return HierarchicalBoostingClassifier(
        hierarchy=hierarchy, decoding=0.5, n_jobs=n_jobs, random_state=seed
    )


def _h_ada_mh(hierarchy: Hierarchy | None, seed: int, n_jobs: int | None) -> Any:
    """H-Ada.MH as published: stumps, weights of Eq. 5-6, the mask of Eq. 7, signs (Eq. 12)."""
    from palmette.boosting import HierarchicalAdaBoostClassifier

    return HierarchicalAdaBoostClassifier.preset(
        "paper", hierarchy=hierarchy, n_estimators=200, n_jobs=n_jobs, random_state=seed
    )


def _structured_forest(hierarchy: Hierarchy | None, seed: int, n_jobs: int | None) -> Any:
    from palmette.forest import StructuredForestClassifier

    return StructuredForestClassifier(
        hierarchy=hierarchy, decoding=0.5, n_jobs=n_jobs, random_state=seed
    )


def _per_node(hierarchy: Hierarchy | None, seed: int, n_jobs: int | None) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from palmette.local import LocalPerNodeClassifier

    logistic = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=300))
    return LocalPerNodeClassifier(
        logistic, hierarchy=hierarchy, decoding=0.5, n_jobs=n_jobs, random_state=seed
    )


METHODS = (
    Method(BLEND, _blend("validation")),
    Method(EQUAL, _blend("equal")),
    Method(BOOSTING, _boosting),
    Method(H_ADA, _h_ada_mh),
    Method("structured forest", _structured_forest),
    Method(PER_NODE, _per_node),
)


def find_methods(quick: bool) -> tuple[Method, ...]:
    """Return the methods; for a quick look only the blends and their members."""
    return METHODS[:2] if quick else METHODS


# ---------------------------------------------------------------------- data sets


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
    """Read a data set of the data home; validation rows are learned from, too."""
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
