"""How the numbers and dates of a table are written: what is given, and what is ambiguous."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from palmette.exceptions import PalmetteError
from palmette.table._dates import ISO, FoundDates, check_date_format, find_formats, to_dates
from palmette.table._kinds import KINDS, Distinct, Guess
from palmette.table._numbers import (
    COMMA,
    POINT,
    NumberForm,
    check_decimal,
    find_form,
    is_ambiguous,
    parse_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

Tell = Callable[[str], None]
Given = str | Mapping[str, str] | None

_DIGITS = ("%Y%m%d", "%Y%m%d%H%M%S", "%Y")  # formats of digits, if a column is said to have dates


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


# ---------------------------------------------------------------------- what is given


class Written:
    """How numbers and dates are written, as far as the user says so."""

    def __init__(self, decimal: Given, date_format: Given, columns: list[str]) -> None:
        for given, check in ((decimal, check_decimal), (date_format, check_date_format)):
            for each in [given] if isinstance(given, str) else list((given or {}).values()):
                check(each)
            for name in () if given is None or isinstance(given, str) else given:
                if name not in columns:
                    near = near_names(name, columns)
                    hint = f" Did you mean {near[0]!r}?" if near else ""
                    raise PalmetteError(f"there is no column {name!r} to learn from.{hint}")
        self._decimal, self._format = decimal, date_format

    def decimal(self, name: str) -> str | None:
        return _of(self._decimal, name)

    def format(self, name: str) -> str | None:
        return _of(self._format, name)

    def kind_of(self, name: str) -> str | None:
        """Kind of a column whose decimal mark or format is given by name."""
        if isinstance(self._format, Mapping) and name in self._format:
            return "date"
        return "number" if isinstance(self._decimal, Mapping) and name in self._decimal else None

    def says(self, name: str) -> bool:
        """Return whether anything is said about a column."""
        return self.decimal(name) is not None or self.format(name) is not None

    @property
    def names_decimal(self) -> bool:
        return self._decimal is not None

    @property
    def table_decimal(self) -> str | None:
        return self._decimal if isinstance(self._decimal, str) else None


def _of(given: Given, name: str) -> str | None:
    return given if given is None or isinstance(given, str) else given.get(name)


def check_given(given: dict[str, str], columns: list[str], leave_out: Sequence[str]) -> None:
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


def guess_given(column: pd.Series[Any], kind: str, written: Written) -> Guess:
    """How the values of a column of a given kind are written."""
    name = str(column.name)
    if kind in ("text", "category") or column.dtype.kind == "M":
        return Guess(kind)
    if kind == "number" and column.dtype.kind in "iufb":
        return Guess(kind)
    cells = Distinct.of(column)
    if not len(cells.texts):
        return Guess(kind)
    if kind == "number":
        number = find_form(cells.texts, cells.counts, written.decimal(name))
        share, guess = number.share, Guess(kind, number=number)
    else:
        dates = _dates_of_given(column, cells, written.format(name))
        share, guess = dates.share, Guess(kind, dates=dates)
    if not share:
        advice = "Pass its format with --date-format." if kind == "date" else "Pass another kind."
        raise PalmetteError(
            f"the column {name!r} is given the kind {kind!r}, but none of its values can be read "
            f"as a {kind}: the first is {cells.texts[0][:60]!r}. {advice}"
        )
    return guess


def _dates_of_given(column: pd.Series[Any], cells: Distinct, formats: str | None) -> FoundDates:
    import pandas as pd

    if pd.api.types.infer_dtype(column, skipna=True) in ("datetime", "date", "datetime64"):
        return FoundDates(ISO, 1.0)
    if formats is None:
        found = find_formats(cells.texts, cells.counts)
        if found is not None:
            return found
    best = FoundDates(ISO, 0.0)
    for each in _DIGITS if formats is None else (formats,):
        read = ~np.isnat(to_dates(cells.texts, each))
        share = float(cells.counts[read].sum()) / cells.n_values
        best = FoundDates(each, share) if share > best.share else best
    return best


# ---------------------------------------------------------------------- what is ambiguous


def settle_numbers(
    frame: pd.DataFrame, guesses: dict[str, Guess], written: Written, say: Tell
) -> tuple[dict[str, str], dict[str, str]]:
    """Choose the decimal marks of all columns: those that are certain decide for the others.

    Parameters
    ----------
    frame : DataFrame
    guesses : dict of str to Guess
        What the columns are.
    written : Written
    say : callable
        Called with what is ambiguous.

    Returns
    -------
    decimals, units : dict of str to str
    """
    decimals: dict[str, str] = {}
    units: dict[str, str] = {}
    found = {name: g.number for name, g in guesses.items() if g.number is not None}
    certain = {name: each.form.decimal for name, each in found.items() if each.is_certain}
    commas = [name for name, mark in certain.items() if mark == COMMA]
    points = [name for name, mark in certain.items() if mark == POINT]
    texts = [n for n, dtype in frame.dtypes.items() if dtype.kind not in "iufb"]
    kind_of = {name: guess.kind for name, guess in guesses.items()}
    others = [n for n in texts if kind_of.get(n) == "number" and n not in found]
    if commas and not points:
        plain_points = {name: _points(frame[name]) for name in others}
        points = [name for name, (any_, unclear) in plain_points.items() if any_ and not unclear]
        decimal = POINT if points else COMMA
        for name, (any_, unclear) in plain_points.items():
            if not any_ or (unclear and not points):
                decimals[name] = decimal
            if unclear and not points:
                _tell_decimal(say, name, frame[name], COMMA, f"as in the column {commas[0]!r}")
    else:
        decimal = POINT
    decimal = written.table_decimal or decimal
    for name, each in found.items():
        form = each.form
        if not each.is_certain:
            form = form._replace(decimal=written.decimal(name) or decimal)
            if each.other is not None and written.decimal(name) is None:
                why = "since no value in the table settles it"
                if commas and not points:
                    why = f"as in the column {commas[0]!r}"
                _tell_decimal(say, name, frame[name], form.decimal, why)
        decimals[name] = form.decimal
        if form.unit:
            units[name] = form.unit
    if written.table_decimal is not None:
        for name in others:
            if not _points(frame[name])[0]:
                decimals[name] = written.table_decimal
    return decimals, units


def _points(column: pd.Series[Any]) -> tuple[bool, bool]:
    """Whether plain numbers have points, and whether all of them could separate thousands."""
    texts = Distinct.of(column).texts
    return any("." in text for text in texts.tolist()), is_ambiguous(texts)


def _tell_decimal(say: Tell, name: str, column: pd.Series[Any], decimal: str, why: str) -> None:
    texts = Distinct.of(column).texts
    text = next((each for each in texts.tolist() if "," in each or "." in each), texts[0])
    other = COMMA if decimal == POINT else POINT
    form = NumberForm(decimal, find_form(texts[:1], np.ones(1, dtype=np.int64)).form.unit)
    value = parse_numbers([text], form)[0]
    words = "comma" if decimal == COMMA else "point"
    say(
        f"the column {name!r}: {text!r} is read as {value:.12g}, with a decimal {words}, {why}. "
        f"Pass --decimal {name}={other} to read it otherwise"
    )


def settle_dates(guesses: dict[str, Guess], written: Written, say: Tell) -> dict[str, str]:
    """Choose the formats of all columns of dates: orders that are certain decide for the others.

    Parameters
    ----------
    guesses, written, say :
        As in `settle_numbers`.

    Returns
    -------
    dict of str to str
    """
    chosen: dict[str, str] = {}
    orders = {
        name: guess.dates.formats.startswith("%d")
        for name, guess in guesses.items()
        if guess.dates is not None and not guess.dates.swapped
        and guess.dates.formats.startswith(("%d", "%m"))
    }  # fmt: skip
    first = next(iter(orders), None)
    agrees = len(set(orders.values())) == 1
    for name, guess in guesses.items():
        if guess.kind != "date":
            continue
        dates = guess.dates
        if dates is None:
            chosen[name] = written.format(name) or ISO
            continue
        formats = dates.formats
        if dates.swapped:
            why = "since no value in the table settles it"
            if agrees:
                why = f"as in the column {first!r}"
                if formats.startswith("%d") != orders[str(first)]:
                    formats, dates = dates.swapped, dates._replace(swapped=formats)
            say(
                f"the column {name!r}: dates are read as {formats}, {why}. Pass --date-format "
                f"'{name}={dates.swapped}' to exchange day and month"
            )
        chosen[name] = formats
    return chosen
