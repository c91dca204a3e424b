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
    skos = ["--language", "fi", "--scheme", "a", "--scheme", "b"]
    of_skos = {"language": "fi", "scheme": ["a", "b"]}
    no_skos = {"language": None, "scheme": None}
    assert parse(show, "x.txt", *words, *skos) == file | options | of_skos
    defaults = {"format": None, "root": None, "lines": 40, "out": None, "excel_safe": False}
    assert parse(show, "x.txt") == file | defaults | no_skos
    words = ["--format", "edges", "--root", "all", "--notes", "9", *skos]
    options = {"format": "edges", "root": "all", "notes": 9}
    assert parse(check, "x.txt", *words) == file | options | of_skos
    assert parse(check, "x.txt") == file | {"format": None, "root": None, "notes": 5} | no_skos


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


# ---------------------------------------------------------------------- thesauri


THESAURUS = """@prefix : <http://x.org/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:s a skos:ConceptScheme ; skos:hasTopConcept :a .
:a a skos:Concept ; skos:inScheme :s ; skos:prefLabel "animal"@en, "eläin"@fi .
:b a skos:Concept ; skos:inScheme :s ; skos:prefLabel "cat"@en ; skos:broader :a, :gone .
:c a skos:Concept ; skos:inScheme :s ; <http://www.w3.org/2002/07/owl#deprecated> true .
"""


@pytest.fixture
def thesaurus(tmp_path):
    pytest.importorskip("rdflib")
    path = tmp_path / "x.ttl"
    path.write_text(THESAURUS, encoding="utf-8")
    return path


def test_a_thesaurus_in_a_language(palmette, thesaurus):
    result = palmette("hierarchy", thesaurus, "--language", "fi")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1:] == ["root", "└─ eläin", "   └─ cat"]
    assert "note: 1 deprecated concepts are left out" in result.stderr
    assert "note: 1 links to concepts that are deprecated" in result.stderr
    assert "note: 1 concepts have no label in 'fi'" in result.stderr


@pytest.mark.parametrize("suffix", [".rdf", ".nt", ".jsonld", ".json", ".ttl"])
def test_a_thesaurus_in_another_format(palmette, thesaurus, tmp_path, suffix):
    out = tmp_path / f"out{suffix}"
    assert palmette("hierarchy", thesaurus, "--out", out, "--language", "fi").exit_code == 0
    assert Hierarchy.read(out) == Hierarchy.read(thesaurus)
    assert palmette("hierarchy", out, "--language", "fi", "--out", out).exit_code == 0


def test_labels_as_indented_text(palmette, thesaurus, tmp_path):
    out = tmp_path / "out.txt"
    assert palmette("hierarchy", thesaurus, "--out", out, "--language", "en").exit_code == 0
    assert out.read_text(encoding="utf-8").endswith("root\n  animal\n    cat\n")


def test_checking_a_thesaurus(palmette, thesaurus):
    result = palmette("hierarchy", "check", thesaurus, "--scheme", "http://x.org/s")
    assert result.exit_code == 2
    assert "1 fault (1 undefined concept)" in result.stdout
    assert "in the file: 3 concepts, 1 deprecated" in result.stdout


def test_unknown_languages_and_schemes(fails, thesaurus):
    assert "no label has it. The languages are" in fails("hierarchy", thesaurus, "--language", "sv")
    assert "is not a scheme of this file" in fails("hierarchy", thesaurus, "--scheme", "cars")
