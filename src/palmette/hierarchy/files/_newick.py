"""Newick trees, ``((cat,dog)animal,plant)root;``, and the DOT language, which is only written.

Lengths (``:0.1``) and ``[comments]`` are skipped. Quoted names may contain anything, with
quotation marks doubled; underscores are kept. Internal nodes without a name are numbered
(``node 3``); a leaf without a name is an error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from palmette._text import CONTROL
from palmette.hierarchy.files._source import PlaceRows, Source, Tops, check_size, names_as_text

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy

_TOKEN = re.compile(
    r"""\s+ | \[[^\]]*\] | (?P<mark>[(),;]) | (?P<length>:\s*[^\s(),:;\[\]']+)
    | '(?P<quoted>(?>[^']+|'')*+)' | (?P<bare>[^\s(),:;\[\]']+)""",
    re.VERBOSE,
)
_BARE = re.compile(r"[^\s(),:;\[\]']+")


def looks_like_newick(source: Source) -> bool:
    """Whether the file starts with a parenthesis and ends with a semicolon."""
    return source.head.startswith("(") and source.raw_text.rstrip().endswith(";")


def parse_newick(source: Source) -> PlaceRows:
    """Read the tree."""
    tree = _Tree(source)
    text, place = source.raw_text, 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise source.error_at(_unexpected(text[place]), place)
        if tree.ended and not match.group().isspace():
            raise source.error_at("there is text after ';': expected one tree per file", place)
        if match["mark"]:
            tree.mark(match["mark"], place)
        elif match["quoted"] is not None:
            tree.label(match["quoted"].replace("''", "'"), place)
        elif match["bare"]:
            tree.label(match["bare"], place)
        place = match.end()
    if not tree.ended:
        raise source.error_at("the tree has no end: expected ';'", max(len(text) - 1, 0))
    return tree.rows()


def _unexpected(character: str) -> str:
    opened = {"'": "a quoted name", "[": "a comment", ":": "a length"}
    if character in opened:
        return f"{opened[character]} starts here and does not end"
    return f"{character!r} is not allowed here"


class _Tree:
    """Nodes in the order in which they start, so that parents come before children."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._names: list[str | None] = [None]
        self._parents = [-1]
        self._places = [0]
        self._open: list[int] = []
        self._last = 0  # the node that the next label names
        self._may_open = True
        self.ended = False

    def mark(self, mark: str, place: int) -> None:
        if mark == "(":
            if not self._may_open:
                raise self._source.error_at("'(' is not allowed after a name", place)
            self._open.append(self._last)
            self._begin(self._last, place)
            return
        self._check_named(place)
        if mark == ";":
            if self._open:
                raise self._source.error_at(f"expected {len(self._open)} ')' before ';'", place)
            self.ended = True
        elif not self._open:
            raise self._source.error_at(f"{mark!r} is outside of all parentheses", place)
        elif mark == ",":
            self._begin(self._open[-1], place)
        else:
            self._last = self._open.pop()
            self._may_open = False

    def label(self, name: str, place: int) -> None:
        if self._names[self._last] is not None:
            raise self._source.error_at(
                "the node has two names: put names with spaces in single quotes", place
            )
        if not name:
            raise self._source.error_at("the name is empty: expected a character", place)
        self._names[self._last] = name
        if self._may_open:  # a leaf; the name of an internal node follows its children
            self._places[self._last] = place
        self._may_open = False

    def _begin(self, parent: int, place: int) -> None:
        self._last = len(self._names)
        check_size(self._source, self._last)
        self._names.append(None)
        self._parents.append(parent)
        self._places.append(place)
        self._may_open = True

    def _check_named(self, place: int) -> None:
        """Raise an error if a leaf has no name; an internal node may have none."""
        if self._may_open and self._names[self._last] is None:
            raise self._source.error_at("the leaf that ends here has no name", place)

    def rows(self) -> PlaceRows:
        """Return the nodes; a root without a name is left out, to be added later."""
        no_root = self._names[0] is None
        rows = PlaceRows(self._source, Tops.ALWAYS if no_root else Tops.SEVERAL)
        taken = set(self._names)
        text, line, counted = self._source.raw_text, 1, 0
        for node in range(no_root, len(self._names)):
            place = self._places[node]
            line, counted = line + text.count("\n", counted, place), place
            name = self._names[node] or f"node {node}"
            while self._names[node] is None and name in taken:
                name += "'"
            rows.add(name, self._parents[node] - no_root, line)
        return rows


def to_newick(hierarchy: Hierarchy) -> str:
    """Return a tree in Newick format; names are quoted where needed.

    Parameters
    ----------
    hierarchy : Hierarchy
        A tree. Names that are not strings are read back as strings.

    Returns
    -------
    str

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> to_newick(Hierarchy.from_paths([("animal", "cat"), ("animal", "polar bear"), ("plant",)]))
    "((cat,'polar bear')animal,plant)root;"
    """
    hierarchy.require_tree("the Newick format")
    names = [_written(name) for name in names_as_text(hierarchy, "the Newick format")]
    pieces: list[str] = []
    open_nodes: list[int] = []  # the path to the previous node
    depths = hierarchy.depth.tolist()
    for node, depth in enumerate(depths):
        if depth < len(open_nodes):
            _close(open_nodes, depth, names, pieces)
            pieces.append(",")
        elif node:
            pieces.append("(")
        open_nodes.append(node)
    _close(open_nodes, 0, names, pieces)
    return "".join(pieces) + ";"


def _close(open_nodes: list[int], depth: int, names: list[str], pieces: list[str]) -> None:
    """Write the names of the nodes that end, from the last one up to the one at `depth`."""
    while len(open_nodes) > depth:
        pieces.append(names[open_nodes.pop()])
        if len(open_nodes) > depth:
            pieces.append(")")


def _written(name: str) -> str:
    return name if _BARE.fullmatch(name) else "'" + name.replace("'", "''") + "'"


_ESCAPED = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\0": ""})


def to_dot(hierarchy: Hierarchy) -> str:
    """Return a tree or DAG in the DOT language, with node numbers as nodes and names as labels.

    Parameters
    ----------
    hierarchy : Hierarchy

    Returns
    -------
    str

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> print(to_dot(Hierarchy.star(["cat"])), end="")
    digraph hierarchy {
      0 [label="root"];
      1 [label="cat"];
      0 -> 1;
    }
    """
    nodes = [
        f'  {i} [label="{CONTROL.sub("·", str(name).translate(_ESCAPED))}"];'
        for i, name in enumerate(hierarchy.names.tolist())
    ]
    edges = [f"  {parent} -> {child};" for parent, child in hierarchy.edges.tolist()]
    return "\n".join(["digraph hierarchy {", *nodes, *edges, "}", ""])
