"""Labels that a model has seen no rows of: where they rank among the labels that it knows."""

from __future__ import annotations

import numpy as np

from palmette._arrays import FloatArray, IntArray
from palmette.labels._space import LabelSpace


def with_unseen_leaves(space: LabelSpace) -> LabelSpace:
    """Return a space that also has the leaves of the hierarchy that no row has.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> with_unseen_leaves(LabelSpace(h, h.index(["cat", "oak"]))).n_classes
    3
    """
    leaves = np.asarray(space.hierarchy.leaves)
    wide = np.union1d(space.classes, leaves)
    return space if len(wide) == space.n_classes else LabelSpace(space.hierarchy, wide)


class UnseenLabels:
    """The labels that a model lacks, and probabilities of leaves that it lacks.

    The conformal guarantee holds for any scores that depend on the rows of the fit alone, as long
    as labels that can be in no set count as missed. Where the hierarchy has leaves without any row,
    all labels are ranked by a mixture: the probabilities of the model, and, with weight `share`,
    the mean over all ancestors of the probability of the ancestor divided by the number of labels
    below it. Otherwise new rows may have labels that are not in the hierarchy either, so that all
    unseen labels are missed. Unseen inner nodes always are.

    Parameters
    ----------
    space : LabelSpace
    known : int array of shape (n_known,)
        Nodes of the labels that the model has seen.
    share : float
        Estimated share of rows with an unseen label.
    is_closed : bool
        Whether the hierarchy has leaves without rows, so that it was not made from the rows.

    Attributes
    ----------
    missed : int array of shape (n_missed,)
        Classes of the space that count as missed.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> space = LabelSpace(h, h.leaves)
    >>> unseen = UnseenLabels(space, h.index(["cat", "oak"]), 0.1, is_closed=True)
    >>> unseen.ranked(np.array([[0.8, 0.0, 0.2]])).round(3).tolist()
    [[0.757, 0.037, 0.207]]
    """

    def __init__(
        self, space: LabelSpace, known: IntArray, share: float, *, is_closed: bool
    ) -> None:
        self._space, self._share, self._is_closed = space, share, is_closed
        unknown = np.flatnonzero(~np.isin(space.classes, known))
        is_leaf = np.isin(space.classes[unknown], space.hierarchy.leaves)
        self.missed = unknown[~is_leaf] if is_closed else unknown

    def ranked(self, proba: FloatArray) -> FloatArray:
        """Return probabilities in which unseen leaves have some: (n_samples, n_classes).

        Parameters
        ----------
        proba : array of shape (n_samples, n_classes)
        """
        if not self._is_closed:
            return proba
        space = self._space
        first, stop = space.class_range.T
        shares = space.sum_down(space.marginals(proba) / (stop - first)[:, None])
        depth = np.maximum(space.depth[space.class_place], 1)[:, None]
        above = shares[space.parent[space.class_place].clip(min=0)] / depth
        return np.asarray((1.0 - self._share) * proba + self._share * above.T)


def novelty(codes: IntArray) -> float:
    """Estimate the probability that the label of a new row is none of those of some rows.

    By Good and Turing: the share of labels that occur once.

    Parameters
    ----------
    codes : int array of shape (n_samples,)

    Examples
    --------
    >>> novelty(np.array([1, 1, 2, 3]))
    0.5
    """
    counts = np.unique(codes, return_counts=True)[1]
    return float((counts == 1).sum() / max(len(codes), 1))
