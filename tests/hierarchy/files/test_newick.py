"""Newick trees."""

from __future__ import annotations

import pytest

from palmette.exceptions import HierarchyError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy.files import _source as rows
from palmette.hierarchy.files import to_newick

EXPECTED = Hierarchy.from_paths([("animal", "cat"), ("animal", "polar bear"), ("plant",)])


@pytest.mark.parametrize(
    "text",
    [
        "((cat,'polar bear')animal,plant)root;",
        "( ( cat:0.1 , 'polar bear':2e-3 ) animal : 1 ,\n plant[a comment])root:0;\n",
        "[&R] ((cat,'polar bear')'animal',plant);",
    ],
    ids=["plain", "lengths", "rooted"],
)
def test_spellings_of_the_same_tree(read, text):
    assert read(text, "x.nwk") == EXPECTED


def test_written_tree():
    assert to_newick(EXPECTED) == "((cat,'polar bear')animal,plant)root;"
    assert to_newick(Hierarchy.from_parents([-1], names=["it's"])) == "'it''s';"


def test_inner_nodes_without_names_are_numbered(read):
    h = read("((a,b),(c,('node 5',d)));", "x.nwk")
    inner = h.names[~h.is_leaf].tolist()
    assert inner == ["root", "node 1", "node 4", "node 6"]


def test_a_root_without_a_name_takes_the_one_given(read):
    assert read("((a,b)c,d);", "x.nwk", root="life").names.tolist() == ["life", "c", "a", "b", "d"]
    assert read("((a,b)c,d)e;", "x.nwk", root="life").names.tolist()[:2] == ["life", "e"]


def test_a_number_that_is_taken(read):
    assert "node 1'" in read("((a,b),'node 1');", "x.nwk").names


def test_known_by_content(read):
    assert read("(a,b)r;").n_nodes == 3


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("(a,b", "has no end", 3),
        ("(a,b;", "expected 1 '", 4),
        ("a,b;", "outside of all", 1),
        ("a);", "outside of all", 1),
        ("(a,,b);", "has no name", 3),
        ("();", "has no name", 1),
        (";", "has no name", 0),
        ("(a b);", "has two names", 3),
        ("(a)(b);", "not allowed after", 3),
        ("a(b);", "not allowed after", 1),
        ("('a,b);", "a quoted name starts here", 1),
        ("(a[b;", "a comment starts here", 2),
        ("(a:,b);", "a length starts here", 2),
        ("(a,'');", "the name is empty", 3),
        ("(a,b); (c);", "one tree per file", 7),
        ("(a]b);", "']' is not allowed", 2),
        ("(a,b)r", "has no end", 5),
    ],
)
def test_broken_trees_are_pointed_at(read, text, message, column):
    with pytest.raises(ReadError, match=message) as e:
        read("[first line]\n" + text, "x.nwk")
    assert (e.value.line, e.value.column) == (2, column)


def test_siblings_of_one_name(read):
    with pytest.raises(ReadError, match=r":3: 'r' > 'a' is declared twice, first in line 2"):
        read("(\na,b\n,a)r;", "x.nwk")


def test_deep_trees_need_no_recursion(read):
    depth = 20_000
    text = "(" * depth + "a" + "".join(f")n{i}" for i in range(depth)) + ";"
    h = read(text, "x.nwk")
    assert h.max_depth == depth
    assert to_newick(h) == text


def test_too_many_nodes_are_noticed_early(read, monkeypatch):
    monkeypatch.setattr(rows, "MAX_NODES", 3)
    with pytest.raises(ReadError, match="more than 3 nodes"):
        read("((((", "x.nwk")


def test_dag_is_refused():
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    with pytest.raises(HierarchyError, match="the Newick format needs a tree"):
        to_newick(dag)
