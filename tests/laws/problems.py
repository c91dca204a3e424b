"""Small problems that the laws are tried on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from palmette import Hierarchy

__all__ = [
    "DAG",
    "DAG_SETS",
    "PATHS",
    "PATH_SETS",
    "TREE",
    "along",
    "framed",
    "near",
    "problem",
    "several",
    "several_apart",
    "well_apart",
]

# unequal depths, an only child, an inner label ("b"), a name under two parents
PATHS = [
    ("a", "x"),
    ("a", "y", "deep"),
    ("a", "y", "deeper"),
    ("b", "x"),
    ("b", "z"),
    ("b",),
    ("c",),
    ("d", "only"),
]
TREE = Hierarchy.from_paths(PATHS)


# their products in single precision differ in the seventh digit by the number of rows
SINGLE_PRECISION = {
    "CoherentBlendClassifier",
    "CoherentKernelClassifier",
    "CoherentNetworkClassifier",
}


def near(estimator: BaseEstimator) -> dict[str, float]:
    """How near the probabilities of the same rows are, whatever rows they are asked with."""
    if type(estimator).__name__ in SINGLE_PRECISION:
        return {"rtol": 0.0, "atol": 2e-6}
    return {"rtol": 1e-9}


def along(estimator: BaseEstimator, hierarchy: Any, **parameters: Any) -> BaseEstimator:
    """Return an unfitted copy that takes a hierarchy, under the name that it has for it."""
    name = "hierarchy" if "hierarchy" in estimator.get_params() else "tree"
    return clone(estimator).set_params(**{name: hierarchy}, **parameters)


def problem(n_each: int = 12, seed: int = 0) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Rows scattered around a centre for each label of `PATHS`, so that no model is sure of all."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=2.0, size=(len(PATHS), 4))
    X = np.repeat(centres, n_each, axis=0) + rng.normal(size=(n_each * len(PATHS), 4))
    y = [path for path in PATHS for _ in range(n_each)]
    order = rng.permutation(len(y))
    return X[order], [y[i] for i in order]


def well_apart() -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Labels so far apart that every sane model gets them right: a feature for each."""
    codes = np.repeat(np.arange(len(PATHS)), 6)
    return 10.0 * np.eye(len(PATHS))[codes], [PATHS[c] for c in codes]


def framed() -> tuple[pd.DataFrame, pd.Series]:
    """Return the rows of `well_apart` as a frame, and their labels as strings with its index."""
    X, paths = well_apart()
    index = np.arange(len(X)) + 9
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])], index=index)
    return frame, pd.Series(["/".join(path) for path in paths], index=index)


# several paths, some of them ending inside; none; one
PATH_SETS = [
    {("a", "x")},
    {("a", "x"), ("b", "z")},
    {("b",)},
    set(),
    {("c",), ("a", "y", "deep")},
    {("a", "y", "deep"), ("a", "y", "deeper"), ("d", "only")},
    {("b", "x"), ("b", "z")},
]

# "x" has two parents at one depth, "deep" two at different depths, "y" the root and another
DAG = Hierarchy.from_edges(
    [
        *[("r", "a"), ("r", "b"), ("r", "c"), ("r", "y"), ("a", "x"), ("b", "x"), ("c", "y")],
        *[("x", "deep"), ("c", "deep"), ("a", "z"), ("y", "end")],
    ]
)
DAG_SETS = [{"x"}, {"deep"}, {"z", "b"}, {"end"}, set(), {"y", "x"}, {"c", "z"}, {"b"}]


def several_apart(sets: list[set]) -> tuple[np.ndarray, list[set]]:
    """Label sets so far apart that every sane model gets them right: a feature for each."""
    codes = np.repeat(np.arange(len(sets)), 6)
    return 10.0 * np.eye(len(sets))[codes], [sets[c] for c in codes]


def several(sets: list[set], n_each: int = 12, seed: int = 0) -> tuple[np.ndarray, list[set]]:
    """Rows scattered around a centre for each label set, so that no model is sure of all."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=2.0, size=(len(sets), 4))
    codes = rng.permutation(np.repeat(np.arange(len(sets)), n_each))
    return centres[codes] + rng.normal(size=(len(codes), 4)), [sets[c] for c in codes]
