"""`palmette hierarchy`: look at a file, or write it in another format."""

from __future__ import annotations

from pathlib import Path

import pytest

from palmette.core.hierarchy import Hierarchy


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tree.txt"
    path.write_text("animal > cat\nanimal > dog\nplant > oak\n")
    return path


def test_every_option_is_passed_on(palmette, called):
    calls = called("palmette.cli.hierarchy.run_hierarchy")
    words = ["--format", "edges", "--root", "all", "--lines", "9", "--out", "x.json"]
    assert palmette("hierarchy", "x.txt", *words).exit_code == 0
    palmette("hierarchy", "x.txt")
    options = {"format": "edges", "root": "all", "lines": 9, "out": Path("x.json")}
    defaults = {"format": None, "root": None, "lines": 40, "out": None}
    assert calls == [((Path("x.txt"),), options), ((Path("x.txt"),), defaults)]


def test_drawing(palmette, file):
    result = palmette("hierarchy", file)
    assert result.exit_code == 0
    first, *drawing = result.stdout.splitlines()
    assert first == "tree, 6 nodes with the root, 3 leaves, depth 2 (2/3 by level)"
    assert "\n".join(drawing) == Hierarchy.read(file).draw()


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
    [(None, "there is no such file"), (b"\0\1\2", "binary file"), (b"", "tree.txt")],
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
