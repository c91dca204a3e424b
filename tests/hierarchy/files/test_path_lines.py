"""Lines A > B > C."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette.exceptions import ReadError
from palmette.hierarchy._hierarchy import Hierarchy, assemble
from palmette.hierarchy.files._source import Source
from palmette.hierarchy.files._text import parse_paths

# files are written: how long that takes is the machine's affair
unhurried = settings(deadline=None)

EXPECTED = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant",)])


@pytest.mark.parametrize(
    "text",
    [
        "animal > cat\nanimal > dog\nplant\n",
        "# version 3\n\nanimal\nanimal > cat\n  # a comment\nanimal > dog\nplant",
        "animal>cat\nanimal>dog\nplant\n",
        "animal > cat\r\nanimal > dog\r\nplant\r\n",
        "1 - animal\n20 - animal > cat\n3 - animal > dog\n44 - plant\n",
        "gid://shop/a   : animal > cat\ngid://shop/a-1 : animal > dog\ngid://shop/b : plant\n",
    ],
    ids=["plain", "comments", "no blanks", "crlf", "google", "shopify"],
)
def test_spellings_of_the_same_paths(read, text):
    assert read(text) == EXPECTED


def test_equals_from_paths(read):
    paths = [("a", "x"), ("b", "x"), ("b", "y", "z")]
    text = "\n".join(" > ".join(path) for path in paths)
    assert read(text) == Hierarchy.from_paths(paths)
    assert read(text, root="all") == Hierarchy.from_paths(paths, root="all")


def test_an_id_that_some_lines_lack_is_part_of_the_name(read):
    h = read("3 - door cars > fast\nbikes > slow\n")
    assert "3 - door cars" in h.names


def test_separator_within_a_name(read):
    h = read("chemistry > A->B\nchemistry > x>y\n")
    assert h.names.tolist() == ["root", "chemistry", "A->B", "x>y"]


def test_the_same_path_twice_names_both_lines(read):
    with pytest.raises(
        ReadError, match=r"(?s)file.txt:4: 'a' > 'b' .* first in line 2.*a > b"
    ) as e:
        read("# one\na > b\na > c\na > b\n")
    assert e.value.line == 4


def test_a_prefix_may_be_implied_first_and_declared_later(read):
    assert read("a > b\na\n").n_nodes == 3


def test_an_empty_name_is_pointed_at(read):
    with pytest.raises(ReadError) as e:
        read("a > b\na >  > c\n", format="paths")
    assert (e.value.line, e.value.column) == (2, 4)
    assert str(e.value).endswith("  a >  > c\n      ^")


name = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="#>"), min_size=1)


@unhurried
@given(st.lists(st.lists(name, min_size=1, max_size=4).map(tuple), min_size=1, unique=True))
def test_law_paths_written_by_hand_read_as_from_paths(tmp_path_factory, paths):
    file = tmp_path_factory.mktemp("paths") / "file"
    # a last line that is surely no path with an id: ids are left out only where all lines have one
    paths = [*paths, ("last", "one")] if ("last", "one") not in paths else paths
    file.write_text("\n".join(" > ".join(path) for path in paths), encoding="utf-8")
    assert Hierarchy.read(file, format="paths") == Hierarchy.from_paths(paths)


def test_deep_path_is_no_recursion(tmp_path):
    file = tmp_path / "deep.txt"
    file.write_text(">".join(["a"] * 100_000))
    assert assemble(parse_paths(Source(file)), None).max_depth == 100_000
