"""Arrays in a scratch folder: equal to those in memory, gone at the end, and with clear errors."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest
from scipy import sparse

from palmette.base._scratch import Scratch
from palmette.exceptions import PalmetteError


def test_an_array_on_disk_is_one_in_memory(tmp_path):
    numbers = np.arange(12.0).reshape(3, 4)
    with Scratch(tmp_path) as scratch:
        found = scratch.empty((3, 4), np.float64)
        found[:] = numbers
        assert type(found) is np.ndarray
        assert found.flags.writeable
        assert found.flags.c_contiguous
        assert scratch.n_bytes == 96
        assert list(scratch.path.iterdir()) == []  # its file has no name
        assert scratch.empty((0, 4), np.uint8).shape == (0, 4)
    np.testing.assert_array_equal(found, numbers)  # it lives on without the folder
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_found_before_anything_is_written(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with (
        Scratch(tmp_path) as scratch,
        pytest.raises(PalmetteError, match=r"the scratch folder .* is full after 0.0 GiB"),
    ):
        scratch.empty((5, 5), np.uint8)
    assert list(tmp_path.iterdir()) == []


def test_an_array_that_is_larger_than_the_disk(tmp_path):
    with (
        Scratch(tmp_path) as scratch,
        pytest.raises(PalmetteError, match=r"the numbers of a fit need about 16777216.0 GiB"),
    ):
        scratch.empty((2**27, 2**27), np.uint8)


def test_a_scratch_folder_that_vanishes():
    with Scratch() as scratch:
        rows = scratch.rows(2)
        rows.append(np.ones((3, 2)))
        (scratch.path / "values").unlink()
        scratch.path.rmdir()
        with pytest.raises(PalmetteError, match="has vanished"):
            rows.append(np.ones((3, 2)))
        with pytest.raises(PalmetteError, match="has vanished"):
            rows.mapped()
        with pytest.raises(PalmetteError, match="has vanished"):
            scratch.empty((3, 2), np.uint8)


def test_sparse_rows_on_disk_equal_those_in_memory():
    X = sparse.random_array((60, 9), density=0.3, format="csr", random_state=0)
    with Scratch() as scratch:
        rows = scratch.rows(9)
        for start in range(0, 60, 7):
            rows.append(X[start : start + 7])
        found = rows.mapped()
        assert isinstance(found, sparse.csr_array)
        assert found.has_canonical_format
        np.testing.assert_array_equal(found.toarray(), X.toarray())
        np.testing.assert_array_equal(found.indices, X.indices)
