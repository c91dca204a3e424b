"""Corpora of subject indexing: lines of text and URIs, or a folder of texts."""

from __future__ import annotations

import gzip

import pytest

from palmette.exceptions import ReadError
from palmette.table import fit_table
from palmette.table._reading import read_parts, read_whole
from palmette.table._sources import TableSource

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
