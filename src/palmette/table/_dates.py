"""Dates that are written as text: the formats of a column, and its cells as dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palmette.exceptions import PalmetteError
from palmette.table._numbers import western

if TYPE_CHECKING:
    import pandas as pd

ISO = "ISO8601"
MANY = "|"  # between the formats of a column that has several
_SAMPLE = 300  # strings with which formats are tried before all others
_MOST = 4  # formats of a column
_LEAST = 0.01  # share of the rows that a further format must read

_DAYS = (
    "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d",
    "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d-%m-%y", "%m-%d-%y",
)  # fmt: skip
_NAMED = (
    "%d %b %Y", "%d. %b %Y", "%d-%b-%Y", "%d/%b/%Y", "%d-%b-%y", "%d %b %y", "%b %d, %Y",
    "%b %d %Y", "%b-%d-%Y", "%Y-%b-%d", "%Y %b %d", "%b %Y", "%b-%Y", "%b-%y",
)  # fmt: skip
_TIMES = (
    "", " %H:%M", " %H:%M:%S", "T%H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p",
    ", %H:%M", ", %H:%M:%S", " %H:%M:%S %z",
)  # fmt: skip
_HOURS = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p", "%H:%M:%S.%f")
_SWAPPED = {"%d/%m": "%m/%d", "%m/%d": "%d/%m", "%d-%m": "%m-%d", "%m-%d": "%d-%m"}

# first letters of the months in English, German, French, Spanish, Italian, Portuguese, Dutch
_MONTHS = {
    "jan janv ene gen": "Jan", "feb fev févr fév": "Feb", "mar mär mrz mars maa mrt": "Mar",
    "apr avr abr": "Apr", "may mai mag mei": "May", "jun juin giu": "Jun",
    "jul juil lug": "Jul", "aug août aou ago": "Aug", "sep set": "Sep", "oct okt ott out": "Oct",
    "nov": "Nov", "dec dez déc dic": "Dec",
}  # fmt: skip
_FULL = (
    "january february march april may june july august september october november december "
    "januar februar märz april mai juni juli august september oktober november dezember "
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre "
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro "
    "januari februari maart april mei juni juli augustus september oktober november december "
    "januari februari mars april maj juni juli augusti september oktober november december "
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada "
    "grudnia ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık "
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря "
    "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر"
)
_ENGLISH = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH_OF = {
    **{word: month for words, month in _MONTHS.items() for word in words.split()},
    **{word: _ENGLISH[i % 12] for i, word in enumerate(_FULL.split())},
    "sept": "Sep",
}
_WORD = re.compile(r"[^\W\d_]{3,}\.?")
_WEEKDAY = re.compile(r"^[^\W\d_]{2,10}[,.]+\s*(?=\S)")
# short, with a digit, and a mark, a name of a month or a time; plain numbers are never dates
_DATE = re.compile(r"(?=.{4,40}$)(?=.*\d)[^\W_][\w\s.,/:+\-]*$")
_MARKED = re.compile(r"\d[-/.:T]|[^\W\d_]{3}")
_SHORT_YEAR = re.compile(r"\d\d([.-])\d\d\1\d\d(?!\d)")
# 2024年1月5日, 2024년 1월 5일, 2024. 1. 5. and 2024-1-5
_YEAR_FIRST = re.compile(
    r"^(\d{4})(?:\s*[年년]\s*|\.\s+|-)(\d{1,2})(?:\s*[月월](?:\s*(\d{1,2})\s*[日일号]?)?"
    r"|(?:\.\s+|-)(\d{1,2})\.?)(?=$|[\sT])"
)
_CLOCK = re.compile(r"(\d{1,2})\s*[時时点시]\s*(\d{1,2})\s*[分분](?:\s*(\d{1,2})\s*[秒초])?")
_FIELDS = {
    "%Y": r"\d{4}", "%f": r"\d{1,9}", "%b": r"\D+", "%p": r"\D+", "%z": ".+",
    **dict.fromkeys(("%d", "%m", "%y", "%H", "%I", "%M", "%S"), r"[\s\d]?\d"),
}  # fmt: skip


class FoundDates(NamedTuple):
    """The formats of a column of dates, and how certain they are.

    Parameters
    ----------
    formats : str
        Formats of `strptime`, or ISO8601, separated by ``|``.
    share : float
        Share of the rows with values that can be read.
    swapped : str
        The formats with day and month exchanged, if they read as many values; else empty.
    """

    formats: str
    share: float
    swapped: str = ""


def check_date_format(date_format: str) -> None:
    """Raise an error unless the text is a format of dates."""
    import datetime

    for each in date_format.split(MANY):
        example = datetime.datetime(2024, 12, 31, 13, 5)
        try:
            is_right = each == ISO or ("%" in each and example.strftime(each) != each)
            if is_right and each != ISO:
                datetime.datetime.strptime(example.strftime(each), each)
        except ValueError:
            is_right = False
        if not is_right:
            raise PalmetteError(
                f"date_format={date_format!r}: expected a format of strptime, such as %d.%m.%Y or "
                "'%m/%d/%Y %H:%M', or several, separated by |."
            )


def find_formats(
    texts: NDArray[Any], counts: NDArray[np.int64], day_first: bool | None = None
) -> FoundDates | None:
    """Find the formats of the dates of a column; None if most of its strings are not dates.

    Day and month have one order in a column: the one that reads more values. If both read the
    same, the month comes first between slashes, and the day between other marks.

    Parameters
    ----------
    texts : object array of shape (n_texts,)
        Distinct strings.
    counts : int array of shape (n_texts,)
        Number of rows of each.
    day_first : bool, optional
        The order where both are possible.

    Returns
    -------
    FoundDates or None

    Examples
    --------
    >>> texts = np.array(["31/12/2024", "01/02/2024", "2024-03-01"], dtype=object)
    >>> find_formats(texts, np.array([1, 1, 1])).formats
    '%d/%m/%Y|ISO8601'
    """
    places = np.linspace(0, len(texts) - 1, min(len(texts), _SAMPLE)).astype(np.int64)
    few = texts[places]
    if np.mean([looks_like_date(text) for text in few.tolist()]) < 0.8:
        return None
    total = int(counts.sum())
    chosen: list[str] = []
    swapped: list[str] = []
    left, left_counts, read, is_swappable = texts, counts, 0, False
    while len(left) and len(chosen) < _MOST:
        sample = left[np.linspace(0, len(left) - 1, min(len(left), _SAMPLE)).astype(np.int64)]
        best = _best_format(sample)
        if best is None:
            break
        other = _swap(best)
        known = ~np.isnat(to_dates(left, best))
        if other:
            also = ~np.isnat(to_dates(left, other))
            ours, theirs = int(left_counts[known].sum()), int(left_counts[also].sum())
            prefers = other.startswith("%d") == day_first and day_first is not None
            if theirs > ours or (theirs == ours and prefers):
                best, other, known, also = other, best, also, known
            is_tie = ours == theirs
        else:
            is_tie = False
        n_rows = int(left_counts[known].sum())
        if n_rows < _LEAST * total:
            break
        chosen.append(best)
        swapped.append(other if is_tie and other else best)
        is_swappable |= is_tie
        read += n_rows
        # never both orders in one column: what only the other order reads is unreadable
        left, left_counts = left[~known], left_counts[~known]
        if other and len(left):
            mixed = ~np.isnat(to_dates(left, other))
            left, left_counts = left[~mixed], left_counts[~mixed]
    if not chosen:
        return None
    exchanged = MANY.join(swapped) if is_swappable else ""
    return FoundDates(MANY.join(chosen), read / max(total, 1), exchanged)


def _best_format(few: NDArray[Any]) -> str | None:
    """Return the format that reads most strings of a sample, the first one of equals."""
    texts = [as_iso(text) for text in few.tolist()]
    english = [_english(text) for text in texts]
    best, most = None, 0
    for date_format, pattern in _patterns():
        matched = map(pattern.fullmatch, english if "%b" in date_format else texts)
        if sum(map(bool, matched)) <= most:
            continue  # to try it takes a thousand times as long
        n_read = int((~np.isnat(to_dates(few, date_format))).sum())
        if n_read > most:
            best, most = date_format, n_read
        if most == len(few):
            break
    return best


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Return all formats, each with a pattern that every string has that it reads."""
    days = [day + time for day in (*_DAYS, *_NAMED) for time in _TIMES]
    return [(each, _pattern_of(each)) for each in (ISO, *days, *_HOURS)]


def _pattern_of(date_format: str) -> re.Pattern[str]:
    if date_format == ISO:
        return re.compile(".*", re.DOTALL)
    parts = [
        _FIELDS[part] if part in _FIELDS else r"\s+" if part == " " else re.escape(part)
        for part in re.findall("%.|.", date_format)
    ]
    return re.compile("".join(parts), re.IGNORECASE)


def _swap(date_format: str) -> str:
    for order, other in _SWAPPED.items():
        if date_format.startswith(order):
            return other + date_format[len(order) :]
    return ""


def as_iso(text: str) -> str:
    """Return a text with dates and times of East Asia, and unpadded ones, as ISO 8601 has them.

    Examples
    --------
    >>> as_iso("2024年1月5日 8時05分"), as_iso("2024-1-5"), as_iso("5.1.2024")
    ('2024-01-05 08:05', '2024-01-05', '5.1.2024')
    """
    text = western(text).strip()
    if (found := _YEAR_FIRST.match(text)) is not None:
        year, *others = (part for part in found.groups() if part)
        padded = "-".join([year, *(part.zfill(2) for part in others)])
        text = padded + text[found.end() :]
    if not text.isascii() and (time := _CLOCK.search(text)) is not None:
        padded = ":".join(part.zfill(2) for part in time.groups() if part)
        text = text[: time.start()] + padded + text[time.end() :]
    return text


def looks_like_date(text: str) -> bool:
    """Whether a string could be a date: short, with digits and marks; not a plain number.

    Examples
    --------
    >>> looks_like_date("31. März 2024"), looks_like_date("5 new"), looks_like_date("20240131")
    (True, True, False)
    """
    text = as_iso(text)
    return bool(_DATE.match(text) and _MARKED.search(text))


# ---------------------------------------------------------------------- cells as dates


def to_dates(cells: Sequence[Any] | NDArray[Any], formats: str) -> NDArray[np.datetime64]:
    """Convert strings, dates and None to dates; NaT for None and for everything else.

    Parameters
    ----------
    cells : sequence of n_samples cells
    formats : str
        As in `FoundDates`; of several the first that reads a string is used. It does not matter
        for cells that are dates.

    Returns
    -------
    datetime64 array of shape (n_samples,), as UTC
    """
    import pandas as pd

    # pandas reads these as the time of the call
    timely = [isinstance(each, str) and each.strip().lower() in ("now", "today") for each in cells]
    plain = [as_iso(each) if isinstance(each, str) else each for each in cells]
    column = pd.Series(plain, dtype=object).mask(np.array(timely, dtype=bool), None)
    result = np.full(len(column), np.datetime64("NaT", "us"), dtype="datetime64[us]")
    left = np.arange(len(column))
    for date_format in formats.replace("%B", "%b").split(MANY):
        part = column.iloc[left]
        if date_format != ISO:
            part = _prepared(part, date_format)
        found = _read(part, date_format)
        result[left] = found
        left = left[np.isnat(found)]
        if not len(left):
            break
    return result


def _read(part: Any, date_format: str) -> NDArray[np.datetime64]:
    import pandas as pd

    try:
        found = pd.to_datetime(part, format=date_format, utc=True, errors="coerce")
    except (ValueError, OverflowError, TypeError):  # a format from a file that pandas refuses
        return np.full(len(part), np.datetime64("NaT", "us"), dtype="datetime64[us]")
    return in_microseconds(found)


def in_microseconds(found: pd.Series[Any]) -> NDArray[np.datetime64]:
    """Return dates of UTC without their zone; NaT for those too far away for microseconds."""
    dates = found.dt.tz_localize(None).to_numpy()
    per_tick = {"s": 10**6, "ms": 10**3}.get(np.datetime_data(dates.dtype)[0])
    if per_tick is not None:
        furthest = np.iinfo(np.int64).max // per_tick
        ticks = dates.view(np.int64)
        # numpy turns these into other dates, or raises an OverflowError, by its version
        beyond = (ticks > furthest) | (ticks < -furthest)
        dates = np.where(beyond, np.datetime64("NaT"), dates)
    return np.asarray(dates, dtype="datetime64[us]")


def _prepared(part: Any, date_format: str) -> Any:
    """Strings with English names of months, without those of weekdays; short years checked."""
    if "%b" in date_format:
        return part.map(_english)
    if date_format.startswith(("%d.%m.%y", "%d-%m-%y", "%m-%d-%y")):
        # one digit for a day or a month is a version, such as 1.10.12
        return part.map(lambda t: t if not isinstance(t, str) or _SHORT_YEAR.match(t) else None)
    import pandas as pd

    return part.str.strip() if pd.api.types.infer_dtype(part) == "string" else part


def _english(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    text = _WEEKDAY.sub("", text.strip()) if not text[:1].isdigit() else text
    text = re.sub(r"(?<=\d)(st|nd|rd|th)\b", "", text)
    text = re.sub(r"\bde\b\s*", "", text)

    def month(found: re.Match[str]) -> str:
        word = found.group().rstrip(".").casefold()
        return _MONTH_OF.get(word, found.group())

    return _WORD.sub(month, text)
