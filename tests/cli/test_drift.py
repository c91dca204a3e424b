"""`palmette eval` says where a table differs from the training table, and is silent otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import palmette as pm
from palmette.exceptions import PalmetteError

FRUIT = ["red apple", "green pear", "sweet plum", "ripe cherry"]
TOOLS = ["steel saw", "long nail", "heavy hammer", "sharp drill"]


def goods(n: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    is_tool = rng.random(n) < 0.5
    words = [rng.choice(TOOLS if tool else FRUIT, 3) for tool in is_tool]
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    return pd.DataFrame(
        {
            "title": [f"{' '.join(w)} {rng.integers(1000)}" for w in words],
            "price": rng.gamma(2, 10, n).round(2),
            "colour": rng.choice(["red", "green", "blue", "grey"], n),
            "added": days.strftime("%Y-%m-%d"),
            "kind": np.where(is_tool, "Shop > Tools", "Shop > Fruit"),
        }
    )


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.palmette"
    pm.save(pm.fit_table(goods(), "kind", model="flat-naive-bayes", folds=0), path)
    return path


@pytest.fixture
def evaluated(palmette, stored, tmp_path, monkeypatch):
    """Return a function that evaluates a table, and gives the output and the comparisons."""
    monkeypatch.chdir(tmp_path)

    def run(table):
        table.to_csv("new.csv", index=False)
        result = palmette("eval", stored, "new.csv", "--json", "e.json")
        assert result.exit_code == 0, result.output
        return result.stdout, json.loads(Path("e.json").read_text(encoding="utf-8"))["drift"]

    return run


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rows_of_the_same_kind_raise_no_alarm(evaluated, seed):
    output, drift = evaluated(goods(300, seed))
    assert "differs" not in output
    assert {each["column"] for each in drift} == {"title", "price", "colour", "added", None}
    assert not any(each["differs"] for each in drift)


SHIFTS = {
    "prices": (
        lambda t: t.assign(price=t["price"] * 2),
        r"column 'price': \d+% of the values are at most [\d.]+, and \d+% in training",
    ),
    "missing": (
        lambda t: t.assign(price=t["price"].where(t.index % 2 == 0)),
        "column 'price': 50% of the rows have no value, and 0% in training",
    ),
    "categories": (
        lambda t: t.assign(colour=t["colour"].where(t.index % 2 == 0, "red")),
        r"column 'colour': 'red' is 6\d% of the values, and 2\d% in training",
    ),
    "unseen values": (
        lambda t: t.assign(colour=t["colour"].where(t.index % 4 > 0, "pink")),
        r"column 'colour': 25% of the values, such as 'pink', are none of the frequent ones",
    ),
    "words": (
        lambda t: t.assign(title=[f"quite other words {i} here" for i in range(len(t))]),
        r"column 'title': \d+% of the words are not in the training rows, where \d+% are expected",
    ),
    "length": (
        lambda t: t.assign(title=t["title"] + " " + t["title"]),
        r"column 'title': \d+% of the texts have at most \d+ characters, and \d+% in training",
    ),
    "dates": (
        lambda t: t.assign(added="2025-02-01"),
        r"column 'added': 0% of the dates are not after 2024-\d\d-\d\d, and 100% in training",
    ),
    "classes": (
        lambda t: t[(t["kind"] == "Shop > Tools") | (t.index % 5 == 0)],
        r"classes: 'Shop > \w+' has \d+% of the labels, and \d+% in training",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHIFTS)
def test_shifts_are_said(evaluated, name):
    change, words = SHIFTS[name]
    output, drift = evaluated(change(goods(400, 5)))
    assert "The table differs from the training table:" in output
    flat = " ".join(output.split())
    assert pd.Series([flat]).str.contains(words)[0], output
    differing = [each for each in drift if each["differs"]]
    sizes = [each["size"] for each in differing]
    assert sizes == sorted(sizes, reverse=True)
    assert drift[: len(differing)] == differing


def test_few_rows_say_nothing(evaluated):
    output, _ = evaluated(goods(400, 5).iloc[:6])
    assert "differs" not in output


def test_at_most_ten_lines(palmette, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 30))).add_prefix("c").round(3)
    table["kind"] = np.where(table["c0"] > 0, "a", "b")
    pm.save(pm.fit_table(table, "kind", model="flat-naive-bayes", folds=0), "m.palmette")
    (table.drop(columns="kind") + 3).assign(kind=table["kind"]).to_csv("new.csv", index=False)
    output = palmette("eval", "m.palmette", "new.csv").stdout
    lines = output[output.index("The table differs") :].splitlines()
    assert len(lines) == 11
    assert lines[-1] == "- and 21 more: --json FILE has all of them"


def test_models_without_a_profile_compare_labels_only(palmette, stored, tmp_path):
    model = pm.load(stored)
    del model.profile_
    pm.save(model, tmp_path / "old.palmette")
    goods(100, 1).to_csv(tmp_path / "new.csv", index=False)
    result = palmette(
        "eval", tmp_path / "old.palmette", tmp_path / "new.csv", "--json", tmp_path / "e.json"
    )
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "e.json").read_text(encoding="utf-8"))["drift"]
    assert [each["column"] for each in found] == [None]


def test_a_profile_is_small_and_the_same_when_it_is_loaded(stored):
    model = pm.load(stored)
    assert set(model.profile_) == {"title", "price", "colour", "added"}
    assert sum(len(each.words) for each in model.profile_.values()) == 8192
    again = pm.fit_table(goods(), "kind", model="flat-naive-bayes", folds=0)
    for name, each in again.profile_.items():
        assert each.values == model.profile_[name].values
        np.testing.assert_array_equal(each.points, model.profile_[name].points)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "other"),
        ("n_missing", 10**9),
        ("points", np.array([np.nan])),
        ("points", np.zeros(10_000)),
        ("shares", np.zeros(3)),
        ("values", ["x"]),
        ("words", np.zeros(5, dtype=np.uint8)),
        ("unseen", 7.0),
        ("counts", "text"),
    ],
)
def test_a_changed_profile_is_refused(stored, tmp_path, name, value):
    model = pm.load(stored)
    setattr(model.profile_["price"], name, value)
    pm.save(model, tmp_path / "bad.palmette")
    with pytest.raises(PalmetteError):
        pm.load(tmp_path / "bad.palmette")
