"""Laws of early stopping: which rows are kept aside, and when it is over."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.spaces import seeds
from tests.strategies import quick

from palmette.boosting._hypotheses import Samples
from palmette.boosting._validation import HeldOutScores, Validation, split_rows
from palmette.exceptions import PalmetteError


def assert_split(kept, held, n_samples):
    assert sorted([*kept.tolist(), *held.tolist()]) == list(range(n_samples))
    for part in (kept, held):
        assert (np.diff(part) > 0).all()
        assert part.dtype == np.int32


@quick
@given(
    labels=st.lists(st.integers(0, 4), min_size=2, max_size=40),
    fraction=st.floats(0.05, 0.95),
    seed=seeds,
)
def test_a_row_of_every_class_is_left_to_learn_from(labels, fraction, seed):
    codes = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    counts = np.bincount(codes)
    if counts.max() == 1:
        return
    kept, held = split_rows(codes, fraction, seed)
    assert_split(kept, held, len(codes))
    assert set(codes[kept]) == set(codes)
    wanted = max(1, round(fraction * len(codes)))
    assert len(held) == min(wanted, (counts - 1).sum())
    again = split_rows(codes, fraction, seed)
    assert np.array_equal(held, again[1])


@quick
@given(fraction=st.floats(0.05, 0.95), seed=seeds)
def test_a_row_of_every_node_is_left_to_learn_from(fraction, seed):
    flags = np.random.default_rng(seed).random((25, 6)) < 0.3
    kept, held = split_rows(sparse.csr_array(flags), fraction, seed)
    assert_split(kept, held, 25)
    seen = flags.any(axis=0)
    assert np.array_equal(flags[kept].any(axis=0), seen)
    assert len(held) <= max(1, round(fraction * 25))
    if len(held) < max(1, round(fraction * 25)):
        # whichever row is added, some node would lose its last one
        left = flags[kept].sum(axis=0)
        assert all((left[flags[row]] == 1).any() for row in kept)


def test_other_seeds_keep_other_rows_aside():
    codes = np.zeros(50, dtype=np.int32)
    assert split_rows(codes, 0.3, 0)[1].tolist() != split_rows(codes, 0.3, 1)[1].tolist()


def test_classes_of_one_row_cannot_be_validated():
    with pytest.raises(PalmetteError, match="every class has one row only"):
        split_rows(np.arange(5, dtype=np.int32), 0.5, 0)


class Adds:
    """A hypothesis that adds a number to all scores."""

    def __init__(self, number):
        self.number = number

    def add_scores(self, samples, scores):
        scores += self.number


def validation(patience, tol, done=(), losses=()):
    samples = Samples(np.zeros((3, 1), dtype=np.uint8))
    found = Validation(
        partial(HeldOutScores, samples, lambda scores: float(scores[0, 0])), patience, tol
    )
    found.begin(np.array([5.0], dtype=np.float32), [Adds(n) for n in done], np.array(losses))
    return found


def test_losses_are_those_of_the_votes_so_far():
    found = validation(patience=3, tol=0.0)
    for number in (-1, -1, 2):
        found.add(Adds(number))
    assert found.losses == [4.0, 3.0, 5.0]
    assert found.best == 2


@pytest.mark.parametrize(
    ("steps", "tol", "best", "over_after"),
    [
        ((-1, -1, 1, 1, 1), 0.0, 2, 4),
        ((-1, 0, -1, 0, 0), 0.0, 3, 5),
        ((-1, -0.2, -0.2, -0.4), 0.5, 1, 3),  # too little in two rounds
        ((-1, -0.4, -0.4), 0.5, 3, None),  # from 4 to 3.2: together they count
    ],
)
def test_it_is_over_when_as_many_rounds_have_brought_nothing(steps, tol, best, over_after):
    found, over = validation(2, tol), None
    for turn, step in enumerate(steps, start=1):
        found.add(Adds(step))
        if found.is_over:
            over = turn
            break
    assert over == over_after
    assert found.best == best


def test_it_goes_on_from_losses_of_an_earlier_fit():
    found = validation(2, 0.0, done=(-1, -1, 1), losses=(4.0, 3.0, 4.0))
    assert found.best == 2
    assert not found.is_over
    found.add(Adds(1))
    assert found.losses == [4.0, 3.0, 4.0, 5.0]
    assert found.is_over
