"""JSON of other programs: nested nodes, nested objects, lists of children.

===================================================== ==========================================
``{"name": "a", "children": [{"name": "b"}, ...]}``    nested nodes, or a list of them
``{"a": {"b": {}, "c": ["d", "e"]}}``                  nested objects, lists for leaves
``{"a": ["b", "c"], "b": ["d"]}``                      lists of children, if some child is also
                                                       a key
===================================================== ==========================================

In the first two, nodes are identified by their path. In the last they are identified by name, and a
child with two parents makes a DAG. If no child is a key, as in ``{"a": ["x"], "b": ["y"]}``, both
readings give the same two levels, except that ``x`` below two keys makes two nodes. A single top
node is the root; several become children of an added root.
"""

from __future__ import annotations

from typing import Any

from palmette.core.taxonomy.rows import LinkRows, PlaceRows, Rows, Tops, short
from palmette.core.taxonomy.source import Source

__all__ = ["NAME_KEYS", "has_nodes", "is_adjacency", "parse"]

NAME_KEYS = ("name", "label", "id")
_EXPECTED = (
    "expected nested nodes {'name': ..., 'children': [...]}, nested objects {'a': {'b': {}}}, or "
    "lists of children {'a': ['b', 'c']}"
)
_Work = list[tuple[Any, int]]  # value to be read, and its parent


def parse(source: Source, content: Any) -> Rows:
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
