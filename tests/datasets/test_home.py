from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from palmette.datasets._home import data_home, find_dataset, list_datasets
from palmette.exceptions import DataHomeError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a data home of two sets."""
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "a.txt").write_bytes(b"x > y\n")
    records = [
        {
            "name": "small_tree",
            "group": "taxonomies",
            "format": "text",
            "source": ["github:a", "github:b"],
            "licence": "MIT",
            "notes": "tiny",
            "files": [{"path": "trees/a.txt", "sha256": hashlib.sha256(b"x > y\n").hexdigest()}],
        },
        {"name": "iris", "group": "multiclass", "files": []},
    ]
    (tmp_path / "manifest.json").write_text(json.dumps(records))
    return tmp_path


def test_the_argument_comes_before_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALMETTE_DATA", str(home))
    assert data_home() == home
    monkeypatch.setenv("PALMETTE_DATA", "/nowhere")
    assert data_home(home) == home


def test_a_missing_home_says_how_to_set_it(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PALMETTE_DATA", raising=False)
    with pytest.raises(DataHomeError, match="export PALMETTE_DATA="):
        data_home()
    with pytest.raises(DataHomeError, match="/nowhere is not a folder"):
        data_home("/nowhere")
    with pytest.raises(DataHomeError, match=r"has neither a manifest\.json nor"):
        data_home(home / "trees")


def test_sets_are_listed_by_group(home: Path) -> None:
    assert list_datasets(data_home=home) == ["small_tree", "iris"]
    assert list_datasets("multiclass", home) == ["iris"]
    with pytest.raises(DataHomeError, match="The groups are: taxonomies, multiclass"):
        list_datasets("trees", home)


def test_a_set_is_found_in_any_case(home: Path) -> None:
    assert find_dataset("Small-Tree", home).name == "small_tree"


def test_an_unknown_name_gives_near_ones(home: Path) -> None:
    with pytest.raises(DataHomeError, match="Did you mean 'iris'"):
        find_dataset("irsi", home)
    with pytest.raises(DataHomeError, match=r"list_datasets\(\)"):
        find_dataset("zzzzzzzz", home)


def test_files_are_compared_with_the_manifest(home: Path) -> None:
    entry = find_dataset("small_tree", home)
    file = home / "trees" / "a.txt"
    assert entry.files() == {"a.txt": file}
    file.write_bytes(b"changed")
    found = hashlib.sha256(b"changed").hexdigest()
    with pytest.raises(DataHomeError, match=rf"a\.txt is not .*{found}, expected "):
        entry.files()
    assert entry.files(verify=False) == {"a.txt": file}
    file.unlink()
    with pytest.raises(DataHomeError, match=r"a\.txt is missing"):
        entry.files(verify=False)


def test_files_outside_of_the_home_are_refused(home: Path) -> None:
    entry = find_dataset("small_tree", home)
    entry.facts["files"][0]["path"] = "../../etc/passwd"
    with pytest.raises(DataHomeError, match="outside of the data home"):
        entry.files()


def test_the_description_says_where_a_set_is_from(home: Path) -> None:
    text = find_dataset("small_tree", home).description
    for fact in ("small_tree", "github:a, github:b", "Licence: MIT", "Notes: tiny"):
        assert fact in text


@pytest.mark.parametrize(
    "text", ["", "{", "{}", "[1]", '[{"name": "a"}]', '[{"name":"a","group":"g","files":[{}]}]']
)
def test_a_broken_manifest_is_our_error(home: Path, text: str) -> None:
    (home / "manifest.json").write_text(text)
    with pytest.raises(DataHomeError, match=r"manifest\.json is damaged"):
        list_datasets(data_home=home)
