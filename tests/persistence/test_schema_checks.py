"""States that compiled classes cannot bear are refused before skops builds anything."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors
from sklearn.tree import DecisionTreeClassifier
from tests.persistence.mutations import members_of, packed

from palmette.persistence._arrays import to_npy
from palmette.persistence._skops import check_content, check_schema, nodes_of, skops_io, tidy

SKOPS = skops_io()

X = np.random.default_rng(0).normal(size=(20, 3))


def content(algorithm: str = "kd_tree") -> bytes:
    model = NearestNeighbors(algorithm=algorithm, leaf_size=5).fit(X)
    return tidy(SKOPS.dumps([model, NearestNeighbors(algorithm=algorithm).fit(X)]))


def schema(algorithm: str = "kd_tree"):
    return json.loads(members_of(content(algorithm))["schema.json"])


def node(found, name: str):
    return next(each for each in nodes_of(found) if each["__class__"] == name)


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree", "brute"])
def test_good_files_pass(algorithm):
    check_content(content(algorithm))


NOTHING = {
    "__class__": "str",
    "__module__": "builtins",
    "__loader__": "JsonNode",
    "content": "null",
}


@pytest.mark.parametrize("name", ["KDTree", "EuclideanDistance64"])
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_compiled_object_without_an_array_is_refused(name, place):
    if name == "EuclideanDistance64" and place != 1:
        return
    found = schema()
    node(found, name)["content"]["content"][place] = NOTHING
    with pytest.raises(ValueError, match="has an invalid state"):
        check_schema(found)


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree.update(__loader__="ConstructorFromReduceNode"),
        lambda tree: tree.update(content=NOTHING),
        lambda tree: tree.update(content=None),
        lambda tree: tree["content"].update(content=[]),
        lambda tree: tree["content"].update(content="x"),
        lambda tree: tree["content"]["content"].__setitem__(11, NOTHING),
        lambda tree: tree["content"]["content"].__setitem__(
            0, {"__loader__": "CachedNode", "__id__": 99, "__class__": "x", "__module__": "y"}
        ),
    ],
)
def test_another_state_is_refused(change):
    found = schema()
    change(node(found, "KDTree"))
    with pytest.raises(ValueError, match="has an invalid state"):
        check_schema(found)


def test_one_number_for_two_objects_is_refused():
    found = schema()
    found["content"][0]["__id__"] = found["content"][1]["__id__"] = 7
    with pytest.raises(ValueError, match="is written twice"):
        check_schema(found)


def test_the_whole_file_is_refused():
    members = members_of(content())
    found = json.loads(members["schema.json"])
    node(found, "EuclideanDistance64")["content"]["content"][1] = NOTHING
    members["schema.json"] = json.dumps(found).encode()
    with pytest.raises(ValueError, match="has an invalid state"):
        check_content(packed(members))


@pytest.mark.parametrize(
    "change",
    [
        lambda tree, arrays: arrays.update({tree["nodes"]: np.float64(1)}),
        lambda tree, arrays: arrays.update({tree["values"]: np.zeros(3)}),
        lambda tree, arrays: arrays.update({tree["classes"]: np.array(2)}),
        lambda tree, arrays: arrays.update({tree["classes"]: np.array([2, 2, 2])}),
    ],
)
def test_a_tree_has_arrays_of_its_dimensions(change):
    content = tidy(SKOPS.dumps([DecisionTreeClassifier(max_depth=1).fit(np.eye(4), [0, 1, 0, 1])]))
    check_content(content)
    members = members_of(content)
    [node] = [n for n in nodes_of(json.loads(members["schema.json"])) if n["__class__"] == "Tree"]
    parts = node["content"]["content"]
    names = {name: parts[name]["file"] for name in ("nodes", "values")}
    names["classes"] = node["__reduce__"]["args"]["content"][1]["file"]
    arrays: dict = {}
    change(names, arrays)
    with pytest.raises(ValueError, match=r"Tree has an invalid state"):
        check_content(packed({**members, **{n: to_npy(np.asarray(a)) for n, a in arrays.items()}}))
