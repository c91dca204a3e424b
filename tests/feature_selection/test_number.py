"""The number of features by cross-validation."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from tests.feature_selection.problems import HIERARCHY, planted

from palmette import LocalPerParentClassifier, PalmetteError
from palmette.feature_selection import (
    ChosenNumber,
    HierarchicalFeatureSelector,
    choose_n_features,
    one_standard_error,
)

PARAMETER = "feature_selector__n_features_to_select"


def classifier(**options):
    selector = HierarchicalFeatureSelector("fisher", hierarchy=HIERARCHY)
    return LocalPerParentClassifier(LogisticRegression(), feature_selector=selector, **options)


def test_the_fewest_within_one_error_of_the_best():
    scores = np.array([[0.5, 0.5, 0.5], [0.86, 0.88, 0.9], [0.8, 0.9, 1.0], [0.8, 0.9, 1.0]])
    tried = ChosenNumber(np.array([1, 2, 4, 8]), scores)
    assert tried.best == 4
    assert tried.standard_error[2] == pytest.approx(0.1 / np.sqrt(3))
    assert tried.n_features == 2


def test_one_planted_feature_a_node_is_enough():
    X, y = planted()
    names = np.array(["/".join(path) for path in y])
    found = choose_n_features(classifier(), X, names, counts=(10, 1, 4, 50), cv=3)
    assert found.counts.tolist() == [1, 4, 10]
    assert found.scores.shape == (3, 3)
    assert found.n_features == 1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_score_is_that_of_a_selection_of_its_own(n_jobs):
    X, y = planted()
    names = np.array(["/".join(path) for path in y])
    folds = StratifiedKFold(3)
    with parallel_config(backend="threading"):
        found = choose_n_features(classifier(), X, names, (2, 5), cv=3, scoring=None, n_jobs=n_jobs)
    for count, scores in zip(found.counts, found.scores, strict=True):
        model = classifier().set_params(**{PARAMETER: int(count)})
        np.testing.assert_allclose(cross_val_score(model, X, names, cv=folds), scores)


def test_paths_and_tables_are_taken():
    X, y = planted()
    found = choose_n_features(classifier(), X, y, (1, 3), cv=2)
    assert np.isfinite(found.scores).all()


def test_a_grid_search_takes_the_rule():
    X, y = planted()
    names = np.array(["/".join(path) for path in y])
    counts = [10, 4, 1]
    search = GridSearchCV(
        classifier(), {PARAMETER: counts}, cv=3, refit=one_standard_error(), scoring=None
    ).fit(X, names)
    mean = search.cv_results_["mean_test_score"]
    splits = np.array([search.cv_results_[f"split{i}_test_score"] for i in range(3)])
    error = splits.std(axis=0, ddof=1)[mean.argmax()] / np.sqrt(3)
    expected = min(c for c, m in zip(counts, mean, strict=True) if m >= mean.max() - error)
    assert search.best_params_ == {PARAMETER: expected}


def test_invalid_arguments_raise_an_error():
    X, y = planted()
    with pytest.raises(PalmetteError, match="has no feature_selector"):
        choose_n_features(LocalPerParentClassifier(), X, y)
    with pytest.raises(PalmetteError, match="counts="):
        choose_n_features(classifier(), X, y, counts=(0, 3))
