"""Clusters and first weights that are learned from a sample of a node's rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.forest import literal_soshf as literal

import palmette as pm
from palmette import PalmetteError
from palmette.forest._label_clusters import _cluster_rows, distinct_sets, sample_weights
from palmette.forest._node_split import _sample_of_both
from palmette.forest._settings import TreeSettings
from palmette.metrics import multilabel_auc_score
from palmette.partition import LabelTwoMeans
from palmette.routing import Hellinger


def state_of(seed):
    return np.array([seed], dtype=np.uint64)


def clusters_of(Y, max_rows, seed=0):
    """The clusters of all rows of one node, without weights of labels."""
    rows = sparse.csr_array(Y)
    starts, labels = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    set_of, row_of = distinct_sets(starts, labels)
    settings = TreeSettings(idf=False, n_starts=30, cluster_rows=max_rows).of_clusters()
    second, n = np.empty(len(Y), dtype=bool), len(Y)
    places = np.full(len(row_of), -1, dtype=np.int32)
    own = np.arange(n, dtype=np.int32)
    arrays = starts, labels, np.ones(Y.shape[1]), set_of, row_of, places, own, np.ones(n)
    with np.errstate(over="ignore"):
        found = _cluster_rows(settings, *arrays, state_of(seed), second)
    assert (places == -1).all()
    return found, second


@pytest.mark.parametrize("seed", range(5))
def test_a_sample_has_its_size_and_every_row_may_be_in_it(seed):
    drawn = np.zeros(40)
    with np.errstate(over="ignore"):
        for number in range(200):
            weights = np.full(40, 2.0)
            assert sample_weights(10, state_of(1000 * seed + number), weights)
            assert np.count_nonzero(weights) == 10
            assert set(weights) == {0.0, 2.0}
            drawn += weights > 0
    assert drawn.min() > 25  # of 50 expected
    assert drawn.max() < 80


@pytest.mark.parametrize("size", [-1, 40, 41])
def test_all_rows_need_no_draw(size):
    state, weights = state_of(7), np.ones(40)
    assert not sample_weights(size, state, weights)
    assert state[0] == 7
    assert weights.all()


@pytest.mark.parametrize("seed", range(5))
def test_all_rows_go_to_the_nearer_centre_of_the_sample(seed):
    Y = (np.random.default_rng(seed).random((60, 4)) < 0.4).astype(float)
    found, second = clusters_of(Y, 15, seed)
    assert found
    sample = np.ones(60)
    with np.errstate(over="ignore"):
        sample_weights(15, state_of(seed), sample)
    centres = [np.average(Y[side], axis=0, weights=sample[side]) for side in (~second, second)]
    near, far = (((Y - centre) ** 2).sum(axis=1) for centre in centres)
    assert np.where(second, far <= near + 1e-9, near <= far + 1e-9).all()
    # the best clusters of the rows drawn, or nearly so
    drawn = sample > 0
    best = literal.sum_of_squares(Y[drawn], literal.two_means(Y[drawn]))
    assert literal.sum_of_squares(Y[drawn], second[drawn]) <= 1.1 * best + 1e-9


def test_where_the_rows_drawn_are_one_cluster_all_rows_count():
    Y = np.eye(2)[[0] * 30 + [1]]
    found, second = clusters_of(Y, 1)
    assert found
    assert (second == second[-1]).sum() == 1


def test_where_the_rows_drawn_are_of_one_cluster_the_start_has_all():
    second, weights = np.arange(30) == 29, np.linspace(1, 2, 30)
    with np.errstate(over="ignore"):
        assert _sample_of_both(1, second, weights, state_of(0)) is weights
        some = _sample_of_both(5, np.arange(30) % 2 == 0, weights, state_of(0))
    assert np.count_nonzero(some) == 5
    assert set(some) <= {0.0, *weights}


def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    return X, (X[:, :3] + 0.3 * rng.normal(size=(300, 3)) > 0.5).astype(int)


def forest(rows, **settings):
    return pm.StructuredForestClassifier(
        n_estimators=10,
        partition=LabelTwoMeans(max_rows=rows),
        router=Hellinger(start_rows=rows),
        random_state=0,
        **settings,
    )


def test_a_sample_of_all_rows_changes_nothing():
    X, Y = problem()
    every, whole = (forest(rows).fit(X, Y).predict_proba(X) for rows in (None, 300))
    np.testing.assert_array_equal(every, whole)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_forests_of_small_samples_are_nearly_as_good_on_any_number_of_cores(sparse_rows):
    X, Y = problem()
    X = sparse.csr_array(X) if sparse_rows else X
    found = [forest(20, n_jobs=jobs).fit(X, Y).predict_proba(X) for jobs in (1, 2)]
    np.testing.assert_array_equal(*found)
    whole = forest(None).fit(X, Y).predict_proba(X)
    assert not np.array_equal(found[0], whole)
    assert multilabel_auc_score(Y, found[0]) > multilabel_auc_score(Y, whole) - 0.02


def test_a_wrong_size_is_refused():
    with pytest.raises(PalmetteError, match="start_rows=0: expected a positive integer or None"):
        Hellinger(start_rows=0).tree_settings()
