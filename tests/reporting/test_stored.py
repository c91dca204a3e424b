"""Rows on disk: a report of them is that of rows in memory, and nothing is left behind."""

from __future__ import annotations

import errno
import os
from functools import cache

import numpy as np
import pandas as pd
import pytest
from tests.table.goods import make_goods

from palmette.base._scratch import Frames, Scratch
from palmette.exceptions import LabelError, PalmetteError
from palmette.reporting import _parts, _stored, report
from palmette.reporting._stored import CodedLabels, StoredTable, TableStore
from palmette.table import fit_table

COLUMNS = ["title", "kind"]


def stored(model, table, store, rows=9):
    for start in range(0, len(table), rows):
        store.add(table.iloc[start : start + rows].reset_index(drop=True))
    return store.finish()


@pytest.fixture
def small(monkeypatch):
    """Bound of tables in memory, and of parts of a report."""
    monkeypatch.setattr(_stored, "_MOST_ROWS", 12)
    monkeypatch.setattr(_parts, "_ROWS", 15)


@cache
def fitted(kind):
    table = make_goods()[COLUMNS]
    options = {"folds": 0, "model": "flat-naive-bayes"}
    if kind == "several":
        table["kind"] = two_each(table)
        options |= {"labels_separator": ";", "model": "label-tree"}
    if kind == "learned":
        options |= {"hierarchy": "learn"}
    if kind == "conformal":
        options |= {"coverage": 0.8}
    return fit_table(table, "kind", **options)


def two_each(table):
    return [f"{a};{b}" for a, b in zip(table["kind"], table["kind"][::-1], strict=True)]


def goods(kind):
    """Return a fitted model, and rows some of which have other labels or none."""
    test = make_goods(34, seed=1)[COLUMNS]
    if kind == "several":
        test["kind"] = two_each(test)
    test.loc[5, "kind"] = "Nothing > Known"
    test.loc[[0, 20], "kind"] = None
    return fitted(kind), test


@pytest.mark.parametrize("kind", ["one path", "several", "learned", "conformal"])
def test_a_report_of_rows_on_disk(kind, small, tmp_path):
    model, table = goods(kind)
    options = {"n_bootstrap": 5, "baselines": {"itself": model}}
    if kind != "learned":
        options["other"] = model
    names = range(1, len(table) + 1)
    expected = report(model, table, sample_names=names, **options).facts
    told = []
    with TableStore(model, tmp_path, told.append) as store:
        kept = stored(model, table, store)
        assert isinstance(kept, StoredTable)
        assert len(list(tmp_path.iterdir())) == 1
        found = report(model, kept, sample_names=names, **options).facts
    assert list(tmp_path.iterdir()) == []
    assert len(told) == 1
    assert "which is removed at the end" in told[0]
    for name in expected.keys() - {"made"}:
        assert found[name] == expected[name], name


def test_a_small_table_stays_in_memory(tmp_path):
    model, table = goods("one path")
    with TableStore(model, tmp_path) as store:
        whole = stored(model, table, store)
        assert list(tmp_path.iterdir()) == []
    pd.testing.assert_frame_equal(whole, table)


def test_rows_are_those_of_the_parts_together(tmp_path):
    parts = [
        pd.DataFrame({"n": [1, 2], "word": ["a", "b"], "kind": pd.Categorical(["x", "y"])}),
        pd.DataFrame({"n": [np.nan], "word": [None], "kind": pd.Categorical(["z"])}),
        pd.DataFrame({"n": [3, 4, 5], "word": ["c", "d", "e"], "kind": pd.Categorical(["x"] * 3)}),
    ]
    whole = pd.concat(parts, ignore_index=True)
    with Scratch(tmp_path) as scratch:
        frames = scratch.frames()
        for part in parts:
            frames.append(part)
        frames.append(parts[0].iloc[:0])
        assert frames.shape == whole.shape
        for rows in (slice(0, 6), slice(1, 4), slice(4, 9), np.array([5, 0, 2, 2]), slice(3, 3)):
            found = frames[rows]
            wanted = whole.iloc[rows]
            assert found.dtypes.tolist() == wanted.dtypes.tolist()
            pd.testing.assert_frame_equal(found, wanted, check_index_type=False)


def test_no_row_has_a_label(small, tmp_path):
    model, table = goods("one path")
    with (
        TableStore(model, tmp_path) as store,
        pytest.raises(LabelError, match=f"none of the {len(table)} rows has a label"),
    ):
        stored(model, table.assign(kind=None), store)
    assert list(tmp_path.iterdir()) == []


def test_the_row_of_an_error_is_that_of_the_table(small, tmp_path):
    model, table = goods("one path")
    table.loc[30, "kind"] = " > "
    with pytest.raises(PalmetteError, match=r"^row 31 of the target column"):
        report(model, table)
    with (
        TableStore(model, tmp_path) as store,
        pytest.raises(PalmetteError, match=r"^row 31 of the target column"),
    ):
        stored(model, table, store)


def test_a_full_disk(small, tmp_path, monkeypatch):
    def full(*given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    model, table = goods("one path")
    monkeypatch.setattr(Scratch, "_open", full)
    with (
        TableStore(model, tmp_path) as store,
        pytest.raises(PalmetteError, match=r"is full after 0.0 GiB: no report was made"),
    ):
        stored(model, table, store)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_vanishes(small, tmp_path):
    model, table = goods("one path")
    with TableStore(model, tmp_path) as store:
        kept = stored(model, table, store)
        [folder] = tmp_path.iterdir()
        (folder / "frames").unlink()
        folder.rmdir()
        with pytest.raises(PalmetteError, match="has vanished: no report was made"):
            report(model, kept, n_bootstrap=0)


def test_an_interrupted_report_leaves_nothing(small, tmp_path, monkeypatch):
    model, table = goods("one path")

    def interrupt(self, rows):
        raise KeyboardInterrupt

    monkeypatch.setattr(Frames, "__getitem__", interrupt)
    with pytest.raises(KeyboardInterrupt), TableStore(model, tmp_path) as store:
        report(model, stored(model, table, store), n_bootstrap=0)
    assert list(tmp_path.iterdir()) == []


def test_labels_are_numbered_once():
    labels = CodedLabels([[{"a", "b"}, set()], [], [{"b", "a"}]])
    assert labels.distinct == [{"a", "b"}, set()]
    assert labels.codes.tolist() == [0, 1, 0]
    assert len(labels) == 3
    labels.append([{"c"}])
    assert labels.codes.tolist() == [0, 1, 0, 2]
