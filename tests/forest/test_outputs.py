"""Several outputs per row: each column is a classification."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.forest.problems import labelled

from palmette import LabelError, PalmetteError
from palmette.forest import StructuredForestClassifier
from palmette.forest._outputs import OutputTable

X, FLAGS = labelled(n_samples=150)
SIZES = np.array(["small", "medium", "large"])[np.digitize(X[:, 0] + X[:, 1], [-0.8, 0.8])]
COUNTS = np.digitize(X[:, 2], [-1.0, 0.0, 1.0])
TABLE = np.column_stack([SIZES, COUNTS.astype(str)])
FRAME = pd.DataFrame({"size": SIZES, "count": COUNTS, "flag": FLAGS[:, 0].astype(bool)})


def forest(n_estimators=40, **parameters):
    settings = {"random_state": 0, "multioutput": True, **parameters}
    return StructuredForestClassifier(n_estimators, **settings)


def test_every_column_is_learnt():
    model = forest().fit(X, TABLE)
    answers = model.predict(X)
    assert answers.dtype.kind == "U"
    assert answers.shape == TABLE.shape
    assert ((answers == TABLE).mean(axis=0) > 0.9).all()
    assert model.score(X, TABLE) == (answers == TABLE).all(axis=1).mean()
    weights = np.arange(150)
    known = np.average((answers == TABLE).all(axis=1), weights=weights)
    assert model.score(X, TABLE, weights) == pytest.approx(known)


def test_probabilities_are_a_list_as_in_scikit_learn():
    model = forest().fit(X, TABLE)
    proba = model.predict_proba(X)
    assert [table.shape for table in proba] == [(150, 3), (150, 4)]
    assert [classes.tolist() for classes in model.classes_] == [
        ["large", "medium", "small"],
        ["0", "1", "2", "3"],
    ]
    for j, (table, classes) in enumerate(zip(proba, model.classes_, strict=True)):
        np.testing.assert_allclose(table.sum(axis=1), 1)
        assert np.array_equal(model.predict(X)[:, j], classes[table.argmax(axis=1)])


def test_frames_come_back_as_frames():
    frame = FRAME.set_index(np.arange(150) * 10)
    rows = pd.DataFrame(X, index=frame.index).rename(columns=str)
    answers = forest().fit(rows, frame).predict(rows.iloc[5:8])
    pd.testing.assert_index_equal(answers.index, rows.index[5:8])
    assert answers.dtypes.tolist() == frame.dtypes.tolist()
    assert answers.columns.tolist() == ["size", "count", "flag"]
    polar = forest().fit(X, pl.from_pandas(FRAME)).predict(X)
    assert polar.schema == pl.from_pandas(FRAME).schema


def test_lists_may_mix_types():
    rows = [[size, count] for size, count in zip(SIZES.tolist(), COUNTS.tolist(), strict=True)]
    answers = forest().fit(X, rows).predict(X)
    assert isinstance(answers, list)
    assert {type(row[0]) for row in answers} == {str}
    assert {type(row[1]) for row in answers} == {int}


def test_numbers_that_look_like_flags_are_classes():
    model = forest().fit(X, FLAGS[:, :2])
    proba = model.predict_proba(X)
    assert [table.shape for table in proba] == [(150, 2), (150, 2)]
    assert model.predict(X).dtype == FLAGS.dtype


def test_the_answer_is_one_value_a_column_in_the_hierarchy_too():
    model = forest().fit(X, TABLE)
    h = model.hierarchy_
    nodes = model.predict_node_sets(X)
    assert (np.diff(nodes.indptr) == 1 + 2 * 2).all()
    named = {(0, name) for name in SIZES} | {(1, str(count)) for count in COUNTS}
    assert h.n_nodes == 1 + 2 + len(named)
    proba = model.predict_node_proba(X)
    assert (proba[:, h.index([("0",), ("1",)])] == 1).all()


def test_it_is_an_estimator_like_others():
    model = forest(40, oob_score=True).fit(X, TABLE)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    parallel = clone(model).set_params(n_jobs=2).fit(X, TABLE)
    assert np.array_equal(parallel.predict(X), model.predict(X))
    grown = forest(3, warm_start=True, oob_score=True).fit(X, TABLE)
    grown.set_params(n_estimators=40).fit(X, TABLE)
    assert np.array_equal(grown.predict(X), model.predict(X))
    assert [table.shape for table in model.oob_decision_function_] == [(150, 3), (150, 4)]
    scores = zip(model.classes_, model.oob_decision_function_, strict=True)
    best = np.column_stack([classes[table.argmax(axis=1)] for classes, table in scores])
    assert model.oob_score_ == (best == TABLE).all(axis=1).mean()
    plain = model.set_params(multioutput=False).fit(X, FLAGS)
    assert plain.predict(X).shape == FLAGS.shape
    assert plain.thresholds_.shape == (4,)


def test_one_column_and_one_value_will_do():
    model = forest(5).fit(X, np.full((150, 1), "all"))
    assert (model.predict(X) == "all").all()
    assert model.predict_proba(X)[0].tolist() == [[1.0]] * 150


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (SIZES, r"y has shape \(150,\): with multioutput=True expected a table of 2"),
        (sparse.csr_array(FLAGS), "y is a sparse matrix"),
        ([["a"], ["a", "b"]], r"the rows of y have \[1, 2\] values"),
        (np.array([["a", None], ["b", "c"]], dtype=object), r"y\[0, 1\] is missing \(1 missing"),
        (pd.DataFrame([[1.0, np.nan]]), r"y\[0, 1\] is missing"),
    ],
)
def test_tables_that_are_none_are_refused(y, message):
    with pytest.raises(LabelError, match=message):
        OutputTable.read(y)
    with pytest.raises(LabelError, match=message):
        forest().fit(X, y)


def test_parameters_that_do_not_go_with_it():
    from palmette import Hierarchy

    with pytest.raises(PalmetteError, match="expected hierarchy=None"):
        forest(hierarchy=Hierarchy.star("ab")).fit(X, TABLE)
    with pytest.raises(PalmetteError, match=r"decoding=0\.3: multioutput=True"):
        forest(decoding=0.3).fit(X, TABLE)
