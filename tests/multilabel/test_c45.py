from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from palmette import PalmetteError
from palmette.multilabel._c45 import C45Tree, SortedRows, _further_errors
from palmette.multilabel._c45_cuts import SortedColumns
from palmette.multilabel._c45_flags import grow_flag_tree, has_flags_only
from palmette.multilabel._c45_kernel import grow_entropy_tree


@parametrize_with_checks([C45Tree(random_state=0)])
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def noise(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + rng.normal(size=n) > 0.5).astype(int)


def test_the_errors_to_be_expected_are_those_of_quinlans_book():
    # limits at confidence .25 of no error among 6, 9 and 1: .206, .143 and .750
    rows = np.array([6.0, 9.0, 1.0])
    further = _further_errors(rows, np.zeros(3), 0.25)
    np.testing.assert_allclose(further / rows, [0.206, 0.143, 0.750], atol=5e-4)


def test_errors_on_all_rows_cannot_grow():
    assert _further_errors(np.array([2.0]), np.array([2.0]), 0.25).tolist() == [0.0]


def test_a_split_that_tells_nothing_is_pruned():
    X = np.arange(8.0)[:, None]
    y = [0, 0, 0, 1, 0, 0, 0, 0]  # one error among eight: no cut makes fewer to be expected
    tree = C45Tree(smoothing=0.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(tree.predict_proba(X)[:, 1], 1 / 8)
    assert (
        C45Tree(None, smoothing=0.0, random_state=0).fit(X, y).predict_proba(X)[:, 1].max() == 0.5
    )


def test_smoothing_moves_leaves_towards_the_prior():
    X = np.array([[0.0]] * 6 + [[1.0]] * 2)
    tree = C45Tree(smoothing=2.0, random_state=0).fit(X, [0] * 6 + [1] * 2)
    # (6 + 2 * 6/8) / (6 + 2) and (2 + 2 * 2/8) / (2 + 2)
    np.testing.assert_allclose(tree.predict_proba([[0.0], [1.0]]).max(axis=1), [7.5 / 8, 2.5 / 4])


def entropy(y, weights):
    masses = np.bincount(y, weights)
    shares = masses[masses > 0] / masses.sum()
    return -masses.sum() * (shares * np.log(shares)).sum()


def best_gain(X, y, weights, least):
    """Of all cuts between different values that leave both sides heavy enough."""
    best = -np.inf
    for column in X.T:
        for cut in np.unique(column)[:-1]:
            left = column <= cut
            if min(weights[left].sum(), weights[~left].sum()) >= least:
                sides = (entropy(y[side], weights[side]) for side in (left, ~left))
                best = max(best, entropy(y, weights) - sum(sides))
    return best


def best_corrected_gain(X, y, weights, least):
    """The best gain of any feature, less the logarithm of the number of its cuts."""
    best = 0.0
    for column in X.T:
        gains = []
        for cut in np.unique(column)[:-1]:
            left = column <= cut
            if min(weights[left].sum(), weights[~left].sum()) >= least:
                sides = (entropy(y[side], weights[side]) for side in (left, ~left))
                gains.append(entropy(y, weights) - sum(sides))
        if gains:
            best = max(best, max(gains) - np.log(len(gains)))
    return best


@pytest.mark.parametrize("kind", ["dense", "many zeros"])
@pytest.mark.parametrize("weighted", ["no", "any"])
def test_the_correction_counts_the_cuts_of_a_feature(kind, weighted):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(70, 5))
    if kind != "dense":
        X[rng.random(X.shape) < 0.6] = 0.0
    X[:, 0] = X[:, 0] > 0.3  # one cut
    X = np.float32(X)
    y = ((X[:, 1] + rng.normal(size=70) > 0) * 2 + (X[:, 0] > 0)).astype(int)
    weights = np.ones(70) if weighted == "no" else rng.random(70) + 0.2
    weights = weights / weights.mean()
    tree = C45Tree(None, smoothing=0.0, mdl_correction=True, random_state=0)
    tree = tree.fit(X, y, None if weighted == "no" else weights).tree_.tree_
    path = tree.decision_path(X).toarray().astype(bool)
    assert tree.node_count > 3
    n_given_up = 0
    for node in range(tree.node_count):
        here = path[:, node]
        best = best_corrected_gain(X[here], y[here], weights[here], 2.0)
        if tree.children_left[node] < 0:
            n_given_up += len(np.unique(y[here])) > 1
            assert best == pytest.approx(0.0, abs=1e-6)
            continue
        column = X[here, tree.feature[node]]
        left = column <= tree.threshold[node]
        sides = (entropy(y[here][side], weights[here][side]) for side in (left, ~left))
        gain = entropy(y[here], weights[here]) - sum(sides)
        sums = [weights[here][column <= cut].sum() for cut in np.unique(column)[:-1]]
        total = weights[here].sum()
        n_cuts = sum(min(each, total - each) >= 2.0 for each in sums)
        assert gain - np.log(n_cuts) == pytest.approx(best, abs=1e-6)
    assert n_given_up > 0


@pytest.mark.parametrize("kind", ["dense", "many zeros", "flags", "both signs"])
@pytest.mark.parametrize("weighted", ["no", "whole", "any"])
def test_every_split_is_one_of_the_best(kind, weighted):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(70, 6))
    if kind != "dense":
        X[rng.random(X.shape) < 0.6] = 0.0
    X = np.float32(X > 0 if kind == "flags" else abs(X) if kind == "many zeros" else X)
    y = (rng.random(70) + X[:, 0] > 0.5) * 2 + (X[:, 1] + rng.normal(size=70) > 0)
    weights = {"no": np.ones(70), "whole": 1.0 + np.arange(70) % 3, "any": rng.random(70) + 0.2}
    weights = weights[weighted]
    if weighted == "any":
        weights = weights / weights.mean()  # only their ratios count
    tree = C45Tree(None, min_weight=2.5, smoothing=0.0, random_state=0)
    tree = tree.fit(X, y, None if weighted == "no" else weights).tree_.tree_
    path = tree.decision_path(X).toarray().astype(bool)
    for node in range(tree.node_count):
        here = path[:, node]
        y_here, w_here = y[here], weights[here]
        assert tree.weighted_n_node_samples[node] == pytest.approx(w_here.sum())
        expected = np.bincount(y_here, w_here, minlength=4)[np.unique(y)] / w_here.sum()
        assert tree.value[node, 0] == pytest.approx(expected)
        found = best_gain(X[here], y_here, w_here, 2.5)
        if tree.children_left[node] < 0:
            assert len(np.unique(y_here)) == 1 or found == -np.inf
            continue
        left = X[here, tree.feature[node]] <= tree.threshold[node]
        sides = (entropy(y_here[side], w_here[side]) for side in (left, ~left))
        assert entropy(y_here, w_here) - sum(sides) == pytest.approx(found, abs=1e-9)


def test_without_pruning_it_is_scikit_learns_tree_where_no_two_cuts_are_equally_good():
    X, y = noise()
    plain = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=30, random_state=0)
    tree = C45Tree(None, min_weight=30, smoothing=0.0, random_state=0).fit(X, y)
    assert np.array_equal(tree.predict_proba(X), plain.fit(X, y).predict_proba(X))
    assert np.array_equal(*(np.sort(each.tree_.threshold) for each in (tree.tree_, plain)))


def test_equally_good_cuts_are_drawn_from():
    X = np.tile(np.repeat([0.0, 1.0], 4)[:, None], 3)
    drawn = {
        int(C45Tree(random_state=seed).fit(X, np.repeat([0, 1], 4)).tree_.tree_.feature[0])
        for seed in range(20)
    }
    assert drawn == {0, 1, 2}


def test_a_lower_confidence_prunes_more():
    X, y = noise()
    leaves = []
    for confidence in (None, 0.5, 0.25, 0.01):
        found = C45Tree(confidence, smoothing=0.0, random_state=0).fit(X, y).tree_.apply(X)
        leaves.append(len(np.unique(found)))
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[-1] < leaves[0]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_smoothing_up_to_one_changes_no_decision_between_two_classes(seed):
    X, y = noise(40, seed)
    plain, smooth = (C45Tree(smoothing=s, random_state=0).fit(X, y) for s in (0.0, 1.0))
    decided = plain.predict_proba(X)[:, 1] != 0.5
    assert np.array_equal(plain.predict(X)[decided], smooth.predict(X)[decided])


def test_a_weight_is_a_number_of_copies():
    X, y = noise(60)
    weights = np.arange(60) % 3
    copies = np.repeat(np.arange(60), weights)
    weighted = C45Tree(random_state=0).fit(X, y, weights)
    repeated = C45Tree(random_state=0).fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


def test_fewer_rows_than_two_leaves_need_are_one_leaf():
    tree = C45Tree(random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    np.testing.assert_allclose(tree.predict_proba([[0.0], [9.0]])[:, 1], 2 / 3)


def test_sparse_rows_are_dense_rows():
    X, y = noise()
    X = np.where(X > 0.5, X, 0.0)
    dense = C45Tree(random_state=0).fit(X, y).predict_proba(X)
    compressed = C45Tree(random_state=0).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(compressed.predict_proba(sparse.csr_array(X)), dense)


@pytest.mark.parametrize("weighted", ["no", "whole", "any"])
@pytest.mark.parametrize("by_ratio", [False, True])
@pytest.mark.parametrize("mdl", [False, True])
def test_trees_of_zeros_and_ones_are_those_of_the_kernel_for_numbers(weighted, by_ratio, mdl):
    rng = np.random.default_rng(4)
    X = (rng.random((150, 30)) < rng.random(30) ** 2).astype(np.float32)
    X[:, 7], X[:, 9] = 0.0, 1.0
    y = ((X[:, :6].sum(axis=1) + rng.integers(0, 2, 150)) % 4).astype(np.uint32)
    weights = {
        "no": np.ones(150, dtype=np.int64),
        "whole": rng.integers(1, 4, 150),
        "any": 0.5 + rng.random(150),
    }[weighted]
    logs = np.zeros(0)
    if weighted != "any":
        logs = np.arange(weights.sum() + 1, dtype=float)
        logs[1:] *= np.log(logs[1:])
    columns = SortedRows.of(X).columns
    settings = (y, weights, logs, 4, 1.9, 0, mdl, by_ratio)
    found = grow_flag_tree(columns, *settings)
    copied = SortedColumns(columns.starts, columns.rows.copy(), columns.values.copy())
    expected = grow_entropy_tree(copied, *settings)
    assert len(found.left) > 20
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_many_classes_of_zeros_and_ones_are_not_summed_in_one_table():
    columns = SortedRows.of(np.eye(3000, dtype=np.float32)).columns
    assert has_flags_only(columns, 1000)
    assert not has_flags_only(columns, 2000)
    assert not has_flags_only(SortedRows.of(np.array([[1.0, 2.0]])).columns, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"confidence": 0.6}, "confidence=0.6: expected a number above 0"),
        ({"min_weight": -1}, "min_weight=-1: expected a number of at least 0"),
        ({"smoothing": "much"}, "smoothing='much': expected a number of at least 0"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(PalmetteError, match=message):
        C45Tree(**parameters).fit([[0.0], [1.0]], [0, 1])
