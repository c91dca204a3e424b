"""Indented text."""

from __future__ import annotations

import pytest

from palmette.exceptions import HierarchyError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy.files import to_text

EXPECTED = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])


@pytest.mark.parametrize(
    "text",
    [
        "root\n  animal\n    cat\n    dog\n  plant\n    oak\n",
        "root\n\tanimal\n\t\tcat\n\t\tdog\n\tplant\n\t\toak\n",
        "root\n-- animal\n---- cat\n---- dog\n\n-- plant\n---- oak",
        "root\n animal\n      cat\n      dog\n # why not\n plant\n   oak\n",
        "animal\n  cat\n  dog\nplant\n  oak\n",
        '"root"\n  animal\n    "cat"\n    "d\\u006fg"\n  plant\n    oak\n',
    ],
    ids=["blanks", "tabs", "dashes", "uneven steps", "several tops", "quoted"],
)
def test_spellings_of_the_same_tree(read, text):
    assert read(text) == EXPECTED


def test_a_single_top_is_the_root_and_another_name_goes_above_it(read):
    assert read("a\n  b\n").names.tolist() == ["a", "b"]
    assert read("a\n  b\n", root="a").names.tolist() == ["a", "b"]
    assert read("a\n  b\n", root="r").names.tolist() == ["r", "a", "b"]


def test_the_same_name_may_stand_in_two_branches(read):
    assert read("r\n  a\n    x\n  b\n    x\n").n_nodes == 5


def test_names_with_separators_and_quotation_marks_stay(read):
    h = read('r\n  a > b\n  x, y\n  "so" he said "so"\n')
    assert h.names.tolist() == ["r", "a > b", "x, y", '"so" he said "so"']


def test_siblings_of_one_name_are_refused_with_both_lines(read):
    with pytest.raises(ReadError, match=r":4: 'r' > 'a' is declared twice, first in line 2"):
        read("r\n  a\n  b\n  a\n")


@pytest.mark.parametrize(
    "text",
    ["r\n    a\n  b\n", "r\n\ta\n        b\n", "  r\n    a\nb\n", "r\n---- a\n-- b\n"],
    ids=["between levels", "tabs and blanks", "above the top", "dashes"],
)
def test_an_indentation_that_meets_no_level(read, text):
    with pytest.raises(ReadError, match="matches no level above it") as e:
        read(text)
    assert e.value.line == 3


def test_dashes_without_a_name(read):
    with pytest.raises(ReadError, match="the name is missing"):
        read("r\n-- \n-- a\n")


def test_a_list_without_indentation_is_a_star_only_if_asked(read):
    with pytest.raises(ReadError, match=r"for a plain list of names, use Hierarchy.star"):
        read("cat\ndog\n")
    assert read("cat\ndog\n", format="indented") == Hierarchy.star(["cat", "dog"])


def test_too_deep_for_blanks():
    chain = Hierarchy.from_parents(list(range(-1, 20_000)))
    with pytest.raises(HierarchyError, match="Write JSON instead"):
        to_text(chain)


def test_dag_is_refused():
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    with pytest.raises(HierarchyError, match="indented text needs a tree"):
        to_text(dag)


def test_names_that_would_become_the_same():
    with pytest.raises(HierarchyError, match="both be written as '1'"):
        to_text(Hierarchy.star([1, "1"]))
