"""A learner as the parameter `hierarchy`: it is fitted inside `fit`, on the rows of this fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB

import palmette as pm
from palmette.class_tree import RandomTree
from palmette.exceptions import LabelError

CLASSIFIERS = [
    pm.LocalPerParentClassifier(GaussianNB()),
    pm.LocalPerNodeClassifier(GaussianNB()),
    pm.HierarchicalBoostingClassifier(n_bags=1, n_estimators=20, random_state=0),
    pm.HierarchicalAdaBoostClassifier(n_estimators=20, random_state=0),
    pm.AdaBoostECCClassifier(n_estimators=20, random_state=0),
]


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat(list("abcdef"), 20)
    X = rng.normal(size=(120, 3)) + 6 * rng.normal(size=(6, 3))[np.arange(120) // 20]
    return X, y


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda each: type(each).__name__)
def test_any_classifier_takes_a_learner(estimator, blobs):
    X, y = blobs
    clf = clone(estimator).set_params(hierarchy=RandomTree(random_state=0)).fit(X, y)
    leaves = clf.hierarchy_.names[clf.hierarchy_.leaves]
    assert sorted(leaves.tolist()) == sorted(set(y))
    assert clf.hierarchy_.max_depth > 1
    assert clf.hierarchy_ == clf.hierarchy_learner_.hierarchy_
    assert clf.score(X, y) > 0.8  # Gaussians do not separate random groups well
    assert not hasattr(clf.hierarchy, "hierarchy_")  # it was cloned


def test_the_learner_sees_the_training_rows_alone(blobs):
    X, y = blobs
    seen = []

    class Spy(RandomTree):
        def fit(self, X, y, sample_weight=None):
            seen.append(len(y))
            return super().fit(X, y, sample_weight)

    clf = pm.LocalPerParentClassifier(GaussianNB(), hierarchy=Spy(random_state=0))
    cross_val_score(clf, X, y, cv=4)
    assert seen == [90] * 4


def test_rows_of_no_weight_are_not_seen(blobs):
    X, y = blobs
    weights = np.where(y == "f", 0.0, 1.0)
    tree = RandomTree(random_state=0)
    clf = pm.HierarchicalBoostingClassifier(tree, n_bags=1, n_estimators=5, random_state=0)
    clf.fit(X, y, sample_weight=weights)
    assert "f" not in clf.hierarchy_.names.tolist()


@pytest.mark.parametrize("estimator", CLASSIFIERS[:3], ids=lambda each: type(each).__name__)
def test_the_learner_sees_the_weights(estimator, blobs):
    X, y = blobs
    weights = np.arange(len(y)) % 3.0
    seen = []

    class Spy(RandomTree):
        def fit(self, X, y, sample_weight=None):
            seen.append(sample_weight)
            return super().fit(X, y, sample_weight)

    clone(estimator).set_params(hierarchy=Spy(random_state=0)).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(seen[0], weights[weights > 0])


def test_its_parameters_can_be_searched(blobs):
    X, y = blobs
    clf = pm.LocalPerParentClassifier(GaussianNB(), hierarchy=RandomTree(random_state=0))
    search = GridSearchCV(clf, {"hierarchy__branching": [2, 3]}, cv=3).fit(X, y)
    assert search.best_params_["hierarchy__branching"] in (2, 3)


def test_labels_never_seen_count_as_wrong(blobs):
    X, y = blobs
    known = y != "f"
    clf = pm.LocalPerParentClassifier(GaussianNB(), hierarchy=RandomTree(random_state=0))
    clf.fit(X[known], y[known])
    assert clf.score(X, y) <= known.mean()


def test_paths_are_no_labels_to_learn_over(blobs):
    X, y = blobs
    clf = pm.LocalPerParentClassifier(GaussianNB(), hierarchy=RandomTree(random_state=0))
    with pytest.raises(LabelError, match="y contains paths, which have a hierarchy already"):
        clf.fit(X, [("top", label) for label in y])
