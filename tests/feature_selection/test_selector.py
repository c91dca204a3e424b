"""HierarchicalFeatureSelector: the features of every node, and access to them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from tests.feature_selection.problems import HIERARCHY, NOISE, planted

from palmette import (
    HierarchyError,
    LabelError,
    MFTree,
    NodeLabels,
    PalmetteError,
    RelaxedTree,
)
from palmette.feature_selection import HierarchicalFeatureSelector
from palmette.feature_selection import _selector as module
from palmette.feature_selection._base import FeatureScore, NodeScores
from palmette.feature_selection._fsnm import FsnmScore
from palmette.feature_selection._mrmr import MrmrScore
from palmette.feature_selection._univariate import FisherScore

SCORES = ["fisher", "fsnm", "mrmr", "hirr", "f_classif", "mutual_info"]
CHOICES = {"root": NOISE, "a": NOISE + 1, "a/y": NOISE + 2, "b": NOISE + 3}


class GivenScores(FeatureScore):
    """Return given scores, the same at every node."""

    def __init__(self, values=(), sparse_is_final=False, facts=None):
        self.values = values
        self.sparse_is_final = sparse_is_final
        self.facts = facts

    def score(self, problem):
        values = np.array(self.values, dtype=float)
        rows = [values if values.ndim == 1 else values[t] for t in range(len(problem.nodes))]
        return NodeScores(rows, dict(self.facts or {}), self.sparse_is_final)


def chosen(selector):
    return {name: selector.get_support(name, indices=True).tolist() for name in CHOICES}


# ---------------------------------------------------------------------- choosing


@pytest.mark.parametrize("score", SCORES)
def test_every_node_gets_the_feature_that_tells_its_children_apart(score):
    X, y = planted()
    selector = HierarchicalFeatureSelector(score, n_features_to_select=1, random_state=0)
    selector.fit(X, y)
    assert chosen(selector) == {name: [feature] for name, feature in CHOICES.items()}
    assert selector.get_support(indices=True).tolist() == [6, 7, 8, 9]
    assert selector.get_support().tolist() == [False] * 6 + [True] * 4


def test_attributes_are_over_the_nodes_of_the_hierarchy():
    X, y = planted()
    selector = HierarchicalFeatureSelector("fisher", n_features_to_select=3).fit(X, y)
    h = selector.hierarchy_
    assert selector.node_supports_.shape == selector.node_scores_.shape == (h.n_nodes, X.shape[1])
    assert selector.node_supports_.dtype == bool
    has_task = np.diff(selector.node_supports_.indptr) > 0
    assert np.flatnonzero(has_task).tolist() == h.index(["root", "a", "a/y", "b"]).tolist()
    assert np.diff(selector.node_supports_.indptr)[has_task].tolist() == [3] * 4
    assert selector.skipped_nodes_.tolist() == [h.index("c")]
    by_hand = f_classif(X, [path[0] for path in y])[0]  # the same order as Fisher's
    scores = selector.node_scores_[[0]].toarray()[0]
    assert np.argsort(-scores).tolist() == np.argsort(-by_hand).tolist()


def test_nodes_are_asked_for_by_number_name_or_path():
    X, y = planted()
    selector = HierarchicalFeatureSelector("fisher", n_features_to_select=2).fit(X, y)
    node = selector.hierarchy_.index("a/y")
    for way in (node, np.int64(node), "a/y", "y", ("a", "y")):
        assert selector.get_support(way, indices=True).tolist() == (
            selector.node_supports_[[node]].indices.tolist()
        )
    assert not selector.get_support("a/x").any()  # a leaf
    assert not selector.get_support("c").any()  # skipped
    with pytest.raises(HierarchyError, match="'q' is not in the hierarchy"):
        selector.get_support("q")
    with pytest.raises(HierarchyError, match="node number 99 is out of range"):
        selector.get_support(99)


def test_of_equal_scores_the_first_are_chosen():
    X, y = planted()
    values = [1, 2, 2, 2, 0, 0, 0, 0, 0, 1]
    for count, expected in [(1, [1]), (2, [1, 2]), (4, [0, 1, 2, 3]), (6, [0, 1, 2, 3, 4, 9])]:
        selector = HierarchicalFeatureSelector(GivenScores(values), n_features_to_select=count).fit(
            X, y
        )
        assert selector.get_support("a", indices=True).tolist() == expected


@pytest.mark.parametrize(
    ("wanted", "counts"),
    [
        (4, [4, 4, 4, 4]),
        (0.25, [2, 2, 2, 2]),
        (0.01, [1, 1, 1, 1]),
        (1.0, [10, 10, 10, 10]),
        (None, [10, 10, 10, 10]),
        ({"a": 5, ("a", "y"): 0.2, "default": 1}, [1, 5, 2, 1]),
        ({0: 7, 1: 3, "y": 2}, [7, 3, 2, 3]),
    ],
    ids=str,
)
def test_counts_shares_and_dicts(wanted, counts):
    X, y = planted()
    selector = HierarchicalFeatureSelector("fisher", n_features_to_select=wanted).fit(X, y)
    assert [len(each) for each in chosen(selector).values()] == counts


def test_a_threshold_leaves_out_what_is_below_it():
    X, y = planted()
    values = np.arange(10.0)
    every = HierarchicalFeatureSelector(GivenScores(values), n_features_to_select=None, threshold=7)
    assert every.fit(X, y).get_support("a", indices=True).tolist() == [7, 8, 9]
    two = clone(every).set_params(n_features_to_select=2).fit(X, y)
    assert two.get_support("a", indices=True).tolist() == [8, 9]


def test_sparse_models_choose_no_more_than_they_use():
    X, y = planted()
    values = [0, 3, 0, 2, 0, 0, 0, 0, 0, 0]
    final = HierarchicalFeatureSelector(GivenScores(values, True), n_features_to_select=5).fit(X, y)
    assert final.get_support("b", indices=True).tolist() == [1, 3]
    other = HierarchicalFeatureSelector(GivenScores(values), n_features_to_select=5).fit(X, y)
    assert other.get_support("b", indices=True).tolist() == [0, 1, 2, 3, 4]


def test_what_the_score_found_becomes_attributes():
    X, y = planted()
    facts = {"objective_": [3.0, 2.0], "dual_gap_": 1e-9}
    selector = HierarchicalFeatureSelector(GivenScores(np.arange(10), facts=facts)).fit(X, y)
    assert selector.objective_ == [3.0, 2.0]
    assert selector.dual_gap_ == 1e-9
    robust = HierarchicalFeatureSelector(FsnmScore(0.3)).fit(X, y)
    assert len(robust.lambda_max_) == len(robust.node_objectives_) == 4


def test_where_all_scores_would_be_too_many_the_chosen_ones_are_kept(monkeypatch):
    X, y = planted()
    whole = HierarchicalFeatureSelector("fisher", n_features_to_select=2).fit(X, y)
    monkeypatch.setattr(module, "_MAX_SCORES", 39)
    lean = clone(whole).fit(X, y)
    assert whole.node_scores_.nnz == 40
    assert lean.node_scores_.nnz == 8
    np.testing.assert_array_equal(
        lean.node_scores_.toarray(), whole.node_scores_.multiply(whole.node_supports_).toarray()
    )


def test_fewer_features_are_the_best_of_those_chosen():
    X, y = planted()
    for score in ("fisher", MrmrScore()):
        many = HierarchicalFeatureSelector(score, n_features_to_select=6).fit(X, y)
        few = clone(many).set_params(n_features_to_select=2).fit(X, y)
        reduced = many.reduced_to(2)
        assert chosen(reduced) == chosen(few)
        assert [len(each) for each in chosen(many).values()] == [6] * 4
        assert reduced.get_params()["n_features_to_select"] == 2
        assert chosen(many.reduced_to(60)) == chosen(many)
    with pytest.raises(PalmetteError, match="n_features=0"):
        many.reduced_to(0)


# ---------------------------------------------------------------------- y, weights


def test_every_form_of_y_gives_the_same_features():
    X, y = planted()
    h = HIERARCHY
    names = np.array(["/".join(path) for path in y])
    nodes = h.index(list(y))
    indicators = np.zeros((len(y), h.n_nodes), dtype=int)
    indicators[np.arange(len(y)), nodes] = 1
    expected = HierarchicalFeatureSelector("fisher", n_features_to_select=2).fit(X, y)
    for form in (names, pd.Series(names), indicators, [{p} for p in y], NodeLabels.encode(y, h)):
        selector = HierarchicalFeatureSelector("fisher", hierarchy=h, n_features_to_select=2)
        assert chosen(selector.fit(X, form)) == chosen(expected)


def test_a_learner_finds_the_hierarchy():
    X, y = planted()
    leaves = np.array([path[-1] for path in y])
    selector = HierarchicalFeatureSelector("fisher", hierarchy=MFTree(), n_features_to_select=2)
    selector.fit(X, leaves)
    assert selector.hierarchy_ == selector.hierarchy_learner_.hierarchy_
    assert selector.get_support(0).sum() == 2
    with pytest.raises(LabelError, match="is learned over labels"):
        selector.fit(X, y)


def test_weights_are_copies_and_rows_of_none_are_not_there():
    X, y = planted()
    weights = np.arange(len(y)) % 3
    weights[[path[0] == "b" for path in y]] = 0
    copies = np.repeat(np.arange(len(y)), weights)
    selector = HierarchicalFeatureSelector("fisher", n_features_to_select=3)
    weighted = clone(selector).fit(X, y, sample_weight=weights)
    repeated = clone(selector).fit(X[copies], [y[i] for i in copies])
    for name in ("root", "a", "a/y"):
        assert np.array_equal(weighted.get_support(name), repeated.get_support(name))
    assert weighted.hierarchy_.index("b") in weighted.skipped_nodes_


def test_nodes_without_rows_are_skipped():
    X, y = planted()
    kept = np.flatnonzero([path[-1] not in ("deeper", "z", "w") for path in y])
    selector = HierarchicalFeatureSelector("fisher", hierarchy=HIERARCHY, n_features_to_select=1)
    selector.fit(X[kept], [y[i] for i in kept])
    assert selector.skipped_nodes_.tolist() == HIERARCHY.index(["a/y", "b", "c"]).tolist()
    assert selector.get_support("a", indices=True).tolist() == [NOISE + 1]


def test_a_path_that_ends_at_a_node_is_one_of_its_options():
    X, y = planted()
    ends = [path[:2] if path[-1] == "deep" else path for path in y]
    selector = HierarchicalFeatureSelector("fisher", n_features_to_select=1).fit(X, ends)
    assert selector.get_support("a/y", indices=True).tolist() == [NOISE + 2]


# ---------------------------------------------------------------------- transform


def test_transform_takes_all_nodes_or_one():
    X, y = planted()
    selector = HierarchicalFeatureSelector("fisher", n_features_to_select=1).fit(X, y)
    np.testing.assert_array_equal(selector.transform(X), X[:, 6:])
    np.testing.assert_array_equal(selector.transform(X, node="a/y"), X[:, [8]])
    np.testing.assert_array_equal(selector.fit_transform(X, y), X[:, 6:])
    restored = selector.inverse_transform(X[:, 6:])
    np.testing.assert_array_equal(restored[:, 6:], X[:, 6:])
    assert not restored[:, :6].any()


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows_stay_sparse(form):
    X, y = planted()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    for score in ("fisher", "mrmr", "fsnm"):
        dense = HierarchicalFeatureSelector(score, n_features_to_select=2).fit(X, y)
        packed = clone(dense).fit(form(X), y)
        assert chosen(packed) == chosen(dense)
        part = packed.transform(form(X), node="b")
        assert sparse.issparse(part)
        np.testing.assert_array_equal(part.toarray(), dense.transform(X, node="b"))


def test_tables_give_names_and_take_them_back():
    X, y = planted()
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(10)], index=range(5, 5 + len(X)))
    selector = HierarchicalFeatureSelector("fisher", n_features_to_select=1).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["f6", "f7", "f8", "f9"]
    assert selector.get_feature_names_out(node="a").tolist() == ["f7"]
    assert isinstance(selector.transform(frame), np.ndarray)
    selector.set_output(transform="pandas")
    for answer, names in [
        (selector.transform(frame), ["f6", "f7", "f8", "f9"]),
        (selector.transform(frame, node="b"), ["f9"]),
    ]:
        pd.testing.assert_frame_equal(answer, frame[names])
    assert clone(selector).fit(frame, y).transform(frame, node="a").columns.tolist() == ["f7"]
    with pytest.raises(ValueError, match="same order"):
        selector.transform(frame[frame.columns[::-1]])
    plain = HierarchicalFeatureSelector("fisher", n_features_to_select=1).fit(X, y)
    assert plain.get_feature_names_out(node="a").tolist() == ["x7"]
    assert plain.get_feature_names_out(list("abcdefghij"), node="a").tolist() == ["h"]


def test_polars_tables_go_in_and_out():
    pl = pytest.importorskip("polars")
    X, y = planted()
    frame = pl.DataFrame(X, schema=[f"f{j}" for j in range(10)])
    selector = HierarchicalFeatureSelector("fisher", n_features_to_select=1).fit(frame, y)
    answer = selector.set_output(transform="polars").transform(frame, node="b")
    assert answer.columns == ["f9"]
    np.testing.assert_array_equal(answer.to_numpy(), X[:, [9]])


# ---------------------------------------------------------------------- parameters


def test_searches_reach_the_parameters_of_the_score():
    X, y = planted()
    y = np.array(["/".join(path) for path in y])
    selector = HierarchicalFeatureSelector(FsnmScore(), hierarchy=HIERARCHY, n_features_to_select=2)
    pipe = make_pipeline(selector, LogisticRegression())
    grid = {
        "hierarchicalfeatureselector__score__lam": [0.1, 0.3],
        "hierarchicalfeatureselector__n_features_to_select": [1, 3],
    }
    search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_estimator_[0].score_.lam in (0.1, 0.3)
    assert not hasattr(make_pipeline(selector), "score")


def test_the_score_is_a_parameter_and_no_method():
    selector = HierarchicalFeatureSelector(FsnmScore(0.3))
    assert selector.get_params()["score__lam"] == 0.3
    assert not hasattr(selector, "score")
    selector.set_params(score__lam=0.5)
    assert selector.get_params()["score"].lam == 0.5
    selector.score = "fisher"
    assert clone(selector).get_params()["score"] == "fisher"
    assert "score='fisher'" in repr(selector)
    with pytest.raises(AttributeError, match=r"get_params\(\)\['score'\]"):
        selector.score  # noqa: B018


def test_pickles_choose_alike():
    X, y = planted()
    selector = HierarchicalFeatureSelector("mrmr", n_features_to_select=3).fit(X, y)
    again = pickle.loads(pickle.dumps(selector))
    assert chosen(again) == chosen(selector)
    assert chosen(clone(again).fit(X, y)) == chosen(selector)


# ---------------------------------------------------------------------- errors


def test_more_features_than_there_are_is_told_and_all_are_taken():
    X, y = planted()
    with pytest.warns(UserWarning, match="n_features_to_select=11 is more than the 10 features"):
        selector = HierarchicalFeatureSelector("fisher", n_features_to_select=11).fit(X, y)
    assert selector.get_support("a").all()


@pytest.mark.parametrize("wanted", [0, -1, 0.0, 1.5, True, "all"])
def test_what_is_no_number_of_features_is_described(wanted):
    X, y = planted()
    with pytest.raises(PalmetteError, match=r"n_features_to_select=.*expected a count"):
        HierarchicalFeatureSelector("fisher", n_features_to_select=wanted).fit(X, y)


def test_dicts_that_miss_a_node_or_name_another_are_described():
    X, y = planted()
    with pytest.raises(PalmetteError, match=r"no entry for 'root' \(depth 0\)"):
        HierarchicalFeatureSelector("fisher", n_features_to_select={"a": 3}).fit(X, y)
    counts = {"nobody": 3, "default": 1}
    HierarchicalFeatureSelector("fisher", n_features_to_select=counts).fit(X, y)
    with pytest.raises(HierarchyError, match="the key 'nobody', which is not a node"):
        HierarchicalFeatureSelector("fisher", hierarchy=HIERARCHY, n_features_to_select=counts).fit(
            X, y
        )


def test_missing_values_are_refused():
    X, y = planted()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        HierarchicalFeatureSelector("fisher").fit(X, y)


def test_one_class_is_refused():
    X, _ = planted()
    with pytest.raises(LabelError, match=r"one class only, \('a', 'x'\)"):
        HierarchicalFeatureSelector("fisher").fit(X, [("a", "x")] * len(X))


@pytest.mark.parametrize("score", ["fisher", "hirr", "f_classif"])
def test_a_row_with_several_paths_counts_for_each(score):
    X, y = planted()
    several = [{path, y[i + 1]} if i % 3 == 0 else {path} for i, path in enumerate(y[:-1])]
    sets = [*several, set()]  # the last one is left out
    owners = [i for i, paths in enumerate(sets) for _ in paths]
    paths = [path for some in sets for path in sorted(some)]
    weights = np.arange(len(X)) % 3
    for given in (None, weights) if score != "f_classif" else (None,):
        own = None if given is None else given[owners]
        one = HierarchicalFeatureSelector(score).fit(X, sets, given)
        other = HierarchicalFeatureSelector(score).fit(X[owners], paths, own)
        assert (one.node_supports_ != other.node_supports_).nnz == 0
        np.testing.assert_allclose(one.node_scores_.toarray(), other.node_scores_.toarray())


def test_a_dag_that_is_learnt_is_taken():
    X, y = planted()
    names = ["/".join(path) for path in y]
    selector = HierarchicalFeatureSelector(
        "fisher", hierarchy=RelaxedTree(0.0, max_copies=3, random_state=0)
    )
    for labels in (names, [{name, names[0]} for name in names]):
        selector.fit(X, labels)
        assert selector.hierarchy_ == selector.hierarchy_learner_.hierarchy_
        assert not selector.hierarchy_.is_tree


def test_labels_of_rows_without_weight_do_not_count():
    X, _ = planted()
    nothing, weights = [set(), *[{"a"}] * (len(X) - 1)], [1, *[0] * (len(X) - 1)]
    for several in ("copies", "yes_no"):
        with pytest.raises(LabelError, match="has a label"):
            HierarchicalFeatureSelector("fisher", several=several).fit(X, nothing, weights)


def test_where_nothing_is_chosen_the_reason_is_given():
    X, y = planted()
    nothing = GivenScores(np.zeros(10), True, {"lambda_max_": np.array([1.5, 1.5, 2.5, 2.0])})
    with pytest.raises(PalmetteError, match=r"at any node.*lambda_max.*1\.5 to 2\.5, by node"):
        HierarchicalFeatureSelector(nothing).fit(X, y)
    with pytest.raises(PalmetteError, match="threshold=11 is too high: the largest score is 9"):
        HierarchicalFeatureSelector(GivenScores(np.arange(10)), threshold=11).fit(X, y)
    some = np.zeros((4, 10))
    some[0, 2] = 1.0
    with pytest.warns(UserWarning, match="no feature was selected at 'a', 'a/y', 'b'"):
        selector = HierarchicalFeatureSelector(GivenScores(some, True)).fit(X, y)
    assert not selector.get_support("a").any()
    assert selector.transform(X).shape == (len(X), 1)


def test_dense_only_scores_refuse_sparse_rows_by_name():
    class DenseOnly(FisherScore):
        takes_sparse = False

    X, y = planted()
    with pytest.raises(PalmetteError, match=r"DenseOnly\(\) accepts dense rows only"):
        HierarchicalFeatureSelector(DenseOnly()).fit(sparse.csr_array(X), y)


def test_constant_and_equal_columns_do_no_harm():
    X, y = planted()
    X[:, 0] = 7.0
    X[:, 1] = X[:, NOISE]
    for score in SCORES:
        selector = HierarchicalFeatureSelector(score, n_features_to_select=3, random_state=0)
        root = selector.fit(X, y).get_support(0, indices=True).tolist()
        assert 0 not in root
        assert {1, NOISE} & set(root)
