"""Workbooks that are written: every cell is read again, no text is a formula, limits are errors."""

from __future__ import annotations

import datetime
import sys
import tempfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from palmette.exceptions import PalmetteError
from palmette.table._reading import as_frame
from palmette.table._writing import OURS, open_writer

TEXTS = ["=1+1", "+2", "-x", "@SUM(A1)", "#N/A", '=HYPERLINK("a")', "00123", " x ", "a\nb"]


def write(path: Path, *frames: pd.DataFrame) -> Path:
    with open_writer(path) as writer:
        for frame in frames:
            writer.write(frame)
    return path


def test_texts_are_texts(tmp_path):
    frame = pd.DataFrame({"=name": TEXTS})
    path = write(tmp_path / "a.xlsx", frame, frame)
    sheet = openpyxl.load_workbook(path).active
    cells = [row[0] for row in sheet.iter_rows()]
    assert [cell.value for cell in cells] == ["=name", *TEXTS, *TEXTS]
    assert {cell.data_type for cell in cells} == {"s"}
    assert all(cell.quotePrefix for cell in cells if cell.value[0] in "=+-@")
    assert as_frame(path)["=name"].tolist() == TEXTS * 2


def test_values_keep_their_types(tmp_path):
    day, hour = datetime.datetime(2024, 5, 1, 10, 30), datetime.time(7, 5)
    frame = pd.DataFrame(
        {
            "number": [1.25, np.nan],
            "count": [3, 4],
            "flag": [True, False],
            "day": [day, None],
            "date": pd.Series([day.date(), None], dtype=object),
            "hour": pd.Series([hour, None], dtype=object),
            "missing": [None, None],
        }
    )
    found = as_frame(write(tmp_path / "a.xlsx", frame))
    assert found["number"].tolist() == [1.25, None]
    assert found["count"].tolist() == [3, 4]
    assert found["flag"].tolist() == [True, False]
    assert found["day"].tolist() == [day, None]
    assert found["date"][0] == datetime.datetime(2024, 5, 1)
    assert found["hour"].tolist() == [hour, None]
    assert found["missing"].tolist() == [None, None]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC), "2024-05-01T00:00:00+00:00"),
        (datetime.datetime(2024, 5, 1, microsecond=5), "2024-05-01T00:00:00.000005"),
        (datetime.date(1750, 7, 28), "1750-07-28"),
        (datetime.timedelta(days=-1), "-1 day, 0:00:00"),
        (10**15, "1000000000000000"),
        (float("inf"), "inf"),
        (["a", 1], '["a", 1]'),
    ],
)
def test_what_spreadsheets_would_change_is_a_text(tmp_path, cell, text):
    frame = pd.DataFrame({"a": pd.Series([cell], dtype=object)})
    path = write(tmp_path / "a.xlsx", frame)
    assert as_frame(path)["a"].tolist() == [text]


def test_our_numbers_are_numbers_with_six_digits(tmp_path):
    frame = pd.DataFrame({"probability": [1 / 3, np.nan], "theirs": [1 / 3, 2.0]})
    frame.attrs[OURS] = ["probability"]
    found = as_frame(write(tmp_path / "a.xlsx", frame))
    assert found["probability"].tolist() == [0.333333, None]
    assert found["theirs"].tolist() == [1 / 3, 2]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pd.DataFrame({"a": ["x" * 32_768]}), "has 32,768 characters: a workbook has at most"),
        (pd.DataFrame({"a": ["x\0"]}), r"column 'a' has the control character \\u0000"),
        (pd.DataFrame({"a": pd.Series(["\ud800"], dtype=object)}), r"character \\ud800"),
        (pd.DataFrame({"a\x1b": ["x"]}), "which a workbook cannot hold. Write .csv"),
        (pd.DataFrame([[1] * 16_385]), "has 16,385 columns: a sheet has at most 16,384"),
    ],
)
def test_what_does_not_fit_is_said_and_leaves_no_file(tmp_path, monkeypatch, frame, words):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(PalmetteError, match=words):
        write(tmp_path / "a.xlsx", pd.DataFrame({"a": ["x"]}) if frame.size == 1 else frame, frame)
    assert list(tmp_path.iterdir()) == []


def test_too_many_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("palmette.table._writing._MAX_ROWS", 4)
    frame = pd.DataFrame({"a": [1, 2]})
    assert len(as_frame(write(tmp_path / "a.xlsx", frame, frame[:1]))) == 3
    with pytest.raises(PalmetteError, match="more rows than a sheet, which has at most 4"):
        write(tmp_path / "b.xlsx", frame, frame)


def test_without_openpyxl(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(PalmetteError, match=r"needs openpyxl: pip install 'palmette\[table\]'"):
        write(tmp_path / "a.xlsx", pd.DataFrame({"a": [1]}))
