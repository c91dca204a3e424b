"""Splits divide rows without loss, keep labels in proportion, and depend on the seed alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from palmette.compare._problems import Problem, join_rows, make_splits
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy

STAR = Hierarchy.star(["a", "b", "c", "d"])


def split_once(labels, test_size=0.3, seed=0):
    rows = np.arange(len(labels)).reshape(-1, 1)
    return next(make_splits(Problem("p", STAR, rows, list(labels)), 1, test_size, seed))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from("abcd"), min_size=2, max_size=40),
    st.floats(0.05, 0.95),
    st.integers(0, 5),
)
def test_every_row_is_on_one_side_with_its_label(labels, test_size, seed):
    try:
        split = split_once(labels, test_size, seed)
    except PalmetteError:
        assert (1 - test_size) * len(labels) < 1
        return
    rows = np.concatenate([split.X_train, split.X_test]).ravel()
    assert sorted(rows) == list(range(len(labels)))
    assert [labels[row] for row in rows] == [*split.y_train, *split.y_test]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(2, 30), min_size=2, max_size=4), st.integers(0, 5))
def test_labels_keep_their_shares(sizes, seed):
    labels = [label for label, size in zip("abcd", sizes, strict=False) for _ in range(size)]
    if len(sizes) > 0.3 * len(labels):
        return
    counts = Counter(split_once(labels, 0.3, seed).y_test)
    share = counts.total() / len(labels)  # 0.3, up to whole rows
    for label, size in zip("abcd", sizes, strict=False):
        assert abs(counts[label] - share * size) < 1


@pytest.mark.parametrize("rare", [["d"], ["c", "d"]])
def test_labels_of_one_row_do_not_spoil_the_proportions_of_others(rare):
    split = split_once(["a"] * 50 + ["b"] * 50 + rare)
    counts = Counter(split.y_test)
    assert abs(counts["a"] - 15) <= 1
    assert abs(counts["b"] - 15) <= 1


def test_labels_that_outnumber_test_rows_are_split_at_random():
    assert len(split_once("aabbccdd", 0.25).y_test) == 2


def test_published_split_is_given_as_it_is():
    problem = Problem("p", STAR, np.zeros((3, 1)), list("abc"), np.ones((2, 1)), list("ab"))
    (split,) = make_splits(problem, None, 0.3, 9)
    assert split.name == "published"
    assert (split.seed, split.test_size) == (9, None)
    assert split.X_train is problem.X_train
    assert split.y_test is problem.y_test


def test_random_splits_draw_from_all_rows_of_a_published_one():
    X = np.arange(20.0).reshape(-1, 1)
    problem = Problem("p", STAR, X[:15], list("abc") * 5, X[15:], list("abcab"))
    splits = list(make_splits(problem, 4, 0.3, 10))
    assert [split.name for split in splits] == [f"random-{i}" for i in range(10, 14)]
    assert {split.test_size for split in splits} == {0.3}
    for split in splits:
        assert sorted(np.concatenate([split.X_train, split.X_test]).ravel()) == list(range(20))
    assert len({tuple(split.X_test.ravel()) for split in splits}) == 4


def test_without_a_published_split_there_are_three():
    problem = Problem("p", STAR, np.zeros((40, 1)), list("abcd") * 10)
    assert [split.seed for split in make_splits(problem, None, 0.3, 5)] == [5, 6, 7]


def test_the_same_seed_gives_the_same_split():
    labels = "abcd" * 10
    first, second = split_once(labels, seed=3), split_once(labels, seed=3)
    np.testing.assert_array_equal(first.X_test, second.X_test)
    assert not np.array_equal(first.X_test, split_once(labels, seed=4).X_test)


def test_several_labels_a_row_are_split_at_random():
    problem = Problem("p", STAR, np.zeros((10, 1)), [{"a", "b"}, {"c"}] * 5)
    split = next(make_splits(problem, 1, 0.3, 0))
    assert len(split.y_train) == 7
    assert len(split.y_test) == 3


@pytest.mark.parametrize(("n_splits", "test_size"), [(0, 0.3), (-1, 0.3), (2, 0.0), (2, 1.0)])
def test_senseless_splits(n_splits, test_size):
    problem = Problem("p", STAR, np.zeros((8, 1)), list("abcd") * 2)
    with pytest.raises(PalmetteError, match=f"n_splits={n_splits} and test_size={test_size}"):
        next(make_splits(problem, n_splits, test_size, 0))


def test_a_single_row_cannot_be_split():
    with pytest.raises(PalmetteError, match=r"0\.3 leaves none of 1 rows"):
        split_once("a")


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        sparse.csr_array,
        lambda rows: [tuple(row) for row in rows],
        lambda rows: pd.DataFrame(rows, columns=["u", "v"]),
    ],
)
def test_join_rows_of_any_kind(make):
    joined = join_rows(make([[1, 2]]), make([[3, 4], [5, 6]]))
    assert type(joined) is type(make([[1, 2]]))
    array = joined.toarray() if sparse.issparse(joined) else np.asarray(joined)
    np.testing.assert_array_equal(array, [[1, 2], [3, 4], [5, 6]])
