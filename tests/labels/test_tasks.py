"""Laws of TaskTable: what each policy says of every class, and which rows a task sees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spaces import label_spaces, numbers, seeds
from tests.strategies import quick

from palmette.exceptions import HierarchyError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import REST, LabelSpace, Task, TaskRows, TaskTable

UNSEEN = TaskTable.UNSEEN


def step(space, parent, label):
    """Option that a path to `label` takes at the node `parent`: itself if it ends there."""
    path = space.hierarchy.ancestors(label, include_self=True).tolist()
    if parent not in path:
        return UNSEEN
    at = path.index(parent)
    return path[at + 1] if at + 1 < len(path) else parent


def choices(space):
    """Every inner active node with the options that labels take at it, if there are several."""
    for parent in space.nodes[space.has_children].tolist():
        row = [step(space, parent, label) for label in space.classes.tolist()]
        if len(set(row) - {UNSEEN}) > 1:
            yield parent, row


def assert_is(table, keys, rows, n_classes):
    expected = np.array(rows, dtype=int).reshape(-1, n_classes)
    assert [task.key for task in table] == keys
    assert np.array_equal(table.to_array(), expected)
    for task, row in zip(table, expected, strict=True):
        assert task.options.tolist() == sorted(set(row.tolist()) - {UNSEEN})


@quick
@given(label_spaces())
def test_per_parent_asks_every_parent_which_way_a_label_goes(space):
    expected = dict(choices(space))
    assert_is(TaskTable.per_parent(space), list(expected), list(expected.values()), space.n_classes)


@quick
@given(label_spaces(), st.sampled_from(["siblings", "all"]))
def test_per_node_asks_every_option_alone(space, negatives):
    keys, rows, ends = [], [], []
    for parent, row in choices(space):
        for option in sorted(set(row) - {UNSEEN}):
            keys.append(option)
            other = [UNSEEN if o == UNSEEN and negatives == "siblings" else REST for o in row]
            rows.append([option if o == option else r for o, r in zip(row, other, strict=True)])
            ends.append(option == parent)
    table = TaskTable.per_node(space, negatives)
    assert_is(table, keys, rows, space.n_classes)
    assert [task.ends for task in table] == ends


@quick
@given(label_spaces())
def test_per_level_asks_once_for_all_parents_of_a_depth(space):
    keys, rows = [], []
    for depth in range(int(space.depth.max())):
        row = np.full(space.n_classes, UNSEEN)
        for parent in space.nodes[space.has_children & (space.depth == depth)].tolist():
            options = np.array([step(space, parent, c) for c in space.classes.tolist()])
            row[options != UNSEEN] = options[options != UNSEEN]
        if len(set(row.tolist()) - {UNSEEN}) > 1:
            keys.append(depth + 1)
            rows.append(row)
    assert_is(TaskTable.per_level(space), keys, rows, space.n_classes)


@quick
@given(label_spaces())
def test_flat_and_one_vs_rest_and_pairwise(space):
    labels, n = space.classes.tolist(), space.n_classes
    assert_is(TaskTable.flat(space), [0] if n > 1 else [], [labels] if n > 1 else [], n)
    against_rest = [[c if c == label else REST for c in labels] for label in labels]
    assert_is(TaskTable.one_vs_rest(space), labels, against_rest, n)
    pairs = [(a, b) for i, a in enumerate(labels) for b in labels[i + 1 :]]
    rows = [[c if c in pair else UNSEEN for c in labels] for pair in pairs]
    table = TaskTable.pairwise(space)
    assert_is(table, [task.key for task in table], rows, n)
    assert len({task.key for task in table}) == len(pairs)


@quick
@given(st.integers(1, 6), st.integers(1, 9), seeds)
def test_codes_are_kept_cell_by_cell(n_tasks, n_classes, seed):
    matrix = numbers(seed).integers(-1, 2, (n_tasks, n_classes))
    expected = np.where(matrix == 0, UNSEEN, matrix)
    assert_is(TaskTable.codes(matrix), list(range(n_tasks)), expected, n_classes)


@quick
@given(label_spaces())
def test_tables_take_memory_by_nodes_not_by_tasks_times_classes(space):
    for table in (TaskTable.per_parent(space), TaskTable.per_level(space)):
        assert sum(len(task.intervals) for task in table) <= space.n_active + space.n_classes
    for table in (TaskTable.per_node(space), TaskTable.per_node(space, "all")):
        assert all(len(task.intervals) <= 3 for task in table)


@quick
@given(label_spaces(), st.integers(0, 40), seeds)
def test_the_rows_of_a_task_are_those_that_its_row_of_the_table_shows(space, n_samples, seed):
    codes = numbers(seed).integers(0, space.n_classes, n_samples).astype(np.int32)
    selector = TaskRows(codes, space.n_classes)
    for policy in ("per_parent", "per_node", "per_level", "flat", "one_vs_rest", "pairwise"):
        table = getattr(TaskTable, policy)(space)
        for task, line in zip(table, table.to_array(), strict=True):
            target = line[codes]
            rows, options = selector.select(task)
            assert rows.tolist() == np.flatnonzero(target != UNSEEN).tolist()
            assert options.tolist() == target[target != UNSEEN].tolist()


def test_a_task_without_intervals_sees_no_row():
    rows, options = TaskRows(np.array([0, 1]), 2).select(Task.of(0, [(1, 1, 5)]))
    assert rows.size == options.size == 0


def test_unknown_negatives_are_named():
    h = Hierarchy.star(["a", "b"])
    with pytest.raises(HierarchyError, match=r"negatives='some' is unknown.*'siblings' or 'all'"):
        TaskTable.per_node(LabelSpace(h, h.leaves), "some")
