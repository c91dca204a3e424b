"""Checks of hierarchy files: every fault with its line, and no fault without a reason."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from palmette.exceptions import PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._pictures import to_svg
from palmette.hierarchy.checking import check_hierarchy
from palmette.hierarchy.files._registry import READERS


@pytest.fixture
def check(tmp_path):
    """Return a function that writes a file and gives its faults as (line, kind)."""

    def run(content, name="tree.txt", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return check_hierarchy(path, **options)

    return run


def places(findings):
    return [(finding.line, finding.kind) for finding in findings]


# ---------------------------------------------------------------------- paths


def test_a_sound_file(check):
    found = check("# goods\nanimal > cat\nanimal > dog\nplant > oak\nplant > elm\n")
    assert (found.faults, found.notes) == ((), ())
    assert found.format == "paths"
    assert found.hierarchy.n_nodes == 7
    assert found.to_text().endswith("\nvalid")


def test_all_faults_of_paths(check):
    found = check("a > b\na >  > c\na > d > \n> e\na > b\na > f >\n", format="paths")
    assert places(found.faults) == [
        (2, "empty name"),
        (3, "empty name"),
        (4, "separator"),
        (5, "repeated path"),
        (6, "separator"),
    ]
    assert "first in line 1" in found.faults[3].message
    assert found.hierarchy is None
    verdict = found.to_text().splitlines()[-1]
    assert verdict.startswith(
        "5 faults (2 empty name, 2 separator, 1 repeated path); the file cannot be"
    )


@pytest.mark.parametrize(
    "text", ["a > b\n a > c\na > d\n", "a\n a > c\nd\ne\n", "1 - a\n 2 - a > c\n3 - d\n4 - e\n"]
)
def test_a_blank_that_makes_paths_look_like_indented_text(check, tmp_path, text):
    found = check(text)
    assert places(found.faults) == [(2, "leading space")]
    assert (found.format, found.hierarchy) == ("paths", None)
    assert not check(text, format="paths").faults
    with pytest.raises(ReadError, match=r"tree\.txt:2: this line begins with a space"):
        Hierarchy.read(tmp_path / "tree.txt")


def test_a_lost_id(check):
    lines = [f"{i} - a > {i}x" for i in range(9)]
    found = check("\n".join([*lines, "a > y", "3 - a > z"]))
    assert places(found.faults) == [(10, "no id")]
    assert places(found.notes) == [(11, "repeated id")]


def test_a_parent_that_is_spelled_otherwise(check):
    found = check("a\na > b\na > b > c\na > b > d\na > B > e\na > B > f\nx\nx > y\nx > z\n")
    assert not found.faults
    assert (5, "undeclared parent") in places(found.notes)
    assert (5, "similar siblings") in places(found.notes)


def test_leaves_alone_are_no_reason_for_notes(check):
    assert check("a > b\na > c\nd > e\nd > f\n").notes == ()


# ---------------------------------------------------------------------- edges


def test_all_faults_of_edges(check):
    text = "parent,child\nroot,a\nroot,b\na,c\na,c\nb,b\nc,\nx,y\nb,d,e\n"
    found = check(text, format="edges")
    assert places(found.faults) == [
        (6, "own parent"),
        (7, "fields"),
        (8, "second root"),
        (9, "fields"),
    ]
    assert "'x' (descendants: 1) has no parent, like 'root'" in found.faults[2].message
    assert places(found.notes) == [(5, "repeated edge")]  # which the reader ignores


def test_every_cycle_is_told_with_its_lines(check):
    found = check("r a\na b\nb c\nc a\nr p\np q\nq p\n", format="edges")
    assert places(found.faults) == [(2, "cycle"), (6, "cycle")]
    assert "'a' > 'b' > 'c' > 'a' (lines 2, 3, 4)" in found.faults[0].message
    assert "'p' > 'q' > 'p' (lines 6, 7)" in found.faults[1].message


def test_nothing_but_a_cycle_has_no_root(check):
    kinds = {kind for _, kind in places(check("a b\nb a\n", format="edges").faults)}
    assert kinds == {"cycle", "no root"}


def test_a_root_over_several(check):
    text = "a b\na c\nd e\nd f\n"
    assert places(check(text, format="edges").faults) == [(3, "second root")]
    found = check(text, format="edges", root="all")
    assert not found.faults
    assert found.hierarchy.names[0] == "all"


def test_several_parents_are_a_note(check):
    found = check("r a\nr b\na c\nb c\na d\nb d\n", format="edges")
    assert not found.faults
    assert places(found.notes) == [(4, "several parents"), (6, "several parents")]
    assert "'c' has 2 parents: 'a', 'b'" in found.notes[0].message
    assert found.statistics["n_several_parents"] == 2


# ---------------------------------------------------------------------- indented text


def test_all_faults_of_indented_text(check):
    found = check("root\n  a\n    b\n   c\n  a\n  d\n \te\n")
    assert places(found.faults) == [(4, "indentation"), (5, "repeated path"), (7, "indentation")]
    assert (7, "spaces and tabs") in places(found.notes)


# ---------------------------------------------------------------------- JSON


def test_the_place_where_json_breaks(check):
    found = check('{"name": "a",\n "children": [}', "tree.json")
    assert places(found.faults) == [(2, "JSON")]


def test_all_faults_of_nested_nodes(check):
    node = (
        '{"name": "r", "children": [\n{"name": "a"},\n{"name": ""},\n{"name": "a"},\n'
        '3.5,\n{"name": "b", "children": "c"}]}'
    )
    assert places(check(node, "tree.json").faults) == [
        (3, "empty name"),
        (4, "repeated path"),
        (5, "node"),
        (6, "children"),
    ]


def test_all_faults_of_nested_objects(check):
    found = check('{"a": {"b": {},\n"": {},\n"c": 7},\n"d": ["x",\n"x",\n4.5]}', "tree.json")
    assert places(found.faults) == [
        (2, "empty name"),
        (3, "value"),
        (5, "repeated path"),
        (6, "value"),
    ]


def test_keys_that_stand_twice(check):
    found = check('{"a": {"b": {},\n"b": {}},\n"c": {},\n"c": {}}', "tree.json")
    assert places(found.faults) == [(2, "repeated key"), (4, "repeated key")]


def test_keys_that_stand_twice_before_json_breaks(check):
    found = check('{"a": {},\n"a": {},\n"b": }', "tree.json")
    assert places(found.faults) == [(3, "JSON")]
    assert check('{"a": {"b": NaN}}', "tree.json").faults


def test_lists_of_children(check):
    found = check('{"a": ["b", "c"],\n"b": ["d"],\n"d": ["b"]}', "tree.json")
    assert [kind for _, kind in places(found.faults)] == ["cycle"]


def test_our_own_rows(check):
    names = '["r",\n"a",\n"b",\n"a",\n"c"]'
    parents = "[-1,\n0,\n9,\n0,\n4]"
    head = '{"format": "palmette.hierarchy", "version": 1, "names": '
    found = check(f'{head}{names},\n"parents": {parents}}}', "tree.json")
    assert places(found.faults) == [
        (3, "second root"),
        (5, "second root"),
        (8, "parent"),
        (9, "repeated name"),
        (10, "parent"),
    ]


# ---------------------------------------------------------------------- bytes


def test_latin_1_is_a_note_and_a_mixture_a_fault(check):
    latin = "a > café\na > b\n".encode("latin-1")
    found = check(latin)
    assert not found.faults
    assert places(found.notes) == [(1, "encoding")]
    found = check(latin + "a > ça\n".encode())
    assert places(found.faults) == [(1, "encoding")]
    assert "1 other lines are" in found.faults[0].message


def test_lost_and_hidden_characters(check):
    found = check("a > b\ufffd\na > c\u200b\n")
    assert not found.faults
    assert places(found.notes) == [(1, "encoding"), (2, "character")]


def test_a_binary_file(check):
    assert "binary" in check(b"a > b\n\0", format="paths").faults[0].message


# ---------------------------------------------------------------------- the whole


def test_other_formats_tell_the_first_fault(check):
    found = check("((a,b)c,(d)e", "tree.nwk")
    assert len(found.faults) == 1
    assert found.format == "newick"


def test_a_format_that_cannot_be_told(check):
    found = check("one\ntwo\n")
    assert found.format is None
    assert [kind for _, kind in places(found.faults)] == ["format"]


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ReadError, match="the file does not exist"):
        check_hierarchy(tmp_path / "nix.txt")
    with pytest.raises(ReadError, match="format='nix' is unknown"):
        check_hierarchy(tmp_path / "nix.txt", format="nix")


def test_only_children_and_names_of_parents_are_notes(check):
    found = check("a > b > c\na > b > d\nx > x\nx > y\n")
    assert places(found.notes) == [(1, "only child"), (3, "parent's name")]
    found = check("a > b > a\na > c\na > b > d\n")
    assert places(found.notes) == [(1, "name above")]


def test_notes_are_counted_where_they_are_many(check):
    found = check("".join(f"{i} > x\n" for i in range(9)))
    text = found.to_text(max_notes=2)
    assert text.count("is the only child") == 2
    assert "… 7 more: only child" in text
    assert found.to_text(max_notes=None).count("is the only child") == 9


LINES = st.one_of(
    st.text('ab> \t,"{}[]:-#é0', max_size=12),
    st.sampled_from(
        ["a > b", " a > b", "a > b > c", "1 - a > c", "2 - b", "> q", "q >", "a b", "b a", "a a",
         "a,b", '{"a": 1}', "- a:", "@base <http://x>", "\ufffd > \u200b", "\udce9 > x"]
    ),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    lines=st.lists(LINES, max_size=8),
    format=st.sampled_from([None, "", *READERS]),
    one=st.booleans(),
)
@example(lines=["a > b", " a > b > c", "a > d"], format=None, one=True)
@example(lines=[*[f"{i} - a > {i}x" for i in range(9)], "a > y"], format=None, one=True)
@example(lines=["a > b", "a > c >"], format=None, one=True)
@example(lines=["é > b", "\udce9 > c"], format="paths", one=True)
@example(lines=["r a", "r a", "a b"], format=None, one=True)
@example(lines=["a > \ufffd"], format=None, one=True)
def test_a_file_has_faults_if_and_only_if_it_cannot_be_read(tmp_path_factory, lines, format, one):
    path = tmp_path_factory.getbasetemp() / "one_verdict.txt"
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    options = {"format": format or None, "root": None if one else "all"}
    found = check_hierarchy(path, **options)
    try:
        read = Hierarchy.read(path, **options)
    except PalmetteError as error:
        line = getattr(error, "line", None)
        assert found.hierarchy is None
        assert found.faults
        # the line that reading reports is among those of the faults
        assert line is None or line in {fault.line for fault in found.faults}
    else:
        assert not found.faults
        assert found.hierarchy == read
    assert found.to_text()


def test_long_chains_and_wide_families_take_linear_time(check):
    """Cubic steps would not end, and quadratic ones would be the slowest of this file."""
    n = 5_000
    chain = check("\n".join(f"n{i} n{i + 1}" for i in range(n)))
    assert chain.hierarchy.max_depth == n
    assert len(chain.notes) == n - 1
    assert [note.line for note in chain.notes[:2]] == [2, 3]
    assert "n4999/n5000" in chain.notes[-1].message
    assert not check("(" * n + "leaf" + ")x" * n + ";").faults
    cycles = check("\n".join(f"a{i} b{i}\nb{i} a{i}" for i in range(n // 2)), format="edges")
    assert len(cycles.faults) == n // 2 + 1
    roots = check("\n".join(f"a{i} b{i}" for i in range(n)), format="edges")
    assert len(roots.faults) == n - 1
    drawing = chain.hierarchy.draw(max_lines=None).splitlines()
    assert len(drawing) == 201
    assert drawing[-1].endswith("n200  … 1 more")
    assert "…/n300/n301" in to_svg(chain.hierarchy)


def test_deep_paths_take_time_linear_in_the_file(check):
    names = [f"n{i}" for i in range(600)]
    found = check("\n".join(" > ".join(names[: i + 1]) for i in range(600)))
    assert [note.line for note in found.notes[:2]] == [2, 3]
    assert not found.faults
