from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from palmette.datasets.delimited import read_delimited
from palmette.exceptions import ReadError

Write = Callable[[str, str | bytes], Path]


def test_ids_are_left_out_and_the_class_may_come_last(write: Write) -> None:
    X, y = read_delimited(
        write("f", "n1  0.5 1 A\r\nn2 ?   2 B\r\n"), separator=None, target=-1, ignored=(0,)
    )
    np.testing.assert_array_equal(X, [[0.5, 1], [np.nan, 2]])
    assert y.tolist() == ["A", "B"]


def test_the_class_may_come_first_under_a_header(write: Write) -> None:
    X, y = read_delimited(
        write("f", "L,1,2\nT,2,8\n\nI, 5,12\n"), separator=",", target=0, header=True
    )
    assert X.tolist() == [[2, 8], [5, 12]]
    assert y.tolist() == ["T", "I"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1,2,A\n1,2,3,A\n", 2, "found 4 columns, expected 3"),
        ("1,2,A\n\n1,x,A\n", 3, "number in column 2, found 'x'"),
        ("A\n", 1, "too few"),
        ("\n", None, "no rows"),
    ],
)
def test_errors_name_the_line(write: Write, text: str, line: int | None, message: str) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        read_delimited(write("f", text), separator=",", target=-1)
    assert caught.value.line == line
