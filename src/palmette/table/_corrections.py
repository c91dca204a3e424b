"""Corrections of the labels of a table, from a review that a person has filled in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from palmette._text import listed
from palmette.exceptions import PalmetteError, ReadError
from palmette.hierarchy._names import shown
from palmette.table._delimited import Part
from palmette.table._reading import as_part
from palmette.table._sources import STDIN, TableSource
from palmette.table._target_cells import is_gap, text_of
from palmette.table._target_nodes import Path

if TYPE_CHECKING:
    import pandas as pd

    from palmette.table._problem import TableProblem

CORRECTED = "corrected"
DROP = "drop"  # in place of a label
_PLACES = ("line", "row")
_OURS = {
    *_PLACES, CORRECTED, "finding", "rank", "given", "given_probability", "proposed",
    "proposed_probability", "distance", "score", "reason", "missing", "superfluous",
}  # fmt: skip


@dataclass
class Corrected:
    """What corrections have changed.

    Parameters
    ----------
    n_changed, n_labelled, n_dropped, n_same : int
        Rows that get another label, that had none, that are left out, and that had it already.
    new : list of str
        Labels that no row of the table has.
    """

    n_changed: int = 0
    n_labelled: int = 0
    n_dropped: int = 0
    n_same: int = 0
    new: list[str] = field(default_factory=list)

    def sentences(self) -> list[str]:
        """Say what was changed."""
        n_rows = self.n_changed + self.n_labelled + self.n_dropped
        words = [f"corrections: {n_rows:,} {'row is' if n_rows == 1 else 'rows are'} corrected"]
        for count, what in (
            (self.n_changed, "with another label"),
            (self.n_labelled, "that had no label"),
            (self.n_dropped, "left out"),
            (self.n_same, "more that had this label already"),
        ):
            if count:
                words.append(f"{count:,} {what}")
        found = [", ".join(words)]
        if self.new:
            are = "class is" if len(self.new) == 1 else "classes are"
            named = ", ".join(shown(label) for label in self.new[:5])
            found.append(f"corrections: {len(self.new):,} {are} new: {named}")
        return found


def read_corrections(corrections: Any) -> pd.DataFrame:
    """Return the corrections of a file or DataFrame as texts, without the lines that have none.

    Parameters
    ----------
    corrections : DataFrame, dict of columns, or path-like
        As `palmette.review` gives it, with a column ``corrected``.
    """
    if isinstance(corrections, str | os.PathLike):
        source = TableSource.of(corrections)
        source.require()
        try:
            frame = as_part(source).frame
        except ReadError as error:
            # as spreadsheets save CSV
            if source.format not in ("csv", "tsv") or "the text is not" not in str(error):
                raise
            frame = as_part(TableSource.of(corrections, encoding="cp1252")).frame
    else:
        frame = as_part(corrections).frame
    if CORRECTED not in frame.columns:
        raise PalmetteError(
            f"the corrections have no column {CORRECTED!r} (there is: {listed(frame.columns)}): "
            f"write the right labels into it, or {DROP} to leave a row out, in a table that "
            "palmette review has written."
        )
    filled = [not is_gap(cell) for cell in frame[CORRECTED].tolist()]
    return frame[np.array(filled, dtype=bool)]


class Corrections:
    """Corrections of a table, applied to its rows when it is read.

    Parameters
    ----------
    frame : DataFrame
        From `read_corrections`.
    problem : TableProblem
        The table as it is without them: says how labels are written, and which there are.
    is_file : bool
        Whether rows without lines have their numbers, from 1, and not the index of a DataFrame.
    """

    def __init__(self, frame: pd.DataFrame, problem: TableProblem, is_file: bool) -> None:
        if problem.rest is not None:
            raise PalmetteError(
                "corrections cannot be applied to a table that does not fit in memory: allow more "
                "with --memory, or correct the table itself."
            )
        self._frame, self._form, self._is_file = frame, problem.target, is_file
        self._known: dict[str, Path] = {}  # paths of the labels of the table
        self._by_name: dict[str, list[str]] = {}
        self.facts = Corrected()

    def apply(self, part: Part) -> Part:
        """Return a table with other labels, and without the rows that are left out."""
        frame, self.facts = part.frame, Corrected()
        wanted = self._rows_of(part)
        before = self._form.read(frame, refuse=_no)
        self._learn_labels(before)
        columns = {name: frame[name].astype(object).to_numpy(copy=True) for name in self._columns}
        kept = np.ones(len(frame), dtype=bool)
        for row, (place, line, text) in sorted(wanted.items(), key=lambda pair: pair[0]):
            given = before[row]
            self._check_row(frame.iloc[row], line, given, place)
            if text.casefold() == DROP and not any(each.casefold() == DROP for each in self._known):
                kept[row] = False
                self.facts.n_dropped += 1
                continue
            labels = [self._label(each, place) for each in self._split(text)]
            if self._written(given) == self._mark.join(labels):
                self.facts.n_same += 1
                continue
            self.facts.n_labelled += given is None
            self.facts.n_changed += given is not None
            self.facts.new += [
                each for each in labels if each not in self._known and each not in self.facts.new
            ]
            for name, cell in self._cells(labels, frame[self._columns[-1]].iloc[row]).items():
                columns[name][row] = cell
        changed = frame.assign(**columns)
        lines = None if part.lines is None else part.lines[kept]
        return Part(changed[kept], lines)

    @property
    def _columns(self) -> list[str]:
        return self._form.columns

    @property
    def _mark(self) -> str:
        return self._form.labels_mark

    # ------------------------------------------------------------------ rows

    def _rows_of(self, part: Part) -> dict[int, tuple[str, Any, str]]:
        """Return, by row of the table, its place in words, its correction, and the label."""
        frame = self._frame
        index = part.frame.index
        title = "line" if part.lines is not None else "row" if self._is_file else str(index.name)
        if not self._is_file and (index.name is None or index.name in _OURS):
            title = "row"
        if title not in frame.columns:
            raise PalmetteError(
                f"the corrections have no column {title!r} with the {title}s of the table (there "
                f"is: {listed(frame.columns)}): they are of another table, or of another form of "
                "it. Use the table that was reviewed."
            )
        places: Any = part.lines if part.lines is not None else index
        if part.lines is None and self._is_file:
            places = range(1, len(part.frame) + 1)
        row_of = {text_of(place): row for row, place in enumerate(list(places))}
        found: dict[int, tuple[str, Any, str]] = {}
        for i, (cell, text) in enumerate(
            zip(frame[title].tolist(), frame[CORRECTED].tolist(), strict=True)
        ):
            name = text_of(cell).strip()
            place = f"{title} {name}"
            row = row_of.get(name)
            if row is None:
                raise PalmetteError(
                    f"the table has no {place}, which the corrections name: {_CHANGED}"
                )
            text = _plain(text_of(text))
            if row in found and found[row][2] != text:
                raise PalmetteError(
                    f"{place} has two corrections, {found[row][2]!r} and {text!r}: leave one."
                )
            found[row] = (place, frame.iloc[i], text)
        return found

    def _check_row(self, row: Any, line: Any, given: Any, place: str) -> None:
        """Raise an error unless a row is still the one that was reviewed."""
        if "given" in line.index:
            there, now = _plain(text_of(line["given"])), self._written(given)
            cell = row[self._columns[-1]]
            raw = "" if is_gap(cell) else text_of(cell)
            there = "" if is_gap(line["given"]) else there
            if _squeezed(there) not in (_squeezed(now), _squeezed(raw)):
                raise PalmetteError(
                    f"{place} of the table has the label {now!r}, and {there!r} in the "
                    f"corrections, column 'given': {_CHANGED} Labels are corrected in the column "
                    f"{CORRECTED!r}."
                )
        n_same = n_other = 0
        first = ""
        for name in row.index:
            column = f"{name}_" if name in _OURS else name
            if name in self._columns or column not in line.index:
                continue
            if _same(row[name], line[column]):
                n_same += 1
            else:
                n_other, first = n_other + 1, first or str(name)
        # a spreadsheet may write numbers and dates of some columns otherwise
        if n_other and n_other >= n_same:
            raise PalmetteError(
                f"{place} of the table has another value in the column {first!r} than in the "
                f"corrections, {text_of(row[first])[:60]!r}: {_CHANGED}"
            )

    # ------------------------------------------------------------------ labels

    def _learn_labels(self, rows: list[Any]) -> None:
        listed = (row if self._form.several else [row] for row in rows if row is not None)
        paths = dict.fromkeys(path for row in listed for path in row)
        self._known = {self._form.write(path): path for path in paths}
        self._by_name = {}
        for text, path in self._known.items():
            self._by_name.setdefault(str(path[-1]), []).append(text)

    def _written(self, row: Any) -> str:
        """Write the paths of a row as a review does."""
        paths = [] if row is None else row if self._form.several else [row]
        return self._mark.join(map(self._form.write, paths))

    def _split(self, text: str) -> list[str]:
        parts = text.split(self._mark) if self._form.several else [text]
        return list(dict.fromkeys(part.strip() for part in parts if part.strip()))

    def _label(self, text: str, place: str) -> str:
        """Return a label as the table writes it; the last name of one path will do."""
        if text in self._known:
            return text
        names = [each for each in self._by_name.get(text, []) if each != text]
        if len(names) > 1:
            raise PalmetteError(
                f"{place}: the correction {text!r} may be {' or '.join(map(repr, names[:3]))}: "
                "write the whole path."
            )
        if names:
            return names[0]
        if len(self._columns) > 1 and len(self._path(text)) > len(self._columns):
            raise PalmetteError(
                f"{place}: the correction {text!r} has more names than the table has levels "
                f"({', '.join(self._columns)})."
            )
        return text

    def _path(self, label: str) -> Path:
        if label in self._known:
            return self._known[label]
        mark = self._form.joiner or self._form.separator or " > "
        return tuple(name.strip() for name in label.split(mark))

    def _cells(self, labels: list[str], cell: Any) -> dict[str, Any]:
        """Return the cells of the target columns that stand for labels."""
        form = self._form
        if form.columns_are_labels:
            return {name: int(name in labels) for name in form.columns}
        if len(form.columns) > 1:
            path = self._path(labels[0])
            names = [*path, *[None] * (len(form.columns) - len(path))]
            return dict(zip(form.columns, names, strict=False))
        name = form.columns[0]
        if form.lists_are_paths:
            lists = [list(self._path(label)) for label in labels]
            made: Any = lists if form.several else lists[0]
        elif form.several and form.labels_separator is None:
            made = labels
        else:
            return {name: self._mark.join(labels)}
        is_text = form.lists_in_texts or isinstance(cell, str)
        return {name: json.dumps(made, ensure_ascii=False) if is_text else made}


_CHANGED = "the table has changed since the review, or the corrections are of another one."


def _no(row: int, why: str) -> None:
    """Let a row whose target cannot be read have none."""


def _plain(text: str) -> str:
    """Return a text without the apostrophe that --excel-safe puts before it."""
    text = text.strip()
    return text[1:] if text[:1] == "'" and text[1:2] in tuple("=+-@\t") else text


def _squeezed(text: str) -> str:
    return "".join(text.split()).casefold()


def _same(cell: Any, other: Any) -> bool:
    """Whether a cell is what a review has written of it, as a spreadsheet may have saved it."""
    if is_gap(cell) or is_gap(other):
        return is_gap(cell) and is_gap(other)
    a, b = _squeezed(text_of(cell)), _squeezed(_plain(text_of(other)))
    if a == b:
        return True
    try:
        return float(a.replace(",", ".")) == float(b.replace(",", "."))
    except ValueError:
        return False


def corrected(corrections: Any, table: Any, read: Callable[[], TableProblem]) -> Corrections:
    """Return the corrections of a table.

    Parameters
    ----------
    corrections : DataFrame or path-like
    table : DataFrame, path-like or TableSource
    read : callable
        Reads the table as it is.
    """
    frame = read_corrections(corrections)
    if isinstance(table, TableSource) and table.name == STDIN:
        raise PalmetteError(
            "corrections need a table that can be read twice, which standard input cannot: pass "
            "the name of a file."
        )
    is_file = isinstance(table, str | os.PathLike | TableSource)
    return Corrections(frame, read(), is_file)
