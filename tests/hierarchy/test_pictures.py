"""SVG and HTML of hierarchies: well formed, escaped, bounded, and no scripts."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from palmette.exceptions import HierarchyError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._pictures import colour_of, to_html, to_page, to_svg

SVG = "{http://www.w3.org/2000/svg}"
EVIL = Hierarchy.from_paths([("<script>alert(1)</script>", 'a"b&c'), ("plain\nline",)])


class Balanced(HTMLParser):
    """Notes tags, and that what opens is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in ("meta", "!doctype"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def tags_of(text):
    parser = Balanced()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser.seen


def test_svg_has_every_node_once_and_is_xml():
    root = ElementTree.fromstring(to_svg(EVIL))
    assert len(root.findall(f".//{SVG}circle")) == EVIL.n_nodes
    titles = [title.text for title in root.findall(f".//{SVG}g/{SVG}title")]
    assert '<script>alert(1)</script>/a"b&c' in titles
    assert not root.findall(f".//{SVG}script")


def test_svg_values_are_colours_and_nan_has_none():
    root = ElementTree.fromstring(to_svg(Hierarchy.star("ab"), values=[0.0, 1.0, np.nan]))
    fills = [circle.get("style") for circle in root.iter(f"{SVG}circle")]
    assert fills == [f"fill:{colour_of(0.0)}", f"fill:{colour_of(1.0)}", "fill:none"]
    assert "fill:#440154" in to_svg(Hierarchy.star("ab"), values=[5.0, 5.0, 5.0])


def test_svg_is_cut_and_annotated():
    text = to_svg(Hierarchy.star(range(1000)), max_nodes=20, annotations=["*"] * 1001)
    assert text.count("<circle") == 19
    assert "… 982 more" in text
    assert ">0  *<" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [({"values": [1.0]}, r"shape \(1,\)"), ({"annotations": ["a"]}, "1 annotations for 3 nodes")],
)
def test_svg_mistakes(options, message):
    with pytest.raises(HierarchyError, match=message):
        to_svg(Hierarchy.star("ab"), **options)


def test_html_is_balanced_and_escaped():
    for text in (to_html(EVIL), to_page(EVIL), EVIL._repr_html_()):
        tags = tags_of(text)
        assert "script" not in tags
        assert "&lt;script&gt;" in text
    assert tags_of(to_html(EVIL)).count("details") == 2  # the root, and a node that has a child


def test_html_is_bounded():
    text = Hierarchy.star(range(100_000))._repr_html_()
    assert len(text) < 40_000
    assert "… 99,602 more" in text
    chain = Hierarchy.from_parents(np.arange(-1, 2999))
    assert tags_of(to_page(chain)).count("details") == 100  # deeper ones no browser nests


def test_a_dag_in_html_is_not_told_twice_below():
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("c", "d")])
    text = to_html(dag)
    assert text.count("c <span") == 2
    assert text.count(">d <") == 1


def test_small_trees_are_open_and_large_ones_closed():
    assert to_html(EVIL).count("<details open") == 2
    large = Hierarchy.from_paths([(i, j) for i in range(30) for j in range(9)])
    assert to_html(large).count("<details open") < 5
