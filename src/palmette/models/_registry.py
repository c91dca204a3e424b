"""The registry of models that comparisons can name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import PalmetteError

__all__ = [
    "ModelContext",
    "ModelSpec",
    "find_model",
    "find_models",
    "list_models",
    "make_model",
    "register_model",
]


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
    takes_codes : bool
        Whether it can do with categories as numbers, as trees can; else they become columns of 0/1.
    takes_sparse : bool
        Whether it can do with sparse matrices of numbers; all models take those of texts.
    several_paths : bool
        Whether it takes several paths a row.
    """

    name: str
    make: Make
    summary: str
    scale: bool = False
    takes_missing: bool = False
    takes_codes: bool = False
    takes_sparse: bool = True
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
    near = difflib.get_close_matches(name, _MODELS, n=3, cutoff=0.5)
    hint = f" Did you mean {', '.join(near)}?" if near else ""
    raise PalmetteError(
        f"there is no model {name!r} among the {len(_MODELS)} registered.{hint} "
        "`palmette models` names them all."
    )


def find_models(names: Iterable[str]) -> list[ModelSpec]:
    """Return the models of some names, in their order; each can be named once."""
    specs = [find_model(name) for name in names]
    twice = [spec.name for i, spec in enumerate(specs) if spec in specs[:i]]
    if not specs or twice:
        raise PalmetteError(
            f"the model {twice[0]!r} is named twice." if twice else "no model is named."
        )
    return specs


def make_model(
    name: str,
    hierarchy: Hierarchy | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    text: bool = False,
) -> Any:
    """Return the unfitted estimator of a name.

    Parameters
    ----------
    name : str
    hierarchy : Hierarchy, optional
    random_state : int
    n_jobs : int, optional
    text : bool
        Whether it will see tf-idf weights of words.

    Returns
    -------
    estimator

    Examples
    --------
    >>> make_model("flat-forest").estimator.n_estimators
    100
    """
    return find_model(name).make(ModelContext(hierarchy, random_state, n_jobs, text))


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
    from sklearn.naive_bayes import GaussianNB, MultinomialNB

    # weights of words are no bell curves, and their matrix must not be made dense
    return MultinomialNB(alpha=0.01) if context.text else GaussianNB()


def _svm(context: ModelContext) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(max_iter=10_000, random_state=context.random_state)


@dataclass(frozen=True)
class _Base:
    make: Make
    words: str
    needs: dict[str, bool]


_TREES = {"takes_missing": True, "takes_codes": True}
_BASES = {
    "logistic": _Base(_logistic, "logistic regression", {"scale": True}),
    "forest": _Base(_forest, "random forest (100)", _TREES),
    "extra-trees": _Base(_extra_trees, "extra trees (100)", _TREES),
    # its smoothing is a share of the largest variance: one column in seconds would drown the rest
    "naive-bayes": _Base(_naive_bayes, "naive Bayes", {"scale": True, "takes_sparse": False}),
    "svm": _Base(_svm, "linear SVM", {"scale": True}),
}
_PLAIN = "logistic"  # what a structure is named for when it is named alone

_STRUCTURES = {
    "flat": ("FlatClassifier", "one model of all labels"),
    "local-per-node": ("LocalPerNodeClassifier", "a model at every node"),
    "local-per-parent": ("LocalPerParentClassifier", "a model at every parent"),
    "local-per-level": ("LocalPerLevelClassifier", "a model at every level"),
}

_SEVERAL_PATHS = ("local-per-node",)  # a model that says yes or no to every node


def _maker(class_name: str, base: _Base) -> Make:
    def make(context: ModelContext) -> Any:
        from palmette import local

        classifier = getattr(local, class_name)
        return classifier(base.make(context), hierarchy=context.hierarchy, n_jobs=context.n_jobs)

    return make


def _register_local_models() -> None:
    for structure, (class_name, words) in _STRUCTURES.items():
        for suffix, base in _BASES.items():
            name, make = f"{structure}-{suffix}", _maker(class_name, base)
            needs = {**base.needs, "several_paths": structure in _SEVERAL_PATHS}
            register_model(ModelSpec(name, make, f"{words}: {base.words}", **needs))
            if suffix == _PLAIN:
                register_model(ModelSpec(structure, make, f"the same as {name}", **needs))


def _boosted(name: str, preset: str | None = None) -> Make:
    """Make a classifier of the boosting family by its name, with its defaults or a preset."""

    def make(context: ModelContext) -> Any:
        from palmette import boosting

        kind = getattr(boosting, name)
        given = {"random_state": context.random_state, "n_jobs": context.n_jobs}
        if preset is not None:
            return kind.preset(preset, hierarchy=context.hierarchy, **given)
        return kind(context.hierarchy, **given)

    return make


_register_local_models()
for _name, _make, _words, _several in (
    (
        "hierarchical-boosting",
        _boosted("HierarchicalBoostingClassifier"),
        "800 boosted trees that all labels share",
        True,
    ),
    (
        "hierarchical-boosting-accurate",
        _boosted("HierarchicalBoostingClassifier", "accurate"),
        "two such models of labels and two of paths",
        False,
    ),
    (
        "h-ada-mh",
        _boosted("HierarchicalAdaBoostClassifier"),
        "AdaBoost over the nodes, shared trees",
        True,
    ),
    (
        "adaboost-mh",
        _boosted("AdaBoostMHClassifier"),
        "AdaBoost.MH: stumps, all labels at once",
        True,
    ),
    (
        "adaboost-mi",
        _boosted("AdaBoostMIClassifier"),
        "AdaBoost.MI: stumps, one label at a time",
        True,
    ),
    (
        "adaboost-ecc",
        _boosted("AdaBoostECCClassifier"),
        "AdaBoost.ECC: trees on random colourings",
        False,
    ),
):
    register_model(ModelSpec(_name, _make, _words, several_paths=_several, **_TREES))
