"""Strings that form a tree are paths, in fits and metrics; predictions are the same strings."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB

import palmette as pm
from palmette.exceptions import LabelError, PathLabelsWarning
from palmette.labels._containers import LabelArray
from palmette.labels._labels import NodeLabels

PATHS = [("Tops", "T-shirts"), ("Tops", "C->D"), ("Shoes", "a/b"), ("Shoes", "x-", "y"), ("Hats",)]
X = np.eye(5)[np.arange(40) % 5] + np.linspace(0, 0.1, 40)[:, None]


def strings(separator):
    return np.array([separator.join(PATHS[i % 5]) for i in range(40)])


def local(**parameters):
    return pm.LocalPerParentClassifier(GaussianNB(), **parameters)


def quiet(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PathLabelsWarning)
        return model.fit(X, y)


@pytest.mark.parametrize("separator", [" > ", " | ", "/", " » "])
def test_strings_are_paths_and_come_back(separator, tmp_path):
    y = strings(separator)
    if separator == "/":  # a name holds it
        y = np.char.replace(y, "a/b", "ab")
    with pytest.warns(PathLabelsWarning, match="read as paths with the separator") as told:
        clf = local().fit(X, y)
    assert len(told) == 1
    assert "Hierarchy.star" in str(told[0].message)
    assert repr(separator) in str(told[0].message)
    assert clf.hierarchy_.n_nodes == 9
    assert clf.classes_.tolist() == np.unique(y).tolist()
    assert np.array_equal(clf.predict(X), y)
    assert clf.predict(X).dtype == y.dtype
    assert clf.score(X, y) == 1.0
    pm.save(clf, tmp_path / "m.palmette")
    assert np.array_equal(pm.load(tmp_path / "m.palmette").predict(X), y)
    # an inner node that y never named is spelled in the same way
    assert clf.label_form_.spell(clf.hierarchy_.index(("Shoes", "x-")), clf.hierarchy_) == (
        f"Shoes{separator}x-"
    )
    # the labels are found again in the hierarchy of the model
    f1 = pm.metrics.hierarchical_f1_score
    assert f1(y, clf.predict(X), hierarchy=clf.hierarchy_) == 1.0
    assert f1(y[:4], y[[1, 0, 3, 2]]) == f1(y[:4], y[[1, 0, 3, 2]], hierarchy=clf.hierarchy_) > 0.2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PathLabelsWarning)
        assert cross_val_score(local(), X, y, cv=2, scoring="hierarchical_f1").min() == 1.0


def test_the_other_reading_and_other_ways_to_say_it():
    y = strings(" > ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert local(hierarchy=pm.Hierarchy.star(set(y))).fit(X, y).hierarchy_.n_nodes == 6
        given = local(hierarchy=pm.Hierarchy.from_paths(PATHS)).fit(X, y)
        assert given.hierarchy_.n_nodes == 9
        assert np.array_equal(given.predict(X), y)
        assert local().fit(X, [PATHS[i % 5] for i in range(40)]).hierarchy_.n_nodes == 9
        assert NodeLabels.encode(y, flat=True).hierarchy.n_nodes == 6


def test_plain_names_stay_plain():
    for labels in (["AC/DC", "ABBA", "N/A"], ["2024/01/05", "2024/01/06"], ["a - b", "a - c"]):
        y = np.resize(labels, 40)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            clf = local().fit(X, y)
        assert clf.hierarchy_.max_depth == 1
        assert clf.hierarchy_.n_nodes == len(set(labels)) + 1


def test_an_empty_name_among_paths_is_an_error():
    y = [f"a/{i}x" for i in range(20)] + ["a//x"]
    with pytest.raises(LabelError, match=r"y\[20\] = 'a//x' has an empty name.*Hierarchy\.star"):
        local().fit(np.arange(21.0)[:, None], y)


def test_sets_and_containers():
    y = [{text, "Tops > T-shirts"} for text in strings(" > ")]
    clf = quiet(pm.BinaryRelevance(LogisticRegression(C=1e6)), X, y)
    assert clf.hierarchy_.n_nodes == 9
    assert clf.classes_.tolist() == sorted(set(strings(" > ")))
    assert clf.predict(X) == y
    assert clf.score(X, y) == 1.0
    series = pd.Series(strings(" > "), index=np.arange(40) + 3, name="kind")
    fitted = quiet(local(), pd.DataFrame(X, index=series.index), series)
    pd.testing.assert_series_equal(fitted.predict(pd.DataFrame(X, index=series.index)), series)


def test_learners_of_trees_learn_over_strings():
    y = strings("/")
    with warnings.catch_warnings():
        warnings.simplefilter("error", PathLabelsWarning)
        for model in (
            pm.ClassTreeClassifier(router="linear", random_state=0),
            pm.MFTreeClassifier(random_state=0),
            local(hierarchy=pm.RandomTree(random_state=0)),
        ):
            clf = model.fit(X, LabelArray(y, pm.Hierarchy.star(set(y))))
            assert hasattr(clf, "hierarchy_learner_")
            assert np.array_equal(clf.predict(X), y)


def test_labels_that_carry_their_hierarchy():
    h = pm.Hierarchy.from_paths([("even", 0), ("even", 2), ("odd", 1), ("odd", 3), ("odd", 5)])
    y = LabelArray(np.array([0, 2, 1, 3])[np.arange(40) % 4], h)
    rows = np.eye(4)[np.arange(40) % 4]
    assert local().fit(rows, y).hierarchy_ is h
    _, test, _, truth = train_test_split(rows, y, random_state=0)
    search = GridSearchCV(local(), {"decoding": ["best_path"]}, cv=2).fit(rows, y)
    assert search.best_estimator_.hierarchy_ is h
    assert search.predict(test).tolist() == truth.tolist()
    for each in (y[::2], y.copy(), np.concatenate([y, y]), pickle.loads(pickle.dumps(y))):
        assert each.hierarchy == h
    assert type(y == 1) is np.ndarray
    assert type(y + 1) is np.ndarray
    assert np.unique(y).tolist() == [0, 1, 2, 3]
    wrong = np.where(np.asarray(y) == 0, 2, y)
    f1 = pm.metrics.hierarchical_f1_score
    assert f1(y, wrong) == f1(np.asarray(y), wrong, hierarchy=h) > f1(np.asarray(y), wrong)
