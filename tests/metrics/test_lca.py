"""LCA measures: the closed form for one node a row, brute force for several."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette.exceptions import HierarchyError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import _lca, lca_f1_score, lca_precision_recall_fscore

laws = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def ways_by_hand(hierarchy, true, pred):
    """Nodes on the shortest ways between nearest nodes, with sets and walks."""
    above = {n: set(hierarchy.ancestors(n, include_self=True).tolist()) for n in true | pred}
    ways = set()
    for ours, theirs in ((true, pred), (pred, true)):
        for a in ours:
            least = min(len(above[a] ^ above[b]) for b in theirs)
            for b in theirs:
                if len(above[a] ^ above[b]) == least:
                    ways |= (above[a] ^ above[b]) | {max(above[a] & above[b])}
    on_true = ways & set().union(*(above[n] for n in true))
    on_pred = ways & set().union(*(above[n] for n in pred))
    return len(on_true & on_pred) / len(on_pred), len(on_true & on_pred) / len(on_true)


@laws
@given(seeds, st.sampled_from(["path", "tree"]), st.integers(1, 30))
def test_scores_are_those_of_sets_walked_by_hand(make_case, seed, kind, chunk):
    case = make_case(seed, kind)
    h = case.hierarchy
    rows = []
    for true, pred in zip(case.true, case.pred, strict=True):
        # an ancestor of another label of the row adds nothing to it
        sides = [
            {n for n in side if not any(n in h.ancestors(m) for m in side)} or {0}
            for side in (true, pred)
        ]
        p, r = ways_by_hand(h, *sides)
        rows.append((p, r, 2 * p * r / (p + r)))
    expected = np.average(rows, axis=0, weights=case.weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lca, "_PAIRS_AT_ONCE", chunk)
        found = lca_precision_recall_fscore(
            case.y_true, case.y_pred, hierarchy=h, sample_weight=case.weight
        )
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@laws
@given(seeds)
def test_one_node_a_row_scores_as_its_indicator_does(make_case, seed):
    case = make_case(seed, "path")
    names = case.hierarchy.path_strings
    named = [[names[next(iter(row))] for row in side] for side in (case.true, case.pred)]
    closed = [case.closed(side) for side in (case.true, case.pred)]
    np.testing.assert_allclose(
        lca_precision_recall_fscore(*named, hierarchy=case.hierarchy),
        lca_precision_recall_fscore(*closed, hierarchy=case.hierarchy),
        rtol=1e-12,
    )


@laws
@given(seeds, st.sampled_from(["path", "tree"]))
def test_perfect_is_one_and_f_is_symmetric(make_case, seed, kind):
    case = make_case(seed, kind)
    h = case.hierarchy
    assert lca_precision_recall_fscore(case.y_true, case.y_true, hierarchy=h) == (1, 1, 1)
    there = lca_precision_recall_fscore(case.y_true, case.y_pred, hierarchy=h)
    back = lca_precision_recall_fscore(case.y_pred, case.y_true, hierarchy=h)
    np.testing.assert_allclose(there, [back[1], back[0], back[2]], rtol=1e-12)


def test_depth_above_the_common_ancestor_does_not_matter():
    shallow = lca_f1_score([("x",)], [("y",)])
    deep = lca_f1_score([("a", "b", "c", "x")], [("a", "b", "c", "y")])
    assert shallow == deep == 0.5  # x and the parent, y and the parent: one of two


def test_a_dag_is_refused_by_name():
    h = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    with pytest.raises(HierarchyError, match="lca_precision_recall_fscore needs a tree"):
        lca_f1_score(["c"], ["a"], hierarchy=h)
