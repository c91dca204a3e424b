"""Indented text: one name per line, children indented below their parent.

The indentation consists of spaces, tabs, or dashes before a space (``---- oak``), in steps of any
width, but it must match that of an ancestor's siblings. Blank lines and ``#`` comments are skipped.
A name in double quotes is a JSON string, so that any name can be written. A single top line is the
root; several become children of an added root.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from palmette.core.taxonomy.names import names_as_text
from palmette.core.taxonomy.rows import PlaceRows, Tops
from palmette.core.taxonomy.source import MAX_TEXT, Source
from palmette.exceptions import HierarchyError

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy

__all__ = ["is_deeper", "looks_like", "parse", "split_lines", "to_text"]

# The first line that we write: names may look like paths or edges, this line identifies the format.
_HEADER = "# Palmette hierarchy: indented text"
_STEP = "  "
_INDENTATION = re.compile(r"[ \t]*")
_DASHES = re.compile(r"--+(?=[ \t])|--+$")


def looks_like(source: Source) -> bool:
    """Whether lines have dashes or different indentations, or the file has our header."""
    if source.raw_text.startswith(_HEADER):
        return True
    if any(_DASHES.match(line) for line in source.sample):
        return True
    indentations = {len(line) - len(line.lstrip()) for line in source.sample}
    return len(indentations) > 1  # one indentation for all lines is no sign of levels


def parse(source: Source) -> PlaceRows:
    """Read the lines."""
    rows = PlaceRows(source, Tops.SEVERAL)
    open_levels: list[tuple[str, int]] = []  # indentation and node of the ancestors
    for number, line, indentation, name in split_lines(source):
        if not name:
            raise source.error("the name is missing. Write one", number, line, len(line))
        if open_levels and not is_deeper(indentation, open_levels[-1][0]):
            _close_levels(source, number, line, indentation, open_levels)
        parent = open_levels[-1][1] if open_levels else -1
        open_levels.append((indentation, rows.add(name, parent, number)))
    return rows


def split_lines(source: Source) -> Iterator[tuple[int, str, str, str]]:
    """Yield (number, line, indentation, name); a missing name is empty."""
    lines = list(source.content_lines())
    dashed = any(_DASHES.match(line) for _, line in lines)
    for number, line in lines:
        match = (_DASHES.match(line) if dashed else None) or _INDENTATION.match(line)
        indentation = match.group() if match else ""
        yield number, line, indentation, _name(line[len(indentation) :].strip())


def is_deeper(indentation: str, than: str) -> bool:
    """Whether a line with `indentation` is below a line with indentation `than`."""
    return len(indentation) > len(than) and indentation.startswith(than)


def _close_levels(
    source: Source, number: int, line: str, indentation: str, open_levels: list[tuple[str, int]]
) -> None:
    """Close all levels down to and including that of this indentation."""
    while open_levels:
        closed, _ = open_levels.pop()
        if closed == indentation:
            return
    raise source.error(
        f"the indentation of {len(indentation)} characters matches no level above it. "
        "Use the same spaces or tabs for the same level",
        number,
        line,
        len(indentation),
    )


def _name(written: str) -> str:
    if len(written) > 1 and written[0] == written[-1] == '"':
        try:
            decoded = json.loads(written)
        except ValueError:
            return written  # quotation marks that are part of the name
        return decoded if isinstance(decoded, str) else written
    return written


def to_text(hierarchy: Hierarchy) -> str:
    """Return a tree as indented text, which `Hierarchy.read` can read.

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
    >>> print(to_text(Hierarchy.from_paths([("animal", "cat"), ("plant",)])), end="")
    # Palmette hierarchy: indented text
    root
      animal
        cat
      plant
    """
    hierarchy.require_tree("indented text")
    names = names_as_text(hierarchy, "indented text")
    n_spaces = len(_STEP) * int(hierarchy.depth.sum(dtype=np.int64))
    if n_spaces > MAX_TEXT:
        raise HierarchyError(
            f"the tree has {hierarchy.max_depth} levels: indented text would need {n_spaces:,} "
            "spaces. Write JSON instead."
        )
    lines = [
        _STEP * depth + _written(name)
        for name, depth in zip(names, hierarchy.depth.tolist(), strict=True)
    ]
    return "\n".join([_HEADER, *lines, ""])


def _written(name: str) -> str:
    plain = name == name.strip() and name[:1] not in '"#-' and not re.search(r"[\r\n\0]", name)
    return name if plain else json.dumps(name)
