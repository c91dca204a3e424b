"""Lines ``A > B > C``: one path a line, as in the product taxonomies of Google and Shopify.

A leading id (``3237 - A > B`` or ``gid://shop/1 : A > B``) is left out of the names, if all lines
have one. Prefixes are implied; ``#`` starts a comment. The tops hang off an added root.
"""

from __future__ import annotations

import re

from palmette.core.taxonomy.rows import PlaceRows, Tops
from palmette.core.taxonomy.source import Source

__all__ = ["looks_like", "parse"]

_STEP = re.compile(r"\s>\s|[^\s<>=-]>[^\s<>=-]")  # but no arrows, and no tags
_ID = re.compile(r"\s*(?:\d+\s+-\s|\w+://\S*\s+:\s)\s*")


def looks_like(source: Source) -> bool:
    """Whether the lines hold paths with ``>``."""
    return any(_STEP.search(line) for line in source.sample)


def parse(source: Source) -> PlaceRows:
    """Read the paths."""
    lines = list(source.content_lines())
    # names may hold a bare ">" where the file puts blanks around its separator
    separator = " > " if any(" > " in line for _, line in lines) else ">"
    have_ids = all(_ID.match(line) for _, line in lines)
    rows = PlaceRows(source, Tops.ALWAYS)
    for number, line in lines:
        match = _ID.match(line) if have_ids else None
        start = match.end() if match else 0
        steps = [step.strip() for step in line[start:].split(separator)]
        if not all(steps):
            raise source.error(
                f"a name is empty: expected names with {separator.strip()!r} between them",
                number,
                line,
                _column_of_empty(line, start, separator),
            )
        node = -1
        for step in steps[:-1]:
            node = rows.reach(step, node)
        rows.add(steps[-1], node, number)
    return rows


def _column_of_empty(line: str, start: int, separator: str) -> int:
    for step in line[start:].split(separator):
        if not step.strip():
            return min(start, len(line) - 1)
        start += len(step) + len(separator)
    return start
