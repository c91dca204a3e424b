from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from palmette.class_tree import ClassTreeLearner
from palmette.exceptions import LabelError, PalmetteError
from palmette.partition import Partition, RandomPartition


class Spy(Partition):
    """Store the problem, and divide in halves."""

    def __init__(self, seen):
        self.seen = seen

    def begin(self, problem):
        self.seen.append(problem)
        return problem

    def split(self, state, classes, node):
        return []


class Learner(ClassTreeLearner):
    def __init__(self, leaf_size=1, random_state=None):
        self.leaf_size = leaf_size
        self.random_state = random_state

    def _partition(self):
        self.seen_ = []
        return Spy(self.seen_)


class Drawing(Learner):
    def _partition(self):
        return RandomPartition()


def test_a_partition_sees_rows_codes_and_weights():
    X = np.arange(10.0)[:, None]
    learner = Learner().fit(X, list("bbaaaccddd"), sample_weight=np.arange(10))
    (problem,) = learner.seen_
    assert learner.classes_.tolist() == ["a", "b", "c", "d"]
    assert problem.X.ravel().tolist() == list(range(1, 10))  # a weight of zero is no row
    assert problem.codes.tolist() == [1, 0, 0, 0, 2, 2, 3, 3, 3]
    assert problem.weights.tolist() == list(range(1, 10))
    assert problem.statistics.weight.tolist() == [9.0, 1.0, 11.0, 24.0]
    assert [rows.tolist() for rows in problem.rows_of] == [[1, 2, 3], [0], [4, 5], [6, 7, 8]]


def test_a_class_without_weight_is_no_class():
    learner = Learner().fit(np.zeros((4, 1)), [1, 2, 3, 3], sample_weight=[1, 0, 1, 1])
    assert learner.classes_.tolist() == [1, 3]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_single_precision_is_not_copied_to_double(dtype):
    learner = Learner().fit(sparse.csr_array(np.eye(4, dtype=dtype)), np.arange(4))
    expected = np.float32 if dtype == np.float32 else np.float64
    assert learner.seen_[0].X.dtype == expected


@pytest.mark.filterwarnings("error")
def test_one_row_a_class_is_no_warning():
    Learner().fit(np.eye(50), np.arange(50))


def test_a_seed_gives_the_same_tree_again():
    X, y = np.zeros((40, 1)), np.arange(40)
    first = Drawing(random_state=3).fit(X, y)
    assert first.hierarchy_ == clone(first).fit(X, y).hierarchy_
    assert first.hierarchy_ != Drawing(random_state=4).fit(X, y).hierarchy_


def test_leaves_hold_as_many_classes_as_they_may():
    learner = Learner(leaf_size=4).fit(np.zeros((8, 1)), np.arange(8))
    assert [len(group) for group in learner.tree_.groups] == [8, 4, 4]
    assert learner.hierarchy_.max_depth == 2


@pytest.mark.parametrize(
    ("y", "error", "match"),
    [
        (None, LabelError, "requires y"),
        ([1, 1, 1], PalmetteError, "one class only"),
        ([[1, 2], [1, 3], [2, 3]], LabelError, "one label per row"),
        ([0.5, 1.5, 2.5], ValueError, "continuous"),
        ([1, 2], ValueError, "inconsistent"),
    ],
)
def test_targets_are_checked(y, error, match):
    with pytest.raises(error, match=match):
        Learner().fit(np.zeros((3, 1)), y)
