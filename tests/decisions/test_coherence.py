"""Repairing and cutting node probabilities, against loops that say what is meant."""

from __future__ import annotations

from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.spaces import numbers, seeds
from tests.strategies import dags, hierarchies, quick

from palmette import Hierarchy
from palmette.decisions import _coherence as coherence
from palmette.decisions._coherence import NodeColumns, add_root, make_coherent, threshold_sets
from palmette.exceptions import HierarchyError, PalmetteError

DIAMOND = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("x", "y")])
RULES = st.sampled_from(["all", "any"])
TYPES = st.sampled_from([np.float32, np.float64])


@st.composite
def column_sets(draw, kinds=hierarchies):
    """Any hierarchy, and any of its nodes with their ancestors."""
    h = draw(kinds().filter(lambda h: h.n_nodes > 1))
    chosen = draw(st.sets(st.integers(1, h.n_nodes - 1), max_size=6))
    closed = sorted({int(a) for node in chosen for a in h.ancestors(node, include_self=True)} - {0})
    return NodeColumns(h, np.array(closed, dtype=np.int32))


def random_table(columns, seed, dtype=np.float64, n_samples=7):
    """Probabilities, many of them equal, some of them 0 or 1."""
    rng = numbers(seed)
    table = rng.integers(0, 6, (n_samples, columns.n_columns)) / 5
    some = rng.random(table.shape) < 0.3
    table[some] = rng.random(some.sum())
    return table.astype(dtype)


def parents_in(columns, column):
    """Columns of the parents of a column; None stands for the root."""
    h = columns.hierarchy
    place = {int(node): i for i, node in enumerate(columns.nodes)}
    return [place.get(int(parent)) for parent in h.parents_of(int(columns.nodes[column]))]


def literal_all(table, columns):
    h, result = columns.hierarchy, table.copy()
    for i, node in enumerate(columns.nodes):
        below = np.isin(columns.nodes, h.descendants(int(node), include_self=True))
        result[:, i] = table[:, below].max(axis=1)
    return result


def literal_any(table, columns):
    depth, result = columns.hierarchy.depth[columns.nodes], table.copy()
    for row in result:
        for level in sorted(set(depth.tolist()), reverse=True):
            before = row.copy()
            for child in np.flatnonzero(depth == level):
                parents = parents_in(columns, child)
                if None in parents or max(before[p] for p in parents) >= before[child]:
                    continue
                best = max(parents, key=lambda p: (before[p], -p))
                row[best] = max(row[best], before[child])
    return result


def is_coherent(table, columns, rule):
    for child in range(columns.n_columns):
        above = [1.0 if p is None else table[:, p] for p in parents_in(columns, child)]
        limit = (np.minimum if rule == "all" else np.maximum).reduce(np.broadcast_arrays(*above))
        if (table[:, child] > limit).any():
            return False
    return True


@quick
@given(column_sets(), RULES, TYPES, seeds)
def test_every_node_gets_what_the_rule_says_and_no_more(columns, rule, dtype, seed):
    raw = random_table(columns, seed, dtype)
    literal = literal_all if rule == "all" else literal_any
    table = raw.copy()
    assert make_coherent(table, columns, rule) is table
    assert table.dtype == dtype
    assert np.array_equal(table, literal(raw, columns))


@quick
@given(column_sets(), RULES, seeds)
def test_the_result_is_coherent_never_lower_and_stays(columns, rule, seed):
    raw = random_table(columns, seed)
    table = make_coherent(raw.copy(), columns, rule)
    assert is_coherent(table, columns, rule)
    assert (table >= raw).all()
    assert np.array_equal(make_coherent(table.copy(), columns, rule), table)
    if is_coherent(raw, columns, rule):
        assert np.array_equal(table, raw)


@quick
@given(column_sets(), seeds)
def test_any_asks_for_no_more_than_all_and_for_the_same_in_a_tree(columns, seed):
    raw = random_table(columns, seed)
    by_all, by_any = (make_coherent(raw.copy(), columns, rule) for rule in ("all", "any"))
    assert (by_any <= by_all).all()
    if columns.hierarchy.is_tree:
        assert np.array_equal(by_any, by_all)


@quick
@given(column_sets(dags), RULES, seeds)
def test_chunks_and_layouts_change_nothing(columns, rule, seed):
    raw = random_table(columns, seed)
    whole = make_coherent(raw.copy(), columns, rule)
    assert np.array_equal(make_coherent(np.asfortranarray(raw), columns, rule), whole)
    with patch.object(coherence, "_NUMBERS_AT_ONCE", 2 * columns.n_columns + 1):
        assert np.array_equal(make_coherent(raw.copy(), columns, rule), whole)


def test_a_parent_that_is_the_root_suffices_for_any():
    h = Hierarchy.from_edges([("r", "a"), ("r", "x"), ("a", "x")])
    columns = NodeColumns(h, np.array([1, 2]))
    assert make_coherent(np.array([[0.1, 0.7]]), columns, "any").tolist() == [[0.1, 0.7]]
    assert make_coherent(np.array([[0.1, 0.7]]), columns, "all").tolist() == [[0.7, 0.7]]


def test_of_equal_parents_the_first_is_raised_and_the_raise_goes_on_upwards():
    columns = NodeColumns(DIAMOND, np.arange(1, 5))
    assert DIAMOND.names[columns.nodes].tolist() == ["a", "b", "x", "y"]
    table = make_coherent(np.array([[0.2, 0.2, 0.1, 0.6]]), columns, "any")
    assert table.tolist() == [[0.6, 0.2, 0.6, 0.6]]


# ---------------------------------------------------------------------- sets


@quick
@given(column_sets(), RULES, seeds, st.booleans())
def test_sets_above_a_threshold_are_coherent(columns, rule, seed, one_each):
    table = make_coherent(random_table(columns, seed), columns, rule)
    rng = numbers(seed + 1)
    threshold = rng.random(columns.n_columns if one_each else None)
    sets = threshold_sets(table, threshold, columns)
    assert sets.dtype == bool
    assert is_coherent(sets.toarray().astype(float), columns, rule)
    if not one_each:
        assert np.array_equal(sets.toarray(), table > threshold)


def test_a_threshold_counts_as_no_lower_than_those_above():
    columns = NodeColumns(DIAMOND, np.arange(1, 5))
    table = np.array([[0.5, 0.8, 0.5, 0.5]])
    sets = threshold_sets(table, np.array([0.6, 0.2, 0.1, 0.3]), columns)
    assert sets.toarray().tolist() == [[False, True, False, False]]
    rising = threshold_sets(table, np.array([0.1, 0.2, 0.4, 0.5]), columns)
    assert rising.toarray().tolist() == [[True, True, True, False]]


def test_sets_of_columns_become_sets_of_nodes():
    columns = NodeColumns(DIAMOND, np.array([1, 2, 3]))
    sets = sparse.csr_array(np.array([[True, False, True], [False] * 3, [False, True, False]]))
    nodes = columns.sets_of_nodes(sets)
    assert [nodes.indices[a:b].tolist() for a, b in pairwise(nodes.indptr)] == [[1, 3], [], [2]]
    rooted = add_root(nodes)
    rows = [[0, 1, 3], [0], [0, 2]]
    assert [rooted.indices[a:b].tolist() for a, b in pairwise(rooted.indptr)] == rows
    assert (add_root(rooted) != rooted).nnz == 0
    assert rooted.has_sorted_indices


def test_any_nodes_can_be_picked():
    columns = NodeColumns(DIAMOND, np.array([1, 2]))
    table = np.array([[0.25, 0.5]])
    assert columns.pick(table, np.array([4, 2, 0, 1])).tolist() == [[0.0, 0.5, 1.0, 0.25]]
    scores = columns.pick(table, np.array([0, 4]), root=np.inf, absent=-np.inf)
    assert scores.tolist() == [[np.inf, -np.inf]]


# ---------------------------------------------------------------------- mistakes


def test_columns_that_are_none_are_refused():
    with pytest.raises(HierarchyError, match="'x' is a column, but its parent 'b' is not"):
        NodeColumns(DIAMOND, np.array([1, 3]))
    for nodes in ([0, 1], [2, 1], [1, 1]):
        with pytest.raises(HierarchyError, match="unsorted or contain 0"):
            NodeColumns(DIAMOND, np.array(nodes))


def test_tables_of_another_shape_and_unknown_rules_are_refused():
    columns = NodeColumns(DIAMOND, np.arange(1, 5))
    with pytest.raises(PalmetteError, match=r"shape \(2, 3\).*expected floats of shape"):
        make_coherent(np.zeros((2, 3)), columns)
    with pytest.raises(PalmetteError, match="int64: expected floats"):
        make_coherent(np.zeros((2, 4), dtype=np.int64), columns)
    with pytest.raises(PalmetteError, match="dag_rule='most' is unknown: expected 'all'"):
        make_coherent(np.zeros((2, 4)), columns, "most")
    with pytest.raises(PalmetteError, match=r"threshold has shape \(3,\).*one per column \(4\)"):
        threshold_sets(np.zeros((2, 4)), np.zeros(3), columns)
