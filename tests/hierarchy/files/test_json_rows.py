"""Our own JSON."""

from __future__ import annotations

import datetime
import json
import math

import pytest

from palmette.exceptions import HierarchyError, PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy.files import to_json


def rows(**changes: object) -> str:
    content = {
        "format": "palmette.hierarchy",
        "version": 1,
        "names": ["r", "a", "b"],
        "parents": [-1, 0, 0],
    }
    return json.dumps({**content, **changes})


@pytest.mark.parametrize(
    "hierarchy",
    [
        Hierarchy.star([3, "3", 2.5, True, ("x", 1), "é\n\ud800"]),
        Hierarchy.from_paths([(2019, 1), (2020, 1)]),
        Hierarchy.from_edges([("r", "b"), ("r", "a"), ("a", "c"), ("b", "c"), ("r", "c")]),
        Hierarchy.from_parents([-1], names=["alone"]),
    ],
    ids=["types", "same names", "dag", "one node"],
)
def test_round_trip(read, hierarchy):
    back = read(to_json(hierarchy), "x.json")
    assert back == hierarchy
    assert hash(back) == hash(hierarchy)
    assert [type(n) for n in back.names] == [type(n) for n in hierarchy.names]


def test_nodes_in_any_order_are_put_in_order(read):
    h = read(rows(names=["b", "r", "a"], parents=[2, -1, 1]), "x.json")
    assert h == Hierarchy.from_edges([("r", "a"), ("a", "b")])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "newer Palmette"),
        ({"names": ["r"]}, "same length"),
        ({"parents": None}, "same length"),
        ({"parents": [-1, 0, 7]}, "parent of node 2"),
        ({"parents": [-1, 0, 2]}, "parent of node 2"),
        ({"parents": [-1, 0, "r"]}, "parent of node 2"),
        ({"parents": [-1, 0, True]}, "parent of node 2"),
        ({"parents": [-1, 2, 1]}, "cycle"),
        ({"parents": [-1, -1, 0]}, "without a parent"),
        ({"names": ["r", "a", "a"]}, "two children of node 0 have name 'a'"),
        ({"names": ["r", "a", None]}, "expected a non-empty name"),
        ({"names": ["r", "a", {}]}, "not a string, number or tuple"),
        ({"names": ["r", "a", [[[[[[[[[[1]]]]]]]]]]]}, "not a string, number or tuple"),
        ({"names": [], "parents": []}, "has no nodes"),
    ],
)
def test_broken(read, changes, message):
    with pytest.raises(PalmetteError, match=message):
        read(rows(**changes), "x.json")


@pytest.mark.parametrize("name", [datetime.date(2026, 1, 1), math.inf, (1, None), frozenset("a")])
def test_names_that_json_cannot_keep(name):
    with pytest.raises(HierarchyError, match="cannot be written as JSON"):
        to_json(Hierarchy.star([name]))


def test_another_root_goes_above(read):
    assert read(rows(), "x.json", root="top").names.tolist() == ["top", "r", "a", "b"]
    assert read(rows(), "x.json", root="r").names.tolist() == ["r", "a", "b"]


def test_version_is_no_read_error_for_others(read):
    with pytest.raises(ReadError, match="expected nested"):
        read('{"format": "other", "version": 1}', "x.json")
