"""Lists of edges."""

from __future__ import annotations

import pytest

from palmette.exceptions import HierarchyError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy.files._text import to_edges

EDGES = [("r", "a b"), ("r", "c"), ("a b", "d")]
EXPECTED = Hierarchy.from_edges(EDGES)


@pytest.mark.parametrize(
    "text",
    [
        "r\ta b\nr\tc\na b\td\n",
        "r,a b\nr,c\na b,d\n",
        'parent,child\nr,"a b"\nr, c\n"a b",d\n',
        "Child\tParent\na b\tr\nc\tr\nd\ta b\n",
        "r\ta b\tc\na b\td\t\t\n",
    ],
    ids=["tabs", "commas", "header", "turned", "several children"],
)
def test_spellings_of_the_same_edges(read, text):
    assert read(text) == EXPECTED


def test_blanks_and_repeats(read):
    h = read("# edges\nr  a\nr b\n  \na 1\nr b\n")
    assert h == Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "1")])


def test_several_parents_make_a_dag(read):
    h = read("r a\nr b\na c\nb c\n")
    assert not h.is_tree
    assert h.n_nodes == 4


def test_several_roots_name_them_and_the_remedy(read):
    text = "a b\nc d\ne f\n"
    with pytest.raises(HierarchyError, match=r"file.txt: .*3 nodes.*'a', 'c', 'e'.*root='"):
        read(text)
    assert read(text, root="all") == Hierarchy.from_edges(
        [("a", "b"), ("c", "d"), ("e", "f")], root="all"
    )
    assert read(text, root="c").names[0] == "c"


def test_a_root_that_is_a_node_below_another(read):
    with pytest.raises(HierarchyError, match=r"another node in this file has the name 'b'"):
        read("a b\nc d\n", root="b")


def test_cycle_is_named(read):
    with pytest.raises(HierarchyError, match=r"file.txt: .*cycle: .*'b' -> "):
        read("r a\na b\nb c\nc b\n")


def test_own_parent(read):
    with pytest.raises(ReadError, match=r":2: 'a' is its own parent"):
        read("r a\na a\n")


def test_three_words_are_pointed_at(read):
    with pytest.raises(ReadError, match="Names with spaces need tabs") as e:
        read("r a\nr polar bear\n", format="edges")
    assert (e.value.line, e.value.column) == (2, 8)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("r a\nb\n", "found one name"),
        ("r,a\n,b\n", "a name is empty"),
        ("r,a\nr,\n", "a name is empty"),
        ("r\ta\t\tb\n", "a name is empty"),
        ('r,a\nr,"b\n', "line is not CSV"),
        ("r,a,b\nr,c\n", "found 3 fields"),
    ],
)
def test_broken_lines(read, text, message):
    with pytest.raises(ReadError, match=message):
        read(text, format="edges")


def test_numbers_stay_text(read):
    assert read("01 002\n").names.tolist() == ["01", "002"]


def test_a_table_of_numbered_names_is_no_hierarchy(read):
    with pytest.raises(HierarchyError, match="found 3 nodes without a parent"):
        read("0 apple\n1 bee\n2 cat\n")


# ---------------------------------------------------------------------- writing


@pytest.mark.parametrize(
    "edges",
    [
        [("r", "a b"), ("r", 'c,"d"'), ("a b", "#e"), ("r", "code"), ("code", "title")],
        [("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")],
        [("only", "child")],
        [("#r", "a > b"), ("#r", "-- c"), ("a > b", "{d")],
    ],
)
@pytest.mark.parametrize("suffix", ["edges", "csv"])
def test_what_is_written_is_read(tmp_path, edges, suffix):
    hierarchy = Hierarchy.from_edges(edges)
    path = tmp_path / f"tree.{suffix}"
    hierarchy.write(path)
    assert Hierarchy.read(path) == hierarchy


def test_names_that_repeat_are_written_as_paths():
    text = to_edges(Hierarchy.from_paths([("a", "x"), ("b", "x")]))
    assert text.splitlines()[1:] == ["root,a", "a,a/x", "root,b", "b,b/x"]


@pytest.mark.parametrize(
    ("hierarchy", "message"),
    [
        (Hierarchy.star([" a"]), "a node called ' a'"),
        (Hierarchy.star(["a\nb"]), "a node called"),
        (Hierarchy.star(["a\tb"]), "a node called"),
        (Hierarchy.star([]), "a single node"),
        (Hierarchy.from_paths([("a", "x"), ("a/x",), ("b", "x")]), "two nodes with one path"),
    ],
)
def test_what_edges_cannot_hold(hierarchy, message):
    with pytest.raises(HierarchyError, match=message):
        to_edges(hierarchy)
