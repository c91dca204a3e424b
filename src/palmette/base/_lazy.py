"""Dask arrays and DataFrames whose parts stay on workers: reading, checking, and gathering them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from palmette._arrays import FloatArray, in_memory
from palmette.base._cluster import computed_on, connected
from palmette.exceptions import PalmetteError


def is_lazy(X: Any) -> bool:
    """Return whether X is a Dask array or DataFrame whose parts are dense.

    Examples
    --------
    >>> is_lazy(np.zeros((2, 1)))
    False
    """
    if not hasattr(X, "__dask_graph__") or len(getattr(X, "shape", ())) != 2:
        return False
    return not sparse.issparse(getattr(X, "_meta", None))


def lazy_rows(X: Any, client: Any) -> Any:
    """Return a Dask array of numbers in double precision, whose chunks have all columns.

    Parameters
    ----------
    X : Dask array or DataFrame of shape (n_samples, n_features)
        Numbers; NaN is a missing value, anything else that is not finite is an error once its part
        is computed.
    client : distributed.Client or str
        Its workers count the rows of parts, if they are not known.

    Returns
    -------
    dask.array.Array of shape (n_samples, n_features)
    """
    import dask
    import dask.array as da

    n_features = int(X.shape[1])
    if hasattr(X, "columns"):
        parts, sizes = list(X.to_delayed()), [np.nan]
    else:
        whole = X.rechunk({1: n_features})
        parts, sizes = list(whole.to_delayed()[:, 0]), list(whole.chunks[0])
    if np.isnan(sizes).any():
        sizes = gathered([dask.delayed(len)(part) for part in parts], client)
    if not sum(sizes) or not n_features:
        raise PalmetteError(
            f"X has shape {(sum(sizes), n_features)}: expected at least one row and column."
        )
    read = dask.delayed(_checked, pure=True)
    return da.concatenate(
        [
            da.from_delayed(read(part), (int(size), n_features), np.float64)
            for part, size in zip(parts, sizes, strict=True)
            if size
        ]
    )


def _checked(part: Any) -> FloatArray:
    """Return a part of X as numbers; on a worker."""
    from sklearn.utils.validation import check_array

    return np.asarray(check_array(part, dtype=np.float64, ensure_all_finite="allow-nan"))


def head_of(X: Any) -> Any:
    """Return a row of zeros with the columns of a Dask array or DataFrame."""
    zeros = np.zeros((1, int(X.shape[1])))
    if not hasattr(X, "columns"):
        return zeros
    import pandas as pd

    return pd.DataFrame(zeros, columns=list(X.columns))


def gathered(lazy: Any, client: Any = None) -> Any:
    """Return what Dask collections stand for, computed on the workers of a cluster.

    Parameters
    ----------
    lazy : Dask collection, or list of them
        Anything else is returned unchanged.
    client : distributed.Client or str, optional
        By default that of Dask, or threads of this process.
    """
    some: Sequence[Any] = lazy if isinstance(lazy, list) else [lazy]
    if not any(hasattr(each, "__dask_graph__") for each in some):
        return lazy
    if client is None:
        found = [in_memory(each) for each in some]
    else:
        with connected(client) as cluster:
            found = computed_on(cluster, some)
    return found if isinstance(lazy, list) else found[0]
