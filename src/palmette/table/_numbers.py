"""Numbers that are written as text: decimal marks, thousands separators, currencies and units."""

from __future__ import annotations

import contextlib
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import row_chunks
from palmette.exceptions import PalmetteError

if TYPE_CHECKING:
    import pandas as pd

POINT, COMMA = ".", ","
DECIMALS = (POINT, COMMA)
FloatArray = NDArray[np.float64]

_SAMPLE = 2_000  # strings that are tested before all others
_FEW = 0.3  # share of the sample below which a column is not read further
_ENOUGH = 0.9  # share of the sample that a convention reads, before all strings are tested
_LONGEST = 2_000  # characters; numbers of double precision have 1,100 and separators at most

# one name for the spellings of a unit: a column with several units is not a column of numbers
_CURRENCIES = {
    "USD": ["$", "US$"], "EUR": ["€"], "GBP": ["£"], "JPY": ["¥", "￥", "円"],
    "INR": ["₹", "Rs.", "Rs"], "KRW": ["₩", "원"], "RUB": ["₽", "руб", "руб."],
    "TRY": ["₺"], "UAH": ["₴"], "ILS": ["₪"], "VND": ["₫"],
    "BRL": ["R$"], "PHP": ["₱"], "NGN": ["₦"], "CHF": ["Fr.", "SFr."], "SEK": ["kr", "kr."],
    "PLN": ["zł"], "CZK": ["Kč"], "CAD": ["C$", "CA$"], "AUD": ["A$", "AU$"], "HKD": ["HK$"],
    "CNY": ["RMB", "元"], "THB": ["฿", "บาท"],
}  # fmt: skip
_MORE_CURRENCIES = (
    "NZD NOK DKK HUF RON BGN IDR MYR SGD TWD MXN ARS CLP COP PEN ZAR EGP KES MAD SAR AED QAR"
)
_UNITS = (
    "% ‰ ° °C °F kg g mg µg t lb lbs oz km m cm mm µm nm in ft yd mi l L ml mL cl dl gal s ms "
    "min h B kB KB MB GB TB KiB MiB GiB TiB Hz kHz MHz GHz W kW MW kWh V mV A mA mAh Wh J kJ "
    "cal kcal N Pa hPa kPa bar psi K px dpi dB mph km/h m/s m² m³ m2 m3 cm2 cm3 ha rpm"
)
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_MINUS = "\\-\u2212\u2012\u2013"
_DASH = "\u2014"
_APOSTROPHES = "'\u2019\u02bc\u00b4`"


# digits and marks of other scripts, as those of ASCII
_WESTERN = {
    **{
        first + k: str(k)
        for first in (0x660, 0x6F0, 0x966, 0x9E6, 0xE50, 0xFF10)
        for k in range(10)
    },
    **{
        ord(mark): ascii_
        for mark, ascii_ in zip("٫٬．，％－＋（）／：", ".,.,%-+()/:", strict=True)
    },
}


def western(text: str) -> str:
    """Return a text with digits of ASCII in place of those of other scripts.

    Examples
    --------
    >>> western("٤٩١٫٥"), western("１，２３４円"), western("12")
    ('491.5', '1,234円', '12')
    """
    return text if text.isascii() else text.translate(_WESTERN)


class NumberForm(NamedTuple):
    """How the numbers of a column are written.

    Parameters
    ----------
    decimal : {".", ","}
        Decimal mark; the other one, spaces and apostrophes separate thousands.
    unit : str
        Currency or unit that may stand before or after a number; empty for none.
    """

    decimal: str = POINT
    unit: str = ""


class Found(NamedTuple):
    """The form of a column of numbers, and how certain it is.

    Parameters
    ----------
    form : NumberForm
    share : float
        Share of the rows with values that can be read.
    is_certain : bool
        Whether another decimal mark would read fewer values.
    other : float array or None
        If not certain, the numbers with the other decimal mark.
    """

    form: NumberForm
    share: float
    is_certain: bool
    other: FloatArray | None = None


def check_decimal(decimal: str) -> None:
    """Raise an error unless the text is a decimal mark."""
    if decimal not in DECIMALS:
        raise PalmetteError(f"decimal={decimal!r}: expected '.' or ','.")


def plain_numbers(texts: Sequence[str | None] | NDArray[Any]) -> FloatArray:
    """Read numbers as programming languages write them; NaN for everything else.

    Every number in a text is read here and nowhere else: by Python's own parser, for which no
    exponent and no number of digits is too large, which those of other libraries do not promise.

    Parameters
    ----------
    texts : sequence of n_texts strings
        Missing values, such as None, may be among them.

    Returns
    -------
    float array of shape (n_texts,)
        As of `float`, but only ASCII is read, without underscores; what is beyond the range of
        floating-point numbers, or infinite, is NaN.

    Examples
    --------
    >>> plain_numbers(["2.5", "1e3", "1,5", "inf", "9e7872688807", "1_000"]).tolist()
    [2.5, 1000.0, nan, nan, nan, nan]
    """
    import pandas as pd

    cells = np.asarray(texts, dtype=object)
    known = pd.notna(cells)
    numbers = np.full(len(cells), np.nan)
    numbers[known] = floats(cells[known].tolist())
    return np.where(np.isfinite(numbers), numbers, np.nan)


def floats(texts: list[str]) -> FloatArray:
    """Read numbers as `plain_numbers` does; infinite ones too."""
    joined = "".join(texts)
    if joined.isascii() and "_" not in joined:  # as `_float`, in half the time
        with contextlib.suppress(ValueError):
            return np.fromiter(map(float, texts), np.float64, len(texts))
    return np.fromiter(map(_float, texts), np.float64, len(texts))


def _float(text: str) -> float:
    try:
        return float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan


def parse_numbers(texts: Sequence[str] | NDArray[Any], form: NumberForm) -> FloatArray:
    """Read numbers of one form; NaN for everything else.

    Parameters
    ----------
    texts : sequence of n_texts strings
    form : NumberForm

    Returns
    -------
    float array of shape (n_texts,)

    Examples
    --------
    >>> parse_numbers(["1.234,56 €", "(5)", "−2", "5 new"], NumberForm(",", "EUR")).tolist()
    [1234.56, -5.0, -2.0, nan]
    """
    numbers = np.full(len(texts), np.nan)
    if form.decimal == POINT:
        numbers = plain_numbers(texts)
        rest = np.flatnonzero(np.isnan(numbers))
    else:
        rest = np.arange(len(texts))
    if len(rest):
        numbers[rest] = _parse(np.asarray(texts, dtype=object)[rest], form)
    return numbers


def _parse(texts: NDArray[Any], form: NumberForm) -> FloatArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    # regular expressions take a second for some megabytes
    short = [text if len(text) <= _LONGEST else "" for text in texts.tolist()]
    # lone surrogates, which a str of Python can have and Arrow cannot, are in no number
    clean = [t if t.isascii() else western(t).encode(errors="replace").decode() for t in short]
    cells = pa.array(clean, type=pa.string())
    cells = pc.replace_substring_regex(cells, pattern=f"[{_SPACES}]", replacement=" ")
    cells = pc.utf8_trim_whitespace(cells)
    parts = pc.extract_regex(cells, pattern=_pattern(form))
    numbers = np.full(len(texts), np.nan)
    read = np.flatnonzero(parts.is_valid().to_numpy(zero_copy_only=False))
    if not len(read):
        return numbers
    parts = parts.take(pa.array(read))

    def part(name: str) -> Any:
        return pc.struct_field(parts, name)

    digits = pc.replace_substring_regex(part("whole"), pattern=r"[^0-9]", replacement="")
    fraction = pc.replace_substring_regex(part("fraction"), pattern=r"[^0-9]", replacement="")
    text = pc.binary_join_element_wise(digits, ".", fraction, "0", part("exponent"), "")
    signs = pc.binary_join_element_wise(part("s1"), part("s2"), part("s3"), "")
    open_, close = part("open"), part("close")
    values = plain_numbers(text.to_pandas().to_numpy(dtype=object))
    in_brackets = pc.equal(open_, "(").to_numpy(zero_copy_only=False)
    is_closed = pc.equal(close, ")").to_numpy(zero_copy_only=False)
    n_signs = pc.utf8_length(signs).to_numpy(zero_copy_only=False)
    is_minus = pc.match_substring_regex(signs, pattern=f"[{_MINUS}]")
    negative = is_minus.to_numpy(zero_copy_only=False) | in_brackets
    wrong = (in_brackets != is_closed) | (n_signs + in_brackets > 1)
    n_units = pc.add(pc.utf8_length(part("before")), pc.utf8_length(part("after")))
    n_units = n_units.to_numpy(zero_copy_only=False)
    longest = np.maximum(*(pc.utf8_length(part(name)).to_numpy(zero_copy_only=False)
                           for name in ("before", "after")))  # fmt: skip
    wrong |= n_units > longest  # a unit on both sides
    wrong |= pc.equal(pc.add(pc.utf8_length(digits), pc.utf8_length(fraction)), 0).to_numpy(
        zero_copy_only=False
    )
    values = np.where(negative, -values, values)
    numbers[read] = np.where(wrong | ~np.isfinite(values), np.nan, values)
    return numbers


@lru_cache(maxsize=64)
def _pattern(form: NumberForm) -> str:
    """Regular expression of RE2, with named groups, of a trimmed cell."""
    decimal = re.escape(form.decimal)
    other = COMMA if form.decimal == POINT else POINT
    units = "|".join(map(re.escape, _spellings(form.unit)))
    unit = f"(?:{units})?" if units else ""
    before = unit if form.unit in _currencies() else ""
    marks = [re.escape(other), " ", f"[{_APOSTROPHES}]", "_"]
    groups = "|".join(rf"\d{{1,3}}(?:{m}\d{{2,3}})*{m}\d{{3}}" for m in marks)
    sign = f"[+{_MINUS}]?"
    return (
        rf"^(?P<s1>{sign}) ?(?P<before>{before}) ?(?P<open>\(?)(?P<s2>{sign}) ?{before} ?"
        rf"(?P<whole>{groups}|\d+|)(?P<fraction>(?:{decimal}\d+|{decimal}[{_MINUS}{_DASH}]{{1,2}}|"
        rf"{decimal})?)(?P<exponent>(?:[eE][+-]?\d{{1,3}})?) ?(?P<after>{unit})(?P<s3>[{_MINUS}]?)"
        rf"(?P<close>\)?)(?: ?{unit})$"
    )


@lru_cache(maxsize=1)
def _currencies() -> frozenset[str]:
    """Return the units that may stand before a number."""
    return frozenset((*_CURRENCIES, *_MORE_CURRENCIES.split()))


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    """Return the unit of every spelling."""
    names = {unit: unit for unit in _UNITS.split()}
    for code in sorted(_currencies()):
        for spelling in (code, code.lower(), code.title(), *_CURRENCIES.get(code, [])):
            names[spelling] = code
    return names


@lru_cache(maxsize=64)
def _spellings(unit: str) -> list[str]:
    return sorted((s for s, name in _names().items() if name == unit), key=lambda s: -len(s))


_AROUND = re.compile(  # possessive: the time is linear in the length of a cell
    rf"[\s(+{_MINUS}]*+([^\d\s(+{_MINUS}.,]*+)[\s(+{_MINUS}]*+\d[\d.,{_APOSTROPHES}\s_]*+"
    rf"(?:[eE][+-]?\d++)?+[.,{_MINUS}]*+\s*+([^\d\s){_MINUS}][^\s){_MINUS}]*+)?+[\s){_MINUS}]*+$"
)


def unit_of(text: str) -> str | None:
    """Return the unit of a string that has digits and a unit: empty for none, None if unknown.

    Examples
    --------
    >>> unit_of("$5.00"), unit_of("5"), unit_of("5 new")
    ('USD', '', None)
    """
    match = _AROUND.match(western(text))
    if match is None:
        return None
    before, after = match.groups()
    if before:
        unit = _names().get(before)
        return unit if not after and unit in _currencies() else None
    return _names().get(after) if after else ""


# ---------------------------------------------------------------------- detection


def find_form(
    texts: NDArray[Any],
    counts: NDArray[np.int64],
    decimal: str | None = None,
) -> Found:
    """Find the form that reads most strings of a column.

    Parameters
    ----------
    texts : object array of shape (n_texts,)
        Distinct strings.
    counts : int array of shape (n_texts,)
        Number of rows of each.
    decimal : {".", ","}, optional
        The decimal mark, if it is known.

    Returns
    -------
    Found
    """
    total = max(int(counts.sum()), 1)
    few = texts[np.linspace(0, len(texts) - 1, min(len(texts), _SAMPLE)).astype(np.int64)]
    units = Counter(filter(None, map(unit_of, few)))
    unit = units.most_common(1)[0][0] if units else ""
    forms = [NumberForm(mark, unit) for mark in (DECIMALS if decimal is None else (decimal,))]
    shares = [float(np.isfinite(parse_numbers(few, form)).mean()) for form in forms]
    hopeful = [form for form, share in zip(forms, shares, strict=True) if share >= _ENOUGH]
    if not hopeful:
        best = int(np.argmax(shares))
        some = shares[best] > (_FEW if len(texts) > _SAMPLE else 0.0)
        numbers = parse_numbers(texts, forms[best]) if some else np.full(len(texts), np.nan)
        return Found(forms[best], float(counts[np.isfinite(numbers)].sum()) / total, True)
    parsed = [parse_numbers(texts, form) for form in hopeful]
    read = [int(counts[np.isfinite(numbers)].sum()) for numbers in parsed]
    best = int(np.argmax(read))
    found = Found(hopeful[best], read[best] / total, True)
    if len(hopeful) < 2 or read[0] != read[1]:
        return found
    same = np.array_equal(parsed[0], parsed[1], equal_nan=True)
    return found._replace(is_certain=False, other=None if same else parsed[1 - best])


def is_ambiguous(texts: NDArray[Any]) -> bool:
    """Whether all points could also separate thousands, as in 1.234.

    Examples
    --------
    >>> is_ambiguous(np.array(["1.234", "56"])), is_ambiguous(np.array(["0.123", "5.678"]))
    (True, False)
    """
    grouped = re.compile(rf"[+{_MINUS}]?[1-9]\d{{0,2}}(\.\d{{3}})*")
    some = False
    for text in texts.tolist():
        if not grouped.fullmatch(text.strip()):
            return False
        some = some or "." in text
    return some


# ---------------------------------------------------------------------- columns at once
# one by one, pandas takes seconds for thousands of columns

_CELLS_AT_ONCE = 2**22
_LEAST = 0.5  # share of the cells that have a value


def number_columns(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return the numbers of those columns that have no cells but plain numbers and empty ones.

    They are what `guess_kind` and `Schema.cast` would find. Columns that need a closer look are
    left out: those with other cells, mostly empty ones, and those of codes such as 01067.

    Parameters
    ----------
    frame : DataFrame of n_samples rows
        With distinct names of columns.
    names : sequence of str
        Columns that are looked at.

    Returns
    -------
    dict of str to float array of shape (n_samples,)
        Empty cells are NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": ["2.5", "1e3", None], "b": ["x", "2", "3"]}, dtype=object)
    >>> {name: cells.tolist() for name, cells in number_columns(frame, ["a", "b"]).items()}
    {'a': [2.5, 1000.0, nan]}
    """
    found: dict[str, NDArray[np.float64]] = {}
    wanted = frame.columns.get_indexer(list(names))
    kinds = np.array([d.kind if isinstance(d, np.dtype) else "" for d in frame.dtypes])[wanted]
    for part in row_chunks(len(names), len(frame), _CELLS_AT_ONCE):
        for kind, read in (("O", _of_strings), ("iuf", _of_numbers)):
            chosen = np.arange(len(names))[part][np.isin(kinds[part], list(kind))]
            if not len(chosen):
                continue
            cells = frame.iloc[:, wanted[chosen]]
            columns = cells.to_numpy(dtype=object if kind == "O" else np.float64)
            for place, column in zip(chosen.tolist(), columns.T, strict=True):
                values = read(column)
                if values is not None:
                    found[names[place]] = values
    return found


def _of_numbers(cells: NDArray[np.float64]) -> NDArray[np.float64] | None:
    known = cells[~np.isnan(cells)]
    return cells if len(known) and np.isfinite(known).all() else None


def _of_strings(cells: NDArray[Any]) -> NDArray[np.float64] | None:
    texts = cells.tolist()
    kinds = set(map(type, texts))
    has_value: Any = slice(None)
    if kinds == {str, type(None)}:
        has_value = np.array([cell is not None for cell in texts])
        texts = [cell for cell in texts if cell is not None]
    elif kinds != {str}:
        return None
    if len(texts) < _LEAST * len(cells) or not np.isfinite(floats(texts[:1])[0]):
        return None
    if has_leading_zeros(texts):
        return None
    values = np.full(len(cells), np.nan)
    values[has_value] = floats(texts)
    return values if np.isfinite(values[has_value]).all() else None


def has_leading_zeros(texts: Sequence[str]) -> bool:
    """Whether strings are codes of digits, such as 01067: of one length, some with a zero first."""
    first = texts[0]
    if len(first) < 2 or not first.isdigit():
        return False
    length, some = len(first), False
    for text in texts:
        if len(text) != length or not text.isdigit():
            return False
        some = some or text[0] == "0"
    return some
