"""Groups of a learned hierarchy are called by words that tell them from their siblings."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from palmette import Hierarchy
from palmette.compare import learn_tree
from palmette.compare._problems import Problem
from palmette.persistence import load, save
from palmette.reporting import report
from palmette.table import fit_table
from palmette.table._group_names import name_groups, words_in
from palmette.table._predicting import Wishes, predict_chunks
from palmette.table._sources import TableSource

CLASSES = {
    "card fee": "the card was charged a fee of payment",
    "card lost": "the card is lost and its payment blocked",
    "flight late": "the flight to town is late at the airport",
    "flight gone": "the airport says the flight is gone",
}
GROUPS = ["group 1", "group 2"]
PAIRS = [*(("root", g) for g in GROUPS), *((GROUPS[i // 2], k) for i, k in enumerate(CLASSES))]


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    kinds = [*CLASSES] * 15
    words = [" ".join(rng.permutation(CLASSES[kind].split())[:7]) for kind in kinds]
    return pd.DataFrame({"text": words, "kind": kinds})


def named(cells, tree=None, kinds=None):
    tree = Hierarchy.from_edges(PAIRS) if tree is None else tree
    kinds = list(CLASSES) if kinds is None else kinds
    rows = sparse.csr_array(
        (np.ones(len(kinds)), (range(len(kinds)), tree.index(kinds))), shape=(len(kinds), len(tree))
    )
    return name_groups(tree, cells, rows)


def labels_of(tree):
    return [tree.vocabulary.preferred[""].get(name) for name in tree.names.tolist()]


def inner_names(tree):
    shown = tree.in_language()
    return shown.names[~shown.is_leaf].tolist()[1:]


def test_words_tell_groups_from_their_siblings():
    tree = named([list(CLASSES.values())])
    groups = inner_names(tree)
    words = [set(name.split(", ")) for name in groups]
    assert "card" in words[0]
    assert words[1] >= {"flight", "airport"}
    assert "the" not in words[0] | words[1]  # which all classes have
    assert tree == Hierarchy.from_edges(PAIRS)  # names of nodes are as they were


def test_words_of_class_names_are_enough():
    assert inner_names(named([])) == ["card, fee, lost", "flight, gone, late"]


def test_groups_without_words_are_called_by_their_largest_classes():
    kinds = ["1", "2", "3", "4 / 5", "6", "7"]
    edges = [("root", "g"), *(("g", kind) for kind in kinds[1:]), ("root", "1")]
    tree = Hierarchy.from_edges(edges)
    assert inner_names(named([np.arange(8.0)], tree, [*kinds, "6", "6"])) == ["6, 2, 3 and 2 more"]
    assert inner_names(named([], tree, [*kinds, "4 / 5", "4 / 5"])) == ["4 5, 2, 3 and 2 more"]


def test_names_are_distinct_and_separate_nothing():
    children = {"root": "gj", "g": "hi", "h": ["a/b > c", "d | e"], "i": ["f", "f g"],
                "j": ["1, 2", "k"], "k": "12"}  # fmt: skip
    tree = Hierarchy.from_edges([(a, b) for a, below in children.items() for b in below])
    shown = named([], tree, ["1", "1, 2"]).in_language()
    assert len(set(shown.names.tolist())) == shown.n_nodes
    for name in inner_names(named([], tree, ["1", "1, 2"])):
        assert not any(mark in name for mark in ("/", ">", "|", "::", "\\", "»", "->"))


def test_scripts_without_spaces_and_with_marks_have_words():
    assert words_in("हिन्दी भाषा") == ["हिन्दी", "भाषा"]
    cells = ["红烧牛肉面", "牛肉汤面", "番茄炒蛋", "番茄蛋汤"]
    groups = inner_names(named([cells]))
    assert "牛肉" in groups[0]
    assert "番茄" in groups[1]


@pytest.mark.parametrize("seed", ["1", "2"])
def test_names_do_not_depend_on_the_order_of_sets(seed):
    code = (
        "from tests.table.test_group_names import *;"
        "print(inner_names(named([list(CLASSES.values())])))"
    )
    env = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(inner_names(named([list(CLASSES.values())])))


def test_a_fit_names_the_groups_it_has_learned(texts, tmp_path):
    model = fit_table(
        texts, "kind", model="class-tree", hierarchy="learn:agglomerative", folds=0,
        columns={"text": "text"},
    )  # fmt: skip
    groups = inner_names(model.hierarchy_)
    assert any(name.startswith("card, ") for name in groups)
    assert "card, " in str(model.hierarchy_)
    save(model, tmp_path / "m.palmette")
    again = load(tmp_path / "m.palmette")
    assert inner_names(again.hierarchy_) == groups
    assert again.predict(texts) == model.predict(texts)
    texts.iloc[:1].assign(text="card payment").to_csv(tmp_path / "t.csv", index=False)
    source = TableSource.of(tmp_path / "t.csv")
    wishes = Wishes(confidence=0.6)
    [found] = predict_chunks(again, source, wishes)
    assert found["sure"].iloc[0] in {*groups, *CLASSES, ""}
    group = int(model.hierarchy_.parents_of(model.hierarchy_.index("card fee"))[0])
    assert model.label_text(model.hierarchy_.path(group)) in groups
    facts = report(again, texts).facts
    assert any(name in str(facts) for name in groups)


def test_learn_shows_them_and_writes_them(texts, tmp_path):
    h = Hierarchy.star(sorted(CLASSES))
    problem = Problem("bank", h, texts["text"].tolist(), texts["kind"].tolist())
    learned = learn_tree(problem, "agglomerative")
    assert any(name.startswith("card, ") for name in inner_names(learned.hierarchy))
