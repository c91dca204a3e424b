"""The target of a table: how its cells give classes, and the classes as nodes of a hierarchy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.table._schema import near_names

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "SEPARATORS",
    "Path",
    "TargetForm",
    "canonical_labels",
    "detect_separator",
    "find_columns",
    "find_node",
    "hierarchy_of_paths",
    "plain_labels",
    "split_path",
]


Path = tuple[str, ...]


class TargetForm:
    """The columns that hold the target, and how they are read.

    Parameters
    ----------
    columns : list of str
        One column, or the levels of a path from the top.
    separator : str or None
        Between the names of a path in one column; None for plain names.
    labels_separator : str or None
        Between the paths of a row, where it has several.
    several : bool
        Whether rows may have several paths.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"kind": ["Food > Fruit", None, "Tools"]})
    >>> TargetForm(["kind"], " > ").read(frame)
    [('Food', 'Fruit'), None, ('Tools',)]
    """

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
        """Find out how the target is written, where it is not said.

        Parameters
        ----------
        frame : DataFrame
        target : str or sequence of str
            One column, or the levels of a path; names may be joined by commas.
        separator : str, optional
            Found by default; an empty one says that cells are plain names.
        labels_separator : str, optional
            Makes rows have several paths; cells that are lists do, too.
        hierarchy : Hierarchy, optional
            Whose names and paths the cells are to be.

        Returns
        -------
        TargetForm
        """
        columns = find_columns(target, list(frame.columns))
        if len(columns) > 1:
            for given, option in ((separator, "separator"), (labels_separator, "labels_separator")):
                if given:
                    raise PalmetteError(
                        f"{option} is for one target column, but {len(columns)} are named: "
                        f"{', '.join(columns)}."
                    )
            return cls(columns)
        cells = [cell for cell in frame[columns[0]].tolist() if not _is_gap(cell)]
        several = labels_separator is not None or any(isinstance(c, _LISTS) for c in cells)
        form = cls(columns, None, labels_separator, several)
        if separator is None:
            names = [name for cell in cells for name in form._labels(cell)]
            known = None if hierarchy is None else _fitting_separator(names, hierarchy)
            separator = detect_separator(names) if known is None else known
        form.separator = separator or None
        return form

    def read(self, frame: pd.DataFrame) -> list[Any]:
        """Read the paths of all rows.

        Parameters
        ----------
        frame : DataFrame

        Returns
        -------
        list of n_samples entries
            A path, or a list of paths where rows may have several; None where there is none.
        """
        for name in self.columns:
            if name not in frame.columns:
                raise PalmetteError(
                    f"the table lacks the target column {name!r} (it has: "
                    f"{', '.join(map(str, frame.columns[:20]))})."
                )
        if len(self.columns) > 1:
            return _level_paths(frame, self.columns)
        known: dict[str, Path] = {}
        rows: list[Any] = []
        for row, cell in enumerate(frame[self.columns[0]].tolist()):
            if _is_gap(cell):
                rows.append(None)
                continue
            paths = [self._path(label, row, known) for label in self._labels(cell)]
            if self.several:
                rows.append(list(dict.fromkeys(paths)) or None)
            else:
                rows.append(paths[0] if paths else None)
        return rows

    def write(self, path: Path) -> str:
        """Write a path as the table does; levels in columns are joined by ``" > "``."""
        separator = self.separator
        if separator is None or len(self.columns) > 1:
            separator = " > "
        return separator.join(map(str, path))

    def describe(self) -> str:
        """Say how the target is read, in a few words."""
        if len(self.columns) > 1:
            return f"levels {', '.join(self.columns)}"
        words = f"column {self.columns[0]!r}"
        if self.separator is not None:
            words += f", paths with the separator {self.separator!r}"
        if self.several:
            mark = "" if self.labels_separator is None else f" divided by {self.labels_separator!r}"
            words += f", several labels a row{mark}"
        return words

    def _labels(self, cell: Any) -> list[str]:
        if isinstance(cell, _LISTS):
            return [_text(each) for each in cell if not _is_gap(each)]
        text = _text(cell)
        if self.labels_separator is None:
            return [text]
        return [part.strip() for part in text.split(self.labels_separator) if part.strip()]

    def _path(self, label: str, row: int, known: dict[str, Path]) -> Path:
        path = known.get(label)
        if path is None:
            path = known[label] = split_path(label, self.separator)
            if not path or not all(path):
                raise PalmetteError(
                    f"row {row + 1} of the target column {self.columns[0]!r} has the path "
                    f"{label!r}, in which a name is empty. Mend it, or name another separator."
                )
        return path

    def __repr__(self) -> str:
        return f"TargetForm({self.describe()})"


_LISTS = (list, tuple, set, frozenset, np.ndarray)


def find_columns(target: str | Sequence[str], columns: list[str]) -> list[str]:
    """Return the target columns that are named, or joined by commas.

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
            shown = ", ".join(columns[:20]) + (", ..." if len(columns) > 20 else "")
            raise PalmetteError(f"there is no target column {name!r} (there is: {shown}).{hint}")
    twice = [name for i, name in enumerate(found) if name in found[:i]]
    if twice or not found:
        raise PalmetteError(
            f"the target column {twice[0]!r} is named twice." if twice else "no target is named."
        )
    return found


def _level_paths(frame: pd.DataFrame, columns: list[str]) -> list[Path | None]:
    """Paths of levels in columns: an empty cell ends a path, and nothing may come after it."""
    paths: list[Path | None] = []
    for row, cells in enumerate(zip(*(frame[name].tolist() for name in columns), strict=True)):
        names = [None if _is_gap(cell) else _text(cell) for cell in cells]
        end = names.index(None) if None in names else len(names)
        if any(name is not None for name in names[end:]):
            shown = ", ".join("-" if name is None else name for name in names)
            raise PalmetteError(
                f"row {row + 1} has the path ({shown}): expected names from the top, and empty "
                "cells only below the last."
            )
        paths.append(tuple(name for name in names[:end] if name is not None) or None)
    return paths


def _is_gap(cell: Any) -> bool:
    if cell is None or isinstance(cell, _LISTS):
        return cell is None or len(cell) == 0
    if isinstance(cell, str):
        return not cell.strip()
    return bool(cell != cell)  # NaN and NaT differ from themselves


def _text(cell: Any) -> str:
    """Write a cell as a name; 3.0, which a gap in a column of integers makes of 3, is 3."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def _fitting_separator(names: Iterable[str], hierarchy: Hierarchy) -> str | None:
    """Separator with which most of some names are in a hierarchy; empty where they are as is."""
    distinct = list(dict.fromkeys(names))[:500]
    candidates = ["", detect_separator(distinct), " > ", "/", "|", "::"]
    best, most = None, 0
    for separator in dict.fromkeys(each for each in candidates if each is not None):
        paths = (split_path(name, separator or None) for name in distinct)
        found = sum(find_node(path, hierarchy) > 0 for path in paths if path)
        if found > most:
            best, most = separator, found
    return best


def find_node(path: Path, hierarchy: Hierarchy) -> int:
    """Return the node of a path, -1 where there is none; a single name may stand anywhere.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("plant", "oak")])
    >>> find_node(("oak",), h), find_node(("animal", "cat"), h), find_node(("fern",), h)
    (4, 2, -1)
    """
    labels = [path, path[0]] if len(path) == 1 else [path]
    for label in labels if hierarchy.is_tree else [path[-1]]:
        if label in hierarchy:  # asked first: an error would look for names like it, slowly
            return int(hierarchy.index(label))
    return -1


Rows = Sequence[Any]


def hierarchy_of_paths(rows: Rows, several: bool) -> Hierarchy:
    """Return the hierarchy of the paths that occur.

    Parameters
    ----------
    rows : sequence of n_samples paths, or lists of paths
    several : bool
        Whether rows are lists of paths.

    Examples
    --------
    >>> hierarchy_of_paths([("Food", "Fruit"), ("Tools",)], several=False).n_nodes
    4
    """
    paths = dict.fromkeys(path for row in rows for path in (row if several else [row]))
    # in an order of their own, so that the order of rows does not matter
    return Hierarchy.from_paths(sorted(paths))


def canonical_labels(rows: Rows, hierarchy: Hierarchy, several: bool) -> list[Any]:
    """Name the nodes of a hierarchy as its own paths do, in a DAG by their names.

    Parameters
    ----------
    rows : sequence of n_samples paths, or lists of paths
    hierarchy : Hierarchy
    several : bool

    Returns
    -------
    list of n_samples labels, or lists of labels
    """
    known: dict[Path, Any] = {}

    def label_of(path: Path, row: int) -> Any:
        if path not in known:
            node = find_node(path, hierarchy)
            if node <= 0:
                raise HierarchyError(_unknown(path, row, hierarchy))
            known[path] = hierarchy.path(node) if hierarchy.is_tree else hierarchy.names[node]
        return known[path]

    if several:
        return [[label_of(path, i) for path in row] for i, row in enumerate(rows)]
    return [label_of(path, i) for i, path in enumerate(rows)]


def plain_labels(rows: Rows, write: Any) -> list[str]:
    """Write paths as plain labels, for a hierarchy that is learnt over them.

    Parameters
    ----------
    rows : sequence of n_samples paths
    write : callable
        Turns a path into a string.
    """
    labels = {path: write(path) for path in dict.fromkeys(rows)}
    counts = Counter(labels.values())
    if len(counts) < 2:
        raise PalmetteError(
            f"the target has {len(counts)} label: a hierarchy is learnt over two at least."
        )
    return [labels[path] for path in rows]


def _unknown(path: Path, row: int, hierarchy: Hierarchy) -> str:
    names = [str(name) for name in hierarchy.names[1:5000].tolist()]
    near = near_names(str(path[-1]), names)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    shown = " > ".join(map(str, path))
    examples = ", ".join(repr(str(text)) for text in hierarchy.path_strings[hierarchy.leaves[:2]])
    return (
        f"row {row + 1} of the target has {shown!r}, which is not in the hierarchy "
        f"({hierarchy.n_nodes:,} nodes, such as {examples}).{hint} Add the node, name the "
        "separator of paths, or drop the row."
    )


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
