"""fit_table: every form of target and hierarchy gives a model that answers in paths."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from tests.table.goods import make_goods

from palmette import Hierarchy
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.table import fit_table
from palmette.table._candidates import Candidate

QUICK = {"model": "class-tree", "folds": 0}


def test_a_tournament_is_repeatable_and_tells_all(goods, monkeypatch):
    from palmette.table import _fit as module

    names = ("class-tree", "flat-linear", "flat-naive-bayes")
    monkeypatch.setattr(module, "choose", lambda situation: [Candidate(name) for name in names])
    told = []
    options = {"time": None, "folds": 2, "tell": told.append}
    goods = goods[["title", "kind"]]
    first = fit_table(goods, "kind", **options)
    again = fit_table(goods, "kind", **options)
    board = first.summary_["leaderboard"]
    assert [e["hierarchical_f1"] for e in board] == [
        e["hierarchical_f1"] for e in again.summary_["leaderboard"]
    ]
    assert {first.summary_["model"], "flat-linear"} <= {
        e["model"] for e in board if e["folds"] == 2
    }
    assert board[0]["hierarchical_f1"] > 0.9
    assert np.array_equal(first.predict_proba(goods), again.predict_proba(goods))
    assert told[0] == "80 rows"
    assert told[2] == "target: column 'kind', paths with the separator ' > ' such as 'Food > Fish'"
    assert json.loads(json.dumps(first.summary_)) == first.summary_


def test_a_named_model_is_cross_validated(goods):
    model = fit_table(goods, "kind", model="flat-naive-bayes", columns={"title": "text"},
                      drop=["price", "colour", "since"], folds=2)  # fmt: skip
    (entry,) = model.summary_["leaderboard"]
    assert entry["model"] == "flat-naive-bayes"
    assert entry["folds"] == 2
    assert list(model.schema_.kinds) == ["title"]


def test_rows_without_a_target_are_left_out(goods):
    told = []
    goods.loc[[3, 5], "kind"] = None
    model = fit_table(goods, "kind", tell=told.append, **QUICK)
    assert model.summary_["rows"] == 78
    assert told[0] == "78 rows; 2 rows without a target are left out"
    assert model.labelled_rows(goods).sum() == 78
    with pytest.raises(PalmetteError, match=r"row 4 has no target \(2 such rows\)"):
        model.read_target(goods)


def test_levels_in_columns(goods, model):
    parts = goods["kind"].str.split(" > ", expand=True)
    table = goods.drop(columns="kind").assign(top=parts[0], sub=parts[1])
    levels = fit_table(table, "top,sub", **QUICK)
    assert levels.predict(table) == levels.read_target(table)
    assert levels.hierarchy_ == model.hierarchy_


def test_a_given_hierarchy_may_know_more(goods, tmp_path):
    path = tmp_path / "taxonomy.txt"
    path.write_text("Food > Fruit\nFood > Fish\nFood > Bread\nTools > Saws\nTools > Nails\n")
    goods["kind"] = goods["kind"].str.split(" > ").str[1]
    model = fit_table(goods, "kind", hierarchy=path, **QUICK)
    assert model.hierarchy_ == Hierarchy.read(path)
    assert model.predict(goods.iloc[:1]) == [("Food", "Fruit")]
    goods.loc[0, "kind"] = "Ships"
    with pytest.raises(HierarchyError, match="row 1 of the target has 'Ships'"):
        fit_table(goods, "kind", hierarchy=path, **QUICK)


SKOS = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix : <http://e.org/> .\n"


def fit_with_thesaurus(tmp_path, more, **settings):
    """Fit a label tree to two texts along a thesaurus of three concepts, and more."""
    path = tmp_path / "thesaurus.ttl"
    own = ":a a skos:Concept . :b a skos:Concept ; skos:broader :a . "
    path.write_text(SKOS + own + ":c a skos:Concept ; skos:broader :b .\n" + more)
    rows = {"text": ["red ink", "blue sky"] * 6, "uri": ["http://e.org/b", "http://e.org/c"] * 6}
    return fit_table(pd.DataFrame(rows), "uri", hierarchy=path, **QUICK, **settings)


@pytest.mark.parametrize("more", [":a skos:broader :c .", ":c skos:broader :c ."])
def test_links_that_close_a_cycle_of_a_thesaurus_are_left_out_and_told(tmp_path, more):
    pytest.importorskip("rdflib")
    said = []
    model = fit_with_thesaurus(tmp_path, more, tell=said.append)
    assert model.hierarchy_.n_nodes == 1 + 3
    (line,) = [each for each in said if each.startswith("thesaurus: ")]
    assert "1 links that would put a concept above itself are left out" in line


def test_repairs_of_a_thesaurus_are_told(tmp_path):
    pytest.importorskip("rdflib")
    said = []
    more = ":x a skos:Concept . :b skos:prefLabel 'b'@en, 'bee'@en ; skos:broader :nowhere ."
    model = fit_with_thesaurus(tmp_path, more, tell=said.append)
    assert model.hierarchy_.n_nodes == 1 + 4  # x is below the root
    (line,) = [each for each in said if each.startswith("thesaurus: ")]
    assert "1 links to concepts that are deprecated, undefined" in line
    assert "1 second preferred labels of a language" in line


@pytest.mark.parametrize("method", ["learn", "learn:bhc"])
def test_a_learnt_hierarchy(goods, method):
    goods = goods[["price", "kind"]]
    model = fit_table(goods, "kind", hierarchy=method, model="local-per-parent", folds=2)
    assert model.learnt_
    assert sorted(map(str, model.hierarchy_.names[model.hierarchy_.leaves])) == sorted(
        goods["kind"].unique()
    )
    assert model.predict(goods) == model.read_target(goods)
    assert model.label_text(model.predict(goods)[0]) == "Food > Fruit"
    # scored along the paths that the table has: mistakes among siblings count less
    assert model.summary_["leaderboard"][0]["hierarchical_f1"] > 0.9


def test_several_paths(goods):
    goods["kind"] = goods["kind"] + "; Sold > " + goods["colour"].fillna("r")
    goods = goods[["price", "colour", "kind"]]
    model = fit_table(goods, "kind", labels_separator=";", model="local-per-node", folds=0)
    assert model.several_paths_
    truth = model.read_target(goods)
    assert truth[0] == {("Food", "Fruit"), ("Sold", "r")}
    right = [a == b for a, b in zip(model.predict(goods), truth, strict=True)]
    assert np.mean(right) > 0.8
    proba = model.predict_node_proba(goods)
    parents = model.hierarchy_.parents
    assert (proba[:, 1:] <= proba[:, parents[1:]] + 1e-12).all()


@pytest.mark.parametrize("name", ["mf-tree", "flat-extra-trees", "flat-svm", "adaboost-bhc"])
def test_models_of_all_families(goods, name):
    model = fit_table(goods, "kind", model=name, folds=0)
    assert model.score(goods) > 0.9
    if name != "flat-svm":
        proba = model.predict_node_proba(goods)
        assert np.allclose(proba[:, 0], 1)
        leaves = model.hierarchy_.index(list(model.classes_))
        assert np.allclose(model.predict_proba(goods), proba[:, leaves])
    assert hasattr(model, "predict_proba") == (name != "flat-svm")


def test_calibration_and_sets_wrap_the_winner(goods):
    model = fit_table(goods, "kind", calibrate="temperature", coverage=0.8, **QUICK)
    assert model.predict(goods) == model.read_target(goods)
    sets = model.predict_set(goods)
    assert np.mean([t in s for t, s in zip(model.read_target(goods), sets, strict=True)]) > 0.8


def test_an_interrupt_keeps_the_best_so_far(goods, monkeypatch):
    told = []
    from palmette.table import _fit as module

    real = module.make

    def make(name, *args):
        if name == "flat-linear":
            raise KeyboardInterrupt
        return real(name, *args)

    monkeypatch.setattr(module, "make", make)
    goods = goods[["title", "kind"]]
    model = fit_table(goods, "kind", folds=2, tell=told.append)
    assert model.summary_["model"] == "class-tree"
    assert told[-1] == "interrupted: class-tree is the best so far, and is finished now"
    assert model.summary_["interrupted"] == "Ctrl-C"


def test_after_sigterm_the_model_of_the_tournament_is_kept(goods, monkeypatch):
    from palmette.table import _fit as module

    real, told = module.make, []

    def make(name, *args):
        if name == "flat-linear":
            raise SystemExit(143)
        return real(name, *args)

    monkeypatch.setattr(module, "make", make)
    model = fit_table(goods[["title", "kind"]], "kind", folds=2, tell=told.append)
    assert model.summary_["interrupted"] == "SIGTERM"
    assert "kept class-tree as fitted on 40 rows" in told[-1]
    assert model.summary_["rows_fitted"] == 40


def test_a_search_varies_the_best_models(goods):
    goods = goods[["title", "kind"]]
    model = fit_table(goods, "kind", folds=2, model="class-tree", search=True)
    names = [entry["model"] for entry in model.summary_["leaderboard"]]
    assert {"class-tree", "class-tree C=0.25", "class-tree C=4.0"} <= set(names)
    winner = model.summary_["winner"]
    assert model.summary_["model"] == model.model == "class-tree"
    assert model.summary_["leaderboard"][0]["model"] == winner
    assert model.summary_["settings"].get("router__C", "scale") == model.estimator_.router.C
    fixed = fit_table(goods, "kind", folds=2, model="class-tree", search=True,
                      settings={"router__C": 2.0})  # fmt: skip
    names = {entry["model"] for entry in fixed.summary_["leaderboard"]}
    assert names == {"class-tree", "class-tree loss=logistic"}


def test_a_second_interrupt_keeps_what_is_fitted(goods, monkeypatch):
    from palmette.table import _final

    def interrupt(*args):
        raise KeyboardInterrupt

    told = []
    monkeypatch.setattr(_final, "_fit", interrupt)
    goods = goods[["title", "kind"]]
    model = fit_table(goods, "kind", model="class-tree", folds=2, tell=told.append)
    assert told[-1].startswith("interrupted: kept class-tree")
    assert model.predict(goods.iloc[:2]) == [("Food", "Fruit"), ("Food", "Fish")]
    with pytest.raises(KeyboardInterrupt):
        fit_table(goods, "kind", **QUICK)


def test_fit_again_on_other_rows(goods):
    model = fit_table(goods, "kind", drop=["since"], settings={"beam_width": 2}, **QUICK)
    again = model.refit(make_goods(60, seed=1))
    assert again is model
    assert model.summary_["rows"] == 60
    assert list(model.schema_.kinds) == ["title", "price", "colour"]
    assert model.summary_["settings"] == {"beam_width": 2}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"model": "boostin"}, "no model 'boostin'"),
        ({"settings": {"C": 1}}, "settings need a model chosen by name"),
        ({"folds": 1}, "folds=1"),
        ({"time": 0}, "time=0"),
        ({"coverage": 2}, "coverage=2"),
        ({"calibrate": "magic"}, "calibrate='magic'"),
        ({"drop": ["kind"]}, "is the target"),
        ({"drop": ["prize"]}, "Did you mean 'price'"),
        ({"target": "knd"}, "Did you mean 'kind'"),
        ({"hierarchy": "learn:magic"}, "no learner of hierarchies 'magic'"),
        ({"hierarchy": 3}, "hierarchy is a int"),
    ],
)
def test_mistakes_are_named(goods, wrong, words):
    with pytest.raises(PalmetteError, match=words):
        fit_table(goods, **{"target": "kind", **wrong})


def test_a_model_that_does_not_suit_the_table_is_refused(goods):
    with pytest.raises(PalmetteError, match="flat-svm cannot be fitted on this table"):
        fit_table(goods, "kind", model="flat-svm", settings={"C": -1.0}, folds=0)


def test_naive_bayes_takes_texts_beside_numbers_and_categories(goods):
    model = fit_table(goods, "kind", model="flat-naive-bayes", folds=2)
    assert model.estimator_.estimator.alpha == 0.01
    assert model.summary_["leaderboard"][0]["hierarchical_f1"] > 0.9


def test_one_label_is_nothing_to_learn(goods):
    goods["kind"] = "all > the same"
    with pytest.raises(PalmetteError, match="one label only"):
        fit_table(goods, "kind", **QUICK)
