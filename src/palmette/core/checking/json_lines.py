"""Parse JSON and keep the line of every value, and repeated keys."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

__all__ = ["JsonValue", "read_json_lines"]

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
