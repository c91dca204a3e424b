"""ClassStatistics: weight, sum and scatter per class, for merging and summing up the tree."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from palmette._arrays import COUNT, OFFSET, CountArray, OffsetArray
from palmette.base._class_moments import (
    Matrix,
    Moments,
    Rows,
    Run,
    add,
    combine_scatter,
    dense,
    inverse,
    moments_by_class,
    read_only,
    scale_rows,
    squares,
)
from palmette.base._lazy import gathered, is_lazy, lazy_rows
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy

__all__ = ["ClassStatistics", "Moments"]


@dataclass(frozen=True, eq=False, repr=False)
class ClassStatistics:
    """First and second moments of the rows of every class.

    Compute them with `gather`, or with `gather_chunks` from parts. ``a + b`` are the statistics of
    the rows of both, so that one array, its chunks, and the machines of a cluster give the same
    numbers. A row of weight k counts as k copies. The arrays are read-only.

    Parameters
    ----------
    weight : float array of shape (n_classes,)
        Sum of the sample weights, or number of rows without sample weights.
    sum : float array or CSR array of shape (n_classes, n_features)
        Weighted sum of the rows; sparse if X was.
    moments : {"mean", "diagonal", "scatter", "pooled"}
        Content of `scatter`.
    scatter : array or None
        Weighted sum of products of deviations from the mean of the class: None for "mean"; only
        the squares, of shape (n_classes, n_features), sparse if X was, for "diagonal"; all, of
        shape (n_classes, n_features, n_features), for "scatter"; and the sum of these over the
        classes, of shape (n_features, n_features), for "pooled".

    Notes
    -----
    Deviations from the mean of the class are computed in a second pass, and merged by the rule of
    Chan, Golub and LeVeque (1983), so that, unlike with sums of squares, no precision is lost for
    data far from the origin. Besides the result, `gather` needs one copy of `sum` and about 100 MB.

    Examples
    --------
    >>> stats = ClassStatistics.gather([[1.0, 2.0], [3.0, 2.0], [5.0, 5.0]], [0, 0, 2], 3)
    >>> stats.weight.tolist(), stats.mean.tolist()
    ([2.0, 0.0, 1.0], [[2.0, 2.0], [0.0, 0.0], [5.0, 5.0]])
    >>> (stats + stats).weight.tolist()
    [4.0, 0.0, 2.0]
    """

    weight: CountArray
    sum: Matrix
    moments: Moments = "mean"
    scatter: Matrix | None = None

    def __post_init__(self) -> None:
        _check_moments(self.moments)
        weight = np.asarray(self.weight, dtype=COUNT)
        object.__setattr__(self, "weight", read_only(weight))
        object.__setattr__(self, "sum", read_only(self.sum))
        n_classes, n_features = self.sum.shape
        expected = {
            "mean": None,
            "diagonal": (n_classes, n_features),
            "scatter": (n_classes, n_features, n_features),
            "pooled": (n_features, n_features),
        }[self.moments]
        shape = None if self.scatter is None else self.scatter.shape
        if weight.shape != (n_classes,) or shape != expected:
            raise PalmetteError(
                f"got a weight of shape {weight.shape}, a sum of shape {self.sum.shape} and a "
                f"scatter of shape {shape}: for moments={self.moments!r} and this sum, expected "
                f"{(n_classes,)} and {expected}."
            )
        if self.scatter is not None:
            object.__setattr__(self, "scatter", read_only(self.scatter))

    # ------------------------------------------------------------------ computing

    @classmethod
    def gather(
        cls,
        X: Any,
        codes: ArrayLike,
        n_classes: int,
        sample_weight: ArrayLike | None = None,
        moments: Moments = "mean",
        client: Any = None,
        run: Run | None = None,
    ) -> ClassStatistics:
        """Compute the statistics of rows and their classes.

        Parameters
        ----------
        X : array, sparse matrix, or Dask array or DataFrame of shape (n_samples, n_features)
            NaN makes the statistics of this class and feature NaN. The parts of a Dask collection
            are added where they are, in their order: only statistics travel.
        codes : int array of shape (n_samples,)
            Class of each row, from 0 to ``n_classes - 1``; often the number of a node.
        n_classes : int
        sample_weight : float array of shape (n_samples,), optional
        moments : {"mean", "diagonal", "scatter", "pooled"}
            The second moments to compute. The statistics have n_classes * n_features numbers for
            "mean" and "diagonal", times n_features for "scatter".
        client : distributed.Client or str, optional
            Cluster that computes the parts of a Dask collection; by default that of Dask, or
            threads of this process.
        run : callable, optional
            Applies a function to items and returns the results in order, such as in threads, which
            then share the work on sparse rows.

        Returns
        -------
        ClassStatistics
        """
        _check_moments(moments)
        if is_lazy(X):
            return _gather_lazy(X, codes, n_classes, sample_weight, moments, client)
        rows, codes, weights = _check_rows(X, codes, n_classes, sample_weight)
        return cls(*moments_by_class(rows, codes, weights, n_classes, moments, run))

    @classmethod
    def gather_chunks(
        cls, chunks: Iterable[tuple[Any, ...]], n_classes: int, moments: Moments = "mean"
    ) -> ClassStatistics:
        """Compute the statistics of rows given in chunks, each read once.

        Parameters
        ----------
        chunks : iterable of (X, codes) or (X, codes, sample_weight)
        n_classes : int
        moments : {"mean", "diagonal", "scatter", "pooled"}

        Returns
        -------
        ClassStatistics

        Examples
        --------
        >>> parts = [([[1.0]], [0]), ([[3.0]], [0])]
        >>> ClassStatistics.gather_chunks(parts, 1, moments="diagonal").scatter.tolist()
        [[2.0]]
        """
        total: ClassStatistics | None = None
        for X, codes, *weight in chunks:
            part = cls.gather(X, codes, n_classes, weight[0] if weight else None, moments)
            total = part if total is None else total + part
        if total is None:
            raise PalmetteError("got no chunks: expected at least one.")
        return total

    # ------------------------------------------------------------------ derived

    @property
    def n_classes(self) -> int:
        """Number of classes, including those without rows."""
        return int(self.sum.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.sum.shape[1])

    @property
    def mean(self) -> Matrix:
        """Mean of every class, of shape (n_classes, n_features); zero for a class without rows."""
        return scale_rows(self.sum, inverse(self.weight))

    @property
    def covariance(self) -> Matrix:
        """Scatter divided by weight (not weight - 1), in the shape of `scatter`."""
        if self.scatter is None:
            raise PalmetteError(
                "moments='mean' has no scatter. Use moments='diagonal', 'scatter' or 'pooled'."
            )
        if self.moments == "pooled":
            return self.scatter * inverse(self.weight.sum(keepdims=True))
        return scale_rows(self.scatter, inverse(self.weight))

    def gram(
        self, classes: ArrayLike | None = None, of: Literal["mean", "sum"] = "mean"
    ) -> CountArray:
        """Return inner products of the means or sums of classes: a linear kernel without rows.

        Parameters
        ----------
        classes : int array of shape (k,), optional
            Classes to use; all by default, which needs n_classes**2 numbers.
        of : {"mean", "sum"}

        Returns
        -------
        float array of shape (k, k)

        Examples
        --------
        >>> ClassStatistics.gather([[1.0, 0.0], [3.0, 1.0]], [0, 1], 2).gram().tolist()
        [[1.0, 3.0], [3.0, 10.0]]
        """
        if of not in ("mean", "sum"):
            raise PalmetteError(f"got of={of!r}: expected 'mean' or 'sum'.")
        rows = self.mean if of == "mean" else self.sum
        if classes is not None:
            rows = rows[np.asarray(classes)]
        return dense(rows @ rows.T)

    def __repr__(self) -> str:
        return (
            f"ClassStatistics(n_classes={self.n_classes}, n_features={self.n_features}, "
            f"weight={self.weight.sum():g}, moments={self.moments!r})"
        )

    # ------------------------------------------------------------------ merging

    def __add__(self, other: ClassStatistics) -> ClassStatistics:
        if not isinstance(other, ClassStatistics):
            return NotImplemented
        mine = (self.n_classes, self.n_features, self.moments)
        if mine != (theirs := (other.n_classes, other.n_features, other.moments)):
            raise PalmetteError(
                f"cannot add statistics of {theirs} to {mine}: expected equal numbers of classes "
                "and features and equal moments."
            )
        weight = self.weight + other.weight
        total = add(self.sum, other.sum)
        if self.scatter is None or other.scatter is None:
            return ClassStatistics(weight, total)
        # Chan's rule: add w_a w_b / (w_a + w_b) times the squared shift of the mean to each class
        shift = add(self.mean, -other.mean)
        gain = squares(shift, self.weight * other.weight * inverse(weight), self.moments)
        scatter = add(add(self.scatter, other.scatter), gain)
        return ClassStatistics(weight, total, self.moments, scatter)

    def select(self, classes: ArrayLike) -> ClassStatistics:
        """Return the statistics of some classes, in the order given."""
        if self.moments == "pooled":
            raise PalmetteError(
                "a pooled scatter cannot be separated into classes. Use moments='scatter', then "
                "select() and reduce('pooled')."
            )
        chosen = np.asarray(classes)
        scatter = None if self.scatter is None else self.scatter[chosen]
        return ClassStatistics(self.weight[chosen], self.sum[chosen], self.moments, scatter)

    def reduce(self, moments: Moments) -> ClassStatistics:
        """Return fewer moments: "scatter" includes all others, and all include "mean"."""
        _check_moments(moments)
        if moments == self.moments:
            return self
        if moments == "mean":
            return ClassStatistics(self.weight, self.sum)
        if self.moments != "scatter":
            raise PalmetteError(
                f"moments={self.moments!r} does not include {moments!r}. Use moments='scatter'."
            )
        full = cast(CountArray, self.scatter)
        scatter = full.sum(axis=0) if moments == "pooled" else np.einsum("cii->ci", full)
        return ClassStatistics(self.weight, self.sum, moments, scatter)

    def combine(self, groups: Any) -> ClassStatistics:
        """Return the statistics of groups of classes, as if computed from all of their rows.

        Parameters
        ----------
        groups : array or sparse matrix of shape (n_groups, n_classes)
            Nonzero where a class belongs to a group. Groups may overlap; with a pooled scatter,
            every class must be in exactly one group.

        Returns
        -------
        ClassStatistics
            With n_groups classes.

        Examples
        --------
        >>> stats = ClassStatistics.gather([[1.0], [3.0], [8.0]], [0, 1, 2], 3, moments="diagonal")
        >>> stats.combine([[1, 1, 0], [1, 1, 1]]).scatter.tolist()
        [[2.0], [26.0]]
        """
        member = sparse.csr_array(groups if sparse.issparse(groups) else np.asarray(groups))
        if member.ndim != 2 or member.shape[1] != self.n_classes:
            raise PalmetteError(
                f"got groups of shape {member.shape}: expected (n_groups, {self.n_classes})."
            )
        member = sparse.csr_array((member != 0).astype(COUNT))
        weight, total = member @ self.weight, member @ self.sum
        if self.scatter is None:
            return ClassStatistics(weight, total)
        scatter = combine_scatter(self.scatter, self.mean, self.weight, member, self.moments)
        return ClassStatistics(weight, total, self.moments, scatter)

    def total(self) -> ClassStatistics:
        """Return the statistics of all rows as one class."""
        return self.combine(np.ones((1, self.n_classes)))

    def rollup(self, hierarchy: Hierarchy, nodes: ArrayLike | None = None) -> ClassStatistics:
        """Sum the classes up the hierarchy: every node gets the rows of all its descendants.

        A class that is below a node of a DAG by several paths counts once.

        Parameters
        ----------
        hierarchy : Hierarchy
        nodes : int array of shape (n_classes,), optional
            Node of each class, such as ``hierarchy.leaves``; by default classes are nodes.

        Returns
        -------
        ClassStatistics
            With n_nodes classes.

        Examples
        --------
        >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant",)])
        >>> leaves = ClassStatistics.gather([[1.0], [3.0], [8.0]], [0, 1, 2], 3)
        >>> leaves.rollup(h, h.leaves).sum.ravel().tolist()
        [12.0, 4.0, 1.0, 3.0, 8.0]
        """
        closure = hierarchy.closure
        if nodes is not None:
            closure = closure[np.asarray(nodes)]
        if closure.shape[0] != self.n_classes:
            raise PalmetteError(
                f"got {self.n_classes} classes and {closure.shape[0]} nodes of a hierarchy with "
                f"{hierarchy.n_nodes}: expected one node per class. Pass nodes=, such as "
                "hierarchy.leaves if the classes are its leaves."
            )
        return self.combine(closure.T)


def _gather_lazy(
    X: Any, codes: Any, n_classes: int, weights: Any, moments: Moments, client: Any
) -> ClassStatistics:
    """Compute the statistics of the parts of a Dask collection, and add them one after another."""
    import dask

    rows = lazy_rows(X, client)
    given = [codes] if weights is None else [codes, weights]
    known = [np.asarray(each) for each in gathered(given, client)]
    for each in known:
        if each.shape != (rows.shape[0],):
            raise PalmetteError(
                f"got codes or weights of shape {each.shape}: expected one number for each of the "
                f"{rows.shape[0]} rows of X."
            )
    gather, plus = dask.delayed(ClassStatistics.gather), dask.delayed(operator.add)
    ends, total = np.cumsum(rows.chunks[0]), None
    for part, start, end in zip(rows.to_delayed()[:, 0], [0, *ends[:-1]], ends, strict=True):
        own: list[Any] = [None, None]
        own[: len(known)] = (each[start:end] for each in known)
        found = gather(part, own[0], n_classes, own[1], moments)
        total = found if total is None else plus(total, found)
    return cast(ClassStatistics, gathered(total, client))


# ---------------------------------------------------------------------- checks


def _check_moments(moments: str) -> None:
    if moments not in get_args(Moments):
        raise PalmetteError(
            f"got moments={moments!r}: expected one of {', '.join(map(repr, get_args(Moments)))}."
        )


def _check_rows(
    X: Any, codes: ArrayLike, n_classes: int, sample_weight: ArrayLike | None
) -> tuple[Rows, OffsetArray, CountArray]:
    rows: Rows = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if rows.ndim != 2:
        raise PalmetteError(f"got X of shape {rows.shape}: expected (n_samples, n_features).")
    if isinstance(rows, sparse.csr_array) and not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    n_samples = rows.shape[0]
    given = np.asarray(codes)
    if given.shape != (n_samples,) or (given.size and given.dtype.kind not in "iu"):
        raise LabelError(
            f"got codes of shape {given.shape} and type {given.dtype}: expected one integer per "
            f"row ({n_samples})."
        )
    if given.size and not (given.min() >= 0 and given.max() < n_classes):
        raise LabelError(
            f"got codes from {given.min()} to {given.max()}: expected 0 to {n_classes - 1}, since "
            f"n_classes={n_classes}."
        )
    weights = np.ones(n_samples) if sample_weight is None else np.asarray(sample_weight, COUNT)
    if weights.shape != (n_samples,):
        raise PalmetteError(
            f"got sample_weight of shape {weights.shape}: expected one weight per row "
            f"({n_samples})."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise PalmetteError("sample_weight has negative, infinite or NaN values.")
    return rows, given.astype(OFFSET, copy=False), weights
