"""Fingerprints of data and estimators, so that results are never taken for those of others."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np
from scipy import sparse

from palmette.compare._splits import Problem
from palmette.core.labels import NodeLabels

__all__ = ["describe_estimator", "fingerprint"]


def fingerprint(problem: Problem) -> str:
    """Digest of all rows, labels and the hierarchy of a problem, the same in every process.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    str of 32 hexadecimal digits

    Examples
    --------
    >>> from palmette.core.hierarchy import Hierarchy
    >>> h, X = Hierarchy.star(["a", "b"]), np.eye(2)
    >>> one, two = Problem("p", h, X, ["a", "b"]), Problem("p", h, X, ["a", "a"])
    >>> fingerprint(one) == fingerprint(two)
    False
    """
    digest = hashlib.blake2b(digest_size=16)
    digest.update(problem.hierarchy.fingerprint.encode())
    _add(digest, problem.categorical)
    for X, y in ((problem.X_train, problem.y_train), (problem.X_test, problem.y_test)):
        _add(digest, X)
        if y is not None:  # sets have no order: nodes have
            _add(digest, NodeLabels.encode(y, problem.hierarchy).given)
    return digest.hexdigest()


def _add(digest: Any, X: Any) -> None:
    """Add features of any kind to a digest."""
    if X is None:
        digest.update(b"none;")
    elif sparse.issparse(X):
        rows = sparse.csr_array(X)
        rows.sum_duplicates()
        digest.update(f"sparse{rows.shape};".encode())
        # their width depends on the size of the matrix and on who made it
        for part in (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data):
            _add(digest, part)
    elif isinstance(X, np.ndarray) and X.dtype.kind in "biufc":
        digest.update(f"{X.dtype.str}{X.shape};".encode())
        digest.update(np.ascontiguousarray(X).data)
    elif hasattr(X, "columns"):
        for name in X.columns:
            digest.update(f"{name!r}:".encode("utf-8", "backslashreplace"))
            _add(digest, X[name].to_numpy())
    else:
        for value in X.tolist() if isinstance(X, np.ndarray) else X:
            digest.update(f"{value!r};".encode("utf-8", "backslashreplace"))


def describe_estimator(estimator: Any) -> str:
    """Write an estimator with all its changed parameters on one line.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.naive_bayes import GaussianNB
    >>> describe_estimator(make_pipeline(GaussianNB(priors=[0.5, 0.5])))
    "Pipeline(steps=[('gaussiannb', GaussianNB(priors=[0.5, 0.5]))])"
    """
    # scikit-learn cuts long ones in the middle unless told otherwise
    whole = {"N_CHAR_MAX": 10**6} if hasattr(estimator, "get_params") else {}
    text = re.sub(r"\s+", " ", estimator.__repr__(**whole))
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)  # functions have another address every time
