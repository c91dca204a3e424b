"""MULAN's XML, and XML that must not hurt."""

from __future__ import annotations

import pytest

from palmette.exceptions import ReadError
from palmette.hierarchy._hierarchy import Hierarchy

START = (
    '<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n'
)


def test_flat_labels_are_a_star(read):
    h = read(START + '<label name="a"></label><label name="b"/></labels>', "x.xml")
    assert h == Hierarchy.star(["a", "b"])


def test_nested_labels(read):
    text = START + '<label name="1"><label name="1/2"/></label>\n<label name="3"/></labels>'
    assert read(text) == Hierarchy.from_paths([("1", "1/2"), ("3",)])


def test_one_label_is_not_the_root(read):
    assert read(START + '<label name="a"/></labels>').names.tolist() == ["root", "a"]


def test_prefix_comment_and_document_type(read):
    start = "<!-- > --><!DOCTYPE m:labels>\n<m:labels>"
    assert read(start + '<m:label name="&lt;a&gt;"/></m:labels>').names.tolist() == ["root", "<a>"]


def test_a_label_twice_names_both_lines(read):
    text = START + '<label name="a"/>\n<label name="b">\n<label name="a"/></label></labels>'
    with pytest.raises(ReadError, match=r":5: the label 'a' is declared twice, first in line 3"):
        read(text)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('<label name="a"/>', "not well-formed XML"),
        ("<label/></labels>", "no name attribute"),
        ('<label name=" "/></labels>', "no name attribute"),
        ("<tag/></labels>", "found <tag>"),
        ("</labels>", "has no nodes"),
        ('<label name="a"/></labels><labels/>', "not well-formed XML"),
    ],
)
def test_broken(read, body, message):
    with pytest.raises(ReadError, match=message):
        read(START + body)


def test_broken_xml_is_pointed_at(read):
    with pytest.raises(ReadError) as e:
        read('<labels>\n  <label name="a"">\n</labels>')
    assert e.value.line == 2
    assert '  <label name="a"">' in str(e.value)


def test_other_xml_is_refused(read):
    with pytest.raises(ReadError, match="root element 'html': expected one of labels, ICD10"):
        read("<html><body/></html>")


BOMB = (
    '<!DOCTYPE labels [<!ENTITY a0 "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    + ']><labels><label name="&a11;"/></labels>'
)
OUTSIDE = (
    '<!DOCTYPE labels [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    '<labels><label name="a">&x;</label></labels>'
)
PARAMETER = '<!DOCTYPE labels [<!ENTITY % x SYSTEM "http://localhost/x.dtd"> %x;]><labels/>'

TYPE = '<!DOCTYPE labels SYSTEM "http://localhost/x.dtd"><labels><label name="a"/></labels>'


@pytest.mark.parametrize(
    "text", [BOMB, OUTSIDE, PARAMETER, TYPE], ids=["bomb", "outside", "parameter", "type"]
)
def test_entities_are_refused(read, text):
    with pytest.raises(ReadError, match=r"declares entities or refers to other files"):
        read(text, format="mulan")


def test_deep_nesting_is_no_recursion(read):
    deep = "".join(f'<label name="{i}">' for i in range(20_000)) + "</label>" * 20_000
    assert read(START + deep + "</labels>").max_depth == 20_000


def test_unknown_encoding(read):
    with pytest.raises(ReadError):
        read('<?xml version="1.0" encoding="klingon"?><labels><label name="a"/></labels>')


def test_many_comments_before_the_first_element_are_quick(read):
    with pytest.raises(ReadError):
        read("<!---->" * 1000 + "<?a?>" * 1000 + "<!")
