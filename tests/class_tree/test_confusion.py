from __future__ import annotations

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.class_tree.clades import groups_of

from palmette.class_tree._confusion import (
    _spectral_points,
    held_out_confusion,
)
from palmette.exceptions import PalmetteError
from palmette.partition import ClassProblem, ConfusionPartition


class Scripted(ClassifierMixin, BaseEstimator):
    """Predict the value of the first feature."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(int)


def problem(X, codes, **kwargs):
    codes = np.asarray(codes, dtype=np.int32)
    return ClassProblem(X, codes, int(codes.max()) + 1, **kwargs)


def scripted(counts, **kwargs):
    """Return a problem and an estimator whose confusion matrix is `counts`."""
    counts = np.asarray(counts)
    pairs = [
        (i, j) for i, row in enumerate(counts) for j, count in enumerate(row) for _ in range(count)
    ]
    codes, taken = np.array(pairs).T
    return problem(taken[:, None].astype(float), codes, **kwargs)


def root(partition, here):
    return partition.split(partition.begin(here), np.arange(here.n_classes, dtype=np.int32), 0)


def blobs(n_classes=4, rows=9, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_classes), rows)
    return rng.normal(size=(len(codes), 3)) + 2 * rng.normal(size=(n_classes, 3))[codes], codes


BLOCKS = [[6, 3, 0, 0], [2, 7, 1, 0], [0, 0, 8, 2], [0, 0, 4, 6]]


# ---------------------------------------------------------------------- rates


def test_rates_are_shares_of_the_rows_of_a_class():
    rates = held_out_confusion(scripted(BLOCKS), Scripted())
    assert np.allclose(rates.toarray(), np.array(BLOCKS) / np.sum(BLOCKS, axis=1)[:, None])


def test_weights_count_in_the_rates():
    here = scripted([[1, 1, 0], [0, 2, 0], [0, 0, 2]], weights=np.array([1.0, 3, 1, 1, 1, 1]))
    assert np.allclose(held_out_confusion(here, Scripted()).toarray()[0], [0.25, 0.75, 0.0])


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize(
    "estimator",
    [None, GaussianNB(), DecisionTreeClassifier(random_state=0), LogisticRegression()],
    ids=lambda each: type(each).__name__,
)
def test_rates_of_any_classifier_sum_to_one(estimator, soft):
    X, codes = blobs()
    rates = held_out_confusion(problem(X, codes), estimator, soft=soft)
    assert rates.shape == (4, 4)
    assert np.allclose(np.asarray(rates.sum(axis=1)), 1.0)
    assert np.trace(rates.toarray() if sparse.issparse(rates) else rates) > 2.0


def test_no_row_is_predicted_by_a_model_that_saw_it():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(300, 2)), rng.integers(3, size=300)
    memory = DecisionTreeClassifier(random_state=0)  # has no training errors
    rates = held_out_confusion(problem(X, codes), memory).toarray()
    assert np.trace(rates) / 3 < 0.45


def test_a_class_of_one_row_is_always_confused():
    X, codes = blobs()
    X, codes = np.vstack([X, [[9.0, 9, 9]]]), np.append(codes, 4)
    rates = held_out_confusion(problem(X, codes), GaussianNB()).toarray()
    assert rates[4, 4] == 0.0
    assert rates[4].sum() == 1.0


@pytest.mark.parametrize("soft", [False, True])
def test_one_row_for_every_class(soft):
    rates = held_out_confusion(problem(np.eye(3), [0, 1, 2]), n_folds=2, soft=soft)
    assert np.allclose(np.asarray(rates.sum(axis=1)), 1.0)


def test_jobs_and_sparse_rows_change_nothing():
    X, codes = blobs()
    alone = held_out_confusion(problem(X, codes), LogisticRegression()).toarray()
    with parallel_config(backend="threading"):
        two = held_out_confusion(problem(X, codes, n_jobs=2), LogisticRegression()).toarray()
    assert np.array_equal(alone, two)
    thin = held_out_confusion(problem(sparse.csr_array(X), codes), LogisticRegression())
    assert np.array_equal(alone, thin.toarray())


def test_weights_reach_the_last_step_of_a_pipeline():
    X, codes = blobs(n_classes=3, rows=30)
    weights = np.where(codes == 0, 1000.0, 0.001)
    chain = make_pipeline(StandardScaler(), GaussianNB())
    plain = held_out_confusion(problem(X, codes), chain).toarray()
    heavy = held_out_confusion(problem(X, codes, weights=weights), chain).toarray()
    assert heavy[1:, 0].sum() > plain[1:, 0].sum()


def test_the_default_takes_sparse_rows():
    X, codes = blobs()
    rates = held_out_confusion(problem(sparse.csr_array(X), codes))
    assert np.trace(rates.toarray()) > 2.0


# ---------------------------------------------------------------------- groups


def test_confused_classes_stay_together():
    partition = ConfusionPartition(estimator=Scripted())
    assert [part.tolist() for part in root(partition, scripted(BLOCKS))] == [[0, 1], [2, 3]]


def test_direction_of_confusions_does_not_matter():
    one_way = np.triu(np.array(BLOCKS), 1) + np.triu(np.array(BLOCKS).T, 1)
    np.fill_diagonal(one_way, 10 - one_way.sum(axis=1))
    partition = ConfusionPartition(estimator=Scripted())
    assert [part.tolist() for part in root(partition, scripted(one_way))] == [[0, 1], [2, 3]]


@pytest.mark.parametrize("branching", [2, 3, 4])
def test_branching(branching):
    counts = np.kron(np.eye(branching, dtype=int), np.array([[6, 2, 2], [2, 6, 2], [2, 2, 6]]))
    counts[0, -1] += 1  # not quite apart
    partition = ConfusionPartition(branching, estimator=Scripted())
    expected = {frozenset(range(3 * g, 3 * g + 3)) for g in range(branching)}
    assert groups_of(root(partition, scripted(counts))) == expected


def test_a_rare_class_is_grouped_by_rate_not_by_count():
    # 8 of 80 rows of class 0 go to class 1; half of the two rows of class 2 to class 0
    counts = [[72, 8, 0, 0], [8, 72, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
    partition = ConfusionPartition(estimator=Scripted())
    assert [part.tolist() for part in root(partition, scripted(counts))] == [[0, 1], [2, 3]]


def test_classes_that_are_never_confused_are_halved_in_order():
    partition = ConfusionPartition(estimator=Scripted())
    parts = root(partition, scripted(np.eye(5, dtype=int) * 3))
    assert [part.tolist() for part in parts] == [[0, 1, 2], [3, 4]]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_class_that_is_never_confused_does_no_harm(smoothing):
    counts = np.zeros((5, 5), dtype=int)
    counts[:4, :4] = BLOCKS
    counts[4, 4] = 10
    partition = ConfusionPartition(estimator=Scripted(), smoothing=smoothing)
    parts = root(partition, scripted(counts))
    assert sorted(np.concatenate(parts).tolist()) == [0, 1, 2, 3, 4]
    for pair in ({0, 1}, {2, 3}):
        assert any(pair <= set(part.tolist()) for part in parts)


def test_two_classes_are_not_asked_about():
    assert ConfusionPartition().begin(problem(np.eye(2), [0, 1])) is None


def test_large_nodes_use_products_only():
    rng = np.random.default_rng(0)
    similarity = rng.random((40, 40)) * (rng.random((40, 40)) < 0.2)
    similarity = np.triu(similarity, 1) + np.triu(similarity, 1).T
    degrees = similarity.sum(axis=1)
    full = _spectral_points(similarity, degrees, 0.01, 3, np.random.default_rng(0))
    products = _spectral_points(
        sparse.csr_array(similarity), degrees, 0.01, 3, np.random.default_rng(0)
    )
    assert np.allclose(full, products, atol=1e-10)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_folds": 1}, "n_folds=1: expected an integer of at least 2"),
        ({"confusion": "sharp"}, "confusion='sharp': expected 'hard' or 'soft'"),
        ({"smoothing": -1.0}, "smoothing=-1.0: expected a number of at least 0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(PalmetteError, match=message):
        ConfusionPartition(**parameters).begin(problem(*blobs()))
