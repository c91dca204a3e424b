"""Schema: the columns that a model learns from, their kinds, and the formats of dates."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("text", "category", "number", "date")
ISO = "ISO8601"
_MAX_CATEGORIES = 40  # a column with more distinct strings is text
_MAX_DISTINCT = 0.3  # maximum share of distinct strings in a column of categories
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?"})


class Schema:
    """Columns by name, with the kind of each.

    Parameters
    ----------
    kinds : dict of str to str
        ``"text"``, ``"category"``, ``"number"`` or ``"date"``, in the order of the columns.
    date_formats : dict of str to str, optional
        Formats of the columns of dates; ISO 8601 by default.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"price": ["2.5", "30"], "colour": ["red", None]})
    >>> Schema.infer(frame).kinds
    {'price': 'number', 'colour': 'category'}
    """

    def __init__(self, kinds: dict[str, str], date_formats: dict[str, str] | None = None) -> None:
        self.kinds = kinds
        self.date_formats = {} if date_formats is None else date_formats

    @classmethod
    def infer(
        cls,
        frame: pd.DataFrame,
        *,
        leave_out: Sequence[str] = (),
        given: Mapping[str, str] | None = None,
    ) -> Schema:
        """Infer the kinds of columns; columns without a value are left out.

        Parameters
        ----------
        frame : DataFrame
        leave_out : sequence of str
            Columns that are not used, such as the target.
        given : dict of str to str, optional
            Known kinds, which are not inferred.

        Returns
        -------
        Schema
        """
        given = dict(given or {})
        _check_given(given, list(frame.columns), leave_out)
        kinds = {}
        for name in frame.columns:
            if name in leave_out:
                continue
            kind = given.get(name) or _kind_of(frame[name])
            if kind is not None:
                kinds[name] = kind
        if not kinds:
            raise PalmetteError(
                "the table has no columns to learn from besides the target. It has: "
                f"{', '.join(map(str, frame.columns))}."
            )
        dates = {name: _format_of(frame[name]) for name, kind in kinds.items() if kind == "date"}
        return cls(kinds, dates)

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
        there = list(columns)
        missing = [name for name in self.kinds if name not in there]
        if not missing:
            return
        unused = [name for name in there if name not in self.kinds and name not in beside]
        hint = near_names(missing[0], unused) or unused[:1]
        advice = f"Rename it, or pass --map {missing[0]}={hint[0]}." if hint else "Add it."
        shown = ", ".join(there[:20]) + (", ..." if len(there) > 20 else "")
        if len(missing) == 1:
            words = f"column {missing[0]!r}"
        else:
            words = f"columns {', '.join(map(repr, missing[:10]))}"
        raise PalmetteError(
            f"{title} has no {words} that the model was fitted on (it has: {shown}). {advice}"
        )

    def unknown(self, columns: Iterable[str]) -> list[str]:
        """Columns that the model does not know."""
        return [name for name in columns if name not in self.kinds]

    def cast(self, frame: pd.DataFrame, title: str = "the table", first_row: int = 1) -> Any:
        """Give every column the type of its kind.

        Parameters
        ----------
        frame : DataFrame
        title : str
            Name of the table in messages.
        first_row : int
            Number of the first row, for messages.

        Returns
        -------
        DataFrame
            Columns of this schema: float numbers, dates, and objects that are str or None.
        """
        import pandas as pd

        self.require(frame.columns, title)
        columns = {}
        for name, kind in self.kinds.items():
            if kind == "date":
                column, wrong = _to_date(frame[name], self.date_formats.get(name, ISO))
            else:
                column, wrong = _CASTS[kind](frame[name])
            if wrong is not None:
                raise PalmetteError(
                    f"{title} has {wrong[1]!r} in row {first_row + wrong[0]} of the column "
                    f"{name!r}: expected a {kind}, as in the rows that the model was fitted on."
                )
            columns[name] = column
        return pd.DataFrame(columns, index=frame.index)

    def __repr__(self) -> str:
        return f"Schema({self.kinds!r})"


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """Names with a similar spelling, best first.

    Examples
    --------
    >>> near_names("catgory", ["price", "category"])
    ['category']
    """
    names = list(known)
    by_case = {each.casefold(): each for each in names}
    found = difflib.get_close_matches(name.casefold(), list(by_case), n=3, cutoff=0.6)
    return [by_case[each] for each in found]


def _check_given(given: dict[str, str], columns: list[str], leave_out: Sequence[str]) -> None:
    for name, kind in given.items():
        if kind not in KINDS:
            raise PalmetteError(
                f"the column {name!r} is given the kind {kind!r}: expected one of "
                f"{', '.join(KINDS)}."
            )
        if name not in columns or name in leave_out:
            near = near_names(name, [each for each in columns if each not in leave_out])
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise PalmetteError(f"there is no column {name!r} to learn from.{hint}")


# ---------------------------------------------------------------------- kinds


def _kind_of(column: pd.Series[Any]) -> str | None:
    """Kind of a column, None if it has no values."""
    values = column[~_is_missing(column)]
    if not len(values):
        return None
    if values.dtype.kind in "iuf":
        return "number"
    if values.dtype.kind == "M":
        return "date"
    texts = [value for value in values.tolist() if isinstance(value, str)]
    if len(texts) < len(values):  # cells of other types, such as those of a workbook
        return _kind_of_objects(values)
    if _to_number(values)[1] is None:
        return "number"
    if find_format(texts) is not None:
        return "date"
    return _kind_of_texts(texts)


def _format_of(column: pd.Series[Any]) -> str:
    """Format of the dates of a column."""
    known = column[~_is_missing(column)].tolist()
    return find_format([cell for cell in known if isinstance(cell, str)]) or ISO


def _kind_of_objects(values: pd.Series[Any]) -> str:
    import datetime

    cells = values.tolist()
    if all(isinstance(cell, datetime.date) for cell in cells):
        return "date"
    if not any(isinstance(cell, bool) for cell in cells) and _to_number(values)[1] is None:
        return "number"
    return _kind_of_texts([str(cell) for cell in cells])


def _kind_of_texts(texts: list[str]) -> str:
    """Columns with few distinct strings are categories."""
    most = min(_MAX_CATEGORIES, max(_MAX_DISTINCT * len(texts), 8))
    return "text" if len(set(texts)) > most else "category"


# ---------------------------------------------------------------------- types


def _is_missing(column: pd.Series[Any]) -> Any:
    """Whether cells are empty, or a word for a missing value."""
    missing = column.isna().to_numpy(dtype=bool)
    if column.dtype.kind in "iufbM":
        return missing
    words = [isinstance(cell, str) and cell.strip().casefold() in _MISSING for cell in column]
    return missing | np.array(words, dtype=bool)


def _to_number(column: pd.Series[Any]) -> tuple[Any, tuple[int, Any] | None]:
    import pandas as pd

    if column.dtype.kind in "iufb":
        return column.astype(float), None
    missing = _is_missing(column)
    numbers = pd.to_numeric(column.where(~missing), errors="coerce").astype(float)
    values = np.where(np.isfinite(numbers.to_numpy()), numbers.to_numpy(), np.nan)
    wrong = np.flatnonzero(np.isnan(values) & ~missing)
    if len(wrong):
        return None, (int(wrong[0]), column.iloc[wrong[0]])
    return values, None


def _to_date(column: pd.Series[Any], date_format: str) -> tuple[Any, tuple[int, Any] | None]:
    missing = _is_missing(column)
    cells = [None if gone else cell for cell, gone in zip(column.tolist(), missing, strict=True)]
    dates = to_dates(cells, date_format)
    wrong = np.flatnonzero(np.isnat(dates) & ~missing)
    if len(wrong):
        return None, (int(wrong[0]), cells[wrong[0]])
    return dates, None


def _to_category(column: pd.Series[Any]) -> tuple[Any, None]:
    import pandas as pd

    cells = column.tolist()
    if not all(type(cell) is str for cell in cells):
        missing = column.isna().tolist()
        pairs = zip(cells, missing, strict=True)
        cells = [None if gone else _plain(cell) for cell, gone in pairs]
    # objects, because columns of other types are slow to iterate over
    return pd.Series(cells, index=column.index, dtype=object), None


def _plain(cell: Any) -> str:
    """Convert a cell to text; 3.0, the form of 3 in a column with missing values, becomes 3."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


_CASTS = {"text": _to_category, "category": _to_category, "number": _to_number}


# ---------------------------------------------------------------------- formats of dates

_DAYS = ("%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y")
_TIMES = ("", " %H:%M", " %H:%M:%S")
_FORMATS = (ISO, *(day + time for day in _DAYS for time in _TIMES), "%Y%m%dT%H%M%S")
_LOOK = 5000  # strings that are tested before all others


def find_format(texts: list[str]) -> str | None:
    """Return the format of all strings, None if they have no common one.

    If day and month are ambiguous, the month comes first.

    Parameters
    ----------
    texts : list of str

    Examples
    --------
    >>> find_format(["31/12/2024", "01/02/2024"])
    '%d/%m/%Y'
    >>> find_format(["one", "two"]) is None
    True
    """
    if not texts or not all(_looks_like_date(text) for text in texts):
        return None
    for date_format in _FORMATS:
        if all(_fits(part, date_format) for part in (texts[:1], texts[:_LOOK], texts)):
            return date_format
    return None


def to_dates(cells: list[Any], date_format: str) -> Any:
    """Convert strings, dates and None to dates; NaT for None and for everything else.

    Parameters
    ----------
    cells : list of n_samples cells
    date_format : str
        Result of `find_format`; it does not matter for cells that are dates.

    Returns
    -------
    datetime64 array of shape (n_samples,), as UTC
    """
    import pandas as pd

    column = pd.Series(cells, dtype=object)
    found = pd.to_datetime(column, format=date_format, utc=True, errors="coerce")
    return np.asarray(found.dt.tz_localize(None).to_numpy(dtype="datetime64[us]"))


def _looks_like_date(text: str) -> bool:
    """Whether a string could be a date: short, with a digit first and a separator; not a number."""
    return 6 <= len(text) <= 40 and text[0].isdigit() and any(mark in text for mark in "-/.:T")


def _fits(texts: list[str], date_format: str) -> bool:
    return not np.isnat(to_dates(list(texts), date_format)).any()
