"""Laws of bundles: models side by side that do not know of each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette.base._fitting import Threads
from palmette.boosting._boost import BundledLearner, BundledObjective, RowChoice, boost, scores_of
from palmette.boosting._hypotheses import Samples
from palmette.boosting._objectives import AdaBoostWeights, GradientObjective, LeafSoftmax, Logistic
from palmette.boosting._weak import SharedTree, TrainingRows

N = 50
TARGETS = (np.arange(N) % 3).astype(np.int32)
FLAGS = sparse.csr_array(np.column_stack([TARGETS == 0, TARGETS > 0]))


def rows(n_threads=1):
    rng = np.random.default_rng(0)
    codes = (rng.integers(0, 4, size=(N, 3)) + 3 * TARGETS[:, None]).astype(np.uint8)
    return TrainingRows(codes, np.full(3, 12), np.ones(N, np.float32), threads=Threads(n_threads))


def objectives():
    return [
        GradientObjective(LeafSoftmax(TARGETS, np.ones(N), 3), np.ones(N), 0.3),
        GradientObjective(Logistic(FLAGS, np.ones(N)), np.ones(N), 0.2),
        AdaBoostWeights(FLAGS, np.ones(N), np.ones(2), votes="confidence", needs_edge=False),
    ]


LEARNERS = [SharedTree(2), SharedTree(3), SharedTree(2, thresholds="best")]


class WithSeedOf:
    """A learner that is given the seed that a bundle gives to its member."""

    def __init__(self, learner, member):
        self.learner, self.member = learner, member

    def grow(self, rows, signed, chosen, seed):
        own = np.random.SeedSequence([seed, self.member]).generate_state(1, np.uint64)[0] >> 1
        return self.learner.grow(rows, signed, chosen, int(own))


@pytest.mark.parametrize("choice", [None, RowChoice(0.5)], ids=["all rows", "half of them"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_members_are_what_they_would_be_alone(n_threads, choice):
    data = rows(n_threads)
    with data.threads:
        bundled = BundledObjective(objectives())
        coming = boost(bundled, BundledLearner(LEARNERS), data, 4, choose_rows=choice)
        together = [next(coming) for _ in range(5)]
    found = [each.hypothesis for each in together]
    scores = scores_of(Samples(data.codes), found, bundled.start)
    alone, losses = [], []
    for member, objective in enumerate(objectives()):
        learner = WithSeedOf(LEARNERS[member], member)
        coming = boost(objective, learner, rows(), 4, choose_rows=choice)
        own = [next(coming) for _ in range(5)]
        losses.append([each.loss for each in own])
        trees = [each.hypothesis for each in own]
        alone.append(scores_of(Samples(data.codes), trees, objective.start))
    assert np.array_equal(scores, np.hstack(alone))
    np.testing.assert_allclose([each.loss for each in together], np.mean(losses, axis=0))


def test_bags_of_one_kind_draw_from_seeds_of_their_own():
    first, second = (objectives()[0] for _ in range(2))
    coming = boost(
        BundledObjective([first, second]), BundledLearner([SharedTree(3)] * 2), rows(), 0
    )
    parts = next(coming).hypothesis.parts
    assert not np.array_equal(parts[0].features, parts[1].features)


def test_starts_stand_side_by_side():
    bundled = BundledObjective(objectives())
    np.testing.assert_allclose(bundled.start, np.concatenate([each.start for each in objectives()]))
    assert [part.shape for part in bundled.gradients(0)] == [(N, 3), (N, 2), (N, 2)]


def test_a_member_without_an_edge_does_not_end_the_others():
    same = TrainingRows(np.zeros((N, 3), np.uint8), np.ones(3), np.ones(N, np.float32))
    coming = boost(BundledObjective(objectives()), BundledLearner(LEARNERS), same, 0)
    rounds = [next(coming) for _ in range(12)]
    assert np.isfinite([each.loss for each in rounds]).all()
    scores = np.zeros((1, 7))
    rounds[-1].hypothesis.add_scores(Samples(same.codes[:1]), scores)
    np.testing.assert_allclose(scores[0, 5:], 0.0, atol=1e-6)
