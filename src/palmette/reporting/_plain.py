"""Plain JSON values: what facts are made of."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cut", "plain", "plain_facts", "rounded", "to_json"]


_DIGITS = 5  # of the columns over nodes, which are long


def plain(value: Any) -> Any:
    """Turn a value into what JSON can hold: NaN becomes None, unknown objects their text.

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
    """Turn facts by name into what JSON can hold; see `plain`."""
    return {str(key): plain(item) for key, item in facts.items()}


def rounded(values: NDArray[Any]) -> list[float | None]:
    """Round numbers of a long column to a few digits; NaN is None.

    Examples
    --------
    >>> rounded(np.array([1 / 3, np.nan, 1.0]))
    [0.33333, None, 1.0]
    """
    short = np.round(np.asarray(values, dtype=np.float64), _DIGITS).tolist()
    return [value if math.isfinite(value) else None for value in short]


def cut(text: str, length: int) -> str:
    """Cut a text to a length, and say so by an ellipsis.

    Examples
    --------
    >>> cut("a long story", 7), cut("short", 7)
    ('a long…', 'short')
    """
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def to_json(facts: dict[str, Any]) -> str:
    """Write facts as JSON, every section on a line of its own: columns would fill pages.

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
