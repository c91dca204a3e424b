"""Lets ``scoring="hierarchical_f1"`` be written as a string.

scikit-learn keeps the names of scorers in a private table, and copies them into the argument checks
of its functions when these are first imported. This is the one file that touches both; if they go,
the names go, and the scorer objects still serve.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, MutableMapping
from types import FunctionType
from typing import Any

from palmette.metrics.scorers import SCORERS

__all__ = ["register_scorers"]


def register_scorers() -> bool:
    """Make the names in `SCORERS` known to scikit-learn; names that it has itself are kept.

    Returns
    -------
    bool
        Whether the names can be used.

    Examples
    --------
    >>> register_scorers()
    True
    >>> from sklearn.metrics import get_scorer
    >>> get_scorer("hierarchical_f1").metric.__name__
    'hierarchical_f1_score'
    """
    try:
        table = importlib.import_module("sklearn.metrics._scorer")._SCORERS
    except (ImportError, AttributeError):
        return False
    if not isinstance(table, MutableMapping):
        return False
    for name, scorer in SCORERS.items():
        table.setdefault(name, scorer)
    _admit(SCORERS)
    return True


def _admit(names: Iterable[str]) -> None:
    """Add names to the checks of `scoring` in the modules that are already imported."""
    for place, module in list(sys.modules.items()):
        if not place.startswith("sklearn."):
            continue
        for thing in list(vars(module).values()):
            for options in _scoring_options(thing):
                options.update(names)


def _scoring_options(thing: Any) -> list[set[str]]:
    if not isinstance(thing, type | FunctionType):
        return []
    where = "_parameter_constraints" if isinstance(thing, type) else "_skl_parameter_constraints"
    constraints = getattr(thing, where, None)
    if not isinstance(constraints, dict):
        return []
    found = [getattr(one, "options", None) for one in constraints.get("scoring", ())]
    return [options for options in found if isinstance(options, set) and "accuracy" in options]
