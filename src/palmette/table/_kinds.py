"""The kind of a column: number, date, category, text, or an identifier that tells nothing."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palmette.table._dates import FoundDates, find_formats, to_dates
from palmette.table._numbers import (
    Found,
    find_form,
    has_leading_zeros,
    parse_numbers,
    plain_numbers,
)
from palmette.table._texts import is_unspaced

if TYPE_CHECKING:
    import pandas as pd

EMPTY = "without values"
KINDS = ("text", "category", "number", "date")
_MAX_CATEGORIES = 40  # a column with more distinct strings is text
_MAX_DISTINCT = 0.3  # maximum share of distinct strings in a column of categories
_NEARLY_ALL = 0.95  # share of the values that can be read, in a column of numbers or dates
_MOST = 0.5  # share of the values that can be read, from which the user is warned
_MISSING = frozenset(
    {"", "na", "n/a", "n.a.", "nan", "nat", "null", "none", "nil", "#n/a", "<na>"}
    | {"-", "--", "–", "—", "?", "...", "."}
)
_LONGEST_MISSING = 8  # characters, spaces included


class Distinct(NamedTuple):
    """The distinct strings of a column.

    Parameters
    ----------
    codes : int array of shape (n_samples,)
        Number of the string of each row; -1 for missing values.
    texts : object array of shape (n_texts,)
    counts : int array of shape (n_texts,)
        Rows of each string.
    """

    codes: NDArray[np.int64]
    texts: NDArray[Any]
    counts: NDArray[np.int64]

    @property
    def n_values(self) -> int:
        """Number of rows with a value."""
        return int(self.counts.sum())

    @classmethod
    def of(cls, column: pd.Series[Any]) -> Distinct:
        """Find the distinct strings of a column; cells of other types become strings.

        Empty cells and words for missing values, such as NA, are missing.
        """
        import pandas as pd

        cells = column.astype(object)
        if pd.api.types.infer_dtype(cells, skipna=True) not in ("string", "empty"):
            there = cells.notna().to_numpy(dtype=bool)  # few, in columns that most rows lack
            known = np.full(len(cells), None, dtype=object)
            known[there] = [plain(cell) for cell in cells.to_numpy(dtype=object)[there]]
            cells = pd.Series(known, index=column.index, dtype=object)
        codes, texts = pd.factorize(cells.to_numpy(dtype=object))
        texts = np.asarray(texts, dtype=object)
        wrong = [i for i, text in enumerate(texts.tolist()) if is_missing_word(text)]
        if wrong:
            kept = np.ones(len(texts), dtype=bool)
            kept[wrong] = False
            new = np.where(kept, np.cumsum(kept) - 1, -1)
            codes = np.where(codes >= 0, new[codes], -1)
            texts = texts[kept]
        counts = np.bincount(codes[codes >= 0], minlength=len(texts))
        return cls(codes, texts, counts)

    def spread(self, values: NDArray[Any], missing: Any) -> NDArray[Any]:
        """Return the value of every row, given those of the distinct strings."""
        return np.append(values, np.array([missing], dtype=values.dtype))[self.codes]


def is_missing_word(text: str) -> bool:
    """Return whether a text stands for a missing value, such as NA."""
    return len(text) <= _LONGEST_MISSING and text.strip().casefold() in _MISSING


class Guess(NamedTuple):
    """What a column is.

    Parameters
    ----------
    kind : str or None
        None if the column is left out.
    number : Found or None
    dates : FoundDates or None
    why : str
        Reason why the column is left out.
    hint : str
        A sentence about a column that is nearly one of numbers or dates.
    """

    kind: str | None
    number: Found | None = None
    dates: FoundDates | None = None
    why: str = ""
    hint: str = ""


class PlainCells(NamedTuple):
    """Numbers of a column of strings, as programming languages write them.

    Parameters
    ----------
    numbers : float array of shape (n_samples,)
        NaN for all other cells.
    rest : bool array of shape (n_samples,)
        Which cells are missing or something else.
    """

    numbers: NDArray[np.float64]
    rest: NDArray[np.bool_]


def plain_cells(column: pd.Series[Any]) -> PlainCells | None:
    """Read the plain numbers of a column without looking for its distinct strings.

    Returns
    -------
    PlainCells or None
        None if cells are not strings, or if most cells of a sample are not such numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_cells(pd.Series(["2.5", "1e3", None])).numbers.tolist()
    [2.5, 1000.0, nan]
    """
    import pandas as pd

    cells = column.to_numpy(dtype=object)
    if not len(cells):
        return None
    some = cells[np.linspace(0, len(cells) - 1, min(len(cells), _SAMPLE)).astype(np.int64)]
    if pd.api.types.infer_dtype(some, skipna=True) != "string":
        return None
    if np.isfinite(plain_numbers(some)).mean() < _MOST:
        return None
    if pd.api.types.infer_dtype(cells, skipna=True) != "string":
        return None
    numbers = plain_numbers(cells)
    return PlainCells(numbers, np.isnan(numbers))


def plain(cell: Any) -> str:
    """Convert a cell to text; 3.0, the form of 3 in a column with missing values, becomes 3."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    try:
        return str(cell)
    except (ValueError, NotImplementedError, OverflowError):
        # times after the year 9999, and fractions of thousands of digits
        return (
            str(cell.to_datetime64()) if hasattr(cell, "to_datetime64") else object.__repr__(cell)
        )


def guess_kind(
    column: pd.Series[Any],
    *,
    decimal: str | None = None,
    date_format: str | None = None,
) -> Guess:
    """Find the kind of a column.

    Parameters
    ----------
    column : Series of n_samples cells
    decimal, date_format : str, optional
        How numbers and dates are written, for columns that have them.

    Returns
    -------
    Guess
    """
    import pandas as pd

    name = str(column.name)
    if column.dtype.kind == "M" or isinstance(column.dtype, pd.DatetimeTZDtype):
        return Guess("date") if column.notna().any() else Guess(None, why=EMPTY)
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        numbers = numbers[np.isfinite(numbers)]
        if not len(numbers):
            return Guess(None, why=EMPTY)
        if date_format is not None:
            found = _given_dates(Distinct.of(column), date_format)
            if found is not None:
                return found
        return guess_number(numbers, name)
    special = _kind_of_objects(column)
    if special is not None:
        return Guess(special)
    known = None if decimal == "," or date_format is not None else plain_cells(column)
    if known is not None:  # most cells; are the others missing, and are they no codes of digits?
        others = Distinct.of(column[known.rest]).texts
        if not len(others) and not has_leading_zeros(column.to_numpy(object)[~known.rest].tolist()):
            return guess_number(known.numbers, name)
    cells = Distinct.of(column)
    if not len(cells.texts):
        return Guess(None, why=EMPTY)
    return _guess_strings(cells, name, decimal, date_format)


def guess_number(numbers: NDArray[np.float64], name: str) -> Guess:
    """Return whether numbers are used, or left out as identifiers."""
    why = running_numbers(numbers, name)
    return Guess(None, why=why) if why else Guess("number")


def _guess_strings(
    cells: Distinct, name: str, decimal: str | None, date_format: str | None
) -> Guess:
    few = len(cells.texts) <= _most_categories(cells.n_values)
    # few distinct strings are levels: one that is not a number is one of them, not an error
    enough = 1.0 if few else _NEARLY_ALL
    if date_format is not None:
        given = _given_dates(cells, date_format)
        if given is not None:
            return given
    places = np.linspace(0, len(cells.texts) - 1, min(len(cells.texts), _SAMPLE)).astype(np.int64)
    # strings that are not numbers are slow to parse: a sample of them is tried first
    some = np.isfinite(plain_numbers(cells.texts[places])).mean()
    if decimal != "," and some >= _MOST:
        numbers = plain_numbers(cells.texts)
        share = float(cells.counts[np.isfinite(numbers)].sum()) / cells.n_values
        if share >= enough and not has_leading_zeros(cells.texts.tolist()):
            return guess_number(cells.spread(numbers, np.nan), name)
    dates = find_formats(cells.texts, cells.counts)
    if dates is not None and dates.share >= enough:
        return Guess("date", dates=dates)
    found = None
    if not has_leading_zeros(cells.texts.tolist()):
        found = find_form(cells.texts, cells.counts, decimal)
        if found.share < enough and decimal is not None:
            found = find_form(cells.texts, cells.counts)
        if found.share >= enough:
            values = cells.spread(parse_numbers(cells.texts, found.form), np.nan)
            why = running_numbers(values, name) if not found.form.unit else ""
            return Guess(None, why=why) if why else Guess("number", number=found)
    why = identifier_of_texts(cells)
    if why:
        return Guess(None, why=why)
    kind = _text_or_category(cells, few)
    return Guess(kind, hint="" if few else _nearly(cells, name, kind, found, dates))


def _nearly(
    cells: Distinct, name: str, kind: str, number: Found | None, dates: FoundDates | None
) -> str:
    """Return a sentence about a column of which most values, but not nearly all, can be read."""
    for what, found in (("date", dates), ("number", number)):
        if found is None or found.share < _MOST:
            continue
        if isinstance(found, FoundDates):
            wrong = np.isnat(to_dates(cells.texts, found.formats))
        else:
            wrong = np.isnan(parse_numbers(cells.texts, found.form))
        example = cells.texts[int(np.argmax(wrong))]
        return (
            f"the column {name!r}: {found.share:.0%} of the values are {what}s of one form, but "
            f"{example[:60]!r} is not, so it is used as {kind}. Pass --column {name}={what} "
            "to count the others as missing"
        )
    return ""


def has_value(text: str) -> bool:
    """Whether a string is a number or a date.

    Examples
    --------
    >>> [has_value(text) for text in ("5.1", "31.12.2024", "5 €", "price", "May")]
    [True, True, True, False, False]
    """
    return bool(text.strip()) and reads_as_value([text])


def reads_as_value(cells: Any) -> bool:
    """Whether nearly all strings of a column are numbers or dates."""
    import pandas as pd

    found = Distinct.of(pd.Series(cells, dtype=object))
    if not len(found.texts):
        return False
    dates = find_formats(found.texts, found.counts)
    number = find_form(found.texts, found.counts)
    return max(number.share, 0.0 if dates is None else dates.share) >= _NEARLY_ALL


def _given_dates(cells: Distinct, date_format: str) -> Guess | None:
    read = ~np.isnat(to_dates(cells.texts, date_format))
    share = float(cells.counts[read].sum()) / max(cells.n_values, 1)
    if share >= _NEARLY_ALL:
        return Guess("date", dates=FoundDates(date_format, share))
    return None


def _kind_of_objects(column: pd.Series[Any]) -> str | None:
    """Kind of cells that are neither strings nor mixed with them, such as those of a workbook."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(column.dtype):
        return "category"
    if column.dtype != object:
        return None
    found = pd.api.types.infer_dtype(column, skipna=True)
    if found in ("datetime", "date", "datetime64"):
        return "date"
    if found == "boolean":
        return "category"
    if found == "string":
        return None
    cells = column[column.notna()].tolist()
    if any(isinstance(cell, bool) for cell in cells):
        return "category" if len({str(c) for c in cells}) <= _most_categories(len(cells)) else None
    if cells and all(isinstance(cell, datetime.date) for cell in cells):
        return "date"
    return None


def _most_categories(n_values: int) -> float:
    return min(_MAX_CATEGORIES, max(_MAX_DISTINCT * n_values, 8))


def _text_or_category(cells: Distinct, few: bool) -> str:
    """Columns with few distinct strings are categories, unless all differ and have spaces."""
    if not few:
        return "text"
    all_differ = len(cells.texts) == cells.n_values and cells.n_values > 2
    is_prose = np.mean([len(text.split()) > 2 for text in cells.texts.tolist()]) > 0.5
    return "text" if all_differ and is_prose else "category"


# ---------------------------------------------------------------------- identifiers

_LEAST_ROWS = 20  # fewer rows cannot tell what an identifier is
_NEARLY_DISTINCT = 0.95
_DENSE = 1.5  # maximum range of running numbers, in rows
_SAMPLE = 300
_ID_NAME = re.compile(
    r"(?:^|[\W_])(?:id|ids|uuid|guid|index|idx|nr|no|rownum|row|sku|isbn|ean|gtin|asin)$"
    r"|^unnamed: \d+$|^column 1$",
    re.IGNORECASE,
)
_CAMEL_ID = re.compile(r"[a-z](?:Id|ID)$")
_UUID = re.compile(r"\{?[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\}?$", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]{3,}")
_HASH = re.compile(r"(?:0x)?(?=[^\W_]*\d)[0-9a-f]{12,}$", re.IGNORECASE)


def running_numbers(numbers: NDArray[np.float64], name: str = "") -> str:
    """Return why numbers are identifiers, or an empty string.

    They are if they are distinct integers that count the rows (in order, at most half as many
    gaps as rows), or in a column whose name says so, such as ``order_id``.

    Examples
    --------
    >>> running_numbers(np.arange(100.0))
    'running numbers'
    >>> running_numbers(np.arange(100.0) ** 2)
    ''
    """
    numbers = numbers[np.isfinite(numbers)]
    if len(numbers) < _LEAST_ROWS or (numbers != np.floor(numbers)).any():
        return ""
    steps = np.diff(numbers)
    n_range = float(numbers.max() - numbers.min()) + 1
    in_order = max(np.mean(steps > 0), np.mean(steps < 0)) >= _NEARLY_DISTINCT
    if in_order and n_range <= _DENSE * len(numbers):
        return "running numbers"
    if not is_named_id(name) or numbers.min() < 0:
        return ""
    is_distinct = len(np.unique(numbers)) >= _NEARLY_DISTINCT * len(numbers)
    return "distinct numbers in a column of this name" if is_distinct else ""


def is_named_id(name: str) -> bool:
    """Return whether the name of a column says that it has identifiers.

    Examples
    --------
    >>> is_named_id("top_id"), is_named_id("userId"), is_named_id("humid")
    (True, True, False)
    """
    return bool(_ID_NAME.search(name) or _CAMEL_ID.search(name))


def identifier_of_texts(cells: Distinct) -> str:
    """Return why strings are identifiers, or an empty string.

    Identifiers are nearly all distinct and have no spaces, and are one of: UUIDs; hashes, of
    hexadecimal digits; codes of which at least half of the characters are digits, or that differ
    in their numbers only, such as item_17; or characters at random, of which fewer groups of three
    occur in several rows than in words of any language. Names such as libfoo-dev, which share
    pieces with each other, are texts, and so are codes with several words, such as TOOL-17 and
    FOOD-23.
    """
    n_values = cells.n_values
    if n_values < _LEAST_ROWS or len(cells.texts) < _NEARLY_DISTINCT * n_values:
        return ""
    places = np.linspace(0, len(cells.texts) - 1, min(len(cells.texts), _SAMPLE)).astype(np.int64)
    few = [text.strip() for text in cells.texts[places].tolist()]

    def share(test: Any) -> float:
        return float(np.mean([bool(test(text)) for text in few]))

    if share(lambda text: len(text.split()) > 1) > 0.01:
        return ""
    if share(_UUID.match) >= _NEARLY_DISTINCT:
        return "UUIDs"
    if share(_HASH.match) >= _NEARLY_DISTINCT:
        return "hashes"
    joined = "".join(few)
    n_digits = sum(map(str.isdigit, joined))
    if share(lambda text: any(map(str.isdigit, text))) >= _NEARLY_DISTINCT and not _vary(few):
        if n_digits >= 0.5 * max(sum(map(str.isalnum, joined)), 1):
            return "codes of digits"
        forms = Counter(re.sub(r"\d+", "0", text) for text in few)
        if forms.most_common(1)[0][1] >= _NEARLY_DISTINCT * len(few):
            return "codes that differ in their numbers only"
    if len(few) >= 100 and _recurrence(few) < 0.001 * len(few):
        return "codes without common parts"
    return ""


def _vary(texts: list[str]) -> bool:
    """Whether strings have different words that recur, as TOOL-17 and FOOD-23 have."""
    words = Counter(" ".join(_WORDS.findall(text)) for text in texts)
    common = [n for n in words.values() if n >= max(2, 0.02 * len(texts))]
    return len(common) > 1


def _recurrence(texts: list[str]) -> float:
    """Share of the groups of three letters or digits that occur in another string as well.

    In scripts without spaces, words have one or two letters, and single ones are compared.
    """
    size = 1 if is_unspaced(texts) else 3
    seen: Counter[str] = Counter()
    for text in texts:
        word = re.sub(r"[\W_]", "", text.casefold())
        seen.update({word[i : i + size] for i in range(len(word) - size + 1)})
    total = sum(seen.values())
    return sum(n for n in seen.values() if n > 1) / total if total else 1.0
