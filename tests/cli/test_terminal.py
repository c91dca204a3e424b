"""Output of commands: files that cannot be written, and comparisons as tables."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from palmette.cli._terminal import require_writable
from palmette.cli.compare import (
    best_first,
    print_leaderboard,
    print_notes,
    print_ranking,
)
from palmette.compare import COSTS, Comparison
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
        ("x.txt", "expected one of the suffixes .json, .md"),
        ("json", "expected one of the suffixes .json, .md"),
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
    with pytest.raises(PalmetteError, match="no permission to write"):
        require_writable(tmp_path / "x.md", [".md"])


def made_up(models, values, n_splits=1, split="random", scores=("hierarchical_f1", "h_loss")):
    rows = []
    for model, value in zip(models, values, strict=True):
        for s in range(n_splits):
            shown = None if value is None else value + 0.02 * s
            row = {"dataset": "d", "split": f"{split}-{s}" if split == "random" else split}
            row |= {"model": model, **dict.fromkeys(scores, shown)}
            rows.append(row | dict.fromkeys(COSTS, 1234.0))
    return Comparison(rows, tuple(scores), list(models), ["d"])


def shown(print_it, *args, width=80, **options):
    stream = io.StringIO()
    print_it(Console(file=stream, width=width, **options), *args)
    return stream.getvalue()


def test_best_first():
    comparison = made_up(["a", "b", "c", "d"], [0.5, 0.9, None, 0.7])
    assert [entry["model"] for entry in best_first(comparison, "d")] == ["b", "d", "a", "c"]


def test_best_first_of_a_loss():
    comparison = made_up(["a", "b"], [0.5, 0.9], scores=("h_loss",))
    assert [entry["model"] for entry in best_first(comparison, "d")] == ["a", "b"]


def test_figures_and_arrows():
    text = shown(print_leaderboard, made_up(["a", "b"], [0.5, None]), "d")
    lines = [line.split() for line in text.splitlines()]
    assert lines[0] == ["d,", "1", "random", "split"]
    assert ["model", "F1", "↑", "H-loss", "↓", "CPU", "s", "CPU", "s", "MiB"] in lines
    assert ["a", "0.500", "0.500", "1,234", "1,234", "1,234"] in lines
    assert ["b", "–", "–", "1,234", "1,234", "1,234"] in lines


def test_only_the_best_are_green():
    text = shown(
        print_leaderboard, made_up(["a", "b"], [0.5, 0.9]), "d",
        force_terminal=True, color_system="standard",
    )  # fmt: skip
    assert text.count("\x1b[1;32m") == 2  # F1 of b, H-loss of a


@pytest.mark.parametrize(
    ("options", "title"),
    [
        ({"n_splits": 1}, "d, 1 random split"),
        ({"n_splits": 3}, "d, 3 random splits"),
        ({"split": "published"}, "d, published split"),
    ],
)
def test_title_says_which_splits(options, title):
    text = shown(print_leaderboard, made_up(["a"], [0.5], **options), "d")
    assert text.splitlines()[0].strip() == title


THREE = ("hierarchical_f1", "tree_induced_error", "leaf_accuracy")


@pytest.mark.parametrize(
    ("model", "deviation"), [("local-per-parent", True), ("local-per-parent-naive-bayes", False)]
)
def test_nothing_is_cut_in_80_columns(model, deviation):
    text = shown(print_leaderboard, made_up([model], [0.5], n_splits=2, scores=THREE), "d")
    assert max(map(len, text.splitlines())) <= 80
    assert model in text
    assert "…" not in text
    assert ("0.510±.014" in text) == deviation


def test_wide_terminals_show_deviations():
    comparison = made_up(["local-per-parent-naive-bayes"], [0.5], n_splits=2, scores=THREE)
    assert "0.510±.014" in shown(print_leaderboard, comparison, "d", width=120)


def test_names_are_no_markup():
    comparison = made_up(["[red]m"], [0.5])
    comparison.datasets = ["[bold]d"]
    for row in comparison.rows:
        row["dataset"] = "[bold]d"
    text = shown(print_leaderboard, comparison, "[bold]d")
    assert "[bold]d, 1 random split" in text
    assert "[red]m" in text


def test_ranking():
    facts = {
        "score": "hierarchical_f1",
        "n_datasets": 4,
        "average_ranks": {"good": 1.25, "poor": 1.75},
        "friedman_pvalue": float("nan"),
        "posthoc": "nemenyi",
        "alpha": 0.05,
        "critical_difference": 0.98,
        "groups": [["good", "poor"]],
    }
    text = shown(print_ranking, facts)
    assert text.splitlines()[0].strip() == "over 4 data sets, by hier. F1"
    assert text.index("good") < text.index("1.25") < text.index("poor") < text.index("1.75")
    assert text.endswith("no significant difference (critical difference 0.98).\n")
    reason = {"score": "h_loss", "n_datasets": 2, "reason": "all [equal]."}
    assert shown(print_ranking, reason) == "No test of significance: all [equal].\n"


def test_notes_are_counted():
    comparison = made_up(["a"], [0.5])
    note = {"dataset": "d", "split": "random-0", "model": "a", "note": "no [end]"}
    comparison.notes = [note, {**note, "split": "random-1"}, {**note, "note": "slow"}]
    assert shown(print_notes, comparison) == (
        "note: a on d: no [end] (2 times)\nnote: a on d: slow\n"
    )
