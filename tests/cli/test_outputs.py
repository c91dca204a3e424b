"""Names of files that cannot be written are refused."""

from __future__ import annotations

import pytest

from palmette.cli.outputs import require_writable
from palmette.exceptions import PalmetteError


def test_writable(tmp_path, monkeypatch):
    require_writable(tmp_path / "x.JSON", [".json"])
    (tmp_path / "x.json").write_text("before")
    require_writable(tmp_path / "x.json", [".json"])
    monkeypatch.chdir(tmp_path)
    require_writable((tmp_path / "y.json").relative_to(tmp_path), [".json"])
    assert (tmp_path / "x.json").read_text() == "before"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.txt", "expected a name in .json, .md"),
        ("json", "expected a name in .json, .md"),
        ("folder.md", "it is a folder"),
        ("nowhere/x.md", "there is no folder"),
    ],
)
def test_not_writable(tmp_path, name, words):
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(PalmetteError, match=words):
        require_writable(tmp_path / name, [".json", ".md"])


def test_read_only_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(PalmetteError, match="read-only for you"):
        require_writable(tmp_path / "x.md", [".md"])
