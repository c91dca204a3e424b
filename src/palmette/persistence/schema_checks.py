"""Look at what skops is to build before it builds: compiled classes take some states on trust.

Classes of scikit-learn that are written in Cython look at their arrays before anyone can check
them, and fall over where there are none.
"""

from __future__ import annotations

from typing import Any

__all__ = ["check_schema", "nodes_of"]

_DISTANCES = "sklearn.metrics._dist_metrics"
# places of arrays in the tuple that is the state of a class
_ARRAYS = {
    "sklearn.neighbors._kd_tree.KDTree": (0, 1, 2, 3),
    "sklearn.neighbors._ball_tree.BallTree": (0, 1, 2, 3),
    _DISTANCES: (1,),  # all classes of the module
}
_METRIC_AT = 11  # in the state of a search tree


def nodes_of(schema: Any) -> list[dict[str, Any]]:
    """Return all that stands for an object in a schema of skops, the outer before the inner."""
    found, waiting = [], [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if "__loader__" in each:
                found.append(each)
            waiting.extend(reversed(each.values()))
        elif isinstance(each, list):
            waiting.extend(reversed(each))
    return found


def check_schema(schema: Any) -> None:
    """Refuse a schema in which a compiled class lacks its arrays, or an object is written twice.

    Raises
    ------
    ValueError
        With what is wrong.
    """
    nodes = [node for node in nodes_of(schema) if node["__loader__"] != "CachedNode"]
    numbered: dict[Any, dict[str, Any]] = {}
    for node in nodes:
        number = node.get("__id__")
        if number is not None and numbered.setdefault(number, node) is not node:
            raise ValueError(f"the object {str(number)[:20]} is written twice")
    for node in nodes:
        places = _ARRAYS.get(f"{node.get('__module__')}.{node.get('__class__')}")
        places = places or _ARRAYS.get(str(node.get("__module__")))
        if places and not _has_its_state(node, places, numbered):
            name = f"{node['__module__']}.{node['__class__']}"
            raise ValueError(f"an object of {name[:100]} does not have the state of one")


def _has_its_state(
    node: dict[str, Any], places: tuple[int, ...], numbered: dict[Any, dict[str, Any]]
) -> bool:
    def found(part: Any) -> dict[str, Any]:
        is_stub = isinstance(part, dict) and part.get("__loader__") == "CachedNode"
        node = numbered.get(part.get("__id__")) if is_stub else part
        return node if isinstance(node, dict) else {}

    state = found(node.get("content"))
    parts = state.get("content")
    if node["__loader__"] != "ObjectNode" or state.get("__loader__") != "TupleNode":
        return False
    if not isinstance(parts, list) or len(parts) <= max(places):
        return False
    arrays = [found(parts[place]) for place in places]
    if any((a.get("__loader__"), a.get("type")) != ("NdArrayNode", "numpy") for a in arrays):
        return False
    if node["__module__"] == _DISTANCES:
        return True
    metric = found(parts[_METRIC_AT]) if len(parts) > _METRIC_AT else {}
    return metric.get("__module__") == _DISTANCES
