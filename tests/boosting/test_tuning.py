from __future__ import annotations

import numpy as np
import pytest

import palmette as pm
from palmette.decisions._rules import Marginal
from palmette.exceptions import PalmetteError
from palmette.metrics import hierarchical_f1_score


@pytest.fixture(scope="module")
def noisy():
    bunch = pm.datasets.make_hierarchical_classification(
        n_samples=300, n_features=8, branching=(3, 3), class_sep=1.2, random_state=0
    )
    return bunch.X, bunch.y


def boosting(**parameters):
    parameters = {"n_bags": 1, "n_estimators": 15, "random_state": 0, **parameters}
    return pm.HierarchicalBoostingClassifier(**parameters)


def test_the_rule_is_chosen_while_fitting_and_the_same_again(noisy):
    X, y = noisy
    one = boosting(decoding="marginal").fit(X, y)
    again = boosting(decoding=Marginal()).fit(X, y)
    assert not one.decoding_.is_open
    assert one.decoding_.get_params() == again.decoding_.get_params()


def test_what_is_given_is_kept(noisy):
    X, y = noisy
    clf = boosting(decoding=Marginal(threshold=0.25, partial=False)).fit(X, y)
    assert clf.decoding_.threshold == 0.25
    assert clf.decoding_.partial is False
    fixed = boosting(decoding=Marginal(0.25, 1.0)).fit(X, y)
    assert not hasattr(fixed, "decoding_")


def test_partial_paths_help_where_leaves_are_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    top = np.where(X[:, 0] > 0, "a", "b")
    leaf = rng.integers(0, 6, 600)  # nothing tells these apart
    y = [(t, f"{t}{k}") for t, k in zip(top, leaf, strict=True)]
    whole = boosting(decoding="best_path").fit(X[:400], y[:400])
    cut = boosting(decoding="marginal").fit(X[:400], y[:400])
    scores = [hierarchical_f1_score(y[400:], clf.predict(X[400:])) for clf in (whole, cut)]
    assert scores[1] > scores[0] + 0.03
    short = [len(path) == 1 for path in cut.predict(X[400:])]
    assert np.mean(short) > 0.9


def test_a_rule_set_after_fitting_cannot_be_chosen(noisy):
    X, y = noisy
    clf = boosting().fit(X, y).set_params(decoding="marginal")
    with pytest.raises(PalmetteError, match="Fit the classifier with it, or give both"):
        clf.predict(X)


def test_too_few_rows_for_the_folds():
    X, y = np.arange(5.0)[:, None], list("aabbb")
    with pytest.raises(PalmetteError, match="chosen by 3 folds, but there are 5 rows"):
        boosting(decoding="marginal").fit(X, y)


def test_weights_count(noisy):
    X, y = noisy
    weights = np.random.default_rng(0).integers(1, 3, len(X))
    clf = boosting(decoding="marginal").fit(X, y, sample_weight=weights)
    assert not clf.decoding_.is_open


def test_a_checkpoint_is_of_the_whole_fit_and_not_of_the_folds(noisy, tmp_path):
    X, y = noisy
    path = tmp_path / "run.ckpt"
    plain = boosting(decoding="marginal").fit(X, y)
    for _ in range(2):  # the second one reads the finished fit
        clf = boosting(decoding="marginal").set_callbacks(pm.Checkpoint(path)).fit(X, y)
        assert np.array_equal(clf.predict_proba(X), plain.predict_proba(X))
        assert clf.decoding_.get_params() == plain.decoding_.get_params()


def test_the_default_rule_sharpens_probabilities(noisy):
    X, y = noisy
    clf = boosting(max_depth=2).fit(X[:100], y[:100])
    answers = {"auto": clf.predict(X)}
    for temperature in (1.0, 1.5):
        clf.set_params(decoding=Marginal(0.4, temperature, partial=False))
        answers[temperature] = clf.predict(X)
    assert np.array_equal(answers["auto"], answers[1.5])
    assert not np.array_equal(answers["auto"], answers[1.0])
