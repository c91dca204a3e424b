from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from palmette.datasets._table import read_libsvm
from palmette.exceptions import ReadError

Write = Callable[[str, str | bytes], Path]


def test_one_label_a_row(write: Write) -> None:
    bunch = read_libsvm(write("f", "3 1:0.5 3:2 # note\n\n-1 2:1\n"))
    assert sparse.issparse(bunch.X)
    assert bunch.X.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0]]
    assert bunch.y.tolist() == [3, -1]
    assert bunch.y.dtype == np.int64
    assert bunch.hierarchy.names.tolist() == ["root", -1, 3]


def test_labels_that_are_no_whole_numbers_stay(write: Write) -> None:
    assert read_libsvm(write("f", "0.5 1:1\n2 1:1\n")).y.tolist() == [0.5, 2]


def test_several_labels_are_an_indicator(write: Write) -> None:
    bunch = read_libsvm(write("f", "5,1 1:1\n2:1\n5 1:2\n"))
    assert bunch.target_form == "indicator"
    assert bunch.label_names.tolist() == [1, 5]
    assert bunch.y.toarray().tolist() == [[1, 1], [0, 0], [0, 1]]


def test_columns_can_be_set(write: Write) -> None:
    assert read_libsvm(write("f", "1 1:1\n"), n_features=7).X.shape == (1, 7)
    assert read_libsvm(write("f", "1 1:1\n"), zero_based=True).X.shape == (1, 2)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=6))
def test_what_scikit_learn_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[int]]
) -> None:
    path = tmp_path_factory.mktemp("libsvm") / "f"
    y = np.arange(len(rows))
    dump_svmlight_file(np.array(rows), y, str(path), zero_based=False)
    bunch = read_libsvm(path, n_features=3, zero_based=False)
    assert bunch.X.toarray().tolist() == rows
    assert bunch.y.tolist() == y.tolist()


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("1 1:1\nx 1:1\n", 2, 0, "number as the label, found 'x'"),
        ("1 1:1\n1,x 1:1\n", 2, 0, "number as the label, found 'x'"),
        ("1 1:1\n\n1 2\n", 3, 2, "expected index:value, found '2'"),
        ("1 2:a\n", 1, 2, "expected index:value"),
        ("1 -2:1\n", 1, 2, "expected index:value"),
        ("1 3:1 2:1\n", 1, 6, "indices must increase, but 2 comes after 3"),
        ("1 1000000000000000000:1\n", 1, 2, "larger than 2147483647"),
        ("1 2147483648:1\n", 1, 2, "larger than 2147483647"),
    ],
)
def test_errors_name_file_line_and_column(
    write: Write, text: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        read_libsvm(write("f.libsvm", text))
    assert (caught.value.line, caught.value.column) == (line, column)


def test_nan_is_no_label(write: Write) -> None:
    with pytest.raises(ReadError, match="nan"):
        read_libsvm(write("f", "nan 1:1\n"))
