"""Dask arrays and DataFrames: predictions are Dask arrays, and what cannot be gathered is said."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import palmette as pm
from palmette import _arrays
from palmette.exceptions import PalmetteError

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
outcome = pytest.importorskip("tests.dask_collections").outcome

RNG = np.random.default_rng(0)
CODES = np.arange(30) % 3
X = RNG.normal(size=(30, 4)) + 3 * RNG.normal(size=(3, 4))[CODES]
NAMES = np.array(["a", "bc", "d"])[CODES]
PATHS = [[("g", "a"), ("g", "bc"), ("d",)][c] for c in CODES]
SETS = [{"a", "d"} if c else {"bc"} for c in CODES]
LEVELS = np.array([["g", "a"], ["g", "bc"], ["d", ""]], dtype=object)[CODES]
INDICATORS = np.eye(3, dtype=int)[CODES]


@pytest.mark.parametrize(
    "y", [NAMES, PATHS, SETS, LEVELS, INDICATORS, pd.Series(NAMES)],
    ids=["names", "paths", "sets", "levels", "indicators", "series"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["array", "table"])
def test_predictions_are_those_of_ordinary_rows(y, kind):
    rows = X if kind == "array" else pd.DataFrame(X, columns=list("abcd"))
    model = pm.LocalPerNodeClassifier(GaussianNB()).fit(rows, y)
    if kind == "array":
        lazy = da.from_array(X, chunks=(8, 3))
    else:
        lazy = dd.from_pandas(rows, npartitions=4)
    expected = model.predict(rows)
    if hasattr(expected, "to_numpy"):
        expected = expected.to_numpy()
    found = model.predict(lazy)
    assert isinstance(found, da.Array)
    assert found.compute().tolist() == (
        expected.tolist() if isinstance(expected, np.ndarray) else expected
    )
    for method in ("predict_proba", "predict_node_proba"):
        whole, parts = getattr(model, method)(rows), getattr(model, method)(lazy)
        assert parts.dtype == np.float64
        assert parts.shape[1] == whole.shape[1]
        np.testing.assert_allclose(parts.compute(scheduler="sync"), whole, rtol=1e-12)
    if kind == "array":
        assert found.chunks[0] == (8, 8, 8, 6)


def test_node_numbers_and_some_nodes():
    model = pm.LocalPerParentClassifier(GaussianNB()).fit(X, PATHS)
    lazy = da.from_array(X, chunks=(11, 4))
    np.testing.assert_array_equal(model.predict_nodes(lazy).compute(), model.predict_nodes(X))
    some = model.predict_node_proba(lazy, nodes=["g"])
    assert some.shape == (30, 1)
    np.testing.assert_allclose(some.compute(), model.predict_node_proba(X, nodes=["g"]))


@pytest.mark.parametrize("kind", ["array", "table"])
@pytest.mark.parametrize(
    "y", [NAMES, PATHS, SETS, INDICATORS, pd.Series(NAMES)],
    ids=["names", "paths", "sets", "indicators", "series"],
)  # fmt: skip
def test_answers_that_are_no_arrays_come_part_by_part(y, kind):
    rows = X if kind == "array" else pd.DataFrame(X, columns=list("abcd"))
    model = pm.LocalPerNodeClassifier(GaussianNB()).fit(rows, y)
    sizes = []
    if kind == "array":
        lazy = da.from_array(X, chunks=(8, 3))
    else:
        lazy = dd.from_pandas(rows, npartitions=4)
        lazy = lazy[lazy["a"] > -np.inf]
    lazy = lazy.map_blocks(_seen, sizes, dtype=float) if kind == "array" else lazy
    lazy_y = da.from_array(y, chunks=7) if isinstance(y, np.ndarray) else y
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is gathered
        labels, proba = model.predict_top_k(lazy, k=2)
        sets = model.predict_node_sets(lazy)
        score = model.score(lazy, lazy_y)
    expected = model.predict_top_k(rows, k=2)
    np.testing.assert_allclose(proba, expected[1], rtol=1e-12)
    assert labels == expected[0]
    assert (sets != model.predict_node_sets(rows)).nnz == 0
    assert sets.dtype == bool
    assert score == model.score(rows, y)
    assert max(sizes, default=0) <= 8
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(lazy, y[:-1])


def _seen(part, sizes):
    sizes.append(len(part))
    return part


def test_a_collection_that_is_gathered_is_told_with_its_size():
    model = pm.LocalPerParentClassifier(GaussianNB())
    with pytest.warns(UserWarning, match=r"X is a Dask collection of 0\.000916 MiB: all of it is"):
        model.fit(da.from_array(X, chunks=(8, 4)), NAMES)
    with pytest.warns(UserWarning, match="all of it is gathered") as told:
        pm.MFTree().fit(dd.from_pandas(pd.DataFrame(X), npartitions=2), NAMES)
    assert len(told) == 1
    assert told[0].filename == __file__


def test_a_collection_without_rows():
    model = pm.LocalPerNodeClassifier(GaussianNB()).fit(X, NAMES)
    lazy = da.from_array(X[:0], chunks=(8, 4))
    with pytest.raises(ValueError, match=r"X has shape \(0, 4\): expected at least one row"):
        model.predict_top_k(lazy)


def test_nothing_is_computed_before_it_is_asked_for():
    seen = []
    lazy = da.from_array(X, chunks=(10, 4)).map_blocks(
        lambda part: seen.append(len(part)) or part, dtype=float, meta=np.empty((0, 0))
    )
    model = pm.LocalPerParentClassifier(GaussianNB()).fit(X, PATHS)
    found = model.predict(lazy)
    assert seen == []
    assert found[:3].compute(scheduler="sync").tolist() == model.predict(X[:3])
    assert seen == [10]


def test_empty_parts_and_columns_of_text():
    table = pd.DataFrame({"colour": np.array(["red", "blue", "green"])[CODES], "n": CODES})
    encoder = make_pipeline(OneHotEncoder(), LogisticRegression())
    model = pm.FlatClassifier(encoder).fit(table, NAMES)
    lazy = dd.from_pandas(table, npartitions=3)
    lazy = lazy[lazy["n"] < 2]  # some parts may be empty, and all are shorter
    kept = table[table["n"] < 2]
    assert model.predict(lazy).compute().tolist() == model.predict(kept).tolist()
    none = lazy[(lazy["n"] < 2) & (lazy.index > 25)]
    found = model.predict(none).compute()
    assert found.tolist() == model.predict(kept.loc[26:]).tolist()


def test_what_does_not_fit_in_memory_is_an_error(monkeypatch):
    huge = da.zeros((10**9, 10**4), chunks=(10**5, 10**4))
    model = pm.LocalPerParentClassifier(GaussianNB())
    with pytest.raises(PalmetteError, match=r"7\.45e\+04 GiB must be gathered .* partial_fit"):
        model.fit(huge, NAMES)
    table = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    monkeypatch.setattr(_arrays, "free_memory", lambda: 500.0)
    with pytest.raises(PalmetteError, match="must be gathered in the memory of this process"):
        model.fit(table, NAMES)
    with pytest.raises(PalmetteError, match="must be gathered"):
        model.fit(da.from_array(X), NAMES)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kind", [pm.DAGSVMClassifier, pm.MFTree, pm.BinaryRelevance, pm.FlatClassifier]
)
def test_estimators_of_other_folders_say_what_they_gather(kind):
    """The table of all estimators is in docs/scaling.md."""
    in_fit, answers = outcome(kind)
    assert in_fit == "gathered, and told"
    assert ("`score`" in answers) == hasattr(kind, "score")
