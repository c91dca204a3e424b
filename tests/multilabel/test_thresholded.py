"""Tuned thresholds for any multi-label estimator."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.multilabel.problems import X, Y

from palmette import HierarchicalBoostingClassifier, Hierarchy
from palmette.decoding import BestF, ShrunkF, TopK, Youden
from palmette.exceptions import LabelError, PalmetteError
from palmette.multilabel import BinaryRelevance, ThresholdedMultilabel, TreesMultilabel

FOREST = RandomForestClassifier(20, random_state=0)

FORMS = [  # every form of predict_proba
    MultiOutputClassifier(GaussianNB()),
    OneVsRestClassifier(LogisticRegression(solver="liblinear")),
    ClassifierChain(LogisticRegression(solver="liblinear"), random_state=0),
    KNeighborsClassifier(7),
    MLPClassifier(5, max_iter=10, random_state=0),
    ExtraTreesClassifier(4, random_state=0),
    make_pipeline(OneVsRestClassifier(GaussianNB())),
    BinaryRelevance(GaussianNB()),
    TreesMultilabel(n_estimators=4, bootstrap=False, random_state=0),
    HierarchicalBoostingClassifier(n_bags=1, n_estimators=4, random_state=0),
]


def f1(truth, answer):
    return 2 * (truth & answer).sum() / (truth.sum() + answer.sum())


def best_f1(truth, score):
    """Best F1 that any threshold reaches."""
    cuts = np.unique(np.r_[0, score])[:-1]
    return max(f1(truth, score > cut) for cut in cuts)


def positive(model, rows):
    """Probabilities of labels, whatever the form."""
    proba = model.predict_proba(rows)
    return np.column_stack([p[:, 1] for p in proba]) if isinstance(proba, list) else proba


# ---------------------------------------------------------------------- folds


@pytest.mark.parametrize("estimator", FORMS, ids=lambda e: type(e).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_thresholds_are_the_best_on_rows_left_out(estimator):
    splits = list(KFold(2, shuffle=True, random_state=0).split(X))
    model = ThresholdedMultilabel(estimator, rule="f1", cv=splits).fit(X, Y)
    held = np.empty(Y.shape)
    for train, test in splits:
        held[test] = positive(clone(estimator).fit(X[train], Y[train]), X[test])
    for score, truth, threshold in zip(held.T, Y.T, model.thresholds_, strict=True):
        assert f1(truth, score > threshold) == pytest.approx(best_f1(truth, score))
    whole = positive(clone(estimator).fit(X, Y), X)
    np.testing.assert_allclose(model.predict_proba(X), whole, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > model.thresholds_)


def test_it_finds_more_of_a_rare_label():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 4))
    truth = (rows[:, :2] + rng.normal(size=(400, 2)) > 2.2).astype(int)
    plain = BinaryRelevance().fit(rows[:200], truth[:200])
    tuned = ThresholdedMultilabel(BinaryRelevance(), random_state=0).fit(rows[:200], truth[:200])
    f_plain = f1_score(truth[200:], plain.predict(rows[200:]), average="macro")
    assert f1_score(truth[200:], tuned.predict(rows[200:]), average="macro") > f_plain + 0.1


def test_folds_are_seeded_and_n_jobs_changes_nothing():
    def tuned(seed, n_jobs=None):
        estimator = MultiOutputClassifier(DecisionTreeClassifier(max_depth=3, max_features=2))
        return ThresholdedMultilabel(estimator, cv=3, n_jobs=n_jobs, random_state=seed).fit(X, Y)

    with parallel_config(backend="threading"):  # processes take their time to start
        first, again = tuned(0), tuned(0, n_jobs=2)
    np.testing.assert_array_equal(first.thresholds_, again.thresholds_)
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))
    assert (first.thresholds_ != tuned(1).thresholds_).any()


def test_rules():
    def tuned(rule):
        estimator = BinaryRelevance(GaussianNB())
        return ThresholdedMultilabel(estimator, cv=3, rule=rule, random_state=0).fit(X, Y)

    by_f, by_name = tuned(BestF(2.0)), tuned("f1")
    assert (by_f.thresholds_ <= by_name.thresholds_).all()  # recall counts for more
    np.testing.assert_array_equal(tuned("youden").thresholds_, tuned(Youden()).thresholds_)
    default = ThresholdedMultilabel(BinaryRelevance(GaussianNB()), cv=3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(default.thresholds_, tuned(ShrunkF()).thresholds_)
    assert (default.thresholds_ != by_name.thresholds_).any()
    top = ThresholdedMultilabel(decoding=TopK(2)).fit(X, Y)
    assert (top.predict(X).sum(axis=1) == 2).all()
    assert not hasattr(top, "thresholds_")
    assert (by_name.set_params(decoding=TopK(1)).predict(X).sum(axis=1) == 1).all()
    with pytest.raises(PalmetteError, match="Fit it again"):
        by_name.set_params(decoding="auto", rule="youden").predict(X)


# ---------------------------------------------------------------------- out of bag


@pytest.mark.parametrize("method", ["auto", "oob"])
def test_forests_are_tuned_out_of_bag(method):
    model = ThresholdedMultilabel(FOREST, rule="f1", method=method).fit(X, Y)
    theirs = clone(FOREST).set_params(oob_score=True).fit(X, Y)
    scores = theirs.oob_decision_function_[:, 1]
    for score, truth, threshold in zip(scores.T, Y.T, model.thresholds_, strict=True):
        assert f1(truth, score > threshold) == pytest.approx(best_f1(truth, score))
    assert not FOREST.oob_score  # what was given is left alone


def test_our_own_scores_out_of_bag_serve():
    trees = TreesMultilabel(n_estimators=20, random_state=0)
    wrapped = ThresholdedMultilabel(trees).fit(X, Y)
    np.testing.assert_array_equal(wrapped.thresholds_, clone(trees).fit(X, Y).thresholds_)
    folds = ThresholdedMultilabel(trees, method="cv", cv=2, random_state=0).fit(X, Y)
    assert (folds.thresholds_ != wrapped.thresholds_).any()


def test_scores_of_rows_that_were_seen_do_not_serve():
    class Vain(TreesMultilabel):
        _tunes_on_seen_rows = True

    model = ThresholdedMultilabel(Vain(n_estimators=15, random_state=0), cv=2, random_state=0)
    by_folds = ThresholdedMultilabel(
        TreesMultilabel(n_estimators=15, random_state=0), cv=2, method="cv", random_state=0
    )
    np.testing.assert_array_equal(model.fit(X, Y).thresholds_, by_folds.fit(X, Y).thresholds_)
    with pytest.raises(PalmetteError, match="no out-of-bag scores"):
        model.set_params(method="oob").fit(X, Y)


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_rows_in_every_bag_have_the_scores_of_all_trees():
    forest = RandomForestClassifier(3, random_state=0)
    model = ThresholdedMultilabel(forest).fit(X, Y)
    theirs = clone(forest).set_params(oob_score=True).fit(X, Y)
    scores = theirs.oob_decision_function_[:, 1].copy()
    missing = theirs.oob_decision_function_.sum(axis=1)[:, 0] == 0
    scores[missing] = positive(theirs, X[missing])
    for score, truth, threshold in zip(scores.T, Y.T, model.thresholds_, strict=True):
        assert f1(truth, score > threshold) == pytest.approx(best_f1(truth, score))


# ---------------------------------------------------------------------- hierarchies, forms


@pytest.mark.parametrize(
    "make",
    [
        lambda h: TreesMultilabel(n_estimators=10, hierarchy=h, random_state=0),
        lambda h: BinaryRelevance(GaussianNB(), hierarchy=h),
        lambda h: HierarchicalBoostingClassifier(h, n_bags=1, n_estimators=10, random_state=0),
        lambda h: OneVsRestClassifier(GaussianNB()),
    ],
)
def test_answers_keep_to_the_hierarchy(make):
    h = Hierarchy.from_paths([("x", "a"), ("x", "b"), ("y", "c"), ("y", "d")])
    sets = [{"abcd"[j] for j in np.flatnonzero(row)} for row in Y]
    estimator = make(h)
    given = None if hasattr(estimator, "hierarchy") else h
    model = ThresholdedMultilabel(estimator, hierarchy=given, cv=2, random_state=0).fit(X, sets)
    assert model.hierarchy_ is h
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    parents, children = h.index(["x", "x", "y", "y"]), h.index(["a", "b", "c", "d"])
    proba, nodes = model.predict_node_proba(X), model.predict_node_sets(X).toarray()
    assert (proba[:, parents] >= proba[:, children]).all()
    assert (nodes[:, parents] >= nodes[:, children]).all()
    assert all(answer <= set("abcdxy") for answer in model.predict(X))


def test_forms_of_y_agree():
    names = np.array(["a", "b", "c", "d"])
    tuned = ThresholdedMultilabel(BinaryRelevance(GaussianNB()), cv=2, random_state=0)
    expected = tuned.fit(X, Y).thresholds_
    sets = [set(names[row.astype(bool)]) for row in Y]
    for y in (sets, pd.DataFrame(Y, columns=names), sparse.csr_array(Y)):
        np.testing.assert_array_equal(clone(tuned).fit(X, y).thresholds_, expected)


def test_texts_go_to_those_who_read_them():
    texts = ["red sky", "blue sky", "red sea", "blue sea", "red sky sea", "blue"] * 4
    sets = [set(text.split()) & {"red", "sky"} for text in texts]
    estimator = make_pipeline(CountVectorizer(), OneVsRestClassifier(LogisticRegression()))
    model = ThresholdedMultilabel(estimator, cv=2, random_state=0).fit(texts, sets)
    assert model.predict(["red sky", "blue sea"]) == [{"red", "sky"}, set()]


def test_one_label_a_row_has_no_thresholds():
    y = np.array(["ant", "bee", "cow"])[Y[:, 0] + Y[:, 1]]
    with pytest.warns(UserWarning, match="one label per row: there are no thresholds"):
        model = ThresholdedMultilabel(OneVsRestClassifier(GaussianNB())).fit(X, y)
    assert not hasattr(model, "thresholds_")
    assert set(model.predict(X)) == {"ant", "bee", "cow"}
    model.fit(X, Y)
    assert model.predict(X).shape == Y.shape


# ---------------------------------------------------------------------- weights


def test_weights_reach_models_and_thresholds():
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    used = np.flatnonzero(weights)
    splits = list(KFold(3).split(used))
    estimator = MultiOutputClassifier(GaussianNB())
    weighted = ThresholdedMultilabel(estimator, cv=splits).fit(X, Y, weights)
    rows = np.repeat(np.arange(len(used)), weights[used])
    copies = [
        (np.flatnonzero(np.isin(rows, a)), np.flatnonzero(np.isin(rows, b))) for a, b in splits
    ]
    copied = ThresholdedMultilabel(estimator, cv=copies)
    copied.fit(X[used][rows], Y[used][rows])
    np.testing.assert_allclose(weighted.thresholds_, copied.thresholds_)
    with pytest.raises(PalmetteError, match="does not accept it"):
        ThresholdedMultilabel(KNeighborsClassifier()).fit(X, Y, weights)


# ---------------------------------------------------------------------- odd input


@pytest.mark.parametrize("estimator", FORMS[:6], ids=lambda e: type(e).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_labels_that_are_constant_everywhere_or_in_a_fold(estimator):
    once = (np.arange(len(Y)) == 5).astype(int)
    odd = np.column_stack([Y[:, 0], np.ones_like(once), np.zeros_like(once), once])
    with pytest.warns(UserWarning, match="no positive row"):
        model = ThresholdedMultilabel(estimator, cv=3, random_state=0).fit(X, odd)
    np.testing.assert_array_equal(model.predict(X)[:, 1:3], [[1, 0]] * len(X))
    np.testing.assert_array_equal(model.thresholds_[1:3], 0.5)


@pytest.mark.parametrize("estimator", FORMS, ids=lambda e: type(e).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_label_and_empty_sets(estimator):
    sets = [{"a"} if flag else set() for flag in Y[:, 0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataConversionWarning)
        model = ThresholdedMultilabel(estimator, cv=2, random_state=0).fit(X, sets)
    assert model.predict_proba(X).shape == (120, 1)
    assert {frozenset(answer) for answer in model.predict(X)} <= {frozenset(), frozenset({"a"})}


def test_labels_that_are_all_constant():
    model = ThresholdedMultilabel(KNeighborsClassifier(), cv=2).fit(X, np.ones((len(X), 2), int))
    assert model.estimator_ is None
    assert (model.predict(X) == 1).all()
    forest = ThresholdedMultilabel(FOREST).fit(X, np.ones((len(X), 2), int))
    assert (forest.predict(X) == 1).all()


def test_more_labels_than_rows():
    many = (np.random.default_rng(1).random((8, 10)) < 0.4).astype(int)
    model = ThresholdedMultilabel(BinaryRelevance(GaussianNB()), cv=2, random_state=0)
    assert model.fit(X[:8], many).predict(X[:8]).shape == (8, 10)


def test_bad_parameters_are_refused():
    for estimator in (LinearSVC(), MultiOutputClassifier(LinearSVC()), "forest"):
        with pytest.raises(PalmetteError, match=r"no predict_proba.*BinaryRelevance"):
            ThresholdedMultilabel(estimator).fit(X, Y)
    with pytest.raises(PalmetteError, match=r"method='loo' is unknown"):
        ThresholdedMultilabel(method="loo").fit(X, Y)
    for estimator in (BinaryRelevance(), ExtraTreesClassifier(), KNeighborsClassifier()):
        with pytest.raises(PalmetteError, match=r"no out-of-bag scores.*method='cv'"):
            ThresholdedMultilabel(estimator, method="oob").fit(X, Y)
    for cv in (1, 0, True):
        with pytest.raises(PalmetteError, match="at least 2 folds"):
            ThresholdedMultilabel(cv=cv).fit(X, Y)
    with pytest.raises(PalmetteError, match=r"cv=5 folds, but there are 4 rows"):
        ThresholdedMultilabel().fit(X[:4], Y[:4])
    with pytest.raises(PalmetteError, match=r"cv tests row \d+ \d times.*every row once"):
        ThresholdedMultilabel(cv=ShuffleSplit(3, random_state=0)).fit(X, Y)
    with pytest.raises(PalmetteError, match="not a rule for several paths"):
        ThresholdedMultilabel(rule="best_path").fit(X, Y)
    for rule in (0.5, "auto", TopK(2)):
        with pytest.raises(PalmetteError, match=r"is not tuned: expected 'shrunk_f1', 'f1'"):
            ThresholdedMultilabel(rule=rule).fit(X, Y)
    with pytest.raises(LabelError, match="expected 0 and 1 only"):
        ThresholdedMultilabel().fit(X, sparse.csr_array(2 * Y))


def test_nan_is_refused_or_not_as_by_the_estimator():
    broken = X.copy()
    broken[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        ThresholdedMultilabel().fit(broken, Y)
    assert ThresholdedMultilabel(FOREST).fit(broken, Y).predict(broken).shape == Y.shape


def test_it_is_searched_over_pickled_and_cloned():
    model = ThresholdedMultilabel(BinaryRelevance(GaussianNB()), cv=2, random_state=0).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert "_held_out" not in vars(model)
    grid = GridSearchCV(model, {"rule": ["f1", "youden"]}, cv=2, scoring="f1_macro").fit(X, Y)
    assert grid.best_params_["rule"] in ("f1", "youden")
