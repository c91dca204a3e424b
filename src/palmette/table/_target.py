"""The target of a table: its columns, and how their cells give paths of names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

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
from palmette.table._target_cells import (
    LISTS,
    Label,
    are_flags,
    are_lists,
    distinct,
    find_columns,
    fitting_separator,
    flagged_labels,
    is_gap,
    level_paths,
    list_in,
    mark_of_labels,
    mark_of_uris,
    names_of,
    names_of_lists,
    refuse_row,
    text_of,
)
from palmette.table._target_nodes import Path, Refuse, place_of

if TYPE_CHECKING:
    import pandas as pd

# in this order, for names that contain the others
_JOINERS = (" > ", " / ", " | ", " :: ", " » ", " -> ")
_LABEL_MARKS = (";", "|", " || ", " && ")


class TargetForm:
    """The columns of the target, and how they are read.

    Parameters
    ----------
    columns : list of str
        One column, or the levels of a path from the top, or labels that a row has or not.
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
    lists_are_paths : bool
        Whether a list has the names of a path, such as ``["a", "b"]``, or is a list of such lists.
    max_depth : int or None
        Number of names at which paths are cut.
    cells : list of str
        Up to three cells with several labels, if their separator was found.
    spelled : dict of str to str
        Names by path, if spellings in other case are read as one; see `_near_labels`.
    example : str or None
        A label that the separator splits, or that is a plain name in spite of such a mark.
    columns_are_labels : bool
        Whether each of several columns is a label, with a 1 in the rows that have it.

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
        "lists_are_paths": held(bool, or_absent=True),
        "max_depth": held(int, or_none=True, or_absent=True),
        "cells": held(list, each=(str,), or_absent=True),
        "spelled": held(dict, each=(str,), or_absent=True),
        "example": held(str, or_none=True),
        "columns_are_labels": held(bool, or_absent=True),
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
        self.lists_are_paths = False
        self.max_depth: int | None = None
        self.cells: list[str] = []
        self.spelled: dict[str, str] = {}
        self.example: str | None = None
        self.columns_are_labels = False

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
            One column, the levels of a path, or columns of zeros and ones, each of them a label;
            names may be separated by commas, and ``tag_*`` is all columns that begin with
            ``tag_``.
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
            levels = cls(columns)
            levels.columns_are_labels = levels.several = are_flags(frame, columns)
            return levels
        is_given = separator is not None
        cells = [cell for cell in distinct(frame[columns[0]].tolist()) if not is_gap(cell)]
        _refuse_objects(columns[0], cells)
        is_found = labels_separator is None
        if is_found and hierarchy is not None and hierarchy.vocabulary is not None:
            labels_separator = mark_of_uris(cells) or mark_of_labels(cells, hierarchy)
        several = labels_separator is not None or any(isinstance(c, LISTS) for c in cells)
        form = cls(columns, None, labels_separator, several)
        form.splits_lists = is_found and labels_separator is not None
        texts = [cell for cell in cells if isinstance(cell, str)]
        form.lists_in_texts = len(texts) == len(cells) and are_lists(texts)
        form.several = form.several or form.lists_in_texts
        if form.several and not labels_separator and hierarchy is None:
            lists = (list_in(cell) if isinstance(cell, str) else cell for cell in cells)
            form.several = any(len(each) > 1 for each in lists if isinstance(each, LISTS))
        form._find_paths_in_lists(cells, is_found and not separator, hierarchy)
        has_lists = form.lists_in_texts or any(isinstance(cell, LISTS) for cell in cells)
        is_open = separator is None and hierarchy is None and is_found and not has_lists
        if is_open and len(texts) == len(cells):
            separator = form._find_both(texts)
        labels = {label for cell in cells for label in form._labels(cell)}
        names = {label for label in labels if isinstance(label, str)}
        if separator is None and not form.lists_are_paths:
            known = None if hierarchy is None else fitting_separator(names, hierarchy)
            separator = detect_separator(names, any_mark=True) if known is None else known
        form.separator = separator or None
        is_plain = not separator and hierarchy is None and not is_given
        if form.lists_are_paths:
            form.example = " > ".join(min(label for label in labels if isinstance(label, tuple)))
            return form
        marks = (separator,) if separator else SEPARATORS if is_plain else ()
        form.example = min((n for n in names if any(mark in n for mark in marks)), default=None)
        return form

    def read(
        self,
        frame: pd.DataFrame,
        known: dict[str, Path] | None = None,
        lines: Any = None,
        refuse: Refuse | None = None,
        gaps: list[Label] | None = None,
    ) -> list[Any]:
        """Read the paths of all rows; empty names in them are left out.

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
        gaps : list of str, optional
            Gets the labels of rows with an empty name.

        Returns
        -------
        list of n_samples entries
            A path, or a list of paths if rows may have several; None for a row without a target.
        """
        levels, gaps = self.columns[: self.max_depth], [] if gaps is None else gaps
        if self.columns_are_labels:
            levels = self.columns
        elif levels[-1] in frame.columns and not set(levels) <= set(frame.columns):
            levels = levels[-1:]  # names of the last level say the rest, in a known hierarchy
        for name in levels:
            if name not in frame.columns:
                raise PalmetteError(
                    f"the table has no target column {name!r} (it has: {listed(frame.columns)})."
                )
        if self.columns_are_labels:
            return flagged_labels(frame, levels, lines, refuse)
        if len(self.columns) > 1:
            return [*map(self.respelled, level_paths(frame, levels, lines, refuse, gaps))]
        known = {} if known is None else known
        rows: list[Any] = []
        read: dict[str, Any] = {}  # the same text is read once, whatever the number of rows
        empty: dict[str, list[Label]] = {}
        for row, cell in enumerate(frame[self.columns[0]].tolist()):
            if type(cell) is str and cell in read:
                rows.append(list(read[cell]) if type(read[cell]) is list else read[cell])
                gaps += empty.get(cell, [])
                continue
            if is_gap(cell):
                rows.append(None)
                continue
            try:
                labels = self._labels(cell)
                paths = [*dict.fromkeys(self._path(label, known) for label in labels)]
            except _BadTarget as error:
                refuse_row(f"{place_of(row, lines)} of {error}", row, refuse)
                rows.append(None)
                continue
            if lacking := [label for label in labels if "" in self.names_in(label)]:
                gaps += lacking
                empty[cell if type(cell) is str else ""] = lacking
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
                is_whole = tuple(each for each in self.names_in(text) if each) == path
                if is_whole and text.strip() != self.separator.join(path):
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
        what = self.describe_form(examples=True)
        return what if len(self.columns) > 1 else f"column {self.columns[0]!r}{what and ', '}{what}"

    def describe_form(self, examples: bool) -> str:
        """Describe how the target is read, without the name of its column.

        Parameters
        ----------
        examples : bool
            Whether labels and cells are shown.
        """
        cut = "" if self.max_depth is None else f", cut at {self.max_depth} levels"
        if self.columns_are_labels:
            return f"a label per column of zeros and ones: {listed(self.columns)}"
        if len(self.columns) > 1:
            return f"levels {', '.join(self.columns)}{cut}"
        words = []
        such = f" such as {shown(self.example)}" if self.example and examples else ""
        if self.lists_are_paths:
            words.append(f"lists of the names of a path{such}")
        elif self.separator is not None:
            words.append(f"paths with the separator {self.separator!r}{such}")
        elif self.example is not None:
            words.append(f"plain names{such}")
        if self.several:
            mark = (
                "" if self.labels_separator is None else f" separated by {self.labels_separator!r}"
            )
            as_in = (
                f", as in {'; '.join(map(shown, self.cells))}" if self.cells and examples else ""
            )
            words.append(f"several labels per row{mark}{as_in}")
        return ", ".join(words) + cut

    def _find_paths_in_lists(
        self, cells: list[Any], is_open: bool, hierarchy: Hierarchy | None
    ) -> None:
        """Find whether lists are paths of names, one per row or several."""
        has_lists = self.lists_in_texts or any(isinstance(cell, LISTS) for cell in cells)
        if not (is_open and has_lists and not self.labels_separator):
            return
        lists = [list_in(cell) if self.lists_in_texts else cell for cell in cells]
        if (
            lists
            and all(isinstance(each, LISTS) for each in lists)
            and names_of_lists(lists, hierarchy)
        ):
            self.lists_are_paths = True
            self.several = any(len(c) > 1 for c in lists if any(isinstance(n, LISTS) for n in c))

    def _labels(self, cell: Any) -> Sequence[Label]:
        if self.lists_in_texts and isinstance(cell, str):
            cell = list_in(cell)
        if isinstance(cell, LISTS):
            if self.lists_are_paths:
                is_nested = any(isinstance(each, LISTS) for each in cell)
                return [names_of(each) for each in (cell if is_nested else [cell])]
            texts = [text_of(each) for each in cell if not is_gap(each)]
            if not self.splits_lists:
                return texts
        else:
            texts = [text_of(cell)]
        if not self.labels_separator:
            return texts
        parts = (part.strip() for text in texts for part in text.split(self.labels_separator))
        return [part for part in parts if part]

    def names_in(self, label: Label) -> tuple[str, ...]:
        """Return the names of a label, some of which may be empty.

        Parameters
        ----------
        label : str, or tuple of str
        """
        return label if isinstance(label, tuple) else split_path(label, self.separator)

    def _path(self, label: Label, known: dict[str, Path]) -> Path:
        path = known.get(label) if isinstance(label, str) else None
        if path is None:
            path = tuple(name for name in self.names_in(label) if name)[: self.max_depth]
            if not path:
                raise _BadTarget(
                    f"the target column {self.columns[0]!r} has the path {label!r}, in which all "
                    "names are empty. Correct it, or pass another separator."
                )
            if isinstance(label, str):
                known[label] = path
        return path

    def __repr__(self) -> str:
        return f"TargetForm({self.describe()})"


class _BadTarget(PalmetteError):
    """A cell is not a path; the message does not name the row."""


def _refuse_objects(column: str, cells: list[Any]) -> None:
    """Raise an error for cells that are objects of JSON, but for those with a URI."""
    objects = [cell for cell in cells if isinstance(cell, dict) and "uri" not in cell]
    if objects:
        raise PalmetteError(
            f"the target column {column!r} has objects, such as {str(objects[0])[:60]}: expected "
            "texts, or lists of texts. Write each of their values in a column, and pass the "
            "columns as levels."
        )
