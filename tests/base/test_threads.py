from __future__ import annotations

import queue
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from palmette.base import _fitting
from palmette.base._fitting import Threads, run_jobs


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 4])
def test_answers_come_in_the_order_of_the_items(n_jobs):
    with Threads(n_jobs) as threads:
        assert threads.n_threads == (n_jobs or 1)
        # the first ones take longest
        slow = lambda i: (time.sleep(0.002 * (5 - i)), i)[1]  # noqa: E731
        assert threads.map(slow, range(5)) == list(range(5))
        assert threads.map(abs, []) == []


def test_one_thread_is_the_one_that_asks():
    with Threads(1) as threads:
        assert set(threads.map(lambda _: threading.get_ident(), range(3))) == {
            threading.get_ident()
        }


def test_two_threads_work_at_once():
    meet = threading.Barrier(2, timeout=120)
    with Threads(2) as threads:
        assert sorted(threads.map(lambda _: meet.wait(), range(2))) == [0, 1]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_come_through(n_jobs):
    with Threads(n_jobs) as threads, pytest.raises(ZeroDivisionError):
        threads.map(lambda i: 1 / i, [1, 0, 2])


def test_threads_end_with_the_fit():
    before = threading.active_count()
    with Threads(3) as threads:
        threads.map(time.sleep, [0.01] * 3)
        assert threading.active_count() > before
    assert threading.active_count() == before


def test_all_processors_by_a_negative_number():
    with Threads(-1) as threads:
        assert threads.n_threads == effective_n_jobs(-1)


def test_inside_of_a_worker_of_joblib_there_are_no_more_than_it_allows():
    def ask():
        with Threads(8) as threads:
            return threads.n_threads, threads.map(abs, [-1])

    counts = Parallel(n_jobs=2, backend="threading")(delayed(ask)() for _ in range(2))
    assert [answer for _, answer in counts] == [[1], [1]]
    assert all(1 <= n <= 8 for n, _ in counts)


def blas_threads(X):
    return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")


def test_blas_has_one_thread_in_small_jobs_and_its_own_number_in_large_ones(monkeypatch):
    monkeypatch.setattr(_fitting, "_SMALL", 10)
    with threadpool_limits(2, user_api="blas"):
        large, thin = np.zeros((3, 4)), sparse.csr_array(np.ones((3, 4)))
        jobs = [(large[:2],), (large,), (pd.DataFrame(large),), ((large, None),), (thin,), (3,)]
        assert run_jobs(blas_threads, jobs, None) == [1, 2, 2, 2, 1, 1]
        assert blas_threads(None) == 2


def test_libraries_are_looked_for_again_when_modules_were_imported(monkeypatch):
    found = []
    real = _fitting.ThreadpoolController
    monkeypatch.setattr(_fitting, "ThreadpoolController", lambda: found.append(0) or real())
    monkeypatch.setattr(_fitting, "_pools", None)
    with threadpool_limits(2, user_api="blas"):
        for n_found in (1, 1, 2, 2):
            if n_found > len(found) > 0:
                monkeypatch.setitem(sys.modules, "tests.a_module_with_threads", sys)
            with _fitting.one_blas_thread():
                assert blas_threads(None) == 1
            assert blas_threads(None) == 2
            assert len(found) == n_found


def test_jobs_give_their_results_in_order_wherever_they_run():
    jobs = [(i, 2) for i in range(20)]
    for n_jobs, prefer in ((None, None), (2, "threads")):
        assert run_jobs(pow, iter(jobs), n_jobs, prefer) == [i**2 for i in range(20)]


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("most", [0, 1, 2, 50])
def test_shares_are_ranges_in_order_that_make_up_everything(n_jobs, n, most):
    with Threads(n_jobs) as threads:
        parts = threads.share(lambda start, stop: (start, stop), n, most)
    n_threads = min(n_jobs, n, most)
    assert len(parts) == (1 if n_threads <= 1 else min(n, 2 * n_threads))
    assert [i for start, stop in parts for i in range(start, stop)] == list(range(n))


def test_work_inside_of_work_is_done_by_the_thread_that_asks():
    def outer(i):
        own = threading.get_ident()
        found = threads.map(lambda _: threading.get_ident(), range(3))
        shared = threads.share(lambda start, stop: (threading.get_ident(), start, stop), 9, 9)
        return set(found) == {own} and shared == [(own, 0, 9)]

    with Threads(3) as threads:
        assert threads.map(outer, range(6)) == [True] * 6
        assert len(threads.share(lambda start, stop: None, 9, 9)) == 6  # free again


def test_after_an_error_threads_go_on():
    with Threads(3) as threads:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                threads.share(lambda start, stop: 1 // start, 9, 9)
            assert threads.map(abs, range(5)) == list(range(5))


def test_threads_start_only_when_there_is_work_for_them():
    before = threading.active_count()
    with Threads(4) as threads:
        threads.map(abs, [1])
        threads.share(lambda start, stop: None, 100, most=1)
        assert threading.active_count() == before


def test_a_thread_that_comes_late_does_not_stand_for_one_that_works():
    with Threads(3) as threads:
        threads.map(abs, range(9))  # starts them
        asks, works, comes = threading.get_ident(), threading.Event(), threading.Event()
        threads._team[1][1].put((comes.wait, [], queue.SimpleQueue()))

        def either(_):
            if threading.get_ident() == asks:
                assert works.wait(120)
                threading.Timer(0.02, comes.set).start()
            else:
                works.set()
                time.sleep(0.2)
            return threading.get_ident()

        assert len(set(threads.map(either, range(3)))) == 2


def test_threads_that_come_late_are_not_waited_for_and_do_no_harm():
    with Threads(3) as threads:
        threads.map(abs, range(9))  # starts them
        held = threading.Event()
        for _, tasks in threads._team:
            tasks.put((held.wait, [], queue.SimpleQueue()))
        done = []
        assert threads.map(lambda i: done.append(i) or i, range(20)) == list(range(20))
        assert done == list(range(20))  # by the thread that asks alone
        held.set()
        assert threads.map(abs, range(9)) == list(range(9))
        assert len(done) == 20
