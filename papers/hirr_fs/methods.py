"""The numbers of the paper, its data sets, and the selectors that are compared.

References
----------
H. Zhao, Q. Hu, P. Zhu, Y. Wang, P. Wang (2021). A recursive regularization based feature selection
framework for hierarchical classification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold

from palmette._arrays import take_rows
from palmette.compare import Problem, Split, describe_estimator
from palmette.feature_selection._base import FeatureScore
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

__all__ = [
    "ALL",
    "CHOSEN",
    "DATASETS",
    "FAMILY_ACCURACY",
    "FIVE",
    "FIVE_CHOSEN",
    "FOUR",
    "FRIEDMAN_F",
    "METHODS",
    "NEAR",
    "PAPER_CD",
    "PAPER_CHOSEN",
    "PAPER_DATA",
    "PAPER_F1",
    "PAPER_GRID",
    "PAPER_SECONDS",
    "PAPER_TEST_SECONDS",
    "PAPER_TIE",
    "REFERENCE",
    "SETTLED",
    "STRENGTHS",
    "Maker",
    "Numbers",
    "described",
    "make_parts",
    "numbers_of",
    "read_set",
]

# ---------------------------------------------------------- Tables 2 to 8 as the paper prints them


REFERENCE = (
    "H. Zhao, Q. Hu, P. Zhu, Y. Wang, P. Wang (2021). A recursive regularization based feature "
    "selection framework for hierarchical classification. IEEE TKDE 33."
)

# Table 2: training rows, test rows, features, nodes, leaves, levels
PAPER_DATA = {
    "F194": (7105, 1420, 473, 202, 194, 3),
    "DD": (3020, 605, 473, 32, 27, 3),
    "VOC": (7178, 5105, 1000, 30, 20, 5),
    "Cifar100": (50000, 10000, 4096, 121, 100, 3),
    "SUN": (45109, 22556, 4096, 343, 324, 4),
    "ILSVRC65": (12346, 11845, 4096, 65, 57, 4),
}
# Table 3: seconds of classification with some and with all features
PAPER_TEST_SECONDS = {
    "F194": (0.709, 0.729),
    "DD": (0.858, 0.860),
    "VOC": (256.0, 1041.0),
    "Cifar100": (1172.0, 6552.0),
    "SUN": (779.0, 3925.0),
    "ILSVRC65": (4855.0, 27232.0),
}
# Tables 4, 5 and 7: HierFisher, HierFSNM, HierMRMR, Hier-FS, HiRRfam-FS; None: out of memory
PAPER_TIE = {
    "F194": (0.1945, 0.2123, 0.1800, 0.1746, 0.1730),
    "DD": (0.1355, 0.0886, 0.0919, 0.0850, 0.0836),
    "VOC": (0.2271, 0.2144, 0.2188, 0.2143, 0.2138),
    "Cifar100": (0.1285, None, 0.1273, 0.1269, 0.1272),
    "SUN": (0.1341, None, 0.1322, 0.1280, 0.1271),
    "ILSVRC65": (0.0336, 0.0350, 0.0335, 0.0328, 0.0329),
}
PAPER_F1 = {
    "F194": (0.6758, 0.6462, 0.7000, 0.7089, 0.7117),
    "DD": (0.7741, 0.8524, 0.8468, 0.8584, 0.8606),
    "VOC": (0.6576, 0.6739, 0.6669, 0.6754, 0.6758),
    "Cifar100": (0.7859, None, 0.7879, 0.7885, 0.7880),
    "SUN": (0.8324, None, 0.8348, 0.8400, 0.8411),
    "ILSVRC65": (0.9580, 0.9563, 0.9581, 0.9591, 0.9588),
}
PAPER_SECONDS = {
    "F194": (5.83, 112.6, 50.93, 0.96, 5.59),
    "DD": (0.95, 27.24, 23.87, 0.52, 1.66),
    "VOC": (0.73, 122.1, 251.9, 6.42, 13.4),
    "Cifar100": (14.8, None, 24162.0, 597.0, 8763.0),
    "SUN": (29.7, None, 32953.0, 525.0, 2195.0),
    "ILSVRC65": (6.37, 1042.0, 9574.0, 227.0, 450.0),
}
FRIEDMAN_F = 21.94  # with the ranks of Table 5
PAPER_CD = 2.046  # at .1

# Table 6: features 1 to 473 of the root and of its four children, in the order of their numbers
PAPER_CHOSEN = {
    name: tuple(int(feature) for feature in features.split())
    for name, features in {
        "root": "425 426 430 433 437 441 443 444 445 446 449 450 451 452 454 455 "
        "457 458 460 461 463 464 467 469",
        "node 1": "421 422 423 424 425 426 427 428 429 431 433 434 435 436 439 440 "
        "448 454 457 463 464 467 468 469",
        "node 2": "422 423 425 427 428 430 431 432 433 434 435 436 437 438 451 455 "
        "458 460 463 464 465 467 469 470",
        "node 3": "421 422 423 424 426 427 428 429 430 432 434 435 439 440 446 448 "
        "449 451 452 453 457 460 467 470",
        "node 4": "421 422 424 425 426 431 433 434 437 440 449 451 452 453 454 456 "
        "457 458 462 463 465 466 469 470",
    }.items()
}

STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)

# bars that are ours: the paper has no figures for "the same" and "converged"
NEAR = 0.005  # of F1
SETTLED = 1e-3  # of the lowest objective found
# Table 8(b), DD: a row for every beta, a column for every alpha, as printed
PAPER_GRID = (
    (0.8601, 0.8601, 0.8601, 0.8601, 0.8601),
    (0.8601, 0.8601, 0.8601, 0.8601, 0.8601),
    (0.8601, 0.8601, 0.8601, 0.8601, 0.8601),
    (0.8601, 0.8601, 0.8601, 0.8601, 0.8601),
    (0.5851, 0.5851, 0.5851, 0.7731, 0.8292),
)


# ---------------------------------------------------------------------- selectors


Maker = Callable[[], FeatureScore | None]

ALL = "all features"
FAMILY_ACCURACY = 1e-3  # of coupled nodes: with the usual 1e-6 texts take minutes
FIVE = ("HierFisher", "HierFSNM", "HierMRMR", "Hier-FS", "HiRRfam-FS")  # of Tables 4 and 5
CHOSEN = "HiRRfam-FS, chosen"  # relative strengths, by cross-validation within training rows
FIVE_CHOSEN = (*FIVE[:4], CHOSEN)
FOUR = ("Hier-FS", "HiRRpar-FS", "HiRRsib-FS", "HiRRfam-FS")  # of Figure 9


def _fisher() -> FeatureScore:
    from palmette.feature_selection._univariate import FisherScore

    return FisherScore()


def _fsnm() -> FeatureScore:
    from palmette.feature_selection._fsnm import FsnmScore

    return FsnmScore()


def _mrmr() -> FeatureScore:
    from palmette.feature_selection._mrmr import MrmrScore

    return MrmrScore()


def _hirr(name: str) -> Maker:
    def make() -> FeatureScore:
        from palmette.feature_selection._hirr import HirrScore

        made: FeatureScore = HirrScore.preset(f"{name}-scaled")
        return made

    return make


METHODS: dict[str, Maker] = {
    ALL: lambda: None,
    "HierFisher": _fisher,
    "HierFSNM": _fsnm,
    "HierMRMR": _mrmr,
    "Hier-FS": _hirr("Hier-FS"),
    "HiRRpar-FS": _hirr("HiRRpar-FS"),
    "HiRRsib-FS": _hirr("HiRRsib-FS"),
    "HiRRfam-FS": _hirr("HiRRfam-FS"),
}


def described(score: FeatureScore | None) -> str | None:
    """Write a score with all parameters: a default that changes makes another result."""
    from sklearn import config_context

    with config_context(print_changed_only=False):
        return None if score is None else describe_estimator(score)


# ---------------------------------------------------------------------- data sets


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

    Dense features are standardized by the training rows of each part.

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
    "voc": _plain,  # the rest are copies of a reader: docs/data.md
    "cifar100": _plain,
    "sun": _plain,
    "ilsvrc65": _plain,
    "protein_f194": _plain,
}
DATASETS = tuple(_READ)
