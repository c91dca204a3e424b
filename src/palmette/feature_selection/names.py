"""Scores by name: ours, scikit-learn's, and the names that papers gave them."""

from __future__ import annotations

import inspect
from importlib import import_module
from operator import attrgetter
from typing import Any

from palmette.exceptions import PalmetteError
from palmette.scoring.base import FeatureScore

__all__ = ["SCORES", "resolve_score"]

# name, in small letters: (module, maker, parameters)
SCORES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "hirr": ("hirr", "HirrScore", {}),
    "fisher": ("fisher", "FisherScore", {}),
    "fsnm": ("fsnm", "FsnmScore", {}),
    "mrmr": ("mrmr", "MrmrScore", {}),
    "f_classif": ("univariate", "UnivariateScore", {"function": "f_classif"}),
    "chi2": ("univariate", "UnivariateScore", {"function": "chi2"}),
    "mutual_info": ("univariate", "UnivariateScore", {"function": "mutual_info_classif"}),
    "mutual_info_classif": ("univariate", "UnivariateScore", {"function": "mutual_info_classif"}),
    # as in the tables of the HiRR-FS paper
    "hierfisher": ("fisher", "FisherScore", {}),
    "hierfsnm": ("fsnm", "FsnmScore", {"lam": 10.0, "relative": False, "standardize": False}),
    "hiermrmr": ("mrmr", "MrmrScore", {"bins": "round"}),
    "hier-fs": ("hirr", "HirrScore.published", {"name": "hier-fs"}),
    "hirrpar-fs": ("hirr", "HirrScore.published", {"name": "hirrpar-fs"}),
    "hirrsib-fs": ("hirr", "HirrScore.published", {"name": "hirrsib-fs"}),
    "hirrfam-fs": ("hirr", "HirrScore.published", {"name": "hirrfam-fs"}),
}


def resolve_score(score: Any) -> FeatureScore:
    """Return a score object for a name, a score function of scikit-learn, or such an object.

    Examples
    --------
    >>> resolve_score("fisher"), resolve_score("chi2")
    (FisherScore(), UnivariateScore(function='chi2'))
    """
    if isinstance(score, FeatureScore):
        return score
    if isinstance(score, str) and score.lower() in SCORES:
        module, maker, parameters = SCORES[score.lower()]
        found = attrgetter(maker)(import_module(f"palmette.scoring.{module}"))
        return found(**parameters)  # type: ignore[no-any-return]
    if inspect.isclass(score) and issubclass(score, FeatureScore):
        raise PalmetteError(
            f"score is the class {score.__name__}: expected an object, {score.__name__}()."
        )
    if callable(score) and not inspect.isclass(score):
        from palmette.scoring.univariate import UnivariateScore

        return UnivariateScore(score)
    raise PalmetteError(
        f"score={score!r} is unknown: expected one of {', '.join(map(repr, SCORES))}, a score "
        "function of scikit-learn such as f_classif, or an object of palmette.scoring."
    )
