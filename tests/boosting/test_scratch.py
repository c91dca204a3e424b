"""Fits whose codes, scores and gradients are on disk: the same bits as in memory."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest
from scipy import sparse
from tests.boosting.test_block_fits import NAMES, bits_of, make_data

import palmette as pm
from palmette.boosting import _weak
from palmette.exceptions import PalmetteError
from palmette.trees import _binning

SETTINGS = {
    "labels": {},
    "paths": {"loss": "path_softmax", "n_jobs": 2},
    "exponential": {"loss": "exponential"},
    "bags": {"loss": ("leaf_softmax", "path_softmax"), "n_bags": 2, "subsample": 0.8},
    "early stopping": {"n_iter_no_change": 2},
}


def boosted(scratch=None, **settings):
    settings = {"n_estimators": 3, "random_state": 0, **settings}
    return pm.HierarchicalBoostingClassifier(scratch=scratch, **settings)


@pytest.fixture
def mapped(tmp_path):
    """Return a function that writes an array to a file, and maps it."""

    def write(X):
        np.save(tmp_path / "X.npy", X)
        return np.load(tmp_path / "X.npy", mmap_mode="r")

    return write


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_rows_on_disk_give_the_bits_of_rows_in_memory(settings, mapped, place, monkeypatch):
    monkeypatch.setattr(_binning, "_SAMPLED_ROWS", 3000)
    monkeypatch.setattr(_binning, "_MANY_VALUES", 10_000)
    X, y = make_data()
    expected = boosted(**settings).fit(X, y)
    found = boosted(place, **settings).fit(mapped(X), y)
    assert bits_of(found) == bits_of(expected)
    assert found.bins_.cuts.tobytes() == expected.bins_.cuts.tobytes()
    assert list(place.iterdir()) == []


def test_sets_of_labels_and_many_columns(mapped, place, monkeypatch):
    monkeypatch.setattr(_weak, "_MANY_COLUMNS", 8)
    X, y = make_data(several=True)
    expected, found = boosted().fit(X, y), boosted(place).fit(mapped(X), y)
    assert bits_of(found) == bits_of(expected)


def test_sparse_rows(place, monkeypatch):
    X, y = make_data()
    X = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    expected = boosted().fit(X, y)
    monkeypatch.setattr(_binning, "_VALUES_AT_ONCE", 1000)
    assert bits_of(boosted(place).fit(X, y)) == bits_of(expected)


def test_rounds_go_on_in_another_folder(place):
    X, y = make_data()
    expected = boosted().fit(X, y)
    found = boosted(place, n_estimators=1, warm_start=True).fit(X, y)
    found.set_params(n_estimators=3, scratch=None).fit(X, y)
    assert bits_of(found) == bits_of(expected)


def test_a_wide_sample_is_read_column_by_column(monkeypatch):
    X = np.random.default_rng(0).normal(size=(700, 5))
    monkeypatch.setattr(_binning, "_SAMPLED_ROWS", 300)
    expected = _binning.BinMapper.fit(X, 20)
    monkeypatch.setattr(_binning, "_FEW_FEATURES", 4)
    np.testing.assert_array_equal(_binning.BinMapper.fit(X, 20).cuts, expected.cuts)


# ---------------------------------------------------------------------- faults


def test_a_full_scratch_folder(place, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(PalmetteError, match=r"is full .* nothing was fitted"):
        boosted(place).fit(*make_data())
    assert list(place.iterdir()) == []


def test_a_scratch_folder_that_does_not_exist(tmp_path):
    with pytest.raises(PalmetteError, match="cannot create a scratch folder in"):
        boosted(tmp_path / "none").fit(*make_data())


def test_the_bytes_of_a_fit(place, monkeypatch):
    from palmette.base._scratch import Scratch

    written = []
    leave = Scratch.__exit__
    monkeypatch.setattr(
        Scratch, "__exit__", lambda self, *e: (written.append(self.n_bytes), leave(self, *e))[1]
    )
    X, y = make_data()
    model = boosted(place).fit(X, y)
    assert written == [len(X) * (9 + 8 * len(NAMES))]
    assert model.scratch_bytes(len(X), 9, model.hierarchy_.n_nodes) >= written[0]
