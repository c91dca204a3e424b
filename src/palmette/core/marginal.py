"""A decision rule that sums how much the probabilities of a path exceed a threshold."""

from __future__ import annotations

import numpy as np

from palmette.core.decode import normalize_rows
from palmette.core.decoding import Decoding, FloatArray, IntArray, register_decoding
from palmette.core.space import LabelSpace
from palmette.exceptions import PalmetteError

__all__ = ["Marginal"]


class Marginal(Decoding):
    """Choose the path whose probabilities exceed a threshold the most in total.

    The excess of a node is its probability minus the threshold: probable nodes extend the path,
    improbable ones do not. Unlike with `Confident`, a very probable node can make up for a less
    probable one below it.

    Parameters
    ----------
    threshold : float, optional
        From 0 to 1. By default it is chosen by cross-validation while a classifier is fitted.
    temperature : float, optional
        Power to which the probabilities of the labels are raised first: above 1 for models that
        are underconfident. Chosen like the threshold by default.
    partial : bool
        Whether a path may end at any node, or only at labels seen in training.
    cv : int
        Number of folds of the cross-validation.

    Examples
    --------
    >>> from palmette.core.hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> rule = Marginal(threshold=0.5, temperature=1.0)
    >>> proba = np.array([[0.4, 0.45, 0.15], [0.1, 0.7, 0.2]])
    >>> h.path_strings[rule.choose(proba, LabelSpace(h, h.leaves))].tolist()
    ['animal', 'animal/dog']
    """

    def __init__(
        self,
        threshold: float | None = None,
        temperature: float | None = None,
        partial: bool = True,
        cv: int = 3,
    ) -> None:
        self.threshold = threshold
        self.temperature = temperature
        self.partial = partial
        self.cv = cv

    @property
    def is_open(self) -> bool:
        """Whether the threshold or the temperature is to be chosen by cross-validation."""
        return self.threshold is None or self.temperature is None

    def choose(self, proba: FloatArray, space: LabelSpace) -> IntArray:
        """Choose a node for every row; see `Decoding.choose`."""
        if self.threshold is None or self.temperature is None:
            raise PalmetteError(
                "Marginal() has no threshold or temperature: they are chosen when a classifier is "
                "fitted. Fit the classifier with it, or give both, such as Marginal(0.4, 1.5)."
            )
        if not 0 <= self.threshold <= 1 or not self.temperature > 0:
            raise PalmetteError(
                f"threshold={self.threshold!r}, temperature={self.temperature!r}: expected a "
                "threshold from 0 to 1 and a positive temperature."
            )
        marginals = space.marginals(normalize_rows(proba**self.temperature))
        excess = marginals - self.threshold
        excess[0] = 0.0
        sums = space.sum_down(excess)
        if not self.partial:
            return np.asarray(space.classes[sums[space.class_place].argmax(axis=0)], dtype=np.int32)
        if space.n_active > 1:
            sums[0] = -np.inf
        return np.asarray(space.nodes[sums.argmax(axis=0)], dtype=np.int32)


register_decoding("marginal", Marginal)
