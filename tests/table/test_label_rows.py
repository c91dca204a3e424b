"""Labels of a thesaurus as training rows."""

import numpy as np
import pandas as pd
import pytest

from palmette import Hierarchy
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._vocabulary import Vocabulary
from palmette.table import TableModel, fit_table, label_rows
from palmette.table._fit import Race
from palmette.table._problem import read_problem

WORDS = Vocabulary(
    {
        "en": {"u:animal": "animal", "u:cat": "cat", "u:dog": "dog"},
        "fi": {"u:cat": "kissa", "u:dog": "koira", "u:oak": "tammi"},
        "": {"u:oak": "Quercus"},
    },
    {"en": {"u:cat": ["kitty", "cat"]}, "en-gb": {"u:cat": ["moggy"]}, "fi": {"u:oak": ["puu"]}},
)
H = Hierarchy.from_paths([("u:animal", "u:cat"), ("u:animal", "u:dog"), ("u:plant", "u:oak")])
THESAURUS = H.with_vocabulary(WORDS)
CAT, DOG = ("u:animal", "u:cat"), ("u:animal", "u:dog")
TABLE = pd.DataFrame(
    {
        "text": ["it meows softly", "it barks and bites", "meows again today"] * 8,
        "subjects": ["u:cat", "u:dog", "u:cat;u:animal"] * 8,
    }
)
PRICED = TABLE.assign(price=np.resize([3.5, 1.25, 8.0, 2.5, 9.75], 24))
SETTINGS = {"hierarchy": THESAURUS, "labels_separator": ";", "model": "label-tree", "folds": 0}
TEXT = {"columns": {"text": "text"}}


def test_texts_are_preferred_and_alternative_labels_of_a_language():
    assert label_rows(THESAURUS, "fi") == (
        ["kissa", "koira", "tammi", "puu", "Quercus"],
        ["u:cat", "u:dog", "u:oak", "u:oak", "u:oak"],
    )
    texts, names = label_rows(THESAURUS, "en", labels=[CAT, "u:oak"])
    assert texts == ["cat", "kitty", "moggy", "Quercus"]  # variants, and labels of no language
    assert names == [CAT, CAT, CAT, "u:oak"]
    assert label_rows(THESAURUS, "en,fi", labels=["u:cat"])[0] == ["cat", "kitty", "kissa", "moggy"]
    # by default the language of most labels, which is the first of two with equally many
    assert label_rows(THESAURUS)[0] == ["animal", "cat", "kitty", "dog", "Quercus"]
    with pytest.raises(HierarchyError, match="no label has it"):
        label_rows(THESAURUS, "de")
    with pytest.raises(PalmetteError, match="names only: expected a thesaurus"):
        label_rows(H)


def read(**more):
    settings = {"hierarchy": THESAURUS, "labels_separator": ";", "use_labels": True, **more}
    return read_problem(PRICED, "subjects", language="en", **TEXT, **settings)


def test_rows_of_labels_follow_those_of_the_table():
    problem = read()
    frame, y = problem.training_rows(np.array([1, 2]))
    assert frame["text"].tolist()[2:] == ["animal", "cat", "kitty", "moggy", "dog"]
    assert np.isnan(frame["price"].iloc[2:]).all()
    assert frame.dtypes.tolist() == problem.frame.dtypes.tolist()
    assert y[2:] == [{("u:animal",)}, {CAT}, {CAT}, {CAT}, {DOG}]
    # labels that the rows lack are not added, unless all are asked for
    assert problem.training_rows(np.array([1]))[1][1:] == [{DOG}]
    everything = read(use_labels="all").training_rows(np.array([1]))
    assert everything[0]["text"].tolist()[-1] == "Quercus"
    assert problem.n_rows == len(problem.y) == 24


def test_the_final_fit_has_the_labels_too():
    oak = ("u:plant", "u:oak")
    model = fit_table(TABLE, "subjects", use_labels="all", language="en", **TEXT, **SETTINGS)
    assert oak in model.classes_.tolist()  # no row of the table has it
    assert model.summary_["class_rows"][model.classes_.tolist().index(oak)] == 0
    assert model.summary_["rows"] == model.summary_["rows_fitted"] == 24
    again = TableModel.refit(model, TABLE)
    assert oak in again.classes_.tolist()
    assert again.summary_["use_labels"] == "all"


def test_scores_are_those_of_rows_of_the_table():
    told = []
    model = fit_table(
        TABLE, "subjects", use_labels=True, language="en", tell=told.append, **TEXT,
        **{**SETTINGS, "folds": 2},
    )  # fmt: skip
    assert model.summary_["rows"] == 24
    assert "5 labels of concepts are added to training rows, as 'text'" in told


def test_each_fold_has_the_labels_of_its_training_rows():
    from palmette.table._clock import Clock

    problem = read()
    race = Race(problem, "label-tree", {}, "tfidf", 2, 0, None, Clock(None, None, None))
    fold = race._load(np.array([1, 4, 7, 10]), np.array([0, 2]))
    assert fold.y_train[4:] == [{DOG}]
    assert fold.X_train.shape[0] == 5
    assert len(fold.test) == fold.X_test.shape[0] == 2


def test_one_label_per_row():
    table = TABLE.assign(subjects=["u:cat", "u:dog", "u:cat"] * 8)
    settings = {**SETTINGS, "labels_separator": None, "model": "class-tree"}
    model = fit_table(table, "subjects", use_labels="all", language="fi", **TEXT, **settings)
    assert ("u:plant", "u:oak") in model.classes_.tolist()
    assert model.predict({"text": ["it meows"]}) == [CAT]


def test_what_cannot_be_done_is_told():
    def fit(**more):
        return fit_table(TABLE, "subjects", **{"use_labels": True, **SETTINGS, **more})

    with pytest.raises(PalmetteError, match="the hierarchy has names only"):
        fit(hierarchy=H, **TEXT)
    with pytest.raises(PalmetteError, match="the table has no text column"):
        fit_table(PRICED, "subjects", drop=["text"], use_labels=True, **SETTINGS)
    with pytest.raises(PalmetteError, match="use_labels='some': expected True, False or 'all'"):
        fit(use_labels="some", **TEXT)
    with pytest.raises(PalmetteError, match="leave out calibrate= and coverage=, or use_labels="):
        fit(calibrate="sigmoid", **TEXT)
    with pytest.raises(HierarchyError, match="no label has it"):
        fit(language="de", **TEXT)
