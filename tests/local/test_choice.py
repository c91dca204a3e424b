"""Which estimator a task gets, from one, a dict or a factory."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.local._tasks import TaskKey, estimator_chooser, known_estimators

H = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "x"), ("b", "w")])
ROOT, A, A_X = (
    TaskKey(H.path_strings[H.index(path)], len(path), H.index(path))
    for path in [(), ("a",), ("a", "x")]
)


def chosen(given, key, is_given=True, by_node=True):
    return estimator_chooser(given, H, by_node=by_node, is_given=is_given)(key)


def test_one_estimator_serves_all_tasks():
    model = GaussianNB()
    assert chosen(model, ROOT) is chosen(model, A_X) is model
    assert isinstance(chosen(None, ROOT), LogisticRegression)


@pytest.mark.parametrize("spelling", ["a/x", ("a", "x")], ids=repr)
def test_in_a_dict_the_node_counts_before_the_depth_and_that_before_the_default(spelling):
    given = {"default": "last", 2: "by depth", spelling: "by node"}
    assert chosen(given, A_X) == "by node"
    assert chosen(given, TaskKey("b/x", 2, H.index("b/x"))) == "by depth"
    assert chosen(given, A) == "last"


def test_the_root_goes_by_its_name_or_the_empty_path():
    assert chosen({"root": "top", "default": "other"}, ROOT) == "top"
    assert chosen({(): "top", "default": "other"}, ROOT) == "top"
    assert chosen({0: "top", "default": "other"}, ROOT) == "top"


def test_a_name_that_only_one_node_has_is_enough():
    assert chosen({"y": "by name", "default": "other"}, TaskKey("a/y", 2, H.index("a/y"))) == (
        "by name"
    )


def test_a_task_without_entry_is_named():
    with pytest.raises(PalmetteError, match=r"no entry for 'a/x' \(depth 2\) among \['a'\]"):
        chosen({"a": 1}, A_X)


@pytest.mark.parametrize("key", ["anmal", ("a", "z"), "x"])
def test_a_key_that_is_no_node_of_a_given_hierarchy_is_a_mistake(key):
    with pytest.raises(HierarchyError, match="is not a node of the hierarchy"):
        chosen({key: 1, "default": 2}, A)


def test_a_hierarchy_taken_from_y_may_lack_nodes():
    assert chosen({"rare": 1, "default": 2}, A, is_given=False) == 2


def test_levels_go_by_depth_only():
    level = TaskKey(2, 2, None)
    assert chosen({2: "second", "default": "other"}, level, by_node=False) == "second"
    with pytest.raises(HierarchyError, match="key 'a': expected depths, from 1 to 2, or 'default'"):
        chosen({"a": 1, "default": 2}, level, by_node=False)


def test_a_factory_is_given_the_name():
    names = []

    def make(name):
        names.append(name)
        return GaussianNB()

    assert isinstance(chosen(make, A_X), GaussianNB)
    assert names == ["a/x"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (GaussianNB, r"the class GaussianNB: expected an instance, GaussianNB\(\)"),
        (3, "estimator is a int: expected a scikit-learn classifier"),
        (lambda name: None, "returned None for 'a/x'"),
        (lambda name: GaussianNB, "expected a scikit-learn classifier"),
    ],
)
def test_what_makes_no_estimator_is_described(given, message):
    with pytest.raises(PalmetteError, match=message):
        chosen(given, A_X)


def test_what_can_be_known_before_fitting():
    tree, bayes = DecisionTreeClassifier(), GaussianNB()
    assert known_estimators(tree) == [tree]
    assert known_estimators({"a": tree, "default": bayes}) == [tree, bayes]
    assert known_estimators(lambda name: tree) == []
    assert known_estimators(GaussianNB) == []
    assert isinstance(known_estimators(None)[0], LogisticRegression)
