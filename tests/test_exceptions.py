"""Errors say what came, where, and survive the way between processes."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import quick

from palmette import exceptions
from palmette.exceptions import PalmetteError, ReadError


@pytest.mark.parametrize("name", [n for n in exceptions.__all__ if not n.endswith("Warning")])
def test_every_error_is_ours_and_a_value_error(name):
    error = getattr(exceptions, name)
    assert issubclass(error, PalmetteError)
    assert issubclass(error, ValueError)


def test_warnings_are_of_users():
    names = [name for name in exceptions.__all__ if name.endswith("Warning")]
    assert names
    assert all(issubclass(getattr(exceptions, name), UserWarning) for name in names)


def test_a_read_error_shows_file_line_and_caret():
    error = ReadError("expected a number", path="a.arff", line=3, text="1,x,2\r\n", column=2)
    assert str(error) == "a.arff:3: expected a number\n  1,x,2\n    ^"


@pytest.mark.parametrize(
    ("place", "beginning"),
    [
        ({}, "wrong"),
        ({"path": "a.txt"}, "a.txt: wrong"),
        ({"path": "a.txt", "line": 1}, "a.txt:1: wrong"),
        ({"line": 7}, "line 7: wrong"),
    ],
)
def test_what_is_not_known_is_left_out(place, beginning):
    assert str(ReadError("wrong", **place)) == beginning


def test_a_read_error_is_pickled_whole():
    error = ReadError("wrong", path="a.txt", line=2, text="abc", column=1)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@quick
@given(st.text(st.characters(exclude_characters="\r\n"), max_size=600), st.integers(0, 700))
def test_the_caret_is_under_the_column_however_the_line_is_cut(text, column):
    lines = str(ReadError("wrong", text=text, column=column)).split("\n")
    assert lines[0] == "wrong"
    assert len(lines) == 3  # control characters do not break lines
    shown, caret = lines[1:]
    assert len(shown) <= 130
    at = caret.index("^")
    if column < len(text):
        assert shown[at] == (text[column] if text[column].isprintable() else "·")
    else:
        assert at == len(shown)  # just behind the end


def test_a_line_that_fits_is_not_cut():
    assert "..." not in str(ReadError("wrong", text="x" * 120, column=119))


def test_both_ends_of_a_long_line_are_cut():
    shown = str(ReadError("wrong", text="x" * 1000, column=500)).split("\n")[1]
    assert shown.startswith("  ...x")
    assert shown.endswith("x...")
    assert len(shown) < 140
