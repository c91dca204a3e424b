"""Settings that act, which no file has: hosts, folders, devices, processes and callbacks.

Whoever writes a file must not decide what the process of its reader connects to, starts, reads or
writes. Such settings come from the caller only: when an object is written, and when one is read,
they have their defaults.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any

from sklearn.base import BaseEstimator

# names of parameters, of Palmette, scikit-learn and skrub. With ``input="filename"`` texts are
# names of files that are read; ``pre_dispatch`` is an expression that joblib evaluates.
_WORDS = "callback callbacks client device input memory n_jobs n_threads pre_dispatch scratch"
ACTING = frozenset(_WORDS.split())
# attributes that scikit-learn sets on an estimator during a fit, for callbacks
_OF_A_FIT = ("_skl_callbacks", "_callback_fit_ctx", "_parent_callback_ctx")
# parameters that are parameters of something else by name
_OF_OTHERS = (
    "estimator_params fun_args inv_kw_args kernel_params kw_args metric_params options "
    "param_distributions param_grid settings solver_options"
)
_SETTINGS = frozenset(_OF_OTHERS.split())
_FACTS = "summary_"  # of a fit, with its settings


@cache
def defaults_of_acting(kind: type) -> Mapping[str, Any]:
    """Return the parameters of an estimator class that act, with their defaults.

    Examples
    --------
    >>> from sklearn.pipeline import Pipeline
    >>> defaults_of_acting(Pipeline)
    {'memory': None}
    """
    if not issubclass(kind, BaseEstimator):
        return {}
    found: Mapping[str, inspect.Parameter] = inspect.signature(kind).parameters
    return {
        name: each.default
        for name, each in found.items()
        if name in ACTING and each.default is not each.empty
    }


def without_acting(kind: type, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an object, those that act with their defaults.

    Parameters
    ----------
    kind : type
    state : mapping of str to object
        It is not changed, nor is what is in it.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> without_acting(GridSearchCV, {"n_jobs": 9, "param_grid": {"a__memory": ["/"], "a__C": [1]}})
    {'n_jobs': None, 'param_grid': {'a__C': [1]}}
    """
    defaults = defaults_of_acting(kind)
    kept = {n: defaults.get(n, v) for n, v in state.items() if not n.startswith(_OF_A_FIT)}
    for name in _SETTINGS & kept.keys():
        kept[name] = harmless(kept[name])
    if _FACTS in kept:
        kept[_FACTS] = harmless_facts(kept[_FACTS])
    return kept


def harmless(settings: Any) -> Any:
    """Return settings without those that act; the same object if none does.

    Parameters
    ----------
    settings : object
        A dictionary, by the names of parameters as of ``set_params``, or a list of dictionaries.

    Examples
    --------
    >>> harmless({"C": 1, "estimator__client": "tcp://10.0.0.1:8786"})
    {'C': 1}
    """
    if isinstance(settings, dict):
        acting = [key for key in settings if _acts(key)]
        return {k: v for k, v in settings.items() if k not in acting} if acting else settings
    if isinstance(settings, list | tuple):
        found = [harmless(each) for each in settings]
        is_same = all(one is other for one, other in zip(found, settings, strict=True))
        return settings if is_same else found
    return settings


def harmless_facts(facts: Any) -> Any:
    """Return the facts of a fit without settings that act; the same object if none does."""
    settings = facts.get("settings") if isinstance(facts, dict) else None
    kept = harmless(settings)
    return facts if kept is settings else {**facts, "settings": kept}


def _acts(key: Any) -> bool:
    return isinstance(key, str) and key.rpartition("__")[2] in ACTING
