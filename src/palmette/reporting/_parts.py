"""Calls with parts of the rows of a report, in this process or on the workers of a Dask cluster.

Parts depend on the numbers of rows and nodes only, they are reduced where they are computed, and
results come in their order: a report is the same for any number of workers.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from palmette._arrays import count_rows, joined, row_chunks, take_rows
from palmette.base._cluster import stream_on
from palmette.base._fitting import one_blas_thread

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
    per_row = max(_TABLES * n_nodes, _NUMBERS_AT_ONCE // _ROWS)

    def items() -> Iterator[tuple[Any, ...]]:
        for rows in row_chunks(n_rows, per_row, _NUMBERS_AT_ONCE):
            whole = rows == slice(0, n_rows)
            yield tuple(each if whole else take_rows(each, rows) for each in (X, *beside))

    if client is not None:
        stored = (pickle.dumps(item, pickle.HIGHEST_PROTOCOL) for item in items())
        yield from stream_on(client, _call, (function,), stored)
        return
    for item in items():
        with one_blas_thread():
            found = function(*item)
        yield found


def _call(function: Callable[..., Any], stored: bytes) -> Any:
    with one_blas_thread():
        return function(*pickle.loads(stored))


def predict_in_parts(model: Any, X: Any, n_nodes: int, client: Any = None) -> Any:
    """Return the predictions of a model for all rows, in the form that the model gives them.

    Parameters are those of `in_parts`.
    """
    return joined(list(in_parts(model.predict, X, n_nodes, client)))
