"""Any classifier behind one face."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from tests.laws.problems import DAG, DAG_SETS, PATH_SETS, PATHS, problem, several

import palmette as pm
from palmette.base._wrapping import (
    WrappedClassifier,
    check_wrapped,
    learns_its_tree,
    places_of_hierarchy,
)
from palmette.labels._space import LabelSpace

TREE = pm.Hierarchy.from_paths(PATHS)


def labels_of(y, hierarchy=TREE):
    labels = pm.NodeLabels.encode(y, hierarchy)
    return labels, LabelSpace(hierarchy, np.unique(labels.terminals))


ONE_PATH = [
    pm.LocalPerParentClassifier(GaussianNB()),
    pm.LocalPerParentClassifier(LinearSVC()),  # margins
    make_pipeline(StandardScaler(), pm.LocalPerNodeClassifier(GaussianNB())),
    pm.ClassTreeClassifier(router=GaussianNB()),
    pm.BinaryRelevance(GaussianNB()),
    GaussianNB(),
    LinearSVC(),
    make_pipeline(StandardScaler(), LogisticRegression()),
    GridSearchCV(pm.FlatClassifier(GaussianNB()), {"decoding": ["best_path"]}, cv=2),
]


@pytest.mark.parametrize("estimator", ONE_PATH, ids=lambda e: repr(e)[:60])
def test_probabilities_are_those_of_the_classes_asked_for(estimator):
    X, y = problem()
    labels, space = labels_of(y)
    model = WrappedClassifier(estimator).fit(X, labels, None, several=False)
    proba = model.class_proba(X, space)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    found = space.classes[proba.argmax(axis=1)]
    assert np.mean(found == labels.terminals) > 0.6
    # a class that the model has not seen has no probability
    wider = LabelSpace(TREE, np.union1d(space.classes, [TREE.index("a/y")]).astype(np.int32))
    wide = model.class_proba(X, wider)
    unseen = np.flatnonzero(wider.classes == TREE.index("a/y"))[0]
    assert (wide[:, unseen] == 0).all()
    assert np.array_equal(np.delete(wide, unseen, axis=1), proba)


def test_ours_answer_what_they_answer_alone():
    X, y = problem()
    labels, space = labels_of(y)
    alone = pm.LocalPerParentClassifier(GaussianNB(), hierarchy=TREE).fit(X, y)
    model = WrappedClassifier(pm.LocalPerParentClassifier(GaussianNB()))
    proba = model.fit(X, labels, None, several=False).class_proba(X, space)
    assert np.array_equal(proba, alone.predict_proba(X)[:, np.argsort(alone._answers.class_order)])


def test_others_see_labels_and_not_numbers():
    X, y = problem()
    labels, _ = labels_of(y)
    model = WrappedClassifier(GaussianNB()).fit(X, labels, None, several=False)
    assert set(model.estimator.classes_) == {"/".join(path) for path in PATHS}
    names = np.array([path[-1] + path[0] for path in y])
    by_name, _ = labels_of(names, pm.Hierarchy.star(sorted(set(names))))
    model = WrappedClassifier(GaussianNB()).fit(X, by_name, None, several=False)
    assert set(model.estimator.classes_) == set(names)


def test_a_single_class_needs_no_model():
    X, y = problem()
    labels, space = labels_of([y[0]] * len(X))
    model = WrappedClassifier(LogisticRegression()).fit(X, labels, None, several=False)
    assert model.estimator is None
    assert (model.class_proba(X, space) == 1.0).all()


@pytest.mark.parametrize("sets", [PATH_SETS, DAG_SETS], ids=["tree", "dag"])
@pytest.mark.parametrize(
    "estimator",
    [
        pm.LocalPerNodeClassifier(GaussianNB()),
        make_pipeline(StandardScaler(), pm.MLkNN(5)),
        LogisticRegression(),
        RandomForestClassifier(10, random_state=0),
    ],
    ids=lambda e: repr(e)[:40],
)
def test_probabilities_of_nodes_of_several_paths(estimator, sets):
    hierarchy = DAG if sets is DAG_SETS else TREE
    X, y = several(sets)
    labels = pm.NodeLabels.encode(y, hierarchy)
    nodes = np.arange(1, hierarchy.n_nodes)
    model = WrappedClassifier(estimator).fit(X, labels, None, several=True)
    proba = model.node_proba(X, nodes)
    truth = labels.closed.toarray()[:, 1:]
    assert proba.shape == truth.shape
    assert np.mean((proba > 0.5) == truth) > 0.8
    assert (proba[:, ~truth.any(axis=0)] == 0).all()


def test_weights_reach_the_estimator():
    X, y = problem()
    labels, space = labels_of(y)
    weights = np.where(labels.terminals == labels.terminals[0], 50.0, 1.0)
    favourite = np.searchsorted(space.classes, labels.terminals[0])
    for make in (GaussianNB, lambda: pm.FlatClassifier(GaussianNB())):
        plain, weighted = (
            WrappedClassifier(make()).fit(X, labels, each, several=False)
            for each in (None, weights)
        )
        before, after = (m.class_proba(X, space)[:, favourite].mean() for m in (plain, weighted))
        assert after > 1.3 * before


# ---------------------------------------------------------------------- kinds


def test_who_learns_a_tree():
    for_names = {"from_names": True}
    assert learns_its_tree(pm.ClassTreeClassifier(), **for_names)
    assert not learns_its_tree(pm.ClassTreeClassifier(), from_names=False)
    assert not learns_its_tree(pm.ClassTreeClassifier(TREE), **for_names)
    assert learns_its_tree(pm.MFTreeClassifier(), from_names=False)
    learner = pm.LocalPerParentClassifier(GaussianNB(), hierarchy=pm.MFTree())
    assert learns_its_tree(make_pipeline(StandardScaler(), learner), from_names=False)
    assert not learns_its_tree(pm.LocalPerParentClassifier(GaussianNB()), **for_names)
    assert not learns_its_tree(GaussianNB(), **for_names)


def test_a_hierarchy_is_given_to_the_outermost_part_that_takes_one():
    local = pm.LocalPerParentClassifier(GaussianNB())
    for estimator, places in [
        (GaussianNB(), []),
        (local, ["hierarchy"]),
        (make_pipeline(StandardScaler(), local), ["localperparentclassifier__hierarchy"]),
        (GridSearchCV(local, {}), ["estimator__hierarchy"]),
        (pm.ClassTreeClassifier(), ["tree"]),
        (pm.ThresholdedMultilabel(pm.BinaryRelevance()), ["hierarchy"]),
    ]:
        assert places_of_hierarchy(estimator) == places


def test_what_has_no_scores_is_refused():
    with pytest.raises(pm.PalmetteError, match="neither probabilities nor margins"):
        check_wrapped(pm.DAGSVMClassifier())
    with pytest.raises(pm.PalmetteError, match="estimator is 'svm': expected a classifier"):
        check_wrapped("svm")
    X, y = problem()
    labels, space = labels_of(y)
    model = WrappedClassifier(SVC(decision_function_shape="ovo"))
    model.fit(X, labels, None, several=False)
    with pytest.raises(pm.PalmetteError, match="expected one per class"):
        model.class_proba(X, space)


def test_fitted_estimators_are_adopted():
    X, y = problem()
    names = np.array(["/".join(path) for path in y])
    for fitted in (GaussianNB().fit(X, names), pm.FlatClassifier(GaussianNB()).fit(X, y)):
        hierarchy = getattr(fitted, "hierarchy_", TREE)
        model = WrappedClassifier(fitted).adopt(hierarchy, several=False)
        assert set(hierarchy.path_strings[model.known_nodes()]) == set(names)
    with pytest.raises(pm.PalmetteError, match="GaussianNB has no classes_: expected a fitted"):
        WrappedClassifier(GaussianNB()).adopt(TREE, several=False)
    with pytest.raises(pm.PalmetteError, match="fitted on several labels per row"):
        WrappedClassifier(GaussianNB().fit(X, names)).adopt(TREE, several=True)
