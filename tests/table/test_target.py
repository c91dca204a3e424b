"""Targets in all their forms become paths."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from palmette import Hierarchy
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.table._target import (
    SEPARATORS,
    TargetForm,
    detect_separator,
    split_path,
)
from palmette.table._target_nodes import canonical_labels, hierarchy_of_paths, plain_labels


@pytest.mark.parametrize("separator", SEPARATORS)
def test_any_separator_is_found(separator):
    cells = [separator.join(path) for path in (("a", "b"), ("a", "c"), ("d", "e"), ("d", "f"))]
    found = detect_separator(cells)
    assert [split_path(cell, found) for cell in cells] == [
        ("a", "b"), ("a", "c"), ("d", "e"), ("d", "f")
    ]  # fmt: skip


@pytest.mark.parametrize("cells", [["a", "b"], ["A/C repair", "b", "c"], ["x/y", "z/w", "u/v"], []])
def test_plain_names_have_none(cells):
    assert detect_separator(cells) is None


def read(frame, target, **options):
    frame = pd.DataFrame(frame)
    return TargetForm.find(frame, target, **options).read(frame)


def test_all_labels_of_all_rows_choose_the_separator():
    names = [f"b{i}" for i in range(501)]
    paths = [f"one/{i}" for i in range(1500)]
    h = Hierarchy.from_paths([*((name,) for name in names), *(("one", p[4:]) for p in paths)])
    for cells in (names + paths, paths + names):  # whichever come first
        form = TargetForm.find(pd.DataFrame({"kind": cells}), "kind", hierarchy=h)
        assert form.separator == "/"


def test_the_decision_is_told_with_a_cell():
    paths = TargetForm.find(pd.DataFrame({"kind": ["b/c", "a/c", "a/d", None]}), "kind")
    assert paths.describe() == "column 'kind', paths with the separator '/' such as 'a/c'"
    names = TargetForm.find(pd.DataFrame({"kind": ["N/A", "yes", "no"]}), "kind")
    assert names.describe() == "column 'kind', plain names such as 'N/A'"
    assert (
        TargetForm.find(pd.DataFrame({"kind": ["yes", "no"]}), "kind").describe() == "column 'kind'"
    )


def test_one_column_of_paths():
    cells = ["Food > Fruit", "Food>Fish", None, "  ", "Food > Fruit > "]
    fruit, fish = ("Food", "Fruit"), ("Food", "Fish")
    assert read({"y": cells}, "y") == [fruit, fish, None, None, fruit]
    assert read({"y": ["a/b", "a/c"]}, "y", separator="") == [("a/b",), ("a/c",)]
    assert read({"y": ["a.b", "a.c"]}, "y", separator=".") == [("a", "b"), ("a", "c")]
    assert read({"y": [1, 2.0, float("nan")]}, "y") == [("1",), ("2",), None]


@pytest.mark.parametrize("target", ["top,sub", ["top", "sub"]])
def test_levels_in_columns(target):
    frame = {"top": ["a", "b", None], "sub": ["x", None, None]}
    assert read(frame, target) == [("a", "x"), ("b",), None]


def test_an_empty_name_in_a_path_is_left_out():
    gaps = []
    frame = pd.DataFrame({"y": ["a/c", "a//b", "/d/e", "a/c/"]})
    form = TargetForm.find(frame, "y", separator="/")
    assert form.read(frame, gaps=gaps) == [("a", "c"), ("a", "b"), ("d", "e"), ("a", "c")]
    assert gaps == ["a//b", "/d/e"]
    assert read({"y": ["a > c", "a > d", "b > e", "a > > b"]}, "y")[-1] == ("a", "b")
    frame = pd.DataFrame({"u": ["a", "a"], "v": [None, "x"], "w": ["b", "b"]})
    gaps.clear()
    assert TargetForm.find(frame, "u,v,w").read(frame, gaps=gaps) == [("a", "b"), ("a", "x", "b")]
    assert gaps == [("a", "", "b")]


def test_a_path_without_a_top_is_an_error():
    with pytest.raises(PalmetteError, match=r"row 1 has the path \(-, x\): expected a name at"):
        read({"top": [None], "sub": ["x"]}, "top,sub")
    with pytest.raises(PalmetteError, match="row 2 of the target column 'y' has the path '/', in"):
        read({"y": ["a/c", "/"]}, "y", separator="/")


def test_several_paths_a_row():
    rows = read({"y": ["a/x; b/y", "a/z", ""]}, "y", labels_separator=";")
    assert rows == [[("a", "x"), ("b", "y")], [("a", "z")], None]
    assert read({"y": [["a/x", "a/y"], []]}, "y") == [[("a", "x"), ("a", "y")], None]


def test_columns_that_are_not_there():
    with pytest.raises(PalmetteError, match="Did you mean 'category'"):
        read({"category": ["a"]}, "catgory")
    with pytest.raises(PalmetteError, match="listed twice"):
        read({"y": ["a"]}, ["y", "y"])
    with pytest.raises(PalmetteError, match="separator needs one target column"):
        read({"a": ["x"], "b": ["y"]}, "a,b", separator="/")


def test_a_hierarchy_says_how_cells_are_written():
    h = Hierarchy.from_paths([("Food", "Fruit"), ("Food", "A/C"), ("Tools", "Saws")])
    frame = pd.DataFrame({"y": ["Fruit", "A/C", "Saws"]})
    form = TargetForm.find(frame, "y", hierarchy=h)
    assert form.separator is None
    labels = canonical_labels(form.read(frame), h, several=False)
    assert labels == [("Food", "Fruit"), ("Food", "A/C"), ("Tools", "Saws")]


def test_a_label_outside_of_the_hierarchy_is_named():
    h = Hierarchy.from_paths([("Food", "Fruit"), ("Tools", "Saws")])
    with pytest.raises(HierarchyError, match=r"row 2 of the target has 'Fruits'.*mean 'Fruit'"):
        canonical_labels([("Fruit",), ("Fruits",)], h, several=False)


def test_the_order_of_rows_does_not_change_the_hierarchy():
    rows = [("b", "y"), ("a", "x"), ("b", "x")]
    assert hierarchy_of_paths(rows, False) == hierarchy_of_paths(rows[::-1], False)


def test_plain_labels_for_a_learner():
    form, h = TargetForm(["y"], " > "), Hierarchy.from_paths([("a", "b"), ("c",)])
    path_of = {"a > b": ("a", "b"), "c": ("c",)}
    rows = [("a", "b"), ("c",)]
    assert plain_labels(rows, form.write, h, False) == (["a > b", "c"], path_of)
    sets = [{"a > b", "c"}, {"c"}]
    assert plain_labels([rows, [("c",)]], form.write, h, True) == (sets, path_of)
    with pytest.raises(PalmetteError, match="1 label"):
        plain_labels([("a",), ("a",)], form.write, h, False)


TAGS = ["role::program, use::mail", "use::mail, use::web", "role::library", "role::program"]


def test_several_paths_in_a_cell_are_found_with_both_separators():
    form = TargetForm.find(pd.DataFrame({"y": TAGS}), "y")
    assert (form.separator, form.labels_separator, form.several) == ("::", ", ", True)
    assert form.read(pd.DataFrame({"y": TAGS}))[1] == [("use", "mail"), ("use", "web")]
    assert form.describe().endswith(
        "several labels per row separated by ', ', as in 'role::program, use::mail'; "
        "'use::mail, use::web'"
    )


@pytest.mark.parametrize("write", [json.dumps, repr])
def test_texts_of_lists_are_lists_of_paths(write):
    rows = [["Food >> Fruit >> Fig", "Food >> Fish"], ["Tools >> Saw"], [], ["Tools >> Axe's"]]
    cells = [write(row) for row in rows]
    assert read({"y": cells}, "y") == [
        [("Food", "Fruit", "Fig"), ("Food", "Fish")], [("Tools", "Saw")], None, [("Tools", "Axe's")]
    ]  # fmt: skip
    assert read({"y": ["[a]", "[b]", "c"]}, "y") == [("[a]",), ("[b]",), ("c",)]
