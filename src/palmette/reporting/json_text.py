"""Facts as JSON: a section a line."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["to_json"]


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
