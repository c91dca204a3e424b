"""Cells as strangers write them: numbers, dates, paths, characters, formulas and JSON, and worse.

Every function returns one cell from a generator of random numbers; `of` names them by theme.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Callable
from random import Random
from typing import Any

__all__ = ["THEMES", "VALUES", "plain", "strange"]

_DIGITS = ("0123456789", "٠١٢٣٤٥٦٧٨٩", "０１２３４５６７８９", "०१२३४५६७८९", "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗",
           "⁰¹²³⁴⁵⁶⁷⁸⁹",
           "①②③④⑤⑥⑦⑧⑨⑩")  # fmt: skip
_SIGNS = ("", "", "", "-", "+", "--", "+-", "−", "–", "(")
_UNITS = ("", "", "", "$", "€", "%", "‰", " kg", "°C", "USD", "£", "m²", " %", "kr.", "Fr.", "new")
_MARKS = (",", ".", " ", "'", "’", "_", "\u00a0", "\u202f", ",,", "٬")
_EXPONENTS = ("", "", "e5", "E+10", "e-5", "e308", "e309", "e-324", "e400", "e999999",
              "e7872688807",
              "e2147483647", "e2147483648", "e4294967296", "e-4294967296", "e18446744073709551616",
              "e-99999999999", "e5e5", "e", "p99999", "d3", "e+-1", "e１", "E 5")  # fmt: skip
_NUMBERS = ("9e7872688807d22d9e69", "9e7872688807", "1e4294967296", "0x1p99999", "1e-99999999999",
            "١٢٣", "1_000", "nan(1234)", "nan", "NaN", "-nan", "inf", "-Infinity", "INFINITY",
            "1e5e5",
            "+-1", "0x1F", "0b101", "0o17", "1,234,567.89", "1.234.567,89", "1'000", "12,34,567",
            ".",
            "-", "+", ".e1", "1.", ".5", "1..2", "1e", "-0", "00", "1/2", "½", "Ⅷ", "5٪", "१२",
            "१.५",
            "1.#INF", "1.#QNAN", "#N/A", "∞", "1e+", "4.9e-324", "1.7976931348623159e308",
            "True")  # fmt: skip
_DATES = ("now", "today", "NaT", "0000-00-00", "0001-01-01", "9999-12-31T23:59:59.999999999",
          "10000-01-01", "-0001-01-01", "+292277026596-12-04", "1677-09-21", "2262-04-12",
          "2024-02-30", "2023-02-29", "2024-W53-7", "2024-366", "20240131T235960Z", "24:00:00",
          "23:59:60", "2024-01-01T00:00:00+99:99", "2024-01-01T00:00:00-24:00", "P1Y2M3DT4H",
          "1 days 00:00:00", "Q1 2024", "2024Q5", "Sept 31, 1999", "31. März 2024", "déc. 2020",
          "Montag, 1. Mai 2023", "1.1.1", "00/00/0000", "12/31/24 13:05 PM", "2024-1-1 1:1",
          "2024-01-01T00:00:00.123456789012345678901234567890", "1e9-01-01", "２０２４-01-01",
          "2024-01-01T00:00:00 America/New_York", "٢٠٢٤-٠١-٠١", "May", "12", "1e4-1-1", "31/12",
          "99999999999999999999-01-01", "2024-01-01\0", "12:00 AM AM", "Jan 0 2024")  # fmt: skip
_PATTERNS = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%y", "%Y-%m-%dT%H:%M:%S", "%d %b %Y",
             "%b %d, %Y %I:%M %p", "%Y-%m-%d %H:%M:%S.%f", "%H:%M:%S", "%Y%m%d", "%A, %d %B %Y",
             "%Y-%m-%dT%H:%M:%S+02:00", "%d-%m-%Y %H:%M", "%Y.%m.%d")  # fmt: skip
_PATHS = ("a > b", "a / b", "Food > Fruit", "Food > Fruit > ", " > ", ">", "/", "//", "a//b", "a|b",
          "a;b;;c", "../../etc/passwd", "C:\\con\\nul", "file:///dev/zero", "http://[::1]/",
          "<u:a>",
          "<http://x.invalid/a b>", "a::b", "a.b.c", "a\\b", "/dev/stdin", "~root", "$HOME", "`id`",
          "a > a > a", "root", "a -> b", "a » b", "%2e%2e%2f", "\\\\host\\share",
          "s3://b/k")  # fmt: skip
_FORMULAS = ("=1+1", "=cmd|' /C calc'!A0", "@SUM(1+1)", "+1+1", "-2+3",
             '=HYPERLINK("http://x","y")',
             "=WEBSERVICE(\"http://x.invalid\")", "\t=1", "'=1", "#REF!", "#DIV/0!", "{=A1}",
             "=A1048577", "=" * 300, "DDE(\"a\",\"b\")")  # fmt: skip
_SPACES = "\0\x01\x07\b\t\n\v\f\r\x1a\x1b\x7f\x85\xa0\xad\u200b\u2028\u2029\ufeff\ufffe\uffff"
_MARKED = ('"', '""', ",", ";", "\t", "|", "'", "\\", "\\N", "\r\n", "<script>alert(1)</script>",
           "{{7*7}}", "%s%n", "${x}", "&amp;&lt;", "]]>", "<![CDATA[", "-->", "\x1b[31m", "NULL",
           "NA",
           "None", "nan", "null", "N/A", "", " ", "?", "-", "[bold]", "[/]",
           "[link=x]")  # fmt: skip


def plain(rng: Random) -> str:
    """Return a word, a number or a date."""
    return rng.choice((_word, _short_number, _date))(rng)


def _word(rng: Random) -> str:
    return rng.choice(("apple", "pear", "cod", "tuna", "blade", "steel pin", "red", "large saw"))


def _short_number(rng: Random) -> str:
    return f"{rng.gauss(0, 10 ** rng.randint(-2, 6)):.{rng.randint(0, 4)}f}"


def _long(rng: Random) -> int:
    """Return a length: mostly short, at times thousands, rarely a million."""
    drawn = rng.random()
    if drawn < 0.98:
        return rng.randint(1, 40)
    return rng.randint(40, 6_000) if drawn < 0.9998 else 10**6


def _number(rng: Random) -> str:
    drawn = rng.random()
    if drawn < 0.3:
        return rng.choice(_NUMBERS)
    if drawn < 0.45:  # an MD5 sum, whose letters may be an exponent
        digest = hashlib.md5(rng.randbytes(8)).hexdigest()
        return digest[: rng.randint(4, 32)] if rng.random() < 0.5 else digest.replace("a", "e")
    digits = rng.choice(_DIGITS) if rng.random() < 0.2 else _DIGITS[0]
    whole = "".join(rng.choices(digits, k=_long(rng)))
    if rng.random() < 0.3 and len(whole) < 50:
        mark = rng.choice(_MARKS)
        whole = mark.join(whole[i : i + 3] for i in range(0, len(whole), 3))
    fraction = "." + "".join(rng.choices(digits, k=_long(rng))) if rng.random() < 0.4 else ""
    unit, sign = rng.choice(_UNITS), rng.choice(_SIGNS)
    text = f"{sign}{whole}{fraction}{rng.choice(_EXPONENTS)}"
    return f"{unit}{text}" if rng.random() < 0.3 else f"{text}{unit}"


def _date(rng: Random) -> str:
    when = datetime.datetime(1, 1, 1) + datetime.timedelta(rng.randint(600_000, 800_000))
    when = when.replace(hour=rng.randint(0, 23), microsecond=rng.randint(0, 999_999))
    return when.strftime(rng.choice(_PATTERNS[:8]))


def _strange_date(rng: Random) -> str:
    drawn = rng.random()
    if drawn < 0.4:
        return rng.choice(_DATES)
    text = _date(rng)
    if drawn < 0.7:  # a number in it becomes another one
        place = rng.randrange(len(text))
        number = rng.choice(("0", "13", "32", "99", "60", "-1", "99999", "9" * 30, "٣", "１", "x"))
        return text[:place] + number + text[place + 1 :]
    return text + rng.choice(("Z", " +99:99", "+00:00:00.5", " UTC", " CEST", "T", " AM", "."))


def _path(rng: Random) -> str:
    drawn = rng.random()
    if drawn < 0.5:
        return rng.choice(_PATHS)
    mark = rng.choice((" > ", "/", "|", ";", ".", "::", " >", "\\", ","))
    names = [
        rng.choice(("a", "b", "Food", "", " ", "Tools", "é")) for _ in range(rng.randint(1, 6))
    ]
    if drawn > 0.99:
        names *= 300
    return mark.join(names)


def _characters(rng: Random) -> str:
    drawn = rng.random()
    if drawn < 0.3:
        return rng.choice(_MARKED)
    if drawn < 0.5:
        return "".join(rng.choices(_SPACES + "ab1", k=rng.randint(1, 5)))
    points = [rng.choice((0x2FF, 0xFFFF, 0x10FFFF)) for _ in range(rng.randint(1, 8))]
    text = "".join(chr(rng.randint(1, most)) for most in points)
    if drawn < 0.97:
        return text.encode(errors="ignore").decode()
    return "e\u0301" * 2_000 if drawn < 0.98 else "x" * _long(rng)


def _surrogates(rng: Random) -> str:
    return rng.choice(("\ud800", "a\udfff", "\udcff\udcfe", "\ud83d", "\udc80b", "ok"))


def _formula(rng: Random) -> str:
    return rng.choice(_FORMULAS)


def _json(rng: Random) -> str:
    if rng.random() < 0.05:
        return "[" * 2_000
    return json.dumps(_value(rng, 2), default=str) + rng.choice(("", "", "}", ","))


THEMES: dict[str, Callable[[Random], str]] = {
    "numbers": _number,
    "dates": _strange_date,
    "paths": _path,
    "characters": _characters,
    "surrogates": _surrogates,
    "formulas": _formula,
    "JSON": _json,
}


def strange(rng: Random) -> str:
    """Return a text of any theme but halves of characters, which end the reading of a file."""
    return rng.choice([make for name, make in THEMES.items() if name != "surrogates"])(rng)


# ---------------------------------------------------------------------- cells that are no texts


def _value(rng: Random, depth: int = 1) -> Any:
    """Return what a cell of JSON may be."""
    drawn = rng.random()
    if depth and drawn < 0.15:
        return [_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    if depth and drawn < 0.3:
        return {_characters(rng): _value(rng, depth - 1) for _ in range(rng.randint(0, 3))}
    if drawn < 0.4:
        return rng.choice((None, True, False))
    if drawn < 0.5:
        return rng.choice((2**63, -(2**64), 2**53 + 1, 10**22, 10**400, -(10**308), 0, 1))
    if drawn < 0.6:
        return rng.choice((math.nan, math.inf, -math.inf, 5e-324, 1.8e308, -0.0, 1e22, 0.1))
    return strange(rng)


def _object(rng: Random) -> Any:
    """Return what a cell of a DataFrame may be."""
    import decimal
    import fractions
    import uuid

    import numpy as np
    import pandas as pd

    return rng.choice([
        decimal.Decimal("1e999999"), decimal.Decimal("NaN"), decimal.Decimal("-Infinity"),
        decimal.Decimal("0.1"), fractions.Fraction(1, 3), fractions.Fraction(10**400, 3),
        fractions.Fraction(1, 10**400), 1j, complex("nan"), b"bytes", b"\xff\xfe", bytearray(b"a"),
        memoryview(b"a"), (), (1, "a"), [], [[]], {}, {"a": 1}, set(), frozenset("a"), range(3),
        pd.NA, pd.NaT, np.nan, np.float32("inf"), np.float16(1), np.int8(-1), np.uint64(2**64 - 1),
        np.longdouble("1e400"), np.bool_(True), np.str_("a"), np.bytes_(b"a"), np.array([1, 2]),
        np.array(3), np.datetime64("NaT"), np.datetime64("2024-01-01"), np.datetime64("9999", "Y"),
        np.datetime64(2**62, "s"), np.timedelta64(1, "D"), pd.Timestamp("2024-01-01", tz="UTC"),
        pd.Timestamp.max, pd.Timedelta("1s"), pd.Period("2024-01"), pd.Interval(0, 1),
        datetime.date.min, datetime.date.max, datetime.datetime.max, datetime.time(1),
        datetime.timedelta.max, datetime.datetime.max.replace(tzinfo=datetime.timezone.max),
        datetime.datetime.min.replace(tzinfo=datetime.timezone.max),
        uuid.UUID(int=1), object, len, Ellipsis, NotImplemented, 10**5_000, -(10**400), 2**1024,
    ])  # fmt: skip


def _scalar(rng: Random) -> Any:
    value = _value(rng, 0)
    is_fine = not isinstance(value, float | int) or abs(value) < 1e308
    return value if is_fine else None


VALUES: dict[str, Callable[[Random], Any]] = {
    "JSON": _value,
    "scalars": _scalar,  # that are allowed in requests
    "objects": _object,
}
