"""Columns of numbers that are read together are what they are one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from palmette.table import _schema
from palmette.table._features import NumberScaler
from palmette.table._numbers import number_columns
from palmette.table._problem import find_groups
from palmette.table._related import find_leaks
from palmette.table._schema import Schema

STRANGE = {
    "plain": ["1.5", "-2", "3e2"],
    "gaps": ["1.5", None, "7"],
    "mostly empty": [None, None, "7"],
    "empty": [None, None, None],
    "codes": ["01067", "00001", "99999"],
    "words": ["a", "b", "1"],
    "na": ["1", "NA", "3"],
    "infinite": ["1", "inf", "1e999"],
    "spaces": [" 1 ", "2", "3"],
    "underscores": ["1_0", "2", "3"],
    "objects": [1, "2", 3.0],
    "flags": [True, False, None],
}


@pytest.mark.parametrize("times", [1, 10])
def test_kinds_and_numbers_are_those_of_single_columns(monkeypatch, times):
    columns = {name: pd.Series(cells * times, dtype=object) for name, cells in STRANGE.items()}
    columns["floats"] = pd.Series([0.5, np.nan, 2.5] * times)
    columns["far"] = pd.Series([0.5, np.inf, 2.5] * times)
    columns["nullable"] = pd.array([1, None, 2] * times, dtype="Int64")
    columns["categories"] = pd.Categorical(["1", "2", None] * times)
    columns["integers"] = pd.Series([3, 1, 2] * times)
    frame = pd.DataFrame(columns)
    together, told = Schema.infer(frame, tell=lambda words: None), []
    cast = together.cast(frame)
    monkeypatch.setattr(_schema, "number_columns", lambda frame, names: told.append(names) or {})
    single = Schema.infer(frame, tell=lambda words: None)
    assert (single.kinds, single.left_out) == (together.kinds, together.left_out)
    pd.testing.assert_frame_equal(cast, single.cast(frame))
    assert len(told) == 2


def test_numbers_that_were_read_once_are_not_read_again(monkeypatch):
    frame = pd.DataFrame({name: STRANGE[name] for name in ("plain", "gaps", "words")}, dtype=object)
    numbers = {}
    schema = Schema.infer(frame, tell=lambda words: None, numbers=numbers)
    expected, asked = schema.cast(frame), []
    monkeypatch.setattr(_schema, "number_columns", lambda frame, names: asked.extend(names) or {})
    pd.testing.assert_frame_equal(schema.cast(frame, numbers=numbers), expected)
    assert list(numbers) == ["plain", "gaps"]
    assert asked == []


def test_only_columns_of_plain_numbers_are_read_together():
    frame = pd.DataFrame(STRANGE, dtype=object)
    assert list(number_columns(frame, list(frame))) == ["plain", "gaps", "spaces"]


def test_numbers_are_scaled_as_by_skrub():
    skrub = pytest.importorskip("skrub")
    rng = np.random.default_rng(0)
    X = rng.lognormal(0, 2, (97, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 1] = 5.0  # constant
    X[:, 2] = np.where(np.arange(97) < 10, np.arange(97), 1.0)  # equal quartiles
    far = X.copy()
    far[0, 0], far[1, 3] = np.inf, -np.inf
    imputer = SimpleImputer(strategy="constant", fill_value=0.0, add_indicator=True)
    expected = make_pipeline(skrub.SquashingScaler(), imputer).fit(X)
    scaler = NumberScaler.of(X)
    np.testing.assert_allclose(scaler.transform(X), expected.transform(X), atol=1e-12)
    np.testing.assert_allclose(scaler.transform(far), expected.transform(far), atol=1e-12)
    names = np.array(list("abcdef"), dtype=object)
    assert scaler.names_of(names) == expected.get_feature_names_out(names).tolist()


def test_groups_of_rows_with_numbers():
    frame = pd.DataFrame({"a": [0.0, 1.0, -0.0, np.nan, np.nan], "b": [1.0, 1.0, 1.0, 2.0, 2.0]})
    assert find_groups(frame).tolist() == [0, 1, 0, 2, 2]
    assert find_groups(frame.assign(c=list("xxyyy"))).tolist() == [0, 1, 2, 3, 3]
    assert find_groups(frame.assign(c=[1.0, 2.0, 3.0, 4.0, 5.0])) is None


def test_an_input_that_tells_the_class_is_found_among_noise():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, 300)
    frame = pd.DataFrame({"noise": rng.normal(size=300), "leak": codes + rng.random(300) / 2})
    assert list(find_leaks(frame, {"noise": "number", "leak": "number"}, codes)) == ["leak"]
