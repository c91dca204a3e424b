"""OverLabels: probabilities of labels, where the classifier has them."""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from tests.laws.problems import problem

import palmette as pm
from palmette.models import OverLabels


def test_probabilities_are_those_of_the_labels():
    X, y = problem()
    clf = OverLabels(GaussianNB()).fit(X, y)
    best = clf.classes_[clf.predict_proba(X).argmax(axis=1)]
    assert best.tolist() == clf.predict(X)
    assert not hasattr(OverLabels(LinearSVC()), "predict_proba")


def test_it_can_be_calibrated():
    X, y = problem()
    base = OverLabels(pm.ClassTreeClassifier(router=GaussianNB()))
    clf = pm.CalibratedHierarchicalClassifier(base, cv=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)
    assert clf.score(X, y) > 0.6
