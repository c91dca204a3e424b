"""Corpora of subject indexing: lines of text and URIs, or a folder of texts."""

from __future__ import annotations

import gzip

import pytest

from palmette import Hierarchy, Vocabulary
from palmette.cli.eval import evaluate
from palmette.exceptions import PalmetteError, ReadError
from palmette.table import fit_table
from palmette.table._large import expected_rows
from palmette.table._problem import read_problem
from palmette.table._reading import read_parts, read_whole
from palmette.table._sources import BadRows, TableSource

LINES = "grey cat\t<http://a.org/cat> <http://a.org/grey>\nblack dog\thttp://a.org/dog\nnothing\t\n"


def test_lines_of_text_and_uris(tmp_path):
    plain, packed = tmp_path / "corpus.tsv", tmp_path / "corpus.tsv.gz"
    plain.write_text(LINES, encoding="utf-8")
    packed.write_bytes(gzip.compress(LINES.encode()))
    for path in (plain, packed):
        frame = read_whole(TableSource.of(path, "annif"))
        assert frame["text"].tolist() == ["grey cat", "black dog", "nothing"]
        assert frame["subjects"].tolist()[:2] == [
            ["http://a.org/cat", "http://a.org/grey"],
            ["http://a.org/dog"],
        ]
        assert frame["subjects"][2] is None
    parts = list(read_parts(TableSource.of(plain, "annif"), rows=2))
    assert [len(part.frame) for part in parts] == [2, 1]


def test_a_folder_of_texts_and_subjects(tmp_path):
    for name, text, suffix, subjects in [
        ("b", "black dog", ".tsv", "<http://a.org/dog>\tdog\n<http://a.org/black>\tblack\n"),
        ("a", "grey cat", ".key", "cat\ngrey\n"),
        ("c", "nothing", None, ""),
    ]:
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        if suffix:
            (tmp_path / f"{name}{suffix}").write_text(subjects, encoding="utf-8")
    frame = read_whole(TableSource.of(tmp_path, "annif"))
    assert frame["text"].tolist() == ["grey cat", "black dog", "nothing"]
    assert frame["subjects"].tolist() == [
        ["cat", "grey"],
        ["http://a.org/dog", "http://a.org/black"],
        None,
    ]


def test_a_model_of_a_corpus(tmp_path):
    path = tmp_path / "corpus.tsv"
    lines = [
        "grey cat\t<u:cat> <u:grey>",
        "black cat\t<u:cat> <u:black>",
        "grey dog\t<u:dog> <u:grey>",
    ]
    path.write_text("\n".join(lines * 8), encoding="utf-8")
    source = TableSource.of(path, "annif")
    kinds = {"text": "text"}  # by default few values are categories
    model = fit_table(source, "subjects", model="label-tree", folds=0, columns=kinds)
    assert model.predict({"text": ["a black cat"]}) == [{("u:cat",), ("u:black",)}]


def test_what_is_no_corpus_is_told(tmp_path):
    path = tmp_path / "corpus.tsv"
    path.write_text("a\t<u:a>\nno tab here\n", encoding="utf-8")
    with pytest.raises(ReadError, match="line 2 has no tab: expected a text, a tab and the URIs"):
        read_whole(TableSource.of(path, "annif"))
    path.write_bytes(b"caf\xe9\t<u:a>\n")
    with pytest.raises(ReadError, match="line 1 is not UTF-8"):
        read_whole(TableSource.of(path, "annif"))
    assert read_whole(TableSource.of(path, "annif", encoding="latin-1"))["text"][0] == "café"
    folder = tmp_path / "empty"
    folder.mkdir()
    with pytest.raises(ReadError, match=r"the folder has no \.txt file"):
        read_whole(TableSource.of(folder, "annif"))


# ---------------------------------------------------------------------- with a thesaurus

WORDS = Vocabulary(
    {"en": {"u:cat": "cat", "u:dog": "dog", "u:oak": "oak"}, "fi": {"u:cat": "kissa"}},
    {"en": {"u:cat": ["kitty", "oak"], "u:dog": ["pet"], "u:oak": ["pet"]}},
    {"u:cat": ["1.1"], "u:dog": ["1.2"]},
)
THESAURUS = Hierarchy.from_paths(
    [("u:animal", "u:cat"), ("u:animal", "u:dog"), ("u:plant", "u:oak")]
).with_vocabulary(WORDS)
CAT, DOG, OAK = ("u:animal", "u:cat"), ("u:animal", "u:dog"), ("u:plant", "u:oak")


def labels_of(cells, **more):
    table = {"text": [f"some words {i}" for i in range(len(cells))], "subjects": cells}
    settings = {"labels_separator": ";", "columns": {"text": "text"}, **more}
    return read_problem(table, "subjects", hierarchy=THESAURUS, **settings)


def test_cells_may_have_labels_notations_and_uris_in_brackets():
    cells = ["cat;dog", "Kissa;<u:dog>", "KITTY;1.2", "u:cat;u:dog"]
    assert labels_of(cells).truth == [{CAT, DOG}] * 4
    assert labels_of(["oak;cat"] * 2).truth == [{OAK, CAT}] * 2  # the preferred label counts


def labels_without_separator(cells):
    table = {"text": [f"t{i}" for i in range(len(cells))], "subjects": cells}
    return read_problem(table, "subjects", hierarchy=THESAURUS, columns={"text": "text"})


@pytest.mark.parametrize("mark", [";", "; ", "|", " | ", ",", "\t"])
def test_the_separator_of_labels_is_found(mark):
    cells = [f"cat{mark}dog", f"u:dog{mark}1.2{mark}<u:oak>", f"Kissa{mark}horse", "oak"]
    problem = labels_without_separator([*cells[:2], *cells[3:]])
    assert problem.truth == [{CAT, DOG}, {DOG, OAK}, {OAK}]
    with pytest.raises(
        PalmetteError, match=r"'horse'.* Of 8 distinct labels, 1 cannot be used, in 2 of 8 rows"
    ):
        labels_without_separator(cells * 2)
    assert labels_without_separator([[f"cat{mark}dog"], ["oak"]]).truth == [{CAT, DOG}, {OAK}]


def test_blanks_separate_uris_only():
    assert labels_without_separator(["u:cat u:dog", "u:oak"]).truth == [{CAT, DOG}, {OAK}]
    with pytest.raises(PalmetteError, match="'cat dog', which is not in the hierarchy"):
        labels_without_separator(["cat dog", "oak"])
    assert labels_without_separator(["cat", "oak", "dog"]).truth == [CAT, OAK, DOG]


def test_a_label_of_several_concepts_is_refused():
    with pytest.raises(PalmetteError, match=r"'pet', which is a label of 2 concepts: u:dog, u:oak"):
        labels_of(["cat;dog", "cat;pet"])


def test_labels_that_the_thesaurus_lacks_are_left_out_of_rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("text,subjects\na b,cat;horse\nc d,horse\ne f,dog\n", encoding="utf-8")
    told, bad = [], BadRows()
    with pytest.raises(PalmetteError, match="'horse', which is not in the hierarchy"):
        read_problem(path, "subjects", hierarchy=THESAURUS, labels_separator=";")
    problem = read_problem(
        path, "subjects", hierarchy=THESAURUS, labels_separator=";", bad=bad, tell=told.append
    )
    assert problem.truth == [{CAT}, {DOG}]
    assert problem.n_bad == len(bad) == 1
    expected = "1 labels that are not in the hierarchy, such as 'horse', are left out of rows"
    assert any(sentence.startswith(expected) for sentence in told)


def test_labels_of_deprecated_concepts_count_for_those_that_replace_them():
    words = Vocabulary(replaced={"u:moggy": ["u:cat"], "u:pet": ["u:cat", "u:dog"]})
    thesaurus = THESAURUS.with_vocabulary(words)
    table = {"text": ["a", "b"], "subjects": ["u:moggy;u:dog", "<u:moggy>;u:oak"]}
    problem = read_problem(table, "subjects", hierarchy=thesaurus, labels_separator=";")
    assert problem.truth == [{CAT, DOG}, {CAT, OAK}]
    table["subjects"][1] = "<u:pet>"
    with pytest.raises(PalmetteError, match="'<u:pet>', which is replaced by 2 concepts: u:cat, u"):
        read_problem(table, "subjects", hierarchy=thesaurus, labels_separator=";")


def test_a_folder_is_fitted_and_evaluated(tmp_path):
    for i in range(24):
        name, text = ("cat", "it meows") if i % 2 else ("1.2", "it barks")
        (tmp_path / f"{i}.txt").write_text(text, encoding="utf-8")
        (tmp_path / f"{i}.key").write_text(f"{name}\n", encoding="utf-8")
    source = TableSource.of(tmp_path, "annif")
    assert expected_rows(source) == 24
    kinds = {"text": "text"}
    model = fit_table(
        source, "subjects", hierarchy=THESAURUS, model="label-tree", folds=0, columns=kinds
    )
    assert [model.label_text(label) for label in model.classes_] == ["u:cat", "u:dog"]
    found = evaluate(model, read_whole(source), [1])
    assert found["at_k"]["precision"] == [1.0]
    assert found["unknown_labels"] == 0


def test_corpora_are_found_by_their_content(tmp_path):
    plain, packed = tmp_path / "corpus.tsv", tmp_path / "corpus.tsv.gz"
    plain.write_bytes(b"\xef\xbb\xbf" + LINES.replace("\n", "\r\n").encode())
    packed.write_bytes(gzip.compress(LINES.encode()))
    assert TableSource.of(plain).format == TableSource.of(packed).format == "annif"
    assert TableSource.of(plain, "tsv").format == "tsv"
    for text in ("text\tsubjects\ncat\t<u:1>\n", "a\t\nb\t\n", "<u:1> <u:2>\n", ""):
        plain.write_text(text, encoding="utf-8")
        assert TableSource.of(plain).format == "tsv"
    assert TableSource.of(tmp_path / "none.tsv").format == "tsv"


def test_folders_of_texts_with_subjects_are_found(tmp_path):
    for name, suffix in (("texts", ".key"), ("tables", ".csv")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.txt").write_text("grey cat", encoding="utf-8")
        (folder / f"a{suffix}").write_text("cat", encoding="utf-8")
    assert TableSource.of(tmp_path / "texts").format == "annif"
    assert TableSource.of(tmp_path / "tables").format == "csv"


def test_errors_name_the_file_of_a_text_or_its_line(tmp_path):
    for name in ("cat", "dog", "horse"):
        (tmp_path / f"{name}.txt").write_text("it is here", encoding="utf-8")
        (tmp_path / f"{name}.key").write_text(name, encoding="utf-8")
    wanted = "horse.key: a row of the target has 'horse', which is not in the hierarchy"
    with pytest.raises(PalmetteError, match=wanted):
        read_problem(tmp_path, "subjects", hierarchy=THESAURUS)
    told, bad = [], BadRows()
    problem = read_problem(tmp_path, "subjects", hierarchy=THESAURUS, bad=bad, tell=told.append)
    assert problem.truth == [{CAT}, {DOG}]
    assert "1 row is skipped: horse.key (the target has 'horse'" in told[0]
    bad.write(tmp_path / "bad.csv")
    assert (tmp_path / "bad.csv").read_text().splitlines()[1].startswith("horse.key,")
    lines = tmp_path / "corpus.tsv"
    lines.write_text("a\t<u:cat>\n\nb\t<u:horse>\n", encoding="utf-8")
    with pytest.raises(PalmetteError, match="line 3 of the target has 'u:horse'"):
        read_problem(TableSource.of(lines, "annif"), "subjects", hierarchy=THESAURUS)


def test_cells_of_uris_in_brackets_and_objects_with_uris(tmp_path):
    texts = ["it meows", "it barks"] * 6
    rows = {
        "cells": ["<u:cat> <u:oak>", "<u:dog>"] * 6,
        "objects": [[{"uri": "u:cat", "label": "x"}, {"uri": "u:oak"}], [{"uri": "u:dog"}]] * 6,
    }
    for subjects in rows.values():
        table = {"text": texts, "subjects": subjects}
        problem = read_problem(table, "subjects", hierarchy=THESAURUS, columns={"text": "text"})
        assert problem.truth == [{CAT, OAK}, {DOG}] * 6
    # a thesaurus may be a tree, and a blank may separate labels: only URIs are written
    table = {"text": texts, "subjects": rows["cells"]}
    model = fit_table(
        table, "subjects", hierarchy=THESAURUS, model="label-tree", folds=0,
        columns={"text": "text"}, labels_separator=" ",
    )  # fmt: skip
    assert {model.label_text(label) for label in model.classes_} == {"u:cat", "u:dog", "u:oak"}
    assert model.target_.labels_mark == " "
