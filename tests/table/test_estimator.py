"""TableModel is an estimator of scikit-learn: rows apart from labels, in all of their forms."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.table.goods import make_goods

from palmette import Hierarchy
from palmette.exceptions import LabelError, PalmetteError
from palmette.persistence import load, save
from palmette.table import TableModel, fit_table

LINEAR = TableModel("flat-linear", folds=0, time=None)
NUMBERS = pd.DataFrame(
    np.random.default_rng(0).normal(0, 0.1, (60, 2)) + np.arange(60)[:, None] % 3 * [1, 2],
    columns=["length", "width"],
)
CODES = np.arange(60) % 3
PATHS = [("a", "x"), ("a", "y"), ("b", "z")]


@pytest.fixture
def rows():
    goods = make_goods()
    return goods.drop(columns="kind"), goods["kind"]


# ---------------------------------------------------------------------- the form of y

FORMS = {
    "list": ["cab"[i] for i in CODES],
    "numbers": CODES * 10,
    "objects": np.array(["cab"[i] for i in CODES], dtype=object),
    "series": pd.Series(["cab"[i] for i in CODES], name="kind", index=range(100, 160)),
    "texts of paths": [" > ".join(PATHS[i]) for i in CODES],
    "tuples": [PATHS[i] for i in CODES],
    "table": np.array([PATHS[i] for i in CODES]),
    "frame": pd.DataFrame([PATHS[i] for i in CODES], columns=["top", "low"]),
    "sets": [{"cab"[i]} for i in CODES],
    "sets of paths": [{PATHS[i]} for i in CODES],
}


def as_lists(labels):
    if isinstance(labels, pd.DataFrame):
        return labels.to_numpy().tolist()
    return labels if isinstance(labels, list) else labels.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_predictions_have_the_form_of_y(form, tmp_path):
    y = FORMS[form]
    model = TableModel("local-per-node-naive-bayes", folds=0).fit(NUMBERS, y)
    found = model.predict(NUMBERS)
    if form in ("list", "texts of paths"):
        y = np.array(y)  # as scikit-learn does
    assert type(found) is type(y)
    assert as_lists(found) == as_lists(y)
    assert model.score(NUMBERS, y) == 1
    best = [model.classes_[i] for i in model.predict_proba(NUMBERS).argmax(axis=1)]
    assert best == [row[0] for row in model.predict_top_k(NUMBERS, 1)[0]]
    save(model, tmp_path / "m.palmette")
    again = load(tmp_path / "m.palmette").predict(NUMBERS)
    assert str(again) == str(found)


def test_names_are_sorted_as_scikit_learn_does_and_so_are_probabilities():
    y = np.array([10, 9, 100])[CODES]
    model = clone(LINEAR).set_params(model="local-per-node-naive-bayes").fit(NUMBERS, y)
    assert model.classes_.tolist() == [9, 10, 100]
    assert log_loss(y, model.predict_proba(NUMBERS), labels=[9, 10, 100]) < 0.1


def test_labels_of_which_some_are_above_others_are_answered():
    tree = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    y = ["x" if i < 30 else "a" if i < 45 else "b" for i in range(60)]
    X = pd.DataFrame({"place": np.arange(60) + 0.5, "noise": NUMBERS["width"]})
    model = clone(LINEAR).set_params(model="local-per-parent", hierarchy=tree).fit(X, y)
    assert set(model.predict(X)) <= {"x", "a", "b", "y"}
    assert model.classes_.tolist() == ["a", "b", "x"]
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (["a", "b"], "inconsistent numbers of samples: 60 rows and 2 labels"),
        (np.eye(3, dtype=int)[CODES], "0/1 matrix: expected sets of labels"),
        (["a", None, "b"] * 20, "missing"),
        (np.random.default_rng(0).random(60), "Unknown label type: continuous"),
    ],
)
def test_labels_that_cannot_be_used_are_named(y, words):
    with pytest.raises(ValueError, match=words):
        clone(LINEAR).fit(NUMBERS, y)


# ---------------------------------------------------------------------- tools of scikit-learn


def test_it_is_cross_validated_and_searched(rows):
    X, y = rows
    for scoring in ("accuracy", "hierarchical_f1", None):
        assert cross_val_score(LINEAR, X, y, scoring=scoring, cv=2).mean() > 0.9
    grid = {"model": ["flat-linear", "local-per-node-naive-bayes"], "drop": [(), ("title",)]}
    found = GridSearchCV(LINEAR, grid, cv=2, scoring="hierarchical_f1").fit(X, y)
    assert found.best_score_ > 0.9
    assert found.predict(X.head(3)).tolist() == y.head(3).tolist()


def test_labels_that_no_fit_has_seen_are_wrong_but_for_what_is_known_of_them(rows):
    X, y = rows
    model = clone(LINEAR).fit(X, y)
    y[:] = "Food > Bread"
    y[y.index % 2 == 1] = "Toys"
    food = np.mean([label.startswith("Food") for label in model.predict(X)[::2]])
    assert model.score(X, y) == pytest.approx(food * 0.5 * 2 / (2 + 1.5))
    assert cross_val_score(model, X, make_goods()["kind"] + "", groups=None, cv=2).mean() > 0.9
    frame = X.assign(kind=y)
    assert model.score(frame) == model.score(X, y)


def test_columns_have_names_and_importances(rows):
    X, y = rows
    model = clone(LINEAR).fit(X, y)
    assert model.feature_names_in_.tolist() == ["title", "price", "colour", "since"]
    assert model.n_features_in_ == 4
    found = permutation_importance(model, X, y, n_repeats=2, random_state=0)
    assert found.importances_mean.shape == (4,)
    shuffled = X[["since", "colour", "price", "title"]].assign(more=1)
    assert model.predict(shuffled).tolist() == model.predict(X).tolist()
    with pytest.raises(PalmetteError, match="has no column 'price' that the model was fitted on"):
        model.predict(X.drop(columns="price"))


def test_rows_without_names_have_the_columns_of_the_fit(rows):
    """As SHAP calls `predict_proba`: cells of rows and of a background, mixed, as one array."""
    X, y = rows
    model = clone(LINEAR).set_params(model="class-tree").fit(X, y)
    cells = X.to_numpy(dtype=object)
    mixed = cells[:3].copy()
    mixed[:, 1] = cells[5, 1]
    assert np.array_equal(model.predict_proba(cells), model.predict_proba(X))
    assert np.array_equal(model.predict_proba(mixed), model.predict_proba(
        pd.DataFrame(mixed, columns=X.columns)))  # fmt: skip
    assert model.predict(cells.tolist()).tolist() == model.predict(X).tolist()
    with pytest.raises(ValueError, match="X has 3 features, but TableModel is expecting 4"):
        model.predict(cells[:, :3])
    by_place = clone(LINEAR).fit(cells, y)
    assert not hasattr(by_place, "feature_names_in_")
    assert list(by_place.schema_.kinds) == ["x0", "x1", "x2", "x3"]
    assert by_place.predict(cells).tolist() == y.tolist()


@pytest.mark.parametrize("name", ["bad", "header", "columns", "index"])
def test_a_column_may_have_the_name_of_an_attribute(name):
    X = NUMBERS.rename(columns={"length": name})
    assert clone(LINEAR).fit(X, CODES).score(X, CODES) == 1


def test_a_warning_is_given_once_per_fit_and_names_the_line_of_the_caller():
    y = np.array(["a", "b", "c"])[CODES]
    X = NUMBERS.assign(copy=y, price=[f"{i}.5" if i % 25 else "?!" for i in range(60)])

    def by_table(X, y):
        fit_table(X.assign(kind=y), "kind", model="flat-linear", folds=3, calibrate="sigmoid")

    for fit in (TableModel("flat-linear", folds=3).fit, by_table):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit(X, y)
        told = [str(each.message) for each in caught]
        assert sum("'copy'" in each for each in told) == 1
        assert sum("'price'" in each for each in told) == 1
        assert len(set(told)) == len(told)
        assert {each.filename for each in caught} == {__file__}


def test_it_explains_what_predictions_rest_on(rows):
    X, y = rows
    model = clone(LINEAR).set_params(model="class-tree").fit(X, y)
    words = model.explain(X.head(2))
    assert words[0].startswith("Food ")
    assert "'title: " in words[0]
    steps = make_pipeline(FunctionTransformer(), clone(LINEAR)).fit(X, y)
    assert steps.score(X, y) == 1


# ---------------------------------------------------------------------- one way to fit


def test_it_is_the_model_of_fit_table_with_its_parameters(rows):
    X, y = rows
    goods = X.assign(kind=y)
    options = {"model": "class-tree", "folds": 2, "columns": {"colour": "category"}, "time": None}
    ours, theirs = TableModel(**options).fit(X, y), fit_table(goods, "kind", **options)
    assert ours.predict_paths(goods) == theirs.predict(goods)
    assert ours.get_params() == theirs.get_params()
    boards = (
        [[line["model"], line["hierarchical_f1"]] for line in made.summary_["leaderboard"]]
        for made in (ours, theirs)
    )
    assert next(boards) == next(boards)
    assert clone(theirs).fit(X, y).predict(X).tolist() == y.tolist()
    assert ours.read_target(goods) == theirs.read_target(goods)


def test_a_loaded_model_is_cloned_without_settings_that_act(rows, tmp_path):
    X, y = rows
    tree = Hierarchy.from_paths(sorted({tuple(each.split(" > ")) for each in y}))
    model = clone(LINEAR).set_params(n_jobs=2, hierarchy=tree).fit(X, y)
    save(model, tmp_path / "m.palmette")
    again = load(tmp_path / "m.palmette")
    assert again.n_jobs is None
    assert again.hierarchy == tree
    fitted = clone(again).fit(X, y)
    assert fitted.predict(X).tolist() == model.predict(X).tolist()


def test_no_parameter_is_the_name_of_a_file(rows, tmp_path):
    X, y = rows
    Hierarchy.from_paths(sorted({tuple(each.split(" > ")) for each in y})).write(
        tmp_path / "t.json"
    )
    with pytest.raises(PalmetteError, match=r"Read the file first: palmette.Hierarchy.read"):
        clone(LINEAR).set_params(hierarchy=str(tmp_path / "t.json")).fit(X, y)
    made = fit_table(X.assign(kind=y), "kind", model="flat-linear", folds=0,
                     hierarchy=tmp_path / "t.json")  # fmt: skip
    assert isinstance(made.hierarchy, Hierarchy)


def test_a_second_fit_on_other_rows_answers_in_the_same_form(rows):
    X, y = rows
    model = clone(LINEAR).fit(X, y)
    again = model.refit(make_goods(60, seed=1))
    assert again is model
    assert model.summary_["rows"] == 60
    assert model.predict(X).tolist() == y.tolist()


def test_a_learned_hierarchy_answers_labels():
    y = np.array(["x > u", "x > v", "y > w"])[CODES]
    model = clone(LINEAR).set_params(hierarchy="learn:mf-tree", model="class-tree").fit(NUMBERS, y)
    assert model.predict(NUMBERS).tolist() == y.tolist()
    assert model.score(NUMBERS, y) == 1
    paths = [tuple(each.split(" > ")) for each in y]
    assert clone(model).fit(NUMBERS, paths).predict(NUMBERS) == paths


WRONG = ("x", -1, None, [], float("nan"), object())


@pytest.mark.parametrize("name", sorted(TableModel().get_params()))
def test_a_wrong_parameter_is_named(name):
    right = {"model": "flat-linear", "folds": 0, "time": None}
    words = []
    for value in WRONG:
        if (name, value) == ("n_jobs", -1):
            continue  # right, and starts processes
        try:
            TableModel(**{**right, name: value}).fit(NUMBERS, CODES)
        except ValueError as error:  # as those of Palmette and of scikit-learn
            words.append(str(error))
    assert words or name == "separator"  # which numbers as labels do not need
    assert [each for each in words if name not in each] == []


# ---------------------------------------------------------------------- checks of scikit-learn

_EXPECTED = {
    "check_classifiers_one_label": "a target with one label is an error that says so",
    "check_fit2d_1sample": "a target with one label is an error that says so",
    "check_classifier_multioutput": "several labels per row are sets, not 0/1 matrices",
    "check_class_weight_classifiers": "weights are balanced or not, none are given by class",
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([LINEAR], expected_failed_checks=lambda estimator: _EXPECTED)
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_labels_of_other_columns_are_refused(rows):
    X, y = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(LINEAR).fit(X.assign(kind=range(80)), y)
    assert model.target_.columns == ["kind_"]  # the table has a column of that name
    with pytest.raises(LabelError, match="missing"):
        model.score(X.assign(kind=range(80)), [None] * 80)
