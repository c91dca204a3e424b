"""ML-ROS, ML-RUS and MLSMOTE: examples, properties, forms, pipelines, errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from palmette.exceptions import LabelError, PalmetteError
from palmette.metrics import imbalance_ratios, mean_imbalance_ratio
from palmette.multilabel import MLROS, MLRUS, MLSMOTE

ALL = [MLROS(random_state=0), MLRUS(random_state=0), MLSMOTE(random_state=0)]
laws = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def draw(seed: int, n_rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (rng.random((n_rows, 5)) < [0.7, 0.5, 0.3, 0.15, 0.08]).astype(int)
    return rng.normal(size=(n_rows, 3)), y


# ---------------------------------------------------------------------- by hand


def test_copies_of_a_rare_label_end_at_the_mean():
    # counts 8 and 2: ratios 1 and 4, mean 2.5. Copies of the last two rows raise the second count
    # to 4: 8 / 4 = 2 is below the mean, 8 / 3 is not
    y = np.array([[1, 0]] * 8 + [[0, 1]] * 2)
    sampler = MLROS(share=1.0, random_state=0)
    X_more, y_more = sampler.fit_resample(np.arange(10)[:, None], y)
    assert sampler.sample_indices_[:10].tolist() == list(range(10))
    assert len(X_more) == 12
    assert set(X_more[10:].ravel()) <= {8, 9}
    assert y_more.sum(axis=0).tolist() == [8, 4]


def test_at_most_the_given_proportion_is_copied():
    y = np.array([[1, 0, 0]] * 20 + [[0, 1, 0]] * 3 + [[0, 0, 1]] * 2)
    X_more, _ = MLROS(share=0.04, random_state=0).fit_resample(np.zeros((25, 1)), y)
    assert len(X_more) == 26


def test_rows_with_a_rare_label_are_never_dropped():
    y = np.array([[1, 0]] * 8 + [[1, 1]] + [[0, 1]])
    sampler = MLRUS(share=0.9, random_state=0)
    X_fewer, y_fewer = sampler.fit_resample(np.arange(10)[:, None], y)
    assert X_fewer.ravel().tolist() == sampler.sample_indices_.tolist() == [8, 9]
    assert y_fewer.tolist() == [[1, 1], [0, 1]]


def test_half_of_what_may_go_goes():
    y = np.array([[1, 0]] * 8 + [[0, 1]] * 2)
    X_fewer, _ = MLRUS(share=0.4, random_state=0).fit_resample(np.arange(10)[:, None], y)
    assert len(X_fewer) == 6
    assert X_fewer[-2:].ravel().tolist() == [8, 9]


def test_new_rows_lie_between_neighbours_and_have_the_labels_of_most():
    # label 1 is rare: rows 6, 7 and 8, all with label 1, two with label 2 and one with label 0
    y = np.array([[1, 0, 1]] * 6 + [[1, 1, 1], [0, 1, 1], [0, 1, 0]])
    X = np.array([[9.0, 9.0]] * 6 + [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]])
    X_more, y_more = MLSMOTE(n_neighbors=2, random_state=0).fit_resample(X, y)
    np.testing.assert_array_equal(X_more[:9], X)
    np.testing.assert_array_equal(y_more[:9], y)
    assert y_more[9:].tolist() == [[0, 1, 1]] * 3
    assert ((X_more[9:] >= 0) & (X_more[9:] <= [2, 4])).all()
    assert len(np.unique(X_more[9:], axis=0)) == 3


def test_the_only_neighbour_is_the_other_end():
    X = np.array([[0.0, 5.0]] * 5 + [[1.0, 5.0], [3.0, 5.0]])
    y = ["common"] * 5 + ["rare"] * 2
    X_more, y_more = MLSMOTE(n_neighbors=4, random_state=1).fit_resample(X, y)
    assert list(y_more[7:]) == ["rare", "rare"]
    assert ((X_more[7:, 0] > 1) & (X_more[7:, 0] < 3)).all()
    assert (X_more[7:, 1] == 5).all()


def test_a_label_of_one_row_has_nothing_to_lie_between():
    X, y = np.zeros((6, 1)), ["a"] * 5 + ["b"]
    assert len(MLSMOTE().fit_resample(X, y)[0]) == 6


# ---------------------------------------------------------------------- laws


@laws
@given(seeds)
def test_copying_never_raises_the_ratio_of_the_rarest_label(seed):
    X, y = draw(seed)
    y[0] = 1
    _, y_more = MLROS(random_state=seed).fit_resample(X, y)
    assert len(y) <= len(y_more) <= 1.25 * len(y)
    rarest = imbalance_ratios(y).argmax()
    if imbalance_ratios(y)[rarest] > mean_imbalance_ratio(y) * (1 + 1e-12):
        assert y_more[:, rarest].sum() > y[:, rarest].sum()


@laws
@given(seeds)
def test_dropping_keeps_all_rows_of_rare_labels(seed):
    X, y = draw(seed)
    y[0] = 1
    rare = imbalance_ratios(y) > mean_imbalance_ratio(y) * (1 + 1e-12)
    _, y_fewer = MLRUS(random_state=seed).fit_resample(X, y)
    assert len(y) >= len(y_fewer) >= 0.75 * len(y)
    np.testing.assert_array_equal(y_fewer[:, rare].sum(axis=0), y[:, rare].sum(axis=0))


@laws
@given(seeds)
def test_a_new_row_for_every_row_of_a_rare_label(seed):
    X, y = draw(seed)
    y[0] = 1
    rare = imbalance_ratios(y) > mean_imbalance_ratio(y) * (1 + 1e-12)
    counts = y[:, rare].sum(axis=0)
    X_more, y_more = MLSMOTE(random_state=seed).fit_resample(X, y)
    assert len(X_more) == len(y_more) == len(y) + counts[counts > 1].sum()
    assert (X_more.min(axis=0) >= X.min(axis=0)).all()
    assert (X_more.max(axis=0) <= X.max(axis=0)).all()
    assert y_more[len(y) :, rare].any(axis=1).all()


@pytest.mark.parametrize("sampler", ALL, ids=lambda s: type(s).__name__)
def test_equally_frequent_labels_change_nothing(sampler):
    X, y = np.arange(6.0)[:, None], ["a", "b", "c"] * 2
    X_same, y_same = clone(sampler).fit_resample(X, y)
    if isinstance(sampler, MLRUS):  # all rows are without rare labels
        assert len(X_same) == 5
    else:
        np.testing.assert_array_equal(X_same, X)
        assert list(y_same) == y


@pytest.mark.parametrize("sampler", ALL, ids=lambda s: type(s).__name__)
def test_the_form_of_the_data_changes_nothing_and_comes_back(sampler):
    X, y = draw(3)
    expected_X, expected_y = clone(sampler).fit_resample(X, y)
    index = np.arange(100, 160)
    table = pd.DataFrame(X, columns=["p", "q", "r"], index=index)
    X_new, y_new = clone(sampler).fit_resample(table, pd.DataFrame(y, index=index))
    assert X_new.columns.tolist() == ["p", "q", "r"]
    assert X_new.index.tolist() == list(range(len(expected_X)))
    np.testing.assert_array_equal(X_new, expected_X)
    np.testing.assert_array_equal(y_new, expected_y)
    X_new, y_new = clone(sampler).fit_resample(pl.DataFrame(X), sparse.csc_array(y))
    assert isinstance(X_new, pl.DataFrame)
    np.testing.assert_array_equal(X_new.to_numpy(), expected_X)
    np.testing.assert_array_equal(y_new.toarray(), expected_y)
    sets = [set(np.flatnonzero(row).tolist()) for row in y]
    X_new, y_new = clone(sampler).fit_resample(sparse.csr_matrix(X), sets)
    assert sparse.issparse(X_new)
    assert X_new.shape == expected_X.shape
    assert y_new == [set(np.flatnonzero(row).tolist()) for row in expected_y]


@pytest.mark.parametrize("sampler", ALL, ids=lambda s: type(s).__name__)
def test_paths_come_back_as_paths(sampler):
    y = [("a", "x")] * 12 + [("a", "y")] * 3 + [("b",)] * 5
    X = np.arange(20.0)[:, None]
    _, y_new = clone(sampler).fit_resample(X, y)
    assert set(y_new) == {("a", "x"), ("a", "y"), ("b",)}


def test_rows_that_are_no_numbers_can_be_copied_and_dropped():
    X, y = [f"text {i}" for i in range(10)], ["a"] * 8 + ["b"] * 2
    assert MLROS(random_state=0).fit_resample(X, y)[0][10:] != []
    assert len(MLRUS(random_state=0).fit_resample(X, y)[0]) == 8


@pytest.mark.parametrize("sampler", ALL, ids=lambda s: type(s).__name__)
def test_pipelines_of_imbalanced_learn_take_them(sampler):
    pipeline = pytest.importorskip("imblearn.pipeline")
    from sklearn.dummy import DummyClassifier
    from sklearn.preprocessing import StandardScaler

    X, y = draw(0)
    steps = [StandardScaler(), clone(sampler), DummyClassifier()]
    model = pipeline.make_pipeline(*steps).fit(X, y)
    assert model.predict(X).shape == y.shape


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (MLROS(share=0), "share=0"),
        (MLROS(share="much"), "share='much'"),
        (MLRUS(share=1.0), "between 0 and 1"),
        (MLSMOTE(n_neighbors=0), "n_neighbors=0"),
        (MLSMOTE(n_neighbors=1.5), "n_neighbors=1.5"),
    ],
)
def test_bad_parameters_are_named(sampler, message):
    with pytest.raises(PalmetteError, match=message):
        sampler.fit_resample(*draw(0))


@pytest.mark.parametrize("sampler", ALL, ids=lambda s: type(s).__name__)
def test_bad_labels_are_named(sampler):
    X, y = draw(0)
    with pytest.raises(LabelError, match="the target y is None"):
        sampler.fit(X, None)
    with pytest.raises(LabelError, match="60 rows and y has 59"):
        sampler.fit_resample(X, y[1:])
    with pytest.raises(LabelError, match="contains 2"):
        sampler.fit_resample(X, sparse.csr_array(2 * y))


def test_new_rows_need_numbers():
    X, y = draw(0)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        MLSMOTE().fit_resample(X, y)


@pytest.mark.parametrize("sampler", ALL, ids=lambda s: type(s).__name__)
def test_rows_without_any_label_change_nothing(sampler):
    X, y = np.arange(4.0)[:, None], np.zeros((4, 2), dtype=int)
    X_same, _ = clone(sampler).fit_resample(X, y)
    assert len(X_same) == (3 if isinstance(sampler, MLRUS) else 4)
