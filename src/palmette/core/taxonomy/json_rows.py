"""Our own JSON: names and parents as rows, which is read back exactly as it was written.

``{"format": "palmette.hierarchy", "version": 1, "names": [...], "parents": [...]}``; the parent of
the root is -1, and a node with several parents has a list of them. Strings, numbers and tuples keep
their types.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.taxonomy.rows import NumberedRows, short
from palmette.core.taxonomy.source import Source
from palmette.exceptions import HierarchyError

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy

__all__ = ["is_ours", "parse", "to_json"]

_FORMAT = "palmette.hierarchy"
_VERSION = 1
_DEEPEST_TUPLE = 8  # nested tuples in a name
_SURROGATE = re.compile("[\ud800-\udfff]")


def is_ours(content: Any) -> bool:
    """Whether decoded JSON has our format."""
    return isinstance(content, dict) and content.get("format") == _FORMAT


def to_json(hierarchy: Hierarchy) -> str:
    """Return a tree or DAG as JSON rows.

    Parameters
    ----------
    hierarchy : Hierarchy
        Names must be strings, numbers, booleans, or tuples of these.

    Returns
    -------
    str

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> print(to_json(Hierarchy.from_paths([("animal", "cat"), ("plant",)])), end="")
    {"format": "palmette.hierarchy", "version": 1,
    "names": ["root", "animal", "cat", "plant"],
    "parents": [-1, 0, 1, 0]}
    """
    names = hierarchy.names.tolist()
    for name in names:
        if not _can_write(name):
            raise HierarchyError(
                f"the name {short(name)} of type {type(name).__name__} cannot be written as JSON: "
                "expected a string, a finite number, or a tuple of these."
            )
    parents: list[list[int]] = [[] for _ in names]
    for parent, child in hierarchy.edges.tolist():
        parents[child].append(parent)
    parents[0] = [-1]
    rows = [above[0] if len(above) == 1 else above for above in parents]
    written = json.dumps(names, ensure_ascii=False)
    if _SURROGATE.search(written):  # a lone surrogate cannot be encoded, but can be escaped
        written = json.dumps(names)
    return (
        f'{{"format": "{_FORMAT}", "version": {_VERSION},\n'
        f'"names": {written},\n"parents": {json.dumps(rows)}}}\n'
    )


def _can_write(name: Any, depth: int = 0) -> bool:
    if type(name) is tuple:
        return depth < _DEEPEST_TUPLE and all(_can_write(part, depth + 1) for part in name)
    # subclasses, such as enumerations, would be read back as another type
    return type(name) in (str, int, bool) or (type(name) is float and math.isfinite(name))


def parse(source: Source, content: dict[str, Any]) -> NumberedRows:
    """Read names and parents."""
    if content.get("version") != _VERSION:
        raise source.error(
            f"this hierarchy has version {short(content.get('version'))}: expected {_VERSION}. "
            "Read it with the newer Palmette that wrote it"
        )
    given, parents = content.get("names"), content.get("parents")
    if not isinstance(given, list) or not isinstance(parents, list) or len(given) != len(parents):
        raise source.error("expected lists 'names' and 'parents' of the same length")
    names = [_name(source, name) for name in given]
    return NumberedRows(source, names, _edges(source, names, parents))


def _name(source: Source, name: Any, depth: int = 0) -> Any:
    if isinstance(name, dict) or depth > _DEEPEST_TUPLE:
        raise source.error(f"the name {short(name)} is not a string, number or tuple of these")
    if isinstance(name, list):
        return tuple(_name(source, part, depth + 1) for part in name)
    return name


def _edges(source: Source, names: list[Any], parents: list[Any]) -> NDArray[np.int32]:
    flat: list[int] = []
    places: set[tuple[int, str]] = set()
    for child, given in enumerate(parents):
        for parent in given if isinstance(given, list) else [given]:
            if type(parent) is not int or not -1 <= parent < len(names) or parent == child:
                raise source.error(
                    f"the parent of node {child} ({short(names[child])}) is {short(parent)}: "
                    f"expected another node number (0 to {len(names) - 1}) or -1 for the root"
                )
            if parent < 0:
                continue
            place = (parent, repr(names[child]))  # repr, since the keys 1 and True are equal
            if place in places:
                raise source.error(f"two children of node {parent} have name {short(names[child])}")
            places.add(place)
            flat += (parent, child)
    return np.asarray(flat, dtype=np.int32).reshape(-1, 2)
