"""Graphviz's DOT."""

from __future__ import annotations

import pytest

from palmette.exceptions import ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy.files import to_dot


def test_dag_with_names_to_escape():
    h = Hierarchy.from_edges([('say "a"', "b\\c"), ('say "a"', 1), (1, "b\\c")])
    assert to_dot(h) == (
        "digraph hierarchy {\n"
        '  0 [label="say \\"a\\""];\n'
        '  1 [label="1"];\n'
        '  2 [label="b\\\\c"];\n'
        "  0 -> 1;\n"
        "  0 -> 2;\n"
        "  1 -> 2;\n"
        "}\n"
    )


def test_dot_is_not_read(read):
    with pytest.raises(ReadError, match="DOT can only be written"):
        read(to_dot(Hierarchy.star(["a"])), "x.dot")
    with pytest.raises(ReadError, match="DOT can only be written"):
        read(to_dot(Hierarchy.star(["a"])), format="dot")
