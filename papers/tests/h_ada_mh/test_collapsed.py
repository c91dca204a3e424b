"""The collapsed space: the paper's counts, its costs, its rule for answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmette.compare import find_problem
from papers.h_ada_mh.collapsed import CollapsedHAda
from papers.h_ada_mh.spaces import CollapsedSpace, EqualWidthBins, paths_of
from papers.h_ada_mh.tables import paper_set

PATHS = [("1", "1", "0"), ("1", "2", "0"), ("2", "1", "3"), ("2",)]


@pytest.mark.data
@pytest.mark.parametrize("name", ["imclef07a", "imclef07d", "diatoms"])
def test_the_symbols_of_levels_are_the_counts_of_table_1(data_home, name):
    problem, paper = find_problem(name), paper_set(name)
    space = CollapsedSpace(paths_of(problem.y_train, problem.hierarchy), paper.depth)
    counts = (len(space.classes), space.n_leaves, space.n_levels)
    assert counts == (paper.n_classes, paper.n_leaves, paper.depth)
    assert problem.X_train.shape == (paper.n_train, paper.n_features)
    assert problem.X_test.shape == (paper.n_test, paper.n_features)


def test_a_symbol_is_one_class_under_all_parents():
    space = CollapsedSpace(PATHS)
    assert space.classes == [(1, "1"), (1, "2"), (2, "1"), (2, "2"), (3, "0"), (3, "3")]
    assert (space.n_levels, space.n_leaves) == (3, 2)


def test_deeper_levels_can_be_left_out():
    space = CollapsedSpace(PATHS, n_levels=2)
    assert space.n_leaves == 2
    assert space.indicator([("1", "2", "9")]).tolist() == [[1, 0, 0, 1]]


def test_symbols_without_training_rows_are_counted():
    space = CollapsedSpace(PATHS)
    assert space.n_outside([("9", "1", "0"), ("1", "9", "9"), ("1",)]) == 3
    assert space.n_outside(PATHS) == 0


def test_costs_share_a_level():
    assert CollapsedSpace(PATHS).costs.tolist() == [1 / 2, 1 / 2, 1 / 4, 1 / 4, 1 / 8, 1 / 8]


def test_the_first_positive_class_or_the_first():
    space = CollapsedSpace(PATHS)
    scores = np.array([[-1.0, 2.0, 0.1, 5.0, -2.0, -1.0]])
    assert np.flatnonzero(space.pick(scores, "first")[0]).tolist() == [1, 2, 4]
    assert np.flatnonzero(space.pick(scores, "best")[0]).tolist() == [1, 3, 5]
    assert space.paths(space.pick(scores, "best")) == [("2", "2", "3")]


symbols = st.sampled_from("abc")
paths = st.lists(st.lists(symbols, min_size=1, max_size=3).map(tuple), min_size=1, max_size=20)


@given(paths, st.sampled_from(["first", "best"]), st.integers(0, 99))
def test_one_class_a_level_is_picked(paths, rule, seed):
    space = CollapsedSpace(paths)
    scores = np.random.default_rng(seed).normal(size=(4, len(space.classes)))
    picked = space.pick(scores, rule)
    for level in range(1, space.n_levels + 1):
        assert (picked[:, space.level == level].sum(axis=1) == 1).all()


@given(paths)
def test_training_paths_of_full_depth_come_back(paths):
    space = CollapsedSpace(paths)
    whole = [path for path in paths if len(path) == space.n_levels]
    assert space.paths(space.indicator(whole).astype(bool)) == whole


def test_thresholds_at_equal_distances():
    X = np.array([[0.0, 5.0], [1.0, 5.0], [10.0, 5.0]])
    bins = EqualWidthBins().fit(X)
    assert bins.thresholds_[:, 0].tolist() == pytest.approx([-1.0, *range(11)])
    assert bins.transform(X)[:, 0].tolist() == [1, 2, 11]
    assert len(set(bins.transform(X)[:, 1])) == 1  # nothing to tell apart
    assert bins.transform(np.array([[-5.0, 0.0], [50.0, 9.0]]))[:, 0].tolist() == [0, 12]


def test_edges_and_what_is_above():
    space = CollapsedSpace(PATHS)
    assert space.edges.tolist() == [[0, 2], [1, 2], [0, 3], [2, 4], [3, 4], [2, 5]]
    assert space.above[4].tolist() == [1, 1, 1, 1, 1, 0]
    assert space.above[1].tolist() == [0, 1, 0, 0, 0, 0]


@pytest.mark.data
def test_figure_3(data_home):
    problem = find_problem("diatoms")
    paths = paths_of(problem.y_train, problem.hierarchy)
    counts = CollapsedSpace(paths, 2).rows_of_leaves(paths)
    assert len(counts) == 258
    assert (counts.mean(), counts.std()) == pytest.approx((7.53, 7.245), abs=0.01)


@pytest.mark.parametrize("mask", ["literal", "search"])
def test_h_ada_mh_by_its_equations(mask):
    """One round: the weights of Eq. 5-6, the mask of Eq. 7, the edge of Eq. 9, alpha of Eq. 8."""
    rng = np.random.default_rng(0)
    paths = [PATHS[code] for code in rng.integers(3, size=40)]
    space = CollapsedSpace(paths)
    truth = space.indicator(paths)
    X = rng.normal(size=(40, 3)) + truth[:, :3]
    weights = np.concatenate([[1.0], space.costs])
    clf = CollapsedHAda(
        weak_learner="stump",
        n_estimators=1,
        learning_rate=1.0,
        initial_weights=weights,
        mask=mask,
    )
    clf.space = space
    clf.fit(X, truth)
    scores = clf.predict_node_scores(X)
    votes = np.sign(scores)
    for child in range(len(space.classes)):
        parents = space.edges[space.edges[:, 1] == child, 0]
        if len(parents):
            no_parent = (votes[:, parents] < 0).all(axis=1)
            assert (votes[no_parent, child] == -1).all()
    signs = np.where(truth, 1, -1)
    edge = (space.costs / space.costs.sum() * signs * votes).sum() / len(X)
    assert clf.edges_[0] == pytest.approx(edge)
    alpha = 0.5 * np.log((1 + edge) / (1 - edge))
    np.testing.assert_allclose(np.abs(scores), alpha, rtol=0.01)  # smoothed by 1 / (n m)
