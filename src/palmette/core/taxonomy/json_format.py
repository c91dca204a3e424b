"""JSON in all layouts: decode it safely, then detect the layout."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from palmette.core.taxonomy import json_rows, json_shapes
from palmette.core.taxonomy.rows import Rows, short
from palmette.core.taxonomy.source import Source
from palmette.exceptions import ReadError

__all__ = ["decode", "looks_like", "parse"]

# a list of objects, lists or strings, but not "[Term]" of an OBO file or a path "[x] > y"
_START = re.compile(r'\{\s*(?:["}]|$)|\[\s*(?:[\[{"\]]|$)')


def looks_like(source: Source) -> bool:
    """Whether the file starts like a JSON object or list."""
    return _START.match(source.head) is not None


def parse(source: Source) -> Rows:
    """Read our own rows, or a layout of other programs."""
    content = decode(source)
    if json_rows.is_ours(content):
        return json_rows.parse(source, content)
    return json_shapes.parse(source, content)


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
