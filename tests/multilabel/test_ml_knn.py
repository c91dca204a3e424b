from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette import PalmetteError
from palmette.multilabel import MLkNN
from palmette.multilabel._neighbours import NeighbourLabels

# nearest others: 0 and 1 each other's, 3 has 1, 10 and 12 each other's
X = np.array([[0.0], [1.0], [3.0], [10.0], [12.0]])
Y = [{"a"}, {"a"}, set(), set(), set()]


def test_by_hand():
    knn = MLkNN(n_neighbors=1).fit(X, Y)
    # two of five rows have the label, both with a neighbour that has it; so has one of the others
    np.testing.assert_allclose(knn.prior_, [3 / 7])
    true = [3 / 7 * 1 / 4, 3 / 7 * 3 / 4]
    false = [4 / 7 * 3 / 5, 4 / 7 * 2 / 5]
    expected = [t / (t + f) for t, f in zip(true, false, strict=True)]
    np.testing.assert_allclose(knn.posterior_[:, 0], expected)
    np.testing.assert_allclose(expected, [5 / 21, 45 / 77])
    np.testing.assert_allclose(knn.predict_proba([[0.4], [11.0]])[:, 0], [45 / 77, 5 / 21])
    assert knn.predict([[0.4], [11.5]]) == [{"a"}, set()]


def naive_counts(X, Y, k, new=None):
    counts = []
    for i, row in enumerate(X if new is None else new):
        distances = np.abs(X - row).sum(axis=1)
        if new is None:
            distances[i] = np.inf
        counts.append(Y[np.argsort(distances, kind="stable")[:k]].sum(axis=0))
    return np.array(counts)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_counts_are_those_of_a_search_row_by_row(k):
    rng = np.random.default_rng(0)
    X, Y, new = rng.normal(size=(30, 3)), rng.random((30, 4)) < 0.4, rng.normal(size=(7, 3))
    for rows in (X, sparse.csr_array(X)):
        labels = NeighbourLabels(rows, sparse.csr_array(Y), None, k, metric="manhattan")
        parts = [counts.toarray() for _, counts in labels.of_training_rows()]
        assert np.array_equal(np.vstack(parts), naive_counts(X, Y, k))
        assert np.array_equal(labels.of(new).toarray(), naive_counts(X, Y, k, new))


@pytest.mark.parametrize("as_sparse", [False, True])
def test_features_are_divided_by_their_ranges(as_sparse):
    rng = np.random.default_rng(0)
    X, Y, new = rng.normal(size=(30, 3)), rng.random((30, 4)) < 0.4, rng.normal(size=(7, 3))
    X[:, 1], new[:, 1] = 100.0 * X[:, 1], 100.0 * new[:, 1]
    X[:, 2] = 5.0  # a constant column tells nothing, whatever new rows have
    near, near_new = ((each / [np.ptp(X[:, 0]), np.ptp(X[:, 1]), np.inf]) for each in (X, new))
    rows, others = (sparse.csr_array(X), sparse.csr_array(new)) if as_sparse else (X, new)
    labels = NeighbourLabels(rows, sparse.csr_array(Y), None, 3, metric="manhattan", scale="range")
    parts = [counts.toarray() for _, counts in labels.of_training_rows()]
    assert np.array_equal(np.vstack(parts), naive_counts(near, Y, 3))
    assert np.array_equal(labels.of(others).toarray(), naive_counts(near, Y, 3, near_new))


def test_other_scales_are_refused():
    with pytest.raises(PalmetteError, match="scale='unit': expected 'range' or None"):
        MLkNN(scale="unit").fit(X, Y)


def test_a_row_is_left_out_among_its_copies():
    X, Y = np.zeros((6, 2)), sparse.csr_array(np.eye(6, dtype=bool))
    _, counts = next(NeighbourLabels(X, Y, None, 3).of_training_rows())
    assert (counts.toarray().sum(axis=1) == 3).all()
    assert (counts.diagonal() <= 1).all()
    assert (np.delete(counts.toarray(), [], axis=0) <= 1).all()


def test_weights_are_numbers_of_copies():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(20, 2)), rng.random((20, 3)) < 0.5
    Y[0] = True
    weights = 1 + np.arange(20) % 3
    copies = np.repeat(np.arange(20), weights)
    weighted = MLkNN(5).fit(X, Y, sample_weight=weights)
    repeated = MLkNN(5).fit(X[copies], Y[copies])
    np.testing.assert_allclose(weighted.posterior_, repeated.posterior_)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


def test_light_rows_count_for_less():
    # neighbours up to a weight of one: a row of weight 1/2, and half of the next
    labels = NeighbourLabels(
        np.array([[0.0], [1.0], [2.0]]),
        sparse.csr_array(np.array([[1, 0], [0, 1], [0, 1]], dtype=bool)),
        np.array([0.5, 0.5, 1.0]),
        1,
    )
    assert labels.of(np.array([[-1.0], [3.0]])).toarray().tolist() == [[0.5, 0.5], [0.0, 1.0]]


def test_no_more_neighbours_than_there_are():
    knn = MLkNN(n_neighbors=10).fit(X, Y)
    assert knn.posterior_.shape == (5, 1)
    alone = MLkNN().fit(X[:1], [{"a"}])  # its prior, (1 + 1) / (2 + 1)
    np.testing.assert_allclose(alone.predict_proba([[5.0]]), [[2 / 3]])


def test_a_chunk_of_rows_changes_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), rng.random((40, 4)) < 0.4
    whole = MLkNN(3).fit(X, Y)
    expected = whole.predict_proba(X)
    monkeypatch.setattr("palmette.multilabel._neighbours._NEIGHBOURS_AT_ONCE", 50)
    parts = MLkNN(3).fit(X, Y)
    assert np.array_equal(parts.posterior_, whole.posterior_)
    assert np.array_equal(parts.predict_proba(X), expected)


@pytest.mark.parametrize("value", [0, 1.5, "many"])
def test_bad_numbers_of_neighbours_are_refused(value):
    with pytest.raises(PalmetteError, match="expected a positive integer"):
        MLkNN(value).fit(X, Y)


def test_bad_smoothing_is_refused():
    with pytest.raises(PalmetteError, match="smoothing=0: expected a positive number"):
        MLkNN(smoothing=0).fit(X, Y)
