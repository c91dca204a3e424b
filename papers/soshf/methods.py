"""The methods with the settings of the paper, newer ones, and the data sets as it prepares them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.compare import Problem, Split, describe_estimator, join_rows
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import (
    describe_labels,
    proportion_of_distinct_label_sets,
    within_label_imbalance_ratios,
)
from papers.soshf.published import SHORT, PaperSet, column_of

__all__ = [
    "DATASETS",
    "DEFAULT",
    "METHODS",
    "OF_PAPER",
    "Method",
    "Options",
    "SetFacts",
    "describe",
    "even_split",
    "facts_of",
    "folds_of",
    "prepare",
    "read_set",
    "short_name",
]

# ---------------------------------------------------------------------- methods


DEFAULT = "ours"
_QUICK_FOLDS = 2
_FEW_TREES = {"estimator__n_estimators": 15}  # of a forest per label, 50 in the paper
_FEW_ROUNDS = {"estimator__max_iter": 30}
_LARGE = ("tmc2007_500", "mediamill")  # where the paper's COCOA has fewer trees


@dataclass(frozen=True)
class Options:
    """What estimators are made with.

    Parameters
    ----------
    dataset : str
    seed : int
    n_jobs : int or None
    quick : bool
        Whether the slowest ensembles are smaller, and thresholds are tuned with two folds.
    """

    dataset: str = ""
    seed: int = 0
    n_jobs: int | None = None
    quick: bool = False

    @property
    def shared(self) -> dict[str, Any]:
        """Parameters that most estimators have."""
        return {"n_jobs": self.n_jobs, "random_state": self.seed}


@dataclass(frozen=True)
class Method:
    """A method.

    Parameters
    ----------
    key : str
        As in the paper's Table 2.
    words : str
        What it is.
    make : callable
        Takes Options and gives an estimator that is not fitted.
    folds : int
        Of the cross-validation that its thresholds are tuned by; 0 where the estimator tunes them
        itself, on out-of-bag scores, as in the paper.
    """

    key: str
    words: str
    make: Callable[[Options], Any]
    folds: int = 3


def folds_of(method: Method, options: Options) -> int:
    """Return the folds that the thresholds of a method are tuned with."""
    return min(method.folds, _QUICK_FOLDS) if options.quick else method.folds


def describe(method: Method, options: Options) -> str:
    """Write an estimator with all parameters: a default that changes makes another result.

    What it prints is left out, and the number of its threads, which changes no result.
    """
    from sklearn import config_context

    with config_context(print_changed_only=False):
        return re.sub(r"(, verbose|, n_jobs)=-?\w+", "", describe_estimator(method.make(options)))


# ---------------------------------------------------------------------- makers


def _relevance(preset: str, **quick: Any) -> Callable[[Options], Any]:
    """Return the maker of a preset, with some parameters changed for a quick look."""

    def make(options: Options) -> Any:
        from palmette.multilabel import BinaryRelevance

        model = BinaryRelevance.preset(preset, **options.shared)
        return model.set_params(**quick) if options.quick else model

    return make


def _structured(preset: str | None) -> Callable[[Options], Any]:
    def make(options: Options) -> Any:
        from palmette.forest import StructuredForestClassifier

        if preset is None:
            return StructuredForestClassifier(**options.shared)
        return StructuredForestClassifier.preset(preset, **options.shared)

    return make


# methods of the paper that it takes from MULAN, with the settings of that library


def _ml_knn(options: Options) -> Any:
    from palmette.multilabel import MLkNN

    return MLkNN.preset("mulan", n_jobs=options.n_jobs)


def _iblr(options: Options) -> Any:
    from palmette.multilabel import IBLR

    return IBLR.preset("mulan", n_jobs=options.n_jobs)


def _ecc(options: Options) -> Any:
    from palmette.multilabel import ChainEnsemble

    model = ChainEnsemble.preset("soshf", **options.shared)
    return model.set_params(n_chains=10) if options.quick else model


def _clr(options: Options) -> Any:
    from palmette.multilabel import CalibratedLabelRanking

    return CalibratedLabelRanking.preset("mulan", **options.shared)


def _rakel(options: Options) -> Any:
    from palmette.multilabel import RAkEL

    return RAkEL.preset("mulan", **options.shared)


def _homer(options: Options) -> Any:
    from palmette.multilabel import HOMER

    return HOMER.preset("soshf", **options.shared)


def _cocoa(options: Options) -> Any:
    from palmette.multilabel import COCOA

    model = COCOA.preset("soshf", **options.shared)
    if options.quick:
        return model.set_params(n_couplings=3, n_models=3)
    return model.set_params(n_models=10) if options.dataset in _LARGE else model


def _trees(kind: str) -> Callable[[Options], Any]:
    def make(options: Options) -> Any:
        from palmette.multilabel import TreesMultilabel

        return TreesMultilabel(kind, n_estimators=200, **options.shared)

    return make


_OF_PAPER = (
    Method("svm-cost", "linear SVM per label, weighed by class", _relevance("svm-cost")),
    Method("svm-down", "linear SVM per label, larger class thinned", _relevance("svm-down")),
    Method("svm-adasyn", "linear SVM per label, ADASYN", _relevance("svm-adasyn")),
    Method(
        "rf-cost",
        "forest of 50 trees per label (quick: 15), out-of-bag thresholds",
        _relevance("rf-cost", **_FEW_TREES),
        0,
    ),
    Method(
        "rf-down", "forest per label, larger class thinned", _relevance("rf-down", **_FEW_TREES)
    ),
    Method("rf-adasyn", "forest per label, ADASYN", _relevance("rf-adasyn", **_FEW_TREES)),
    Method("ml-knn", "ML-kNN, 10 neighbours", _ml_knn),
    Method("iblr", "IBLR, 10 neighbours", _iblr),
    Method("ecc", "classifier chains, 50 (quick: 10)", _ecc),
    Method("clr", "calibrated label ranking", _clr),
    Method("rakel", "random k-labelsets", _rakel),
    Method("homer", "HOMER, 4 balanced clusters, label ranking in each", _homer),
    Method("cocoa", "COCOA, 10 couplings of 50 models, of 10 on TMC (quick: 3 of 3)", _cocoa),
    Method("sf", "structured forest, one feature per split", _structured("sf"), 0),
    Method("sf-lr", "structured forest, logistic splits", _structured("sf-lr"), 0),
    Method("sf-lr-cs", "the same, clusters by rarity", _structured("sf-lr-cs"), 0),
    Method("sf-h", "structured forest, sparse Hellinger splits", _structured("sf-h"), 0),
    Method("sf-h-cs", "the same, clusters by rarity: SOSHF", _structured("sf-h-cs"), 0),
)
_BEYOND = (
    Method(DEFAULT, "StructuredForestClassifier, its defaults", _structured(None), 0),
    Method("extra-trees", "200 multi-output extra trees", _trees("extra_trees"), 0),
    Method("forest", "200 multi-output trees of a random forest", _trees("random_forest"), 0),
    Method(
        "boosting",
        "gradient boosting per label, 100 rounds (quick: 30)",
        _relevance("hist-gradient-boosting", **_FEW_ROUNDS),
    ),
)
METHODS = {method.key: method for method in (*_OF_PAPER, *_BEYOND)}
OF_PAPER = tuple(method.key for method in _OF_PAPER)


# ----------------------------------------------- data sets: labels, features, even splits, Table 1


_MIN_POSITIVES = 20  # the paper does not say so, but its Table 1 comes out with it and not without
_MAX_RATIO = 50.0
_RARE = 0.01  # of the rows

# whether features are numbers, and which are kept by their share of non-zero rows: Corel5k's all
# are, as Table 1 has them
_KINDS: Mapping[str, tuple[bool, str]] = {
    "cal500": (True, "all"),
    "emotions": (True, "all"),
    "medical": (False, "from 1%"),
    "enron": (False, "from 1%"),
    "scene": (True, "all"),
    "yeast": (True, "all"),
    "corel5k": (False, "all"),
    "rcv1subset1_top944": (False, "above 1%"),  # 0/1 in this version
    "rcv1subset2_top944": (False, "above 1%"),
    "tmc2007_500": (False, "from 1%"),
    "bibtex": (False, "from 1%"),  # these two are not in the paper
    "delicious": (False, "from 1%"),
    "rcv1subset1": (True, "above 1%"),  # the rest are copies of a reader: docs/data.md
    "rcv1subset2": (True, "above 1%"),
    "tmc2007": (False, "from 1%"),
    "mediamill": (True, "all"),
}
DATASETS = tuple(_KINDS)


def short_name(name: str) -> str:
    """Return the name of a set at the head of a column.

    Examples
    --------
    >>> short_name("cal500"), short_name("bibtex")
    ('CAL', 'bibtex')
    """
    return SHORT.get(column_of(name), name)


def read_set(name: str) -> Problem:
    """Read a data set of the data home and prepare it.

    Parameters
    ----------
    name : str
        One of `DATASETS`.

    Returns
    -------
    Problem
        All rows as training rows; ``categorical`` marks the columns that are not standardized.
    """
    from palmette.datasets import fetch

    bunch = fetch(name)
    if "X_train" in bunch:
        X = join_rows(bunch.X_train, bunch.X_test)
        Y = join_rows(bunch.y_train, bunch.y_test)
    else:
        X, Y = bunch.X, bunch.y
    is_numeric, kept = _KINDS[name]
    return prepare(name, X, Y, bunch.label_names, is_numeric=is_numeric, kept_features=kept)


def prepare(
    name: str, X: Any, Y: Any, label_names: Any, *, is_numeric: bool, kept_features: str = "all"
) -> Problem:
    """Keep the labels and features that the paper keeps.

    Parameters
    ----------
    name : str
    X : array or sparse matrix of shape (n_samples, n_features)
    Y : 0/1 matrix of shape (n_samples, n_labels)
    label_names : sequence of length n_labels
    is_numeric : bool
        Whether features are to be standardized, by the training rows of each split.
    kept_features : {"all", "from 1%", "above 1%"}
        By the share of rows in which they are not zero.

    Returns
    -------
    Problem
        Labels with at least 20 rows and an imbalance ratio of 50 at most.
    """
    Y = sparse.csr_array(Y).astype(bool)
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    kept = (counts >= _MIN_POSITIVES) & (within_label_imbalance_ratios(Y) <= _MAX_RATIO)
    if kept_features != "all":  # before rare words take memory
        is_common = np.greater_equal if kept_features == "from 1%" else np.greater
        counted = (X != 0).sum(axis=0) if sparse.issparse(X) else np.count_nonzero(X, axis=0)
        X = X[:, np.flatnonzero(is_common(np.asarray(counted).ravel(), _RARE * X.shape[0]))]
    X = X.toarray() if sparse.issparse(X) else X
    X = np.ascontiguousarray(X, dtype=np.float64)
    names = [str(label) for label in np.asarray(label_names)[kept]]
    categorical = np.full(X.shape[1], not is_numeric)
    labels = Y[:, np.flatnonzero(kept)].toarray().astype(np.int8)
    return Problem(name, Hierarchy.star(names), X, labels, categorical=categorical)


def even_split(problem: Problem, number: int, seed: int) -> Split:
    """Return one of the random splits into halves, numbers standardized by the training rows.

    Parameters
    ----------
    problem : Problem
        As `prepare` gives it.
    number : int
        Of the split, from 0.
    seed : int
        Split `number` and the models fitted on it use ``seed + number``.

    Returns
    -------
    Split
    """
    n_rows = problem.X_train.shape[0]
    order = np.random.RandomState(seed + number).permutation(n_rows)
    train, test = np.sort(order[: n_rows // 2]), np.sort(order[n_rows // 2 :])
    X, X_test = _standardized(problem.X_train[train], problem.X_train[test], problem.categorical)
    y, y_test = problem.y_train[train], problem.y_train[test]
    return Split(f"even-{number}", seed + number, 0.5, X, y, X_test, y_test)


def _standardized(
    X: NDArray[np.float64], X_test: NDArray[np.float64], categorical: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if categorical.all():
        return X, X_test
    mean = np.where(categorical, 0.0, X.mean(axis=0))
    deviation = np.where(categorical, 1.0, X.std(axis=0))
    deviation[deviation == 0] = 1.0
    return (X - mean) / deviation, (X_test - mean) / deviation


# ---------------------------------------------------------------------- Table 1


@dataclass(frozen=True)
class SetFacts:
    """What Table 1 tells of a set, and more of its imbalance.

    Parameters
    ----------
    table : PaperSet
        Ours, with two digits after the point as in the paper.
    mean_imbalance : float
        Of the most frequent label to the others: MeanIR.
    scumble : float
    """

    table: PaperSet
    mean_imbalance: float
    scumble: float


def facts_of(problem: Problem) -> SetFacts:
    """Measure a prepared set as Table 1 does.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    SetFacts
    """
    Y = problem.y_train
    found = describe_labels(Y)
    n_rows, n_features = problem.X_train.shape
    table = PaperSet(
        n_rows,
        n_features,
        found.n_labels,
        round(found.density, 2),
        round(proportion_of_distinct_label_sets(Y), 2),
        round(found.min_within, 2),
        round(found.max_within, 2),
        round(found.mean_within, 2),
    )
    return SetFacts(table, found.mean_imbalance, found.scumble)
