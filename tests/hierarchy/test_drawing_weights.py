"""Drawings by weight: the lines go to the heaviest nodes, and what is left out is counted."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette.exceptions import HierarchyError
from palmette.hierarchy._drawing import draw
from palmette.hierarchy._hierarchy import Hierarchy

PATHS = [("animal", "cat"), ("animal", "dog"), ("animal", "hen"), ("fungus",), ("plant", "oak")]
H = Hierarchy.from_paths(PATHS)
WEIGHTS = {"animal": 9, "cat": 1, "dog": 6, "hen": 2, "fungus": 3, "plant": 5, "oak": 5}


def weights_of(hierarchy, numbers):
    return [numbers.get(name, 0) for name in hierarchy.names]


def test_all_lines_by_weight():
    assert draw(H, None, weights=weights_of(H, WEIGHTS)).splitlines() == [
        "root",
        "├─ animal",
        "│  ├─ dog",
        "│  ├─ hen",
        "│  └─ cat",
        "├─ plant",
        "│  └─ oak",
        "└─ fungus",
    ]


@pytest.mark.parametrize(
    ("max_lines", "drawing"),
    [
        (3, ["root", "├─ animal  … 3 more", "└─ … 2 more"]),
        # a first child costs two lines, its own and that of the others
        (5, ["root", "├─ animal", "│  ├─ dog", "│  └─ … 2 more", "└─ … 2 more"]),
        (
            6,
            ["root", "├─ animal", "│  ├─ dog", "│  └─ … 2 more", "├─ plant  … 1 more", "└─ fungus"],
        ),
    ],
)
def test_the_heaviest_first(max_lines, drawing):
    assert draw(H, max_lines, weights=weights_of(H, WEIGHTS)).splitlines() == drawing


def test_deep_nodes_come_before_light_tops():
    numbers = {**WEIGHTS, "fungus": 0, "plant": 0, "oak": 0}
    assert draw(H, 6, weights=weights_of(H, numbers)).splitlines() == [
        "root",
        "├─ animal",
        "│  ├─ dog",
        "│  ├─ hen",
        "│  └─ cat",
        "└─ … 2 more",
    ]


def test_equal_weights_keep_the_order_of_the_hierarchy():
    assert draw(H, None, weights=np.ones(H.n_nodes)) == draw(H, None)


def test_nan_is_lightest():
    numbers = {**WEIGHTS, "animal": float("nan"), "fungus": -1e9}
    lines = draw(H, None, weights=weights_of(H, numbers)).splitlines()
    assert [line for line in lines if line[:2] in ("├─", "└─")] == [
        "├─ plant",
        "├─ fungus",
        "└─ animal",
    ]


def test_annotations_go_with_their_nodes():
    notes = [f"({name})" for name in H.names]
    lines = draw(H, 5, annotations=notes, weights=weights_of(H, WEIGHTS)).splitlines()
    assert lines[:3] == ["root  (root)", "├─ animal  (animal)", "│  ├─ dog  (dog)"]


def test_the_method_passes_weights_on():
    weights = weights_of(H, WEIGHTS)
    assert H.draw(max_lines=5, weights=weights) == draw(H, 5, weights=weights)


@pytest.mark.parametrize("weights", [[1.0], np.ones((8, 1)), 3.0])
def test_a_number_for_each_node(weights):
    with pytest.raises(HierarchyError, match=r"expected \(8,\), one number per node"):
        draw(H, weights=weights)


def test_a_node_of_a_dag_is_shown_under_each_parent():
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("c", "d")])
    weights = weights_of(dag, {"a": 1, "b": 2, "c": 3, "d": 1})
    assert draw(dag, None, weights=weights).splitlines() == [
        "r",
        "├─ b",
        "│  └─ c",
        "│     └─ d",
        "└─ a",
        "   └─ c",
    ]


def test_a_root_alone():
    assert draw(Hierarchy.star(["a"]), 3, weights=[1, 1]) == "root\n└─ a"


# ---------------------------------------------------------------------- laws


@st.composite
def weighted_hierarchies(draw_from):
    """Trees and DAGs of up to 30 nodes, named by numbers, with a weight each."""
    n_nodes = draw_from(st.integers(2, 30))
    edges = [(draw_from(st.integers(0, i - 1)), i) for i in range(1, n_nodes)]
    if draw_from(st.booleans()):
        more = draw_from(
            st.lists(st.tuples(st.integers(0, n_nodes - 1), st.integers(0, n_nodes - 1)))
        )
        edges += [(min(pair), max(pair)) for pair in more if pair[0] != pair[1]]
    hierarchy = Hierarchy.from_edges([(f"n{a}", f"n{b}") for a, b in dict.fromkeys(edges)])
    numbers = st.lists(st.integers(0, 20), min_size=n_nodes, max_size=n_nodes)
    return hierarchy, np.array(draw_from(numbers), dtype=float)


LINE = re.compile(
    r"(?P<indent>(?:│  |   )*(?:├─ |└─ )?)(?P<name>n\d+)?(?:  )?(?:… (?P<more>\d+) more)?"
)


def families(text):
    """Read a drawing: by node the children shown, in order, and the number of those hidden."""
    shown, hidden, path = {}, {}, []
    for line in text.splitlines():
        match = LINE.fullmatch(line)
        depth = len(match["indent"]) // 3
        del path[depth:]
        if match["name"] is None:
            hidden[path[-1]] = int(match["more"])
            continue
        if path:
            shown.setdefault(path[-1], []).append(match["name"])
        path.append(match["name"])
        if match["more"]:
            hidden[match["name"]] = int(match["more"])
    return shown, hidden


@settings(max_examples=150, deadline=None)
@given(weighted_hierarchies(), st.none() | st.integers(3, 40))
def test_the_heaviest_children_are_shown_in_no_more_lines_and_the_others_counted(case, max_lines):
    hierarchy, weights = case
    few_lines = draw(hierarchy, max_lines or 9, weights=weights)
    assert len(few_lines.splitlines()) <= (max_lines or 9)
    shown, hidden = families(draw(hierarchy, None, weights=weights) if not max_lines else few_lines)
    for name in {*shown, *hidden}:
        children = hierarchy.children(hierarchy.index(name))
        heaviest = children[np.argsort(-weights[children], kind="stable")]
        here = shown.get(name, [])
        assert here == [str(hierarchy.names[child]) for child in heaviest[: len(here)]]
        assert len(here) + hidden.get(name, 0) == len(children)


@settings(max_examples=50, deadline=None)
@given(weighted_hierarchies())
def test_without_a_limit_nothing_is_hidden(case):
    hierarchy, weights = case
    text = draw(hierarchy, None, weights=weights)
    assert "…" not in text
    assert len(text.splitlines()) >= hierarchy.n_nodes


@settings(max_examples=50, deadline=None)
@given(weighted_hierarchies(), st.integers(3, 30))
def test_a_hidden_node_is_lighter_than_what_was_opened_last(case, max_lines):
    """In a star nothing but weight decides: the lightest shown is as heavy as any hidden."""
    _, weights = case
    star = Hierarchy.star([f"n{i}" for i in range(1, len(weights))])
    shown, _ = families(draw(star, max_lines, weights=weights).replace("root", "n0", 1))
    named = [star.index(name) for name in shown.get("n0", [])]
    others = np.setdiff1d(np.arange(1, star.n_nodes), named)
    if named and len(others):
        assert weights[named].min() >= weights[others].max()
