"""Faults of hierarchies in JSON, with their lines."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from palmette.exceptions import ReadError
from palmette.hierarchy.checking._findings import Findings
from palmette.hierarchy.checking._lines import Links, Places
from palmette.hierarchy.files._json import NAME_KEYS, decode, has_nodes, is_adjacency, is_ours
from palmette.hierarchy.files._source import Source, short

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass
class JsonValue:
    """A value with its line.

    Attributes
    ----------
    line : int
        Its first line, from 1.
    value : object
        The string, number, boolean or null; None for an object or a list.
    items : list of (key or None, line of the key, JsonValue)
        Items of an object or a list; keys may repeat.
    kind : str
        "{", "[" or "".
    """

    line: int
    value: Any
    items: list[tuple[str | None, int, JsonValue]] = field(default_factory=list)
    kind: str = ""

    @property
    def is_object(self) -> bool:
        """Whether it is an object."""
        return self.kind == "{"

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return self.kind == "["

    @property
    def is_name(self) -> bool:
        """Whether it can be the name of a node: a non-empty string or an integer."""
        if self.kind:
            return False
        return (isinstance(self.value, str) and self.value != "") or type(self.value) is int

    def get(self, key: str) -> JsonValue | None:
        """Return the value of a key, or None."""
        return next((value for name, _, value in self.items if name == key), None)


def read_json_lines(text: str) -> JsonValue:
    """Parse JSON that `json.loads` accepts, without recursion.

    Examples
    --------
    >>> found = read_json_lines('{"a": [1,\\n2]}')
    >>> [(item.value, item.line) for _, _, item in found.items[0][2].items]
    [(1, 1), (2, 2)]
    """
    ends = [match.start() for match in re.finditer("\n", text)]
    outer = JsonValue(0, None, [], "[")
    stack = [outer]
    key: tuple[str, int] | None = None  # key of the next value
    waiting: tuple[str, int] | None = None  # a string that becomes a key at a colon
    for match in _TOKEN.finditer(text):
        token, line = match.group(), bisect_right(ends, match.start()) + 1
        if token == ":":
            key, waiting = waiting, None
            continue
        if token in "}]":
            stack.pop()
        elif token != ",":
            expects_key = stack[-1].is_object and key is None
            if expects_key:
                waiting = (json.loads(token), line)
                continue
            kind = token if token in "{[" else ""
            value = JsonValue(line, None if kind else json.loads(token), [], kind)
            name, at = key if key is not None else (None, line)
            stack[-1].items.append((name, at, value))
            key = None
            if kind:
                stack.append(value)
    return outer.items[0][2]


_LARGEST = 16 * 1024**2  # characters: values with their lines take about fifty times as much memory


def check_json(source: Source, found: Findings, one_root: bool = True) -> None:
    """Check every value: our own rows, nested nodes, nested objects or lists of children."""
    try:
        content = decode(source)
    except ReadError as error:
        try:
            json.loads(source.raw_text)
        except json.JSONDecodeError as broken:
            found.error("JSON", source.error_at(f"this is not JSON: {broken.msg}", broken.pos))
            return
        except (ValueError, RecursionError):
            found.error("JSON", error)
            return
        content = None  # repeated keys, which are all reported below, or a number like NaN
    if len(source.raw_text) > _LARGEST:
        return  # the reader reports the first fault
    value = read_json_lines(source.raw_text.removeprefix("\ufeff"))
    _check_keys(value, found)
    if content is None:
        return
    if is_ours(content):
        _check_rows(value, found, one_root)
    elif isinstance(content, list | dict) and content and has_nodes(content):
        _check_nodes(value, found)
    elif isinstance(content, dict) and content:
        if is_adjacency(content):
            _check_adjacency(value, found)
        else:
            _check_objects(value, found)


def _check_keys(value: JsonValue, found: Findings) -> None:
    """Report every repeated key of an object."""
    work = [value]
    while work:
        value = work.pop()
        seen: dict[Any, int] = {}
        for key, line, item in value.items:
            if value.is_object and key in seen:
                found.fault(
                    "repeated key",
                    f"the key {short(key)} is repeated in the same object, first in line "
                    f"{seen[key]}. Delete or rename one",
                    line,
                )
            seen.setdefault(key, line)
            work.append(item)


# ---------------------------------------------------------------------- our own rows


def _check_rows(value: JsonValue, found: Findings, one_root: bool) -> None:
    names, parents = value.get("names"), value.get("parents")
    if names is None or parents is None or len(names.items) != len(parents.items):
        return  # the reader reports the fault
    links = Links(found, notes_repeats=False)
    shown = [item.value if not item.kind else f"name {i}" for i, (_, _, item) in _each(names)]
    keys = [(shown[i], i) for i in range(len(shown))]  # unique, unlike names
    siblings: dict[tuple[int, str], int] = {}
    for i, (_, line, item) in _each(names):
        links.node(keys[i], line)
        if not item.kind and not item.is_name and not isinstance(item.value, float | bool):
            found.fault("name", f"the name {short(item.value)} of node {i} is empty", line)
    for i, (_, _, given) in _each(parents):
        for above in [entry for _, _, entry in given.items] if given.is_list else [given]:
            number = above.value
            if type(number) is not int or not -1 <= number < len(shown) or number == i:
                found.fault(
                    "parent",
                    f"the parent of node {i} ({short(shown[i])}) is {short(number)}: expected "
                    f"another node number (0 to {len(shown) - 1}) or -1 for the root",
                    above.line,
                )
                continue
            if number < 0:
                continue
            place = (number, repr(shown[i]))
            if place in siblings:
                found.fault(
                    "repeated name",
                    f"two children of node {number} are called {short(shown[i])}: nodes "
                    f"{siblings[place]} and {i}. Rename one",
                    above.line,
                )
            siblings.setdefault(place, i)
            links.add(keys[number], keys[i], above.line)
    links.check(one_root)


def _each(value: JsonValue) -> Any:
    return enumerate(value.items)


# ---------------------------------------------------------------------- other layouts


def _check_nodes(value: JsonValue, found: Findings) -> None:
    places = Places(found)
    first = [item for _, _, item in value.items] if value.is_list else [value]
    work = [(item, -1) for item in reversed(first)]
    while work:
        node, above = work.pop()
        if node.is_name:
            places.declare(node.value, above, node.line)
            continue
        if not node.is_object:
            found.fault("node", "expected an object among nested nodes", node.line)
            continue
        named = next((n for key in NAME_KEYS if (n := node.get(key)) is not None), None)
        if named is None or not named.is_name:
            found.fault(
                "empty name", "a node has no 'name' that is a string or an integer", node.line
            )
            continue
        place = places.declare(named.value, above, named.line)
        children = node.get("children")
        if children is not None and not children.is_list:
            if children.kind or children.value is not None:
                at = short(named.value)
                found.fault("children", f"'children' of {at} is not a list", node.line)
            continue
        if children is not None:
            work.extend((item, place) for _, _, item in reversed(children.items))


def _check_objects(value: JsonValue, found: Findings) -> None:
    places = Places(found)
    work: list[tuple[JsonValue, Any, int]] = [(value, None, -1)]
    while work:
        item, name, place = work.pop()
        if item.is_object:
            for key, line, below in item.items:
                if key == "":
                    found.fault("empty name", "a key of an object is empty: expected a name", line)
                    continue
                work.append((below, key, places.declare(key, place, line)))
        elif item.is_list:
            for _, line, below in item.items:
                if below.is_name:
                    places.declare(below.value, place, line)
                elif below.is_object:
                    work.append((below, name, place))
                else:
                    found.fault("value", "expected a name or an object in a list of leaves", line)
        elif item.value is not None and item.value != "":
            found.fault(
                "value",
                f"{short(name)} has the value {short(item.value)}: expected an object or a list",
                item.line,
            )


def _check_adjacency(value: JsonValue, found: Findings) -> None:
    links = Links(found)
    for key, line, children in value.items:
        links.node(key, line)
        for _, at, child in children.items:
            links.add(key, str(child.value), at)
    links.check(one_root=False)
    links.note_parents()
