"""Laws of the loop: seeds and rows of rounds, stopping, going on as if never having stopped."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.boosting import boosted
from tests.spaces import seeds
from tests.strategies import quick

from palmette.boosting import _boost as module
from palmette.boosting._boost import (
    BundledLearner,
    BundledObjective,
    RowChoice,
    boost,
    scores_of,
    seed_of,
    staged_scores,
)
from palmette.boosting._class_trees import StumpPerClass, TreePerClass
from palmette.boosting._hypotheses import Samples
from palmette.boosting._objectives import (
    AdaBoostWeights,
    ColouringWeights,
    GradientObjective,
    LeafSoftmax,
    Logistic,
)
from palmette.boosting._weak import SharedTree, TrainingRows

N, M = 80, 4


def training_rows(seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 12, size=(N, 5)).astype(np.uint8)
    return TrainingRows(codes, np.full(5, 12), np.ones(N, dtype=np.float32), codes.astype(float))


def labels(seed=0):
    codes = training_rows(seed).codes.astype(int)
    return ((codes[:, 0] > 5) + 2 * (codes[:, 1] > 5)).astype(np.int32)


def positives():
    flags = np.eye(M, dtype=bool)[labels()]
    flags[:, 0] |= labels() == 3
    return sparse.csr_array(flags)


def ada(**options):
    return AdaBoostWeights(positives(), np.ones(N), np.array([4.0, 2, 1, 1]), **options)


def gradient(loss):
    return GradientObjective(loss, np.ones(N), 0.3)


CASES = {
    "stumps": (ada, StumpPerClass()),
    "stumps on some features": (ada, StumpPerClass(2, votes="sign")),
    "confident trees": (lambda: ada(votes="confidence"), TreePerClass(3, votes="confidence")),
    "trees, per class": (lambda: ada(coefficient="per_class"), TreePerClass(2, max_features=3)),
    "shared trees": (lambda: ada(votes="confidence"), SharedTree(3)),
    "shared trees, sign, per class": (
        lambda: ada(coefficient="per_class"),
        SharedTree(2, votes="sign", thresholds="best"),
    ),
    "colourings": (lambda: ColouringWeights(labels(), np.ones(N), M), TreePerClass(2)),
    "colourings, shared": (lambda: ColouringWeights(labels(), np.ones(N), M), SharedTree(2)),
    "softmax": (lambda: gradient(LeafSoftmax(labels(), np.ones(N), M)), SharedTree(3)),
    "logistic": (lambda: gradient(Logistic(positives(), np.ones(N))), SharedTree(3)),
    "bundle": (
        lambda: BundledObjective([CASES["logistic"][0](), CASES["shared trees"][0]()]),
        BundledLearner([SharedTree(2), SharedTree(3, thresholds="best")]),
    ),
}


def run(case, n_rounds, done=(), choice=None):
    make, learner = CASES[case]
    objective = make()
    coming = boost(objective, learner, training_rows(), 7, list(done), choice)
    return objective, [next(coming) for _ in range(n_rounds)]


def bits(rounds):
    return {name: array.tobytes() for name, array in boosted.arrays_of("rounds", rounds).items()}


# ---------------------------------------------------------------------- going on


@pytest.mark.parametrize("choice", [None, RowChoice(0.6), RowChoice(0.9, 0.1)], ids=repr)
@pytest.mark.parametrize("case", CASES)
def test_going_on_is_as_never_having_stopped(case, choice):
    _, whole = run(case, 6, choice=choice)
    found = [each.hypothesis for each in whole]
    for stop in (1, 4):
        _, rest = run(case, 6 - stop, found[:stop], choice)
        assert bits([each.hypothesis for each in rest]) == bits(found[stop:])
        assert [each.loss for each in rest] == [each.loss for each in whole[stop:]]
        edges = [each.edge for each in rest]
        np.testing.assert_array_equal(edges, [each.edge for each in whole[stop:]])


@pytest.mark.parametrize("case", CASES)
def test_losses_fall(case):
    _, rounds = run(case, 10)
    losses = [each.loss for each in rounds]
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.parametrize("case", CASES)
def test_scores_of_rows_are_those_that_training_moved_by(case):
    """The loss that the objective reports is that of the scores that prediction finds."""
    objective, rounds = run(case, 5)
    rows = training_rows()
    found = [each.hypothesis for each in rounds]
    scores = scores_of(Samples(rows.codes, rows.X), found, objective.start)
    objective.gradients(0)
    assert objective.loss == pytest.approx(loss_of(case, scores), rel=1e-5)


def loss_of(case, scores):
    truth = positives().toarray()
    if case == "softmax":
        own = scores[np.arange(N), labels()]
        return (np.log(np.exp(scores).sum(axis=1)) - own).mean()
    if case.startswith("colourings"):
        own = scores[np.arange(N), labels()]
        return ((np.exp(0.5 * (scores - own[:, None])).sum(axis=1) - 1) / (M - 1)).mean()
    if case == "logistic":
        return np.log1p(np.exp(np.where(truth, -scores, scores))).sum(axis=1).mean()
    if case == "bundle":
        parts = np.hsplit(scores, 2)
        return (loss_of("logistic", parts[0]) + loss_of("stumps", parts[1])) / 2
    costs = np.array([4.0, 2, 1, 1]) / 8
    return (np.exp(np.where(truth, -scores, scores)) @ costs).mean()


# ---------------------------------------------------------------------- the loop itself


class Spy:
    """An objective and a learner that write down what they are asked."""

    start = np.zeros(2, dtype=np.float32)
    edge = 0.5

    def __init__(self, n_rounds):
        self.n_rounds, self.log, self.loss = n_rounds, [], 10.0

    def gradients(self, turn_seed):
        self.log.append(("gradients", turn_seed))
        self.loss -= 1.0
        return np.ones((N, 2), dtype=np.float32)

    def grow(self, rows, signed, chosen, seed):
        self.log.append(("grow", seed, None if chosen is None else len(chosen)))
        return "grown"

    def take(self, grown):
        assert grown == "grown"
        self.n_rounds -= 1
        return None if self.n_rounds < 0 else f"hypothesis {self.n_rounds}"

    def replay(self, hypothesis, samples):
        self.log.append(("replay", hypothesis, len(samples.codes)))


def test_a_round_is_gradients_then_growing_then_taking_until_there_is_no_edge():
    spy = Spy(3)
    rounds = list(boost(spy, spy, training_rows(), 5, choose_rows=RowChoice(0.5)))
    assert [each.hypothesis for each in rounds] == [f"hypothesis {t}" for t in (2, 1, 0)]
    assert [each.loss for each in rounds] == [9.0, 8.0, 7.0]
    assert [each.edge for each in rounds] == [0.5] * 3
    expected = []
    for turn in range(4):
        expected += [("gradients", seed_of(5, turn)), ("grow", seed_of(5, turn), N // 2)]
    assert spy.log == expected


def test_rounds_done_before_are_replayed_in_order_and_counted():
    spy = Spy(1)
    next(boost(spy, spy, training_rows(), 5, ["one", "two"]))
    assert spy.log[:2] == [("replay", "one", N), ("replay", "two", N)]
    assert spy.log[2:] == [("gradients", seed_of(5, 2)), ("grow", seed_of(5, 2), None)]


def test_nothing_is_computed_before_a_round_is_asked_for():
    spy = Spy(1)
    boost(spy, spy, training_rows(), 5, ["one"])
    assert spy.log == []


@quick
@given(seed=st.integers(0, 2**31 - 1), turn=st.integers(0, 10_000))
def test_seeds_of_rounds_are_numbers_of_63_bits_that_all_differ(seed, turn):
    here = seed_of(seed, turn)
    assert 0 <= here < 2**63
    assert here == seed_of(seed, turn)
    assert here not in {seed_of(seed, turn + 1), seed_of(seed + 1, turn)}


# ---------------------------------------------------------------------- rows of a round


def test_all_rows_are_none_to_choose():
    assert RowChoice()(np.ones((9, 2)), 0) is None


@quick
@given(n=st.integers(1, 60), share=st.floats(0.01, 0.99), seed=seeds)
def test_a_share_of_the_rows_is_drawn_anew_every_round(n, share, seed):
    signed = np.ones((n, 2))
    chosen = RowChoice(share)(signed, seed)
    assert chosen.dtype == np.int32
    assert len(chosen) == max(1, round(share * n))
    assert (np.diff(chosen) > 0).all()
    assert chosen[0] >= 0
    assert chosen[-1] < n
    assert np.array_equal(chosen, RowChoice(share)(signed, seed))


def test_rounds_draw_different_rows():
    signed = np.ones((100, 1))
    counts = np.zeros(100)
    for seed in range(400):
        counts[RowChoice(0.3)(signed, seed)] += 1
    # each row 120 times, give or take 9.2
    assert (np.abs(counts - 120) < 45).all()


@quick
@given(n=st.integers(1, 40), trim=st.floats(0.01, 0.9), seed=seeds)
def test_the_lightest_rows_are_left_out_as_far_as_their_weight_allows(n, trim, seed):
    signed = np.random.default_rng(seed).normal(size=(n, 3)) ** 3
    weights = np.abs(signed).sum(axis=1)
    kept = RowChoice(weight_trim=trim)(signed, seed)
    assert (np.diff(kept) > 0).all()
    left = np.setdiff1d(np.arange(n), kept)
    allowed = trim * weights.sum()
    assert weights[left].sum() <= allowed * (1 + 1e-9)
    assert weights[left].max(initial=0.0) <= weights[kept].min()
    assert weights[left].sum() + weights[kept].min() > allowed * (1 - 1e-9)


def test_weights_are_trimmed_among_the_rows_drawn():
    signed = np.arange(1.0, 101.0)[:, None]
    drawn = RowChoice(0.4)(signed, 3)
    both = RowChoice(0.4, 0.3)(signed, 3)
    assert set(both) < set(drawn)
    assert both.tolist() == drawn[-len(both) :].tolist()


def test_blocks_side_by_side_are_one_array():
    blocks = [np.random.default_rng(i).normal(size=(30, 2)) for i in range(3)]
    for choice in (RowChoice(0.5), RowChoice(weight_trim=0.2), RowChoice(0.5, 0.2)):
        assert np.array_equal(choice(blocks, 1), choice(np.hstack(blocks), 1))


# ---------------------------------------------------------------------- scores


@pytest.mark.parametrize(
    ("make", "n_columns"), [(boosted.class_trees, 4), (boosted.shared_tree, 4), (boosted.bundle, 9)]
)
def test_stages_end_at_the_scores_of_all_rounds(make, n_columns, monkeypatch):
    rounds, rows = [make(seed) for seed in range(6)], boosted.samples()
    start = np.arange(n_columns, dtype=np.float32)
    stages = [stage.copy() for stage in staged_scores(rows, rounds, start)]
    assert len(stages) == 6
    for n_rounds, stage in enumerate(stages, start=1):
        assert np.array_equal(stage, scores_of(rows, rounds[:n_rounds], start))
    few_at_once = lambda n, size, at_once: [slice(i, i + 2) for i in range(0, n, 2)]  # noqa: E731
    monkeypatch.setattr(module, "row_chunks", few_at_once)
    assert np.array_equal(stages[-1], scores_of(rows, rounds, start))


def test_without_rounds_scores_are_where_they_start():
    start = np.array([1.5, -2.0], dtype=np.float32)
    assert scores_of(boosted.samples(3), [], start).tolist() == [[1.5, -2.0]] * 3
    assert list(staged_scores(boosted.samples(3), [], start)) == []
