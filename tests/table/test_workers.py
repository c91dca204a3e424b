"""A function called in several processes: the results, errors and warnings of one process."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from functools import partial
from multiprocessing import active_children

import numpy as np
import pytest
from tests.table.calls import end_at, fail_at, raise_unreadable, square, warn

from palmette.exceptions import ReadError
from palmette.table import _workers as module
from palmette.table._workers import map_in_order


def own_children():
    """Return the live processes of workers; joblib keeps some of its own, from other tests."""
    return [process for process in active_children() if "Loky" not in type(process).__name__]


@pytest.mark.parametrize(("n_jobs", "n_items"), [(1, 0), (1, 25), (2, 0), (2, 1), (2, 25), (3, 2)])
def test_results_are_in_order(n_jobs, n_items):
    items = [np.full(50_000, i) for i in range(n_items)]  # more than a pipe holds
    found = list(map_in_order(square, iter(items), n_jobs))
    np.testing.assert_array_equal(found, [x * x for x in items])
    assert own_children() == []


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_comes_after_the_results_before_it(n_jobs):
    found = []
    with pytest.raises(ReadError, match=r"a\.csv:7: wrong"):
        found.extend(map_in_order(partial(fail_at, 7), range(30), n_jobs))
    assert found == list(range(7))
    assert own_children() == []


@pytest.mark.parametrize(("place", "line"), [(4, 4), (9, 5)])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_first_error_of_calls_and_items_is_raised(n_jobs, place, line):
    def items():
        yield from range(5)
        raise ReadError("ended", path="a.csv", line=5)

    found = []
    with pytest.raises(ReadError, match=rf"a\.csv:{line}"):
        found.extend(map_in_order(partial(fail_at, place), items(), n_jobs))
    assert found == list(range(line))


def test_few_items_are_read_ahead():
    read = []
    items = (read.append(i) or i for i in range(100))
    for i, _ in enumerate(map_in_order(square, items, 2)):
        assert len(read) <= i + 1 + 2 * 2
    assert len(read) == 100


def test_the_end_of_a_process_is_an_error():
    with pytest.raises(ChildProcessError, match="ended with the exit code 3"):
        list(map_in_order(partial(end_at, 4), range(10), 2))
    assert own_children() == []


def test_an_error_that_cannot_be_sent_is_named():
    with pytest.raises(RuntimeError, match="Unreadable: 0 and 1"):
        list(map_in_order(raise_unreadable, range(3), 2))


def test_a_warning_is_shown_once():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        assert list(map_in_order(warn, range(6), 2)) == list(range(6))
    assert [str(each.message) for each in told] == ["doubtful"]


def test_a_stream_that_is_left_ends_the_processes():
    stream = map_in_order(square, iter(range(100)), 2)
    assert next(stream) == 0
    assert len(own_children()) == 2
    stream.close()
    assert own_children() == []


def test_unasked_processes_are_told_and_may_not_be_possible(monkeypatch):
    monkeypatch.setattr(module, "_ALONE", 0.0)
    monkeypatch.setattr(module, "effective_n_jobs", lambda n_jobs: 2)
    told = []
    assert list(map_in_order(square, range(5), None, told.append)) == [0, 1, 4, 9, 16]
    assert told == ["the table is large: using 2 jobs (--jobs 1 for one)"]
    lock = threading.Lock()  # has no pickle
    locked = partial(lambda _, x: x, lock)
    assert list(map_in_order(locked, range(5), None, told.append)) == list(range(5))
    monkeypatch.setattr(module, "_COPIES", 10)
    assert list(map_in_order(square, range(5), None, told.append)) == [0, 1, 4, 9, 16]
    assert len(told) == 1


def test_short_work_stays_in_this_process():
    told = []
    results = list(map_in_order(lambda x: os.getpid(), range(5), None, told.append))
    assert (set(results), told) == ({os.getpid()}, [])


def test_what_this_process_has_imported_is_imported_once_for_all(monkeypatch):
    monkeypatch.setitem(sys.modules, "skrub", None)
    assert {"skrub", "palmette.table._workers"} <= set(module._imported())
    monkeypatch.delitem(sys.modules, "skrub")
    names = module._imported()
    assert {name.partition(".")[0] for name in names} == {"palmette"}
