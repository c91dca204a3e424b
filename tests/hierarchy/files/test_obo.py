"""OBO ontologies."""

from __future__ import annotations

import pytest

from palmette.exceptions import HierarchyError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy

OBO = """format-version: 1.2
! a comment
[Term]
id: X:1
name: one: a [Term] of sorts
is_a: X:0 {source="y"} ! nought

[Term]
id: X:0 ! nought

[Term]
id: X:2
is_a: X:0
relationship: part_of X:1 ! one
relationship: has_part X:0

[Term]
id: X:3
is_obsolete: true
is_a: X:9

[Typedef]
id: part_of
is_a: X:7
"""


LABELLED = r"""format-version: 1.2
[Term]
id: X:0
name: cell

[Term]
id: X:1
name: T cell\, mature
synonym: "T lymphocyte" EXACT [MESH:1]
synonym: "a cell" BROAD []
is_a: X:0 ! cell

[Term]
id: X:8
name: old
is_obsolete: true
replaced_by: X:1
"""


def test_is_a_edges_without_obsolete_terms(read):
    assert read(OBO, "x.obo") == Hierarchy.from_edges([("X:0", "X:1"), ("X:0", "X:2")])


def test_part_of_edges_if_asked(read):
    h = read(OBO, format="obo+part_of")
    assert h == Hierarchy.from_edges([("X:0", "X:1"), ("X:0", "X:2"), ("X:1", "X:2")])


def test_names_and_exact_synonyms_are_labels(read):
    words = read(LABELLED, "x.obo").vocabulary
    assert words.label("X:1") == "T cell, mature"
    assert words.find("t lymphocyte") == ("X:1",)
    assert words.find("a cell") == ()  # a synonym that is not exact
    assert words.replaced == {"X:8": ("X:1",)}
    assert "T cell, mature" in str(read(LABELLED, "x.obo"))
    assert read("[Term]\nid: a\n\n[Term]\nid: b\nis_a: a\n").vocabulary is None


def test_one_root_a_namespace(read):
    text = "[Term]\nid: a\n\n[Term]\nid: b\nis_a: a\n\n[Term]\nid: c\n"
    assert read(text) == Hierarchy.from_paths([("a", "b"), ("c",)])
    assert read(text, root="all").names[0] == "all"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[Term]\nname: x\n", ":1: the term has no 'id:' line"),
        ("[Term]\nid: a\n[Term]\nid: a\n", "'a' is declared twice, first in line 1"),
        ("[Term]\nid: a\nis_a: b\n", ":3: the parent 'b' of 'a' is not a term"),
        ("[Term]\nid: a\nis_a: b\n[Term]\nid: b\nis_obsolete: true\n", "'b' of 'a' is obsolete"),
        ("[Term]\nid: a\nis_a: a\n", "its own parent"),
        ("[Term]\nid: a\nid: b\n", "two 'id:' lines"),
        ("[Term]\nid:\n", "the identifier is missing"),
        ("[Term]\nid: a\nnonsense\n", ":3: .*expected 'tag: value'"),
        ("format-version: 1.2\n", "has no nodes"),
    ],
)
def test_broken(read, text, message):
    with pytest.raises(ReadError, match=message):
        read(text, "x.obo")


def test_cycle(read):
    text = "[Term]\nid: r\n[Term]\nid: a\nis_a: b\nis_a: r\n[Term]\nid: b\nis_a: a\n"
    with pytest.raises(HierarchyError, match="cycle"):
        read(text)
