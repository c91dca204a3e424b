"""`palmette card`: a model card with the front matter of model hubs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from palmette.cli.card import card
from palmette.persistence import save
from palmette.reporting import _stored
from palmette.table import fit_table

yaml = pytest.importorskip("yaml")

ROWS = [("red apple: 'x'", 1.0, "Food > Fruit"), ("blue spade", 2.0, "Garden > Tools")]


@pytest.fixture
def files(tmp_path):
    frame = pd.DataFrame(ROWS * 12, columns=["title", "price", "category"])
    fitted = fit_table(frame, "category", model="flat-linear", folds=0)
    save(fitted, tmp_path / "goods.palmette")
    frame.iloc[:8].to_csv(tmp_path / "test.csv", index=False)
    return tmp_path / "goods.palmette", tmp_path / "test.csv", tmp_path / "README.md"


def test_every_option_is_a_parameter(parse):
    words = ["m.palmette", "t.csv", "--out", "c.md", "--title", "T", "--description", "D"]
    words += ["--license", "mit", "--language", "en", "--map", "a=b", "--bootstrap", 3]
    words += ["--seed", 4, "--scratch", "s", "--format", "csv", "--trust", "x.Y"]
    assert parse(card, *words) == {
        "model": Path("m.palmette"),
        "table": "t.csv",
        "out": Path("c.md"),
        "title": "T",
        "description": "D",
        "license": "mit",
        "language": "en",
        "renamed": ["a=b"],
        "n_bootstrap": 3,
        "seed": 4,
        "scratch": Path("s"),
        "format": "csv",
        "trusted": ["x.Y"],
    }


def test_the_front_matter_is_yaml_and_has_the_scores_of_the_report(palmette, files):
    model, table, out = files
    title = 'goods: "1" # no comment'
    result = palmette(
        *("card", model, table, "--out", out, "--bootstrap", 5, "--license", "mit"),
        *("--title", title, "--description", "For *shops* | <b>only</b>"),
    )
    assert result.exit_code == 0, result.output
    _, front, text = out.read_text(encoding="utf-8").split("---\n", 2)
    facts = yaml.safe_load(front)
    assert facts["library_name"] == "palmette"
    assert facts["license"] == "mit"
    assert facts["pipeline_tag"] == "tabular-classification"
    [entry] = facts["model-index"]
    assert entry["name"] == title
    [found] = entry["results"]
    assert found["dataset"]["name"] == "test.csv"
    scores = {each["type"]: each["value"] for each in found["metrics"]}
    assert scores["accuracy"] == scores["hierarchical_f1"] == 1.0
    assert "For *shops*" not in text  # escaped
    assert "<b>" not in text
    for heading in ("How to use it", "Training", "Evaluation", "Limits", "Versions"):
        assert f"\n## {heading}\n" in text
    assert 'pm.load("goods.palmette")' in text
    assert "\n| price | number |\n" in text
    assert "0 of the 8 rows above were wrong" in text


def test_a_card_is_markdown(palmette, files):
    model, table, _ = files
    result = palmette("card", model, table, "--out", "card.html")
    assert result.exit_code == 2
    assert "expected one of the suffixes .md" in result.stderr


def test_a_table_that_is_kept_on_disk_gives_the_same_card(palmette, files, tmp_path, monkeypatch):
    model, table, out = files
    cards = []
    for n_rows in (1_000_000, 3):
        monkeypatch.setattr(_stored, "_MOST_ROWS", n_rows)
        result = palmette("card", model, table, "--out", out, "--bootstrap", 5)
        assert result.exit_code == 0, result.output
        assert ("scratch" in result.output) == (n_rows == 3)
        cards.append(out.read_text(encoding="utf-8").partition("This card was made")[0])
    assert cards[0] == cards[1]
