"""`palmette hierarchy`: look at a file, write it in another format, or check it."""

from __future__ import annotations

from pathlib import Path

import pytest

from palmette.cli.hierarchy import check, show
from palmette.hierarchy._hierarchy import Hierarchy


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tree.txt"
    path.write_text("animal > cat\nanimal > dog\nplant > oak\n")
    return path


def test_every_option_is_a_parameter(parse):
    file = {"file": Path("x.txt")}
    words = ["--format", "edges", "--root", "all", "--lines", "9", "--out", "x.csv", "--excel-safe"]
    options = {"format": "edges", "root": "all", "lines": 9, "out": Path("x.csv")}
    options["excel_safe"] = True
    assert parse(show, "x.txt", *words) == file | options
    defaults = {"format": None, "root": None, "lines": 40, "out": None, "excel_safe": False}
    assert parse(show, "x.txt") == file | defaults
    words = ["--format", "edges", "--root", "all", "--notes", "9"]
    assert parse(check, "x.txt", *words) == file | {"format": "edges", "root": "all", "notes": 9}
    assert parse(check, "x.txt") == file | {"format": None, "root": None, "notes": 5}


def test_drawing(palmette, file):
    result = palmette("hierarchy", file)
    assert result.exit_code == 0
    first, *drawing = result.stdout.splitlines()
    assert first == "tree, 6 nodes with the root, 3 leaves, depth 2 (2/3 by level)"
    assert "\n".join(drawing) == Hierarchy.read(file).draw()


def test_a_name_above_itself_is_told(palmette, file):
    file.write_text("a > a\na > b\n")
    result = palmette("hierarchy", file)
    assert "note: 1 of the nodes have the same name as a node above them, such as 'a/a'" in (
        result.stderr
    )


def test_both_commands_give_one_verdict(palmette, file):
    for content, code in (("a > b\n a > c\na > d\n", 2), ("a > b\na > b > c\n", 0)):
        file.write_text(content)
        shown, checked = palmette("hierarchy", file), palmette("hierarchy", "check", file)
        assert (shown.exit_code, checked.exit_code) == (code, code)


def test_fewer_lines(palmette, file):
    assert len(palmette("hierarchy", file, "--lines", 3).stdout.splitlines()) == 1 + 3


def test_another_format(palmette, file, tmp_path):
    out = tmp_path / "tree.json"
    result = palmette("hierarchy", file, "--out", out)
    assert result.exit_code == 0
    assert result.stdout.endswith(f"wrote {out}\n")
    assert Hierarchy.read(out) == Hierarchy.read(file)


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "the file does not exist"), (b"\0\1\2", "binary file"), (b"", "tree.txt")],
)
def test_bad_files(fails, tmp_path, content, words):
    path = tmp_path / "tree.txt"
    if content is not None:
        path.write_bytes(content)
    assert words in fails("hierarchy", path)


def test_unknown_formats(palmette, fails, file, tmp_path):
    assert "nonsense" in fails("hierarchy", file, "--format", "nonsense")
    result = palmette("hierarchy", file, "--out", tmp_path / "tree.xyz")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert not (tmp_path / "tree.xyz").exists()


def test_show_is_what_happens_without_a_word(palmette, file):
    assert palmette("hierarchy", "show", file).stdout == palmette("hierarchy", file).stdout
    assert "Commands" in palmette("hierarchy", "--help").stdout


# ---------------------------------------------------------------------- check


def test_a_sound_file(palmette, file):
    result = palmette("hierarchy", "check", file)
    assert result.exit_code == 0
    assert "tree, 6 nodes with the root, 3 leaves, depth 2" in result.stdout
    assert "leaves by depth: 3 at 2" in result.stdout
    assert "line 3: 'plant/oak' is the only child" in result.stdout
    assert result.stdout.endswith("valid, with notes\n")


def test_all_faults_and_exit_code_2(palmette, file):
    file.write_text("animal > cat\nanimal > cat\nplant >  > oak\n")
    result = palmette("hierarchy", "check", file)
    assert result.exit_code == 2
    assert "line 2: 'animal' > 'cat' is declared twice" in result.stdout
    assert "line 3: a name is empty" in result.stdout
    assert result.stderr == ""


def test_a_check_of_nothing(fails, tmp_path):
    assert "the file does not exist" in fails("hierarchy", "check", tmp_path / "nix.txt")


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [
        "google_product_taxonomy/taxonomy-with-ids.en-US.txt.xz",
        "rcv1_topics/rcv1.taxonomy.xz",
        "cub200/hierarchy_wikispecies.txt.xz",
        "naics_2022/naics_2022.csv.xz",
    ],
)
def test_taxonomies_of_the_data_home_are_sound(palmette, data_home, name):
    result = palmette("hierarchy", "check", data_home / "taxonomies" / name)
    assert result.exit_code == 0, result.stdout


@pytest.mark.data
def test_a_taxonomy_of_several_roots(palmette, data_home):
    path = data_home / "taxonomies" / "imagenet_wordnet" / "wordnet.parent-child.txt.xz"
    result = palmette("hierarchy", "check", path)
    assert result.exit_code == 2
    assert "11 faults (11 second root)" in result.stdout
