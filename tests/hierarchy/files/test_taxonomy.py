"""Reading what was written: the laws of the round trip."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette._text import CONTROL
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy.files import to_dot, write_hierarchy

# files are written: how long that takes is the machine's affair
unhurried = settings(deadline=None)

text_names = st.text(min_size=1, max_size=6) | st.sampled_from(
    [
        "-- a",
        " a",
        "a ",
        "#a",
        '"a"',
        '"',
        "a\nb",
        "a\r",
        "'",
        "''",
        "a > b",
        "a,b",
        "a;b",
        "(",
        "\x85",
    ]
)
any_names = text_names | st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def trees(draw: st.DrawFn, names: st.SearchStrategy) -> Hierarchy:
    steps = draw(st.lists(st.tuples(st.integers(0, 30), names), max_size=12))
    paths: list[tuple] = [()]
    for above, name in steps:
        paths.append((*paths[above % len(paths)], name))
    return Hierarchy.from_paths(paths, root=draw(names))


@st.composite
def dags(draw: st.DrawFn) -> Hierarchy:
    names = draw(st.lists(any_names, min_size=1, max_size=10, unique_by=lambda n: (n, str(n))))
    names = list({name: name for name in names})
    edges = [
        (draw(st.integers(0, child - 1)), child)
        for child in range(1, len(names))
        for _ in range(draw(st.integers(1, 3)))
    ]
    return Hierarchy(names, edges)


def is_text(hierarchy: Hierarchy) -> bool:
    return not CONTROL.search("".join(hierarchy.names).replace("\r", ""))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("round_trips")


@unhurried
@given(trees(any_names) | dags())
def test_law_json_brings_back_everything(folder, hierarchy):
    hierarchy.write(folder / "tree.json")
    assert not CONTROL.search((folder / "tree.json").read_text("utf-8"))
    back = Hierarchy.read(folder / "tree.json")
    assert back == hierarchy
    assert hash(back) == hash(hierarchy)


@pytest.mark.parametrize("name", ["tree.nwk", "tree.txt"])
@unhurried
@given(hierarchy=trees(text_names))
def test_law_text_brings_back_trees_of_strings(folder, name, hierarchy):
    try:
        hierarchy.write(folder / name)
    except HierarchyError:  # control characters, which JSON and indented text can escape
        assert name == "tree.nwk"
        assert not is_text(hierarchy)
        return
    assert not CONTROL.search((folder / name).read_text("utf-8").replace("\r", ""))
    back = Hierarchy.read(folder / name)
    assert back == hierarchy
    assert hash(back) == hash(hierarchy)


@pytest.mark.parametrize(
    "edges", [[("a:", "b:")], [("%YAML 1", "c")], [("a:", "- b"), ("a:", "c:")]]
)
def test_names_of_our_own_text_are_no_yaml(tmp_path, edges):
    hierarchy = Hierarchy.from_edges(edges)
    hierarchy.write(tmp_path / "tree.txt")
    assert Hierarchy.read(tmp_path / "tree.txt") == hierarchy


def test_json_of_many_nodes_and_back(tmp_path):
    h = Hierarchy.from_paths((i // 1000, i // 10, i) for i in range(20_000))
    h.write(tmp_path / "big.json")
    assert Hierarchy.read(tmp_path / "big.json") == h


def test_dot_file(tmp_path):
    h = Hierarchy.star(["a"])
    h.write(tmp_path / "x.gv")
    assert (tmp_path / "x.gv").read_text() == to_dot(h) == h.to_dot()


def test_format_goes_before_suffix(tmp_path):
    write_hierarchy(Hierarchy.star(["a"]), tmp_path / "x.txt", format="newick")
    assert (tmp_path / "x.txt").read_text() == "(a)root;"
    assert Hierarchy.read(tmp_path / "x.txt") == Hierarchy.star(["a"])


@pytest.mark.parametrize("options", [{}, {"format": "json"}])
def test_packed_files_are_not_written(tmp_path, options):
    with pytest.raises(PalmetteError, match="can only be read"):
        Hierarchy.star(["a"]).write(tmp_path / "x.json.gz", **options)


def test_an_error_leaves_the_old_file(tmp_path):
    file = tmp_path / "x.nwk"
    file.write_text("(a)root;")
    with pytest.raises(HierarchyError, match="Write JSON, which escapes it"):
        Hierarchy.star(["\ud800"]).write(file)
    assert file.read_text() == "(a)root;"
    assert list(tmp_path.iterdir()) == [file]


HOSTILE = Hierarchy.from_paths([("=a\x1b[2J", "b\x9bc"), ("\u202ed", "+e\x7f"), ("plain",)])


@pytest.mark.parametrize("suffix", [".json", ".txt", ".dot", ".svg", ".html"])
def test_control_characters_are_escaped(tmp_path, suffix):
    HOSTILE.write(tmp_path / f"a{suffix}")
    text = (tmp_path / f"a{suffix}").read_text("utf-8")
    assert not CONTROL.search(text)
    if suffix in (".json", ".txt"):
        assert Hierarchy.read(tmp_path / f"a{suffix}") == HOSTILE


@pytest.mark.parametrize("suffix", [".nwk", ".csv"])
def test_or_refused_where_they_cannot_be(tmp_path, suffix):
    with pytest.raises(HierarchyError, match="Write JSON, which escapes it"):
        HOSTILE.write(tmp_path / f"a{suffix}")
    assert not [*tmp_path.iterdir()]


def test_edges_for_spreadsheets(tmp_path):
    h = Hierarchy.from_paths([("=a", "-b"), ("c", "-1")])
    h.write(tmp_path / "a.csv", excel_safe=True)
    assert (tmp_path / "a.csv").read_text() == "parent,child\nroot,'=a\n'=a,'-b\nroot,c\nc,-1\n"
    h.write(tmp_path / "b.csv")
    assert Hierarchy.read(tmp_path / "b.csv") == h
