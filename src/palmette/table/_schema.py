"""Schema: the columns that a model learns from, their kinds, and how their values are written."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from palmette._text import caller_level, listed
from palmette.exceptions import PalmetteError, TableWarning
from palmette.persistence.checks import require
from palmette.table._dates import ISO, in_microseconds, to_dates
from palmette.table._kinds import (
    EMPTY,
    KINDS,
    Distinct,
    Guess,
    guess_kind,
    guess_number,
    is_missing_word,
    plain,
    plain_cells,
)
from palmette.table._numbers import DECIMALS, POINT, NumberForm, number_columns, parse_numbers
from palmette.table._written import (
    Given,
    Tell,
    Written,
    check_given,
    guess_given,
    near_names,
    settle_dates,
    settle_numbers,
)

if TYPE_CHECKING:
    import pandas as pd


class Schema:
    """Columns by name, with the kind of each.

    Parameters
    ----------
    kinds : dict of str to str
        ``"text"``, ``"category"``, ``"number"`` or ``"date"``, in the order of the columns.
    date_formats : dict of str to str, optional
        Formats of the columns of dates; ISO 8601 by default. Several are separated by ``|``.
    decimals : dict of str to str, optional
        Decimal marks of columns of numbers that are written as text; a point by default.
    units : dict of str to str, optional
        Currencies or units that may stand beside the numbers of a column.

    Attributes
    ----------
    categories : dict of str to list of str
        The categories of columns in the training table; empty before `learn_categories`.
    left_out : dict of str to str
        Columns that `infer` did not use, with the reason.
    table_columns : list of str
        All columns of the table, in its order; empty if they are not known.
    header : bool
        Whether the first line of the file had the names of the columns.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"price": ["2,50 €", "1.300 €"], "colour": ["red", None]})
    >>> schema = Schema.infer(frame)
    >>> schema.kinds
    {'price': 'number', 'colour': 'category'}
    >>> schema.cast(frame)["price"].tolist()
    [2.5, 1300.0]
    """

    def __init__(
        self,
        kinds: dict[str, str],
        date_formats: dict[str, str] | None = None,
        decimals: dict[str, str] | None = None,
        units: dict[str, str] | None = None,
    ) -> None:
        self.kinds = kinds
        self.date_formats = {} if date_formats is None else date_formats
        self.decimals = {} if decimals is None else decimals
        self.units = {} if units is None else units
        self.categories: dict[str, list[str]] = {}
        self.left_out: dict[str, str] = {}
        self.table_columns: list[str] = []
        self.header = True

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__({})  # type: ignore[misc]
        self.__dict__.update(state)

    def check_arrays(self) -> None:
        """Raise ValueError for columns from a file that no table has."""
        for each in (self.kinds, self.date_formats, self.decimals, self.units, self.left_out):
            is_plain = isinstance(each, dict) and all(
                isinstance(word, str) for pair in each.items() for word in pair
            )
            require(is_plain, "a part of the schema is not a dict of strings")
        require(
            isinstance(self.categories, dict)
            and all(isinstance(texts, list) for texts in self.categories.values())
            and {type(text) for texts in self.categories.values() for text in texts} <= {str},
            "the categories of the columns are not lists of strings",
        )
        require(set(self.kinds.values()) <= set(KINDS), "a column has an unknown kind")
        require(set(self.decimals.values()) <= set(DECIMALS), "a decimal mark is unknown")
        require(
            isinstance(self.table_columns, list)
            and all(isinstance(name, str) for name in self.table_columns),
            "the columns of the table are not a list of strings",
        )

    @classmethod
    def infer(
        cls,
        frame: pd.DataFrame,
        *,
        leave_out: Sequence[str] = (),
        given: Mapping[str, str] | None = None,
        decimal: Given = None,
        date_format: Given = None,
        tell: Tell | None = None,
        numbers: dict[str, NDArray[np.float64]] | None = None,
    ) -> Schema:
        """Infer the kinds of columns; those without a value, and identifiers, are left out.

        Parameters
        ----------
        frame : DataFrame
        leave_out : sequence of str
            Columns that are not used, such as the target.
        given : dict of str to str, optional
            Known kinds, which are not inferred.
        decimal : {".", ","}, or dict of str to str, optional
            Decimal mark of all columns, or by column.
        date_format : str, or dict of str to str, optional
            Format of dates of all columns, or by column.
        tell : callable, optional
            Called with what is doubtful; by default it is a `TableWarning`.
        numbers : dict of str to float array, optional
            Gets the columns of plain numbers, which `cast` need not read again.

        Returns
        -------
        Schema
        """
        given = dict(given or {})
        names = [name for name in frame.columns if name not in leave_out]
        check_given(given, list(frame.columns), leave_out)
        written = Written(decimal, date_format, names)
        open_ = [name for name in names if not (name in given or written.says(name))]
        numbers = {} if numbers is None else numbers
        numbers.update(number_columns(frame, open_))
        guesses: dict[str, Guess] = {}
        for name in names:
            kind = given.get(name) or (written.kind_of(name))
            if name in numbers:
                guesses[name] = guess_number(numbers[name], name)
            elif kind is None:
                guesses[name] = guess_kind(
                    frame[name], decimal=written.decimal(name), date_format=written.format(name)
                )
            else:
                guesses[name] = guess_given(frame[name], kind, written)
        self = cls({name: guess.kind for name, guess in guesses.items() if guess.kind is not None})
        self.left_out = {name: guess.why for name, guess in guesses.items() if guess.kind is None}
        self.table_columns = [str(name) for name in frame.columns]
        if not self.kinds:
            ids = [name for name, why in self.left_out.items() if why != EMPTY]
            hint = " Add columns that the target can be predicted from."
            if self.left_out:
                hint = " All columns but the target are empty."
            elif len(frame.columns) == 1:
                hint += " If this is the whole first line of a text file, pass --delimiter."
            if ids:
                why = self.left_out[ids[0]]
                hint = f" {ids[0]!r} is left out ({why}): pass --column {ids[0]}=text to use it."
            raise PalmetteError(
                "the table has no columns to learn from besides the target. It has: "
                f"{listed(frame.columns)}.{hint}"
            )
        say = tell or _warn
        for name, why in self.left_out.items():
            if why != EMPTY:
                say(
                    f"the column {name!r} is left out: it has identifiers ({why}). Pass --column "
                    f"{name}=text, or =number, to use it"
                )
        self.decimals, self.units = settle_numbers(frame, guesses, written, say)
        self.date_formats = settle_dates(guesses, written, say)
        for guess in guesses.values():
            if guess.hint:
                say(guess.hint)
        return self

    def names(self, kind: str | None = None) -> list[str]:
        """Names of the columns, of one kind or of all."""
        return [name for name, found in self.kinds.items() if kind in (None, found)]

    def require(self, columns: Iterable[str], title: str, beside: Sequence[str] = ()) -> None:
        """Raise an error for a table that lacks columns.

        Parameters
        ----------
        columns : iterable of str
            Columns of the table.
        title : str
            Name of the table in the message.
        beside : sequence of str
            Columns that cannot replace a missing one, such as the target.
        """
        there = dict.fromkeys(columns)
        missing = [name for name in self.kinds if name not in there]
        if not missing:
            return
        unused = [name for name in there if name not in self.kinds and name not in beside]
        hint = near_names(missing[0], unused) or unused[:1]
        them = "it" if len(missing) == 1 else "them"
        advice = f"Add {them}."
        if hint:
            advice = f"Rename {them}, or pass --map {missing[0]}={hint[0]}."
        if len(missing) == 1:
            words = f"column {missing[0]!r}"
        else:
            words = f"columns {', '.join(map(repr, missing[:10]))}"
        raise PalmetteError(
            f"{title} has no {words} that the model was fitted on (it has: {listed(there)}). "
            f"{advice}"
        )

    def unknown(self, columns: Iterable[str]) -> list[str]:
        """Columns that the model does not know."""
        return [name for name in columns if name not in self.kinds]

    def named(self, frame: pd.DataFrame, target: Sequence[str], title: str) -> pd.DataFrame:
        """Name the columns of a table without a header, which may lack the target.

        Parameters
        ----------
        frame : DataFrame
        target : sequence of str
            Columns of the target.
        title : str
            Name of the table in messages.
        """
        width = frame.shape[1]
        names = self.table_columns
        without = [name for name in names if name not in target]
        for each in (names, without):
            if width == len(each):
                return frame.set_axis(each, axis=1)
        raise PalmetteError(
            f"{title} has {width} columns without names: expected {len(names)}, as in the table "
            f"that the model was fitted on, or {len(without)}, which are those without the target."
        )

    def written(self, decimal: Given = None, date_format: Given = None) -> Schema:
        """Return a schema for a table that writes numbers and dates in another way.

        Parameters
        ----------
        decimal, date_format : str, or dict of str to str, optional
            As in `infer`.
        """
        wanted = Written(decimal, date_format, list(self.kinds))
        made = Schema(dict(self.kinds))
        made.__dict__.update({**self.__dict__})
        made.decimals = {n: wanted.decimal(n) or d for n, d in self.decimals.items()}
        made.date_formats = dict(self.date_formats)
        for name in self.names("number"):
            if wanted.decimal(name) is not None:
                made.decimals[name] = wanted.decimal(name) or POINT
        for name in self.names("date"):
            made.date_formats[name] = wanted.format(name) or made.date_formats.get(name, ISO)
        return made

    def cast(
        self,
        frame: pd.DataFrame,
        title: str = "the table",
        first_row: int = 1,
        *,
        lines: NDArray[np.int64] | None = None,
        unread: Unread | None = None,
        numbers: Mapping[str, NDArray[np.float64]] | None = None,
    ) -> Any:
        """Give every column the type of its kind.

        Numbers and dates that cannot be read are missing values. Categories are spelled as in the
        training table if they differ in case or in blanks around them only.

        Parameters
        ----------
        frame : DataFrame of n_samples rows
        title : str
            Name of the table in messages.
        first_row : int
            Number of the first row, for messages.
        lines : int array of shape (n_samples,), optional
            Lines of the rows in their file, for messages.
        unread : Unread, optional
            Counts what cannot be read; by default a `TableWarning` reports it.
        numbers : dict of str to float array of shape (n_samples,), optional
            Columns that `infer` has read.

        Returns
        -------
        DataFrame
            Columns of this schema: float numbers, dates, and objects that are str or None.
        """
        import pandas as pd

        self.require(frame.columns, title)
        found = Unread() if unread is None else unread
        points = [n for n in self.names("number") if self.decimals.get(n, POINT) == POINT]
        read = {name: numbers[name] for name in points if name in numbers} if numbers else {}
        read.update(number_columns(frame, [name for name in points if name not in read]))
        columns = {}
        for name, kind in self.kinds.items():
            if name in read:
                continue
            if kind == "number":
                form = NumberForm(self.decimals.get(name, POINT), self.units.get(name, ""))
                columns[name], wrong, cells = _to_number(frame[name], form)
            elif kind == "date":
                columns[name], wrong, cells = _to_date(
                    frame[name], self.date_formats.get(name, ISO)
                )
            else:
                columns[name] = _to_text(frame[name])
                wrong, cells = _NONE, ()
                if name in self.categories:
                    columns[name], wrong, cells = _matched(columns[name], self.categories[name])
            if len(wrong):
                row = int(wrong[0])
                place = f"row {first_row + row}" if lines is None else f"line {lines[row]}"
                found.add(name, kind, len(wrong), cells[row], place)
        if unread is None:
            for sentence in found.sentences(title):
                _warn(sentence)
        cast = pd.DataFrame(columns, index=frame.index)
        if not read:
            return cast
        block = np.column_stack(list(read.values()))
        joined = pd.DataFrame(block, index=frame.index, columns=list(read))
        return pd.concat([cast, joined], axis=1)[list(self.kinds)] if columns else joined

    def learn_categories(self, cast: pd.DataFrame) -> None:
        """Remember the categories of the columns of a training table.

        Parameters
        ----------
        cast : DataFrame of n_samples rows
            As `cast` returns it.
        """
        texts = {name: Distinct.of(cast[name]).texts.tolist() for name in self.names("category")}
        self.categories = {name: sorted(found) for name, found in texts.items()}

    def __repr__(self) -> str:
        return f"Schema({self.kinds!r})"


class Unread:
    """Values that could not be read, or are categories of no training row, counted."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._first: dict[str, str] = {}

    def add(self, name: str, kind: str, count: int, value: Any, place: str) -> None:
        """Count values of a column; the first one is kept as an example."""
        self.counts[name] = self.counts.get(name, 0) + count
        such = f"such as {str(value)[:60]!r} in {place}"
        if kind == "category":
            words = f"cannot be found in the training table, {such}: treated as no known category"
        else:
            words = f"cannot be read as a {kind}, {such}: treated as missing"
        self._first.setdefault(name, words)

    def update(self, later: Unread) -> None:
        """Add the values of later rows."""
        for name, count in later.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
            self._first.setdefault(name, later._first[name])

    def sentences(self, title: str = "") -> list[str]:
        """Return a sentence for each column."""
        where = f"{title}: " if title else ""
        return [
            f"{where}{count:,} {'value' if count == 1 else 'values'} of the column {name!r} "
            f"{self._first[name]}"
            for name, count in self.counts.items()
        ]


def _warn(sentence: str) -> None:
    warnings.warn(f"{sentence}.", TableWarning, stacklevel=caller_level())


# ---------------------------------------------------------------------- types

_NONE = np.zeros(0, dtype=np.int64)


def _to_number(column: pd.Series[Any], form: NumberForm) -> tuple[Any, Any, Any]:
    """Return numbers, the rows that cannot be read, and their texts by row."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        wrong = np.flatnonzero(np.isinf(values))
        return np.where(np.isinf(values), np.nan, values), wrong, values
    if pd.api.types.infer_dtype(column, skipna=True) not in ("string", "empty"):
        there = np.flatnonzero(column.notna().to_numpy(dtype=bool))
        cells = column.to_numpy(dtype=object)[there]
        found = np.full(len(column), np.nan)
        found[there] = [_number(cell) for cell in cells.tolist()]
        is_number = np.isfinite(found)
        if is_number.any():  # as in a workbook; the decimal mark is that of strings
            rest = there[~is_number[there]]
            if not len(rest):
                return found, _NONE, ()
            others, wrong, texts = _parse_cells(column.iloc[rest], form)
            found[rest] = others
            return found, rest[wrong], {int(rest[i]): texts[i] for i in wrong.tolist()}
    known = plain_cells(column) if form.decimal == POINT else None
    if known is None:
        return _parse_cells(column, form)
    values, rest = known.numbers, np.flatnonzero(known.rest)
    if not len(rest):
        return values, _NONE, ()
    values[rest], wrong, texts = _parse_cells(column.iloc[rest], form)
    return values, rest[wrong], {int(rest[i]): texts[i] for i in wrong.tolist()}


def _number(cell: Any) -> float:
    """Return the number that a cell holds, NaN for texts and everything else."""
    try:
        return float(cell) if isinstance(cell, numbers.Real) else np.nan
    except OverflowError:  # an integer with more than 308 digits
        return np.nan


def _parse_cells(column: pd.Series[Any], form: NumberForm) -> tuple[Any, Any, Any]:
    """Return numbers of strings in any form, the rows that cannot be read, and their texts."""
    cells = Distinct.of(column)
    found = parse_numbers(cells.texts, form)
    bad = np.isnan(found)
    wrong = np.flatnonzero(cells.spread(bad, False)) if bad.any() else _NONE
    texts = cells.spread(cells.texts, None) if len(wrong) else ()
    return cells.spread(found, np.nan), wrong, texts


def _to_date(column: pd.Series[Any], formats: str) -> tuple[Any, Any, Any]:
    import pandas as pd

    if pd.api.types.infer_dtype(column, skipna=True) in ("datetime", "date", "datetime64"):
        dates = in_microseconds(pd.to_datetime(column, utc=True, errors="coerce"))
        wrong = np.flatnonzero(np.isnat(dates) & column.notna().to_numpy(dtype=bool))
        values = column.to_numpy()
        return dates, wrong, {int(i): str(values[i]) for i in wrong}
    cells = Distinct.of(column)
    dates = to_dates(cells.texts, formats)
    bad = np.isnat(dates)
    wrong = np.flatnonzero(cells.spread(bad, False)) if bad.any() else _NONE
    texts = cells.spread(cells.texts, None) if len(wrong) else ()
    return cells.spread(dates, np.datetime64("NaT", "us")), wrong, texts


def _matched(column: pd.Series[Any], categories: list[str]) -> tuple[Any, Any, Any]:
    """Return cells in the spelling of categories, the rows of others, and their texts by row."""
    import pandas as pd

    known, spelled = set(categories), dict[str, str | None]()
    for text in categories:  # of two that differ in case only, neither is another's spelling
        key = text.strip().casefold()
        spelled[key] = None if key in spelled else text
    codes, texts = pd.factorize(column.to_numpy(dtype=object))
    keys = [text.strip().casefold() for text in texts]
    found = [
        text if text in known else spelled.get(key) or text
        for text, key in zip(texts, keys, strict=True)
    ]
    is_new = [text not in known and not is_missing_word(text) for text in found]
    wrong = np.flatnonzero(np.array([*is_new, False])[codes])
    if found == list(texts):
        return column, wrong, texts[codes] if len(wrong) else ()
    cells = np.array([*found, None], dtype=object)[codes]
    return pd.Series(cells, index=column.index, dtype=object), wrong, cells


def _to_text(column: pd.Series[Any]) -> Any:
    """Return strings and None; objects, because columns of other types are slow to iterate over."""
    import pandas as pd

    cells = column.to_numpy(dtype=object, copy=True)
    gone = column.isna().to_numpy(dtype=bool)
    if gone.any():
        cells[gone] = None
    if pd.api.types.infer_dtype(cells, skipna=True) not in ("string", "empty"):
        cells = np.array([None if cell is None else plain(cell) for cell in cells], dtype=object)
    return pd.Series(cells, index=column.index, dtype=object)
