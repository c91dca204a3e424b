"""Calls with parts of the rows of a report, in this process or on the workers of a Dask cluster.

Parts depend on the numbers of rows and nodes only, they are reduced where they are computed, and
results come in their order: a report is the same for any number of workers.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from palmette._arrays import count_rows, joined, take_rows
from palmette.base._cluster import stream_on
from palmette.base._fitting import one_blas_thread
from palmette.base._scratch import Frames
from palmette.reporting._stored import CodedLabels

_NUMBERS_AT_ONCE = 2**24  # of node tables, 128 MiB
_ROWS = 20_000  # at most, so that workers have something to share
_TABLES = 3  # of nodes that a part may need at a time


def in_parts(
    function: Callable[..., Any],
    X: Any,
    n_nodes: int,
    client: Any = None,
    beside: Sequence[Any] = (),
) -> Iterator[Any]:
    """Yield what a function returns for parts of the rows, in their order.

    BLAS has one thread, because the rounding of its sums may depend on their number.

    Parameters
    ----------
    function : callable
        Called with some rows of X and the same rows of everything beside it. Sent to each worker
        once, with the model that it calls.
    X : rows
        Of `Frames`, which are on disk, one part is in memory at a time; with workers a few more.
    n_nodes : int
        Columns of the tables that the function computes: parts have fewer rows if it is large.
    client : distributed.Client, optional
        The cluster whose workers call the function. Parts of a worker that is lost are sent again.
    beside : sequence of arrays and sparse matrices of n_samples rows

    Examples
    --------
    >>> list(in_parts(lambda X, y: (X, y), [[1], [2]], n_nodes=3, beside=([5, 6],)))
    [([[1], [2]], [5, 6])]
    """
    n_rows = count_rows(X)

    def items() -> Iterator[tuple[Any, ...]]:
        for start in range(0, n_rows, step := rows_at_once(n_nodes)):
            rows = slice(start, min(start + step, n_rows))
            whole = rows == slice(0, n_rows) and not isinstance(X, Frames)
            yield tuple(each if whole else take_rows(each, rows) for each in (X, *beside))

    yield from call_each(function, items(), client)


def rows_at_once(n_nodes: int) -> int:
    """Return the number of rows of a part, given that of nodes."""
    return max(1, _NUMBERS_AT_ONCE // max(_TABLES * n_nodes, _NUMBERS_AT_ONCE // _ROWS))


def call_each(
    function: Callable[..., Any], items: Iterator[tuple[Any, ...]], client: Any = None
) -> Iterator[Any]:
    """Yield ``function(*item)`` for the items of a stream, in their order; see `in_parts`."""
    if client is not None:
        # Dask would send lists of labels object by object, which takes minutes
        stored = (pickle.dumps(item, pickle.HIGHEST_PROTOCOL) for item in items)
        yield from map(pickle.loads, stream_on(client, _call, (function,), stored))
        return
    for item in items:
        with one_blas_thread():
            found = function(*item)
        yield found


def _call(function: Callable[..., Any], stored: bytes) -> bytes:
    with one_blas_thread():
        return pickle.dumps(function(*pickle.loads(stored)), pickle.HIGHEST_PROTOCOL)


def predict_in_parts(model: Any, X: Any, n_nodes: int, client: Any = None) -> Any:
    """Return the predictions of a model for all rows, in the form that the model gives them.

    Those of rows on disk are `CodedLabels`. Parameters are those of `in_parts`.
    """
    parts = in_parts(model.predict, X, n_nodes, client)
    return CodedLabels(parts) if isinstance(X, Frames) else joined(list(parts))
