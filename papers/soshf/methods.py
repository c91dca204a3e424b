"""The methods: those of the paper with its settings, and what it never met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from palmette.compare import describe_estimator

__all__ = ["DEFAULT", "METHODS", "OF_PAPER", "Method", "Options", "describe", "folds_of"]

DEFAULT = "ours"
_QUICK_FOLDS = 2
_FEW_TREES = {"estimator__n_estimators": 15}  # of a forest a label, 50 in the paper
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
    """Write an estimator with all parameters: a default that changes makes another result."""
    from sklearn import config_context

    with config_context(print_changed_only=False):
        return describe_estimator(method.make(options))


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


def _ml_knn(options: Options) -> Any:
    from palmette.multilabel import MLkNN

    return MLkNN(n_jobs=options.n_jobs)


def _iblr(options: Options) -> Any:
    from palmette.multilabel import IBLR

    return IBLR(n_jobs=options.n_jobs)


def _ecc(options: Options) -> Any:
    from palmette.multilabel import ChainEnsemble

    return ChainEnsemble(n_chains=10 if options.quick else 50, **options.shared)


def _clr(options: Options) -> Any:
    from palmette.multilabel import CalibratedLabelRanking

    return CalibratedLabelRanking(**options.shared)


def _rakel(options: Options) -> Any:
    from palmette.multilabel import RAkEL

    return RAkEL(**options.shared)


def _homer(options: Options) -> Any:
    from palmette.multilabel import HOMER

    return HOMER(branching=4, **options.shared)


def _cocoa(options: Options) -> Any:
    from palmette.multilabel import COCOA

    n_models = 10 if options.dataset in _LARGE else 50
    sizes = (3, 3) if options.quick else (10, n_models)
    return COCOA(*sizes, **options.shared)


def _trees(kind: str) -> Callable[[Options], Any]:
    def make(options: Options) -> Any:
        from palmette.multilabel import TreesMultilabel

        return TreesMultilabel(kind, n_estimators=200, **options.shared)

    return make


_OF_PAPER = (
    Method("svm-cost", "linear SVM a label, weighed by class", _relevance("svm-cost")),
    Method("svm-down", "linear SVM a label, larger class thinned", _relevance("svm-down")),
    Method("svm-adasyn", "linear SVM a label, ADASYN", _relevance("svm-adasyn")),
    Method(
        "rf-cost",
        "forest of 50 trees a label (quick: 15), out-of-bag thresholds",
        _relevance("rf-cost", **_FEW_TREES),
        0,
    ),
    Method("rf-down", "forest a label, larger class thinned", _relevance("rf-down", **_FEW_TREES)),
    Method("rf-adasyn", "forest a label, ADASYN", _relevance("rf-adasyn", **_FEW_TREES)),
    Method("ml-knn", "ML-kNN, 10 neighbours", _ml_knn),
    Method("iblr", "IBLR, 10 neighbours", _iblr),
    Method("ecc", "classifier chains, 50 (quick: 10)", _ecc),
    Method("clr", "calibrated label ranking", _clr),
    Method("rakel", "random k-labelsets", _rakel),
    Method("homer", "HOMER, 4 balanced clusters", _homer),
    Method("cocoa", "COCOA, 10 couplings of 50 models, of 10 on TMC (quick: 3 of 3)", _cocoa),
    Method("sf", "structured forest, one feature a split", _structured("sf"), 0),
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
        "gradient boosting a label, 100 rounds (quick: 30)",
        _relevance("hist-gradient-boosting", **_FEW_ROUNDS),
    ),
)
METHODS = {method.key: method for method in (*_OF_PAPER, *_BEYOND)}
OF_PAPER = tuple(method.key for method in _OF_PAPER)
