"""Names of classes that are nearly equal are named, and merged where the user asks for it."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest

import palmette as pm
from palmette.table import fit_table
from palmette.table._near_labels import (
    count_nodes,
    find_spellings,
    respell,
    sentences_on_names,
)

CELLS = ["Food > Fruit"] * 6 + ["food > fruit", "Food > FRUIT", "Food >  Fish", "Tools > Saws"] * 2


def nodes(*labels, times=1):
    return count_nodes([tuple(label.split(" > ")) for label in labels] * times)


@pytest.fixture
def table():
    rows = CELLS * 3
    return pd.DataFrame({"price": [float(len(cell)) for cell in rows], "kind": rows})


def fitted(frame, told, **changes):
    return fit_table(frame, "kind", model="flat-naive-bayes", folds=0, tell=told.append, **changes)


def test_nodes_count_the_rows_below_them():
    assert nodes("a > b", "a > c", "a") == Counter({("a",): 3, ("a", "b"): 1, ("a", "c"): 1})
    assert count_nodes([[("a", "b"), ("c",)]])["a",] == 1


def test_the_most_frequent_spelling_is_taken_on_every_level():
    counts = nodes(*CELLS)
    spellings = find_spellings(counts)
    assert respell(("food", "FRUIT"), spellings) == ("Food", "Fruit")
    assert respell(("FOOD", "Fruit"), spellings) == ("Food", "Fruit")
    assert respell(("Food", "new"), spellings) == ("Food", "new")
    same = nodes("a > b", "b > a")
    assert all(respell(path, find_spellings(same)) == path for path in same)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["Food > Fruit", "Food > fruit"], "written in several ways"),
        (["Food > Dried  Fruit", "Food > Dried Fruit"], "written in several ways"),
        (["Food > Fruit", "Food > Fruits"], "Perhaps the same"),
        (["Food > Berry", "Food > Berries"], "Perhaps the same"),
        (["Food > Box", "Food > Boxes"], "Perhaps the same"),
        (["Food > Fruit", "Tools > Saw", "Fruits"], "a label at the top"),
    ],
)
def test_names_that_are_nearly_equal(labels, words):
    [sentence] = sentences_on_names(nodes(*labels), False)
    assert words in sentence
    assert all(repr(label) in sentence for label in labels if "Saw" not in label)


@pytest.mark.parametrize(
    "labels",
    [
        ["Food > Fruit", "Tools > Fruit"],  # the same name in two branches
        ["Food > Glass", "Food > Glas"],
        ["A1", "A1s"],
        ["cat", "dog", "cats and dogs"],
        ["Food", "Food > Fruit"],
    ],
)
def test_names_that_differ(labels):
    assert sentences_on_names(nodes(*labels), False) == []


def test_spellings_are_named_and_merged_if_asked(table, tmp_path):
    told = []
    assert fitted(table, told).hierarchy_.n_leaves == 5
    assert told[0].endswith("To read them as one, pass --merge-case")
    told.clear()
    model = fitted(table, told, merge_case=True)
    assert sorted(model.hierarchy_.names[model.hierarchy_.leaves].tolist()) == [
        "Fish", "Fruit", "Saws",
    ]  # fmt: skip
    assert "the most frequent one is used" in told[0]
    pm.save(model, tmp_path / "m.palmette")
    truth = pm.load(tmp_path / "m.palmette").read_target(table)
    assert set(truth) == {("Food", "Fruit"), ("Food", "Fish"), ("Tools", "Saws")}


def test_a_given_tree_and_a_second_fit_spell_as_before(table):
    tree = pm.Hierarchy.from_paths([("Food", "Fruit"), ("Food", "Fish"), ("TOOLS", "Saws")])
    model = fitted(table, [], merge_case=True, hierarchy=tree)
    assert model.read_target(table)[-1] == ("TOOLS", "Saws")
    table["kind"] = table["kind"].str.upper().replace("TOOLS > SAWS", "Tools > Saws")
    own = fitted(table, [], merge_case=True)
    again = own.refit(table.assign(kind=table["kind"].str.replace("FISH", "fish")))
    assert again.hierarchy_.n_leaves == 3


def test_labels_of_a_row_that_are_merged_are_one(table):
    table["kind"] = [f"{cell}; Tools > saws" for cell in table["kind"]]
    model = fitted(table, [], labels_separator=";", merge_case=True)
    assert model.hierarchy_.n_leaves == 3
    assert model.read_target(table)[-1] == {("Tools", "saws")}
