"""Sections of ICD-10-CM: ranges of codes, some of which contain others.

The files list ``C00-C96``, ``C00-C75`` and ``C00-C14`` one after the other; only the ranges show
that the first contains the others. Some sections contain one code (``B20``).
"""

from __future__ import annotations

from palmette.core.taxonomy.rows import PlaceRows

__all__ = ["Sections"]


class Sections:
    """Nests the sections of a chapter, in the order of the file.

    Parameters
    ----------
    rows : PlaceRows
    """

    def __init__(self, rows: PlaceRows) -> None:
        self._rows = rows
        self._chapter = -1
        self._open: list[tuple[str, str, int]] = []

    def start_chapter(self, chapter: int) -> None:
        """Start a chapter, which closes all sections."""
        self._chapter = chapter
        self._open = []

    def add(self, name: str, line: int) -> int:
        """Add a section below the innermost open one whose range contains it, or the chapter."""
        first, _, last = name.partition("-")
        last = last or first
        while self._open and not (self._open[-1][0] <= first and last <= self._open[-1][1]):
            self._open.pop()
        parent = self._open[-1][2] if self._open else self._chapter
        node = self._rows.add(name, parent, line)
        self._open.append((first, last, node))
        return node
