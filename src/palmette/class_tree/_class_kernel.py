"""Kernels of rows as MF-Tree needs them: their means over the classes, in blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, count_rows, row_chunks, take_rows
from palmette.base._grow import ClassProblem, IntArray
from palmette.base._parameters import is_number
from palmette.class_tree._similarity import ClassSimilarity
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import require

POWERS = {"means": 0.0, "roots": 0.5, "sums": 1.0}
_NAMES = ("additive_chi2", "chi2", "cosine", "laplacian", "poly", "polynomial", "rbf", "sigmoid")
_OF_PRODUCTS = ("poly", "polynomial", "sigmoid")  # these change with the origin of the rows
_PARAMETERS = ("gamma", "degree", "coef0")


def is_rows(kernel: Any) -> bool:
    """Return whether a kernel is of pairs of rows: neither "linear" nor a transformer."""
    return not (hasattr(kernel, "transform") or (isinstance(kernel, str) and kernel == "linear"))


def is_precomputed(kernel: Any) -> bool:
    """Return whether X is the kernel of all pairs of rows."""
    return isinstance(kernel, str) and kernel == "precomputed"


def check_kernel(kernel: Any, params: Any) -> None:
    """Raise an error for a kernel or parameters that cannot be used."""
    named = isinstance(kernel, str) and kernel in ("linear", "precomputed", *_NAMES)
    if not (named or callable(kernel) or hasattr(kernel, "transform")):
        raise PalmetteError(
            f"kernel={kernel!r}: expected 'linear', a transformer, 'precomputed', a function of "
            f"two blocks of rows, or one of {', '.join(_NAMES)}."
        )
    if not isinstance(params, dict | None):
        raise PalmetteError(f"kernel_params={params!r}: expected a dict, or None.")
    if not isinstance(kernel, str):
        return
    for name, value in (params or {}).items():
        if name not in _PARAMETERS:
            raise PalmetteError(
                f"kernel_params={params!r}: a kernel has no {name!r}: expected gamma, degree and "
                "coef0, as in sklearn.metrics.pairwise.pairwise_kernels."
            )
        if not (is_number(value) or (name == "gamma" and isinstance(value, str))):
            raise PalmetteError(f"kernel_params={params!r}: {name} is not a number.")
        if isinstance(value, str) and value != "scale":
            raise PalmetteError(f"kernel_params={params!r}: gamma is not a number or 'scale'.")


@dataclass(frozen=True, eq=False)
class RowKernel:
    """A kernel of pairs of rows.

    Parameters
    ----------
    kernel : str or callable
    params : dict of str to float
        Parameters of a named kernel.
    origin : array of shape (n_features,), optional
        It is subtracted from dense rows: their mean, for kernels that are functions of products.
    """

    kernel: Any
    params: dict[str, Any]
    origin: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, kernel: Any, params: Any, X: Any, weights: FloatArray | None) -> RowKernel:
        """Return a kernel with the parameters that are chosen by rows.

        Parameters
        ----------
        kernel, params : as in `MFTree`
        X : array or sparse matrix of shape (n_samples, n_features)
        weights : array of shape (n_samples,), optional
        """
        check_kernel(kernel, params)
        if callable(kernel) or is_precomputed(kernel):
            if not callable(kernel) and X.shape[0] != X.shape[1]:
                raise PalmetteError(
                    f"kernel='precomputed', but X has the shape {X.shape}: expected the kernel of "
                    "every two rows, a square matrix. Leave out rows of weight 0 before, together "
                    "with their columns."
                )
            return cls(kernel, {})
        params = dict(params or {})
        if kernel in ("rbf", *_OF_PRODUCTS) and params.get("gamma", "scale") == "scale":
            params["gamma"] = 1.0 / _variance(X, weights)
        centred = kernel in _OF_PRODUCTS and not sparse.issparse(X)
        return cls(kernel, params, np.average(X, axis=0, weights=weights) if centred else None)

    def check_arrays(self) -> None:
        """Check values that were read from a file; see `palmette.persistence.checks`."""
        known = isinstance(self.kernel, str) and self.kernel in ("precomputed", *_NAMES)
        require(known, "the kernel of a router is unknown")
        require(set(self.params) <= set(_PARAMETERS), "a kernel has an unknown parameter")
        require(all(map(is_number, self.params.values())), "a kernel's parameter is not a number")

    def between(self, rows: Any, marks: Any) -> FloatArray:
        """Return the kernel of every two rows, of shape (n_rows, n_marks)."""
        if callable(self.kernel):
            found = np.asarray(self.kernel(rows, marks), dtype=np.float64)
        elif self.kernel == "precomputed":
            found = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
        else:
            from sklearn.metrics.pairwise import pairwise_kernels

            found = pairwise_kernels(
                self._moved(rows), self._moved(marks), self.kernel, **self.params
            )
        if not callable(self.kernel) or found.shape == (count_rows(rows), count_rows(marks)):
            return np.asarray(found)
        raise PalmetteError(
            f"kernel={self.kernel!r} gave an array of shape {found.shape} for {count_rows(rows)} "
            f"and {count_rows(marks)} rows: expected a number for every two of them."
        )

    def _moved(self, rows: Any) -> Any:
        return rows if self.origin is None or sparse.issparse(rows) else rows - self.origin

    def means(self, X: Any, marks: Any, member: sparse.csr_array) -> FloatArray:
        """Return the mean kernel of every row and the marks of every class, by blocks of rows.

        Parameters
        ----------
        X : rows of shape (n_rows, n_features)
        marks : rows of shape (n_marks, n_features)
        member : sparse array of shape (n_marks, n_classes)
            Weights of the marks, of sum one per class.

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        found = np.empty((count_rows(X), member.shape[1]))
        for part in row_chunks(len(found), member.shape[0]):
            found[part] = self.between(take_rows(X, part), marks) @ member
        return found


def _variance(X: Any, weights: FloatArray | None) -> float:
    """Return the sum of the variances of all columns; 1 where that is zero."""
    mean: Any
    if sparse.issparse(X):
        shares = np.full(X.shape[0], 1.0) if weights is None else weights
        shares = shares / shares.sum()
        mean, total = shares @ X, float((shares @ X.power(2)).sum())
        total -= float(mean @ mean)
    else:
        mean = np.average(X, axis=0, weights=weights)
        squares = np.concatenate(
            [np.square(X[part] - mean).sum(axis=1) for part in row_chunks(X.shape[0], X.shape[1])]
        )
        total = float(np.average(squares, weights=weights))
    return total if total > 0 and np.isfinite(total) else 1.0


def members(codes: IntArray, n_classes: int, weights: FloatArray | None) -> sparse.csr_array:
    """Return the shares of rows in the weights of their classes, (n_samples, n_classes)."""
    weights = np.ones(len(codes)) if weights is None else weights
    shares = weights / np.bincount(codes, weights, n_classes)[codes]
    places = codes, np.arange(len(codes) + 1)
    return sparse.csr_array((shares, *places), shape=(len(codes), n_classes))


@dataclass(frozen=True, eq=False)
class ClassKernel:
    """What the tree and the router of MF-Tree know of the classes under a kernel.

    Parameters
    ----------
    weight, scale : arrays of shape (n_classes,)
        As of `ClassSimilarity`.
    means : array or CSR array of shape (n_classes, n_features), or None
        Of the linear kernel.
    rows : RowKernel or None
        Any other kernel.
    member : sparse array of shape (n_samples, n_classes), or None
        With `rows`: see `members`.
    products : array of shape (n_classes, n_classes), or None
        With `rows`: the mean kernel of the rows of every two classes.
    """

    weight: FloatArray
    scale: FloatArray
    means: Any = None
    rows: RowKernel | None = None
    member: Any = None
    products: Any = None

    @classmethod
    def of(cls, problem: ClassProblem, kernel: Any, params: Any, weights: str) -> ClassKernel:
        """Gather means of the classes, or products of these under a kernel of pairs of rows.

        Parameters
        ----------
        problem : ClassProblem
        kernel : "linear", str or callable
        params : dict or None
        weights : {"means", "roots", "sums"}
        """
        weight = np.asarray(problem.statistics.weight, dtype=np.float64)
        new = partial(cls, weight, weight ** POWERS[weights])
        if not is_rows(kernel):
            return new(means=problem.statistics.mean)
        rows = RowKernel.of(kernel, params, problem.X, problem.weights)
        member = members(problem.codes, problem.n_classes, problem.weights)
        products = np.asarray(member.T @ rows.means(problem.X, problem.X, member))
        return new(rows=rows, member=member, products=(products + products.T) / 2)

    def similarity(self, per_node: bool) -> ClassSimilarity:
        """Return the similarity matrices of groups of classes."""
        one = {"means": self.means} if self.rows is None else {"products": self.products}
        return ClassSimilarity(self.weight, self.scale, per_node, **one)
