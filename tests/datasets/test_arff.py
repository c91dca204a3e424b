"""ARFF files: their fields, headers, dense and sparse rows."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from palmette.datasets._arff import read_arff
from palmette.datasets._arff_header import (
    FieldError,
    read_quoted,
    split_fields,
    split_sparse_fields,
)
from palmette.exceptions import ReadError

Write = Callable[[str, str | bytes], Path]
NAN = float("nan")


def head(*types: str) -> str:
    lines = [f"@attribute a{i} {kind}" for i, kind in enumerate(types)]
    return "\n".join(["@relation r", *lines, "@data", ""])


def read(write: Write, text: str | bytes, name: str = "f.arff"):
    return read_arff(write(name, text))


# ---------------------------------------------------------------------- what is read


def test_numbers_codes_and_texts(write: Write) -> None:
    data = read(
        write,
        """% comment
@RELATION 'my set'

@Attribute 'petal width' REAL
@ATTRIBUTE kind {Iris-setosa, 'big one',"?"}
@attribute note STRING
@attribute n Integer [0, 9]
@DATA
% another
.5,Iris-setosa,hello,3

?, 'big one', 'a, b' , 4
1e-3,?,?,?
2, '?' ,"x",-1
""",
    )
    assert data.relation == "my set"
    assert [a.name for a in data.attributes] == ["petal width", "kind", "note", "n"]
    assert data.attributes[1].values == ("Iris-setosa", "big one", "?")
    expected = [[0.5, 0, 3], [NAN, 1, 4], [1e-3, NAN, NAN], [2, 2, -1]]
    np.testing.assert_array_equal(data.numbers, expected)
    assert data.texts[2].tolist() == ["hello", "a, b", None, "x"]
    assert data.line_numbers.tolist() == [10, 12, 13, 14]


def test_zero_one_is_numeric_in_effect_and_other_nominals_are_codes(write: Write) -> None:
    data = read(write, head("{0,1}", "{1,0}", "{w,n}") + "1,1,n\n0,0,w\n")
    np.testing.assert_array_equal(data.numbers, [[1, 0, 1], [0, 1, 0]])
    names, categorical, categories = data.describe_columns()
    assert names.tolist() == ["a0", "a1", "a2"]
    assert categorical.tolist() == [False, True, True]
    assert categories == {"a1": ("1", "0"), "a2": ("w", "n")}


def test_sparse_rows_become_a_csr_array(write: Write) -> None:
    data = read(write, head("numeric", "{0,1}", "{x,y}") + "{0 1.5, 1 1}\n{}\n{ 2 y }\n{0 ?,1 0}\n")
    assert isinstance(data.numbers, sparse.csr_array)
    expected = [[1.5, 1, 0], [0, 0, 0], [0, 0, 1], [NAN, 0, 0]]
    np.testing.assert_array_equal(data.numbers.toarray(), expected)


def test_texts_in_sparse_rows(write: Write) -> None:
    data = read(write, head("numeric", "string") + "{0 2, 1 'a b'}\n{0 1}\n{1 ?}\n")
    assert data.texts[1].tolist() == ["a b", "", None]
    np.testing.assert_array_equal(data.numbers.toarray(), [[2], [1], [0]])


def test_a_head_alone_is_a_table_of_no_rows(write: Write) -> None:
    data = read(write, head("numeric", "string"))
    assert data.n_rows == 0
    assert data.numbers.shape == (0, 1)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_do_not_matter(write: Write, end: str) -> None:
    text = (head("numeric", "string") + "1,a\n2,b").replace("\n", end)
    data = read(write, text)
    assert data.numbers.tolist() == [[1], [2]]
    assert data.texts[1].tolist() == ["a", "b"]
    assert data.line_numbers.tolist() == [5, 6]


def test_encodings_are_utf8_with_or_without_a_mark_or_latin1(write: Write) -> None:
    text = head("string") + "é\n"
    for content in (text.encode(), text.encode("utf-8-sig"), text.encode("latin-1")):
        assert read(write, content).texts[0].tolist() == ["é"]


def test_float32_on_request(write: Write) -> None:
    path = write("f.arff", head("numeric", "{a,b}") + "1.5,b\n")
    assert read_arff(path, np.float32).numbers.dtype == np.float32


def test_chunks_change_nothing(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"{i},{i % 2},t{i},{'w' if i % 3 else '?'}\n" for i in range(50))
    path = write("f.arff", head("numeric", "{0,1}", "string", "{v,w}") + rows)
    whole = read_arff(path)
    monkeypatch.setattr("palmette.datasets._reading._CHUNK_CHARACTERS", 30)
    cut = read_arff(path)
    np.testing.assert_array_equal(whole.numbers, cut.numbers)
    assert whole.texts[2].tolist() == cut.texts[2].tolist()


# ---------------------------------------------------------------------- laws

cells = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
values = st.sampled_from(["x", "y z", "it's", "?", "a,b", '"'])


def quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(cells, st.one_of(st.none(), values), cells), max_size=8))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list) -> None:
    declared = ["x", "y z", "it's", "?", "a,b", '"']
    lines = [
        ",".join(
            "?" if cell is None else quote(cell) if isinstance(cell, str) else repr(cell)
            for cell in row
        )
        for row in rows
    ]
    path = tmp_path_factory.mktemp("arff") / "f.arff"
    nominal = "{" + ",".join(map(quote, declared)) + "}"
    path.write_text(head("numeric", nominal, "real") + "\n".join(lines))
    coded = [
        [NAN if c is None else declared.index(c) if isinstance(c, str) else c for c in row]
        for row in rows
    ]
    np.testing.assert_array_equal(read_arff(path).numbers, np.reshape(coded, (len(rows), 3)))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.sampled_from([0, 0, 1, 2.5, -3]), min_size=4, max_size=4), min_size=1))
def test_dense_and_sparse_rows_say_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[float]]
) -> None:
    folder = tmp_path_factory.mktemp("arff")
    top = head(*["numeric"] * 4)
    dense = folder / "dense.arff"
    dense.write_text(top + "\n".join(",".join(map(str, row)) for row in rows))
    thin = folder / "sparse.arff"
    thin.write_text(
        top
        + "\n".join(
            "{" + ", ".join(f"{i} {v}" for i, v in enumerate(row) if v) + "}" for row in rows
        )
    )
    np.testing.assert_array_equal(read_arff(dense).numbers, read_arff(thin).numbers.toarray())


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        (head("numeric", "numeric") + "1,2\n1,x\n", 6, 2, "expected a number for 'a1', found 'x'"),
        (head("numeric", "numeric") + "1,2\n\n1,2,3\n", 7, None, "found 3 values, expected 2"),
        (head("numeric", "numeric") + "1\n", 5, None, "found 1 values, expected 2"),
        (head("numeric", "{a,b}") + "1, c\n", 5, 3, "'c' is not a declared value of 'a1'"),
        (head("{0,1}") + "2\n", 4, 0, "expected 0 or 1"),
        (head("numeric") + "1_0\n", 4, 0, "expected a number"),
        (head("numeric", "string") + "1,'open\n", 5, 2, "not closed"),
        (head("numeric") + "{1 1}\n", 4, 3, "index 1 is too large: 1 attributes"),
        (head("numeric") + "{1000000000000 1}\n", 4, 15, "index 1000000000000 is too large"),
        (head("numeric") + "{0 x}\n", 4, 3, "expected a number"),
        (head("numeric") + "{0 1}\n2\n", 5, 0, "expected a sparse row"),
        (head("numeric") + "{0 1, 0 2}\n", 4, None, "index 0 occurs twice"),
        (head("{0,1}") + "{0 2}\n", 4, 3, "expected 0 or 1"),
        ("@relation r\nhello\n", 2, 0, "expected @relation"),
        ("@relation r\n@attribute\n", 2, 10, "name of the attribute is missing"),
        ("@attribute 'x numeric\n", 1, 11, "quote is not closed"),
        ("@attribute x\n", 1, 12, "type of the attribute 'x' is missing"),
        ("@attribute x relational\n", 1, 13, "'relational' is an unknown type"),
        ("@attribute x {a,b\n", 1, 13, "not closed by }"),
        ("@attribute x {a,b,a}\n", 1, 18, "'a' is declared twice"),
        ("@attribute x {a,,b}\n", 1, 16, "declared value is empty"),
        ("@attribute x numeric 3\n", 1, 21, "nothing after the type"),
        ("@attribute x hierarchical 1,,2\n", 1, 25, "empty name"),
        ("@data\n1\n", 1, None, "before any @attribute"),
    ],
)
def test_errors_name_file_line_and_column(
    write: Write, text: str, line: int, column: int | None, message: str
) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        read(write, text)
    assert caught.value.path is not None
    assert caught.value.path.endswith("f.arff")
    assert (caught.value.line, caught.value.column) == (line, column)


def test_a_missing_data_line_and_binary_files_are_errors(write: Write) -> None:
    with pytest.raises(ReadError, match="no @data line after 1 attributes"):
        read(write, "@attribute x numeric\n")
    with pytest.raises(ReadError, match="binary") as caught:
        read(write, head("numeric") + "1\n2\0\n")
    assert caught.value.line == 5
    with pytest.raises(ReadError, match="the file does not exist"):
        read_arff("nowhere.arff")


def test_a_wide_head_over_empty_rows_takes_no_memory(write: Write) -> None:
    rows = "'\n" * 20_000  # with 20,000 columns this would be 3 GB
    with pytest.raises(ReadError, match="found 1 values, expected 20000"):
        read(write, head(*["numeric"] * 20_000) + rows)


def test_a_megabyte_of_numbers_takes_a_fraction_of_a_second(write: Write) -> None:
    row = ",".join(str(i % 8) for i in range(80)) + ",1@1/2\n"
    path = write("f.arff", head(*["numeric"] * 80, "hierarchical 1,1/2") + row * 10_000)
    start = time.process_time()
    data = read_arff(path)
    assert time.process_time() - start < 1
    assert data.numbers.shape == (10_000, 80)
    assert data.texts[80][-1] == "1@1/2"


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
