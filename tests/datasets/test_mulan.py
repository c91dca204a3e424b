from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from palmette.datasets._mulan import read_mulan
from palmette.exceptions import PalmetteError, ReadError
from palmette.labels._labels import NodeLabels

Write = Callable[[str, str | bytes], Path]

FLAT = (
    '<labels xmlns="http://mulan.sourceforge.net/labels">'
    '<label name="y2"/><label name="y1"/></labels>'
)
NESTED = '<labels><label name="p"><label name="p/q"/></label><label name="z"/></labels>'


def arff(*attributes: str, rows: str) -> str:
    return "\n".join(["@relation r", *(f"@attribute {a}" for a in attributes), "@data", rows])


def test_labels_are_found_by_name_in_the_order_of_the_xml(write: Write) -> None:
    text = arff("y1 {0,1}", "a numeric", "y2 {0,1}", "b {u,v}", rows="1,.5,0,v\n0,?,1,u\n")
    bunch = read_mulan(write("f.arff", text), write("f.xml", FLAT))
    np.testing.assert_array_equal(bunch.X, [[0.5, 1], [np.nan, 0]])
    assert bunch.y.tolist() == [[0, 1], [1, 0]]
    assert bunch.y.dtype == np.int8
    assert bunch.label_names.tolist() == ["y2", "y1"]
    assert bunch.feature_names.tolist() == ["a", "b"]
    assert bunch.categorical_features.tolist() == [False, True]
    assert bunch.hierarchy.path_strings.tolist() == ["root", "y2", "y1"]


def test_sparse_stays_sparse(write: Write) -> None:
    text = arff("a {0,1}", "y1 {0,1}", "y2 {0,1}", rows="{0 1, 2 1}\n{1 1}\n{}\n")
    bunch = read_mulan(write("f.arff", text), write("f.xml", FLAT))
    assert sparse.issparse(bunch.X)
    assert sparse.issparse(bunch.y)
    assert bunch.y.dtype == np.int8
    assert bunch.y.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]
    assert bunch.X.toarray().tolist() == [[1], [0], [0]]


def test_nested_labels_are_a_hierarchy_that_reads_the_columns(write: Write) -> None:
    text = arff("a numeric", "z {0,1}", "p/q {0,1}", "p {0,1}", rows="1,0,1,1\n2,1,0,0\n")
    bunch = read_mulan(write("f.arff", text), write("f.xml", NESTED))
    assert bunch.label_names.tolist() == ["p", "p/q", "z"]
    labels = NodeLabels.encode(bunch.y, bunch.hierarchy)
    assert labels.closed.toarray().astype(int).tolist() == [[1, 1, 1, 0], [1, 0, 0, 1]]


def test_declared_the_other_way_round_labels_are_turned(write: Write) -> None:
    text = arff("a numeric", "y1 {1,0}", "y2 {0,1}", rows="1,1,1\n2,0,0\n")
    bunch = read_mulan(write("f.arff", text), write("f.xml", FLAT))
    assert bunch.y.tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (arff("a numeric", "y1 {0,1}", rows="1,0"), "1 of 2 labels have no column \\('y2'\\)"),
        (arff("y1 {0,1}", "y2 {a,b}", rows="1,a"), "'y2' has the values {a,b}"),
        (arff("y1 {0,1}", "y2 numeric", rows="1,3"), "'y2' is 3 in this row"),
        (arff("y1 {0,1}", "y2 {0,1}", rows="1,?"), "'y2' is missing in this row"),
        (
            arff("y1 {0,1}", "y2 {0,1}", "y1 numeric", rows="1,0,1"),
            "two columns have the name 'y1'",
        ),
        (arff("y1 {1,0}", "y2 {0,1}", rows="{1 1}"), r"declared as \{1,0\}"),
    ],
)
def test_labels_that_are_none_are_errors(write: Write, text: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_mulan(write("f.arff", text), write("f.xml", FLAT))


def test_an_xml_bomb_is_refused(write: Write) -> None:
    bomb = (
        '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><labels><label name="&b;"/></labels>'
    )
    data = write("f.arff", arff("y1 {0,1}", rows="1"))
    with pytest.raises(PalmetteError, match="entities"):
        read_mulan(data, write("f.xml", bomb))
