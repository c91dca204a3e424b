"""fit_table with a learner of hierarchies: every learner, one label per row and label sets."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pandas as pd
import pytest

from palmette.class_tree import BHCTree, RelaxedTree
from palmette.exceptions import PalmetteError
from palmette.models import list_tree_learners
from palmette.multilabel import HOMERTree
from palmette.persistence import load, save
from palmette.reporting import report
from palmette.table import fit_table

LEARNERS = [spec.name for spec in list_tree_learners()]
DAG = RelaxedTree(0.0, max_copies=3, random_state=0)
COLUMNS = {"kind": False, "kinds": True}  # and whether rows have several labels


@pytest.fixture(scope="module")
def table():
    """Return rows around the means of their labels, one of `kind` and several of `kinds`."""
    rng = np.random.default_rng(0)
    first = np.arange(80) % 4
    second = np.where(rng.random(80) < 0.5, first, (first + 1) % 4)
    X = rng.normal(0, 0.1, (80, 4))
    X[np.arange(80), first] += 2
    X[np.arange(80), second] += 2
    frame = pd.DataFrame(X, columns=list("tuvw"))
    frame["kind"] = ["abcd"[i] for i in first]
    frame["kinds"] = [
        "|".join(sorted({"abcd"[i], "abcd"[j]})) for i, j in zip(first, second, strict=True)
    ]
    return frame


def fitted(table, target, hierarchy, model="local-per-node", **options):
    frame = table[[*"tuvw", target]]
    mark = {"labels_separator": "|"} if COLUMNS[target] else {}
    return frame, fit_table(frame, target, hierarchy=hierarchy, model=model, **mark, **options)


def share_right(model, frame):
    pairs = zip(model.predict(frame), model.read_target(frame), strict=True)
    return np.mean([a == b for a, b in pairs])


def leaves_of(model):
    return set(model.hierarchy_.names[model.hierarchy_.leaves].tolist())


@pytest.mark.parametrize(
    ("method", "target"), list(zip(LEARNERS, cycle(COLUMNS))), ids=str
)  # `test_a_learner_is_passed_as_an_object` tries both columns
def test_every_learner_serves(table, method, target, tmp_path):
    frame, model = fitted(table, target, f"learn:{method}", "local-per-node-naive-bayes", folds=2)
    assert model.learnt_
    assert leaves_of(model) == set("abcd")
    assert model.several_paths_ == (COLUMNS[target] or not model.hierarchy_.is_tree)
    assert share_right(model, frame) > 0.7
    assert model.summary_["leaderboard"][0]["hierarchical_f1"] > 0.7
    sizes = frame[target].str.split("|").explode().value_counts()
    assert model.summary_["class_rows"] == [sizes[model.label_text(p)] for p in model.classes_]
    save(model, tmp_path / "m.palmette")
    again = load(tmp_path / "m.palmette")
    assert again.predict(frame) == model.predict(frame)
    assert again.score(frame) == model.score(frame)


@pytest.mark.parametrize("target", COLUMNS)
@pytest.mark.parametrize("learner", [BHCTree(), HOMERTree(), DAG], ids=lambda each: str(each)[:4])
def test_a_learner_is_passed_as_an_object(table, learner, target):
    frame, model = fitted(table, target, learner, folds=0)
    assert leaves_of(model) == set("abcd")
    assert model.hierarchy_.is_tree == (learner is not DAG)
    assert share_right(model, frame) > 0.8
    assert model.refit(frame).predict(frame) == model.predict(frame)


@pytest.mark.parametrize("target", COLUMNS)
def test_groups_of_a_learned_hierarchy_are_not_predicted(table, target):
    """Also for rows like none of the table, for which a model is sure of a group at most."""
    frame, model = fitted(table, target, DAG, folds=0)
    far = pd.DataFrame(np.random.default_rng(1).normal(0, 1, (200, 4)), columns=list("tuvw"))
    assert set().union(*model.predict(far)) <= set("abcd")
    best, proba = model.predict_top_k(frame, 2)
    assert {label for row in best for label in row} <= set("abcd")
    assert proba.shape == (80, 2)


def test_one_label_below_a_learned_dag_is_a_set_of_one(table):
    frame, model = fitted(table, "kind", DAG, "class-tree", folds=2)
    assert model.read_target(frame) == [{kind} for kind in frame["kind"]]
    assert share_right(model, frame) > 0.9
    assert set(model.classes_) == set("abcd")


def test_a_model_that_needs_a_tree_says_what_it_made_of_a_dag(table):
    with pytest.warns(UserWarning, match="needs a tree, but RelaxedTree has learned a DAG"):
        frame, model = fitted(table, "kind", DAG, "global-naive-bayes", folds=0)
    assert model.hierarchy_.is_tree
    assert not model.several_paths_
    assert share_right(model, frame) > 0.9


@pytest.mark.parametrize("target", COLUMNS)
@pytest.mark.parametrize("hierarchy", ["learn:homer", DAG], ids=["homer", "dag"])
def test_a_report_of_a_learned_hierarchy(table, hierarchy, target):
    frame, model = fitted(table, target, hierarchy, folds=0)
    facts = report(model, frame).facts
    assert all(figure["value"] > 0.5 for figure in facts["figures"][:3])


@pytest.mark.parametrize("target", COLUMNS)
@pytest.mark.parametrize("wish", [{"calibrate": "isotonic"}, {"coverage": 0.9}], ids=str)
def test_answers_are_calibrated(table, target, wish):
    frame, model = fitted(table, target, "learn:bhc", folds=0, **wish)
    assert leaves_of(model) == set("abcd")
    assert share_right(model, frame) > 0.7


def test_the_learner_sees_paths_as_plain_labels(table):
    frame = table.assign(kind=["letters > " + kind for kind in table["kind"]])
    frame, model = fitted(frame, "kind", "learn:mf", "class-tree", folds=2)
    assert leaves_of(model) == {f"letters > {kind}" for kind in "abcd"}
    assert share_right(model, frame) > 0.9


def test_an_unknown_learner_is_named(table):
    with pytest.raises(PalmetteError, match="no learner of hierarchies 'homr'"):
        fitted(table, "kinds", "learn:homr")
