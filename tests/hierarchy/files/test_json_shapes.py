"""JSON of others."""

from __future__ import annotations

import json

import pytest

from palmette.exceptions import HierarchyError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy

PATHS = [("animal", "cat"), ("animal", "dog"), ("plant", "oak")]
EXPECTED = Hierarchy.from_paths(PATHS)


@pytest.mark.parametrize(
    "content",
    [
        {
            "name": "root",
            "children": [
                {"name": "animal", "children": [{"name": "cat", "size": 3}, "dog"]},
                {"id": "plant", "children": [{"label": "oak", "children": []}]},
            ],
        },
        [
            {"name": "animal", "children": [{"name": "cat"}, {"name": "dog", "children": None}]},
            {"name": "plant", "children": ["oak"]},
        ],
        {"animal": {"cat": {}, "dog": None}, "plant": {"oak": []}},
        {"root": {"animal": {"cat": {}, "dog": {}}, "plant": ["oak"]}},
        {"animal": ["cat", "dog"], "plant": ["oak"]},
        {"root": ["animal", "plant"], "animal": ["cat", "dog"], "plant": ["oak"]},
    ],
    ids=["nodes", "list of nodes", "objects", "one top", "lists", "adjacency"],
)
def test_shapes_of_the_same_tree(read, content):
    assert read(json.dumps(content), "x.json") == EXPECTED


def test_lists_without_a_key_among_them_keep_places_apart(read):
    h = read(json.dumps({"a": ["x"], "b": ["x"]}), "x.json")
    assert h == Hierarchy.from_paths([("a", "x"), ("b", "x")])


def test_lists_with_a_key_among_them_are_links(read):
    h = read(json.dumps({"r": ["a", "b"], "a": ["x"], "b": ["x"]}), "x.json")
    assert not h.is_tree
    assert h.n_nodes == 4


def test_integers_stay_integers(read):
    h = read(json.dumps({"even": [0, 2], "odd": [1]}), "x.json")
    assert h == Hierarchy.from_paths([("even", 0), ("even", 2), ("odd", 1)])
    h = read(json.dumps({"0": [1, 2], "1": [3]}), "x.json")
    assert h == Hierarchy.from_edges([(0, 1), (0, 2), (1, 3)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "not a hierarchy"),
        ("[]", "not a hierarchy"),
        ("3", "not a hierarchy"),
        ('["a", "b"]', "not a hierarchy"),
        ('{"a": 1}', "'a' has the value 1"),
        ('{"a": [["x"]]}', "in a list of leaves"),
        ('{"a": {"": {}}}', "is empty"),
        ('{"a": {"b": {}, "b": {}}}', "'b' is repeated in the same object"),
        ('{"a": {"b": ["c", "c"]}}', "'c' is repeated below 'b'"),
        ('{"name": "a", "children": [{"children": []}]}', "has no 'name'"),
        ('{"name": "a", "children": [3.5]}', "expected an object"),
        ('{"name": "a", "children": [{"name": "b", "children": 3}]}', "expected a list"),
        ('{"name": "a", "children": ["b", "b"]}', "'b' is repeated below 'a'"),
        ('{"a": ["a"]}', "its own parent"),
    ],
)
def test_no_hierarchy(read, text, message):
    with pytest.raises(ReadError, match=message):
        read(text, "x.json")


def test_cycle(read):
    with pytest.raises(HierarchyError, match="cycle"):
        read('{"r": ["a"], "a": ["b"], "b": ["a"]}', "x.json")
