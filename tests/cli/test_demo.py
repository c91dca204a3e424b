"""`palmette demo`: everything it shows, in 80 columns, the report, and the picture of it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import Bunch

from palmette import Hierarchy
from palmette.cli.demo import demo

PATHS = [
    (chapter, f"{chapter}-{section}", f"{chapter}-{section}-{name}")
    for chapter, section, name in (
        *(("food", "fruit", name) for name in ("apple", "pear", "plum")),
        *(("food", "fish", name) for name in ("cod", "tuna")),
        *(("tools", "hand", name) for name in ("saw", "nail")),
    )
]


@pytest.fixture
def small(monkeypatch):
    """Put a small set of texts in the place of the embedded one."""
    rng = np.random.default_rng(0)
    paths = [PATHS[i] for i in rng.integers(len(PATHS), size=160)]
    texts = [
        f"{rng.choice(['one', 'two'])} {p[2].split('-')[2]} [{i}]" for i, p in enumerate(paths)
    ]
    y = np.array(paths, dtype=object)
    icd = Bunch(
        X_train=texts[:120], y_train=y[:120], X_test=texts[120:], y_test=y[120:],
        hierarchy=Hierarchy.from_paths(PATHS),
    )  # fmt: skip
    monkeypatch.setattr("palmette.datasets.load_icd10cm", lambda: icd)
    return icd


def test_every_option_is_a_parameter(parse):
    assert parse(demo, "--svg", "x.svg", "--html", "y.html", "--seed", "3") == {
        "html": Path("y.html"),
        "svg": Path("x.svg"),
        "seed": 3,
    }
    assert parse(demo) == {"html": Path("palmette-demo.html"), "svg": None, "seed": 0}


def test_verdict_examples_report_and_next_commands(palmette, small, tmp_path, recwarn):
    page = tmp_path / "page.html"
    result = palmette("demo", "--html", page)
    assert result.exit_code == 0, result.output
    shown = " ".join(result.stdout.split())
    assert max(map(len, result.stdout.splitlines())) <= max(80, len(f"wrote {page}: ") + 52)
    assert "120 titles and terms to learn from, 40 other terms to test on; 7 categories" in shown
    ours, flat, gain, low, high = map(
        float,
        re.search(
            r"F1 is ([\d.]+), flat \(tf-idf and LinearSVC\) ([\d.]+): ([+-][\d.]+), "
            r"95 % interval ([+-][\d.]+) to ([+-][\d.]+)\.",
            shown,
        ).groups(),
    )
    assert abs(ours - flat - gain) < 0.0016
    assert low <= gain <= high
    assert re.search(
        r"\* +\d+%  \w+-\w+-\w+\n", result.stdout
    )  # the best category is the right one
    assert "sure: " in shown
    assert "<html" in page.read_text(encoding="utf-8")
    assert "palmette fit products.csv" in shown
    assert result.stderr == ""
    assert not [w for w in recwarn if issubclass(w.category, UserWarning)]


def test_picture(palmette, small, tmp_path):
    from xml.etree import ElementTree

    path = tmp_path / "demo.svg"
    result = palmette("demo", "--svg", path, "--html", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    text = path.read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    assert len(text) < 200_000
    assert "hierarchical" in text
    assert "fitting" not in text
    assert "@font-face" not in text


def test_bad_paths(fails, small, tmp_path):
    assert "expected one of the suffixes .svg" in fails("demo", "--svg", tmp_path / "demo.png")
    assert "there is no folder" in fails("demo", "--svg", tmp_path / "no" / "demo.svg")
    assert "there is no folder" in fails("demo", "--html", tmp_path / "no" / "demo.html")


def test_picture_of_the_pages_is_what_the_command_makes():
    text = (Path(__file__).parents[2] / "docs" / "demo.svg").read_text(encoding="utf-8")
    assert len(text) < 200_000
    plain = text.replace("&#160;", " ")
    assert all(words in plain for words in ("14,026 titles", "LinearSVC", "palmette fit"))
