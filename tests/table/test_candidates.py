"""Candidates fit the situation; settings reach them or are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from palmette import Hierarchy
from palmette.exceptions import PalmetteError
from palmette.models import list_models
from palmette.table._candidates import (
    BASELINE,
    Situation,
    apply_settings,
    choose,
    make,
    parse_settings,
    sharpen,
)

H = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z")])
TEXT = Situation(20_000, True, True, False, False, None, H, 0, None)


def tried(situation):
    return [candidate.name for candidate in choose(situation) if candidate.reason is None]


def test_every_candidate_is_registered_and_can_be_made():
    known = {spec.name for spec in list_models()}
    several = replace(TEXT, several_paths=True)
    for situation in (TEXT, replace(TEXT, is_sparse=False), several):
        for candidate in choose(situation):
            assert candidate.name in known
            assert hasattr(make(candidate.name, situation), "fit")


def test_the_baseline_is_always_tried():
    assert BASELINE in tried(TEXT)
    assert BASELINE in tried(replace(TEXT, is_sparse=False, only_text=False))


def test_trees_are_for_tables_of_numbers():
    assert "flat-forest" not in tried(TEXT)
    assert "flat-forest" in tried(replace(TEXT, is_sparse=False))
    assert "hierarchical-boosting" in tried(replace(TEXT, n_features=100))


def test_one_level_needs_no_local_classifiers():
    few = replace(TEXT, n_features=1000)
    assert "local-per-parent" in tried(few)
    assert "local-per-parent" not in tried(replace(few, one_level=True))


def test_many_features_need_sparse_weights():
    assert TEXT.n_features > 4000
    assert not {"flat", "local-per-parent", "local-per-node"} & set(tried(TEXT))


def test_several_paths_need_models_that_take_them():
    several = {spec.name for spec in list_models() if spec.several_paths}
    names = tried(replace(TEXT, several_paths=True, n_features=100))
    assert names[0] == "multilabel-linear"
    assert set(names) <= several


def test_several_paths_of_wide_sparse_tables_are_fitted_without_dense_weights():
    several = replace(TEXT, several_paths=True)
    assert tried(several) == ["multilabel-linear", "label-tree", "label-tree-closed"]
    many = replace(several, hierarchy=Hierarchy.from_paths([(i % 9, i) for i in range(600)]))
    assert tried(many) == ["label-tree-closed", "label-tree", "multilabel-linear"]
    numbers = replace(many, is_sparse=False, only_text=False, n_features=50)
    assert tried(numbers)[:2] == ["label-tree", "label-tree-closed"]
    star = replace(many, hierarchy=Hierarchy.star(map(str, range(600))), one_level=True)
    assert tried(star) == ["label-tree", "multilabel-linear"]


def test_settings_reach_the_model_or_what_is_inside_of_it():
    assert make("class-tree", TEXT, {"beam_width": 7}).beam_width == 7
    assert make("mf-tree", TEXT, {"branching": 3}).estimator.branching == 3
    assert make("flat", TEXT, {"C": 5.0}).estimator.C == 5.0
    with pytest.raises(PalmetteError, match=r"no parameter 'beam_with'. Did you mean beam_width"):
        apply_settings(make("class-tree", TEXT), {"beam_with": 3}, "class-tree")


def test_settings_are_literals_or_words():
    found = parse_settings(["a=1", "b=[1, 2]", "c=word", "d=None", "e=x=y"])
    assert found == {"a": 1, "b": [1, 2], "c": "word", "d": None, "e": "x=y"}
    with pytest.raises(PalmetteError, match="expected key=value"):
        parse_settings(["alone"])


def test_the_final_model_calibrates_itself_unless_told_otherwise():
    assert sharpen(make("class-tree", TEXT), {}).calibration == "out_of_fold"
    assert sharpen(make("class-tree", TEXT), {"calibration": None}).calibration is None
    assert not hasattr(sharpen(make("flat", TEXT), {}), "calibration")
