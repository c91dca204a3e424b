"""`palmette migrate`, and table models over a changed taxonomy: predictions, reports, reasons."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest
from tests.docs.goods import make_goods
from tests.persistence.round_trips import again

import palmette as pm
from palmette.migration import MigratedClassifier

MAP = "old,new,kind\nFood > Fruit,Garden > Fruit,\nTools > Saws,Tools > Hand saws,\n"
SPLIT = MAP + "Tools > Saws,Tools > Chain saws,\n,Tools > Drills,new\n"


@pytest.fixture(scope="module")
def model():
    return pm.fit_table(make_goods(80, 0), "category", model="class-tree", folds=0)


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    made = tmp_path_factory.mktemp("migrate")
    pm.save(model, made / "model.palmette")
    make_goods(20, 1).to_csv(made / "test.csv", index=False)
    rows = make_goods(80, 2)
    is_chain = rows["title"].str.contains("chain")
    saws = np.where(is_chain, "Tools > Chain saws", "Tools > Hand saws")
    rows["category"] = rows["category"].where(rows["category"] != "Tools > Saws", saws)
    fruit = rows["category"] == "Food > Fruit"
    rows["category"] = rows["category"].where(~fruit, "Garden > Fruit")
    drills = rows.iloc[:12].assign(title="power drill bit", category="Tools > Drills")
    pd.concat([rows, drills]).to_csv(made / "rows.csv", index=False)
    (made / "map.csv").write_text(SPLIT)
    return made


# ---------------------------------------------------------------------- table models


def test_names_and_paths_change_and_probabilities_stay(model):
    new = pm.migrate(model, [("Food > Fruit", "Garden > Fruit"), ("Tools", "Hardware")])
    rows = make_goods(20, 1)
    place = {("Food", "Fruit"): ("Garden", "Fruit"), ("Tools", "Saws"): ("Hardware", "Saws"),
             ("Tools", "Nails"): ("Hardware", "Nails")}  # fmt: skip
    assert new.predict(rows) == [place.get(path, path) for path in model.predict(rows)]
    before = dict(zip(model.classes_, model.predict_proba(rows).T, strict=True))
    for path, proba in zip(new.classes_, new.predict_proba(rows).T, strict=True):
        [old] = [each for each in before if place.get(each, each) == path]
        np.testing.assert_array_equal(proba, before[old])
    assert new.summary_["hierarchy"] == {"nodes": 7, "leaves": 4, "depth": 2}
    assert new.summary_["migrations"][0]["moved"] == 1
    assert sum(new.summary_["class_rows"]) == sum(model.summary_["class_rows"])
    assert isinstance(new.estimator_, MigratedClassifier)
    assert "migrations" not in model.summary_


def test_a_migrated_model_can_be_fitted_again(model):
    new = pm.migrate(model, [("Food > Fruit", "Garden > Fruit")])
    rows = make_goods(40, 3)
    rows["category"] = rows["category"].str.replace("Food > Fruit", "Garden > Fruit")
    refitted = again(new).refit(rows)
    assert not isinstance(refitted.estimator_, MigratedClassifier)
    assert refitted.score(rows) > 0.9


def test_rows_may_be_labelled_in_the_old_tree(model, folder):
    changes = [("Food > Fruit", "Garden > Fruit"), ("", "Tools > Drills")]
    rows = pd.read_csv(folder / "rows.csv")
    new = rows["category"].replace("Tools > .* saws", "Tools > Saws", regex=True)
    old = new.where(new != "Garden > Fruit", "Food > Fruit")
    one, two = (pm.migrate(model, changes, rows.assign(category=y)) for y in (old, new))
    np.testing.assert_array_equal(one.predict_proba(rows), two.predict_proba(rows))
    assert ("Tools", "Drills") in one.predict({"title": ["power drill bit"], "price": [5.0]})


def test_labels_of_a_learnt_tree_can_be_renamed_and_merged():
    rows = make_goods(60, 0)
    rows["category"] = rows["category"].str.split(" > ").str[1]
    model = pm.fit_table(rows, "category", hierarchy="learn", model="class-tree", folds=0)
    new = pm.migrate(model, [("Saws", "Metal"), ("Nails", "Metal"), ("Fruit", "Fruits")])
    assert {new.label_text(path) for path in new.predict(rows)} == {"Metal", "Fruits", "Bread"}


def test_several_labels_per_row():
    rows = make_goods(60, 0)
    rows["category"] = [f"{a};{b}" for a, b in zip(rows["category"], rows["category"][::-1],
                                                   strict=True)]  # fmt: skip
    model = pm.fit_table(rows, "category", labels_separator=";", model="local-per-node", folds=0)
    new = pm.migrate(model, [("Tools > Saws", "Tools > Metal"), ("Tools > Nails", "Tools > Metal")])
    metal = {("Tools", "Saws"), ("Tools", "Nails")}
    for old, now in zip(model.predict(rows), new.predict(rows), strict=True):
        assert {("Tools", "Metal") if path in metal else path for path in old} <= now


# ---------------------------------------------------------------------- the command


def test_a_dry_run_prints_the_plan_and_writes_nothing(palmette, folder, tmp_path):
    report = tmp_path / "plan.csv"
    result = palmette("migrate", folder / "model.palmette", "--map", folder / "map.csv",
                      "--dry-run", "--report", report)  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "moved: 'Food > Fruit' -> 'Garden > Fruit'" in result.stdout
    assert "3 nodes need rows" in result.stdout
    assert "predictions of 'Tools > Saws' stop at 'Tools'" in result.stdout
    lines = list(csv.DictReader(report.open()))
    assert [(line["change"], line["new"], line["needs_rows"]) for line in lines] == [
        ("moved", "Garden > Fruit", "no"),
        ("split", "Tools > Hand saws", "yes"),
        ("split", "Tools > Chain saws", "yes"),
        ("new", "Tools > Drills", "yes"),
    ]
    assert not list(tmp_path.glob("*.palmette"))


def test_rows_fit_what_needs_them_now_or_later(palmette, folder, tmp_path):
    first, out = tmp_path / "first.palmette", tmp_path / "whole.palmette"
    result = palmette(
        "migrate", folder / "model.palmette", "--map", folder / "map.csv", "--out", first
    )
    assert result.exit_code == 0, result.output
    later = palmette("migrate", first, "--table", folder / "rows.csv", "--out", out)
    assert later.exit_code == 0, later.output
    assert "fitted: 'Tools > Drills' (12 rows), against 80 other rows" in later.stdout
    assert "need rows" not in later.stdout
    both = tmp_path / "both.palmette"
    at_once = palmette("migrate", folder / "model.palmette", "--map", folder / "map.csv",
                       "--table", folder / "rows.csv", "--out", both)  # fmt: skip
    assert at_once.exit_code == 0, at_once.output
    rows = make_goods(20, 1)
    one, two = pm.load(out), pm.load(both)
    np.testing.assert_array_equal(one.predict_proba(rows), two.predict_proba(rows))
    assert one.predict({"title": ["chain blade chain"], "price": [11.2]}) == [
        ("Tools", "Chain saws")
    ]


def test_predictions_reports_and_reasons_work(palmette, folder, tmp_path, model):
    out = tmp_path / "new.palmette"
    map_file = tmp_path / "map.csv"
    map_file.write_text(MAP)
    assert (
        palmette("migrate", folder / "model.palmette", "--map", map_file, "--out", out).exit_code
        == 0
    )
    rows = pd.read_csv(folder / "test.csv")
    rows["category"] = rows["category"].replace(
        {"Food > Fruit": "Garden > Fruit", "Tools > Saws": "Tools > Hand saws"}
    )
    rows.to_csv(tmp_path / "new.csv", index=False)
    told = palmette("predict", out, tmp_path / "new.csv", "--explain", "--top", "2",
                    "--confidence", ".6", "--out", tmp_path / "told.csv")  # fmt: skip
    assert told.exit_code == 0, told.output
    old = palmette("predict", folder / "model.palmette", folder / "test.csv", "--explain",
                   "--out", tmp_path / "old.csv")  # fmt: skip
    assert old.exit_code == 0, old.output
    now, before = pd.read_csv(tmp_path / "told.csv"), pd.read_csv(tmp_path / "old.csv")
    is_fruit = before["prediction"] == "Food > Fruit"
    assert (now["prediction"][is_fruit] == "Garden > Fruit").all()
    # the reasons of a node are those of the node that it was
    assert (
        now["explanation"].str.partition(" | ")[2] == before["explanation"].str.partition(" | ")[2]
    ).all()
    told = palmette("report", out, tmp_path / "new.csv", "--html", tmp_path / "r.html",
                    "--bootstrap", "0")  # fmt: skip
    assert told.exit_code == 0, told.output
    assert "Garden" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--map", "map.csv"], "no output is given"),
        (["--dry-run"], "neither a map nor a table is given"),
        (["--map", "bad.csv", "--dry-run"], "line 2 has the old path 'Food > Fruits'"),
        (["--map", "map.csv", "--out", "model.json"], "expected one of the suffixes .palmette"),
        (["--map", "absent.csv", "--dry-run"], "absent.csv"),
        (["--table", "test.csv", "--dry-run"], "there are no changes"),
        (["--map", "map.csv", "--table", "none.csv", "--dry-run"], "no row of the table has a"),
    ],
)
def test_wrong_input_is_one_message(fails, folder, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(folder)
    (folder / "bad.csv").write_text("old,new\nFood > Fruits,x\n")
    pd.read_csv(folder / "test.csv").assign(category="x > y").to_csv("none.csv", index=False)
    assert message in fails("migrate", "model.palmette", *words)


def test_a_map_is_proposed_from_two_taxonomies(palmette, folder, tmp_path):
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("Food > Fruit\nFood > Bread\nTools > Saws\nTools > Nails\n")
    new.write_text("Food > Fruits\nFood > Bread\nTools > Saws\nMetal > Nails\nTools > =cmd\n")
    shown = palmette("hierarchy", "diff", old, new)
    assert shown.stdout.splitlines()[:2] == [
        "old,new,kind,reason",
        "Food > Fruit,Food > Fruits,rename,a similar name",
    ]
    out = tmp_path / "map.csv"
    result = palmette("hierarchy", "diff", old, new, "--out", out, "--excel-safe",
                      "--separator", "=")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert palmette("hierarchy", "diff", old, new, "--out", out).exit_code == 0
    plan = palmette("migrate", folder / "model.palmette", "--map", out, "--dry-run")
    assert plan.exit_code == 0, plan.output
    assert "moved: 'Tools > Nails' -> 'Metal > Nails'" in plan.stdout
