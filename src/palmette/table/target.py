"""TargetForm: how a table writes the classes of its rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import PalmetteError
from palmette.table.schema import near_names
from palmette.table.separators import detect_separator, split_path

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Path", "TargetForm", "find_columns", "find_node"]

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
