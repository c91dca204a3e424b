"""Headers of Clus-HMC's ARFF files."""

from __future__ import annotations

import pytest

from palmette.exceptions import HierarchyError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy

HEADER = "@RELATION x\n\n@ATTRIBUTE f numeric\n@ATTRIBUTE class   hierarchical "


def arff(classes: str) -> str:
    return f"{HEADER}{classes}\n@DATA\n1,2@3\n"


def test_tree_with_implied_and_repeated_tokens(read):
    h = read(arff("2/1/7,1,1/1,2/1/7,1"), "x.arff")
    assert h == Hierarchy.from_paths([("2", "1", "7"), ("1", "1")])


def test_dag_of_edges(read):
    h = read(arff("root/a, root/b, a/c, b/c"), "x.harff")
    assert not h.is_tree
    assert h.n_nodes == 4
    assert h.names[0] == "root"


@pytest.mark.parametrize(
    ("classes", "n_nodes"),
    [
        ("1/1,1/2,2/1", 1 + 2 + 3),  # two parts each, but no root: paths
        ("root/a,root/b,a", 1 + 4),  # a token of one part: paths with a top called root
        ("root/a,1/2", 1 + 4),  # a second top beside root: paths
        ("root/a,a/b", 3),  # root is the only top: edges, of a tree here
        ("root/a,root/b", 3),
    ],
)
def test_tree_or_dag(read, classes, n_nodes):
    assert read(arff(classes), "x.arff").n_nodes == n_nodes


def test_cycle_in_a_dag(read):
    with pytest.raises(HierarchyError, match="cycle"):
        read(arff("root/a,a/b,b/a"), "x.arff")


@pytest.mark.parametrize(
    "line", ["@attribute 'my class' HIERARCHICAL a/b", "\t@Attribute c hierarchical a/b"]
)
def test_spellings_of_the_attribute(read, line):
    assert read(f"@relation x\n{line}\n@data\n").n_nodes == 3


def test_known_by_content(read):
    assert read("% a comment\n" + arff("a/b"), "x.txt").n_nodes == 3


def test_data_rows_are_not_looked_at(read):
    assert read(arff("a/b").encode() + b"\0\xff\xfe", "x.arff").n_nodes == 3


@pytest.mark.parametrize(("classes", "column"), [("a,,b", 2), ("a/b,a//c", 4), ("", 0), ("a/", 0)])
def test_empty_class_is_pointed_at(read, classes, column):
    with pytest.raises(ReadError, match="a class is empty") as e:
        read(arff(classes), "x.arff")
    assert e.value.line == 4
    assert e.value.column == len("@ATTRIBUTE class   hierarchical ") + column


def test_without_a_hierarchical_attribute(read):
    with pytest.raises(ReadError, match=r"MULAN data set is in the \.xml file"):
        read("@relation x\n@attribute class {0,1}\n@data\n", "x.arff")


def test_zero_byte_in_the_header(read):
    with pytest.raises(ReadError, match="the line has a NUL byte"):
        read(b"@relation x\n@attribute \0 numeric\n@data\n", "x.arff")
