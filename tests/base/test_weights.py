"""Weights are checked, and reach an estimator by name or not at all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from palmette.base._fitting import check_weights, weight_keyword
from palmette.exceptions import PalmetteError


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (LogisticRegression(), "sample_weight"),
        (SGDClassifier(), "sample_weight"),
        (make_pipeline(StandardScaler(), SGDClassifier()), "sgdclassifier__sample_weight"),
        (
            Pipeline([("outer", make_pipeline(StandardScaler(), LogisticRegression()))]),
            "outer__logisticregression__sample_weight",
        ),
        (GridSearchCV(LogisticRegression(), {}), "sample_weight"),
        (
            GridSearchCV(make_pipeline(LogisticRegression()), {}),
            "logisticregression__sample_weight",
        ),
    ],
    ids=str,
)
def test_the_name_under_which_fit_takes_weights(estimator, name):
    assert weight_keyword(estimator) == name


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        GridSearchCV(KNeighborsClassifier(), {}),
        OneVsRestClassifier(KNeighborsClassifier()),
    ],
    ids=str,
)
def test_who_takes_no_weights_says_so(estimator):
    with pytest.raises(PalmetteError, match=r"fit does not accept it\. Use an estimator that does"):
        weight_keyword(estimator)


def test_with_metadata_routing_pipelines_take_the_plain_name():
    with config_context(enable_metadata_routing=True):
        assert weight_keyword(make_pipeline(LogisticRegression())) == "sample_weight"
        assert weight_keyword(GridSearchCV(LogisticRegression(), {})) == "sample_weight"


def test_the_name_works_in_a_search():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    weights = np.where(y == 0, 1.0, 1e-9)
    search = GridSearchCV(make_pipeline(LogisticRegression()), {}, cv=2)
    search.fit(X, y, **{weight_keyword(search): weights})
    assert (search.predict(X) == 0).all()


def test_weights_of_any_kind_become_floats():
    assert check_weights(None, 3) is None
    for given in ([1, 2, 3], (1, 2, 3), pd.Series([1, 2, 3]), np.array([1, 2, 3], dtype=np.int8)):
        weights = check_weights(given, 3)
        assert weights.dtype == np.float64
        assert weights.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"shape \(2,\): expected \(3,\)"),
        ([[1.0], [2.0], [3.0]], r"shape \(3, 1\): expected \(3,\)"),
        (2.0, r"shape \(\): expected \(3,\)"),
        ([1.0, np.inf, 1.0], r"sample_weight\[1\] = inf"),
        ([1.0, 1.0, -2.0], r"sample_weight\[2\] = -2.0"),
        ([0.0, 0.0, 0.0], "zero for every row"),
    ],
)
def test_bad_weights_are_described(weights, message):
    with pytest.raises(PalmetteError, match=message):
        check_weights(weights, 3)


# ---------------------------------------------------------------------- their scale


def test_whole_multiples_of_the_smallest_weight_are_numbers_of_copies():
    counts = np.array([3.0, 1.0, 0.0, 2.0, 7.0])
    for scale in (1.0, 1 / 3, 0.1, 1e-6, 1e6, 1e-300, 1e300):
        assert np.array_equal(check_weights(counts * scale, 5), counts)
    assert check_weights(np.full(4, 1e-9), 4).tolist() == [1.0] * 4


def test_other_weights_have_a_mean_of_one_and_do_not_change_again():
    given = np.random.default_rng(0).random(200) + 1e-3
    given[::7] = 0.0
    weights = check_weights(given, 200)
    assert weights[given > 0].mean() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(weights / weights.max(), given / given.max(), rtol=1e-11)
    assert np.array_equal(check_weights(weights, 200), weights)
    for scale in (2.0**-20, 2.0**20, 1e-6, 1e6, 1e-290, 1e300):
        assert np.array_equal(check_weights(scale * given, 200), weights)


@pytest.mark.parametrize("scale", [1e-280, 1.0, 1e300])
def test_weights_too_far_apart_for_single_precision_are_refused(scale):
    with pytest.raises(PalmetteError, match=r"sample_weight\[1\] = .* Set smaller ones to 0"):
        check_weights(np.array([1.0, 1e-21, 2.5]) * scale, 3)
    assert (check_weights(np.array([1.0, 1e-19, 2.5]) * scale, 3).astype(np.float32) > 0).all()
