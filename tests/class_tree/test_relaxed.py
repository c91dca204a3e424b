from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from palmette.base._grow import grow_class_tree
from palmette.class_tree._relaxed import RelaxedTree, _least_confused, colour_classes
from palmette.exceptions import PalmetteError
from palmette.partition import ClassProblem, RelaxedPartition

costs = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda pair: (pair[0] / 8, pair[1] / 8)),
    min_size=3,
    max_size=7,
)


def problem(X, codes, **kwargs):
    codes = np.asarray(codes, dtype=np.int32)
    return ClassProblem(X, codes, int(codes.max()) + 1, **kwargs)


def noise(n_classes, rows=4, n_features=3, seed=0, apart=0.5):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_classes), rows)
    means = apart * rng.normal(size=(n_classes, n_features))
    return problem(rng.normal(size=(len(codes), n_features)) + means[codes], codes)


def root(partition, here):
    return partition.split(partition.begin(here), np.arange(here.n_classes, dtype=np.int32), 0)


def leaf_copies(tree):
    inner = set(tree.parents)
    return sum(len(group) for i, group in enumerate(tree.groups) if i not in inner)


# ---------------------------------------------------------------------- colours


@given(costs, st.floats(0, 1), st.integers(0, 5), st.integers(0, 5))
def test_colours_keep_their_limits(pairs, rho, n_uncoloured, imbalance):
    positive, negative = np.array(pairs).T
    colours, cost = colour_classes(positive, negative, rho, n_uncoloured, imbalance)
    n_coloured = np.count_nonzero(colours)
    assert set(colours.tolist()) >= {-1, 1}
    assert len(colours) - n_coloured <= n_uncoloured
    assert abs(int(colours.sum())) <= max(imbalance, n_coloured % 2)
    assert (np.minimum(positive, negative)[colours == 0] > rho).all()
    chosen = np.where(colours > 0, positive, negative)[colours != 0].sum()
    assert cost == pytest.approx(chosen + rho * np.count_nonzero(colours == 0))


@given(costs, st.integers(0, 5))
def test_two_colours_cost_as_little_as_any(pairs, imbalance):
    positive, negative = np.array(pairs).T
    n = len(positive)
    found, _ = colour_classes(positive, negative, 1.0, 0, imbalance)

    def cost(colours):
        return np.where(np.asarray(colours) > 0, positive, negative).sum()

    allowed = max(min(imbalance, n - 2), n % 2)
    best = min(cost(c) for c in product((-1, 1), repeat=n) if abs(sum(c)) <= allowed)
    assert cost(found) == pytest.approx(best)


def test_the_dearest_classes_go_without_colour():
    positive, negative = np.array([0, 0, 0.8, 0.9, 2, 2]), np.array([2, 2, 0.9, 0.8, 0, 0.0])
    assert colour_classes(positive, negative, 0.5, 1, 2)[0].tolist() == [1, 1, 0, -1, -1, -1]
    assert colour_classes(positive, negative, 0.5, 9, 2)[0].tolist() == [1, 1, 0, 0, -1, -1]
    assert colour_classes(positive, negative, 0.8, 9, 2)[0].tolist() == [1, 1, 1, -1, -1, -1]


# ---------------------------------------------------------------------- sides


def lines():
    """Return two classes on either side, and one that is on both."""
    X = np.repeat([-5.0, -4.0, 4.0, 5.0], 6)[:, None] + 0.01 * np.arange(24)[:, None]
    both = np.tile([-4.5, 4.5], 6)[:, None]
    return problem(np.vstack([X, both]), [*np.repeat(np.arange(4), 6), *[4] * 12])


def test_a_class_on_both_sides_goes_to_both():
    parts = root(RelaxedPartition(), lines())
    assert sorted(part.tolist() for part in parts) == [[0, 1, 4], [2, 3, 4]]


def test_without_copies_sides_are_apart():
    parts = root(RelaxedPartition(max_copies=1.0), lines())
    assert sorted(np.concatenate(parts).tolist()) == [0, 1, 2, 3, 4]


def test_no_class_is_worth_two_copies_where_they_are_dear():
    parts = root(RelaxedPartition(rho=1.0), noise(6, apart=20.0))
    assert sum(map(len, parts)) == 6


def test_the_smaller_rho_the_more_classes_go_to_both_sides():
    here = noise(40, rows=10)
    sizes = [sum(map(len, root(RelaxedPartition(rho=rho), here))) for rho in (0.2, 0.6, 1.0)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 40


def error_between(here, parts):
    """Return the error rate of a linear classifier of the two sides."""
    side = np.isin(here.codes, parts[0])
    return 1.0 - LinearSVC(random_state=0).fit(here.X, side).score(here.X, side)


@pytest.mark.parametrize(("few", "many"), [({"max_iter": 1}, {}), ({"n_starts": 1}, {})])
def test_turns_and_starts_make_sides_easier_to_tell_apart(few, many):
    errors = [0.0, 0.0]
    for seed in range(8):
        here = noise(12, rows=20, n_features=4, apart=1.0, seed=seed)
        for i, more in enumerate((few, many)):
            partition = RelaxedPartition(max_copies=1.0, **more)
            errors[i] += error_between(here, root(partition, here))
    assert errors[1] < errors[0]


def test_any_classifier_with_decision_values():
    parts = root(RelaxedPartition(estimator=LogisticRegression(C=1e3)), lines())
    assert sorted(part.tolist() for part in parts) == [[0, 1, 4], [2, 3, 4]]


def test_sparse_rows():
    here = lines()
    here.X = sparse.csr_array(here.X)
    parts = root(RelaxedPartition(), here)
    assert sorted(part.tolist() for part in parts) == [[0, 1, 4], [2, 3, 4]]


def test_weights_are_copies():
    here = noise(9, rows=5, seed=3)
    times = np.random.default_rng(0).integers(1, 4, size=45)
    weighted = problem(here.X, here.codes, weights=times.astype(float))
    copied = problem(np.repeat(here.X, times, axis=0), np.repeat(here.codes, times))
    first, second = (root(RelaxedPartition(), each) for each in (weighted, copied))
    assert [part.tolist() for part in first] == [part.tolist() for part in second]


# ---------------------------------------------------------------------- growth


@settings(max_examples=8, deadline=None)
@given(
    st.integers(3, 7),
    st.integers(0, 100),
    st.floats(0, 1),
    st.floats(1, 3),
    st.floats(0, 1),
)
def test_growth_is_bounded(n_classes, seed, rho, max_copies, imbalance):
    here = noise(n_classes, seed=seed, rows=3)
    partition = RelaxedPartition(
        rho, max_copies=max_copies, imbalance=imbalance, max_iter=2, estimator=LogisticRegression()
    )
    tree = grow_class_tree(partition, here)
    assert leaf_copies(tree) <= max_copies * n_classes
    for parent, group in zip(tree.parents[1:], tree.groups[1:], strict=True):
        assert len(group) < len(tree.groups[parent])
        assert set(group) < set(tree.groups[parent])
    inner = set(tree.parents)
    leaves = [group for i, group in enumerate(tree.groups) if i not in inner]
    assert set(np.concatenate(leaves)) == set(range(n_classes))


def test_copies_are_spread_over_the_levels():
    here = noise(32, rows=6, apart=0.1)
    tree = grow_class_tree(RelaxedPartition(rho=0.0, max_copies=2.0), here)
    at_the_root = sum(len(g) for p, g in zip(tree.parents, tree.groups, strict=True) if p == 0)
    assert 32 < at_the_root < 48  # a fifth of what may be spent, not all of it
    assert leaf_copies(tree) > at_the_root


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rho": 1.5}, "rho=1.5: expected a number from 0 to 1"),
        ({"imbalance": -1}, "imbalance=-1: expected a number from 0 to 1"),
        ({"max_copies": 0.5}, "max_copies=0.5: expected a number of at least 1"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(PalmetteError, match=message):
        RelaxedPartition(**parameters).begin(lines())


class TestPairs:
    """The starts of the paper: pairs of classes that are hardly confused."""

    def test_the_least_confused_pairs_come_first(self):
        confusion = np.array([[0.0, 0.3, 0.1], [0.3, 0.0, 0.2], [0.1, 0.2, 0.0]])
        found = [each.tolist() for each in _least_confused(confusion, 2)]
        assert found == [[1, 0, -1], [0, 1, -1]]
        assert len(_least_confused(confusion, 9)) == 3

    def test_far_classes_are_parted(self):
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(4), 10)
        X = np.array([0.0, 1.0, 8.0, 9.0])[y][:, None] + rng.normal(0, 0.3, (40, 1))
        tree = RelaxedTree(starts="pairs", n_starts=3, max_copies=1, random_state=0).fit(X, y)
        assert sorted(group.tolist() for group in tree.tree_.groups[1:3]) == [[0, 1], [2, 3]]

    def test_other_starts_are_refused(self):
        with pytest.raises(PalmetteError, match="'eigenvectors' or 'pairs'"):
            RelaxedTree(starts="best").fit([[0.0], [1.0], [2.0]], [0, 1, 2])


class CountedSVC(LinearSVC):
    """Keeps the sides that it was fitted to."""

    fitted: list[tuple[bytes, bytes]] = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.fitted.append((np.asarray(X).tobytes(), np.asarray(y).tobytes()))
        return super().fit(X, y, sample_weight)


def test_no_colours_of_a_node_are_classified_twice():
    here = noise(8, seed=3)
    CountedSVC.fitted.clear()
    counted = RelaxedPartition(estimator=CountedSVC(random_state=0), n_starts=3)
    sides = root(counted, here)
    assert len(set(CountedSVC.fitted)) == len(CountedSVC.fitted) > 1
    plain = root(RelaxedPartition(estimator=LinearSVC(random_state=0), n_starts=3), here)
    assert [side.tolist() for side in sides] == [side.tolist() for side in plain]
