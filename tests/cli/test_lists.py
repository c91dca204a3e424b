"""`palmette models` and `palmette datasets`: the names that other commands take."""

from __future__ import annotations

import json

import pytest

from palmette.cli.lists import datasets
from palmette.models import list_models


@pytest.fixture
def home(tmp_path, monkeypatch):
    records = [
        {"name": "birds", "group": "small", "files": [], "n_train": 1200, "n_test": 30,
         "n_features": 7, "n_nodes": 12},
        {"name": "tunes", "group": "small", "files": [], "n_train": 5, "n_labels": 4},
        {"name": "kinds", "group": "taxonomies", "files": [], "n_nodes": 99},
    ]  # fmt: skip
    (tmp_path / "manifest.json").write_text(json.dumps(records))
    monkeypatch.setenv("PALMETTE_DATA", str(tmp_path))
    return tmp_path


def test_every_option_is_a_parameter(parse):
    assert parse(datasets, "--group", "small") == {"group": "small"}
    assert parse(datasets) == {"group": None}


def test_all_sets_by_group(palmette, home):
    result = palmette("datasets")
    assert result.exit_code == 0, result.output
    cells = [line.split() for line in result.stdout.splitlines()]
    assert ["embedded:", "stdlib,", "digits"] in cells
    assert ["small"] in cells
    assert ["birds", "1,200", "30", "7", "12"] in cells
    assert ["tunes", "5", "–", "–", "4"] in cells
    assert ["taxonomies"] in cells
    assert ["kinds", "–", "–", "–", "99"] in cells


def test_own_copies_are_listed_with_their_files(palmette, home):
    folder = home / "mine"
    folder.mkdir()
    for name in ("VOCTrain.mat", "VOCTest.mat", "wiki.svm"):
        (folder / name).write_bytes(b"")
    result = palmette("datasets")
    assert result.exit_code == 0, result.output
    assert "own copies, not read yet" in result.stdout
    cells = [line.split() for line in result.stdout.splitlines()]
    assert ["voc", "hierarchical", "VOCTrain.mat,", "VOCTest.mat"] in cells
    assert ["wiki", "multiclass", "wiki.svm"] in cells
    assert ["hierarchical"] not in cells  # a table of dashes
    assert "VOCTrain" not in palmette("datasets", "--group", "multiclass").stdout


def test_one_group(palmette, home):
    result = palmette("datasets", "--group", "taxonomies")
    assert "kinds" in result.stdout
    assert "birds" not in result.stdout


def test_unknown_group(palmette, home):
    result = palmette("datasets", "--group", "large")
    assert result.exit_code == 2
    assert result.stderr == "error: there is no group 'large'. The groups are: small, taxonomies.\n"


def test_without_a_data_home_the_embedded_sets_are_there(palmette, monkeypatch):
    monkeypatch.delenv("PALMETTE_DATA", raising=False)
    result = palmette("datasets")
    assert result.exit_code == 0
    assert "embedded: stdlib, digits" in result.stdout
    assert "export PALMETTE_DATA=" in result.stdout
    assert palmette("datasets", "--group", "small").exit_code == 2


@pytest.mark.data
def test_the_real_data_home(palmette, data_home):
    result = palmette("datasets")
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines()[:-2])) <= 80
    assert "imclef07a" in result.stdout


def test_every_model_has_one_line(palmette):
    lines = palmette("models").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    shown = {line.split()[0]: line for line in lines if line.strip()}
    for spec in list_models():
        assert shown[spec.name].rstrip().endswith(f" {spec.summary}")
