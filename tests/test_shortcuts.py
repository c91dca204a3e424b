"""The shortcuts of `tests/shortcuts.py` give the answers of the libraries."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from narwhals.stable.v2 import dependencies
from numba.core.compiler import Flags
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from tests.instances import public_estimators


@pytest.mark.parametrize(
    ("value", "is_frame", "is_series"),
    [
        (np.eye(2), False, False),
        (np.eye(2).view(np.matrix), False, False),
        (sparse.csr_array(np.eye(2)), False, False),
        ([[1]], False, False),
        (None, False, False),
        (pd.DataFrame({"a": [1]}), True, False),
        (pd.Series([1]), False, True),
        (pl.DataFrame({"a": [1]}), True, False),
        (pl.Series([1]), False, True),
        (pa.table({"a": [1]}), True, False),
        (pa.chunked_array([[1]]), False, True),
    ],
)
def test_data_frames_of_all_libraries_are_known(value, is_frame, is_series):
    assert dependencies.is_into_dataframe(value) == is_frame
    assert dependencies.is_into_series(value) == is_series


@pytest.mark.parametrize("estimator", [*public_estimators(), Pipeline], ids=lambda e: e.__name__)
def test_parameters_are_those_of_the_signature(estimator):
    names = sorted(set(inspect.signature(estimator.__init__).parameters) - {"self"})
    for _ in range(2):
        found = BaseEstimator._get_param_names.__func__(estimator)
        assert found == names
        found.clear()  # a list of its own at every call


def test_options_of_compilations_are_equal_if_their_values_are():
    plain, set_to_default, other = Flags(), Flags(), Flags()
    set_to_default.nrt = plain.nrt
    other.nrt = not plain.nrt
    assert plain == set_to_default
    assert plain != other
    assert plain != "options"
    assert hash(plain) == hash(set_to_default)
