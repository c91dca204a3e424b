"""Explanations add up: weights of a path are what the classifiers give."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette.table import fit_table
from palmette.table._explain import Explainer, linear_weights


@pytest.mark.parametrize("name", ["local-per-parent", "flat-svm"])
def test_weights_are_sums_of_coefficients_along_the_path(goods, name):
    model = fit_table(goods[["price", "colour", "kind"]], "kind", model=name, folds=0)
    weights = linear_weights(model)
    node = model.hierarchy_.index(("Food", "Fish"))
    parent = model.hierarchy_.index("Food")
    expected = 0.0
    for estimator in model.estimator_.estimators_.values():
        for step in (parent, node):
            if step in estimator.classes_.tolist():
                at = estimator.classes_.tolist().index(step)
                rows = np.asarray(estimator.coef_)
                expected += rows[at] if len(rows) > 1 else rows[0] * (1 if at else -1)
    assert np.allclose(weights(node), expected)


@pytest.mark.parametrize("name", ["class-tree", "mf-tree"])
def test_weights_of_class_trees_give_their_margins(goods, name):
    model = fit_table(goods, "kind", model=name, folds=0)
    tree = model.estimator_ if name == "class-tree" else model.estimator_.estimator_
    X = sparse.csr_array(model.features(goods))
    weights = linear_weights(model)
    nodes = [model.hierarchy_.index(path) for path in model.read_target(goods)]
    votes = np.array([(X[[i]] @ weights(node))[0] for i, node in enumerate(nodes)])
    wrong = np.array([(X[[i]] @ weights(nodes[i - 1]))[0] for i in range(len(nodes))])
    assert (votes > wrong).all()  # what speaks for the truth outweighs what speaks for another
    assert tree.routes_.n_features == X.shape[1]


def test_models_without_weights_show_probabilities(goods):
    model = fit_table(goods, "kind", model="flat-extra-trees", folds=0)
    assert linear_weights(model) is None
    X = model.features(goods)
    nodes = model.hierarchy_.index(model.predict(goods))
    texts = Explainer(model).explain(X, nodes, model.predict_node_proba(goods))
    assert texts[0].startswith("Food ")
    assert " > Fruit " in texts[0]


def test_a_forest_of_neighbours_names_rows_like_it(goods):
    goods["kind"] = goods["kind"] + ";Sold"
    model = fit_table(
        goods[["price", "kind"]], "kind", labels_separator=";", model="coherent-forest", folds=0
    )
    texts = Explainer(model).explain(model.features(goods), np.ones(80, dtype=int), None)
    assert all(text.startswith("similar to row ") for text in texts)
