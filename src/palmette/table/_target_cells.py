"""The cells of a target: lists and texts of lists, gaps, and the labels that they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from palmette._arrays import is_missing
from palmette._text import listed
from palmette.exceptions import PalmetteError
from palmette.hierarchy._separators import (
    SEPARATORS,
    detect_separator,
    lists_are_paths,
    split_path,
)
from palmette.table._target_nodes import Path, Refuse, find_node, place_of
from palmette.table._written import near_names

if TYPE_CHECKING:
    import pandas as pd

    from palmette.hierarchy._hierarchy import Hierarchy

LISTS = (list, tuple, set, frozenset, np.ndarray)
Label = str | tuple[str, ...]
_URIS = re.compile(r"<[^<>\s]+>(?:\s+<[^<>\s]+>)*")
_STRING = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_ITEM = f"(?:{_STRING.pattern})"
_FLAT = rf"\[\s*(?:{_ITEM}(?:\s*,\s*{_ITEM})*)?\s*\]"
_LIST = re.compile(rf"\s*{_FLAT}\s*", re.DOTALL)
_NESTED = re.compile(rf"\s*\[\s*{_FLAT}(?:\s*,\s*{_FLAT})*\s*\]\s*", re.DOTALL)
_INNER = re.compile(_FLAT, re.DOTALL)
_TAGS = re.compile(r"\s*(?:<[^<>\s]+>)+\s*")
_BARE = re.compile(r"\s*(?:\[[^\[\]\"']*\]|\{[^{}\"']*\})\s*")  # a list without quotes
_FLAGS = {
    **dict.fromkeys(("1", "true", "yes", "y"), True),
    **dict.fromkeys(("0", "false", "no", "n"), False),
}
_TRIED_MARKS = (";", "|", ",", "\t", " ")  # of labels that a thesaurus has


def find_columns(target: str | Sequence[str], columns: list[str]) -> list[str]:
    """Return the target columns; their names may be separated by commas, and be patterns.

    Examples
    --------
    >>> find_columns("top,below", ["top", "below", "price"])
    ['top', 'below']
    >>> find_columns("tag_*", ["tag_red", "tag_blue", "price"])
    ['tag_red', 'tag_blue']
    """
    named = [target] if isinstance(target, str) else [str(name) for name in target]
    found: list[str] = []
    for name in named:
        for part in [name] if name in columns else [part.strip() for part in name.split(",")]:
            alike = [] if part in columns else [c for c in columns if fnmatchcase(c, part)]
            found += alike or [part]
    for name in found:
        if name not in columns:
            near = near_names(name, columns)
            hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise PalmetteError(
                f"there is no target column {name!r} (there is: {listed(columns)}).{hint}"
            )
    twice = [name for i, name in enumerate(found) if name in found[:i]]
    if twice or not found:
        raise PalmetteError(
            f"the target column {twice[0]!r} is listed twice: list it once."
            if twice
            else "no target is given: pass the name of a column."
        )
    return found


def distinct(cells: list[Any]) -> list[Any]:
    """Return cells without repeated texts, in order.

    Parameters
    ----------
    cells : list
    """
    texts = dict.fromkeys(cell for cell in cells if type(cell) is str)
    return [*texts, *(cell for cell in cells if type(cell) is not str)]


def mark_of_uris(cells: list[Any]) -> str | None:
    """Return " " if all cells have URIs in angle brackets, and some have several of them.

    Examples
    --------
    >>> mark_of_uris(["<http://a.org/1> <http://a.org/2>", "<http://a.org/1>"])
    ' '
    """
    texts = [cell for cell in cells if isinstance(cell, str)]
    if len(texts) < len(cells) or not all(_URIS.fullmatch(text.strip()) for text in texts):
        return None
    return " " if any(len(text.split()) > 1 for text in texts) else None


def are_lists(texts: list[str]) -> bool:
    """Return whether nearly all texts are lists, as JSON or Python write them.

    Parameters
    ----------
    texts : list of str
    """
    some = texts[:1000]
    if sum(_STRING.fullmatch(text.strip()) is not None for text in some) > 0.9 * len(some):
        return True
    several = {_TAGS: "><", _BARE: ","}
    forms = [f for f, mark in several.items() if any(mark in text for text in texts)]
    return any(
        sum(any(form.fullmatch(text) for form in group) for text in some) > 0.9 * len(some)
        for group in ((_LIST, _NESTED), *((form,) for form in forms))
    )


def list_in(text: str) -> list[Any]:
    """Return the texts of a list that is written as JSON or Python do, or the text as it is.

    Examples
    --------
    >>> list_in('["a > b", "c"]'), list_in("['a', 'b']"), list_in("a")
    (['a > b', 'c'], ['a', 'b'], ['a'])
    >>> list_in('[["a", "b"], ["a", "c"]]')
    [['a', 'b'], ['a', 'c']]
    >>> list_in("<a><b>"), list_in("{a, b}"), list_in('"a > b"')
    (['a', 'b'], ['a', 'b'], ['a > b'])
    """
    if _NESTED.fullmatch(text) is not None:
        return [list_in(each) for each in _INNER.findall(text.strip()[1:])]
    if _LIST.fullmatch(text) is None:
        if _TAGS.fullmatch(text) is not None:
            return text.strip()[1:-1].split("><")
        if _BARE.fullmatch(text) is not None:
            return [part.strip() for part in text.strip()[1:-1].split(",")]
        if _STRING.fullmatch(text.strip()) is None:
            return [text]
    with suppress(ValueError):
        read = json.loads(text)
        return [read] if isinstance(read, str) else [str(each) for each in read]
    return [re.sub(r"\\(.)", r"\1", each.group()[1:-1]) for each in _STRING.finditer(text)]


def names_of_lists(
    cells: Iterable[Any], hierarchy: Hierarchy | None = None
) -> list[tuple[str, ...]] | None:
    """Return the names of lists that are paths from the top; None if they are sets of labels.

    A cell is a path, or a list of paths.

    Parameters
    ----------
    cells : iterable of lists
    hierarchy : Hierarchy, optional
        A given one, which has most of the paths then.

    Examples
    --------
    >>> names_of_lists([[["a", "b"], ["a", "c"]]])
    [('a', 'b'), ('a', 'c')]
    >>> names_of_lists([["a", "b"], ["b", "a"], ["b"], ["c", "a"]]) is None
    True
    """
    lists = [cell for cell in cells if len(cell)]
    nested = [[isinstance(each, LISTS) for each in cell] for cell in lists]
    if lists and all(map(all, nested)):
        return [names_of(each) for cell in lists for each in cell if len(each)]
    if any(map(any, nested)) or any(isinstance(cell, set | frozenset) for cell in lists):
        return None
    paths = [names_of(cell) for cell in lists]
    if hierarchy is None:
        return paths if lists_are_paths(paths) else None
    found = sum(len(path) > 1 and find_node(path, hierarchy) > 0 for path in paths)
    return paths if 2 * found > len(paths) else None


def names_of(cell: Any) -> tuple[str, ...]:
    """Return the names of a path that is a list.

    Parameters
    ----------
    cell : list
    """
    return tuple("" if is_gap(each) else text_of(each).strip() for each in cell)


def mark_of_labels(cells: list[Any], thesaurus: Hierarchy) -> str | None:
    """Return the separator of labels by which the most parts of cells are in a thesaurus.

    None if cells are labels as they are, or if most of their parts are not there.

    Parameters
    ----------
    cells : list
    thesaurus : Hierarchy
    """
    lists = ([text_of(each) for each in c] if isinstance(c, LISTS) else [text_of(c)] for c in cells)
    texts = {text for row in lists for text in row}

    def share(labels: Collection[str]) -> float:
        found = sum(find_node((label.strip(),), thesaurus) > 0 for label in labels)
        return found / max(len(labels), 1)

    best, most = None, max(share(texts), 0.5)
    for mark in _TRIED_MARKS:
        parts = [part for text in texts for part in text.split(mark) if part.strip()]
        if len(parts) == len(texts) or (mark == " " and not all(":" in part for part in parts)):
            continue  # blanks separate URIs only, since labels have them
        if share(parts) > most and not any(mark in str(name) for name in thesaurus.names[1:]):
            best, most = mark, share(parts)
    return best


def refuse_row(words: str, row: int, refuse: Refuse | None) -> None:
    """Refuse the target of a row: by default it is an error.

    Parameters
    ----------
    words : str
        What is wrong.
    row : int
    refuse : callable, optional
    """
    if refuse is None:
        raise PalmetteError(words)
    refuse(row, words)


def are_flags(frame: pd.DataFrame, columns: list[str]) -> bool:
    """Return whether columns have nothing but zeros and ones, or texts that mean them.

    Parameters
    ----------
    frame : DataFrame of n_samples rows
    columns : list of str

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"red": [1, 0], "big": ["yes", "no"], "kind": ["cat", "dog"]})
    >>> are_flags(frame, ["red", "big"]), are_flags(frame, ["red", "kind"])
    (True, False)
    """
    return all(
        _flag_of(cell) is not None for name in columns for cell in frame[name].dropna().unique()
    )


def flagged_labels(
    frame: pd.DataFrame, columns: list[str], lines: Any, refuse: Refuse | None
) -> list[list[Path] | None]:
    """Return the names of the columns that have a 1, for each row; None for a row of empty cells.

    Parameters
    ----------
    frame : DataFrame of n_samples rows
    columns : list of str
    lines, refuse
        As in `TargetForm.read`.
    """
    rows: list[list[Path] | None] = []
    labels: list[Path] = [(name,) for name in columns]
    for row, cells in enumerate(zip(*(frame[name].tolist() for name in columns), strict=True)):
        flags = [False if is_gap(cell) else _flag_of(cell) for cell in cells]
        if None in flags:
            k = flags.index(None)
            refuse_row(
                f"{place_of(row, lines)} of the target column {columns[k]!r} has "
                f"{str(cells[k])[:60]!r}: expected 1 or 0, as in the table of the fit.",
                row,
                refuse,
            )
            rows.append(None)
        else:
            there = [label for label, flag in zip(labels, flags, strict=True) if flag]
            rows.append(None if all(map(is_gap, cells)) else there)
    return rows


def _flag_of(cell: Any) -> bool | None:
    """Return whether a cell says that a row has a label; None if it says neither yes nor no."""
    if isinstance(cell, LISTS):
        return None
    return _FLAGS.get(text_of(cell).strip().casefold())


def level_paths(
    frame: pd.DataFrame, columns: list[str], lines: Any, refuse: Refuse | None, gaps: list[Label]
) -> list[Path | None]:
    """Return the paths of levels in columns; an empty level between others is left out.

    Parameters
    ----------
    frame : DataFrame of n_samples rows
    columns : list of str
    lines, refuse
        As in `TargetForm.read`.
    gaps : list
        Gets the paths with an empty level.
    """
    paths: list[Path | None] = []
    for row, cells in enumerate(zip(*(frame[name].tolist() for name in columns), strict=True)):
        names = [None if is_gap(cell) else text_of(cell).strip() for cell in cells]
        there = tuple(name for name in names if name is not None)
        written = ", ".join("-" if name is None else name for name in names)
        if there and names[0] is None:
            refuse_row(
                f"{place_of(row, lines)} has the path ({written}): expected a name at the top. "
                "Fill in the column, as in all rows below a merged cell.",
                row,
                refuse,
            )
            there = ()
        elif None in names[: len(there)]:
            gaps.append(tuple(name or "" for name in names[: len(there) + 1]))
        paths.append(there or None)
    return paths


def is_gap(cell: Any) -> bool:
    """Return whether a cell has no label."""
    if cell is None or isinstance(cell, LISTS):
        return cell is None or len(cell) == 0
    if isinstance(cell, str):
        return not cell.strip()
    return is_missing(cell)


def text_of(cell: Any) -> str:
    """Convert a cell to a name; 3.0, the form of 3 in a column with missing values, becomes 3.

    Objects of JSON with a URI, as corpora of subject indexing have them, become the URI.
    """
    if isinstance(cell, dict) and isinstance(cell.get("uri"), str):
        return str(cell["uri"])
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def fitting_separator(names: Iterable[str], hierarchy: Hierarchy) -> str | None:
    """Return the separator with which most names are in a hierarchy; empty for plain names.

    Parameters
    ----------
    names : iterable of str
    hierarchy : Hierarchy
    """
    texts = set(names)
    marks = [mark for mark in SEPARATORS if any(mark in name for name in texts)]
    candidates = [detect_separator(texts, any_mark=True), "", *marks]
    best, most = None, 0
    for separator in dict.fromkeys(each for each in candidates if each is not None):
        paths = (split_path(name, separator or None) for name in texts)
        found = sum(find_node(path, hierarchy) > 0 for path in paths if path)
        if found > most:
            best, most = separator, found
    return best
