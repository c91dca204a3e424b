"""What classifiers with any number of paths share: laws on one that compares means, and cases by
hand on one whose node probabilities are its input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags
from tests.instances import label
from tests.laws import laws_of
from tests.laws.problems import PATH_SETS, several
from tests.laws.units import ON_UNITS
from tests.near_means import NearMeans

from palmette import Hierarchy, HierarchyError, LabelError, PalmetteError
from palmette.base._classifier import HierarchicalClassifier
from palmette.decisions._thresholds import Threshold

MODELS = [NearMeans(), NearMeans(by_node=True)]


@pytest.mark.parametrize(
    ("estimator", "law"),
    [(m, law) for m in MODELS for law in laws_of(m) if law not in ON_UNITS],
    ids=label,
)
def test_law(estimator, law):
    law(clone(estimator))


# ---------------------------------------------------------------------- by hand

TREE = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
DAG = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x")])


class Oracle(HierarchicalClassifier):
    """Takes the raw probabilities of its nodes, in the order of the hierarchy, as features."""

    def __init__(self, hierarchy=None, decoding="auto", dag_rule="all", by_node=True):
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.dag_rule = dag_rule
        self.by_node = by_node

    def fit(self, X, y):
        X = self._read_features(X, reset=True)
        self.targets_ = self._learn_target(X, y, by_node=self.by_node)
        return self

    def _node_proba_of(self, X):
        return np.array(X, dtype=float)


# animal, cat, dog, plant, oak
PROBA = np.array([[0.9, 0.8, 0.7, 0.1, 0.0], [0.6, 0.2, 0.3, 0.1, 0.8], [0.4, 0.1, 0.2, 0.3, 0.1]])
COHERENT = [[0.9, 0.8, 0.7, 0.1, 0.0], [0.6, 0.2, 0.3, 0.8, 0.8], [0.4, 0.1, 0.2, 0.3, 0.1]]
SETS = [{"cat", "dog"}, {"oak"}, {"animal"}]


def fitted(y=SETS, hierarchy=TREE, width=5, **parameters):
    return Oracle(hierarchy, **parameters).fit(np.zeros((len(y), width)), y)


def test_targets_are_the_closed_nodes_of_the_columns():
    model = fitted()
    assert model.targets_.dtype == bool
    assert model.targets_.toarray().astype(int).tolist() == [
        [1, 1, 1, 0, 0],
        [0, 0, 0, 1, 1],
        [1, 0, 0, 0, 0],
    ]
    assert TREE.names[model.nodes_].tolist() == ["animal", "cat", "dog", "plant", "oak"]
    few = fitted([{"cat"}, {"cat"}, set()])
    assert TREE.names[few.nodes_].tolist() == ["animal", "cat"]
    assert few.targets_.toarray().tolist() == [[True, True], [True, True], [False, False]]


def test_sets_hold_the_most_specific_nodes_above_the_threshold():
    model = fitted()
    assert model.predict(PROBA) == [{"cat", "dog"}, {"animal", "oak"}, set()]
    assert model.set_params(decoding=0.25).predict(PROBA) == [
        {"cat", "dog"},
        {"dog", "oak"},
        {"animal", "plant"},
    ]
    nodes = model.set_params(decoding="auto").predict_node_sets(PROBA)
    assert nodes.toarray().astype(int).tolist() == [
        [1, 1, 1, 1, 0, 0],
        [1, 1, 0, 0, 1, 1],
        [1, 0, 0, 0, 0, 0],
    ]


def test_ancestors_are_listed_where_y_lists_them():
    model = fitted([{"animal", "cat", "dog"}, {"plant", "oak"}, {"animal"}])
    assert model.predict(PROBA) == [{"animal", "cat", "dog"}, {"animal", "plant", "oak"}, set()]
    labels, proba = model.predict_top_k(PROBA, k=2)
    assert labels == [["animal", "cat"], ["oak", "plant"], ["animal", "plant"]]
    assert proba.tolist() == [[0.9, 0.8], [0.8, 0.8], [0.4, 0.3]]


def test_a_matrix_of_leaves_tells_of_leaves_and_scores_what_it_tells():
    y = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0]])
    model = fitted(y)
    assert model.classes_.tolist() == ["cat", "dog", "oak"]
    assert model.predict(PROBA).tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 0]]
    # 'animal' alone is found in the second row and cannot be told
    assert model.score(PROBA, y) == accuracy_score(y, model.predict(PROBA)) == 1.0
    assert model.score(PROBA, 1 - y) == 0.0
    assert model.predict_proba(PROBA).tolist() == [
        [0.8, 0.7, 0.0],
        [0.2, 0.3, 0.8],
        [0.1, 0.2, 0.1],
    ]


def test_a_matrix_of_some_nodes_tells_what_it_can():
    y = pd.DataFrame({"animal": [0, 1, 0], "cat": [1, 0, 0], "oak": [0, 1, 0]})
    model = fitted(y, width=4)
    assert TREE.names[model.nodes_].tolist() == ["animal", "cat", "plant", "oak"]
    # y lists no ancestors: of 'animal' and 'cat' the second is told
    raw = np.array([[0.9, 0.8, 0.1, 0.0], [0.6, 0.2, 0.1, 0.8], [0.4, 0.1, 0.9, 0.3]])
    assert model.predict(raw).to_numpy().tolist() == [[0, 1, 0], [1, 0, 1], [0, 0, 0]]
    assert model.score(raw, y) == 1.0
    assert model.score(raw, y.assign(animal=1)) == pytest.approx(2 / 3)


def test_a_matrix_with_a_column_for_the_root_gets_it_back():
    star = Hierarchy.star(["a", "b"])
    for h, y in [
        (star, np.array([[1, 1, 1], [1, 0, 1], [1, 0, 0]])),
        (TREE, np.array([[1, 1, 1, 1, 0, 0], [1, 0, 0, 0, 1, 1], [1, 0, 0, 0, 0, 0]])),
    ]:
        model = fitted(y, h, width=h.n_nodes - 1)
        assert np.array_equal(model.predict(y[:, 1:].astype(float)), y)
        assert (model.predict_proba(y[:, 1:].astype(float))[:, 0] == 1.0).all()
        best, _ = model.predict_top_k(y[:, 1:].astype(float), k=1)
        assert set(best[0]) <= set(model.classes_.tolist()[1:])  # never the root
    without = fitted(np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]]), star, width=2)
    assert without.predict(np.ones((1, 2))).tolist() == [[0, 1, 1]]


def test_probabilities_are_made_coherent():
    model = fitted()
    assert model.predict_node_proba(PROBA)[:, 1:].tolist() == COHERENT
    assert model.predict_node_proba(PROBA)[:, 0].tolist() == [1.0] * 3
    assert model.classes_.tolist() == ["animal", "cat", "dog", "oak"]
    assert model.predict_proba(PROBA)[1].tolist() == [0.6, 0.2, 0.3, 0.8]
    assert model.predict_node_proba(PROBA, nodes="plant").tolist() == [[0.1], [0.8], [0.3]]


def test_the_rules_of_a_dag():
    raw = np.array([[0.2, 0.3, 0.9]])
    by_all = fitted([{"x"}, {"b"}], DAG, width=3)
    assert by_all.predict_node_proba(raw).tolist() == [[1.0, 0.9, 0.9, 0.9]]
    assert by_all.predict(raw) == [{"x"}]
    by_any = fitted([{"x"}, {"b"}], DAG, width=3, dag_rule="any")
    assert by_any.predict_node_proba(raw).tolist() == [[1.0, 0.2, 0.9, 0.9]]
    assert by_any.predict_node_sets(raw).toarray().astype(int).tolist() == [[1, 0, 1, 1]]
    listing = fitted([{"x", "a", "b"}, {"b"}], DAG, width=3, dag_rule="any")
    assert listing.predict(raw) == [{"b", "x"}]


def test_one_label_of_a_dag_is_the_one_worth_most():
    model = fitted(np.array(["x", "a", "b"]), DAG, width=3)
    assert model.several_paths_
    # x is worth (.9 - .5) + (.6 - .5) + (.55 - .5); then a -.1, b .2, x -.2
    raw = np.array([[0.9, 0.6, 0.55], [0.4, 0.7, 0.2], [0.7, 0.4, 0.4]])
    assert model.predict(raw).tolist() == ["x", "b", "a"]
    assert model.predict_nodes(raw).tolist() == [3, 2, 1]
    assert model.predict_node_sets(raw).toarray().astype(int)[0].tolist() == [1, 1, 1, 1]
    assert model.score(raw, ["x", "b", "x"]) == pytest.approx(2 / 3)
    # a row has the label a if a is true and x is not: .9 - .55, .4 - .2, .7 - .4
    labels, values = model.predict_top_k(raw, k=1)
    assert labels == [["x"], ["b"], ["x"]]
    np.testing.assert_allclose(values[:, 0], [0.55, 0.7 - 0.2, 0.4])


def test_one_path_a_row_by_node_is_answered_with_one_path():
    paths = [("animal", "cat"), ("animal",), ("plant", "oak")]
    model = fitted(paths, None, width=4)
    assert not model.several_paths_
    assert sparse.issparse(model.targets_)
    assert model.nodes_.tolist() == [1, 2, 3, 4]
    # animal, cat, plant, oak: animal and plant share; of what cat leaves, 'animal' takes its part
    raw = np.array([[0.6, 0.2, 0.2, 0.2], [0.3, 0.5, 0.1, 0.5]])
    expected = [[0.75 * 2 / 3, 0.75 / 3, 0.25], [0.0, 0.5, 0.5]]
    assert model.classes_.tolist() == [("animal",), ("animal", "cat"), ("plant", "oak")]
    np.testing.assert_allclose(model.predict_proba(raw), expected)
    model.set_params(decoding="best_path")
    assert model.predict(raw) == [("animal",), ("animal", "cat")]
    codes = Oracle(by_node=False).fit(np.zeros((3, 4)), paths)
    assert codes.targets_.tolist() == [1, 0, 2]
    assert codes.nodes_.tolist() == [1, 2, 3, 4]


# ---------------------------------------------------------------------- forms


def test_lists_of_zeros_and_ones_are_a_matrix_as_in_scikit_learn():
    rows = [[0, 1, 1], [1, 0, 0], [0, 0, 0]]
    for y in (rows, [np.array(row) for row in rows]):
        model = fitted(y, None, width=3)
        assert model.classes_.tolist() == [0, 1, 2]
        predicted = model.predict(np.array([[0.2, 0.6, 0.9]]))
        assert isinstance(predicted, np.ndarray)
        assert predicted.tolist() == [[0, 1, 1]]
        assert model.score(np.array(rows, dtype=float), y) == 1.0


def test_the_type_of_the_flags_says_nothing_about_the_classes():
    rows = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0]])
    for dtype in (bool, np.uint8, np.float32, np.int64):
        model = fitted(rows.astype(dtype), None, width=3)
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.classes_.dtype == np.int64
        assert model.predict(np.eye(3)).dtype == dtype


def test_rows_of_a_frame_keep_their_index():
    X = pd.DataFrame(PROBA, columns=list("abcde"), index=[7, 3, 5])
    model = Oracle(TREE).fit(X, pd.Series(SETS, index=X.index, name="labels"))
    predicted = model.predict(X.iloc[1:])
    assert predicted.index.tolist() == [3, 5]
    assert predicted.tolist() == [{"animal", "oak"}, set()]
    frame = pd.DataFrame({"oak": [0, 1, 0], "cat": [1, 1, 0]}, index=X.index)
    matrix = Oracle(TREE).fit(X[list("abde")], frame).predict(X[list("abde")].iloc[1:])
    pd.testing.assert_frame_equal(
        matrix, pd.DataFrame({"oak": [1, 0], "cat": [0, 0]}, index=[3, 5])
    )


def test_a_score_may_use_another_form_of_y():
    model = fitted()
    truth = model.predict(PROBA)
    assert model.score(PROBA, truth) == 1.0
    assert model.score(PROBA, model.predict_node_sets(PROBA)) == 1.0
    assert model.score(PROBA, [{"cat", "dog", "animal"}, *truth[1:]]) == 1.0
    assert model.score(PROBA, [{"cat"}, *truth[1:]], sample_weight=[2, 1, 1]) == 0.5
    with pytest.raises(HierarchyError, match="'wolf' is not in the hierarchy"):
        model.score(PROBA, [{"wolf"}, *truth[1:]])
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[3, 2\]"):
        model.score(PROBA, truth[:2])


def test_labels_may_be_mixed_names_and_the_root_is_none():
    model = fitted([{1, "b"}, {1}, set()], None, width=2)
    assert model.classes_.tolist() == [1, "b"]
    rooted = fitted([{"r", "x"}, {"r"}, {"a"}], DAG, width=3)
    assert rooted.classes_.tolist() == ["a", "x"]
    assert rooted.predict(np.array([[1.0, 0.0, 0.0]])) == [{"a"}]


# ---------------------------------------------------------------------- mistakes


def test_one_row_with_several_paths_or_none_makes_it_several():
    rooted = np.array(
        [[1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0], [1, 0, 0, 0, 1, 1]]
    )
    for y in ([{"cat", "oak"}, {"dog"}], [set(), {"dog"}], rooted):
        assert fitted(y, by_node=False).several_paths_
    for y in ([{"cat"}, {"animal", "dog"}], rooted[1:]):
        assert not fitted(y, by_node=False).several_paths_
        assert fitted(y, by_node=False, decoding=0.4).several_paths_
        assert fitted(y, by_node=True).several_paths_


def test_rules_for_the_other_kind_are_refused_before_any_work():
    for rule in ("best_path", "confident", True):
        with pytest.raises(PalmetteError, match="is not a rule for several paths per row or a DAG"):
            fitted(decoding=rule)
    for rule in (0.5, Threshold(0.3)):
        with pytest.raises(PalmetteError, match="a rule for several paths per row, but y has one"):
            fitted(["cat", "dog", "oak"], decoding=rule)
    with pytest.raises(PalmetteError, match="decoding='boldest' is unknown"):
        fitted(["cat", "dog", "oak"], decoding="boldest").predict(PROBA)


def test_labels_that_teach_nothing_are_refused():
    with pytest.raises(LabelError, match="none of the 2 rows of y has a label"):
        fitted(np.zeros((2, 3)), width=5)
    with pytest.raises(LabelError, match="none of the 2 rows of y has a label"):
        fitted(["r", "r"], DAG, width=3)
    with pytest.raises(ValueError, match="requires y to be passed"):
        Oracle().fit(PROBA, None)


def test_a_dag_takes_no_paths():
    with pytest.raises(HierarchyError, match="y as paths"):
        fitted([("a", "x"), ("b",)], DAG)


def test_thresholds_can_be_searched():
    X, y = several(PATH_SETS)
    matrix = np.array([[int(name in str(labels)) for name in "abcd"] for labels in y])
    search = GridSearchCV(NearMeans(decoding=Threshold()), {"decoding__value": [0.0, 0.5]}, cv=2)
    assert search.fit(X, matrix).best_params_ == {"decoding__value": 0.5}


def test_its_tags_say_so():
    assert get_tags(Oracle()).classifier_tags.multi_label
