"""Formats by name, suffix and content."""

from __future__ import annotations

import pytest

from palmette.exceptions import PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy.files._registry import READERS, WRITERS

# one small file of each format, which no suffix gives away
EXAMPLES = {
    "mulan": "<labels><label name='a'/></labels>",
    "icd10-xml": "<ICD10CM.tabular><chapter><name>1</name></chapter></ICD10CM.tabular>",
    "arff": "@relation x\n@attribute class hierarchical a/b\n@data\n",
    "obo": "[Term]\nid: a\n",
    "json": '{"a": {"b": {}}}',
    "newick": "(a,b)c;",
    "icd10-codes": "1\nA00-A09\nA00\n",
    "indented": "a\n  b > c\n",
    "paths": "a > b\na, b > c\n",
    "codes": "code,title\nA,x\nA1,y\n",
    "edges": "a b\na c\n",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_content_tells_the_format(read, name):
    assert read(EXAMPLES[name], "x.unknown") == read(EXAMPLES[name], "y.unknown", format=name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_byte_order_mark_and_windows_line_ends_change_nothing(read, name):
    content = b"\xef\xbb\xbf" + EXAMPLES[name].replace("\n", "\r\n").encode()
    assert read(content, "x.unknown") == read(EXAMPLES[name], "y.unknown")


def test_every_format_that_content_tells_has_an_example():
    by_content = {r.name for r in READERS.values() if r.looks_like is not None}
    assert by_content - {"go-sqlite"} == set(EXAMPLES)


def test_a_suffix_stands_for_one_format():
    suffixes = [suffix for reader in READERS.values() for suffix in reader.suffixes]
    assert len(set(suffixes)) == len(suffixes)


def test_unknown_format_lists_the_known_ones(read):
    with pytest.raises(ReadError, match="format='yaml' is unknown") as e:
        read("a b", format="yaml")
    assert all(name in str(e.value) for name in READERS)


def test_unknown_content_lists_the_known_ones(read):
    with pytest.raises(ReadError, match="cannot be detected") as e:
        read("a\nb\n")
    assert all(name in str(e.value) for name in READERS)


def test_unknown_suffix_for_writing(tmp_path):
    for file, options in (("x.yaml", {}), ("x.txt", {"format": "obo"})):
        with pytest.raises(PalmetteError, match="cannot be written") as e:
            Hierarchy.star(["a"]).write(tmp_path / file, **options)
        assert all(name in str(e.value) for name in WRITERS)
