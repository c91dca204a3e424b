"""Lines ``A > B > C``: one path per line, as in the product taxonomies of Google and Shopify.

If all lines have a leading id (``3237 - A > B`` or ``gid://shop/1 : A > B``), it is not part of the
names. Prefixes are implied; ``#`` starts a comment. Top nodes become children of an added root.
"""

from __future__ import annotations

import re

from palmette.core.taxonomy.rows import PlaceRows, Tops
from palmette.core.taxonomy.source import Source

__all__ = ["find_separator", "looks_like", "parse", "skip_id", "split_steps"]

_STEP = re.compile(r"\s>\s|[^\s<>=-]>[^\s<>=-]")  # not an arrow or a tag
_ID = re.compile(r"\s*(?:\d+\s+-\s|\w+://\S*\s+:\s)\s*")


def looks_like(source: Source) -> bool:
    """Whether lines contain paths with ``>``."""
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
    """Return the separator: " > " if any line has it, so that names may contain ">", else ">"."""
    return " > " if any(" > " in line for _, line in lines) else ">"


def skip_id(line: str) -> int:
    """Return the start of the path after an id; 0 if there is no id."""
    match = _ID.match(line)
    return match.end() if match else 0


def split_steps(source: Source, number: int, line: str, start: int, separator: str) -> list[str]:
    """Return the names of a line, none of which may be empty."""
    steps = [step.strip() for step in line[start:].split(separator)]
    if not all(steps):
        raise source.error(
            f"a name is empty: expected names separated by {separator.strip()!r}",
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
