"""Features: those chosen at each node, or how much each one matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.engine.adapters import find_in_parts, model_parts
from palmette.reporting.evaluation import Evaluation, places_of
from palmette.reporting.plain import cut, plain_facts

__all__ = ["feature_facts", "feature_names"]

N_OVERALL = 30
N_AT_NODE = 12
_MOST_NUMBERS = 10_000_000  # importances of all nodes together

FloatArray = NDArray[np.float64]


def feature_names(model: Any) -> list[str] | None:
    """Names of the features that the innermost classifier was fitted on, None where unknown."""
    for part in model_parts(model):
        maker: Any = getattr(part, "vectorizer_", None)
        if maker is None and hasattr(part, "steps") and len(part.steps) > 1:
            maker = part[:-1]
        if hasattr(maker, "get_feature_names_out"):
            try:
                return [str(name) for name in maker.get_feature_names_out()]
            except (AttributeError, ValueError):  # a step that cannot name its columns
                return None
    names = find_in_parts(model, "feature_names_in_")
    return None if names is None else [str(name) for name in names]


def feature_facts(
    model: Any, evaluation: Evaluation, names: Sequence[str] | None
) -> dict[str, Any] | None:
    """Tell which features a model uses, overall and at its nodes.

    Parameters
    ----------
    model : fitted classifier
    evaluation : Evaluation
    names : sequence of str, optional
        Names of the features; x0, x1, ... without.

    Returns
    -------
    dict or None
        ``kind`` is "selected" or "importance"; ``n_features``; ``overall`` and, for nodes,
        ``nodes`` with ``node``, ``count`` and ``features``, the best first: [name, value].
    """
    selector = find_in_parts(model, "feature_selector_")
    if selector is not None and hasattr(selector, "node_supports_"):
        return plain_facts(_selected(selector, evaluation, names))
    for part in model_parts(model):
        values = getattr(part, "feature_importances_", None)
        if values is not None and np.ndim(values) == 1:
            return plain_facts(_importances(part, np.asarray(values), evaluation, names))
    return None


def _selected(selector: Any, evaluation: Evaluation, names: Sequence[str] | None) -> dict[str, Any]:
    supports, scores = selector.node_supports_, selector.node_scores_
    place = places_of(selector.hierarchy_, evaluation)
    nodes = []
    for node in np.flatnonzero(np.diff(supports.indptr)).tolist():
        chosen = supports.indices[supports.indptr[node] : supports.indptr[node + 1]]
        values = np.asarray(scores[[node]].toarray())[0, chosen]
        nodes.append(_at_node(int(place[node]), chosen, values, names))
    n_nodes = np.bincount(supports.indices, minlength=supports.shape[1])
    return {
        "kind": "selected",
        "n_features": int(supports.shape[1]),
        "n_chosen": int(np.count_nonzero(n_nodes)),
        "overall": _ranked(np.arange(len(n_nodes)), n_nodes.astype(float), names, N_OVERALL),
        "nodes": nodes,
    }


def _importances(
    part: Any, values: FloatArray, evaluation: Evaluation, names: Sequence[str] | None
) -> dict[str, Any]:
    return {
        "kind": "importance",
        "n_features": len(values),
        "n_chosen": int(np.count_nonzero(values)),
        "overall": _ranked(np.arange(len(values)), values, names, N_OVERALL),
        "nodes": _importances_of_nodes(part, len(values), evaluation, names),
    }


def _importances_of_nodes(
    part: Any, n_features: int, evaluation: Evaluation, names: Sequence[str] | None
) -> list[dict[str, Any]]:
    """Importances at nodes, where the model tells them and they are not too many numbers."""
    nodes = getattr(part, "nodes_", None)
    if nodes is None or not hasattr(part, "feature_importances"):
        return []
    if len(nodes) * n_features > _MOST_NUMBERS:
        return []
    place = places_of(part.hierarchy_, evaluation)
    table = part.feature_importances()
    columns = np.arange(n_features)
    return [
        _at_node(int(place[node]), columns, row, names)
        for node, row in zip(nodes.tolist(), table, strict=True)
        if row.any()
    ]


def _at_node(
    node: int, columns: NDArray[Any], values: FloatArray, names: Sequence[str] | None
) -> dict[str, Any]:
    best = _ranked(columns, values, names, N_AT_NODE)
    return {"node": node, "count": int(np.count_nonzero(values)), "features": best}


def _ranked(
    columns: NDArray[Any], values: FloatArray, names: Sequence[str] | None, n: int
) -> list[list[Any]]:
    order = np.lexsort((columns, -values))[:n]
    order = order[values[order] > 0]
    return [[_name(names, int(columns[j])), float(f"{values[j]:.4g}")] for j in order]


def _name(names: Sequence[str] | None, column: int) -> str:
    return f"x{column}" if names is None or column >= len(names) else cut(str(names[column]), 80)
