"""Reviews: planted faults are found and explained, whatever form the table has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import palmette as pm
from palmette.exceptions import PalmetteError
from palmette.persistence import load, save
from palmette.reviewing import review, review_page
from palmette.table import fit_table

WORDS = {
    "Food > Fruit": ["red apple", "ripe pear", "sweet plum"],
    "Food > Fish": ["salted cod", "tuna fillet", "smoked eel"],
    "Tools > Saws": ["sharp blade", "saw teeth", "long saw"],
    "Tools > Nails": ["steel pin", "thin nail", "iron tack"],
}
FAR, NEAR, EMPTY = 8, 13, 30


@pytest.fixture(scope="module")
def goods():
    rows = [(f"{words[i % 3]} {i % 7}", kind) for i in range(36) for kind, words in WORDS.items()]
    frame = pd.DataFrame(rows, columns=["title", "kind"], dtype=object)
    frame["title"] = frame["title"] + " " + pd.Series(range(len(frame))).astype(str)
    assert frame["kind"][FAR] == "Food > Fruit"
    assert frame["kind"][NEAR] == "Food > Fish"
    frame.loc[FAR, "kind"] = "Tools > Nails"
    frame.loc[NEAR, "kind"] = "Food > Fruit"
    frame.loc[EMPTY, "title"] = "zyx qwv"
    return frame


@pytest.fixture(scope="module")
def model(goods):
    return fit_table(goods, "kind", model="class-tree", folds=0, columns={"title": "text"})


@pytest.fixture(scope="module")
def found(model, goods):
    return review(model, goods, folds=3)


def of(found, finding):
    return found[found["finding"] == finding].reset_index(drop=True)


def test_planted_labels_are_found_and_the_far_one_comes_first(found):
    wrong = of(found, "wrong label")
    assert wrong["row"].tolist() == [FAR, NEAR]
    assert wrong["given"].tolist() == ["Tools > Nails", "Food > Fruit"]
    assert wrong["proposed"].tolist() == ["Food > Fruit", "Food > Fish"]
    assert wrong["distance"].tolist() == [4, 2]
    assert (wrong["score"] > 0.5).all()
    assert (wrong["given_probability"] < wrong["proposed_probability"]).all()
    assert "the paths part at the top" in wrong["reason"][0]
    assert "the paths part below Food" in wrong["reason"][1]


def test_the_columns_and_the_summary(found, goods):
    assert found.columns.tolist() == [
        "row", "finding", "rank", "given", "given_probability", "proposed", "proposed_probability",
        "corrected", "distance", "score", "reason", "title",
    ]  # fmt: skip
    facts = found.attrs["review"]
    assert facts["rows"] == facts["labelled"] == len(goods)
    assert facts["folds"] == 3
    assert facts["likely_wrong"] == 2
    assert 1 < facts["expected_wrong"] < 8
    assert facts["listed"]["wrong label"] == 2


def test_a_row_without_known_words_fits_no_class(found):
    novel = of(found, "no class")
    assert novel["row"][0] == EMPTY
    assert novel["score"][0] == 1.0
    assert "no word or value" in novel["reason"][0]


def test_the_same_seed_gives_the_same_review_and_a_stored_model_too(model, goods, found, tmp_path):
    save(model, tmp_path / "m.palmette")
    again = review(load(tmp_path / "m.palmette"), goods, folds=3)
    pd.testing.assert_frame_equal(again, found)


def test_an_error_of_a_model_from_a_file_names_the_file(model, goods, tmp_path):
    save(model, tmp_path / "m.palmette")
    read = load(tmp_path / "m.palmette")
    object.__setattr__(read.target_, "columns", [])
    with pytest.raises(PalmetteError, match=r"review failed .* was loaded from a file"):
        review(read, goods, folds=0)


def test_the_fitted_model_judges_other_rows(model, goods):
    few = goods.iloc[40:].set_axis([f"r{i}" for i in range(104)], axis=0)
    few["kind"] = few["kind"].where(np.arange(104) != 4, "Tools > Saws")
    found = review(model, few, folds=0)
    assert found.attrs["review"]["folds"] == 0
    assert of(found, "wrong label")["row"].tolist() == ["r4"]


def test_rows_without_a_target_are_only_uncertain_or_novel(model, goods):
    frame = goods.copy()
    frame["kind"] = frame["kind"].astype(object).where(np.arange(len(frame)) % 2 == 0, None)
    frame.loc[1, "title"] = "qqq www"  # without a label, as all odd rows
    frame.loc[3, "title"] = "apple saw"
    found = review(model, frame, folds=2)
    bare = found[found["given"] == ""]
    assert set(bare["finding"]) <= {"no class", "uncertain"}
    assert 1 in bare["row"].tolist()
    assert bare["distance"].isna().all()
    assert found.attrs["review"]["labelled"] == len(frame) // 2
    unlabelled = review(model, frame[["title"]])
    assert unlabelled.attrs["review"]["folds"] == 0
    assert (unlabelled["given"] == "").all()


def test_equal_rows_with_different_labels(model, goods):
    frame = pd.concat([goods, goods.iloc[[0, 0]]], ignore_index=True)
    frame.loc[len(frame) - 1, "kind"] = "Tools > Saws"
    found = of(review(model, frame, folds=2), "equal rows")
    assert found["row"].tolist() == [0, len(frame) - 2, len(frame) - 1]
    assert found["proposed"].tolist() == ["Food > Fruit"] * 3
    assert found["score"].round(3).tolist() == [0.333, 0.333, 0.667]
    assert found["reason"][2] == "3 rows are equal: 1 with this label, 2 with Food > Fruit"


def test_labels_that_the_hierarchy_lacks(model, goods):
    frame = goods.copy()
    frame.loc[5, "kind"] = "Food > Frut"
    found = of(review(model, frame, folds=2), "unknown label")
    assert found["row"].tolist() == [5]
    assert found["given"].tolist() == ["Food > Frut"]
    assert found["proposed"].tolist() == ["Food > Fish"]


def test_lines_of_a_file_with_cells_of_several_lines(model, goods, tmp_path):
    frame = goods.copy()
    frame.loc[2, "title"] = "sharp\nblade\nof steel"
    path = tmp_path / "goods.csv"
    path.write_text(frame.to_csv(index=False))
    found = of(review(model, path, folds=2), "wrong label")
    lines = path.read_text().splitlines()
    assert found["line"][0] == FAR + 4
    assert lines[found["line"][0] - 1].endswith("Tools > Nails")


def test_few_rows_per_finding(model, goods):
    found = review(model, goods, folds=2, top=1)
    assert found.groupby("finding").size().max() == 1


def test_rare_labels_are_not_judged(model, goods):
    frame = goods.copy()
    frame.loc[0, "kind"] = "Food"  # no other row ends there, so no fold has seen it
    found = review(model, frame, folds=2)
    assert found.attrs["review"]["assessed"] == len(frame) - 1
    assert 0 not in of(found, "wrong label")["row"].tolist()


def test_a_learnt_hierarchy(goods):
    frame = goods.assign(kind=goods["kind"].str.rpartition(" > ")[2])
    learned = fit_table(
        frame, "kind", hierarchy="learn:agglomerative", model="class-tree", folds=0,
        columns={"title": "text"},
    )  # fmt: skip
    found = of(review(learned, frame, folds=2), "wrong label")
    assert {FAR, NEAR} <= set(found["row"])
    assert found["proposed"][found["row"].tolist().index(FAR)] == "Fruit"


def test_several_labels_per_row():
    rng = np.random.default_rng(0)
    signs = rng.integers(0, 2, size=(160, 3))
    names = np.array(["Red", "Green", "Blue"])
    X = signs + rng.normal(0, 0.15, size=signs.shape)
    cells = [set(names[row == 1]) | {"All"} for row in signs]
    missing = next(i for i in range(160) if signs[i, 0] == 1)
    added = next(i for i in range(160) if signs[i, 1] == 0 and i != missing)
    cells[missing] -= {"Red"}
    cells[added] |= {"Green"}
    frame = pd.DataFrame(X, columns=["r", "g", "b"]).assign(
        tags=[";".join(sorted(row)) for row in cells]
    )
    model = fit_table(frame, "tags", labels_separator=";", model="binary-relevance", folds=0)
    found = of(review(model, frame, folds=2), "wrong label")
    rows = found["row"].tolist()
    assert set(rows[:2]) == {missing, added}
    first, second = (rows.index(row) for row in (missing, added))
    assert found["missing"][first] == "Red"
    assert found["superfluous"][first] == ""
    assert found["superfluous"][second] == "Green"
    assert found["distance"].tolist()[:2] == [1, 1]
    assert "Red" in found["proposed"][first].split(";")
    assert "Green" not in found["proposed"][second].split(";")
    assert found["reason"][second].startswith("probably superfluous: Green")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"folds": 1}, "folds=1: expected 2 or more"),
        ({"time": 0}, "time=0: expected a positive number"),
        ({"top": 0}, "top=0: expected at least 1"),
    ],
)
def test_wrong_options(model, goods, options, words):
    with pytest.raises(PalmetteError, match=words):
        review(model, goods, **options)


def test_other_models_are_refused(goods, model):
    with pytest.raises(PalmetteError, match="expected a model fitted by fit_table"):
        review(pm.FlatClassifier(), goods)
    bare = fit_table(goods, "kind", model="flat-svm", folds=0, columns={"title": "text"})
    with pytest.raises(PalmetteError, match="has no probabilities, which a review needs"):
        review(bare, goods, folds=2)
    with pytest.raises(PalmetteError, match="title"):
        review(model, goods[["kind"]])


# ---------------------------------------------------------------------- the page


def test_the_page_shows_all_findings_and_runs_no_text(found):
    odd = found.copy()
    odd.loc[0, "title"] = "<script>alert(1)</script>\x1b"
    odd.attrs = found.attrs
    page = review_page(odd, title="Goods & more")
    assert "Labels that are probably wrong" in page
    assert "Rows that fit no class" in page
    assert "Equal rows" not in page
    assert "Goods &amp; more" in page
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u001b" in page
    assert page.count("<script>") == 1
    assert "Food &gt; </span><span class='apart'>Fish" in page


def test_the_page_needs_a_review(goods):
    with pytest.raises(PalmetteError, match="expected the table that"):
        review_page(goods)
