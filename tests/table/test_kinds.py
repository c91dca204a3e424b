"""Numbers, dates, names and identifiers as tables write them."""

from __future__ import annotations

import hashlib
import uuid
from fractions import Fraction
from random import Random

import numpy as np
import pandas as pd
import pytest
from tests.attack.strange import THEMES

from palmette.table._dates import (
    _DAYS,
    _HOURS,
    _NAMED,
    _TIMES,
    ISO,
    _english,
    _patterns,
    find_formats,
    to_dates,
)
from palmette.table._kinds import guess_kind
from palmette.table._numbers import NumberForm, find_form, parse_numbers, unit_of

RNG = np.random.default_rng(0)
NAMES = ["libc", "python", "gtk", "perl", "qt", "kde", "font", "ruby", "java", "data"]


@pytest.mark.parametrize(
    ("text", "form", "number"),
    [
        ("1.234,56", (",",), 1234.56),
        ("1 234,5", (",",), 1234.5),
        ("1\u202f234,5", (",",), 1234.5),
        ("1\u00a0234", (".",), 1234.0),
        ("1'234.50", (".",), 1234.5),
        ("1,23,456.7", (".",), 123456.7),
        ("1,234", (".",), 1234.0),
        ("1,234", (",",), 1.234),
        ("EUR 5", (".", "EUR"), 5.0),
        ("5 €", (",", "EUR"), 5.0),
        ("$5.00", (".", "USD"), 5.0),
        ("-$5", (".", "USD"), -5.0),
        ("$-5", (".", "USD"), -5.0),
        ("12 %", (".", "%"), 12.0),
        ("(5)", (".",), -5.0),
        ("($5.00)", (".", "USD"), -5.0),
        ("\u22122,5", (",",), -2.5),
        ("5-", (".",), -5.0),
        ("5,\u2013 €", (",", "EUR"), 5.0),
        ("1,5e3", (",",), 1500.0),
        (".5", (".",), 0.5),
        ("5 new", (".",), None),
        ("new 5", (".",), None),
        ("5 €", (".",), None),
        ("5 $", (".", "EUR"), None),
        ("€5€", (".", "EUR"), None),
        ("1.5", (",",), None),
        ("1,5", (".",), None),
        ("(5", (".",), None),
        ("-(5)", (".",), None),
        ("12 34", (".",), None),
        (".", (".",), None),
        ("1e999", (".",), None),
    ],
)
def test_numbers(text, form, number):
    found = parse_numbers([text, "1"], NumberForm(*form)).tolist()
    assert found[0] == number if number is not None else np.isnan(found[0])
    assert found[1] == 1.0


def test_a_unit_is_a_known_word():
    units = [unit_of(text) for text in ("5 €", "US$ 5", "(5 kg)", "5", "5 new", "5 kg 3 g", "A-5")]
    assert units == ["EUR", "USD", "kg", "", None, None, None]


def test_the_form_that_reads_most_values_wins():
    texts = np.array(["1.234", "5,5", "6"], dtype=object)
    found = find_form(texts, np.array([1, 1, 1]))
    assert (found.form, found.share, found.is_certain) == (NumberForm(","), 1.0, True)
    found = find_form(np.array(["1.5", "5,5"], dtype=object), np.array([3, 1]))
    assert (found.form.decimal, found.share) == (".", 0.75)


@pytest.mark.parametrize(
    ("texts", "formats", "first"),
    [
        (["2024-01-31", "2023-12-01"], "ISO8601", "2024-01-31"),
        (["31.12.2024", "1.2.2024"], "%d.%m.%Y", "2024-12-31"),
        (["12/31/2024", "01/02/2024"], "%m/%d/%Y", "2024-12-31"),
        (["01/02/2024", "31/12/2024"], "%d/%m/%Y", "2024-02-01"),
        (["12/31/2024 11:59 PM", "1/2/2024 1:05 AM"], "%m/%d/%Y %I:%M %p", "2024-12-31T23:59"),
        (["31. März 2024", "1. Mai 2023"], "%d. %b %Y", "2024-03-31"),
        (["12 août 2024", "3 février 2023"], "%d %b %Y", "2024-08-12"),
        (["12 de enero de 2024", "3 de mayo de 2023"], "%d %b %Y", "2024-01-12"),
        (["Mon, 15 Jan 2024", "Tue, 6 Feb 2024"], "%d %b %Y", "2024-01-15"),
        (["January 5, 2024", "May 3, 2023"], "%b %d, %Y", "2024-01-05"),
        (["31.12.24", "01.02.23"], "%d.%m.%y", "2024-12-31"),
        (["14:30", "9:05"], "%H:%M", "1900-01-01T14:30"),
        (["31.12.2024", "2024-01-02", "5.6.2023"], "%d.%m.%Y|ISO8601", "2024-12-31"),
    ],
)
def test_formats_of_dates(texts, formats, first):
    found = find_formats(np.array(texts, dtype=object), np.ones(len(texts), dtype=int))
    assert (found.formats, found.share) == (formats, 1.0)
    assert to_dates(texts, formats)[0] == np.datetime64(first)


@pytest.mark.parametrize(
    "texts",
    [["1.10.12", "2.3.4"], ["5 new", "6 used"], ["3:1", "1:2"], ["10.1.1.5", "192.168.1.1"], ["x"]],
)
def test_what_is_no_date(texts):
    assert find_formats(np.array(texts, dtype=object), np.ones(len(texts), dtype=int)) is None


def test_both_orders_in_one_column_are_never_mixed():
    texts = np.array(["31/12/2024", "30/11/2024", "12/31/2024"], dtype=object)
    found = find_formats(texts, np.array([1, 1, 1]))
    assert found.formats == "%d/%m/%Y"
    assert found.share == pytest.approx(2 / 3)


def code(alphabet, length):
    return "".join(RNG.choice(list(alphabet), length))


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (list(range(1, 101)), "running numbers"),
        ([str(i) for i in range(7, 107)], "running numbers"),
        ([str(uuid.UUID(int=i**9)) for i in range(60)], "UUIDs"),
        ([hashlib.sha1(bytes([i])).hexdigest() for i in range(60)], "hashes"),
        ([f"A-{i * 7919 % 99991:05d}" for i in range(60)], "codes of digits"),
        ([f"customer_{i}" for i in range(60)], "codes that differ in their numbers only"),
        ([code("abcdefghijklmnopqrstuvwxyz0123456789", 9) for _ in range(150)], "codes without"),
        ([f"{i * 7919 % 99991:05d}" for i in range(60)], "codes of digits"),
    ],
)
def test_identifiers_are_left_out(values, why):
    found = guess_kind(pd.Series(values, name="x"))
    assert found.kind is None
    assert found.why.startswith(why)


def names(n):
    """Return distinct names without spaces that share pieces, as those of packages."""
    pairs = [f"{a}{b}" for a in NAMES for b in ("", "-dev", "-doc", "3-common", "-utils")]
    return [f"{pairs[i % 50]}-{pairs[(7 * i) // 50 % 50]}x{'abcdefgh'[i // 350]}" for i in range(n)]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (names(300), "text"),
        (names(30), "text"),
        ([f"{('TOOL', 'FOOD')[i % 2]}-{i:05d}" for i in range(60)], "text"),
        (["5 new", "3 used", "5 used"] * 9, "category"),
        ([f"{i} new" for i in range(60)], "text"),
        (["5 kg", "500 g"] * 20, "category"),
        ([f"{i} kg" for i in range(0, 600, 7)], "number"),
        (["01067", "10115", "80331"] * 20, "category"),
        ([str(3 * i) for i in range(99)] + ["many"], "number"),
        (["1", "2", "3", "many"] * 9, "category"),
        ([f"{i * i}" for i in range(50)], "number"),
        ([float(i) / 2 for i in range(50)], "number"),
        (["the first long text", "a second text here", "and now a third"], "text"),
        (["a", "b", "c"], "category"),
    ],
)
def test_other_columns_are_used(values, kind):
    assert guess_kind(pd.Series(values, name="x")).kind == kind


def test_a_name_may_say_that_numbers_are_identifiers():
    numbers = RNG.permutation(10**6)[:100]
    assert guess_kind(pd.Series(numbers, name="order_id")).kind is None
    assert guess_kind(pd.Series(numbers, name="size")).kind == "number"
    assert guess_kind(pd.Series(np.tile(numbers[:50], 2), name="order_id")).kind == "number"


def test_what_is_nearly_a_number_is_told():
    hint = guess_kind(pd.Series([str(i * i) for i in range(80)] + ["a b"] * 20, name="x")).hint
    assert "80% of the values are numbers of one form, but 'a b' is not" in hint


def test_every_format_is_tried_where_it_reads():
    forms = [each for each in _DAYS + _NAMED + _HOURS if each]
    for i, form in enumerate(forms):
        time = _TIMES[i % len(_TIMES)] if "%H" not in form and "%I" not in form else ""
        texts = pd.date_range("2001-12-01 23:14:15", periods=9, freq="37h", tz="UTC").strftime(
            form + time
        )
        texts = np.array([text.replace(" ", "\u00a0 ") for text in texts], dtype=object)
        assert not np.isnat(to_dates(texts, form + time)).any()
        assert find_formats(texts, np.ones(9, dtype=np.int64)).share == 1.0


@pytest.mark.parametrize("theme", ["dates", "numbers"])
def test_formats_that_are_not_tried_read_nothing(theme):
    rng = Random(theme)
    texts = np.array([str(THEMES[theme](rng)) for _ in range(400)], dtype=object)
    for form, pattern in _patterns():
        read = ~np.isnat(to_dates(texts, form))
        words = [_english(text) if "%b" in form else text.strip() for text in texts[read]]
        assert all(map(pattern.fullmatch, words))


def test_dates_do_not_depend_on_the_clock():
    assert np.isnat(to_dates(["now", "today", " Now"], ISO)).all()
    assert np.isnat(to_dates(["now", "today"], "%d.%m.%Y")).all()


def test_times_beyond_the_years_of_python_are_cells():
    far = pd.Series(np.array([2**50, 2**51], dtype="datetime64[s]")).astype(object)
    cells = [*far, pd.NaT, Fraction(10**5000, 3)]
    assert guess_kind(pd.Series(cells * 30, name="x", dtype=object)).kind == "category"
