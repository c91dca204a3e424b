"""Columns that say the target in other words: levels, copies and leaks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import palmette as pm
from palmette.exceptions import HierarchyError
from palmette.table import fit_table
from palmette.table._related import find_leaks, find_related

SPECIES = {f"s{k}": (f"family {k // 4}", f"genus {k // 2}") for k in range(12)}


@pytest.fixture
def animals():
    rng = np.random.default_rng(0)
    species = rng.permutation(np.repeat(list(SPECIES), 12))
    place = np.array([int(name[1:]) for name in species])
    return pd.DataFrame(
        {
            "family": [SPECIES[name][0] for name in species],
            "genus": [SPECIES[name][1] for name in species],
            "species": species,
            "length": place + rng.normal(size=len(species)),
            "wild": np.where(place % 4 < 2, "yes", "no"),
            "seen": rng.choice(["river", "wood", "field"], len(species)),
        }
    )


def related(frame, target, **changes):
    frame = frame.assign(**changes)
    inputs = [name for name in frame.columns if name != target]
    codes = frame[target].factorize()[0]
    return find_related(frame, inputs, codes, list(frame.columns).index(target))


def test_levels_above_the_target_and_what_is_below(animals):
    assert related(animals, "species") == (["family", "genus"], {})
    assert related(animals, "genus") == (["family"], {"species": "the target follows from it"})
    levels, copies = related(animals, "family")
    assert not levels
    assert set(copies) == {"genus", "species"}


def test_a_copy_of_the_target(animals):
    found = related(animals, "species", code=animals["species"].factorize()[0])
    assert found == (["family", "genus"], {"code": "it says the same as the target"})


def test_levels_with_gaps_or_beside_each_other_are_left_out(animals):
    gaps = animals["genus"].where(np.arange(len(animals)) % 5 > 0)
    assert related(animals, "species", genus=gaps) == (
        ["family"],
        {"genus": "it follows from the target"},
    )
    sounds = animals["species"].map(lambda name: "aeiou"[int(name[1:]) % 5])
    levels, copies = related(animals, "species", sound=sounds)
    assert levels == ["family", "genus"]
    assert copies == {"sound": "it follows from the target"}


def test_nothing_follows_from_few_rows_repeated_rows_or_texts(animals):
    assert related(animals[:25], "species") == ([], {})
    rng = np.random.default_rng(0)
    titles = [f"a thing that is called {k}" for k in range(40)]
    rows = pd.DataFrame({"title": titles, "kind": rng.choice(["a", "b", "c"], 40)})
    rows = pd.concat([rows] * 5, ignore_index=True)
    assert related(rows, "kind") == ([], {})
    assert related(rows, "kind", price=rng.random(200)) == ([], {})


def test_one_wrong_row_in_a_thousand_changes_nothing(animals):
    many = pd.concat([animals] * 10, ignore_index=True)
    many["length"] += np.arange(len(many))
    many.loc[0, "family"] = "family 0" if many.loc[0, "family"] != "family 0" else "family 1"
    assert related(many, "species").levels == ["family", "genus"]


def test_leaks_are_named(animals):
    codes = animals["species"].factorize()[0]
    inputs = animals.assign(code=codes * 2.5 + 1, batch=[f"b{c}" for c in codes])
    kinds = {"length": "number", "code": "number", "batch": "category", "seen": "category"}
    assert find_leaks(inputs, kinds, codes) == {"code": 1.0, "batch": 1.0}
    assert find_leaks(inputs, kinds, np.arange(len(inputs)) // 140) == {}  # nearly one class


def test_a_table_with_level_columns(animals, tmp_path):
    told = []
    model = fit_table(animals, "species", model="flat-naive-bayes", folds=0, tell=told.append)
    assert told[0].startswith("The columns 'family', 'genus' follow from the target")
    assert list(model.schema_.kinds) == ["length", "wild", "seen"]
    assert model.hierarchy_.max_depth == 3
    pm.save(model, tmp_path / "m.palmette")
    loaded = pm.load(tmp_path / "m.palmette")
    answers = loaded.predict(animals[["length", "wild", "seen"]])
    assert answers[0][:2] == SPECIES[answers[0][2]]
    review = pm.review(loaded, animals.drop(columns=["family", "genus"]), folds=0)
    assert review.attrs["review"]["labelled"] == len(animals)
    # the last level says the rest
    truth = loaded.read_target(animals[["species"]])
    assert truth == loaded.read_target(animals)
    with pytest.raises(HierarchyError, match="s99"):
        loaded.read_target(pd.DataFrame({"species": ["s99"]}))


def test_what_the_user_says_of_a_column_counts(animals):
    as_input = {"family": "category"}
    model = fit_table(
        animals, "species", columns=as_input, drop=["genus"], model="flat-naive-bayes", folds=0,
        tell=lambda sentence: None,
    )  # fmt: skip
    assert list(model.schema_.kinds) == ["family", "length", "wild", "seen"]
    assert model.hierarchy_.max_depth == 1


def test_a_path_has_its_levels_already(animals):
    paths = animals["family"] + " > " + animals["genus"] + " > " + animals["species"]
    told = []
    model = fit_table(
        animals.assign(path=paths).drop(columns="species"), "path", model="flat-naive-bayes",
        folds=0, tell=told.append,
    )  # fmt: skip
    assert list(model.schema_.kinds) == ["length", "wild", "seen"]
    assert set(model.schema_.left_out) == {"family", "genus"}
