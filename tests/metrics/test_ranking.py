"""Label-ranking metrics: scikit-learn's values in chunks, from sparse truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics as peer

from palmette.exceptions import LabelError
from palmette.metrics import (
    coverage_error,
    label_ranking_average_precision,
    label_ranking_loss,
    one_error,
)
from palmette.metrics import ranking as module

laws = settings(max_examples=15, deadline=None)
PAIRS = [
    (coverage_error, peer.coverage_error),
    (label_ranking_loss, peer.label_ranking_loss),
    (label_ranking_average_precision, peer.label_ranking_average_precision_score),
]


@laws
@given(st.integers(0, 2**32 - 1), st.sampled_from(PAIRS), st.integers(1, 40))
def test_values_are_those_of_scikit_learn_whatever_the_chunks(seed, pair, chunk):
    rng = np.random.default_rng(seed)
    y_true = rng.random((9, 4)) < 0.4
    scores, weight = rng.integers(0, 5, y_true.shape) / 4, rng.integers(0, 4, 9)
    weight[0] = 1
    ours, theirs = pair
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS_AT_ONCE", chunk)
        found = ours(sparse.csr_array(y_true), scores, sample_weight=weight)
    assert found == pytest.approx(theirs(y_true, scores, sample_weight=weight), rel=1e-12)
    assert ours(y_true, scores) == pytest.approx(theirs(y_true, scores), rel=1e-12)


def test_one_error_worked_by_hand():
    y_true = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 0]])
    scores = np.array([[0.2, 0.9, 0.1], [0.5, 0.5, 0.1], [0.9, 0.1, 0.1], [0.1, 0.8, 0.2]])
    # wrong; wrong (first of equals); no label, left out; right
    assert one_error(y_true, scores) == pytest.approx(2 / 3)
    assert one_error(sparse.csc_array(y_true), scores, sample_weight=[1, 1, 9, 2]) == 0.5
    with pytest.raises(LabelError, match="no row has a label"):
        one_error(np.zeros((2, 2)), np.ones((2, 2)))


def test_a_ranking_needs_two_labels():
    with pytest.raises(LabelError, match="at least two"):
        coverage_error(np.ones((2, 1)), np.ones((2, 1)))
