"""Class weights: computed from labels, used in folds and in the final fit, or refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight
from tests.spies import Keeper

from palmette import FlatClassifier, PalmetteError
from palmette.table import fit_table
from palmette.table._class_weights import balanced_weights, fit_balanced, set_balance

QUICK = {"folds": 2, "model": "flat", "class_weight": "balanced"}


def rare(n: int = 120):
    """Return a table in which every twelfth row has a rare label, and the words tell little."""
    rng = np.random.default_rng(0)
    is_rare = np.arange(n) % 12 == 0
    words = np.array(["one", "two", "three", "four"])[rng.integers(0, 4, n)]
    hint = np.where(rng.random(n) < 0.7, np.where(is_rare, "odd", "even"), "none")
    text = [f"{a} {b} {i}" for i, (a, b) in enumerate(zip(words, hint, strict=True))]
    return {"text": text, "kind": np.where(is_rare, "x > rare", "x > usual").tolist()}


def test_weights_are_those_of_scikit_learn_up_to_their_scale():
    y = ["a", "b", "a", "a", "c", "a"]
    theirs = compute_sample_weight("balanced", y)
    np.testing.assert_allclose(balanced_weights(y), theirs / theirs.mean())


def test_a_row_of_several_labels_has_the_mean_of_their_weights():
    y = [{"a"}, {"a", "b"}, {"a"}, set()]  # a: 3 of 4 labels, b: 1 of 4
    a, b = 4 / (2 * 3), 4 / (2 * 1)
    expected = np.array([a, (a + b) / 2, a, 1.0])
    np.testing.assert_allclose(balanced_weights(y), expected / expected.mean())


def test_rare_labels_are_found_more_often_and_the_summary_tells():
    table = rare()
    text = {"text": "text"}
    plain = fit_table(table, "kind", folds=0, model="flat", columns=text)
    heavy = fit_table(table, "kind", columns=text, **QUICK)
    assert (plain.summary_["class_weight"], heavy.summary_["class_weight"]) == (None, "balanced")
    found = [sum(path[-1] == "rare" for path in model.predict(table)) for model in (plain, heavy)]
    assert found[0] < found[1]
    again = heavy.refit(table)
    assert again.summary_["class_weight"] == "balanced"
    with pytest.raises(PalmetteError, match="class_weight='equal': expected 'balanced' or 'none'"):
        fit_table(table, "kind", class_weight="equal")


def test_models_of_several_labels_balance_the_rows_of_each_label():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = [{"a"} if row[0] > 1 else {"b"} if row[1] > 0 else set() for row in X]
    from palmette import BinaryRelevance, LinearMultilabel

    for estimator in (LinearMultilabel(random_state=0), BinaryRelevance()):
        made = set_balance(estimator, "balanced", True, "m")
        assert made.balance == "cost"
        assert fit_balanced(made, X, y, "balanced").predict(X) == made.fit(X, y).predict(X)


def test_weights_reach_the_estimator_and_models_without_weights_are_refused():
    y = [("a",)] * 9 + [("b",)]
    X = np.arange(10.0)[:, None]
    one = fit_balanced(FlatClassifier(), X, y, "balanced").predict_proba(X)
    other = FlatClassifier().fit(X, y, sample_weight=balanced_weights(y)).predict_proba(X)
    assert np.array_equal(one, other)
    assert not np.array_equal(one, FlatClassifier().fit(X, y).predict_proba(X))

    class Weightless(Keeper):
        def fit(self, X, y):
            return self

    with pytest.raises(PalmetteError, match="but mine does not accept sample weights"):
        set_balance(Weightless(), "balanced", False, "mine")
    assert set_balance(Weightless(), None, False, "mine") is not None
