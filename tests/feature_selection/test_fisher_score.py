"""FisherScore, compared with a loop over features and options."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from tests.feature_selection.node_problems import both_forms, problem, rows_and_classes, scores_of

from palmette.feature_selection._univariate import FisherScore


def literal(X, codes):
    scores = []
    for feature in X.T:
        between = within = 0.0
        for option in np.unique(codes):
            own = feature[codes == option]
            between += len(own) * (own.mean() - feature.mean()) ** 2
            within += len(own) * own.var()
        scores.append(between / within if within > 0 else 0.0)
    return np.array(scores)


def test_it_is_the_ratio_of_spreads_at_every_node():
    X, classes = rows_and_classes()
    X[:, 3] = np.arange(len(X))
    found = scores_of(FisherScore(), X, classes)
    expected = [literal(X[task.rows], task.codes) for task in problem(X, classes).tasks()]
    assert len(found) == 4  # the root, "a", "a/y", "b"
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_neither_scale_nor_origin_matters():
    X, classes = rows_and_classes()
    moved = X * np.geomspace(1e-6, 1e6, X.shape[1]) + 1e3 * np.geomspace(1e-6, 1e6, X.shape[1])
    moved[:, 3] = 1e3
    np.testing.assert_allclose(
        scores_of(FisherScore(), moved, classes), scores_of(FisherScore(), X, classes), rtol=1e-7
    )


def test_sparse_rows_are_dense_rows():
    dense, packed = both_forms(rows_and_classes()[0])
    classes = rows_and_classes()[1]
    np.testing.assert_allclose(
        scores_of(FisherScore(), packed, classes),
        scores_of(FisherScore(), dense, classes),
        rtol=1e-9,
        atol=1e-12,
    )


def test_a_weight_of_k_is_k_copies():
    X, classes = rows_and_classes()
    weights = np.arange(len(X)) % 3 + 1
    copies = np.repeat(np.arange(len(X)), weights)
    np.testing.assert_allclose(
        scores_of(FisherScore(), X, classes, weights=weights.astype(float)),
        scores_of(FisherScore(), X[copies], classes[copies]),
        rtol=1e-10,
    )


def test_constant_features_have_no_score_and_perfect_ones_the_largest():
    X, classes = rows_and_classes()
    X[:, 0] = classes / 3.0
    X[:, 1] = 1e8 + 0.1
    for rows in (X, sparse.csr_array(X)):
        found = scores_of(FisherScore(), rows, classes)
        assert (found[:, [1, 3]] == 0.0).all()
        # labels of one option differ at the root; below "b" each option is a label
        assert found[3, 0] == 1e12
        assert found[0, 0] < 1e3
        assert np.isfinite(found).all()


def test_the_number_of_jobs_changes_nothing():
    X, classes = rows_and_classes()
    alone, together = (scores_of(FisherScore(), X, classes, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(alone, together)
