from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import rdata
from scipy import sparse

from palmette.datasets._rda import _bounded, read_rda
from palmette.exceptions import ReadError

Write = Callable[[str, str | bytes], Path]


def saved(**objects: Any) -> bytes:
    converted = rdata.conversion.convert_python_to_r_data(objects, file_type="rda")
    stream = io.BytesIO()
    rdata.unparser.unparse_fileobj(stream, converted, file_type="rda")
    return stream.getvalue()


def mldr(frame: pd.DataFrame, labels: list[int], features: list[int]) -> dict[str, Any]:
    return {
        "name": "small",
        "dataset": frame,
        "labels": pd.DataFrame({"index": np.array(labels, dtype=np.int32)}),
        "attributesIndexes": np.array(features, dtype=np.int32),
    }


FRAME = pd.DataFrame({"y": [1.0, 0, 1], "a": [0.5, 2, 3], "b": [1.0, 1, 0], ".count": [1.0, 0, 1]})


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_labels_and_features_go_by_their_column_numbers(
    write: Write, pack: Callable[[bytes], bytes]
) -> None:
    bunch = read_rda(write("f.rda", pack(saved(small=mldr(FRAME, [1], [2, 3])))))
    assert bunch.X.tolist() == [[0.5, 1], [2, 1], [3, 0]]
    assert bunch.y.tolist() == [[1], [0], [1]]
    assert bunch.label_names.tolist() == ["y"]
    assert bunch.feature_names.tolist() == ["a", "b"]
    assert bunch.hierarchy.names.tolist() == ["root", "y"]


def test_mostly_zeros_are_sparse(write: Write) -> None:
    frame = pd.DataFrame(np.eye(12), columns=[f"c{i}" for i in range(12)])
    bunch = read_rda(write("f.rda", saved(s=mldr(frame, [1, 2], list(range(3, 13))))))
    assert isinstance(bunch.X, sparse.csr_array)
    assert isinstance(bunch.y, sparse.csr_array)
    assert bunch.y.dtype == np.int8


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"junk", "not a file that R's save"),
        (saved(x=np.array([1.0])), "expected an mldr object.*'x'"),
        (saved(s=mldr(FRAME, [9], [2])), "not between 1 and 4"),
        (saved(s=mldr(FRAME, [2], [3])), "values other than 0 and 1"),
        (saved(s=mldr(FRAME, [1], [2]))[:-40], "damaged or truncated"),
        (gzip.compress(saved(s=mldr(FRAME, [1], [2])))[:-40], "corrupt or truncated"),
    ],
)
def test_errors_say_what_is_wrong(write: Write, content: bytes, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_rda(write("f.rda", content))


def test_unpacking_has_a_bound(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("f.rda", gzip.compress(saved(s=mldr(FRAME, [1], [2]))))
    monkeypatch.setattr("palmette.datasets._rda.MAX_UNPACKED", 100)
    with pytest.raises(ReadError, match="more than 100 bytes"):
        read_rda(path)


def test_sequences_have_a_bound() -> None:
    expand = _bounded(lambda state: "expanded")
    assert expand(SimpleNamespace(value=[10.0, 1.0, 1.0])) == "expanded"
    for length in (1e12, -1.0, float("nan")):
        with pytest.raises(ValueError, match="a sequence of"):
            expand(SimpleNamespace(value=[length, 1.0, 1.0]))


def test_a_missing_package_is_named(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("f.rda", saved(s=mldr(FRAME, [1], [2])))
    monkeypatch.setitem(sys.modules, "rdata", None)
    with pytest.raises(ReadError, match=r"pip install 'palmette\[rda\]'"):
        read_rda(path)
