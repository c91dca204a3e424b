"""Which models enter a tournament, in the order in which they are tried, and how they are made."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import PalmetteError
from palmette.models import ModelContext, find_model, list_models
from palmette.table._schema import near_names

__all__ = [
    "BASELINE",
    "Candidate",
    "Situation",
    "apply_settings",
    "choose",
    "make",
    "parse_settings",
    "sharpen",
]


BASELINE = "flat-svm"  # tf-idf and a linear SVM over the leaves: what others must surpass

# from cheap to expensive, as measured on texts and on tables of numbers
_TEXT = ("class-tree", BASELINE, "flat-naive-bayes", "mf-tree", "local-per-parent", "flat",
         "local-per-node", "local-per-level")  # fmt: skip
_NUMBERS = ("class-tree", BASELINE, "flat-extra-trees", "local-per-parent", "flat", "mf-tree",
            "local-per-parent-forest", "flat-forest", "adaboost-bhc", "hierarchical-boosting",
            "local-per-node", "h-ada-mh")  # fmt: skip
_SEVERAL = ("local-per-node", "binary-relevance", "coherent-forest", "structured-forest",
            "hierarchical-boosting", "h-ada-mh", "adaboost-mh")  # fmt: skip
_DENSE_ONLY = ("forest", "extra-trees", "boosting", "ada", "structured", "kernel", "blend")
_ONE_LEVEL = ("local-per-parent", "local-per-node", "local-per-level")
_WIDE = 4000  # sparse features from which trees are left out


@dataclass(frozen=True)
class Situation:
    """What there is to learn.

    Parameters
    ----------
    n_features : int
    is_sparse : bool
    only_text : bool
        Whether features are nothing but weights of words, whose rows have length one.
    several_paths : bool
    one_level : bool
        Whether the hierarchy is a star.
    learner : estimator or None
        Of a hierarchy, where it is learnt.
    hierarchy : Hierarchy or None
    random_state : int
    n_jobs : int or None
    """

    n_features: int
    is_sparse: bool
    only_text: bool
    several_paths: bool
    one_level: bool
    learner: Any
    hierarchy: Hierarchy | None
    random_state: int
    n_jobs: int | None


@dataclass(frozen=True)
class Candidate:
    """A model of the registry, and why it is not tried where it is not.

    Parameters
    ----------
    name : str
    reason : str or None
    """

    name: str
    reason: str | None = None


def choose(situation: Situation) -> list[Candidate]:
    """Return candidates in the order in which they are to be tried.

    Parameters
    ----------
    situation : Situation

    Returns
    -------
    list of Candidate
        Those that are left out have a reason.
    """
    known = {spec.name: spec for spec in list_models()}
    if situation.several_paths:
        names = [name for name in _SEVERAL if name in known]
        names = [n for n in names if known[n].several_paths or n == "local-per-node"]
    else:
        names = [name for name in (_TEXT if situation.is_sparse else _NUMBERS) if name in known]
        more = [name for name in (*_NUMBERS, *_TEXT) if name in known and name not in names]
        names += more
    return [Candidate(name, _reason_against(name, situation)) for name in names]


def _reason_against(name: str, situation: Situation) -> str | None:
    wide = situation.is_sparse and situation.n_features > _WIDE
    if wide and any(word in name for word in _DENSE_ONLY):
        return f"for tables of numbers: there are {situation.n_features:,} sparse features"
    if name == "flat-naive-bayes" and not situation.only_text:
        return "for texts alone"
    if situation.learner is not None and name in ("mf-tree", "adaboost-bhc", "flat-naive-bayes"):
        return "the hierarchy is learnt in another way"
    if situation.one_level and situation.learner is None and name in _ONE_LEVEL:
        return "the hierarchy has one level: the same as flat"
    if situation.one_level and situation.learner is None and name == "local-per-parent-forest":
        return "the hierarchy has one level: the same as flat-forest"
    return None


def make(name: str, situation: Situation, settings: Mapping[str, Any] | None = None) -> Any:
    """Return the unfitted estimator of a name.

    Parameters
    ----------
    name : str
    situation : Situation
    settings : dict, optional
        Parameters that are set; see `apply_settings`.

    Returns
    -------
    estimator
    """
    hierarchy = situation.hierarchy if situation.learner is None else situation.learner
    if name == BASELINE and situation.learner is not None:
        hierarchy = None  # over plain labels: it need not learn a tree that it does not use
    context = ModelContext(hierarchy, situation.random_state, situation.n_jobs, situation.only_text)
    estimator = find_model(name).make(context)
    given = dict(settings or {})
    parameters = estimator.get_params(deep=False)
    if "tree" in parameters and parameters.get("decoding") == "beam":
        # all probabilities are wanted, and the best label is then at hand
        estimator.set_params(decoding="best_path")
    apply_settings(estimator, given, name)
    return estimator


def sharpen(estimator: Any, settings: Mapping[str, Any] | None) -> Any:
    """Make probabilities of the final model honest, where it can do so by itself."""
    is_open = estimator.get_params(deep=False).get("calibration", 0) is None
    if is_open and "calibration" not in (settings or {}):
        estimator.set_params(calibration="out_of_fold")
    return estimator


def parse_settings(words: Sequence[str]) -> dict[str, Any]:
    """Read ``key=value`` words; values are Python literals, or else plain strings.

    Examples
    --------
    >>> parse_settings(["beam_width=3", "decoding=exact", "C=None"])
    {'beam_width': 3, 'decoding': 'exact', 'C': None}
    """
    settings: dict[str, Any] = {}
    for word in words:
        key, mark, value = word.partition("=")
        if not mark or not key.strip():
            raise PalmetteError(f"got --set {word!r}: expected key=value, such as n_estimators=50.")
        try:
            settings[key.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            settings[key.strip()] = value.strip()
    return settings


def apply_settings(estimator: Any, settings: Mapping[str, Any], name: str) -> None:
    """Set parameters of a model, or of the estimator inside of it; other names are refused.

    Parameters
    ----------
    estimator : estimator
    settings : dict of str to object
    name : str
        Of the model, for the message.
    """
    known = estimator.get_params()
    for key, value in settings.items():
        place = next((each for each in (key, f"estimator__{key}") if each in known), None)
        if place is None:
            names = [each.removeprefix("estimator__") for each in known]
            near = near_names(key, names)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            shown = ", ".join(sorted(each for each in set(names) if "__" not in each))
            raise PalmetteError(f"{name} has no parameter {key!r}.{hint} It has: {shown}.")
        estimator.set_params(**{place: value})
