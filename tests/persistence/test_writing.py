"""Saving: whole or not at all, the same bytes for the same object, files that people can read."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from tests.persistence.round_trips import again, bytes_of

import palmette
from palmette import Hierarchy, PalmetteError
from palmette.persistence import load, save


def fitted():
    X = np.random.default_rng(0).normal(size=(30, 3))
    return palmette.ClassTreeClassifier().fit(X, [("a", "x"), ("a", "y"), ("b", "z")] * 10)


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path):
    file = tmp_path / "model.palmette"
    save(fitted(), file)
    before = file.read_bytes()
    model = fitted()
    model.callback = lambda: 1
    with pytest.raises(PalmetteError, match=r"^callback is an object of type function"):
        save(model, file)
    assert file.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["model.palmette"]


def test_the_place_of_what_cannot_be_saved_is_named():
    model = fitted()
    model.parts_ = [{"deep": (1, open)}]
    with pytest.raises(PalmetteError, match=r"^parts_\[0\]\['deep'\]\[1\] is .*the function open"):
        bytes_of(model)


def test_any_name_of_a_file_will_do(tmp_path):
    save(Hierarchy.star("ab"), tmp_path / "tree.zip")
    assert load(str(tmp_path / "tree.zip")) == Hierarchy.star("ab")
    with pytest.raises(OSError, match="it is a folder"):
        save(Hierarchy.star("ab"), tmp_path)


def test_the_hierarchy_can_be_taken_out_of_the_file(tmp_path):
    model = fitted()
    file = tmp_path / "model.palmette"
    save(model, file)
    with zipfile.ZipFile(file) as archive:
        archive.extract("hierarchy.json", tmp_path)
        assert b'"kind": "class_tree.ClassTreeClassifier"' in archive.read("manifest.json")
    assert Hierarchy.read(tmp_path / "hierarchy.json") == model.hierarchy_


def test_names_that_json_cannot_hold_are_no_obstacle():
    hierarchy = Hierarchy.star([float("inf"), b"bytes"])
    assert again(hierarchy) == hierarchy


def test_containers_of_models_can_be_saved():
    made = again({"one": fitted(), "scores": [0.5, np.float64(0.25)]})
    assert made["one"].classes_.tolist() == fitted().classes_.tolist()
    assert made["scores"] == [0.5, 0.25]
