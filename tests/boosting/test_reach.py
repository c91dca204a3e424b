from __future__ import annotations

import numpy as np
from tests.boosting import boosted

from palmette.boosting._ada import total_reach


def test_no_score_reaches_further():
    rounds = [boosted.class_trees(seed, parents=boosted.PARENTS) for seed in range(6)]
    scores = np.zeros((400, 4))
    reach = total_reach(rounds, 4, by_column=True)
    assert reach.shape == (7, 4)
    for turn, each in enumerate(rounds, start=1):
        each.add_scores(boosted.samples(400), scores)
        assert (np.abs(scores) <= reach[turn] + 1e-12).all()
    alphas = [np.abs(each.values).max(axis=1) for each in rounds]
    np.testing.assert_allclose(reach[1:], np.cumsum(alphas, axis=0))


def test_columns_together_reach_as_far_as_their_mean():
    rounds = [boosted.shared_tree(seed) for seed in range(3)]
    apart, together = (total_reach(rounds, 4, by_column=flag) for flag in (True, False))
    assert together.shape == (4, 1)
    np.testing.assert_allclose(together[1:, 0], apart[1:].mean(axis=1))


def test_what_nobody_votes_for_has_a_scale_too():
    assert total_reach([], 3, by_column=True).tolist() == [[1.0, 1.0, 1.0]]
    silent = boosted.class_trees(0)
    silent.values[2] = 0.0
    reach = total_reach([silent], 4, by_column=True)
    assert reach[1, 2] == 1.0
    assert (reach > 0).all()
