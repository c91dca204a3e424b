from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmette.datasets.arff_fields import (
    FieldError,
    read_quoted,
    split_fields,
    split_sparse_fields,
)


def texts(line: str) -> list[str]:
    return [field.text for field in split_fields(line)]


def test_commas_separate_and_blanks_around_fields_do_not_count() -> None:
    assert texts("1, b c ,\t3 ") == ["1", "b c", "3"]
    assert texts("") == [""]
    assert texts("1,") == ["1", ""]


def test_quotes_of_both_kinds_hold_commas_and_each_other() -> None:
    assert texts("""'a, "b"', "c, 'd'" """) == ['a, "b"', "c, 'd'"]


def test_a_backslash_escapes_within_quotes_only() -> None:
    assert texts(r"'it\'s', 'a\\b', 'x\ty', a\b") == ["it's", "a\\b", "x\ty", r"a\b"]


def test_an_apostrophe_within_a_bare_word_is_a_letter() -> None:
    assert texts("don't,1") == ["don't", "1"]


def test_only_a_bare_question_mark_is_missing() -> None:
    assert [field.is_missing for field in split_fields("?, '?', ??")] == [True, False, False]


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\t", exclude_categories=["Cs"]))))
def test_quoting_is_undone(words: list[str]) -> None:
    words = [*words, ""]  # at least one field
    line = ",".join("'" + w.replace("\\", "\\\\").replace("'", "\\'") + "'" for w in words)
    assert texts(line) == words


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("1, 'a", 3, "not closed"),
        ("1, 'a' b, 2", 6, "expected a comma"),
        ('"a""b"', 3, "expected a comma"),
    ],
)
def test_errors_point_at_the_culprit(line: str, column: int, message: str) -> None:
    with pytest.raises(FieldError, match=message) as caught:
        split_fields(line)
    assert caught.value.column == column


def test_sparse_fields_are_an_index_and_a_value() -> None:
    line = "{0 1.5, 12 'a b',3 ?}"
    pairs = split_sparse_fields(line, 1, len(line) - 1)
    assert [(index, field.text) for index, field in pairs] == [
        ("0", "1.5"),
        ("12", "a b"),
        ("3", "?"),
    ]
    assert split_sparse_fields("{ }", 1, 2) == []


@pytest.mark.parametrize("line", ["{1}", "{a 1}", "{-1 2}", "{1 2,}", "{1.5 2}"])
def test_other_sparse_fields_are_errors(line: str) -> None:
    with pytest.raises(FieldError, match="index and a value"):
        split_sparse_fields(line, 1, len(line) - 1)


def test_a_quoted_word_ends_at_its_quote() -> None:
    assert read_quoted("@x 'a b' {1}", 2) == ("a b", 8)
    assert read_quoted("@x abc", 2) is None
    assert read_quoted("'open", 0) is None


@pytest.mark.parametrize(
    "line", [" " * 500_000 + "x", "'" + "\\" * 500_001, "a" * 500_000, "," * 99]
)
def test_no_line_makes_the_splitter_backtrack(line: str) -> None:
    start = time.process_time()
    with contextlib.suppress(FieldError):
        split_fields(line)
    assert time.process_time() - start < 1
