"""Dask arrays and DataFrames whose parts stay on workers: reading, gathering, predicting them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import FloatArray, in_memory
from palmette.base._clients import connected
from palmette.base._cluster import computed_on
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


# ---------------------------------------------------------------------- predictions


def lazy_answers(model: Any, method: str, X: Any, **options: Any) -> Any:
    """Return the answers of a fitted model for a Dask collection as a Dask array.

    They are computed part by part, where and when Dask computes them. Labels that are no array, as
    paths and sets, are the objects of a one-dimensional array.

    Parameters
    ----------
    model : fitted classifier
        Sent to every worker once.
    method : str
        Its answers have one row per row of X.
    X : Dask array or DataFrame of shape (n_samples, n_features)
        Rows of a DataFrame are counted when they are predicted: their number is unknown (NaN).
    **options
        Of the method.

    Returns
    -------
    dask.array.Array of n_samples rows
    """
    import dask
    import dask.array as da

    check_is_fitted(model)
    parts, sizes = _parts_of(X)
    one = _as_array(getattr(model, method)(_one_row(X), **options))  # its form is that of all
    shared = dask.delayed(model, traverse=False)
    answer = dask.delayed(_answered, pure=True)
    return da.concatenate(
        [
            da.from_delayed(
                answer(shared, method, part, options, one[:0]), (size, *one.shape[1:]), one.dtype
            )
            for part, size in zip(parts, sizes, strict=True)
        ],
        allow_unknown_chunksizes=True,
    )


def answers_by_parts(model: Any, method: str, X: Any, **options: Any) -> list[Any]:
    """Return the answers of a fitted model for every part of a Dask collection that has rows.

    They are computed where the parts are, on the cluster of the model or that of Dask, and only the
    answers are gathered.

    Parameters
    ----------
    model, method, X, options
        As of `lazy_answers`.
    """
    import dask

    check_is_fitted(model)
    shared = dask.delayed(model, traverse=False)
    answer = dask.delayed(_answered_part, pure=True)
    lazy = [answer(shared, method, part, options) for part in _parts_of(X)[0]]
    found = list(dask.compute(*lazy)) if model.client is None else gathered(lazy, model.client)
    if kept := [each for each in found if each is not None]:
        return kept
    raise ValueError(f"X has shape (0, {X.shape[1]}): expected at least one row and column.")


def _answered_part(model: Any, method: str, part: Any, options: Any) -> Any:
    """Return the answers for a part of X, None if it has no rows; on a worker."""
    return getattr(model, method)(part, **options) if len(part) else None


def _parts_of(X: Any) -> tuple[list[Any], list[Any]]:
    """Return the parts of a Dask collection as delayed values, and their sizes, NaN if unknown."""
    if hasattr(X, "columns"):
        return list(X.to_delayed()), [np.nan] * X.npartitions
    whole = X.rechunk({1: -1})
    return list(whole.to_delayed()[:, 0]), list(whole.chunks[0])


def _one_row(X: Any) -> Any:
    """Return a row like those of X: zeros, or the first one of a table that has other columns."""
    if hasattr(X, "columns") and any(kind.kind not in "biuf" for kind in X.dtypes):
        return X.head(1, npartitions=-1, compute=True)
    return head_of(X)


def _answered(model: Any, method: str, part: Any, options: Any, empty: NDArray[Any]) -> Any:
    """Return the answers for a part of X, which may be empty; on a worker."""
    if not len(part):
        return empty
    found = _as_array(getattr(model, method)(part, **options))
    return found.astype(object) if empty.dtype == object else found


def _as_array(answers: Any) -> NDArray[Any]:
    """Return answers as an array with one row per row of X; texts are objects."""
    if sparse.issparse(answers):
        return np.asarray(answers.toarray())
    if hasattr(answers, "to_numpy"):
        answers = answers.to_numpy()
    if isinstance(answers, np.ndarray):
        return answers.astype(object) if answers.dtype.kind in "US" else answers
    found = np.empty(len(answers), dtype=object)
    found[:] = answers
    return found
