"""Models of tables find the true labels in their target column."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from tests.reporting.known_answers import ANIMALS, CAT, DOG, KnownAnswers, numbered

from palmette.exceptions import LabelError, PalmetteError
from palmette.reporting import report


class OfTables:
    """A model of tables: the target is a column of paths, with gaps and unknown labels."""

    several_paths_ = learnt_ = False
    hierarchy_ = ANIMALS

    class target_:
        columns = ("kind",)

        @staticmethod
        def read(frame):
            return [tuple(cell.split("/")) if cell else None for cell in frame["kind"]]

    def labelled_rows(self, frame):
        return [path is not None and path in ANIMALS for path in self.target_.read(frame)]

    def read_target(self, frame):
        assert all(self.labelled_rows(frame))
        return self.target_.read(frame)

    def predict(self, frame):
        return [CAT] * len(frame)


def test_a_model_of_tables_reads_its_target():
    frame = pd.DataFrame({"kind": ["animal/cat", "", "animal/wolf", "animal/dog"]})
    facts = report(OfTables(), frame, sample_names=list("wxyz"), n_bootstrap=0).facts
    data = facts["setting"]["data"]
    assert (data["rows"], data["rows_left_out"], data["rows_with_unseen_labels"]) == (3, 1, 1)
    assert facts["errors"]["right"] == 1
    assert {each["name"] for each in facts["examples"]} == {"y", "z"}


def test_a_table_without_labels():
    with pytest.raises(LabelError, match=r"none of the 2 rows has a label.*kind"):
        report(OfTables(), pd.DataFrame({"kind": ["", ""]}))


def test_others_need_their_labels():
    with pytest.raises(PalmetteError, match="y is missing"):
        report(KnownAnswers(ANIMALS, [CAT]), numbered(1))
    with pytest.raises(LabelError, match="y_true has 2 rows and y_pred has 1"):
        report(KnownAnswers(ANIMALS, [CAT]), numbered(1), [CAT, DOG])


@pytest.mark.parametrize("rows", ["test.csv", Path("test.csv"), {"title": ["red apple"]}])
def test_what_is_no_rows_is_refused(rows):
    with pytest.raises(PalmetteError, match="expected the rows themselves"):
        report(OfTables(), rows)
