"""Estimators of one path per row in a tree: one error for all of them, and trees of DAGs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import palmette
from palmette import Hierarchy, NodeLabels, RelaxedTree
from palmette.base._one_path import best_parents, check_one_path, check_tree, tree_of_learnt

DAG = Hierarchy.from_edges(
    [("p", "a"), ("p", "b"), ("q", "b"), ("q", "c"), ("s", "b"), ("s", "c")], root="root"
)


def problem(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(list("abc"), size=40)
    X = rng.normal(size=(40, 3)) * [1.0, 10.0, 0.1]
    return X, y


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_parent_whose_other_rows_are_nearest_is_kept(seed, as_sparse):
    X, y = problem(seed)
    rows = X if as_sparse else X / X.std(axis=0)
    classes_below = {"p": "ab", "q": "bc", "s": "bc", "root": "abc"}
    found = best_parents(
        DAG, sparse.csr_array(X) if as_sparse else X, NodeLabels.encode(y, DAG).closed
    )
    for name in "abc":
        parents = [str(DAG.names[p]) for p, c in DAG.edges.tolist() if DAG.names[c] == name]
        distances = []
        for parent in sorted(parents, key=DAG.index):
            others = [label in classes_below[parent] and label != name for label in y]
            gap = rows[y == name].mean(axis=0) - rows[others].mean(axis=0)
            distances.append((np.sqrt((gap**2).sum()), DAG.index(parent)))
        nearest = min(distances, key=lambda each: round(each[0], 9))
        assert found[DAG.index(name)] == nearest[1]
    assert found[0] == -1


def test_a_parent_without_other_rows_is_the_nearest():
    X, y = problem()
    y = np.where(y == "c", "a", y)  # below q and s there is only b
    found = best_parents(DAG, X, NodeLabels.encode(y, DAG).closed)
    assert DAG.names[found[DAG.index("b")]] == "q"


def test_groups_without_classes_are_left_out():
    class Learner:
        hierarchy_ = DAG

    X, y = problem()
    with pytest.warns(UserWarning, match="Model needs a tree, but Learner has learned a DAG"):
        tree = tree_of_learnt(Learner(), X, NodeLabels.encode(y, DAG), "Model")
    assert tree.is_tree
    assert sorted(tree.names[tree.leaves].tolist()) == ["a", "b", "c"]


def test_a_tree_is_left_as_it_is():
    class Learner:
        hierarchy_ = Hierarchy.star(["a", "b", "c"])

    X, y = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = tree_of_learnt(Learner(), X, NodeLabels.encode(y, Learner.hierarchy_), "Model")
    assert tree is Learner.hierarchy_


def test_one_function_words_the_errors():
    with pytest.raises(palmette.HierarchyError, match=r"Me needs a tree, .* \(e.g. 'b' has 3\)"):
        check_tree(DAG, "Me")
    labels = NodeLabels.encode([{"a"}, {"a", "b"}, set()])
    with pytest.raises(
        palmette.LabelError, match=r"Me needs one path per row, but 2 of 3 .* \(row 1 has 2 paths\)"
    ):
        check_one_path(labels, "Me")


@pytest.mark.parametrize("name", ["AdaBoostECCClassifier", "DAGSVMClassifier"])
def test_learners_of_dags_go_with_classifiers_of_trees(name):
    X, y = problem()
    X[:, 0] += 5 * (y == "b")
    learner = RelaxedTree(0.0, max_copies=3, random_state=0)
    model = getattr(palmette, name)(hierarchy=learner)
    if name.startswith("Ada"):
        model.set_params(n_estimators=3, random_state=0)
    with pytest.warns(UserWarning, match=f"{name} needs a tree, but RelaxedTree has learned a DAG"):
        model.fit(X, y)
    assert model.hierarchy_.is_tree
    assert set(model.predict(X)) <= set(y)
