"""Table models are calibrated by the test rows of their folds."""

import numpy as np
import pandas as pd
import pytest

from palmette import load, migrate, save
from palmette.calibration._chains import ChainCalibration
from palmette.exceptions import PalmetteError
from palmette.onnx import to_onnx
from palmette.serving._answers import Answerer, Question
from palmette.table import fit_table
from palmette.table._predicting import Wishes, predict_chunks
from palmette.table._sources import TableSource
from palmette.table.answers import PathAnswers


def numbers(n_rows, seed):
    """Make rows of six labels below two nodes, whose evidence is in six columns each."""
    rng = np.random.default_rng(seed)
    label = rng.integers(6, size=n_rows)
    evidence = np.stack([label % 3, label // 3], axis=1) * 1.4 + rng.normal(size=(n_rows, 2))
    noise = rng.normal(size=(n_rows, 12)) * 0.05
    frame = pd.DataFrame(np.repeat(evidence, 6, axis=1) + noise).add_prefix("x")
    frame["y"] = [f"t{each // 3} > c{each}" for each in label]
    return frame


@pytest.fixture(scope="module")
def train():
    return numbers(2000, seed=0)


@pytest.fixture(scope="module")
def test():
    return numbers(4000, seed=1)


@pytest.fixture(scope="module")
def bayes(train):
    return fit_table(train, "y", model="flat-naive-bayes")


def share_right(model, sure, test):
    """Return the share of rows with an answer, and how many of the answers are right."""
    true = np.asarray(model.hierarchy_.index(model.read_target(test)))
    right = (sure <= true) & (true < model.hierarchy_.subtree_end[sure])
    return np.mean(sure > 0), right[sure > 0].mean()


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
def test_naive_bayes_is_right_as_often_as_asked_for(bayes, test, confidence):
    X = bayes.features(test)
    plain = PathAnswers(bayes.estimator_, bayes.hierarchy_)
    _, right = share_right(bayes, plain.sure(plain.class_proba(X), confidence), test)
    assert right < confidence - 0.05
    answers = bayes.path_answers()
    proba = answers.calibrated(answers.class_proba(X))
    answered, right = share_right(bayes, answers.sure(proba, confidence), test)
    assert right >= confidence - 0.02
    assert answered > 0.05


def test_predictions_and_best_labels_stay(bayes, test):
    X = bayes.features(test)
    assert bayes.predict(test) == [tuple(path) for path in bayes.estimator_.predict(X)]
    proba = bayes.predict_proba(test)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    raw = PathAnswers(bayes.estimator_, bayes.hierarchy_).class_proba(X)
    np.testing.assert_array_equal(proba.argmax(axis=1), raw.argmax(axis=1))
    assert raw.max(axis=1).mean() > proba.max(axis=1).mean() + 0.1


def test_nodes_are_coherent(bayes, test):
    nodes, h = bayes.predict_node_proba(test), bayes.hierarchy_
    np.testing.assert_allclose(nodes[:, 0], 1.0)
    for parent in np.unique(h.parents[1:]).tolist():
        children = np.flatnonzero(h.parents == parent)
        np.testing.assert_allclose(nodes[:, children].sum(axis=1), nodes[:, parent], atol=1e-9)
    labels = h.index([tuple(path) for path in bayes.classes_])
    np.testing.assert_allclose(nodes[:, labels], bayes.predict_proba(test))


def test_a_file_keeps_the_calibration(bayes, test, tmp_path):
    save(bayes, tmp_path / "bayes.palmette")
    again = load(tmp_path / "bayes.palmette")
    np.testing.assert_array_equal(again.predict_proba(test), bayes.predict_proba(test))
    answers, more = bayes.path_answers(), again.path_answers()
    proba = bayes.predict_proba(test)
    np.testing.assert_array_equal(more.sure(proba, 0.9), answers.sure(proba, 0.9))


def test_a_file_without_calibration_still_loads(bayes, test, tmp_path):
    old = load_without(bayes, tmp_path)
    assert old.calibration_ is None
    raw = PathAnswers(old.estimator_, old.hierarchy_).class_proba(old.features(test))
    np.testing.assert_array_equal(old.predict_proba(test), raw)


def load_without(model, folder):
    """Store a model as before there was a calibration."""
    kept = model.__dict__.pop("calibration_")
    try:
        save(model, folder / "old.palmette")
    finally:
        model.calibration_ = kept
    return load(folder / "old.palmette")


def test_the_command_and_the_server_show_the_same_probabilities(bayes, test, tmp_path):
    few = test.drop(columns="y")[:20]
    few.to_csv(tmp_path / "few.csv", index=False)
    wishes = Wishes(top=2, confidence=0.9, explain=True)
    found = pd.concat(predict_chunks(bayes, TableSource.of(tmp_path / "few.csv"), wishes))
    _, proba = bayes.predict_top_k(few, 2)
    np.testing.assert_allclose(found["probability_2"], proba[:, 1])
    rows = few.to_dict("records")
    answers = Answerer(bayes).answer([Question([row], limit=2) for row in rows])
    scores = [answer.rows[0]["results"][1]["score"] for answer in answers]
    np.testing.assert_allclose(scores, proba[:, 1], atol=1e-6)


def test_a_changed_hierarchy_keeps_the_calibration(bayes, test):
    moved = migrate(bayes, pd.DataFrame({"old": ["t0 > c0"], "new": ["t0 > zero"]}))
    assert isinstance(moved.calibration_, ChainCalibration)
    np.testing.assert_allclose(
        moved.predict_proba(test).max(axis=1), bayes.predict_proba(test).max(axis=1)
    )


@pytest.mark.parametrize("model", ["class-tree", "flat-linear", "local-per-parent"])
def test_every_model_is_calibrated(train, model):
    assert fit_table(train, "y", model=model, folds=2).calibration_ is not None


def test_a_calibration_that_is_asked_for_wins(train):
    model = fit_table(train, "y", model="flat-naive-bayes", folds=2, calibrate="isotonic")
    assert model.calibration_ is None
    assert type(model.estimator_).__name__ == "CalibratedHierarchicalClassifier"


def test_without_folds_a_class_tree_calibrates_itself(train):
    model = fit_table(train, "y", model="class-tree", folds=0)
    assert model.calibration_ is None
    assert model.estimator_.calibration == "out_of_fold"


def test_a_learned_tree_is_calibrated(train, test):
    flat = train.assign(y=train["y"].str[-2:])
    model = fit_table(flat, "y", hierarchy="learn", model="class-tree", folds=2)
    assert model.calibration_ is not None
    np.testing.assert_allclose(model.predict_proba(test).sum(axis=1), 1.0)


def test_several_labels_are_not_calibrated(train):
    two = train.assign(y=train["y"].str.replace(" > ", ";"))
    model = fit_table(two, "y", labels_separator=";", model="multilabel-linear", folds=2)
    assert model.calibration_ is None


@pytest.mark.parametrize("folds", [0, 2])
def test_a_confidence_without_calibration_is_said(train, tmp_path, folds):
    train[:40].drop(columns="y").to_csv(tmp_path / "few.csv", index=False)
    model, told = fit_table(train, "y", model="flat-naive-bayes", folds=folds), []
    source = TableSource.of(tmp_path / "few.csv")
    list(predict_chunks(model, source, Wishes(confidence=0.9), tell=told.append))
    assert [words.startswith("the model was not calibrated") for words in told] == [True] * (
        not folds
    )
    told.clear()
    list(predict_chunks(model, source, tell=told.append))
    assert told == []


def test_a_table_model_is_no_graph(bayes):
    with pytest.raises(PalmetteError, match=r"without the calibration of the table model"):
        to_onnx(bayes)
