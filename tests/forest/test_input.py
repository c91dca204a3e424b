"""Unusual and invalid labels and features: a documented behaviour or a clear error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.forest.problems import labelled

from palmette import LabelError, PalmetteError
from palmette.forest import StructuredForestClassifier

X, Y = labelled(n_samples=60)
NAMES = list(StructuredForestClassifier.presets())


def forest(**parameters):
    return StructuredForestClassifier(**{"n_estimators": 8, "random_state": 0, **parameters})


@pytest.fixture(params=["default", *NAMES])
def any_forest(request):
    few = {"n_estimators": 4, "random_state": 0}
    if request.param == "default":
        return StructuredForestClassifier(**few)
    # the published thresholds are for several labels per row only
    return StructuredForestClassifier.preset(request.param, decoding="auto", **few)


# ---------------------------------------------------------------------- labels


def test_published_thresholds_need_several_labels_per_row():
    with pytest.raises(PalmetteError, match="y has one path per row: expected 'auto'"):
        StructuredForestClassifier.preset("sf-h-cs").fit([[0.0], [1.0]], ["a", "b"])


@pytest.mark.filterwarnings("ignore:1 of the 6 columns of y has no positive row")
def test_a_label_that_never_varies_is_answered_as_it_was(any_forest):
    constant = np.column_stack([Y, np.ones(60, dtype=int), np.zeros(60, dtype=int)])
    model = any_forest.fit(X, constant)
    assert (model.predict(X)[:, 4] == 1).all()
    assert (model.predict(X)[:, 5] == 0).all()
    assert (model.predict_proba(X)[:, 4:] == [1, 0]).all()
    assert model.thresholds_[4:].tolist() == [0.5, 0.5]


def test_a_label_without_positive_rows_warns():
    with pytest.warns(UserWarning, match="1 of the 5 columns of y has no positive row"):
        forest().fit(X, np.column_stack([Y, np.zeros(60, dtype=int)]))


def test_rows_without_labels_are_fine(any_forest):
    empty = Y.copy()
    empty[::3] = 0
    model = any_forest.fit(X, empty)
    assert model.predict(X).shape == Y.shape
    sets = [set(np.flatnonzero(row).tolist()) for row in empty]
    assert set() in any_forest.fit(X, sets).predict(X)


def test_no_label_at_all_is_refused():
    with pytest.raises(LabelError, match="none of the 60 rows of y has a label"):
        forest().fit(X, np.zeros((60, 3), dtype=int))


def test_one_label_is_enough(any_forest):
    one = any_forest.fit(X, [{"a"} if flag else set() for flag in Y[:, 0]])
    assert one.classes_.tolist() == ["a"]
    assert one.predict_proba(X).shape == (60, 1)
    assert {frozenset(answer) for answer in one.predict(X)} == {frozenset(), frozenset({"a"})}
    assert one.thresholds_.shape == (1,)


def test_one_class_is_enough(any_forest):
    model = any_forest.fit(X, np.full(60, "only"))
    assert (model.predict(X) == "only").all()
    assert (model.predict_proba(X) == 1).all()
    assert (model.trees_.left == -1).all()
    assert (model.feature_importances_ == 0).all()


@pytest.mark.filterwarnings("ignore:.* columns of y ha(s|ve) no positive row")
def test_there_may_be_more_labels_than_rows(any_forest):
    many = np.random.default_rng(0).random((60, 200)) < 0.03
    model = any_forest.fit(X, many.astype(int))
    assert model.predict_proba(X).shape == (60, 200)
    assert model.thresholds_.shape == (200,)


def test_one_row_is_enough(any_forest):
    model = any_forest.fit(X[:1], [{"a", "b"}])
    assert model.predict(X[:3]) == [{"a", "b"}] * 3
    assert any_forest.fit(X[:1], ["a"]).predict(X[:2]).tolist() == ["a", "a"]


def test_labels_may_be_texts(any_forest):
    names = np.array(["red", "green", "blue", "none"])
    sets = [set(names[np.flatnonzero(row)].tolist()) for row in Y]
    model = any_forest.fit(X, sets)
    assert model.classes_.tolist() == sorted(names)
    frame = pd.DataFrame(Y, columns=names)
    answers = any_forest.fit(X, frame).predict(X)
    assert answers.columns.tolist() == names.tolist()
    assert any_forest.fit(X, names[Y.argmax(axis=1)]).predict(X).dtype.kind == "U"


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.csc_matrix, pd.DataFrame, np.ndarray.tolist, np.asarray]
)
def test_indicator_matrices_of_every_form(form):
    known = forest().fit(X, Y).predict(X)
    answers = forest().fit(X, form(Y)).predict(X)
    if sparse.issparse(answers):
        answers = answers.toarray()
    assert np.array_equal(np.asarray(answers), known)


def test_an_indicator_of_other_numbers_is_refused():
    with pytest.raises(LabelError, match="contains 2: expected 0 and 1 only"):
        forest().fit(X, sparse.csr_array(Y * 2))


# ---------------------------------------------------------------------- features


def test_missing_and_infinite_values_are_refused():
    for value, message in ((np.nan, "NaN"), (np.inf, "infinity")):
        bad = X.copy()
        bad[3, 1] = value
        with pytest.raises(ValueError, match=message):
            forest().fit(bad, Y)
        with pytest.raises(ValueError, match=message):
            forest().fit(X, Y).predict(bad)


def test_constant_columns_are_harmless(any_forest):
    wide = np.column_stack([X, np.full(60, 7.0), np.zeros(60), np.full(60, 1e12)])
    model = any_forest.fit(wide, Y)
    assert np.isfinite(model.predict_proba(wide)).all()
    assert (model.feature_importances_[8:] == 0).all()
    nothing = any_forest.fit(np.ones((60, 3)), Y)
    assert (nothing.trees_.left == -1).all()


def test_a_row_far_from_all_training_rows_is_answered_or_refused():
    model = forest().fit(X, Y)
    assert np.isfinite(model.predict_proba(np.full((1, 8), 1e30))).all()
    with pytest.raises(PalmetteError, match="too large for single precision"):
        model.predict_proba(np.full((1, 8), 1e60))


# ---------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators=0: expected a positive integer"),
        ({"max_samples": 1.5}, "max_samples=1.5: expected a float above 0 and up to 1"),
        ({"max_samples": 0}, "max_samples=0: expected a float"),
        ({"max_features": "all"}, "max_features='all': expected .* 'sqrt'"),
        ({"max_node_features": 0.0}, "max_node_features=0.0: expected a float"),
        ({"max_labels": -1}, "max_labels=-1: expected a float"),
        ({"max_node_labels": 2}, "max_node_labels=2: expected a float above 0 and up to 1"),
        ({"prior_vote": -1}, "prior_vote=-1: expected a number of at least 0"),
        ({"label_vote": 0}, "label_vote=0: expected a positive number"),
        ({"min_samples_leaf": 0}, "min_samples_leaf=0: expected a positive integer"),
        ({"max_depth": 0}, "max_depth=0: expected a positive integer or None"),
        ({"router": "oblique"}, "router='oblique': expected 'hellinger', 'logistic', 'axis', or"),
        ({"partition": None}, "partition=None: expected 'two_means', or an object"),
        ({"router__sparsity": -1}, "sparsity=-1: expected 'auto' or a number of at least 0"),
        ({"decoding": "best"}, "decoding='best' is not a rule for several paths"),
    ],
)
def test_parameters_that_cannot_be_are_refused(parameters, message):
    if "router__sparsity" in parameters:
        from palmette.routing import Hellinger

        parameters = {"router": Hellinger(sparsity=-1)}
    with pytest.raises(PalmetteError, match=message):
        forest(**parameters).fit(X, Y)


def test_numbers_of_rows_features_and_labels_may_be_given():
    model = forest(max_samples=20, max_features=3, max_node_features=2, max_labels=2).fit(X, Y)
    trees = model.trees_
    assert trees.row_weight.sum() == 8 * 20
    assert (trees.drawn.sum(axis=1) == 2).all()
    node = np.repeat(np.arange(trees.n_nodes), np.diff(trees.weight_starts))
    tree = np.searchsorted(trees.tree_starts, node, side="right") - 1
    for number in range(8):
        assert len(np.unique(trees.weight_features[tree == number])) <= 3
    assert np.diff(trees.weight_starts).max() <= 2
