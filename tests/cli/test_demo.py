"""`palmette demo`: everything it shows, in 80 columns, and the picture of it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from palmette.cli.demo import MODELS, _aligned, demo
from palmette.compare import Problem
from palmette.hierarchy._hierarchy import Hierarchy

WORDS = {("a", "x"): "apple", ("a", "y"): "pear", ("b", "x"): "bolt", ("b", "y"): "nail"}


@pytest.fixture
def small(monkeypatch):
    """Put a small set of texts in the place of the embedded one."""
    rng = np.random.default_rng(0)
    labels = [list(WORDS)[i] for i in rng.choice(4, 120, p=[0.4, 0.3, 0.2, 0.1])]
    texts = [f"one {WORDS[label]} number {i}" for i, label in enumerate(labels)]
    hierarchy = Hierarchy.from_paths([*WORDS, ("c", "never")])
    problem = Problem("stdlib", hierarchy, texts[:80], labels[:80], texts[80:], labels[80:])
    monkeypatch.setattr("palmette.compare.find_problem", lambda name: problem)
    return problem


def test_every_option_is_a_parameter(parse):
    assert parse(demo, "--svg", "x.svg", "--seed", "3") == {"svg": Path("x.svg"), "seed": 3}
    assert parse(demo) == {"svg": None, "seed": 0}


def test_leaderboard_drawing_and_next_command(palmette, small, recwarn):
    result = palmette("demo")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert all(any(line.startswith(f"{name} ") for line in lines) for name in MODELS)
    assert "80 docstrings to learn from, 40 to test on" in result.stdout
    assert "├─ a" in result.stdout
    assert re.search(r"│  ├─ x +1\.00 +\d+\n", result.stdout)
    assert re.search(r"└─ never +– +0\n", result.stdout)  # neither true nor predicted: no F1
    assert "palmette compare digits" in result.stdout
    assert "note:" not in result.stdout
    assert result.stderr == ""
    assert not [w for w in recwarn if issubclass(w.category, UserWarning)]


def test_picture(palmette, small, tmp_path):
    from xml.etree import ElementTree

    path = tmp_path / "demo.svg"
    result = palmette("demo", "--svg", path)
    assert result.exit_code == 0, result.output
    text = path.read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    assert len(text) < 200_000
    assert "local-per-parent" in text
    assert "fitting" not in text
    assert "@font-face" not in text


def test_bad_pictures(fails, small, tmp_path):
    assert "expected one of the suffixes .svg" in fails("demo", "--svg", tmp_path / "demo.png")
    assert "there is no folder" in fails("demo", "--svg", tmp_path / "no" / "demo.svg")


def test_colours_follow_the_score():
    lines = [
        "root",
        "├─ a  0.90 of 10",
        "├─ b  0.60 of 7  … 3 more",
        "├─ c  0.10 of 5",
        "└─ … 9 more",
    ]
    texts = _aligned(lines)
    assert [text.plain for text in texts] == [
        "root",
        "├─ a  0.90    10",
        "├─ b  0.60     7  … 3 more",
        "├─ c  0.10     5",
        "└─ … 9 more",
    ]
    colours = [str(text.spans[0].style) if text.spans else None for text in texts]
    assert colours == [None, "bold green", "bold yellow", "bold red", None]


def test_picture_of_the_readme_is_what_the_command_makes():
    text = (Path(__file__).parents[2] / "docs" / "demo.svg").read_text(encoding="utf-8")
    assert len(text) < 200_000
    assert all(name in text.replace("&#160;", " ") for name in (*MODELS, "palmette compare"))
