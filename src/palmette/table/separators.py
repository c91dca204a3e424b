"""How paths are written in a cell: the separator between the names, found where it is not said."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["SEPARATORS", "detect_separator", "split_path"]

# of two that are in as many cells the first is taken: " -> " holds ">", and " > " does
SEPARATORS = (
    *(" -> ", "->", " > ", ">", " » ", "»", " :: ", "::"),
    *(" | ", "|", " / ", "/", " \\ ", "\\"),
)
_ONLY_THERE = SEPARATORS[:8]  # names do not hold them by chance
_SHARE = 0.6  # of the distinct cells that a separator must be in


def detect_separator(cells: Iterable[str]) -> str | None:
    """Return the separator that most cells use, None where they are plain names.

    It must be in most of the distinct cells. One that names may hold by chance, such as ``/``, must
    also group them: the names before it are fewer than the cells.

    Parameters
    ----------
    cells : iterable of str

    Examples
    --------
    >>> detect_separator(["Food > Fruit", "Food > Fish", "Tools"])
    ' > '
    >>> detect_separator(["cat", "dog", "either/or"]) is None
    True
    """
    distinct = list(dict.fromkeys(cells))
    best, most = None, 0
    for separator in SEPARATORS:
        having = [cell for cell in distinct if separator in cell]
        tops = {cell.split(separator)[0].strip() for cell in having}
        groups = len(tops) < len(having) or separator in _ONLY_THERE
        if groups and len(having) >= _SHARE * len(distinct) and len(having) > most:
            best, most = separator, len(having)
    return best


def split_path(cell: str, separator: str | None) -> tuple[str, ...]:
    """Split a cell into the names of a path; white space around them does not count.

    Examples
    --------
    >>> split_path("Food > Fruit > ", ">")
    ('Food', 'Fruit')
    """
    if separator is None:
        return (cell.strip(),)
    mark = separator.strip() or separator
    names = [name.strip() for name in cell.split(mark)]
    while names and not names[-1]:  # a path that ends in a separator ends before it
        names.pop()
    return tuple(names)
