"""Similarity matrices D = Y'KY of groups of classes, from class means instead of the rows.

With a linear kernel the entries of D are inner products of class sums. Centring needs no rows
either: with G the products of the class means of a node and n the classes' weights, of total N,
b = G n / N and m = n'b / N, the products of centred means are G - b 1' - 1 b' + m.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._kernels import kernel
from palmette.base._class_moments import dense
from palmette.base._grow import IntArray
from palmette.class_tree._eigenvectors import (
    EXTRA,
    fix_signs,
    leading_of_matrix,
    leading_of_rows,
    random_directions,
)
from palmette.persistence.checks import array, held

Floats = NDArray[np.float64]

_BLOCK = 512  # number of classes whose products are formed at once and kept for the subtree
_COMPILED = 1000  # number of classes from which on sparse rows are multiplied by a kernel
_NARROW = 1024  # number of features up to which the matrix of features is decomposed instead
# rounding errors of eigenvalues, relative to products of means, and to means far from zero
_NOTHING, _ROUNDING = 1e-13, 1e-14


class ClassSimilarity:
    """The matrix D of any group of classes, and its leading eigenvectors.

    Parameters
    ----------
    weight : array of shape (n_classes,)
    scale : array of shape (n_classes,)
        Factors of the rows and columns of D: 1 for products of means, `weight` for sums.
    per_node : bool
        Whether a group is centred at the mean of its own rows, or at the mean of all rows.
    means : array or CSR array of shape (n_classes, n_features), optional
    products : array of shape (n_classes, n_classes), optional
        Products of the means under any kernel, instead of `means`.

    Examples
    --------
    >>> ones = np.ones(3)
    >>> similarity = ClassSimilarity(ones, ones, True, means=np.array([[0.0], [1.0], [5.0]]))
    >>> similarity.matrix(np.array([0, 2])).tolist()
    [[6.25, -6.25], [-6.25, 6.25]]
    """

    in_files: ClassVar = {
        "weight": array("f", None),
        "scale": array("f", None),
        "per_node": held(bool),
        "means": held(object),
        "_centre": held(object),
        "run": held(object),
        "_start": held(object),
        "_far": array("f", "weight"),
        "_towards": array("f", "weight"),
        "_length": held(float),
        "_kept": array("i", None),
        "_kept_products": array("f", None, None),
    }

    def __init__(
        self,
        weight: Floats,
        scale: Floats,
        per_node: bool,
        *,
        means: Any = None,
        products: Floats | None = None,
    ) -> None:
        self.weight = weight
        self.scale = scale
        self.per_node = per_node
        self.means = means
        self._centre: Any = None
        self.run: Any = None  # threads for one group, where groups do not keep them busy
        self._start: Any = None  # directions from which all large groups start
        self._far = np.zeros(len(weight))  # squares that may be rounding errors of the means
        everything = weight / weight.sum()
        if products is not None:
            self._towards: Floats = products @ everything
        elif sparse.issparse(means):
            self._centre = everything @ means
            self._towards = means @ self._centre
        else:
            # products of means far from the origin would lose the digits in which these differ
            self._far = _ROUNDING**2 * np.einsum("ij,ij->i", means, means)
            self.means = means - everything @ means
            self._centre = np.zeros(means.shape[1])
            self._towards = np.zeros(len(weight))
        self._length = float(everything @ self._towards)
        # the products of one group are kept: those of all classes if they are given
        self._kept: IntArray = np.arange(len(weight) if means is None else 0, dtype=np.int32)
        self._kept_products = np.zeros((0, 0)) if products is None else products

    def fork(self) -> tuple[ClassSimilarity, int]:
        """Return a copy for another thread, and the size of groups up to which it is needed.

        Products of such groups are kept. The copy shares all else with this object.
        """
        return copy(self), _BLOCK

    # ------------------------------------------------------------------ eigenvectors

    def leading(self, classes: IntArray, n_vectors: int) -> tuple[Floats, Floats]:
        """Return the leading eigenvalues of D, descending, and their eigenvectors.

        Parameters
        ----------
        classes : int array of shape (n_here,), ascending
        n_vectors : int
            The result has fewer where there are fewer classes or features.

        Returns
        -------
        values : array of shape (n_vectors,)
            Zero where a value may be a rounding error.
        vectors : array of shape (n_here, n_vectors)
            The entry of largest magnitude of each is positive.
        """
        n_vectors = min(n_vectors, len(classes))
        if self.means is not None and len(classes) > _BLOCK:
            return self._leading_of_many(classes, n_vectors)
        products = self._products(classes)
        values, vectors = leading_of_matrix(self._centred(products, classes), n_vectors)
        rounding = _NOTHING * products.diagonal() + self._far[classes]
        nothing = self.scale[classes] ** 2 @ rounding
        return np.where(values > nothing, values, 0.0), vectors

    def _leading_of_many(self, classes: IntArray, n_vectors: int) -> tuple[Floats, Floats]:
        rows, scale = self._rows(classes), self.scale[classes]
        centre = self._share(classes) @ rows if self.per_node else self._centre
        if sparse.issparse(rows):
            # an accuracy of one percent is enough, and single precision halves the memory
            thin = (rows.data.astype(np.float32), rows.indices, rows.indptr)
            rows = sparse.csr_array(thin, shape=rows.shape)
            size = float(np.dot(rows.data, rows.data))
        else:
            size = float(np.vdot(rows, rows))
        nothing = scale.max() ** 2 * (_NOTHING * size + self._far[classes].sum())
        if not sparse.issparse(rows) and rows.shape[1] <= _NARROW:
            scaled = scale[:, None] * (rows - centre)
            values, axes = leading_of_matrix(scaled.T @ scaled, min(n_vectors, rows.shape[1]))
            vectors = fix_signs(scaled @ axes / np.sqrt(np.maximum(values, nothing + 1e-300)))
        else:
            start = self._start
            if start is None or start.shape[1] != n_vectors + EXTRA:
                start = self._start = random_directions(rows.shape[1], n_vectors)
            values, vectors = leading_of_rows(rows, centre, scale, n_vectors, start, self.run)
        return np.where(values > nothing, values, 0.0), vectors

    # ------------------------------------------------------------------ D itself

    def matrix(self, classes: IntArray) -> Floats:
        """Return D of a group of classes, centred and scaled, of shape (n_here, n_here)."""
        return self._centred(self._products(classes), classes)

    def of_sums(self) -> Floats:
        """Return D of all classes as published: sums of rows, centred at the mean of all rows."""
        products = self._kept_products if self.means is None else dense(self.means @ self.means.T)
        centred = products - self._towards[:, None] - self._towards + self._length
        return self.weight[:, None] * centred * self.weight

    def times(self, classes: IntArray) -> Callable[[Floats], Floats]:
        """Return a function that multiplies D of a group by a vector, without D if it is large."""
        if self.means is None or len(classes) <= _BLOCK:
            matrix = self.matrix(classes)
            return lambda vector: matrix @ vector
        rows, scale = self._rows(classes), self.scale[classes]
        centre = self._share(classes) @ rows if self.per_node else self._centre

        def product(vector: Floats) -> Floats:
            scaled = scale * vector
            direction = scaled @ rows - scaled.sum() * centre
            return np.asarray(scale * (rows @ direction - centre @ direction))

        return product

    def distances(self, classes: IntArray, others: IntArray) -> Floats:
        """Return squared distances between means, up to one term per row; (n_here, n_others)."""
        if self.means is None:
            towards = self._kept_products[classes[:, None], others]
            size = self._kept_products.diagonal()[others]
        else:
            rows = self.means[others]
            towards = dense(self._rows(classes) @ rows.T)
            size = dense(rows @ rows.T).diagonal()
        return size - 2 * towards

    def _centred(self, products: Floats, classes: IntArray) -> Floats:
        if self.per_node:
            share = self._share(classes)
            towards = products @ share
            length = float(share @ towards)
        else:
            towards, length = self._towards[classes], self._length
        centred = products - towards[:, None] - towards + length
        scale = self.scale[classes]
        return scale[:, None] * centred * scale

    def _products(self, classes: IntArray) -> Floats:
        """Return inner products of means, from those of an ancestor where these are kept."""
        place = np.searchsorted(self._kept, classes)
        place = np.minimum(place, len(self._kept) - 1)
        if not len(self._kept) or not np.array_equal(self._kept[place], classes):
            self._kept, place = classes, np.arange(len(classes), dtype=np.intp)
            rows = self._rows(classes)
            if self.per_node and not sparse.issparse(rows):
                rows = rows - self._share(classes) @ rows
            if sparse.issparse(rows) and len(self.weight) >= _COMPILED:
                columns = rows.tocsc()
                self._kept_products = np.zeros((len(classes), len(classes)))
                _multiply(columns.indptr, columns.indices, columns.data, self._kept_products)
            else:
                self._kept_products = dense(rows @ rows.T)
        return self._kept_products[place[:, None], place]

    def _rows(self, classes: IntArray) -> Any:
        return self.means if len(classes) == len(self.weight) else self.means[classes]

    def _share(self, classes: IntArray) -> Floats:
        weight = self.weight[classes]
        return np.asarray(weight / weight.sum())


@kernel
def _multiply(
    starts: NDArray[Any], rows: NDArray[Any], values: NDArray[Any], products: Floats
) -> None:
    """Multiply every two of n sparse rows; every sum has the order of the features.

    Parameters
    ----------
    starts, rows, values : arrays, IN
        Entries of the rows, by feature.
    products : array of zeros of shape (n, n), OUT
    """
    for feature in range(len(starts) - 1):
        first = starts[feature]
        for p in range(first, starts[feature + 1]):
            row, value = rows[p], values[p]
            for q in range(first, p + 1):
                products[row, rows[q]] += value * values[q]
    for i in range(len(products)):
        for j in range(i):
            products[j, i] = products[i, j]
