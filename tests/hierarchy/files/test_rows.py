"""Rows and what becomes of nodes without a parent."""

from __future__ import annotations

import pytest

from palmette.exceptions import HierarchyError, ReadError
from palmette.hierarchy._hierarchy import assemble
from palmette.hierarchy.files import _source as rows_module
from palmette.hierarchy.files._source import LinkRows, PlaceRows, Source, Tops, short

SOURCE = Source("some.txt")


def places(tops: Tops, *names: str) -> PlaceRows:
    rows = PlaceRows(SOURCE, tops)
    for line, name in enumerate(names, start=1):
        rows.add(name, -1, line)
    return rows


@pytest.mark.parametrize(
    ("tops", "names", "root", "expected"),
    [
        (Tops.ALWAYS, "a", None, ["root", "a"]),
        (Tops.ALWAYS, "a", "a", ["a", "a"]),
        (Tops.SEVERAL, "a", None, ["a"]),
        (Tops.SEVERAL, "ab", None, ["root", "a", "b"]),
        (Tops.SEVERAL, "a", "a", ["a"]),
        (Tops.SEVERAL, "a", "r", ["r", "a"]),
        (Tops.SEVERAL, "ab", 0, [0, "a", "b"]),
        (Tops.NEVER, "a", None, ["a"]),
        (Tops.NEVER, "ab", "r", ["r", "a", "b"]),
    ],
)
def test_tops(tops, names, root, expected):
    assert assemble(places(tops, *names), root).names.tolist() == expected


def test_several_tops_that_may_not_be():
    with pytest.raises(HierarchyError, match=r"some\.txt: found 2 nodes without a parent"):
        assemble(places(Tops.NEVER, "a", "b"), None)


def test_links_join_under_a_top_that_is_there():
    rows = LinkRows(SOURCE, Tops.NEVER)
    rows.link("a", "b")
    rows.link("r", "c")
    assert assemble(rows, "r").path_strings.tolist() == ["r", "a", "a/b", "c"]


def test_too_many_nodes(monkeypatch):
    monkeypatch.setattr(rows_module, "MAX_NODES", 3)
    with pytest.raises(ReadError, match="more than 3 nodes"):
        places(Tops.ALWAYS, *"abcd")
    rows = LinkRows(SOURCE, Tops.NEVER)
    rows.link("a", "b")
    with pytest.raises(ReadError, match="more than 3 nodes"):
        rows.link("c", "d")


def test_short_names():
    assert short("a") == "'a'"
    assert len(short("a" * 10_000)) <= 80
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert len(short(deep)) < 80
