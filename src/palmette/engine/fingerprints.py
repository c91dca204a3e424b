"""Fingerprints of data and parameters, by which a fit is told from others."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse

from palmette.core.hierarchy import Hierarchy

__all__ = ["fingerprint_of_arrays", "fingerprint_of_parameters"]

_CHUNK = 2**24  # bytes of an array that are made contiguous at a time
_LONGEST = 300  # characters of a value that are worth keeping to be shown
_WITHOUT_EFFECT = {"n_jobs", "verbose"}  # on what is learnt, in any estimator


def fingerprint_of_arrays(*arrays: Any) -> str:
    """Digest of the types, shapes and values of arrays, the same in every process.

    Parameters
    ----------
    *arrays : numeric arrays, sparse matrices or None
        Their order counts, and None counts as one.

    Returns
    -------
    str of 64 hexadecimal digits

    Examples
    --------
    >>> a = np.arange(6.0).reshape(2, 3)
    >>> fingerprint_of_arrays(a) == fingerprint_of_arrays(np.asfortranarray(a))
    True
    >>> fingerprint_of_arrays(a) == fingerprint_of_arrays(a.T)
    False
    """
    digest = hashlib.sha256()
    for array in arrays:
        if array is None:
            digest.update(b"none;")
        elif sparse.issparse(array):
            _add_sparse(digest, array)
        else:
            _add_dense(digest, np.asarray(array))
    return digest.hexdigest()


def _add_sparse(digest: Any, matrix: Any) -> None:
    rows = sparse.csr_array(matrix)
    if not rows.has_canonical_format:
        rows = rows.copy()  # what was given stays as it is
        rows.sum_duplicates()
    digest.update(f"sparse{rows.shape};".encode())
    # the width of indices depends on the size of the matrix and on who made it
    for part in (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data):
        _add_dense(digest, part)


def _add_dense(digest: Any, array: Any) -> None:
    if array.dtype.kind not in "biufc":
        raise TypeError(f"an array of {array.dtype} has no fingerprint: expected numbers.")
    digest.update(f"{array.dtype.str}{array.shape};".encode())
    if array.flags.c_contiguous:
        digest.update(array.reshape(-1).view(np.uint8).data)
        return
    step = max(1, _CHUNK * len(array) // array.nbytes) if array.nbytes else 1
    for start in range(0, len(array), step):
        digest.update(np.ascontiguousarray(array[start : start + step]).data)


def fingerprint_of_parameters(estimator: Any, without: Collection[str] = ()) -> str:
    """Write all parameters of an estimator as JSON, the same text for the same settings.

    Parameters
    ----------
    estimator : estimator
    without : names
        Parameters that the fit does not depend on; ``n_jobs`` and ``verbose`` are left out in any
        case, and a ``random_state`` that is None or a generator, which is another one every time.

    Returns
    -------
    str
        A JSON object; inner estimators are there by the name of their class, with their parameters
        as ``name__parameter``, and what is long by its digest.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> text = fingerprint_of_parameters(DecisionTreeClassifier(max_depth=np.int64(3)))
    >>> json.loads(text)["max_depth"], "random_state" in text
    (3, False)
    """
    values = _parameters(estimator)
    return json.dumps({n: _short(v) for n, v in values.items() if n not in without}, sort_keys=True)


def _parameters(estimator: Any) -> dict[str, Any]:
    parameters = estimator.get_params(deep=True)
    return {
        # an inner estimator's own parameters are here too, under names of their own
        name: type(value).__name__ if _is_estimator(value) else _plain(value)
        for name, value in parameters.items()
        if not _is_free(name, value)
    }


def _is_free(name: str, value: Any) -> bool:
    """Whether a fit does not depend on a parameter, or not in a way that could be repeated."""
    last = name.rpartition("__")[2]
    if last == "random_state":
        return not isinstance(value, int | np.integer)
    return last in _WITHOUT_EFFECT


def _plain(value: Any) -> Any:
    """Return a value made of what JSON knows, with nothing in it that varies between processes."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Hierarchy):
        return f"Hierarchy of {value.n_nodes:,} nodes, sha256 {value.fingerprint}"
    if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        return f"{value.__module__}.{value.__qualname__}"
    if _is_estimator(value):
        return [type(value).__name__, _parameters(value)]
    if is_dataclass(value):
        values = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return [type(value).__name__, values]
    return _plain_container(value)


def _plain_container(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        name = f"array of {value.dtype}, shape {value.shape}"
        return f"{name}, sha256 {fingerprint_of_arrays(value)}"
    if isinstance(value, Mapping):
        return _sorted([_plain(key), _plain(each)] for key, each in value.items())
    if isinstance(value, set | frozenset):
        return _sorted(_plain(each) for each in value)
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(each) for each in value]
    # whatever else shows itself as it is, but for its address
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _sorted(values: Any) -> list[Any]:
    return sorted(values, key=json.dumps)


def _is_estimator(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _short(value: Any) -> Any:
    text = json.dumps(value)
    if len(text) <= _LONGEST:
        return value
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{text[:60]}... ({len(text):,} characters, sha256 {digest})"
