"""Dates in strings: the manner in which a column writes them, found once and kept."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ISO", "find_format", "to_dates"]

ISO = "ISO8601"
_DAYS = ("%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y")
_TIMES = ("", " %H:%M", " %H:%M:%S")
_MANNERS = (ISO, *(day + time for day in _DAYS for time in _TIMES), "%Y%m%dT%H%M%S")
_LOOK = 5000  # strings that a manner must fit before all others are tried


def find_format(texts: list[str]) -> str | None:
    """Return the manner that all strings are written in, None where there is none.

    Where day and month could be either, the month comes first.

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
    for manner in _MANNERS:
        if _fits(texts[:1], manner) and _fits(texts[:_LOOK], manner) and _fits(texts, manner):
            return manner
    return None


def to_dates(cells: list[Any], manner: str) -> Any:
    """Turn strings, dates and None into dates, NaT for None and for what is no date.

    Parameters
    ----------
    cells : list of n_samples cells
    manner : str
        As `find_format` gives it; dates themselves have none.

    Returns
    -------
    datetime64 array of shape (n_samples,), as UTC
    """
    import pandas as pd

    found = pd.to_datetime(pd.Series(cells, dtype=object), format=manner, utc=True, errors="coerce")
    return np.asarray(found.dt.tz_localize(None).to_numpy(dtype="datetime64[us]"))


def _looks_like_date(text: str) -> bool:
    """Whether a string could be a date: digits first, parts divided, not long. A number is none."""
    return 6 <= len(text) <= 40 and text[0].isdigit() and any(mark in text for mark in "-/.:T")


def _fits(texts: list[str], manner: str) -> bool:
    return not np.isnat(to_dates(list(texts), manner)).any()
