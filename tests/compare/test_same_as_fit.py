"""`compare`, `learn` and `review` read a table, and make its features and folds, as `fit` does."""

from __future__ import annotations

import numpy as np
import pytest
from tests.table.goods import make_goods

from palmette.compare import Problem, compare, find_problem, learn_tree
from palmette.compare._node_complexity import _numbers
from palmette.compare._problems import make_splits
from palmette.reviewing import review
from palmette.reviewing._cross_fit import HeldOut, equal_rows
from palmette.table import fit_table

N_ROWS = 150


def quiet(words):
    """Say nothing."""


def make_table():
    """Return goods that are hard to tell apart, some with equal inputs, with a column of levels."""
    rng = np.random.default_rng(1)
    goods = make_goods(N_ROWS)
    for name in ("title", "price", "colour", "since"):
        rows = rng.choice(N_ROWS, 60, replace=False)
        goods.loc[rows, name] = rng.permutation(goods.loc[rows, name].to_numpy())
    twins = goods.columns[:-1]
    goods.loc[100:119, twins] = goods.loc[0:19, twins].to_numpy()
    goods.insert(0, "department", goods["kind"].str.partition(" > ")[0])
    goods.insert(0, "empty", None)
    return goods


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("same") / "goods.csv"
    make_table().to_csv(path, index=False)
    with path.open("a") as stream:
        stream.write("a,row,with,too,many,cells,in,it\n")
    return path


@pytest.fixture(scope="module")
def problem(path):
    return find_problem(path, "kind", skip_bad_rows=True, tell=quiet)


@pytest.fixture(scope="module")
def fresh():
    return make_table().sample(frac=1.0, random_state=5)[["title", "price", "colour", "since"]]


def test_the_columns_are_those_of_fit(problem, path):
    model = fit_table(
        path, "kind", model="flat-naive-bayes", folds=0, skip_bad_rows=True, tell=quiet
    )
    assert problem.schema.kinds == model.schema_.kinds
    assert problem.schema.left_out == model.schema_.left_out
    assert "department" in problem.schema.left_out
    assert problem.y_train == model.read_target(make_table())
    assert problem.hierarchy == model.hierarchy_


MODELS = ("class-tree", "flat-linear", "flat-naive-bayes", "mf-tree", "local-per-parent-cmtl")


@pytest.mark.parametrize("columns", [None, ["price", "colour", "kind"]])
@pytest.mark.parametrize("name", MODELS)
def test_predictions_on_fresh_rows_are_those_of_fit(name, columns, tmp_path, fresh):
    goods = make_table()
    goods[columns or list(goods)].to_csv(tmp_path / "goods.csv", index=False)
    read = find_problem(tmp_path / "goods.csv", "kind", tell=quiet)
    split = Problem(
        "goods", read.hierarchy, read.X_train, read.y_train, read.schema.cast(fresh),
        read.y_train, schema=read.schema,
    )  # fmt: skip
    answers = {}
    compare([split], [name], receive=lambda split, model, found: answers.update({model: found}))
    model = fit_table(tmp_path / "goods.csv", "kind", model=name, folds=0, tell=quiet)
    assert list(answers[name]) == model.predict(fresh)


@pytest.mark.parametrize("name", MODELS)
def test_figures_are_those_of_the_leaderboard(name, problem, path):
    found = compare([problem], [name], ["hierarchical_f1", "leaf_accuracy"], seed=3)
    model = fit_table(path, "kind", model=name, skip_bad_rows=True, time=None, seed=3, tell=quiet)
    (entry,) = model.summary_["leaderboard"]
    ours = [row["hierarchical_f1"] for row in found.rows]
    np.testing.assert_allclose(ours, entry["hierarchical_f1_by_fold"], atol=1e-6)
    assert [row["split"] for row in found.rows] == [f"fold-{i}" for i in range(1, 11)]
    assert entry["folds"] == 10
    assert np.mean([row["leaf_accuracy"] for row in found.rows]) == pytest.approx(
        entry["accuracy"], abs=1e-6
    )


def test_label_sets_have_the_figures_of_the_leaderboard(tmp_path):
    goods = make_table().drop(columns="department")
    goods["kind"] += ";" + goods["colour"].fillna("x")
    goods.to_csv(tmp_path / "goods.csv", index=False)
    options = {"labels_separator": ";", "separator": " > ", "tell": quiet}
    read = find_problem(tmp_path / "goods.csv", "kind", **options)
    found = compare([read], ["label-tree"], ["hierarchical_f1"])
    model = fit_table(tmp_path / "goods.csv", "kind", model="label-tree", time=None, **options)
    (entry,) = model.summary_["leaderboard"]
    ours = [row["hierarchical_f1"] for row in found.rows]
    np.testing.assert_allclose(ours, entry["hierarchical_f1_by_fold"], atol=1e-6)


def test_the_best_model_is_that_of_the_tournament(problem, path):
    found = compare([problem], ["flat-linear", "class-tree", "flat-naive-bayes"], seed=3)
    model = fit_table(path, "kind", skip_bad_rows=True, time=None, seed=3, tell=quiet)
    full = [entry for entry in model.summary_["leaderboard"] if entry["folds"] == 10]
    assert full[0]["model"] == model.summary_["winner"]
    means = {row["model"]: row["hierarchical_f1"] for row in found.means(problem.name)}
    both = [entry for entry in full if entry["model"] in means]
    assert both
    for entry in both:
        assert entry["hierarchical_f1"] == pytest.approx(means[entry["model"]], abs=1e-6)


@pytest.mark.parametrize("n_splits", [None, 2])
def test_rows_with_equal_inputs_are_on_the_same_side(problem, n_splits):
    for split in make_splits(problem, n_splits, None, 0):
        parts = (split.X_train, split.X_test)
        train, test = (set(map(str, X.to_numpy().tolist())) for X in parts)
        assert not train & test
        assert len(split.X_train) + len(split.X_test) == N_ROWS


@pytest.mark.parametrize("method", ["agglomerative", "mf-tree", "bhc"])
def test_a_learned_hierarchy_is_that_of_fit(method, problem, path):
    learned = learn_tree(problem, method).hierarchy
    model = fit_table(
        path, "kind", hierarchy=f"learn:{method}", model="class-tree", folds=0, skip_bad_rows=True,
        tell=quiet,
    )  # fmt: skip
    assert groups_of(learned) == groups_of(model.hierarchy_)
    rows = np.arange(0, N_ROWS, 7)
    ours, theirs = (_numbers(problem, rows), model.features(make_table().iloc[rows]))
    assert abs(ours - theirs).max() == 0


def groups_of(tree):
    """Return the sets of leaves below the nodes of a tree."""
    above = tree.closure[tree.leaves].toarray().astype(bool)  # leaves by nodes
    names = np.array([str(name).rpartition(" > ")[2] for name in tree.names[tree.leaves]])
    return {frozenset(names[column]) for column in above.T}


def test_a_review_has_the_folds_and_the_models_of_fit(problem, path):
    goods = make_table()
    options = {"model": "class-tree", "folds": 0, "settings": {"calibration": 1.0}}
    model = fit_table(goods, "kind", tell=quiet, **options)
    nodes = np.asarray(model.hierarchy_.index(model.read_target(goods)))
    labelled = np.ones(len(goods), dtype=bool)
    groups = equal_rows(model, goods)
    n_folds = review(model, goods, seed=2).attrs["review"]["folds"]
    held = HeldOut(model, goods, np.unique(nodes), labelled, nodes, groups, n_folds=n_folds, seed=2)
    parts = list(held)
    for part, split in zip(parts, make_splits(problem, None, None, 2), strict=True):
        assert part.rows.tolist() == split.X_test.index.tolist()
        again = fit_table(
            goods.loc[split.X_train.index], "kind", columns=model.schema_.kinds, tell=quiet,
            hierarchy=model.hierarchy_, drop=["empty", "department"], **options,
        )  # fmt: skip
        np.testing.assert_array_equal(part.proba, again.predict_proba(goods.iloc[part.rows]))
