"""Threads around kernels that release the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from joblib import effective_n_jobs

__all__ = ["Threads"]


class Threads:
    """A few threads that live as long as a fit, so that a round costs no start of any.

    Parameters
    ----------
    n_jobs : int, optional
        As in joblib; inside of a parallel worker of joblib it may come to fewer.

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
        """Return the function's answers for all items, in their order."""
        if self._pool is None:
            return [function(item) for item in items]
        return list(self._pool.map(function, items))

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
