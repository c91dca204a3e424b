"""The data sets, their features made ready, their parts, and how many features are chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold

from palmette.compare import Problem, Split
from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels
from palmette.core.rows import take_rows

__all__ = ["DATASETS", "Numbers", "make_parts", "numbers_of", "read_set"]

_GROUPS = ("comp", "rec", "sci", "talk")  # of newsgroups; the other three stand alone
_PROTEIN_FEATURES = 40  # as in the paper: "approximately 10 percent"
_TEXT_FEATURES = 300  # as in the paper, of 26,214
_SHARE = 0.2  # as in the paper, for all others
_SHARES = (0.05, 0.1, 0.2, 0.35, 0.5)
_TEXT_NUMBERS = (30, 100, 300, 1000)


@dataclass(frozen=True)
class Numbers:
    """How many features are chosen for every node.

    Parameters
    ----------
    k : int
        In the tables.
    grid : tuple of int
        In the figures, ascending; k is among them.
    """

    k: int
    grid: tuple[int, ...]


def numbers_of(problem: Problem) -> Numbers:
    """Return the numbers of features of a set: 40 of proteins, 300 of texts, else a fifth.

    Examples
    --------
    >>> numbers_of(Problem("toy", Hierarchy.star(["a", "b"]), np.zeros((2, 20)), ["a", "b"]))
    Numbers(k=4, grid=(1, 2, 4, 7, 10))
    """
    n_features = int(problem.X_train.shape[1])
    if sparse.issparse(problem.X_train):
        counts, k = [n for n in _TEXT_NUMBERS if n < n_features], _TEXT_FEATURES
    else:
        shares = [share for share in _SHARES if share != _SHARE]
        k = round(_SHARE * n_features)
        if "protein" in problem.name:
            shares, k = [share for share in _SHARES if share != 0.1], _PROTEIN_FEATURES
        counts = [round(share * n_features) for share in shares]
    k = min(max(k, 1), n_features)
    return Numbers(k, tuple(sorted({k, *(max(count, 1) for count in counts)})))


def make_parts(problem: Problem, seed: int) -> Iterator[Split]:
    """Yield the published parts, or those of cross-validation: 10-fold of proteins, else 3-fold.

    Dense features are standardised by the training rows of each part.

    Parameters
    ----------
    problem : Problem
    seed : int

    Yields
    ------
    Split
    """
    if problem.has_split:
        X, X_test = _scaled(problem.X_train, problem.X_test)
        yield Split("published", seed, None, X, problem.y_train, X_test, problem.y_test)
        return
    y = np.asarray(problem.y_train)
    n_folds = 10 if "protein" in problem.name else 3
    folds = KFold(n_folds, shuffle=True, random_state=seed)  # many classes have a row only
    for fold, (train, test) in enumerate(folds.split(y)):
        X, X_test = _scaled(*(take_rows(problem.X_train, rows) for rows in (train, test)))
        yield Split(f"fold-{fold}", seed, 1 / n_folds, X, y[train], X_test, y[test])


def _scaled(X: Any, X_test: Any) -> tuple[Any, Any]:
    from sklearn.preprocessing import StandardScaler

    if sparse.issparse(X):
        return X, X_test
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test)


# ---------------------------------------------------------------------- reading


def read_set(name: str) -> Problem:
    """Read a data set of the data home.

    Parameters
    ----------
    name : str
        One of `DATASETS`.

    Returns
    -------
    Problem
        With numbers as features, without a test part where there is none.
    """
    from palmette.datasets import fetch

    return _READ[name](name, fetch(name))


def _plain(name: str, bunch: Any) -> Problem:
    if "X_train" in bunch:
        X, X_test = (np.nan_to_num(np.asarray(part)) for part in (bunch.X_train, bunch.X_test))
        return Problem(name, bunch.hierarchy, X, bunch.y_train, X_test, bunch.y_test)
    part = "" if "X" in bunch else "_test"  # of one set the training rows are missing
    X = bunch[f"X{part}"]
    X = sparse.csr_array(X) if sparse.issparse(X) else np.nan_to_num(np.asarray(X))
    y = np.asarray(bunch[f"y{part}"])
    # one image of saiapr5000 is labelled with the root: it has no class to learn
    named = np.flatnonzero(NodeLabels.encode(y, bunch.hierarchy).terminals > 0)
    return Problem(name, bunch.hierarchy, take_rows(X, named), y[named])


def _texts(name: str, bunch: Any) -> Problem:
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True, min_df=2)
    X, X_test = words.fit_transform(bunch.X_train), words.transform(bunch.X_test)
    return Problem(
        name,
        bunch.hierarchy,
        sparse.csr_array(X),
        _names(bunch.y_train),
        sparse.csr_array(X_test),
        _names(bunch.y_test),
    )


def _newsgroups(name: str, bunch: Any) -> Problem:
    """Give the groups that stand alone no parent of their own: the paper's tree of 25 nodes."""
    flat = _texts(name, bunch)
    paths = []
    for leaf in sorted(set(flat.y_train)):
        group = leaf.partition(".")[0]
        paths.append((group, leaf) if group in _GROUPS else (leaf,))
    tree = Hierarchy.from_paths(paths)
    return Problem(name, tree, flat.X_train, flat.y_train, flat.X_test, flat.y_test)


def _names(y: Any) -> NDArray[np.object_]:
    return np.array([str(label) for label in y], dtype=object)


_READ: dict[str, Callable[[str, Any], Problem]] = {
    "protein_dd": _plain,
    "protein_f194_test_only": _plain,
    "saiapr5000": _plain,
    "bridges": _plain,
    "imclef07a": _plain,
    "imclef07d": _plain,
    "diatoms": _plain,
    "news20_951": _plain,
    "20newsgroups_bydate": _newsgroups,
    "clinc150": _texts,
}
DATASETS = tuple(_READ)
