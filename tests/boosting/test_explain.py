from __future__ import annotations

import copy
import re
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from tests.boosting import insight_cases as cases
from tests.boosting.insight_cases import fit, fitted

import palmette as pm
from palmette.boosting import _explain as explain_module
from palmette.boosting._explain import AVERAGE, Request, parts_of, split_rules
from palmette.boosting._hypotheses import ClassTrees, ColumnParents, Samples, SharedTree
from palmette.exceptions import PalmetteError

pytestmark = pytest.mark.filterwarnings("ignore:boosting stopped at round")

WAYS = ["rule", "feature", "round"]


def path_names(model):
    return model.hierarchy_.path_strings[model.nodes_].tolist()


def assert_adds_up(model, X, table):
    """The contributions of every row and node sum to its score."""
    scores, names = model.predict_node_scores(X), path_names(model)
    sums = table.groupby(["row", "node"])["contribution"].sum()
    expected = [scores[row, names.index(node)] for row, node in sums.index]
    np.testing.assert_allclose(sums, expected, rtol=0, atol=1e-9)


def rows_and_nodes(table):
    return set(zip(table["row"], table["node"], strict=True))


# ---------------------------------------------------------------------- laws


# `test_rounds_are_what_each_adds` explains every model by rounds
@pytest.mark.parametrize(("at", "name"), list(enumerate(cases.MODELS)))
def test_contributions_add_up_to_the_score(at, name):
    X, _ = cases.paths()
    model = fitted(name)
    for by in {"rule", WAYS[at % 3]}:
        table = model.explain(X[:4], path_names(model), by=by)
        assert rows_and_nodes(table) == {(r, n) for r in range(4) for n in path_names(model)}
        assert_adds_up(model, X[:4], table)


# rules count for masks only
RULES = [(name, "all") for name in cases.MODELS_OF_SETS]
RULES += [(name, "any") for name in cases.MODELS_OF_SETS if "mask" in name or name == "logistic"]


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_they_do_in_dags(name, rule):
    X, _ = cases.dag()
    model = fitted(name, "dag", rule)
    assert_adds_up(model, X[:6], model.explain(X[:6], path_names(model), max_rows=None))


@pytest.mark.parametrize("name", ["ada", "mh", "mi trees", "ecc", "ada masked trees", "accurate"])
def test_they_do_with_missing_values(name):
    X, y = cases.paths()
    X = cases.with_gaps(X)
    model = fit(name, X, y)
    table = model.explain(X, max_rows=None)
    assert_adds_up(model, X, table)
    missing = table[table["rule"].str.endswith("is missing")]
    assert len(missing)
    assert np.isnan(X[missing["row"], missing["feature"].astype(int)]).all()


@pytest.mark.parametrize("name", ["ada", "mh", "ecc", "softmax", "accurate"])
@pytest.mark.parametrize("by", ["rule", "round"])
def test_rules_are_true_of_their_rows(name, by):
    X, _ = cases.paths()
    table = fitted(name).explain(X[:10], by=by, max_rows=None)
    splits = table[table["feature"] != ""]
    assert len(splits)
    for line in splits.itertuples():
        feature, side, threshold = re.fullmatch(r"feature (\d+) (<=|>) (\S+)", line.rule).groups()
        assert int(feature) == line.feature
        value = X[line.row, line.feature]
        assert value <= float(threshold) if side == "<=" else value > float(threshold)


def test_adding_up_by_feature_is_adding_up_rules():
    X, _ = cases.paths()
    model = fitted("softmax")
    keys = ["row", "node", "feature"]
    by_round, by_rule, by_feature = (
        model.explain(X[:3], by=by, max_rows=None).groupby(keys)["contribution"].sum()
        for by in ("round", "rule", "feature")
    )
    pd.testing.assert_series_equal(by_rule, by_feature, check_index_type=False)
    pd.testing.assert_series_equal(by_round, by_feature, check_index_type=False)
    told = model.explain(X[:3], by="feature")
    assert not told.duplicated(keys).any()
    assert f"feature 2 = {X[0, 2]:.6g}" in told["rule"].tolist()


@pytest.mark.parametrize("name", cases.MODELS)
def test_rounds_are_what_each_adds(name):
    X, _ = cases.paths()
    model = copy.copy(fitted(name))
    table = model.explain(X[:3], path_names(model), by="round", max_rows=None)
    assert set(table["round"]) == set(range(len(model.rounds_) + 1))
    assert (table["rule"] == "start").sum() == 3 * len(model.nodes_)
    assert (table.loc[table["rule"] == "start", "round"] == 0).all()
    model.rounds_ = model.rounds_[:2]
    if hasattr(model, "_reach"):  # scores keep the scale of all rounds
        model._reach = np.repeat(model._reach[-1:], 3, axis=0)
    assert_adds_up(model, X[:3], table[table["round"] <= 2])


def test_the_score_of_a_node_is_the_mean_over_its_labels_where_these_are_voted_for():
    X, _ = cases.paths()
    for name in ("softmax", "ecc"):
        model = fitted(name)
        scores, names = model.predict_node_scores(X), path_names(model)
        raw = model._scores_of(X)
        labels = model.hierarchy_.path_strings[model.space_.classes].tolist()
        deep = [labels.index("a/y/deep"), labels.index("a/y/deeper")]
        a = [labels.index("a/x"), *deep]
        np.testing.assert_allclose(scores[:, names.index("a/y")], raw[:, deep].mean(axis=1))
        np.testing.assert_allclose(scores[:, names.index("a")], raw[:, a].mean(axis=1))
        # "b" is a label with others below it
        b = [labels.index(label) for label in ("b", "b/x", "b/z")]
        np.testing.assert_allclose(scores[:, names.index("b")], raw[:, b].mean(axis=1))


def test_the_score_of_a_bundle_is_the_mean_over_its_models():
    X, y = cases.paths()
    both = fit("softmax", X, y, loss=("leaf_softmax", "path_softmax"))
    n_labels = len(both.classes_)
    raw = both._scores_of(X)
    c = path_names(both).index("c")
    label = both.hierarchy_.path_strings[both.space_.classes].tolist().index("c")
    expected = (raw[:, label] + raw[:, n_labels + c]) / 2
    np.testing.assert_allclose(both.predict_node_scores(X)[:, c], expected)


# ---------------------------------------------------------------------- by hand


def numbers_of(hypothesis, codes, n_columns):
    wanted = np.ones((len(codes), n_columns), dtype=bool)
    request = Request(Samples(codes), wanted, [f"node {k}" for k in range(n_columns)])
    parts = list(parts_of(hypothesis, sparse.csc_array(np.eye(n_columns)), request))
    said = {number: sentence for sentence, number in request.words.items()}
    return [
        (row, node, said.get(rule, rule), amount)
        for part in parts
        for row, node, rule, amount in zip(
            part.rows.tolist(),
            part.nodes.tolist(),
            part.rules.tolist(),
            part.amounts.tolist(),
            strict=True,
        )
    ]


def test_a_walk_goes_from_mean_to_mean():
    # feature 1 at the root, feature 0 on its right: leaves 2 (10 rows), 6 (5 rows), 7 (1 row)
    tree = SharedTree(
        np.array([-1, 1, -1, 0, -1, -1, -1, -1], dtype=np.int32),
        np.array([0, 3, 0, 7, 0, 0, 0, 0], dtype=np.uint8),
        np.array([-1, -1, 0, -1, -1, -1, 1, 2], dtype=np.int32),
        np.array([[-1.0], [1.0], [4.0]], dtype=np.float32),
        np.array([10.0, 5.0, 1.0], dtype=np.float32),
    )
    told = numbers_of(tree, np.array([[8, 4], [0, 3], [2, 255]], dtype=np.uint8), 1)
    mean = (-10 + 5 + 4) / 16
    expected = [
        (0, AVERAGE, mean),
        (1, AVERAGE, mean),
        (2, AVERAGE, mean),
        (0, (1, 3, 1), 9 / 6 - mean),  # feature 1, cut 3, above
        (1, (1, 3, 0), -1 - mean),
        (2, (1, 0, 2), 9 / 6 - mean),  # missing, whatever the cut
        (0, (0, 7, 1), 4 - 9 / 6),
        (2, (0, 7, 0), 1 - 9 / 6),
    ]
    rules = [rule if rule < 0 else tuple(map(int, split_rules(rule))) for _, _, rule, _ in told]
    assert [(row, rule) for (row, *_), rule in zip(told, rules, strict=True)] == [
        (row, rule) for row, rule, _ in expected
    ]
    np.testing.assert_allclose([amount for *_, amount in told], [a for *_, a in expected])


@pytest.mark.parametrize("need_all", [True, False])
def test_masked_votes_name_the_parents_that_are_against(need_all):
    # three stumps on one feature; the third node has the other two as parents
    signs = np.array([[-1, -1, -1, 1], [-1, -1, 1, -1], [-1, -1, -1, 1]], dtype=np.int8)
    parents = ColumnParents(
        np.array([0, 0, 0, 2], dtype=np.int64), np.array([0, 1], dtype=np.int32), need_all
    )
    features = np.full((3, 4), -1, dtype=np.int32)
    features[:, 1] = 0
    cuts = np.zeros((3, 4), dtype=np.uint8)
    cuts[:, 1] = [4, 8, 8]
    trees = ClassTrees(features, cuts, signs, 0.5 * signs, np.ones((3, 4), np.float32), parents)
    told = numbers_of(trees, np.array([[2], [6], [9]], dtype=np.uint8), 3)
    masked = [(row, rule, amount) for row, node, rule, amount in told if isinstance(rule, str)]
    assert {node for _, node, rule, _ in told if isinstance(rule, str)} <= {2}
    if need_all:
        assert masked == [(0, "masked by node 0", -0.5), (2, "masked by node 1", -0.5)]
    else:
        assert masked == []
    both = trees.signs.copy()
    both[1] = -1  # now nobody votes for row 0
    trees = ClassTrees(features, cuts, both, 0.5 * both, np.ones((3, 4), np.float32), parents)
    told = numbers_of(trees, np.array([[2]], dtype=np.uint8), 3)
    assert (0, 2, "masked by node 0, node 1", -0.5) in told


def test_a_stump_is_told_as_it_is():
    X = pd.DataFrame({"petal length": [1.0, 1.4, 3.5, 6.0], "noise": [0.0, 1.0, 0.0, 1.0]})
    model = pm.AdaBoostMHClassifier(n_estimators=1).fit(X, ["a", "a", "b", "b"])
    alpha = model.rounds_[0].values[0, 2]
    table = model.explain(X.iloc[[2]])
    assert table.columns.tolist() == ["row", "node", "round", "feature", "rule", "contribution"]
    assert table["node"].tolist() == ["b", "b"]
    assert table["round"].tolist() == ["all", "all"]
    assert table["feature"].tolist() == ["", "petal length"]
    assert table["rule"].tolist() == ["start", "petal length > 2.45"]
    np.testing.assert_allclose(table["contribution"], [0.0, alpha], atol=1e-7)


# ---------------------------------------------------------------------- which nodes and lines


def test_predicted_nodes_are_explained_by_default():
    X, _ = cases.paths()
    for name in ("ada", "ecc", "accurate"):
        model = fitted(name)
        expected = {
            (row, "/".join(path[: depth + 1]))
            for row, path in enumerate(model.predict(X[:8]))
            for depth in range(len(path))
        }
        assert rows_and_nodes(model.explain(X[:8])) == expected


def test_predicted_sets_are_explained_by_default():
    X, y = cases.sets()
    model = fit("logistic", X, y, n_estimators=30)
    rows, nodes = model.predict_node_sets(X).nonzero()
    names = model.hierarchy_.path_strings
    expected = {(r, names[n]) for r, n in zip(rows.tolist(), nodes.tolist(), strict=True) if n > 0}
    assert rows_and_nodes(model.explain(X)) == expected


def test_where_nothing_is_predicted_nothing_is_explained():
    X, y = cases.sets()
    table = fit("logistic", X, y, decoding=1.0).explain(X[:3])
    assert table.empty
    assert table.columns.tolist() == explain_module.COLUMNS


def test_the_largest_come_first_and_the_rest_is_one_line():
    X, _ = cases.paths()
    model = fitted("softmax")
    for by in ("rule", "round"):
        whole = model.explain(X[:2], by=by, max_rows=None)
        short = model.explain(X[:2], by=by, max_rows=6)
        assert_adds_up(model, X[:2], short)
        for (_, lines), (_, all_lines) in zip(
            short.groupby(["row", "node"]), whole.groupby(["row", "node"]), strict=True
        ):
            assert len(lines) == 6
            assert lines["rule"].iloc[0] == "start"
            assert lines["rule"].iloc[-1] == f"{len(all_lines) - 5} others"
            assert lines["round"].iloc[-1] == "all"
            assert lines["rule"].tolist()[:5] == all_lines["rule"].tolist()[:5]
            sizes = all_lines["contribution"].abs().to_numpy()[1:]
            assert (np.diff(sizes) <= 0).all()
    assert model.explain(X[:1], "a", max_rows=2)["rule"].iloc[0] == "start"


def test_lines_follow_the_rows_and_the_nodes_asked_for():
    X, _ = cases.paths()
    table = fitted("ada").explain(X[:2], ["c", ("a", "x")], max_rows=2)
    assert table["row"].tolist() == [0] * 4 + [1] * 4
    assert table["node"].tolist() == ["c", "c", "a/x", "a/x"] * 2


def test_chunks_of_rows_change_nothing(monkeypatch):
    X, _ = cases.paths()
    for name in ("ada masked trees", "accurate", "mh estimators"):
        model = fitted(name)
        whole = model.explain(X[:3])
        with monkeypatch.context() as patch:
            patch.setattr(explain_module, "_LINES_AT_ONCE", 1)
            pd.testing.assert_frame_equal(model.explain(X[:3]), whole)


# ---------------------------------------------------------------------- words


def test_masks_are_told_by_the_parents_of_the_hierarchy():
    X, _ = cases.paths()
    for name in ("ada literal mask", "ada masked estimators"):
        model = fitted(name)
        masked = model.explain(X[:20], path_names(model), max_rows=None)
        masked = masked[masked["rule"].str.startswith("masked by")]
        assert len(masked)
        parent = masked["node"].str.rpartition("/")[0]
        assert ("masked by " + parent == masked["rule"]).all()
        assert (masked["feature"] == "").all()
        assert (masked["contribution"] < 0).all()


def test_estimators_of_other_libraries_are_named():
    X, y = cases.paths()
    table = fit("mh", X, y, weak_learner=GaussianNB(), n_estimators=2).explain(X[:5], "a")
    votes = table[table["rule"] != "start"]
    assert set(votes["rule"]) <= {"GaussianNB votes for it", "GaussianNB votes against it"}
    assert (votes["rule"].str.contains("for") == (votes["contribution"] > 0)).all()


def test_thresholds_have_the_digits_they_need():
    X = 1_700_000_000.0 + np.arange(8)[:, None]
    model = fit("mh", X, ["a", "b"] * 4, n_estimators=8)
    rules = model.explain(X[:1], "a", max_rows=None)["rule"].tolist()
    assert "feature 0 <= 1700000000.5" in rules
    assert len(set(rules)) == len(rules)


def test_a_split_off_of_missing_values_is_told_as_one():
    X = np.array([[1.0], [1.0], [np.nan], [np.nan]])
    model = fit("mh", X, ["a", "a", "b", "b"], n_estimators=1)
    assert model.explain(X[[0]], "a")["rule"].tolist()[1] == "feature 0 is not missing"
    assert model.explain(X[[2]], "a")["rule"].tolist()[1] == "feature 0 is missing"
    by_feature = model.explain(X[[0, 2]], "a", by="feature")["rule"].tolist()
    assert by_feature == ["start", "feature 0 = 1", "start", "feature 0 is missing"]


def test_sparse_rows_are_explained_as_dense_ones():
    X, y = cases.paths()
    X = np.where(np.abs(X) < 1, 0, X)
    model = fit("ada", X, y)
    for by in ("rule", "feature"):
        told = model.explain(sparse.csr_array(X[:3]), by=by)
        pd.testing.assert_frame_equal(told, model.explain(X[:3], by=by))


# ---------------------------------------------------------------------- edges


def test_a_model_without_rounds_has_its_start():
    for name in ("ada", "softmax", "accurate"):
        table = fit(name, np.eye(3), ["a", "a", "a"]).explain(np.eye(3)[:1])
        assert table["rule"].tolist() == ["start"]
        np.testing.assert_allclose(table["contribution"], 0)


def test_nodes_without_a_score_are_refused():
    X, _ = cases.paths()
    model = fitted("ada")
    with pytest.raises(PalmetteError, match="'root' has no score"):
        model.explain(X[:1], ["a", "root"])


def test_bad_settings_are_named():
    X, _ = cases.paths()
    model = fitted("ada")
    with pytest.raises(PalmetteError, match="by='tree': expected one of 'rule', 'feature'"):
        model.explain(X[:1], by="tree")
    for max_rows in (1, 2.5):
        with pytest.raises(PalmetteError, match=f"max_rows={max_rows}: expected"):
            model.explain(X[:1], max_rows=max_rows)
    with pytest.raises(NotFittedError):
        pm.AdaBoostMHClassifier().explain(X[:1])


class WithoutPandas:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "pandas":
            raise ImportError(name)


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    X, _ = cases.paths()
    model = fitted("ada")
    monkeypatch.delitem(sys.modules, "pandas")  # None there is more than scikit-learn 1.7 can take
    monkeypatch.setattr(sys, "meta_path", [WithoutPandas, *sys.meta_path])
    with pytest.raises(PalmetteError, match=r"pip install 'palmette\[table\]'"):
        model.explain(X[:1])
