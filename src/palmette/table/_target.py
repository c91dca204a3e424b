"""The target of a table: its columns, and how their cells give paths of names."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from palmette._arrays import is_missing
from palmette._text import listed
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import shown
from palmette.hierarchy._separators import (
    SEPARATORS,
    detect_separator,
    detect_separators,
    join_path,
    split_path,
)
from palmette.persistence.checks import held, require
from palmette.table._near_labels import respell
from palmette.table._target_nodes import Path, Refuse, find_node, place_of
from palmette.table._written import near_names

if TYPE_CHECKING:
    import pandas as pd

_LISTS = (list, tuple, set, frozenset, np.ndarray)
# in this order, for names that contain the others
_JOINERS = (" > ", " / ", " | ", " :: ", " » ", " -> ")
_URIS = re.compile(r"<[^<>\s]+>(?:\s+<[^<>\s]+>)*")
_STRING = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_ITEM = f"(?:{_STRING.pattern})"
_LIST = re.compile(rf"\s*\[\s*(?:{_ITEM}(?:\s*,\s*{_ITEM})*)?\s*\]\s*", re.DOTALL)
_LABEL_MARKS = (";", "|", " || ", " && ")
_TRIED_MARKS = (";", "|", ",", "\t", " ")  # of labels that a thesaurus has


class TargetForm:
    """The columns of the target, and how they are read.

    Parameters
    ----------
    columns : list of str
        One column, or the levels of a path from the top.
    separator : str or None
        Separator of the names of a path in one column; None for plain names.
    labels_separator : str or None
        Separator of the paths of a row, if it has several.
    several : bool
        Whether rows may have several paths.

    Attributes
    ----------
    joiner : str or None
        Separator that paths are written with, if it is not `separator`.
    labels_mark : str
        Separator that several labels of a row are written with.
    spellings : dict of str to str
        Labels that the table writes otherwise than joined by the separator, such as ``"a >b"``.
    splits_lists : bool
        Whether `labels_separator` was found, and then also separates labels inside of lists.
    lists_in_texts : bool
        Whether cells are texts of lists, such as ``["a > b", "a > c"]``.
    cells : list of str
        Up to three cells with several labels, if their separator was found.
    spelled : dict of str to str
        Names by path, if spellings in other case are read as one; see `_near_labels`.
    example : str or None
        A label that the separator splits, or that is a plain name in spite of such a mark.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"kind": ["Food > Fruit", None, "Tools"]})
    >>> TargetForm(["kind"], " > ").read(frame)
    [('Food', 'Fruit'), None, ('Tools',)]
    """

    in_files: ClassVar = {
        "columns": held(list, each=(str,)),
        "separator": held(str, or_none=True),
        "labels_separator": held(str, or_none=True),
        "several": held(bool),
        "joiner": held(str, or_none=True),
        "labels_mark": held(str),
        "spellings": held(dict, each=(str,)),
        "splits_lists": held(bool),
        "lists_in_texts": held(bool, or_absent=True),
        "cells": held(list, each=(str,), or_absent=True),
        "spelled": held(dict, each=(str,), or_absent=True),
        "example": held(str, or_none=True),
    }

    def __init__(
        self,
        columns: list[str],
        separator: str | None = None,
        labels_separator: str | None = None,
        several: bool = False,
    ) -> None:
        self.columns = columns
        self.separator = separator
        self.labels_separator = labels_separator
        self.several = several
        self.joiner: str | None = None
        self.labels_mark = labels_separator or _LABEL_MARKS[0]
        self.spellings: dict[str, str] = {}
        self.splits_lists = False
        self.lists_in_texts = False
        self.cells: list[str] = []
        self.spelled: dict[str, str] = {}
        self.example: str | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__([], labels_separator=state.get("labels_separator"))  # type: ignore[misc]
        self.__dict__.update(state)

    def check_arrays(self) -> None:
        """Raise ValueError for a target without columns, from a file."""
        require(isinstance(self.columns, list) and len(self.columns) > 0, "a target has no columns")

    @classmethod
    def find(
        cls,
        frame: pd.DataFrame,
        target: str | Sequence[str],
        *,
        separator: str | None = None,
        labels_separator: str | None = None,
        hierarchy: Hierarchy | None = None,
    ) -> TargetForm:
        """Infer how the target is written, unless it is given.

        Parameters
        ----------
        frame : DataFrame
        target : str or sequence of str
            One column, or the levels of a path; names may be separated by commas.
        separator : str, optional
            Used exactly as given. Found by default; an empty string means that cells are plain
            names.
        labels_separator : str, optional
            Separator of several paths in a cell; cells may also be lists of paths, or texts of
            such lists. Found by default, if it separates paths, or if `hierarchy` is a thesaurus.
        hierarchy : Hierarchy, optional
            Hierarchy that contains the labels.

        Returns
        -------
        TargetForm
        """
        columns = find_columns(target, list(frame.columns))
        if len(columns) > 1:
            for given, option in ((separator, "separator"), (labels_separator, "labels_separator")):
                if given:
                    raise PalmetteError(
                        f"{option} needs one target column, but {len(columns)} are given: "
                        f"{listed(columns)}."
                    )
            return cls(columns)
        is_given = separator is not None
        cells = [cell for cell in _distinct(frame[columns[0]].tolist()) if not _is_gap(cell)]
        is_found = labels_separator is None
        if is_found and hierarchy is not None and hierarchy.vocabulary is not None:
            labels_separator = _mark_of_uris(cells) or _mark_of_labels(cells, hierarchy)
        several = labels_separator is not None or any(isinstance(c, _LISTS) for c in cells)
        form = cls(columns, None, labels_separator, several)
        form.splits_lists = is_found and labels_separator is not None
        texts = [cell for cell in cells if isinstance(cell, str)]
        form.lists_in_texts = len(texts) == len(cells) and _are_lists(texts)
        form.several = form.several or form.lists_in_texts
        is_open = separator is None and hierarchy is None and not form.several
        if is_open and len(texts) == len(cells):
            separator = form._find_both(texts)
        names = {name for cell in cells for name in form._labels(cell)}
        if separator is None:
            known = None if hierarchy is None else _fitting_separator(names, hierarchy)
            separator = detect_separator(names, any_mark=True) if known is None else known
        form.separator = separator or None
        is_plain = not separator and hierarchy is None and not is_given
        marks = (separator,) if separator else SEPARATORS if is_plain else ()
        form.example = min((n for n in names if any(mark in n for mark in marks)), default=None)
        return form

    def read(
        self,
        frame: pd.DataFrame,
        known: dict[str, Path] | None = None,
        lines: Any = None,
        refuse: Refuse | None = None,
    ) -> list[Any]:
        """Read the paths of all rows.

        Parameters
        ----------
        frame : DataFrame of n_samples rows
        known : dict of str to path, optional
            Gets the path of every label of the cells.
        lines : int array of shape (n_samples,), optional
            Lines of the rows in their file, for messages.
        refuse : callable, optional
            Called with the number of a row, from 0, and what is wrong with its target, which is
            then None; by default it is an error.

        Returns
        -------
        list of n_samples entries
            A path, or a list of paths if rows may have several; None for a row without a target.
        """
        levels = self.columns
        if levels[-1] in frame.columns and not set(levels) <= set(frame.columns):
            levels = levels[-1:]  # names of the last level say the rest, in a known hierarchy
        for name in levels:
            if name not in frame.columns:
                raise PalmetteError(
                    f"the table has no target column {name!r} (it has: {listed(frame.columns)})."
                )
        if len(self.columns) > 1:
            return [*map(self.respelled, _level_paths(frame, levels, lines, refuse))]
        known = {} if known is None else known
        rows: list[Any] = []
        read: dict[str, Any] = {}  # the same text is read once, whatever the number of rows
        for row, cell in enumerate(frame[self.columns[0]].tolist()):
            if type(cell) is str and cell in read:
                rows.append(list(read[cell]) if type(read[cell]) is list else read[cell])
                continue
            if _is_gap(cell):
                rows.append(None)
                continue
            try:
                paths = [*dict.fromkeys(self._path(label, known) for label in self._labels(cell))]
            except _BadTarget as error:
                _refuse(f"{place_of(row, lines)} of {error}", row, refuse)
                rows.append(None)
                continue
            found = paths if self.several else paths[0] if paths else None
            rows.append(self.respelled(found or None))
            if type(cell) is str:
                read[cell] = rows[-1]
        return rows

    def respelled(self, row: Any) -> Any:
        """Return the path of a row, a list of them or None, in the most frequent spelling."""
        if row is None or not self.spelled:
            return row
        if isinstance(row, list):
            return list(dict.fromkeys(respell(path, self.spelled) for path in row))
        return respell(row, self.spelled)

    def settle(
        self, labels: Iterable[Any], known: dict[str, Path], hierarchy: Hierarchy | None = None
    ) -> None:
        """Choose how paths are written, so that different paths are different texts.

        Parameters
        ----------
        labels : iterable of paths, or of names
            All labels, as full paths in a tree.
        known : dict of str to path
            Labels of the cells and their paths, as from `read`.
        hierarchy : Hierarchy, optional
        """
        paths = {label if isinstance(label, tuple) else (label,) for label in labels}
        if hierarchy is not None and self.writes_names(hierarchy):
            paths = {path[-1:] for path in paths}
        paths |= {path[:end] for path in paths for end in range(1, len(path))}
        joiners = _JOINERS if self.separator is None else (self.separator,)
        if self.separator is not None:
            for text, path in reversed(known.items()):
                if text.strip() != self.separator.join(path):
                    self.spellings[self.separator.join(path)] = text.strip()
        for joiner in joiners:
            odd = [path for path in paths if self._is_lost(path, joiner)]
            if not odd or max(map(len, paths)) == 1:
                self.joiner = joiner
                break
        else:
            raise PalmetteError(
                f"the path {odd[0]} cannot be written with the separator "
                f"{' or '.join(map(repr, joiners))}, which would split it otherwise. Pass another "
                "separator, or rename the class."
            )
        texts = [self.write(path) for path in paths]
        marks = [self.labels_separator] if self.labels_separator else _LABEL_MARKS
        free = [mark for mark in marks if not any(mark in text for text in texts)]
        if self.several and not free:
            lost = next(text for text in texts if marks[0] in text)
            raise PalmetteError(
                f"the label {lost!r} cannot be written in a cell with several labels, which "
                f"{' or '.join(map(repr, marks))} would separate. Pass another labels_separator, "
                "or rename the class."
            )
        self.labels_mark = (free or marks)[0]

    def writes_names(self, hierarchy: Hierarchy) -> bool:
        """Whether labels are written without what is above them: URIs of a thesaurus."""
        return hierarchy.vocabulary is not None and self.separator is None

    def _is_lost(self, path: Path, joiner: str) -> bool:
        return join_path(path, joiner) is None and joiner.join(map(str, path)) not in self.spellings

    def write(self, path: Path) -> str:
        """Write a path as in the table; levels in columns are joined, usually by ``" > "``."""
        joiner = self.joiner or self.separator or _JOINERS[0]
        text = joiner.join(map(str, path))
        return self.spellings.get(text, text)

    def _find_both(self, texts: list[str]) -> str:
        """Find the separators of names and of paths; return the first, empty for plain names."""
        separator, self.labels_separator = detect_separators(texts)
        if self.labels_separator is not None:
            self.several = True
            self.cells = list(islice((each for each in texts if len(self._labels(each)) > 1), 3))
        return separator or ""

    def describe(self) -> str:
        """Describe how the target is read."""
        if len(self.columns) > 1:
            return f"levels {', '.join(self.columns)}"
        words = f"column {self.columns[0]!r}"
        if self.separator is not None:
            words += f", paths with the separator {self.separator!r}"
        elif self.example is not None:
            words += ", plain names"
        if self.example is not None:
            words += f" such as {shown(self.example)}"
        if self.several:
            mark = (
                "" if self.labels_separator is None else f" separated by {self.labels_separator!r}"
            )
            words += f", several labels per row{mark}"
            if self.cells:
                words += f", as in {'; '.join(map(shown, self.cells))}"
        return words

    def _labels(self, cell: Any) -> list[str]:
        if isinstance(cell, _LISTS):
            texts = [_text(each) for each in cell if not _is_gap(each)]
            if not self.splits_lists:
                return texts
        elif self.lists_in_texts and isinstance(cell, str):
            texts = [text for text in _list_in(cell) if text.strip()]
        else:
            texts = [_text(cell)]
        if not self.labels_separator:
            return texts
        parts = (part.strip() for text in texts for part in text.split(self.labels_separator))
        return [part for part in parts if part]

    def _path(self, label: str, known: dict[str, Path]) -> Path:
        path = known.get(label)
        if path is None:
            path = split_path(label, self.separator)
            if not path or not all(path):
                raise _BadTarget(
                    f"the target column {self.columns[0]!r} has the path {label!r}, in which a "
                    "name is empty. Correct it, or pass another separator."
                )
            known[label] = path
        return path

    def __repr__(self) -> str:
        return f"TargetForm({self.describe()})"


def find_columns(target: str | Sequence[str], columns: list[str]) -> list[str]:
    """Return the target columns; their names may be separated by commas.

    Examples
    --------
    >>> find_columns("top,below", ["top", "below", "price"])
    ['top', 'below']
    """
    named = [target] if isinstance(target, str) else [str(name) for name in target]
    found: list[str] = []
    for name in named:
        found += [name] if name in columns else [part.strip() for part in name.split(",")]
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


def _distinct(cells: list[Any]) -> list[Any]:
    """Return cells without repeated texts, in order."""
    texts = dict.fromkeys(cell for cell in cells if type(cell) is str)
    return [*texts, *(cell for cell in cells if type(cell) is not str)]


def _mark_of_uris(cells: list[Any]) -> str | None:
    """Return " " if all cells have URIs in angle brackets, and some have several of them.

    Examples
    --------
    >>> _mark_of_uris(["<http://a.org/1> <http://a.org/2>", "<http://a.org/1>"])
    ' '
    """
    texts = [cell for cell in cells if isinstance(cell, str)]
    if len(texts) < len(cells) or not all(_URIS.fullmatch(text.strip()) for text in texts):
        return None
    return " " if any(len(text.split()) > 1 for text in texts) else None


def _are_lists(texts: list[str]) -> bool:
    """Return whether nearly all texts are lists of texts, as JSON or Python write them."""
    some = texts[:1000]
    return sum(_LIST.fullmatch(text) is not None for text in some) > 0.9 * len(some)


def _list_in(text: str) -> list[str]:
    """Return the texts of a list that is written as JSON or Python do, or the text as it is.

    Examples
    --------
    >>> _list_in('["a > b", "c"]'), _list_in("['a', 'b']"), _list_in("a")
    (['a > b', 'c'], ['a', 'b'], ['a'])
    """
    if _LIST.fullmatch(text) is None:
        return [text]
    with suppress(ValueError):
        return [str(each) for each in json.loads(text)]
    return [re.sub(r"\\(.)", r"\1", each.group()[1:-1]) for each in _STRING.finditer(text)]


def _mark_of_labels(cells: list[Any], thesaurus: Hierarchy) -> str | None:
    """Return the separator of labels by which the most parts of cells are in a thesaurus.

    None if cells are labels as they are, or if most of their parts are not there.
    """
    lists = ([_text(each) for each in c] if isinstance(c, _LISTS) else [_text(c)] for c in cells)
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


class _BadTarget(PalmetteError):
    """A cell is not a path; the message does not name the row."""


def _refuse(words: str, row: int, refuse: Refuse | None) -> None:
    if refuse is None:
        raise PalmetteError(words)
    refuse(row, words)


def _level_paths(
    frame: pd.DataFrame, columns: list[str], lines: Any, refuse: Refuse | None
) -> list[Path | None]:
    """Paths of levels in columns; after an empty cell all others must be empty."""
    paths: list[Path | None] = []
    for row, cells in enumerate(zip(*(frame[name].tolist() for name in columns), strict=True)):
        names = [None if _is_gap(cell) else _text(cell).strip() for cell in cells]
        end = names.index(None) if None in names else len(names)
        if any(name is not None for name in names[end:]):
            shown = ", ".join("-" if name is None else name for name in names)
            _refuse(
                f"{place_of(row, lines)} has the path ({shown}): expected names from the top, and "
                "empty cells only below the last. Fill in the level that is empty.",
                row,
                refuse,
            )
            paths.append(None)
            continue
        paths.append(tuple(name for name in names[:end] if name is not None) or None)
    return paths


def _is_gap(cell: Any) -> bool:
    if cell is None or isinstance(cell, _LISTS):
        return cell is None or len(cell) == 0
    if isinstance(cell, str):
        return not cell.strip()
    return is_missing(cell)


def _text(cell: Any) -> str:
    """Convert a cell to a name; 3.0, the form of 3 in a column with missing values, becomes 3.

    Objects of JSON with a URI, as corpora of subject indexing have them, become the URI.
    """
    if isinstance(cell, dict) and isinstance(cell.get("uri"), str):
        return str(cell["uri"])
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def _fitting_separator(names: Iterable[str], hierarchy: Hierarchy) -> str | None:
    """Separator with which most names are in a hierarchy; empty if they are plain names."""
    distinct = set(names)
    marks = [mark for mark in SEPARATORS if any(mark in name for name in distinct)]
    candidates = [detect_separator(distinct, any_mark=True), "", *marks]
    best, most = None, 0
    for separator in dict.fromkeys(each for each in candidates if each is not None):
        paths = (split_path(name, separator or None) for name in distinct)
        found = sum(find_node(path, hierarchy) > 0 for path in paths if path)
        if found > most:
            best, most = separator, found
    return best
