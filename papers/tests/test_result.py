"""Tables and claims as text and data, and their files."""

from __future__ import annotations

import json

import pytest

from palmette.exceptions import PalmetteError
from papers.result import (
    Claim,
    PublishedResult,
    Table,
    format_cell,
    require_folder,
)


def make_result(draw=lambda facts: {"f.png": b"ink"}) -> PublishedResult:
    table = Table("T", ("who", "F1"), [("a|b", 0.25), ("c", float("nan"))], ["a note"])
    claims = [Claim("here", "here: it holds.", True)]
    scores = {"toy": {"a": {"f1": float("nan")}}}
    return PublishedResult("p", "R.", [table], claims, {"f": {"x": 1}}, draw, scores, {"seed": 0})


@pytest.mark.parametrize(
    ("cell", "text"),
    [(0.98765, "0.988"), (12345, "12,345"), ("a", "a"), (None, "–"), (float("nan"), "–")],
)
def test_cells(cell, text):
    assert format_cell(cell) == text


def test_markdown_tells_everything():
    text = make_result().to_markdown()
    assert "| a\\|b | 0.250 |\n| c | – |\n\na note\n" in text
    assert "- here: it holds.\n" in text
    assert "Warnings" not in text
    assert text.endswith("Measured with: seed 0.\n")


def test_warnings_are_told():
    result = make_result()
    result.notes.append("mind this")
    assert "### Warnings\n\n- mind this\n" in result.to_markdown()


def test_json_has_no_nan(tmp_path):
    make_result().write(tmp_path / "new")
    found = json.loads((tmp_path / "new" / "results.json").read_text(), parse_constant=pytest.fail)
    assert found["tables"][0]["rows"] == [{"who": "a|b", "F1": 0.25}, {"who": "c", "F1": None}]
    assert found["scores"] == {"toy": {"a": {"f1": None}}}
    assert found["figures"] == {"f": {"x": 1}}


def test_files_are_named(tmp_path):
    paths = make_result().write(tmp_path)
    assert [path.name for path in paths] == ["tables.md", "results.json", "f.png"]
    assert (tmp_path / "f.png").read_bytes() == b"ink"


def test_nothing_is_written_when_a_picture_fails(tmp_path):
    def draw(facts):
        raise RuntimeError("no ink")

    with pytest.raises(RuntimeError):
        make_result(draw).write(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_folders_that_cannot_be(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    with pytest.raises(PalmetteError, match="it is a file"):
        require_folder(tmp_path / "file")
    with pytest.raises(PalmetteError, match="there is no folder"):
        require_folder(tmp_path / "no" / "where")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(PalmetteError, match="read-only"):
        require_folder(tmp_path / "new")
