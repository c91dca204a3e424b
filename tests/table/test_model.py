"""A table model stands for the whole way from rows to paths."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from palmette.exceptions import PalmetteError
from palmette.metrics import hierarchical_f1_score
from palmette.persistence import load, save
from palmette.table import TableModel, fit_table


def test_labels_are_those_that_metrics_take(model, goods):
    truth, predicted = model.read_target(goods), model.predict(goods)
    assert hierarchical_f1_score(truth, predicted, hierarchy=model.hierarchy_) == model.score(goods)
    assert set(predicted) <= set(model.classes_)


def test_probabilities_belong_to_classes(model, goods):
    proba = model.predict_proba(goods)
    assert np.allclose(proba.sum(axis=1), 1)
    best = [model.classes_[i] for i in proba.argmax(axis=1)]
    assert best == model.predict(goods)


def test_the_name_of_a_file_will_do(model, goods, tmp_path):
    goods.to_csv(tmp_path / "a.csv", index=False)
    assert model.predict(tmp_path / "a.csv") == model.predict(goods)


def test_columns_are_checked(model):
    known = [*model.schema_.kinds, "kind"]
    assert model.check_columns(known) == []
    assert model.check_columns(["more", *known]) == ["more"]
    with pytest.raises(PalmetteError, match="the table has no columns 'title', 'price'"):
        model.check_columns(["colour", "since"])


def test_it_survives_files_and_pickles(model, goods, tmp_path):
    save(model, tmp_path / "model.palmette")
    for copy in (load(tmp_path / "model.palmette"), pickle.loads(pickle.dumps(model))):
        assert copy.predict(goods) == model.predict(goods)
        assert np.array_equal(copy.predict_proba(goods), model.predict_proba(goods))
        assert copy.summary_ == model.summary_


def test_it_is_an_estimator(model):
    check_is_fitted(model, "estimator_")
    assert clone(TableModel("class-tree")).model == "class-tree"
    assert not hasattr(model, "predict_set")
    with pytest.raises(Exception, match="not fitted"):
        TableModel().predict({"a": [1]})


def test_unknown_labels_are_told_apart(model, goods):
    goods.loc[1, "kind"] = "Food > Bread"
    goods.loc[2, "kind"] = None
    assert np.flatnonzero(~model.labelled_rows(goods)).tolist() == [1, 2]


def test_a_column_of_mostly_zeros_can_be_saved(tmp_path):
    count = np.where(np.arange(40) % 10 == 0, 7.5, 0.0)  # skrub scales it by another class
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"count": count, "x": np.arange(40.0), "kind": ["a", "b"] * 20})
    kinds = {"count": "number", "x": "number"}
    model = fit_table(table, "kind", model="flat-linear", folds=0, columns=kinds)
    save(model, tmp_path / "m.palmette")
    assert list(load(tmp_path / "m.palmette").predict(table)) == list(model.predict(table))
