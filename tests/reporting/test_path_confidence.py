"""One look at the probabilities of nodes, in chunks of rows."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reporting.known_answers import (
    ANIMALS,
    CAT,
    KnownAnswers,
    animals,
    cells_of,
    numbered,
    paths_of,
    random_case,
)

from palmette.decoding import Confident
from palmette.exceptions import PalmetteError
from palmette.labels._space import LabelSpace
from palmette.reporting import _parts
from palmette.reporting._confidence import read_path_confidence
from palmette.reporting._evaluation import evaluate


def test_confidence_along_the_predicted_path_by_hand():
    _, sure = paths_of(animals())
    np.testing.assert_allclose(sure.answer, [0.8, 0.5, 0.6, 0.8, 0.6, 0.9, 0.5])
    np.testing.assert_allclose(sure.on_path[:, 0], [0.9, 0.7, 0.6, 0.8, 1.0, 0.95, 0.55])
    np.testing.assert_allclose(sure.on_path[3], [0.8, np.nan])  # it ends at the plants


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.5, 0.8, 0.95])
def test_the_deepest_confident_node_is_that_of_confident(threshold):
    evaluation, sure = paths_of(random_case(0))
    hierarchy = evaluation.hierarchy
    model, X, _ = random_case(0)
    classes = model.predict_node_proba(X)[:, hierarchy.leaves]
    wanted = Confident(threshold).choose(classes, LabelSpace(hierarchy, hierarchy.leaves))
    np.testing.assert_array_equal(sure.deepest_confident(threshold), wanted)


def test_chunks_of_rows_change_nothing(monkeypatch):
    whole = paths_of(random_case(0))[1], cells_of(random_case(1, several=True))[1]
    monkeypatch.setattr(_parts, "_NUMBERS_AT_ONCE", 500)
    cut = paths_of(random_case(0))[1], cells_of(random_case(1, several=True))[1]
    np.testing.assert_array_equal(whole[0].best_node, cut[0].best_node)
    np.testing.assert_array_equal(whole[0].on_path, cut[0].on_path)
    np.testing.assert_array_equal(whole[1].counts, cut[1].counts)
    np.testing.assert_allclose(whole[1].levels, cut[1].levels)
    assert whole[1].exact_area == cut[1].exact_area


def test_probabilities_of_another_shape_are_refused():
    model = KnownAnswers(ANIMALS, [CAT], [[1.0, 0.5]])
    evaluation = evaluate(model, numbered(1), [CAT])
    with pytest.raises(PalmetteError, match=r"shape \(1, 2\): expected \(1, 7\)"):
        read_path_confidence(model.predict_node_proba, numbered(1), evaluation)
