"""The library as its users write it: the snippets of the README, run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import LinearSVC

import palmette as pm

PATHS = [("animal", "cat"), ("animal", "dog"), ("plant", "oak")]


@pytest.fixture(scope="module")
def problem():
    bunch = pm.datasets.make_hierarchical_classification(
        n_samples=200, n_features=8, branching=(2, 3), class_sep=3.0, random_state=0
    )
    return bunch.X, bunch.y


def test_a_hierarchy(tmp_path):
    file = tmp_path / "taxonomy.txt"
    file.write_text("\n".join(" > ".join(path) for path in PATHS))
    h = pm.Hierarchy.from_paths(PATHS)
    assert pm.Hierarchy.read(file) == h
    assert h.n_nodes == 6
    assert h.leaves.tolist() == [2, 3, 5]
    assert h.depth.tolist() == [0, 1, 2, 2, 1, 2]
    assert h.parents.tolist() == [-1, 0, 1, 1, 0, 4]
    assert h.lca("animal/cat", "animal/dog") == "animal"
    assert h.distance("animal/cat", "plant/oak") == 4
    assert str(h).splitlines()[0] == "root"
    assert h.to_networkx().number_of_edges() == 5
    assert h.to_newick().endswith(";")
    h.write(tmp_path / "tree.json")
    assert pm.Hierarchy.read(tmp_path / "tree.json") == h


def test_any_estimator_along_a_given_hierarchy(problem):
    X, y = problem
    clf = pm.LocalPerParentClassifier(LogisticRegression(), n_jobs=2)
    with parallel_config("threading"):  # tests of local classifiers start processes
        clf.fit(X, y)
        assert cross_val_score(clf, X, y, cv=3, scoring="hierarchical_f1").mean() > 0.8
    assert np.shape(clf.predict(X)) == np.shape(y)
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)
    proba = clf.predict_node_proba(X)
    parents = clf.hierarchy_.parents
    assert (proba[:, 1:] <= proba[:, parents[1:]]).all()
    sure = clf.set_params(decoding=pm.decoding.Confident(0.8)).predict_nodes(X)
    assert (proba[np.arange(len(X)), sure] >= 0.8 - 1e-12).all()
    clf.set_params(decoding=pm.decoding.MinExpectedLoss("tree_induced_error")).predict(X)


def test_parts_are_objects(problem):
    X, y = problem
    search = GridSearchCV(
        pm.LocalPerLevelClassifier(LogisticRegression(), decoding=pm.decoding.Confident()),
        {"estimator__C": [0.1, 1.0], "decoding__threshold": [0.3, 0.6]},
        cv=2,
        scoring="hierarchical_f1",
    ).fit(X, y)
    assert set(search.best_params_) == {"estimator__C", "decoding__threshold"}
    pm.LocalPerParentClassifier(LinearSVC()).fit(X, y).predict(X)


def test_frames_go_in_and_come_out(problem):
    X, y = problem
    frame = pd.DataFrame(X, index=[f"row{i}" for i in range(len(X))])
    frame.columns = [f"x{i}" for i in range(X.shape[1])]
    target = pd.DataFrame(np.asarray(y), columns=["group", "kind"])
    answers = pm.LocalPerNodeClassifier().fit(frame, target).predict(frame[::2])
    assert list(answers.columns) == ["group", "kind"]
    assert answers.index.equals(frame.index[::2])


def test_trees_can_be_compared():
    h = pm.Hierarchy.from_paths(PATHS)
    assert pm.metrics.tree_mse(h, h) == 0
    assert pm.metrics.triplet_accuracy(h, h) == 1


def test_an_unknown_label_says_what_to_do():
    h = pm.Hierarchy.from_paths(PATHS)
    clf = pm.LocalPerParentClassifier(hierarchy=h)
    with pytest.raises(pm.HierarchyError) as caught:
        clf.fit(np.zeros((2, 1)), [("animal", "cat"), ("animal", "wolf")])
    assert str(caught.value) == (
        "y[1] = 'animal/wolf' is not in the hierarchy (6 nodes, e.g. 'animal/cat', 'animal/dog'). "
        "Add the node or drop the row."
    )


def test_paths_in_strings_are_never_a_silent_star():
    X, y = np.arange(4.0)[:, None], ["animal/cat", "animal/dog"] * 2
    with pytest.warns(pm.exceptions.PathLabelsWarning, match="separator '/'"):
        clf = pm.LocalPerParentClassifier().fit(X, y)
    assert clf.hierarchy_.path_strings.tolist() == ["root", "animal", "animal/cat", "animal/dog"]
    assert clf.classes_.tolist() == ["animal/cat", "animal/dog"]


def test_every_public_name_is_there():
    for name in pm.__all__:
        assert getattr(pm, name) is not None
    assert set(pm.__all__) <= set(dir(pm))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pm.nothing  # noqa: B018


def test_a_learnt_hierarchy_feeds_anything(problem):
    X, y = problem
    paths = [tuple(map(str, path)) for path in np.asarray(y)]
    h = pm.Hierarchy.from_paths(sorted(set(paths)))
    labels = np.array([path[-1] for path in paths])
    tree = pm.BHCTree().fit(X, labels).hierarchy_
    assert pm.metrics.triplet_accuracy(tree, h) > 0.8
    assert pm.metrics.tree_mse(tree, h) < 0.05
    for clf in (
        pm.HierarchicalBoostingClassifier(
            hierarchy=pm.MFTree(), n_bags=1, n_estimators=20, random_state=0
        ),
        pm.LocalPerParentClassifier(LinearSVC(), hierarchy=pm.LabelEmbeddingTree()),
    ):
        assert clf.fit(X, labels).score(X, labels) > 0.8


def test_features_per_node(problem):
    X, y = problem
    paths = [tuple(map(str, path)) for path in np.asarray(y)]
    h = pm.Hierarchy.from_paths(sorted(set(paths)))
    sel = pm.HierarchicalFeatureSelector(
        score=pm.HirrScore(lam=0.05, parent=1.0), hierarchy=h, n_features_to_select=4
    )
    clf = pm.LocalPerParentClassifier(LinearSVC(), feature_selector=sel).fit(X, paths)
    node = paths[0][:1]
    assert clf.feature_selector_.get_support(node).sum() == 4
    assert clf.feature_selector_.node_scores_.shape == (h.n_nodes, X.shape[1])
    assert clf.score(X, paths) > 0.8
    search = GridSearchCV(clf, {"feature_selector__score__parent": [0.0, 1.0]}, cv=2)
    assert search.fit(X, paths).best_score_ > 0.7


def test_several_labels_a_row(problem):
    X, y = problem
    sets = [{f"{a}", f"{a}/{b}"} for a, b in y]
    clf = pm.StructuredForestClassifier(10, random_state=0).fit(X, sets)
    assert isinstance(clf.predict(X[:2])[0], set)
    assert clf.thresholds_.shape == clf.classes_.shape
    published = pm.StructuredForestClassifier.preset("sf-h-cs")
    assert published.n_estimators == 50
    parts = pm.StructuredForestClassifier(
        10,
        partition=pm.partition.LabelTwoMeans(weights="idf"),
        router=pm.routing.Hellinger(sparsity="auto"),
        random_state=0,
    )
    assert parts.set_params(router__sparsity=0.2).fit(X, sets).score(X, sets) > 0.5
    tuned = pm.ThresholdedMultilabel(pm.RAkEL(random_state=0), rule="f1", cv=2).fit(X, sets)
    assert tuned.thresholds_.shape == clf.classes_.shape
    learned = pm.StructuredForestClassifier(
        10, hierarchy=pm.HOMERTree(branching=2), random_state=0
    ).fit(X, sets)
    assert learned.hierarchy_.max_depth > 1


def test_several_paths_a_row(problem):
    X, y = problem
    h = pm.Hierarchy.from_paths(sorted({tuple(path) for path in y}))
    sets = [{tuple(path)} for path in y]
    members = [
        ("forest", pm.CoherentForestClassifier(10)),
        ("kernel", pm.CoherentKernelClassifier()),
    ]
    clf = pm.CoherentBlendClassifier(members, hierarchy=h, random_state=0).fit(X, sets)
    proba = clf.predict_node_proba(X)
    assert (proba[:, 1:] <= proba[:, h.parents[1:]]).all()
    assert clf.score(X, sets) > 0.8
    forest = pm.CoherentForestClassifier(10, hierarchy=h, random_state=0).fit(X, sets)
    assert "row 0" in str(forest.explain(X[:1], next(iter(sets[0])))[0])
