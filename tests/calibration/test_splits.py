"""Rows to learn from and rows to judge on."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from palmette import Hierarchy, NodeLabels, PalmetteError
from palmette.calibration._base import (
    check_folds,
    held_out_part,
    random_folds,
    stratified_folds,
    take_labels,
)


def labels():
    return NodeLabels.encode(np.repeat(["a", "b", "c"], [10, 7, 3]))


def is_partition(folds, n_rows):
    tested = np.concatenate([test for _, test in folds])
    both = [np.sort(np.r_[train, test]) for train, test in folds]
    everything = np.arange(n_rows)
    return np.array_equal(np.sort(tested), everything) and all(
        np.array_equal(rows, everything) for rows in both
    )


def test_folds_hold_every_label_in_nearly_the_same_shares():
    y = labels()
    folds = stratified_folds(3, y, 0)
    assert is_partition(folds, 20)
    counts = np.array([np.bincount(y.terminals[test] - 1, minlength=3) for _, test in folds])
    assert (np.ptp(counts, axis=0) <= 1).all()
    assert np.ptp(counts.sum(axis=1)) <= 1


def test_folds_of_label_sets_hold_every_set_in_nearly_the_same_shares():
    sets = [{"a"}, {"a", "b"}, set(), {"b"}] * 6
    folds = stratified_folds(3, NodeLabels.encode(sets), 0)
    assert is_partition(folds, 24)
    for _, test in folds:
        assert sorted(len(sets[i]) for i in test) == [0, 0, 1, 1, 1, 1, 2, 2]


def test_folds_do_not_depend_on_how_nodes_are_numbered():
    y = ["x", "y", "z", "y", "x", "z", "x", "y"]
    one = stratified_folds(2, NodeLabels.encode(y, Hierarchy.star(["x", "y", "z"])), 5)
    other = stratified_folds(2, NodeLabels.encode(y, Hierarchy.star(["z", "new", "y", "x"])), 5)
    for a, b in zip(one, other, strict=True):
        assert np.array_equal(a[1], b[1])


def test_a_seed_makes_splits_repeatable():
    assert np.array_equal(random_folds(4, 30, 7)[0][1], random_folds(4, 30, 7)[0][1])
    assert not np.array_equal(random_folds(4, 30, 7)[0][1], random_folds(4, 30, 8)[0][1])
    assert is_partition(random_folds(4, 30, 7), 30)


def test_any_splits_that_test_every_row_once_will_do():
    folds = stratified_folds(KFold(5), labels(), None)
    assert is_partition(folds, 20)
    with pytest.raises(PalmetteError, match="expected splits that test every row once"):
        stratified_folds(ShuffleSplit(3, random_state=0), labels(), None)


def test_splits_that_are_given_number_all_rows():
    used = np.array([True, False, True, True, False, True])
    y = NodeLabels.encode(["a", "b", "a", "b"])
    given = [([3, 4, 5], [0, 1, 2]), ([0, 1, 2], [3, 4, 5])]
    folds = stratified_folds(given, y, None, used)
    assert [(train.tolist(), test.tolist()) for train, test in folds] == [
        ([2, 3], [0, 1]),
        ([0, 1], [2, 3]),
    ]
    with pytest.raises(PalmetteError, match="cv tests row 9 1 times, of 6 rows"):
        stratified_folds([([3], [0, 1, 2, 3, 4, 5, 9])], y, None, used)


def test_a_part_is_held_out():
    for size, count in [(0.25, 5), (4, 4), (0.01, 1)]:
        train, test = held_out_part(size, 20, 0)
        assert len(test) == count
        assert is_partition([(train, test), (test, train)], 20)
    for size in (0.0, 1.0, -3, "half", True):
        with pytest.raises(PalmetteError, match="expected a share between 0 and 1"):
            held_out_part(size, 20, 0)
    with pytest.raises(PalmetteError, match="leaves none of the n_samples=20 rows"):
        held_out_part(20, 20, 0)


def test_too_few_rows_or_folds_are_refused():
    with pytest.raises(PalmetteError, match=r"cv=4 folds, but n_samples=3 rows"):
        random_folds(4, 3, 0)
    for cv in (1, True):
        with pytest.raises(PalmetteError, match="expected at least 2 folds"):
            check_folds(cv)


def test_labels_of_some_rows():
    some = take_labels(labels(), np.array([0, 19]))
    assert some.decode().tolist() == ["a", "c"]
