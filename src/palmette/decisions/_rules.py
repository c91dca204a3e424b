"""Decision rules for one path per row: objects that turn probabilities into nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from palmette._arrays import FloatArray, IntArray
from palmette.decisions._decode import Route, beam_search, best_path, normalize_rows, top_down
from palmette.decisions._losses import EXPECTED_LOSSES, expected_by_matrix
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace


class Decoding(BaseEstimator, ABC):  # type: ignore[misc]
    """A rule that chooses a node for every row from the probabilities of the classes."""

    @abstractmethod
    def choose(self, proba: FloatArray, space: LabelSpace) -> IntArray:
        """Choose a node for every row.

        Parameters
        ----------
        proba : array of shape (n_samples, n_classes)
        space : LabelSpace

        Returns
        -------
        int array of shape (n_samples,)
            Node numbers of the hierarchy.
        """


class RoutedDecoding(BaseEstimator, ABC):  # type: ignore[misc]
    """A rule that evaluates only the families on its paths, so that its cost follows the depth."""

    @abstractmethod
    def follow(self, route: Route, n_samples: int, space: LabelSpace) -> IntArray:
        """Choose a node for every row, of shape (n_samples,), by calling `route`."""

    @abstractmethod
    def numbers_per_row(self, space: LabelSpace) -> int:
        """Return how many numbers `follow` needs in memory per row, so that it can be bounded."""


class BestPath(Decoding, RoutedDecoding):
    """Choose the most probable label: always one of the labels seen in training.

    If a route is cheaper than the probabilities of all labels, it is searched, with the same
    result.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> proba = np.array([[0.3, 0.3, 0.4]])
    >>> h.path_strings[BestPath().choose(proba, LabelSpace(h, h.leaves))].tolist()
    ['plant/oak']
    """

    def choose(self, proba: FloatArray, space: LabelSpace) -> IntArray:
        """Choose a node for every row; see `Decoding.choose`."""
        return np.asarray(space.classes[proba.argmax(axis=1)], dtype=np.int32)

    def follow(self, route: Route, n_samples: int, space: LabelSpace) -> IntArray:
        """Choose a node for every row; see `RoutedDecoding.follow`."""
        classes, _ = best_path(space, route, n_samples)
        return space.classes[classes]

    def numbers_per_row(self, space: LabelSpace) -> int:
        """Return the numbers of one path; see `RoutedDecoding.numbers_per_row`."""
        return len(space.levels) * space.largest_family


class Confident(Decoding):
    """Choose the deepest node that is probable enough; it may be an internal node.

    Parameters
    ----------
    threshold : float
        Minimum probability of a prediction. Among the nodes that reach it, the deepest is chosen;
        ties go to the most probable. If no node below the root reaches it, the root is chosen.
    min_depth : int
        Minimum depth of a prediction. An internal node above this depth is replaced by the most
        probable among the nodes at this depth and the leaves above it.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> proba = np.array([[0.3, 0.6, 0.1]])
    >>> h.path_strings[Confident(0.8).choose(proba, LabelSpace(h, h.leaves))].tolist()
    ['animal']
    """

    def __init__(self, threshold: float = 0.5, min_depth: int = 0) -> None:
        self.threshold = threshold
        self.min_depth = min_depth

    def choose(self, proba: FloatArray, space: LabelSpace) -> IntArray:
        """Choose a node for every row; see `Decoding.choose`."""
        if not isinstance(self.threshold, Real) or not 0 <= self.threshold <= 1:
            raise PalmetteError(f"threshold={self.threshold!r}: expected a number from 0 to 1.")
        if not isinstance(self.min_depth, Integral):
            raise PalmetteError(f"min_depth={self.min_depth!r}: expected an integer, 0 or more.")
        marginals = space.sum_up(proba)
        # relative to the root, whose probability may round to just below 1
        marginals /= np.where(marginals[0] > 0, marginals[0], 1.0)
        # deeper nodes always win; at equal depth the more probable
        value = space.depth[:, None] + 0.5 * marginals
        value[marginals < self.threshold] = -1.0
        value[0] = np.maximum(value[0], 0.0)  # the root is always allowed
        places = value.argmax(axis=0)
        return np.asarray(space.nodes[self._deepen(places, marginals, space)], dtype=np.int32)

    def _deepen(
        self, places: NDArray[np.intp], marginals: FloatArray, space: LabelSpace
    ) -> NDArray[np.intp]:
        shallow = np.flatnonzero(
            (space.depth[places] < self.min_depth) & space.has_children[places]
        )
        if shallow.size:
            front = (space.depth == self.min_depth) | (
                (space.depth < self.min_depth) & ~space.has_children
            )
            options = np.flatnonzero(front)
            places[shallow] = options[marginals[np.ix_(options, shallow)].argmax(axis=0)]
        return places


class MinExpectedLoss(Decoding):
    """Choose the node with the smallest expected loss: the Bayes decision.

    Parameters
    ----------
    loss : str or callable
        ``"tree_induced_error"``, ``"hierarchical_f1"`` (1 minus the score), ``"hmc_loss"`` (with a
        ratio of 1: missed and wrong nodes have equal weight), ``"h_loss"``, ``"zero_one"``; or a
        function of (hierarchy, answers, classes), the latter two being node numbers, that returns
        losses of shape (n_answers, n_classes).
    candidates : {"nodes", "classes", "all"}
        Nodes to choose from: all but the root, only the labels seen in training, or all.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> proba = np.array([[0.3, 0.3, 0.4]])
    >>> h.path_strings[MinExpectedLoss().choose(proba, LabelSpace(h, h.leaves))].tolist()
    ['animal']
    """

    def __init__(
        self,
        loss: str | Callable[[Hierarchy, IntArray, IntArray], Any] = "tree_induced_error",
        candidates: str = "nodes",
    ) -> None:
        self.loss = loss
        self.candidates = candidates

    def choose(self, proba: FloatArray, space: LabelSpace) -> IntArray:
        """Choose a node for every row; see `Decoding.choose`."""
        losses = self._expected(proba, space)
        losses[~self._allowed(space)] = np.inf
        return np.asarray(space.nodes[losses.argmin(axis=0)], dtype=np.int32)

    def _expected(self, proba: FloatArray, space: LabelSpace) -> FloatArray:
        if callable(self.loss):
            matrix = np.asarray(self.loss(space.hierarchy, space.nodes, space.classes), dtype=float)
            expected = (space.n_active, space.n_classes)
            if matrix.shape != expected:
                raise PalmetteError(
                    f"loss returned an array of shape {matrix.shape}: expected {expected}, the "
                    "losses of each answer (rows) under each class (columns)."
                )
            return expected_by_matrix(matrix, proba)
        if not isinstance(self.loss, str) or self.loss not in EXPECTED_LOSSES:
            raise PalmetteError(
                f"loss={self.loss!r} is unknown: expected one of {sorted(EXPECTED_LOSSES)}, or a "
                "function."
            )
        return EXPECTED_LOSSES[self.loss](space, proba)

    def _allowed(self, space: LabelSpace) -> NDArray[np.bool_]:
        if self.candidates == "classes":
            return space.is_class
        if self.candidates not in ("nodes", "all"):
            raise PalmetteError(
                f"candidates={self.candidates!r} is unknown: expected 'nodes', 'classes' or 'all'."
            )
        allowed = np.ones(space.n_active, dtype=bool)
        allowed[0] = self.candidates == "all" or space.n_active == 1
        return allowed


class Beam(RoutedDecoding):
    """Follow the best few paths from the root and choose the most probable one.

    Parameters
    ----------
    width : int
        Number of paths kept. A beam as wide as the number of classes equals `BestPath`.

    Examples
    --------
    >>> from palmette.decisions._decode import RouteByMarginals
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> space = LabelSpace(h, h.leaves)
    >>> route = RouteByMarginals(space, np.array([[0.3, 0.3, 0.4]]))
    >>> h.path_strings[Beam(width=2).follow(route, 1, space)].tolist()
    ['plant/oak']
    """

    def __init__(self, width: int = 5) -> None:
        self.width = width

    def follow(self, route: Route, n_samples: int, space: LabelSpace) -> IntArray:
        """Choose a node for every row; see `RoutedDecoding.follow`."""
        if not isinstance(self.width, Integral) or self.width < 1:
            raise PalmetteError(f"width={self.width!r}: expected a positive integer.")
        classes, _ = beam_search(space, route, n_samples, min(self.width, space.n_classes))
        return space.classes[classes[:, 0]]

    def numbers_per_row(self, space: LabelSpace) -> int:
        """Return the numbers of all kept paths; see `RoutedDecoding.numbers_per_row`."""
        return 4 * min(self.width, space.n_classes) * space.largest_family


class TopDown(RoutedDecoding):
    """Choose the most probable option at every step from the root: fast and greedy.

    Examples
    --------
    >>> from palmette.decisions._decode import RouteByMarginals
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> space = LabelSpace(h, h.leaves)
    >>> route = RouteByMarginals(space, np.array([[0.3, 0.3, 0.4]]))
    >>> h.path_strings[TopDown().follow(route, 1, space)].tolist()
    ['animal/cat']
    """

    def follow(self, route: Route, n_samples: int, space: LabelSpace) -> IntArray:
        """Choose a node for every row; see `RoutedDecoding.follow`."""
        classes, _, _ = top_down(space, route, n_samples)
        return space.classes[classes]

    def numbers_per_row(self, space: LabelSpace) -> int:
        """Return the numbers of one family; see `RoutedDecoding.numbers_per_row`."""
        return 2 * space.largest_family


_BY_NAME: dict[str, Callable[[], Decoding | RoutedDecoding]] = {
    "best_path": BestPath,
    "top_down": TopDown,
    "beam": Beam,
    "confident": Confident,
    "min_expected_loss": MinExpectedLoss,
}


def register_decoding(name: str, rule: Callable[[], Decoding | RoutedDecoding]) -> None:
    """Register a rule under a name."""
    _BY_NAME[name] = rule


def resolve_decoding(
    decoding: str | Decoding | RoutedDecoding, also: Iterable[str] = ()
) -> Decoding | RoutedDecoding:
    """Return a decision rule given by name or as an object; the error lists other names `also`."""
    if isinstance(decoding, Decoding | RoutedDecoding):
        return decoding
    if isinstance(decoding, str) and decoding in _BY_NAME:
        return _BY_NAME[decoding]()
    known = sorted({*_BY_NAME, *also})
    raise PalmetteError(
        f"decoding={decoding!r} is unknown: expected one of {known}, or an object of "
        "palmette.decoding."
    )


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
    >>> from palmette.hierarchy._hierarchy import Hierarchy
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
