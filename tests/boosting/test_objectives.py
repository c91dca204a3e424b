"""Laws of objectives: what the weights are, what votes do to them, where it ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.strategies import quick

from palmette import AdaBoostECCClassifier
from palmette.boosting import _objectives as adaboost
from palmette.boosting._class_trees import StumpPerClass
from palmette.boosting._hypotheses import Samples
from palmette.boosting._objectives import (
    AdaBoostWeights,
    ColouringWeights,
    GradientObjective,
    LeafSoftmax,
    Logistic,
    PathSoftmax,
    coefficient_of,
    working_dtype,
)
from palmette.boosting._weak import GrownColumns, GrownTree, SharedTree, TrainingRows
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace

N, M = 60, 3
COSTS = np.array([3.0, 2.0, 1.0])


def rows(seed=0):
    codes = np.random.default_rng(seed).integers(0, 9, size=(N, 4)).astype(np.uint8)
    return TrainingRows(codes, np.full(4, 9), np.ones(N, dtype=np.float32))


def truth(seed=0):
    rng = np.random.default_rng(seed)
    codes = rows(seed).codes
    return np.where((codes[:, :M] > 4) ^ (rng.random((N, M)) < 0.15), 1.0, -1.0)


def ada(**options):
    return AdaBoostWeights(sparse.csr_array(truth() > 0), np.ones(N), COSTS, **options)


def two_leaves(leaf):
    """A tree of one split, whatever that is, that puts training rows into given leaves."""
    heap = np.array([-1, 0, -1, -1], dtype=np.int32)
    at = np.array([-1, -1, 0, 1], dtype=np.int32)
    return GrownTree(heap, np.zeros(4, np.uint8), at, np.asarray(leaf, dtype=np.int32), 2)


# ---------------------------------------------------------------------- AdaBoost


def test_weights_begin_as_products_of_those_of_rows_and_columns():
    row_weights = np.arange(1.0, N + 1)
    objective = AdaBoostWeights(sparse.csr_array(truth() > 0), row_weights, COSTS)
    expected = truth() * np.outer(row_weights / row_weights.sum(), COSTS / 6)
    np.testing.assert_allclose(objective.signed, expected, rtol=1e-12)
    assert objective.loss == pytest.approx(1.0)
    assert objective.start.tolist() == [0.0] * M


def test_learners_of_single_columns_are_shown_the_weights_themselves():
    assert (objective := ada(by_column=True)).gradients(0) is objective.signed


@pytest.mark.parametrize("coefficient", ["global", "per_class"])
def test_others_are_shown_a_distribution(coefficient):
    objective = ada(coefficient=coefficient)
    for turn in range(5):
        shown = objective.gradients(0)
        by_column = np.abs(shown).sum(axis=0)
        assert by_column.sum() == pytest.approx(1.0)
        if coefficient == "per_class":
            np.testing.assert_allclose(by_column, COSTS / 6)
        assert objective.take(StumpPerClass().grow(rows(), shown, None, turn))


@pytest.mark.parametrize("coefficient", ["global", "per_class"])
@pytest.mark.parametrize("learner", [StumpPerClass(), SharedTree(2)], ids=repr)
def test_scaling_in_between_changes_nothing(learner, coefficient, monkeypatch):
    """Weights shrink as they are learned, and are scaled up now and then: here every round."""
    found = []
    for limit in (0.0, np.inf):
        monkeypatch.setattr(adaboost, "_SMALL_MASS", limit)
        objective = ada(coefficient=coefficient, votes=learner.votes)
        told = []
        for turn in range(20):
            hypothesis = objective.take(learner.grow(rows(), objective.gradients(0), None, turn))
            told.append([objective.loss, objective.edge, *hypothesis.table().ravel()])
        found.append(told)
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def test_weights_stay_numbers_when_all_is_learnt_and_rounds_go_on():
    codes = np.repeat(np.arange(3), 20)[:, None].astype(np.uint8)
    separable = sparse.csr_array(np.repeat(np.eye(3, dtype=bool), 20, axis=0))
    data = TrainingRows(codes, np.full(1, 3), np.ones(60, dtype=np.float32))
    for coefficient in ("global", "per_class"):
        objective = AdaBoostWeights(separable, np.ones(60), np.ones(3), coefficient=coefficient)
        for _ in range(500):
            hypothesis = objective.take(StumpPerClass().grow(data, objective.gradients(0), None, 0))
            assert np.isfinite(hypothesis.table()).all()
        assert np.isfinite(objective.signed).all()
        assert 0.0 <= objective.loss < 1e-9
        assert 0.0 < objective.edge <= 1.0


@pytest.mark.parametrize("coefficient", ["global", "per_class"])
@pytest.mark.parametrize("learner", [StumpPerClass(), SharedTree(2)], ids=repr)
def test_replaying_moves_weights_as_taking_did(learner, coefficient):
    first, again = (ada(coefficient=coefficient, votes=learner.votes) for _ in range(2))
    for turn in range(4):
        hypothesis = first.take(learner.grow(rows(), first.gradients(0), None, turn))
        again.replay(hypothesis, Samples(rows().codes))
    assert first.signed.tobytes() == again.signed.tobytes()
    assert first.loss == again.loss


def test_a_vote_by_sign_worked_by_hand():
    """Four rows, one column; the leaf of the first two is pure, that of the others half."""
    objective = AdaBoostWeights(
        sparse.csr_array(np.array([[True], [True], [False], [True]])), np.ones(4), np.ones(1)
    )
    tree = objective.take(two_leaves([0, 0, 1, 1]))
    # a draw is voted down: edge (2 + 0) / 4, alpha 1/2 ln(1.75 / 0.75)
    alpha = 0.5 * np.log(1.75 / 0.75)
    assert objective.edge == pytest.approx(0.5)
    np.testing.assert_allclose(tree.values[:, 0], [alpha, -alpha], rtol=1e-6)
    assert tree.cover.tolist() == [2.0, 2.0]
    expected = np.array([1, 1, -1, 1]) * np.exp(-alpha * np.array([1, 1, 1, -1])) / 4
    np.testing.assert_allclose(objective.signed[:, 0], expected, rtol=1e-6)
    assert objective.loss == pytest.approx(np.abs(expected).sum(), rel=1e-6)


def test_a_vote_by_confidence_worked_by_hand():
    flags = sparse.csr_array(np.array([[True], [True], [False], [True]]))
    objective = AdaBoostWeights(
        flags, np.ones(4), np.ones(1), votes="confidence", learning_rate=0.5
    )
    tree = objective.take(two_leaves([0, 0, 1, 1]))
    # as if each leaf held some more average rows of either sign
    more = adaboost._PRIOR_PAIRS
    np.testing.assert_allclose(
        tree.values[:, 0], [0.25 * np.log((2 + more) / more), 0.0], rtol=1e-6
    )
    assert objective.edge == pytest.approx(0.5)


def test_columns_without_an_edge_get_no_coefficient_of_their_own():
    """The first column is told apart, the second is not: half of it is true in either leaf."""
    flags = sparse.csr_array(np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool))
    objective = AdaBoostWeights(flags, np.ones(4), np.ones(2), coefficient="per_class")
    tree = objective.take(two_leaves([0, 0, 1, 1]))
    alpha = 0.5 * np.log(2.125 / 0.125)
    np.testing.assert_allclose(tree.values, [[alpha, 0.0], [-alpha, 0.0]], rtol=1e-6)
    assert objective.edge == pytest.approx(0.5)


@pytest.mark.parametrize("coefficient", ["global", "per_class"])
@pytest.mark.parametrize("votes", ["sign", "confidence"])
def test_a_hypothesis_without_an_edge_is_not_taken(votes, coefficient):
    flags = sparse.csr_array(np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool))
    options = {"votes": votes, "coefficient": coefficient}
    objective = AdaBoostWeights(flags, np.ones(4), np.ones(2), **options)
    before = objective.signed.copy()
    assert objective.take(two_leaves([0, 1, 1, 0])) is None
    assert objective.edge == pytest.approx(0.0)
    assert np.array_equal(objective.signed, before)


def test_where_no_edge_is_needed_it_is_taken_with_votes_of_nothing():
    flags = sparse.csr_array(np.array([[1], [0]], dtype=bool))
    objective = AdaBoostWeights(flags, np.ones(2), np.ones(1), votes="confidence", needs_edge=False)
    assert objective.take(two_leaves([0, 0])).values.tolist() == [[0.0], [0.0]]


def test_coefficients_worked_by_hand():
    assert coefficient_of(0.0, 0.1) == 0.0
    assert coefficient_of(0.5, 0.0) == pytest.approx(0.5 * np.log(3))
    assert coefficient_of(1.0, 0.01) == pytest.approx(0.5 * np.log(201))
    edges = np.linspace(-1, 1, 9)
    np.testing.assert_allclose(coefficient_of(edges, 0.1), -coefficient_of(-edges, 0.1))
    assert (np.diff(coefficient_of(edges, 0.1)) > 0).all()


@quick
@given(seed=st.integers(0, 99))
def test_half_log_odds_of_the_edge_minimize_what_is_left(seed):
    """No other coefficient leaves less exponential loss (eq. 8 is the minimum of eq. 11)."""
    rng = np.random.default_rng(seed)
    agrees = np.where(rng.random(40) < 0.7, 1.0, -1.0)
    w = rng.random(40)
    w /= w.sum()
    best = coefficient_of((w * agrees).sum(), 0.0)
    left = lambda a: (w * np.exp(-a * agrees)).sum()  # noqa: E731
    assert left(best) <= min(left(best + 0.01), left(best - 0.01))


def test_a_masked_hypothesis_says_minus_one_where_it_is_masked():
    """Place 0 is worth minus the coefficient, like any other place of sign -1."""
    flags = sparse.csr_array(np.array([[1], [0], [0]], dtype=bool))
    objective = AdaBoostWeights(flags, np.ones(3), np.ones(1))
    signs = np.array([[-1, 0, -1, 1]], dtype=np.int8)
    heap = np.array([[-1, 0, -1, -1]], dtype=np.int32), np.zeros((1, 4), dtype=np.uint8)
    grown = GrownColumns(heap, signs, np.array([[3], [2], [0]], dtype=np.uint8), None)
    hypothesis = objective.take(grown)
    alpha = coefficient_of(1.0, 1 / 3)
    np.testing.assert_allclose(hypothesis.values, [[-alpha, 0, -alpha, alpha]])
    np.testing.assert_allclose(hypothesis.cover, [[1 / 3, 0, 1 / 3, 1 / 3]], rtol=1e-6)


# ---------------------------------------------------------------------- colourings


def colouring(n_labels=5, seed=0):
    targets = np.random.default_rng(seed).integers(0, n_labels, N).astype(np.int32)
    return targets, ColouringWeights(targets, np.ones(N), n_labels)


@pytest.mark.parametrize("n_labels", [2, 3, 5, 8])
def test_half_of_the_labels_have_each_colour(n_labels):
    _, objective = colouring(n_labels)
    codes = set()
    for seed in range(60):
        objective.gradients(seed)
        codes.add(tuple(objective._code.tolist()))
        assert sum(objective._code) in (0, 1)
    assert len(codes) > 1


def test_rows_count_as_much_as_labels_of_the_other_colour():
    targets, objective = colouring()
    signed = objective.gradients(4)
    assert signed.shape == (N, 1)
    assert np.abs(signed).sum() == pytest.approx(1.0, rel=1e-6)
    code = objective._code
    assert np.array_equal(np.sign(signed[:, 0]), code[targets])
    others = np.array([(code != code[target]).sum() for target in targets])
    np.testing.assert_allclose(np.abs(signed[:, 0]), others / others.sum(), rtol=1e-6)


def test_confusions_are_exponentials_of_differences_of_scores():
    targets, objective = colouring()
    scores, data = np.zeros((N, 5)), rows()
    for turn in range(6):
        hypothesis = objective.take(
            StumpPerClass().grow(data, objective.gradients(turn), None, turn)
        )
        hypothesis.add_scores(Samples(data.codes), scores)
    behind = np.exp(0.5 * (scores - scores[np.arange(N), targets][:, None]))
    behind[np.arange(N), targets] = 0.0
    assert objective.loss == pytest.approx(behind.sum() / N / 4)
    np.testing.assert_allclose(objective.confusions, behind / behind.sum(), rtol=1e-9)


def test_labels_told_apart_beyond_all_numbers_do_no_harm():
    """Labels 0 and 1 cannot be told apart; 2 can, until its confusions underflow."""
    codes = np.repeat([0, 1], [40, 20])[:, None].astype(np.uint8)
    targets = np.r_[np.arange(40) % 4 == 0, np.full(20, 2)].astype(np.int32)
    data = TrainingRows(codes, np.full(1, 2), np.ones(60, dtype=np.float32))
    objective = ColouringWeights(targets, np.ones(60), 3)
    apart = 0
    while objective.gradients(apart) is not None and objective._code[0] != objective._code[1]:
        apart += 1  # a seed that colours 0 and 1 alike
    for _ in range(700):
        hypothesis = objective.take(StumpPerClass().grow(data, objective.gradients(apart), None, 0))
        assert np.isfinite(hypothesis.table()).all()
    wrong = objective.confusions[40:]
    assert np.isfinite(objective.confusions).all()
    assert wrong.max() < 1e-300


def test_a_fit_ends_after_eight_colourings_in_turn_that_cannot_be_told():
    objective = ColouringWeights(np.array([0, 1], dtype=np.int32), np.ones(2), 2)
    for turn in range(8):  # the next one may have an edge
        objective.gradients(turn)
        assert not objective.take(two_leaves([0, 0])).table().any()
        assert objective.edge == 0.0
    objective.gradients(8)
    assert objective.take(two_leaves([0, 0])) is None


def test_a_first_colouring_without_an_edge_does_not_end_a_fit():
    y = np.repeat(["a", "b", "c"], [6, 10, 8])  # "a" and "b" together are twice "c"
    for seed in range(6):
        clf = AdaBoostECCClassifier(n_estimators=20, random_state=seed).fit(np.ones((24, 2)), y)
        np.testing.assert_allclose(
            clf.predict_proba([[1.0, 1.0]]), [[6, 10, 8]] / np.array(24), atol=0.02
        )


# ---------------------------------------------------------------------- gradients


def test_a_newton_step_worked_by_hand():
    """Two labels at equal shares: p = 1/2, gradients +-1/2, curvatures 1/4."""
    targets = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    loss = LeafSoftmax(targets, np.ones(6), 2)
    objective = GradientObjective(loss, np.ones(6), learning_rate=0.1)
    gradients = objective.gradients(0)
    np.testing.assert_allclose(gradients, np.where(np.eye(2)[targets] == 1, 0.5, -0.5), atol=1e-6)
    assert objective.loss == pytest.approx(np.log(2))
    tree = objective.take(two_leaves([0, 0, 1, 1, 1, 1]))
    # leaf 0: 1 / (1/2 + 1) = 2/3; leaf 1: (1/2 - 3/2) / (1 + 1) = -1/2
    np.testing.assert_allclose(
        tree.values, 0.1 * np.array([[2 / 3, -2 / 3], [-0.5, 0.5]]), rtol=1e-6
    )
    objective.gradients(0)
    scores = tree.values[[0, 0, 1, 1, 1, 1]].astype(float)
    own = scores[np.arange(6), targets]
    assert objective.loss == pytest.approx((np.log(np.exp(scores).sum(axis=1)) - own).mean())


def test_steps_are_bounded():
    targets = np.zeros(50, dtype=np.int32)
    targets[0] = 1
    loss = LeafSoftmax(targets, np.ones(50), 2)
    free, bounded = (GradientObjective(loss, np.ones(50), 1.0, max_step=b) for b in (4.0, 0.2))
    leaf = np.zeros(50, dtype=np.int32)
    leaf[:2] = 1
    steps = []
    for objective in (free, bounded):
        objective.gradients(0)
        steps.append(objective.take(two_leaves(leaf)).values)
    assert np.abs(steps[0]).max() > 0.2
    np.testing.assert_allclose(steps[1], np.clip(steps[0], -0.2, 0.2), rtol=1e-6)


def test_weights_are_copies_in_gradients():
    rng = np.random.default_rng(0)
    copies = rng.integers(1, 4, N)
    flags = sparse.csr_array(truth() > 0)
    again = np.repeat(np.arange(N), copies)
    one = GradientObjective(Logistic(flags, copies.astype(float)), copies.astype(float), 0.3)
    other = GradientObjective(Logistic(flags[again], np.ones(len(again))), np.ones(len(again)), 0.3)
    leaf = rng.integers(0, 2, N)
    for _ in range(3):
        for objective in (one, other):
            objective.gradients(0)
        assert one.loss == pytest.approx(other.loss)
        trees = one.take(two_leaves(leaf)), other.take(two_leaves(leaf[again]))
        np.testing.assert_allclose(trees[0].values, trees[1].values, rtol=1e-5)
        np.testing.assert_allclose(trees[0].cover, trees[1].cover)


# ---------------------------------------------------------------------- losses


def test_losses_start_where_no_feature_is_known():
    targets = np.array([0, 0, 0, 1], dtype=np.int32)
    np.testing.assert_allclose(
        LeafSoftmax(targets, np.ones(4), 2).start(), np.log([0.75, 0.25]), rtol=1e-6
    )
    weights = np.array([1.0, 1, 1, 9])
    np.testing.assert_allclose(
        LeafSoftmax(targets, weights, 2).start(), np.log([0.25, 0.75]), rtol=1e-6
    )
    flags = sparse.csr_array(np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0]], dtype=bool))
    start = Logistic(flags, weights).start()
    np.testing.assert_allclose(start[1], np.log(1 / 11), rtol=1e-6)
    # always true and never true begin far off, but not at infinity
    np.testing.assert_allclose(start[[0, 2]], [np.log(9999), -np.log(9999)], rtol=1e-3)


@pytest.mark.parametrize("kind", ["leaf", "logistic"])
def test_at_the_start_gradients_of_every_column_cancel(kind):
    rng = np.random.default_rng(1)
    weights = rng.random(N) + 0.5
    if kind == "leaf":
        loss = LeafSoftmax(rng.integers(0, 4, N).astype(np.int32), weights, 4)
    else:
        loss = Logistic(sparse.csr_array(rng.random((N, 4)) < 0.4), weights)
    out = np.empty((N, 4))
    loss.gradients(np.tile(loss.start().astype(np.float64), (N, 1)), out)
    np.testing.assert_allclose(out.sum(axis=0), 0.0, atol=1e-4)


def test_paths_may_end_at_inner_labels():
    h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    space = LabelSpace(h, h.index([("a",), ("a", "x"), ("b",)]))
    loss = PathSoftmax(np.array([0, 1, 2], dtype=np.int32), np.ones(3), space)
    assert loss.n_columns == 3  # a, a/x, b: nobody is at a/y
    assert loss.start().tolist() == [0, 0, 0]
    out = np.empty((3, 3))
    assert loss.gradients(np.zeros((3, 3)), out) == pytest.approx(3 * np.log(3))
    third = 1 / 3
    np.testing.assert_allclose(
        out,
        [[third, -third, -third], [third, 1 - third, -third], [-2 * third, -third, 1 - third]],
        atol=1e-6,
    )


def test_small_arrays_are_kept_precisely_large_ones_in_half_the_room():
    assert working_dtype(2**16) is np.float64
    assert working_dtype(2**16 + 1) is np.float32
    for n_columns, dtype in [(3, np.float64), (1200, np.float32)]:
        flags = sparse.csr_array(np.eye(60, n_columns, dtype=bool))
        assert AdaBoostWeights(flags, np.ones(60), np.ones(n_columns)).gradients(0).dtype == dtype
        assert (
            GradientObjective(Logistic(flags, np.ones(60)), np.ones(60), 0.1).gradients(0).dtype
            == dtype
        )
