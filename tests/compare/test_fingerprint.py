"""Fingerprints tell data apart and are the same in every process."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from palmette.compare._problems import Problem
from palmette.compare._store import describe_estimator, fingerprint
from palmette.hierarchy._hierarchy import Hierarchy

STAR = Hierarchy.star(["a", "b", "c"])
X = np.arange(6.0).reshape(3, 2)
BASE = Problem("p", STAR, X, ["a", "b", "c"])


@pytest.mark.parametrize(
    "other",
    [
        Problem("p", STAR, X + 1e-9, ["a", "b", "c"]),
        Problem("p", STAR, X.astype(np.float32), ["a", "b", "c"]),
        Problem("p", STAR, X.reshape(3, 2)[:, ::-1], ["a", "b", "c"]),
        Problem("p", STAR, X, ["a", "b", "b"]),
        Problem("p", Hierarchy.star(["a", "b", "c", "d"]), X, ["a", "b", "c"]),
        Problem("p", STAR, X[:2], ["a", "b"], X[2:], ["c"]),
        Problem("p", STAR, X, ["a", "b", "c"], categorical=np.array([True, False])),
        Problem("p", STAR, sparse.csr_array(X), ["a", "b", "c"]),
        Problem("p", STAR, ["0 1", "2 3", "4 5"], ["a", "b", "c"]),
        Problem("p", STAR, pd.DataFrame(X), ["a", "b", "c"]),
        Problem("p", STAR, pd.DataFrame(X, columns=["u", "v"]), ["a", "b", "c"]),
    ],
)
def test_any_change_is_seen(other):
    assert fingerprint(other) != fingerprint(BASE)


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        np.asfortranarray,
        sparse.csr_array,
        sparse.csc_array,
        pd.DataFrame,
        lambda rows: [str(row) for row in rows],
        lambda rows: pd.DataFrame({"u": ["x", None, "z"], "v": [1.0, np.nan, 2.0]}),
    ],
)
def test_equal_data_of_any_kind_have_equal_fingerprints(make):
    first = Problem("p", STAR, make(X), [{"a", "b"}, {"c"}, {"a"}])
    second = Problem("q", STAR, make(X.copy()), [{"b", "a"}, {"c"}, {"a"}])
    assert fingerprint(first) == fingerprint(second)


def test_zeros_written_out_and_repeats_in_sparse_rows_do_not_count():
    plain = sparse.csr_array(np.array([[3.0, 0.0], [0.0, 0.0], [0.0, 1.0]]))
    rows, columns, data = [0, 0, 2], [0, 0, 1], [1.0, 2.0, 1.0]
    repeated = sparse.csr_array((data, (rows, columns)), shape=(3, 2))
    assert fingerprint(Problem("p", STAR, plain, list("abc"))) == fingerprint(
        Problem("p", STAR, repeated, list("abc"))
    )


def test_descriptions_have_no_addresses_and_are_whole():
    steps = [FunctionTransformer(len) for _ in range(25)]
    text = describe_estimator(make_pipeline(*steps, FunctionTransformer(make_pipeline)))
    assert "0x" not in text
    assert "\n" not in text
    assert text.count("FunctionTransformer(func=<built-in function len>)") == 25
    assert "<function make_pipeline>" in text
