"""The collapsed space: the paper's counts, its costs, its rule for answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmette.compare import find_problem
from papers.h_ada_mh.scoring import CollapsedSpace, EqualWidthBins, paths_of
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
