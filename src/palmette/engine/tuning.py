"""Choosing a decision rule's numbers by cross-validation, while a classifier is fitted."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold

from palmette.core.hierarchy import Hierarchy
from palmette.core.marginal import Marginal
from palmette.core.rows import count_rows, take_rows
from palmette.core.space import LabelSpace
from palmette.exceptions import PalmetteError

__all__ = ["tune_marginal"]

_THRESHOLDS = (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)
_TEMPERATURES = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


def tune_marginal(
    rule: Marginal,
    estimator: Any,
    X: Any,
    nodes: NDArray[np.int32],
    weights: NDArray[np.float64],
    seed: int,
) -> Marginal:
    """Choose what a rule leaves open by the hierarchical F1 on rows that were not fitted on.

    Parameters
    ----------
    rule : Marginal
    estimator : classifier
        Fitted as far as ``hierarchy_``; clones of it are fitted on the folds.
    X : rows
    nodes : int array of shape (n_samples,)
        Label of every row, as a node of ``hierarchy_``.
    weights : array of shape (n_samples,)
    seed : int
        Of the folds.

    Returns
    -------
    Marginal
        With a threshold and a temperature.
    """
    n_samples = count_rows(X)
    if n_samples < 2 * rule.cv:
        raise PalmetteError(
            f"decoding={rule!r} is chosen by {rule.cv} folds, but there are {n_samples} rows. Give "
            "its threshold and temperature."
        )
    hierarchy = estimator.hierarchy_
    names = hierarchy.path_strings
    # made anew rather than cloned: callbacks belong to the whole fit, not to the folds
    parameters = {**estimator.get_params(deep=False), "hierarchy": hierarchy}
    plain = type(estimator)(**{**parameters, "decoding": "best_path"})
    held: list[tuple[Any, LabelSpace, Any, Any]] = []
    for train, test in KFold(rule.cv, shuffle=True, random_state=seed).split(nodes):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fold may lack classes; the whole fit says so
            model = clone(plain).fit(take_rows(X, train), names[nodes[train]], weights[train])
        proba = model._class_proba_of(take_rows(X, test))
        held.append((proba, model.space_, nodes[test], weights[test]))
    thresholds = _THRESHOLDS if rule.threshold is None else (rule.threshold,)
    temperatures = _TEMPERATURES if rule.temperature is None else (rule.temperature,)
    candidates = [
        Marginal(threshold, temperature, rule.partial, rule.cv)
        for temperature in temperatures
        for threshold in thresholds
    ]
    return max(candidates, key=lambda candidate: _f1_of(candidate, held, hierarchy))


def _f1_of(rule: Marginal, held: list[Any], hierarchy: Hierarchy) -> float:
    """Hierarchical F1, micro-averaged over all folds."""
    common, total = 0.0, 0.0
    depth = hierarchy.depth
    for proba, space, true, weights in held:
        answer = rule.choose(proba, space)
        common += weights @ depth[hierarchy.lca(answer, true)]
        total += weights @ (depth[answer] + depth[true])
    return 2 * common / total if total else 0.0
