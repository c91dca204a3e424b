"""What a comparison found: means, tests over data sets, and files."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from palmette.compare._comparison import COSTS, Comparison, check_output_name
from palmette.exceptions import PalmetteError

MODELS = ["good", "fair", "poor"]
VALUES = {"good": 0.9, "fair": 0.7, "poor": 0.5}


def made_up(n_datasets=10, n_splits=2, scores=("hierarchical_f1", "h_loss"), models=MODELS):
    rows = []
    for d in range(n_datasets):
        for s in range(n_splits):
            for model in models:
                value = VALUES[model] + 0.01 * s + 0.001 * d
                row = {"dataset": f"d{d}", "split": f"random-{s}", "seed": s, "test_size": 0.3}
                row |= {"model": model, "hierarchical_f1": value, "h_loss": 1 - value}
                rows.append(row | dict.fromkeys(COSTS, 10.0 * (s + 1)))
    datasets = [f"d{d}" for d in range(n_datasets)]
    return Comparison(rows, tuple(scores), list(models), datasets, {"cores": 2})


def test_means_and_deviations():
    entries = made_up().means("d0")
    assert [entry["model"] for entry in entries] == MODELS
    assert entries[0]["n_splits"] == 2
    assert entries[0]["hierarchical_f1"] == pytest.approx(0.905)
    assert entries[0]["hierarchical_f1_sd"] == pytest.approx(0.01 / np.sqrt(2))
    assert entries[0]["fit_cpu_s"] == 15.0


def test_one_split_has_no_deviation():
    assert "h_loss_sd" not in made_up(n_splits=1).means("d0")[0]


def test_unknown_memory_is_no_number():
    comparison = made_up()
    for row in comparison.rows:
        row["peak_mib"] = None
    assert comparison.means("d0")[0]["peak_mib"] is None
    assert "| – |" in comparison.to_markdown()


def test_matrix():
    matrix = made_up().matrix("h_loss")
    assert matrix.shape == (10, 3)
    np.testing.assert_allclose(matrix[0], [0.095, 0.295, 0.495])


# ---------------------------------------------------------------------- over data sets


@pytest.mark.parametrize("score", ["hierarchical_f1", "h_loss"])
def test_significance_knows_what_is_better(score):
    result = made_up().significance(score)
    assert result.average_ranks.tolist() == [1.0, 2.0, 3.0]
    assert result.friedman_pvalue < 0.001


def test_significance_takes_options():
    result = made_up().significance(posthoc="bonferroni-dunn", control="good")
    assert result.control == "good"


def test_ranking_as_facts():
    facts = made_up().ranking()
    assert facts["average_ranks"] == {"good": 1.0, "fair": 2.0, "poor": 3.0}
    assert facts["n_datasets"] == 10
    assert facts["posthoc"] == "nemenyi"
    assert facts["groups"] == [["good", "fair"], ["fair", "poor"]]


def test_no_ranking_of_one():
    assert made_up(n_datasets=1).ranking() is None
    assert made_up(models=["good"]).ranking() is None


def test_ranking_says_why_there_is_none():
    equal = made_up()
    for row in equal.rows:
        row["hierarchical_f1"] = 0.5
    assert "equal scores" in equal.ranking()["reason"]


def test_tests_over_data_sets_follow_the_options():
    comparison = made_up()
    comparison.test_options = {"posthoc": "wilcoxon-holm", "control": "good"}
    facts = comparison.ranking()
    assert (facts["posthoc"], facts["control"]) == ("wilcoxon-holm", "good")
    few = made_up(n_datasets=2)
    few.test_options = {"posthoc": "wilcoxon-holm"}
    assert "with 2 data sets" in few.ranking()["warnings"][0]


# ---------------------------------------------------------------------- files


def test_json(tmp_path):
    comparison = made_up()
    comparison.write(tmp_path / "x.json")
    found = json.loads((tmp_path / "x.json").read_text())
    assert found == comparison.to_dict()
    assert found["rows"] == comparison.rows
    assert found["means"]["d3"] == comparison.means("d3")
    assert list(found["ranking"]["average_ranks"]) == MODELS
    assert found["facts"] == {"cores": 2}


def test_json_has_no_nan(tmp_path):
    comparison = made_up(n_datasets=2, models=MODELS[:2])  # Friedman's test needs three models
    comparison.rows[0]["h_loss"] = float("nan")
    comparison.write(tmp_path / "x.json")
    text = (tmp_path / "x.json").read_text()
    found = json.loads(text, parse_constant=pytest.fail)
    assert found["rows"][0]["h_loss"] is None
    assert found["ranking"]["friedman_pvalue"] is None


def test_csv_is_the_tidy_rows(tmp_path):
    comparison = made_up()
    comparison.write(tmp_path / "x.csv")
    found = pd.read_csv(tmp_path / "x.csv")
    pd.testing.assert_frame_equal(found, comparison.to_pandas())


def test_csv_quotes_names():
    comparison = made_up(1, 1)
    comparison.rows[0]["dataset"] = 'a, "b"'
    assert pd.read_csv(io.StringIO(comparison.to_csv())).dataset[0] == 'a, "b"'


def test_markdown(tmp_path):
    made_up(n_datasets=4).write(tmp_path / "x.MD")
    text = (tmp_path / "x.MD").read_text()
    assert "### d0\n\n| model | hier. F1 | H-loss | fit CPU s | predict CPU s | peak MiB |" in text
    assert "| good | **0.905±.007** | **0.095±.007** | 15.0 | 15.0 | 15.0 |" in text
    assert "| fair | 0.705±.007 |" in text
    assert "### over 4 data sets, by hier. F1" in text
    assert "| good | 1.00 |" in text
    assert "Friedman test: p = 0.0183." in text
    assert text.endswith("Measured with: cores 2.\n")


def test_unknown_formats_are_refused(tmp_path):
    with pytest.raises(PalmetteError, match=r"x.txt': expected a name in .json, .md, .csv"):
        made_up().write(tmp_path / "x.txt")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(PalmetteError):
        check_output_name("json")


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    path.write_text("before")
    monkeypatch.setattr("os.replace", lambda *names: (_ for _ in ()).throw(OSError("disk")))
    with pytest.raises(OSError, match="disk"):
        made_up().write(path)
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]
