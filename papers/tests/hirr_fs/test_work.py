"""Features of training rows, scores of test rows."""

from __future__ import annotations

import numpy as np
import pytest

from papers.cells import Options
from papers.hirr_fs.methods import FIVE, FOUR, METHODS
from papers.hirr_fs.outcome import work


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_features_that_tell_classes_apart(problem, method):
    found = work(METHODS[method](), problem, (1, 5), Options())
    assert found["k"] == ([10] if method == "all features" else [1, 5])
    assert found["f1"][-1] > 0.75
    assert found["f1"][-1] >= found["f1_rootless"][-1]
    assert len(found["classify_s"]) == len(found["tie"]) == len(found["k"])
    assert found["n_parts"] == 1


def test_scores_by_hand(problem, monkeypatch):
    answers = np.array(problem.y_test, dtype=object)
    wrong = np.flatnonzero(answers == "a")
    answers[wrong] = "d"  # four edges away, only the root in common

    class Says:
        def fit(self, X, y):
            return self

        def predict(self, X):
            return answers

    name = "papers.hirr_fs.outcome.classifier_of"
    monkeypatch.setattr(name, lambda *_: Says())
    found = work(None, problem, (), Options())
    share = len(wrong) / len(answers)
    assert found["tie"] == [pytest.approx(4 * share)]
    assert found["f1"] == [pytest.approx(1 - share * 2 / 3)]
    assert found["f1_rootless"] == found["accuracy"] == [pytest.approx(1 - share)]


def test_the_selectors_of_the_tables_are_among_the_methods():
    assert set(FIVE) | set(FOUR) < METHODS.keys()
    assert METHODS["HiRRfam-FS"]().get_params()["sibling"] == 1.0
