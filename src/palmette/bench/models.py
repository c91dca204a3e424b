"""The registry of models that comparisons can name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import PalmetteError

__all__ = ["ModelContext", "ModelSpec", "find_model", "list_models", "make_model", "register_model"]


@dataclass(frozen=True)
class ModelContext:
    """What a model is made for.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
    random_state : int
    n_jobs : int, optional
    text : bool
        Whether the features are tf-idf weights of words, whose rows have length one.
    """

    hierarchy: Hierarchy | None = None
    random_state: int = 0
    n_jobs: int | None = None
    text: bool = False


Make = Callable[[ModelContext], Any]


@dataclass(frozen=True)
class ModelSpec:
    """A model by name.

    Parameters
    ----------
    name : str
    make : callable
        Takes a ModelContext and gives an unfitted estimator.
    summary : str
        One line for the list of models.
    scale : bool
        Whether features should be standardized before it.
    takes_missing : bool
        Whether it can do with missing values.
    several_paths : bool
        Whether it takes several paths a row.
    """

    name: str
    make: Make
    summary: str
    scale: bool = False
    takes_missing: bool = False
    several_paths: bool = False


_MODELS: dict[str, ModelSpec] = {}


def register_model(spec: ModelSpec) -> None:
    """Add a model to the registry; a name can be taken once."""
    if spec.name in _MODELS:
        raise PalmetteError(f"a model named {spec.name!r} is registered already.")
    _MODELS[spec.name] = spec


def list_models() -> list[ModelSpec]:
    """Return all models, by name."""
    return [_MODELS[name] for name in sorted(_MODELS)]


def find_model(name: str) -> ModelSpec:
    """Return the model of a name."""
    if name in _MODELS:
        return _MODELS[name]
    near = difflib.get_close_matches(name, _MODELS, n=3, cutoff=0.4) or sorted(_MODELS)[:3]
    raise PalmetteError(
        f"there is no model {name!r}. Did you mean {', '.join(near)}? All names: palmette models."
    )


def make_model(
    name: str,
    hierarchy: Hierarchy | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Any:
    """Return the unfitted estimator of a name.

    Parameters
    ----------
    name : str
    hierarchy : Hierarchy, optional
    random_state : int
    n_jobs : int, optional

    Examples
    --------
    >>> make_model("flat-forest").estimator.n_estimators
    100
    """
    return find_model(name).make(ModelContext(hierarchy, random_state, n_jobs))


# ---------------------------------------------------------------------- local and flat models


def _logistic(context: ModelContext) -> Any:
    from sklearn.linear_model import LogisticRegression

    # rows of length one need weaker shrinkage than standardized columns
    return LogisticRegression(C=30.0 if context.text else 1.0, max_iter=1000)


def _forest(context: ModelContext) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=100, random_state=context.random_state)


def _extra_trees(context: ModelContext) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(n_estimators=100, random_state=context.random_state)


def _naive_bayes(context: ModelContext) -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def _svm(context: ModelContext) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=context.random_state)


@dataclass(frozen=True)
class _Base:
    make: Make
    words: str
    scale: bool = False
    takes_missing: bool = False


_BASES = {
    "logistic": _Base(_logistic, "logistic regression on standardized features", scale=True),
    "forest": _Base(_forest, "a random forest of 100 trees", takes_missing=True),
    "extra-trees": _Base(_extra_trees, "100 extremely randomized trees", takes_missing=True),
    "naive-bayes": _Base(_naive_bayes, "Gaussian naive Bayes"),
    "svm": _Base(_svm, "a linear support vector machine on standardized features", scale=True),
}

_STRUCTURES = {
    "flat": ("FlatClassifier", "flat, probabilities summed up the hierarchy"),
    "local-per-node": ("LocalPerNodeClassifier", "one binary model at every node"),
    "local-per-parent": ("LocalPerParentClassifier", "one model at every parent"),
    "local-per-level": ("LocalPerLevelClassifier", "one model at every level"),
}


def _maker(class_name: str, base: _Base) -> Make:
    def make(context: ModelContext) -> Any:
        from palmette import local

        classifier = getattr(local, class_name)
        return classifier(base.make(context), hierarchy=context.hierarchy, n_jobs=context.n_jobs)

    return make


def _register_local_models() -> None:
    for structure, (class_name, words) in _STRUCTURES.items():
        for suffix, base in _BASES.items():
            # the plain name of a structure is the one with logistic regression
            for name in {f"{structure}-{suffix}", structure if suffix == "logistic" else ""} - {""}:
                register_model(
                    ModelSpec(
                        name,
                        _maker(class_name, base),
                        f"{words}; {base.words}",
                        scale=base.scale,
                        takes_missing=base.takes_missing,
                    )
                )


_register_local_models()
