"""Laws about X and weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from tests.laws.problems import TREE, along, framed, problem
from tests.laws.shared import fit_once, one_of

from palmette import PalmetteError

__all__ = ["ON_INPUT", "sparse_rows_are_dense_rows"]


def columns_in_another_order_are_refused(estimator: BaseEstimator) -> None:
    frame, y = framed()
    fitted = fit_once(along(estimator, TREE), frame, y)
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(frame[["f1", "f0", *frame.columns[2:]]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        fitted.predict(frame.rename(columns={"f0": "z"}))


def tables_of_other_libraries_are_read_as_frames(estimator: BaseEstimator) -> None:
    frame, y = framed()
    for form in one_of((pl.from_pandas, pa.Table.from_pandas), estimator):
        table = form(frame.reset_index(drop=True))
        fitted = along(estimator, TREE).fit(table, y.tolist())
        assert fitted.feature_names_in_.tolist() == list(frame)
        assert fitted.predict(table).tolist() == y.tolist()


def wrong_shapes_are_refused(estimator: BaseEstimator) -> None:
    X, paths = problem()
    fitted = fit_once(estimator, X, paths)
    with pytest.raises(ValueError, match=r"X has 3 features.*expecting 4"):
        fitted.predict(X[:, :3])
    with pytest.raises(ValueError, match="0 sample"):
        fitted.predict(X[:0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(estimator).fit(X, paths[:-1])
    with pytest.raises(ValueError, match="expected at least one row"):
        clone(estimator).fit(pd.DataFrame(X).iloc[:0], [])


def missing_values_are_refused_by_those_who_cannot_use_them(estimator: BaseEstimator) -> None:
    X, paths = problem()
    X[3, 1] = np.nan
    if get_tags(estimator).input_tags.allow_nan:
        clone(estimator).fit(X, paths).predict(X)
    else:
        with pytest.raises(ValueError, match="NaN"):
            clone(estimator).fit(X, paths)


def bad_weights_are_refused(estimator: BaseEstimator) -> None:
    X, paths = problem()
    for weights, message in [
        (np.ones(3), r"shape \(3,\): expected \(96,\)"),
        (np.full(96, np.nan), "expected finite"),
        (np.r_[-1.0, np.ones(95)], r"sample_weight\[0\] = -1.0"),
        (np.zeros(96), "zero for every row"),
    ]:
        with pytest.raises(PalmetteError, match=message):
            clone(estimator).fit(X, paths, sample_weight=weights)


def a_weight_of_k_is_k_copies(estimator: BaseEstimator) -> None:
    X, paths = problem()
    if "random_state" in estimator.get_params():
        estimator = clone(estimator).set_params(random_state=0)
    weights = np.arange(len(X)) % 4
    weights[[path == ("a", "x") for path in paths]] = 0  # none of them, not even their label
    copies = np.repeat(np.arange(len(X)), weights)
    weighted = clone(estimator).fit(X, paths, sample_weight=weights)
    repeated = clone(estimator).fit(X[copies], [paths[i] for i in copies])
    assert weighted.predict(X) == repeated.predict(X)
    assert weighted.classes_.tolist() == repeated.classes_.tolist()
    if hasattr(weighted, "predict_proba"):
        one, other = weighted.predict_proba(X), repeated.predict_proba(X)
        np.testing.assert_allclose(one, other, atol=2e-4)


def sparse_rows_are_dense_rows(estimator: BaseEstimator) -> None:
    X, paths = problem()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = clone(estimator).fit(X, paths)
    packed = clone(estimator).fit(sparse.csr_matrix(X), paths)
    assert dense.predict(X) == packed.predict(sparse.coo_array(X))
    if hasattr(dense, "predict_proba"):
        one, other = dense.predict_proba(X), packed.predict_proba(sparse.csc_array(X))
        np.testing.assert_allclose(one, other, atol=1e-4)


ON_INPUT: list[Callable[[BaseEstimator], None]] = [
    columns_in_another_order_are_refused,
    tables_of_other_libraries_are_read_as_frames,
    wrong_shapes_are_refused,
    missing_values_are_refused_by_those_who_cannot_use_them,
    bad_weights_are_refused,
    a_weight_of_k_is_k_copies,
]
