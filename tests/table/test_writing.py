"""Tables are written whole or not at all, and read back as they were."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from palmette.exceptions import PalmetteError
from palmette.table.reading import as_frame
from palmette.table.writing import open_writer

FRAME = pd.DataFrame({"name": ["a,b", None, 'say "x"'], "p": [0.25, float("nan"), 1.0]})


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
def test_what_is_written_is_read_again(tmp_path, name):
    with open_writer(tmp_path / name) as writer:
        writer.write(FRAME)
        writer.write(FRAME.iloc[::-1])
    found = as_frame(tmp_path / name)
    names = [None if pd.isna(name) else name for name in found["name"]]
    assert names == ["a,b", None, 'say "x"', 'say "x"', None, "a,b"]
    assert found["p"].astype(float).fillna(-1).tolist() == [0.25, -1, 1, 1, -1, 0.25]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_after_an_error_there_is_no_file(tmp_path, name):
    def break_off():
        with open_writer(tmp_path / name) as writer:
            writer.write(FRAME)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_fit_into_parquet_is_said(tmp_path):
    def write():
        with open_writer(tmp_path / "a.parquet") as writer:
            writer.write(pd.DataFrame({"a": [1, 2]}))
            writer.write(pd.DataFrame({"a": ["x", "y"]}))

    with pytest.raises(PalmetteError, match="do not fit into Parquet"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_a_column_without_values_at_first(tmp_path):
    with open_writer(tmp_path / "a.parquet") as writer:
        writer.write(pd.DataFrame({"a": [None, None]}, dtype=object))
        writer.write(pd.DataFrame({"a": ["x", None]}, dtype=object))
    assert as_frame(tmp_path / "a.parquet")["a"].dropna().tolist() == ["x"]


def test_numbers_of_json_are_plain(tmp_path):
    with open_writer(tmp_path / "a.jsonl") as writer:
        writer.write(FRAME.iloc[1:2])
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {"name": None, "p": None}


def test_an_unknown_suffix(tmp_path):
    opened = open_writer(tmp_path / "a.doc")
    with pytest.raises(PalmetteError, match=r"expected a name in \.csv"):
        opened.__enter__()
