"""Compiled parts of scikit-learn that point outside of themselves are refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.neighbors import BallTree, KDTree
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree

from palmette.persistence._skops import check_parts

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


def spoilt_tree(field: str, value: int) -> Tree:
    tree = DecisionTreeClassifier().fit(X, Y + (X[:, 1] > 0)).tree_
    _, arguments, state = tree.__reduce__()
    made = Tree(*arguments)
    nodes = state["nodes"].copy()
    nodes[field][0] = value
    made.__setstate__({**state, "nodes": nodes})
    return made


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("left_child", 10**6),
        ("right_child", -7),
        ("left_child", 0),
        ("feature", 3),
        ("feature", -2),
    ],
)
def test_trees_lead_to_their_own_nodes_and_features(field, value):
    with pytest.raises(ValueError, match="that it lacks"):
        check_parts([{"deep": (spoilt_tree(field, value),)}])


def test_good_parts_pass():
    parts = [
        DecisionTreeClassifier().fit(X, Y),
        DecisionTreeClassifier(),
        GradientBoostingClassifier(n_estimators=2).fit(X, Y),
        HistGradientBoostingClassifier(max_iter=2).fit(X, Y),
        KDTree(X, leaf_size=5),
        BallTree(X, leaf_size=5),
        KDTree(X[:1]),
    ]
    check_parts(np.array([*parts, None], dtype=object))


@pytest.mark.parametrize("field", ["left", "right", "feature_idx"])
def test_histogram_trees_lead_to_their_own_nodes_and_features(field):
    model = HistGradientBoostingClassifier(max_iter=1).fit(X, Y)
    nodes = model._predictors[0][0].nodes.copy()
    nodes[field][0] = 1000
    model._predictors[0][0].nodes = nodes
    with pytest.raises(ValueError, match="that it lacks"):
        check_parts([model])


def test_boosting_knows_the_features_of_its_trees():
    model = GradientBoostingClassifier(n_estimators=1).fit(X, Y)
    model.n_features_in_ = 2
    with pytest.raises(ValueError, match="other features"):
        check_parts(model)


@pytest.mark.parametrize(("part", "place", "value"), [(1, 0, 99), (1, 0, -1), (2, 0, 99)])
def test_search_trees_name_their_own_rows(part, place, value):
    tree = KDTree(X, leaf_size=5)
    state = list(tree.__getstate__())
    array = np.array(state[part], copy=True)
    if array.dtype.names:
        array["idx_end"][place] = value
    else:
        array[place] = value
    state[part] = array
    made = KDTree.__new__(KDTree)
    made.__setstate__(tuple(state))
    with pytest.raises(ValueError, match="search tree"):
        check_parts({"tree": made})


def test_sparse_matrices_point_inside():
    matrix = sparse.csr_array(np.eye(3))
    check_parts([matrix])
    matrix.indices[0] = 7
    with pytest.raises(ValueError, match=r"indices|index"):
        check_parts({"a": [matrix]})
