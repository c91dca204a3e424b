from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.tree import DecisionTreeClassifier

from palmette import LabelError, LocalPerNodeClassifier, PalmetteError
from palmette.multilabel import HOMERTree, MLkNN

NAMES = np.array(list("gfedcba"))


def problem(n_each=6):
    rng = np.random.default_rng(0)
    sets = rng.random((9, 7)) < 0.4
    sets[0] = True
    codes = np.repeat(np.arange(9), n_each)
    return 10.0 * np.eye(9)[codes], sets[codes].astype(int)


def forms():
    _, Y = problem()
    sets = [set(NAMES[np.flatnonzero(row)].tolist()) for row in Y]
    return {
        "matrix": Y,
        "sparse": sparse.csr_array(Y),
        "frame": pd.DataFrame(Y, columns=NAMES),
        "sets": sets,
        "frozensets": [frozenset(labels) for labels in sets],
        "series": pd.Series(sets),
        "lists": Y.tolist(),
    }


def groups_of(tree):
    names = tree.classes_.tolist()
    return {frozenset(names[k] for k in group) for group in tree.tree_.groups}


def test_the_leaves_are_the_labels_and_the_form_of_y_does_not_matter():
    X, _ = problem()
    trees = {name: HOMERTree(2, random_state=0).fit(X, y) for name, y in forms().items()}
    for tree in trees.values():
        leaves = tree.hierarchy_.names[tree.hierarchy_.leaves].tolist()
        assert sorted(leaves) == sorted(tree.classes_.tolist())
    assert groups_of(trees["matrix"]) == groups_of(trees["sparse"]) == groups_of(trees["lists"])
    assert groups_of(trees["sets"]) == groups_of(trees["series"]) == groups_of(trees["frozensets"])


@pytest.mark.parametrize("form", forms())
@pytest.mark.parametrize("model", [LocalPerNodeClassifier(DecisionTreeClassifier()), MLkNN(3)])
def test_it_stands_in_the_place_of_a_hierarchy(form, model):
    X, Y = problem()
    y = forms()[form]
    fitted = clone(model).set_params(hierarchy=HOMERTree(2, random_state=0)).fit(X, y)
    assert fitted.hierarchy_ == fitted.hierarchy_learner_.hierarchy_
    assert fitted.hierarchy_.depth.max() > 1
    predicted = fitted.predict(X)
    if form == "sparse":
        assert (predicted != y).nnz == 0
    elif form in ("sets", "frozensets"):
        assert predicted == y
    else:
        assert np.array_equal(np.asarray(predicted), np.asarray(y))
    assert fitted.score(X, y) == 1.0
    order = NAMES if form == "frame" else np.arange(7)
    if form in ("sets", "frozensets", "series"):
        order, Y = np.sort(NAMES), Y[:, ::-1]
    assert fitted.classes_.tolist() == order.tolist()
    assert np.array_equal(fitted.predict_proba(X) > 0.5, Y.astype(bool))


def test_clusters_are_never_predicted():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 3)), rng.random((60, 6)) < 0.3
    y = [set(np.flatnonzero(row).tolist()) for row in Y]
    fitted = MLkNN(5, hierarchy=HOMERTree(2, random_state=0), decoding=0.25).fit(X, y)
    predicted = fitted.predict(X)
    assert set().union(*predicted) <= set(range(6))
    assert any(predicted)
    nodes = fitted.predict_node_sets(X)
    assert nodes[:, fitted.hierarchy_.depth == 1].nnz > 0


def test_a_matrix_of_unnamed_columns_is_scored_by_their_place():
    X, Y = problem()
    fitted = MLkNN(3, hierarchy=HOMERTree(2, random_state=0)).fit(X, pd.DataFrame(Y, columns=NAMES))
    assert fitted.score(X, Y) == 1.0
    assert fitted.score(X, pd.DataFrame(Y[:, ::-1], columns=NAMES[::-1])) == 1.0
    assert fitted.score(X, 1 - Y) < 1.0


def test_one_label_a_row_will_do():
    X, _ = problem()
    names = np.repeat(list("abcdefghi"), 6)
    fitted = LocalPerNodeClassifier(
        DecisionTreeClassifier(), hierarchy=HOMERTree(3, random_state=0)
    )
    assert fitted.fit(X, names).score(X, names) == 1.0


def test_rows_without_weight_say_nothing_of_the_clusters():
    X, Y = problem()
    weights = np.ones(len(X))
    weights[:6] = 0
    weighted = HOMERTree(2, random_state=0).fit(X, Y, weights)
    alone = HOMERTree(2, random_state=0).fit(X[6:], Y[6:])
    assert groups_of(weighted) == groups_of(alone)


def test_labels_of_rows_without_weight_are_not_learnt():
    X, y = problem()[0], forms()["sets"]
    weights, y = np.ones(len(X)), [*y[:-1], {"new"}]
    weights[-1] = 0
    fitted = MLkNN(3, hierarchy=HOMERTree(2, random_state=0)).fit(X, y, sample_weight=weights)
    assert "new" not in fitted.hierarchy_.names.tolist()
    assert fitted.classes_.tolist() == sorted(NAMES.tolist())
    assert fitted.predict(X)[:-1] == y[:-1]


def test_fits_repeat_and_travel():
    X, Y = problem()
    first = HOMERTree(3, random_state=1).fit(X, Y)
    assert HOMERTree(3, random_state=1).fit(X, Y).hierarchy_ == first.hierarchy_
    assert pickle.loads(pickle.dumps(first)).hierarchy_ == first.hierarchy_


def test_columns_without_positives_have_a_leaf():
    X, Y = problem()
    Y[:, 3] = 0
    assert 3 in HOMERTree(2, random_state=0).fit(X, Y).hierarchy_.names.tolist()


class OnlyLabels(BaseEstimator):
    """A learner of hierarchies that takes one label per row."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError


def test_what_cannot_be_learnt_from_is_refused():
    X, Y = problem()
    with pytest.raises(PalmetteError, match="branching=1: expected an integer of at least 2"):
        HOMERTree(1).fit(X, Y)
    with pytest.raises(PalmetteError, match="one class only"):
        HOMERTree().fit(X, [{"a"}] * len(X))
    with pytest.raises(LabelError, match="none of the 54 rows"):
        HOMERTree().fit(X, [set()] * len(X))
    with pytest.raises(LabelError, match="have a hierarchy already"):
        HOMERTree().fit(X, [("a", "b"), ("c", "d")] * 27)
    with pytest.raises(LabelError, match=r"not in the learned hierarchy, e\.g\. 'new'"):
        HOMERTree().fit(X, [{"a"}, {"b"}] * 27).encode([{"new"}])
    with pytest.raises(LabelError, match="learned over labels, but y has paths or sets"):
        MLkNN(hierarchy=OnlyLabels()).fit(X, Y)
