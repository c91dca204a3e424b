"""Calls side by side: jobs in threads or processes of joblib, and a pool of threads for a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

__all__ = ["Threads", "run_jobs"]

_SMALL = 2**22  # numbers of an array from which threads of BLAS pay


def run_jobs(
    function: Callable[..., Any],
    jobs: Iterable[Sequence[Any]],
    n_jobs: int | None,
    prefer: str | None = None,
    verbose: int = 0,
) -> list[Any]:
    """Call a function with the arguments of every job, here or in parallel.

    Parameters
    ----------
    function : callable
    jobs : iterable of sequences
        The arguments of each call, made when a worker is free.
    n_jobs, prefer, verbose
        As in joblib. With one job the calls are plain: joblib would copy scikit-learn's
        configuration and the filters of warnings for each of them. BLAS has one thread while a job
        is small, as in the workers of joblib: its threads would mostly wait for each other.

    Returns
    -------
    list
        In the order of the jobs.

    Examples
    --------
    >>> run_jobs(pow, [(2, 3), (3, 2)], n_jobs=None)
    [8, 9]
    """
    if effective_n_jobs(n_jobs) == 1 and not verbose:
        return [_call(function, job) for job in jobs]
    parallel = Parallel(n_jobs=n_jobs, prefer=prefer, verbose=verbose)
    return list(parallel(delayed(function)(*job) for job in jobs))


def _call(function: Callable[..., Any], job: Sequence[Any]) -> Any:
    if any(isinstance(each, np.ndarray) and each.size > _SMALL for each in job):
        return function(*job)
    with _thread_pools().limit(limits=1, user_api="blas"):
        return function(*job)


@cache
def _thread_pools() -> ThreadpoolController:
    """Return the libraries that have threads, which takes milliseconds to find."""
    return ThreadpoolController()


class Threads:
    """A pool of threads that is kept during a fit, so that no round has to start threads.

    Parameters
    ----------
    n_jobs : int, optional
        As in joblib; inside a parallel worker of joblib there may be fewer.

    Examples
    --------
    >>> with Threads(2) as threads:
    ...     threads.map(abs, [-1, -2, -3])
    [1, 2, 3]
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_threads = effective_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None

    def map(self, function: Callable[..., Any], items: Iterable[Any]) -> list[Any]:
        """Return the results of a function for all items, in their order."""
        if self._pool is None:
            return [function(item) for item in items]
        return list(self._pool.map(function, items))

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
