"""Lines ``A > B > C``: one path a line, as in the product taxonomies of Google and Shopify.

A leading id (``3237 - A > B`` or ``gid://shop/1 : A > B``) is left out of the names, if all lines
have one. Prefixes are implied; ``#`` starts a comment. The tops hang off an added root.
"""

from __future__ import annotations

import re

from palmette.core.taxonomy.rows import PlaceRows, Tops
from palmette.core.taxonomy.source import Source

__all__ = ["find_separator", "looks_like", "parse", "skip_id", "split_steps"]

_STEP = re.compile(r"\s>\s|[^\s<>=-]>[^\s<>=-]")  # but no arrows, and no tags
_ID = re.compile(r"\s*(?:\d+\s+-\s|\w+://\S*\s+:\s)\s*")


def looks_like(source: Source) -> bool:
    """Whether the lines hold paths with ``>``."""
    return any(_STEP.search(line) for line in source.sample)


def parse(source: Source) -> PlaceRows:
    """Read the paths."""
    lines = list(source.content_lines())
    separator = find_separator(lines)
    have_ids = all(skip_id(line) for _, line in lines)
    rows = PlaceRows(source, Tops.ALWAYS)
    for number, line in lines:
        start = skip_id(line) if have_ids else 0
        steps = split_steps(source, number, line, start, separator)
        node = -1
        for step in steps[:-1]:
            node = rows.reach(step, node)
        rows.add(steps[-1], node, number)
    return rows


def find_separator(lines: list[tuple[int, str]]) -> str:
    """Return what stands between names, which may hold a bare ">" where it has blanks around it."""
    return " > " if any(" > " in line for _, line in lines) else ">"


def skip_id(line: str) -> int:
    """Return where the path begins behind an id; 0 where there is none."""
    match = _ID.match(line)
    return match.end() if match else 0


def split_steps(source: Source, number: int, line: str, start: int, separator: str) -> list[str]:
    """Return the names of a line, none of which may be empty."""
    steps = [step.strip() for step in line[start:].split(separator)]
    if not all(steps):
        raise source.error(
            f"a name is empty: expected names with {separator.strip()!r} between them",
            number,
            line,
            _column_of_empty(line, start, separator),
        )
    return steps


def _column_of_empty(line: str, start: int, separator: str) -> int:
    for step in line[start:].split(separator):
        if not step.strip():
            return min(start, len(line) - 1)
        start += len(step) + len(separator)
    return start
