"""Losses: against their definitions on dense indicators, and worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import _losses as module
from palmette.metrics import (
    h_loss,
    hierarchical_costs,
    hierarchical_hamming_loss,
    hmc_loss,
    hmc_ratio,
    tree_induced_error,
)

laws = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(["path", "tree", "dag"])
LOSSES = [tree_induced_error, hmc_loss, h_loss, hierarchical_hamming_loss]


def dense(case):
    """Indicators in which the root is right in every row."""
    true, pred = case.closed(case.true), case.closed(case.pred)
    true[:, 0] = pred[:, 0] = True
    return true, pred


def ancestors_right(hierarchy, wrong):
    """Whether no proper ancestor of a node is wrong, by walking up from each."""
    right = np.ones(wrong.shape, bool)
    for node in range(hierarchy.n_nodes):
        above = hierarchy.ancestors(node)
        right[:, node] = ~wrong[:, above].any(axis=1)
    return right


def test_costs_of_figure_2():
    # a binary tree of seven classes under the virtual root
    h = Hierarchy.from_paths([("0", a, b) for a in "12" for b in "34"])
    assert h.n_nodes == 8
    costs = hierarchical_costs(h)
    by_level = [costs[h.depth == level] for level in range(4)]
    np.testing.assert_allclose(by_level[0], [0.0])
    np.testing.assert_allclose(by_level[1], [1 / 3])
    np.testing.assert_allclose(by_level[2], [1 / 6] * 2)
    np.testing.assert_allclose(by_level[3], [1 / 12] * 4)


@laws
@given(seeds)
def test_tree_induced_error_is_the_mean_number_of_edges(make_case, seed):
    case = make_case(seed, "path")
    ends = [np.array([next(iter(row)) for row in side]) for side in (case.true, case.pred)]
    edges = case.hierarchy.distance(*ends)
    found = tree_induced_error(
        case.y_true, case.y_pred, hierarchy=case.hierarchy, sample_weight=case.weight
    )
    assert found == pytest.approx(np.average(edges, weights=case.weight), rel=1e-12)


@laws
@given(seeds, kinds)
def test_tree_induced_error_of_sets_is_the_size_of_their_difference(make_case, seed, kind):
    case = make_case(seed, kind)
    true, pred = dense(case)
    found = tree_induced_error(case.y_true, case.y_pred, hierarchy=case.hierarchy)
    assert found == pytest.approx((true != pred).sum() / len(true), rel=1e-12)


@laws
@given(seeds, kinds, st.sampled_from([0.0, 0.5, 1.0, 7.0, "balanced"]))
def test_hmc_loss_is_its_definition(make_case, seed, kind, ratio):
    case = make_case(seed, kind)
    if not any(case.true):
        return
    true, pred = dense(case)
    costs = hierarchical_costs(case.hierarchy)
    value = (~true[:, 1:]).T @ case.weight
    value = value.sum() / (true[:, 1:].T @ case.weight).sum() if ratio == "balanced" else ratio
    beta = 2 / (1 + value)
    alpha = value * beta
    rows = alpha * (true & ~pred) @ costs + beta * (~true & pred) @ costs
    found = hmc_loss(
        case.y_true,
        case.y_pred,
        hierarchy=case.hierarchy,
        ratio=ratio,
        sample_weight=case.weight,
    )
    assert found == pytest.approx(np.average(rows, weights=case.weight), rel=1e-9, abs=1e-15)
    if ratio == "balanced":
        assert value == pytest.approx(
            hmc_ratio(case.y_true, hierarchy=case.hierarchy, sample_weight=case.weight)
        )


@laws
@given(seeds, kinds)
def test_h_loss_counts_the_first_error_of_every_path(make_case, seed, kind):
    case = make_case(seed, kind)
    true, pred = dense(case)
    first = (true != pred) & ancestors_right(case.hierarchy, true != pred)
    rows = first @ hierarchical_costs(case.hierarchy)
    found = h_loss(case.y_true, case.y_pred, hierarchy=case.hierarchy, sample_weight=case.weight)
    assert found == pytest.approx(np.average(rows, weights=case.weight), rel=1e-9, abs=1e-15)


@laws
@given(seeds, kinds, st.booleans(), st.integers(1, 40))
def test_hamming_loss_counts_nodes_below_errors_too(make_case, seed, kind, costly, chunk):
    case = make_case(seed, kind)
    true, pred = dense(case)
    wrong = (true != pred) | ~ancestors_right(case.hierarchy, true != pred)  # eq. 3
    costs = np.arange(case.hierarchy.n_nodes) if costly else None
    each = np.ones(case.hierarchy.n_nodes - 1) if costs is None else costs[1:]
    options = {"hierarchy": case.hierarchy, "costs": costs, "sample_weight": case.weight}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS_AT_ONCE", chunk)
        summed = hierarchical_hamming_loss(case.y_true, case.y_pred, normalize=False, **options)
        share = hierarchical_hamming_loss(case.y_true, case.y_pred, **options)
    expected = case.weight @ (wrong[:, 1:] @ each)
    assert summed == pytest.approx(expected, rel=1e-12)
    assert share == pytest.approx(expected / (case.weight.sum() * each.sum()), rel=1e-12)
    assert 0 <= share <= 1 + 1e-12


@laws
@given(seeds, kinds, st.sampled_from(LOSSES))
def test_a_perfect_prediction_costs_nothing(make_case, seed, kind, loss):
    case = make_case(seed, kind)
    if any(case.true):
        assert loss(case.y_true, case.y_true, hierarchy=case.hierarchy) == 0.0


@laws
@given(seeds, kinds, st.sampled_from(LOSSES))
def test_weight_k_equals_k_copies(make_case, seed, kind, loss):
    case = make_case(seed, kind)
    if not any(case.true):
        return
    copies = np.repeat(np.arange(len(case.true)), case.weight.astype(int))
    weighted = loss(case.y_true, case.y_pred, hierarchy=case.hierarchy, sample_weight=case.weight)
    copied = loss(case.y_true[copies], case.y_pred[copies], hierarchy=case.hierarchy)
    assert weighted == pytest.approx(copied, rel=1e-12)


@laws
@given(seeds, kinds, st.sampled_from([tree_induced_error, h_loss, hierarchical_hamming_loss]))
def test_truth_and_prediction_may_be_swapped(make_case, seed, kind, loss):
    case = make_case(seed, kind)
    there = loss(case.y_true, case.y_pred, hierarchy=case.hierarchy)
    back = loss(case.y_pred, case.y_true, hierarchy=case.hierarchy)
    assert there == pytest.approx(back, rel=1e-12)


@laws
@given(seeds)
def test_names_and_indicators_give_the_same_losses(make_case, seed):
    case = make_case(seed, "path")
    names = case.hierarchy.path_strings
    named = [[names[next(iter(row))] for row in side] for side in (case.true, case.pred)]
    closed = [case.closed(side) for side in (case.true, case.pred)]
    for loss in LOSSES:
        by_name = loss(*named, hierarchy=case.hierarchy)
        assert by_name == pytest.approx(loss(*closed, hierarchy=case.hierarchy), rel=1e-12)


def test_worked_case():
    h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z")])  # costs 1/2 1/4 1/4 1/2 1/2, /2
    options = {"hierarchy": h}
    assert tree_induced_error(["x", "x"], ["y", "z"], **options) == (2 + 4) / 2
    # x for y: 1/8 missed, 1/8 false; x for z: a, x (3/8) missed, b, z (1/2) false
    assert hmc_loss(["x", "x"], ["y", "z"], ratio=1.0, **options) == (1 / 4 + 7 / 8) / 2
    assert hmc_loss(["x"], ["z"], ratio=3.0, **options) == 1.5 * 3 / 8 + 0.5 * 1 / 2
    # first errors: x and y; a and b
    assert h_loss(["x", "x"], ["y", "z"], **options) == (1 / 4 + 1 / 2) / 2
    assert hierarchical_hamming_loss(["x", "x"], ["y", "z"], normalize=False, **options) == 2 + 5


def test_figure_1_of_the_paper():
    # node 5 is right but its parent 2 is wrong: HHL counts both, Hamming loss the parent only
    h = Hierarchy.from_paths([("1", "3"), ("1", "4"), ("2", "5"), ("2", "6")])
    loss = hierarchical_hamming_loss([{"3"}], [{"3", "2"}], hierarchy=h, normalize=False)
    assert loss == 3  # 2, and below it 5 and 6, which are rightly negative


def test_bad_arguments_are_named():
    with pytest.raises(PalmetteError, match=r"costs has shape \(1,\), expected \(3,\)"):
        h_loss(["a"], ["b"], costs=[1.0])
    with pytest.raises(PalmetteError, match="costs has negative"):
        h_loss(["a"], ["b"], costs=[0, -1, 1])
    with pytest.raises(PalmetteError, match="ratio=-1"):
        hmc_loss(["a"], ["b"], ratio=-1)
    with pytest.raises(LabelError, match="no row has a label"):
        hmc_loss([set()], [{"a"}], hierarchy=Hierarchy.star(["a"]))
