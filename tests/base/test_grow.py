from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from palmette.base._grow import GrownTree, grow_class_tree
from palmette.exceptions import PalmetteError
from palmette.partition import ClassProblem, Partition, RandomPartition


class OneAgainstAll(Partition):
    """The first class against all others: the longest chain there is."""

    def split(self, state, classes, node):
        return [classes[:1], classes[1:]]


class Says(Partition):
    """A partition that gives what it is told at the root, then nothing."""

    def __init__(self, groups):
        self.groups = groups

    def split(self, state, classes, node):
        return [np.array(group, dtype=int) for group in self.groups] if node == 0 else []


def problem(n_classes):
    return ClassProblem(np.zeros((n_classes, 1)), np.arange(n_classes, dtype=np.int32), n_classes)


def depth_of(tree):
    depth = [0]
    for parent in tree.parents[1:]:
        depth.append(depth[parent] + 1)
    return max(depth)


def as_lists(tree):
    return [group.tolist() for group in tree.groups]


@given(st.integers(2, 60), st.integers(2, 5), st.integers(1, 4), st.integers(0, 9))
def test_children_make_up_their_parent(n_classes, branching, leaf_size, seed):
    here = ClassProblem(np.zeros((n_classes, 1)), np.arange(n_classes), n_classes, seed=seed)
    tree = grow_class_tree(RandomPartition(branching), here, leaf_size=leaf_size)
    assert tree.parents[0] == -1
    assert tree.groups[0].tolist() == list(range(n_classes))
    for node, group in enumerate(tree.groups):
        below = [tree.groups[i] for i, parent in enumerate(tree.parents) if parent == node]
        if below:
            assert len(group) > leaf_size
            assert sorted(np.concatenate(below).tolist()) == group.tolist()
        else:
            assert len(group) <= leaf_size


def test_a_chain_needs_no_recursion():
    tree = grow_class_tree(OneAgainstAll(), problem(3000))
    assert depth_of(tree) == 2999
    assert tree.to_hierarchy(np.arange(3000)).max_depth == 2999


@given(st.integers(2, 300), st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.49, 0.5]))
def test_the_least_side_bounds_the_depth(n_classes, min_side):
    tree = grow_class_tree(OneAgainstAll(), problem(n_classes), min_side=min_side)
    assert depth_of(tree) <= np.ceil(np.log(n_classes) / -np.log(1 - min_side) - 1e-9)


def test_the_least_side_of_wider_divisions_is_what_is_outside_of_the_largest():
    wide = Says([[0], [1], [2], [3, 4, 5, 6, 7, 8, 9]])
    assert as_lists(grow_class_tree(wide, problem(10), min_side=0.3, max_depth=1))[1] == [0]
    halved = grow_class_tree(wide, problem(10), min_side=0.4, max_depth=1)
    assert as_lists(halved)[1:] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


@pytest.mark.parametrize("groups", [[], [[0, 1, 2, 3]], [[], [0, 1, 2, 3]]])
def test_halves_where_no_division_is_found(groups):
    tree = grow_class_tree(Says(groups), problem(4), max_depth=1)
    assert as_lists(tree) == [[0, 1, 2, 3], [0, 1], [2, 3]]


def test_two_classes_are_parted_unasked():
    assert as_lists(grow_class_tree(Says([]), problem(2))) == [[0, 1], [0], [1]]


def test_max_depth():
    tree = grow_class_tree(OneAgainstAll(), problem(9), max_depth=2)
    assert depth_of(tree) == 2


def test_blas_has_one_thread_where_a_partition_says_so():
    class Counts(Partition):
        one_blas_thread = True

        def split(self, state, classes, node):
            pools = [each for each in threadpool_info() if each["user_api"] == "blas"]
            assert pools
            assert all(each["num_threads"] == 1 for each in pools)
            return []

    grow_class_tree(Counts(), problem(4))


class TestToHierarchy:
    def test_leaves_are_the_classes(self):
        tree = GrownTree([-1, 0, 0, 2, 2], [np.arange(3), [0], [1, 2], [1], [2]])
        hierarchy = tree.to_hierarchy(np.array(["a", "b", "c"]))
        assert hierarchy.names[hierarchy.leaves].tolist() == ["a", "b", "c"]
        assert hierarchy.path("c") == ("group 2", "c")

    def test_a_last_group_of_several_classes_is_their_parent(self):
        tree = GrownTree([-1, 0, 0], [np.arange(3), np.array([0]), np.array([1, 2])])
        hierarchy = tree.to_hierarchy(np.array([7, 8, 9]))
        assert hierarchy.path(int(hierarchy.leaves[-1])) == ("group 2", 9)

    def test_a_class_in_two_groups_makes_a_dag(self):
        tree = GrownTree([-1, 0, 0], [np.arange(3), np.array([0, 1]), np.array([1, 2])])
        hierarchy = tree.to_hierarchy(np.array(["a", "b", "c"]))
        assert not hierarchy.is_tree
        assert len(hierarchy.leaves) == 3

    def test_names_of_groups_give_way_to_classes(self):
        tree = GrownTree([-1, 0, 0], [np.arange(3), np.array([0]), np.array([1, 2])])
        hierarchy = tree.to_hierarchy(np.array(["root", "group 2", "c"]))
        assert sorted(hierarchy.names[hierarchy.leaves].tolist()) == ["c", "group 2", "root"]
        assert hierarchy.n_nodes == 5


@pytest.mark.parametrize(
    "wrong",
    [
        {"leaf_size": 0},
        {"leaf_size": 1.5},
        {"min_side": -0.1},
        {"min_side": 0.6},
        {"min_side": "half"},
        {"max_depth": 0},
    ],
)
def test_limits_are_checked(wrong):
    with pytest.raises(PalmetteError, match=next(iter(wrong))):
        grow_class_tree(RandomPartition(), problem(4), **wrong)
