"""JSON hierarchies: our own rows, which are read back exactly, and layouts of other programs.

Our rows are ``{"format": "palmette.hierarchy", "version": 1, "names": [...], "parents":
[...]}``; the parent of the root is -1, and a node with several parents has a list of them.
Strings, numbers and tuples keep their types; ``"vocabulary"`` has the labels, if there are any.
Other layouts:

===================================================== ========================================
``{"name": "a", "children": [{"name": "b"}, ...]}``    nested nodes, or a list of them
``{"a": {"b": {}, "c": ["d", "e"]}}``                  nested objects, lists for leaves
``{"a": ["b", "c"], "b": ["d"]}``                      lists of children, if some child is
                                                       also a key
===================================================== ========================================

In the first two, nodes are identified by their path. In the last they are identified by name,
and a child with two parents makes a DAG. If no child is a key, as in ``{"a": ["x"], "b":
["y"]}``, both readings give the same two levels, except that ``x`` below two keys makes two
nodes. A single top node is the root; several become children of an added root."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from palmette._text import visible
from palmette.exceptions import HierarchyError, ReadError
from palmette.hierarchy._vocabulary import Vocabulary
from palmette.hierarchy.files._source import (
    LinkRows,
    NumberedRows,
    PlaceRows,
    Rows,
    Source,
    Tops,
    short,
)

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy

_FORMAT = "palmette.hierarchy"
_VERSION = 1
_DEEPEST_TUPLE = 8  # nested tuples in a name


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
    written = visible(json.dumps(names, ensure_ascii=False))
    labels = ""
    if hierarchy.vocabulary is not None:
        words = json.dumps(hierarchy.vocabulary.to_dict(), ensure_ascii=False)
        labels = f',\n"vocabulary": {visible(words)}'
    return (
        f'{{"format": "{_FORMAT}", "version": {_VERSION},\n'
        f'"names": {written},\n"parents": {json.dumps(rows)}{labels}}}\n'
    )


def _can_write(name: Any, depth: int = 0) -> bool:
    if type(name) is tuple:
        return depth < _DEEPEST_TUPLE and all(_can_write(part, depth + 1) for part in name)
    # subclasses, such as enumerations, would be read back as another type
    return type(name) in (str, int, bool) or (type(name) is float and math.isfinite(name))


def parse_json_rows(source: Source, content: dict[str, Any]) -> NumberedRows:
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
    words: Vocabulary | None = None
    if content.get("vocabulary") is not None:
        try:
            words = Vocabulary.from_dict(content["vocabulary"])
        except HierarchyError as error:
            raise source.error(str(error)) from None
    return NumberedRows(source, names, _edges(source, names, parents), words)


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


NAME_KEYS = ("name", "label", "id")
_EXPECTED = (
    "expected nested nodes {'name': ..., 'children': [...]}, nested objects {'a': {'b': {}}}, or "
    "lists of children {'a': ['b', 'c']}"
)
_Work = list[tuple[Any, int]]  # value to be read, and its parent


def parse_json_shapes(source: Source, content: Any) -> Rows:
    """Read decoded JSON in any of these layouts."""
    if isinstance(content, list | dict) and content:
        if has_nodes(content):
            return _nested_nodes(source, content)
        if isinstance(content, dict):
            if is_adjacency(content):
                return _adjacency(source, content)
            return _nested_objects(source, content)
    raise source.error(f"this JSON is not a hierarchy: {_EXPECTED}")


def _is_name(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def has_nodes(content: list[Any] | dict[str, Any]) -> bool:
    """Whether these are nested nodes, judged by the first one."""
    first = content[0] if isinstance(content, list) else content
    if not isinstance(first, dict):
        return False
    return isinstance(first.get("children"), list) and any(key in first for key in NAME_KEYS)


def _nested_nodes(source: Source, content: Any) -> PlaceRows:
    rows = PlaceRows(source, Tops.SEVERAL)
    work: _Work = [(node, -1) for node in _reversed(content)]
    while work:
        node, parent = work.pop()
        name, children = _node_parts(source, node)
        number = _add(rows, name, parent)
        work.extend((child, number) for child in reversed(children))
    return rows


def _node_parts(source: Source, node: Any) -> tuple[Any, list[Any]]:
    if _is_name(node):
        return node, []
    if not isinstance(node, dict):
        raise source.error(f"found {short(node)} among nested nodes: expected an object")
    name = next((node[key] for key in NAME_KEYS if key in node), None)
    if not _is_name(name):
        raise source.error(f"the node {short(node)} has no 'name' that is a string or an integer")
    children = node.get("children")
    if not isinstance(children, list | None):
        raise source.error(f"'children' of {short(name)} is {short(children)}: expected a list")
    return name, children or []


def _nested_objects(source: Source, content: dict[str, Any]) -> PlaceRows:
    rows = PlaceRows(source, Tops.SEVERAL)
    work: _Work = [(content, -1)]
    # children of a node are consecutive; Hierarchy sorts the nodes into preorder
    while work:
        value, parent = work.pop()
        if isinstance(value, dict):
            if "" in value:
                raise source.error("a key of an object is empty: expected a name")
            work.extend((value[key], _add(rows, key, parent)) for key in value)
        elif isinstance(value, list):
            for item in value:
                if _is_name(item):
                    _add(rows, item, parent)
                elif isinstance(item, dict):
                    work.append((item, parent))
                else:
                    raise source.error(f"found {short(item)} in a list of leaves: {_EXPECTED}")
        elif value is not None and value != "":
            name = rows.names[parent]
            raise source.error(f"{short(name)} has the value {short(value)}: {_EXPECTED}")
    return rows


def is_adjacency(content: dict[str, Any]) -> bool:
    """Whether all values are lists of names, and some of these names are keys too."""
    values = content.values()
    if not all(isinstance(v, list) and all(_is_name(item) for item in v) for v in values):
        return False
    return any(str(item) in content for value in values for item in value)


def _adjacency(source: Source, content: dict[str, list[Any]]) -> LinkRows:
    # keys of JSON objects are strings; if all children are integers, so were the parents
    numbered = all(isinstance(child, int) for value in content.values() for child in value) and all(
        key.isascii() and key.isdigit() and str(int(key)) == key for key in content
    )
    rows = LinkRows(source, Tops.SEVERAL)
    for key, children in content.items():
        parent = int(key) if numbered else key
        rows.node(parent)
        for child in children:
            rows.link(parent, child)
    return rows


def _add(rows: PlaceRows, name: Any, parent: int) -> int:
    n_before = len(rows.names)
    node = rows.reach(name, parent)
    if node < n_before:
        above = "at the top" if parent < 0 else f"below {short(rows.names[parent])}"
        raise rows.source.error(f"{short(name)} is repeated {above}. Delete or rename one")
    return node


def _reversed(content: Any) -> list[Any]:
    return content[::-1] if isinstance(content, list) else [content]


# a list of objects, lists or strings, but not "[Term]" of an OBO file or a path "[x] > y"
_START = re.compile(r'\{\s*(?:["}]|$)|\[\s*(?:[\[{"\]]|$)')


def looks_like_json(source: Source) -> bool:
    """Whether the file starts like a JSON object or list."""
    return _START.match(source.head) is not None


def parse_json(source: Source) -> Rows:
    """Read our own rows, or a layout of other programs."""
    content = decode(source)
    if is_ours(content):
        return parse_json_rows(source, content)
    return parse_json_shapes(source, content)


def decode(source: Source) -> Any:
    """Decode the file; repeated keys and numbers such as NaN are errors."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        decoded = dict(items)
        if len(decoded) < len(items):
            seen: set[str] = set()
            twice = next(key for key, _ in items if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise source.error(f"the key {short(twice)} is repeated in the same object. Delete one")
        return decoded

    def constant(name: str) -> NoReturn:
        raise source.error(f"{name} is not JSON: expected a finite number")

    try:
        return json.loads(source.raw_text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise source.error_at(f"this is not JSON: {error.msg}", error.pos) from None
    except RecursionError:
        raise source.error(
            "the JSON is nested too deeply to be decoded. Write the hierarchy as rows "
            "(Hierarchy.write), as edges or as paths"
        ) from None
    except ReadError:  # raised by the functions above; it is a ValueError too
        raise
    except ValueError as error:
        raise source.error(f"this JSON cannot be read ({error})") from None
