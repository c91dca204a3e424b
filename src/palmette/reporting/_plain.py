"""Conversion of values to plain JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DIGITS = 5  # decimals in columns with one value per node


def plain(value: Any) -> Any:
    """Convert a value to plain JSON types: NaN becomes None, other objects their text.

    Parameters
    ----------
    value : object

    Returns
    -------
    dict, list, str, int, float, bool or None

    Examples
    --------
    >>> plain({"a": np.float64("nan"), 2: np.array([1, 2]), "c": (None, True)})
    {'a': None, '2': [1, 2], 'c': [None, True]}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return plain_facts(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return cut(str(value), 300)


def plain_facts(facts: Mapping[Any, Any]) -> dict[str, Any]:
    """Convert a mapping to plain JSON types; see `plain`."""
    return {str(key): plain(item) for key, item in facts.items()}


def rounded(values: NDArray[Any]) -> list[float | None]:
    """Round the numbers of a long column; NaN becomes None.

    Examples
    --------
    >>> rounded(np.array([1 / 3, np.nan, 1.0]))
    [0.33333, None, 1.0]
    """
    short = np.round(np.asarray(values, dtype=np.float64), _DIGITS).tolist()
    return [value if math.isfinite(value) else None for value in short]


def cut(text: str, length: int) -> str:
    """Truncate a text to a length, with an ellipsis at the end.

    Examples
    --------
    >>> cut("a long story", 7), cut("short", 7)
    ('a long…', 'short')
    """
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def to_json(facts: dict[str, Any]) -> str:
    """Write facts as JSON with one line per section, since indented columns would be very long.

    Examples
    --------
    >>> print(to_json({"title": "a", "levels": [1, 2]}), end="")
    {
    "title": "a",
    "levels": [1, 2]
    }
    """
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in facts.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"
