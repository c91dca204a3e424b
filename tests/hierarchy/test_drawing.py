"""Drawings show everything where it fits, and count what they leave out."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import dags, hierarchies, quick, trees

from palmette.exceptions import HierarchyError
from palmette.hierarchy._drawing import draw, summarize
from palmette.hierarchy._hierarchy import Hierarchy

PETS = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
WIDE = Hierarchy.from_paths(
    [(f"top{i}", f"leaf{j}") for i in range(30) for j in range(40 if i == 3 else 2)]
)


def test_a_tree_by_hand():
    assert draw(PETS) == ("root\n├─ animal\n│  ├─ cat\n│  └─ dog\n└─ plant\n   └─ oak")


def test_a_dag_repeats_a_node_but_not_what_lies_below_it():
    h = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")])
    assert draw(h).splitlines() == [
        "a",
        "├─ b",
        "│  └─ d",
        "│     └─ e",
        "└─ c",
        "   └─ d",
    ]


def test_what_is_left_out_is_counted():
    assert draw(Hierarchy.star(range(100)), max_lines=4).splitlines() == [
        "root",
        "├─ 0",
        "├─ 1",
        "└─ … 98 more",
    ]
    assert draw(PETS, max_lines=3).splitlines() == [
        "root",
        "├─ animal  … 2 more",
        "└─ plant  … 1 more",
    ]


def test_annotations_stand_behind_names():
    notes = [f"n={i}" if i != 1 else "" for i in range(6)]
    assert draw(PETS, annotations=notes).splitlines()[:3] == [
        "root  n=0",
        "├─ animal",
        "│  ├─ cat  n=2",
    ]
    with pytest.raises(HierarchyError, match="2 annotations for 6 nodes"):
        draw(PETS, annotations=["a", "b"])


def test_weights_choose_the_heaviest():
    weights = np.zeros(WIDE.n_nodes)
    weights[WIDE.index(["top7", "top7/leaf1"])] = 9, 8
    assert draw(WIDE, max_lines=5, weights=weights).splitlines() == [
        "root",
        "├─ top7",
        "│  ├─ leaf1",
        "│  └─ leaf0",
        "└─ … 29 more",
    ]
    with pytest.raises(HierarchyError, match=r"shape \(2,\)"):
        draw(PETS, weights=[1, 2])


def count_of_children(lines):
    """Children that a drawing of a tree shows or counts."""
    hidden = sum(int(n) for line in lines for n in re.findall(r"… (\d+) more$", line))
    shown = sum(not re.search(r"─ … \d+ more$", line) for line in lines) - 1
    return shown, hidden


@quick
@given(hierarchies(), st.booleans())
def test_everything_is_drawn_without_a_limit(h, weighted):
    weights = np.arange(h.n_nodes) if weighted else None
    lines = draw(h, max_lines=None, weights=weights).splitlines()
    assert not any("…" in line for line in lines)
    assert len(lines) == len(h.edges) + 1


@quick
@given(trees(max_nodes=30), st.integers(3, 20), st.booleans())
def test_no_more_lines_than_asked_for_and_no_child_forgotten(h, max_lines, weighted):
    weights = np.arange(h.n_nodes) if weighted else None
    lines = draw(h, max_lines=max_lines, weights=weights).splitlines()
    assert len(lines) <= max_lines
    if h.n_nodes <= max_lines:
        assert len(lines) == h.n_nodes
    shown, hidden = count_of_children(lines)
    assert shown + hidden <= h.n_nodes - 1
    assert hidden >= len(h.children(0)) - shown


@quick
@given(dags(max_nodes=30), st.integers(3, 20))
def test_dags_keep_to_the_limit_too(h, max_lines):
    assert len(draw(h, max_lines=max_lines).splitlines()) <= max_lines


def test_one_large_family_does_not_hide_small_ones_nor_lose_what_they_leave():
    lines = draw(WIDE, max_lines=120).splitlines()
    assert 115 <= len(lines) <= 120
    assert sum("top" in line for line in lines) == 30
    assert sum(count_of_children(lines)) == WIDE.n_nodes - 1


def test_names_stay_on_one_line():
    h = Hierarchy.star(["a\nb", "c\td"])
    assert draw(h).splitlines() == ["root", "├─ a·b", "└─ c·d"]


@pytest.mark.parametrize(
    ("h", "text"),
    [
        (PETS, "tree, 6 nodes with the root, 3 leaves, depth 2 (2/3 by level)"),
        (Hierarchy.star([]), "tree, 1 nodes with the root, 1 leaves, depth 0"),
        (
            Hierarchy.from_parents(range(-1, 10)),
            "tree, 11 nodes with the root, 1 leaves, depth 10 (1/1/1/1/1/1/1/1/... by level)",
        ),
        (
            Hierarchy.star(range(5000)),
            "tree, 5,001 nodes with the root, 5,000 leaves, depth 1 (5000 by level)",
        ),
    ],
)
def test_summaries(h, text):
    assert summarize(h) == text
