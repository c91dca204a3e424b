"""The best features, compared with a stable sort."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import quick

from palmette.feature_selection._ranking import top_features


@quick
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=30),
    st.integers(1, 35),
    st.none() | st.integers(0, 5),
    st.booleans(),
)
def test_the_best_are_those_of_a_stable_descending_sort(scores, count, threshold, positive):
    scores = np.array(scores, dtype=float)
    order = np.argsort(-scores, kind="stable")[:count]
    expected = [
        j
        for j in sorted(order)
        if (threshold is None or scores[j] >= threshold) and (scores[j] > 0 or not positive)
    ]
    assert top_features(scores, count, threshold, positive).tolist() == expected
