"""A full classification tree for every column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.engine.carts import Carts
from palmette.engine.weak.answers import AnswerPerClass
from palmette.engine.weak.base import Floats, TrainingRows, count_features
from palmette.exceptions import PalmetteError

__all__ = ["CartPerClass"]

_NO_LIMIT = 2**30
_MOST_DRAWS = 10  # times the rows: large weights are no reason to draw for minutes

Tree = tuple[NDArray[Any], ...]


class CartPerClass(AnswerPerClass):
    """A classification tree for every label, grown until its leaves are pure.

    Such a tree makes no mistake on the rows that it has seen, and there would be nothing to boost:
    so it sees rows that are drawn by their weights, and few features at every split.

    Parameters
    ----------
    max_depth : int, optional
    max_features : int, float, "sqrt" or None
        Features that compete at a split, of those that vary there; None for all.
    resample : bool or float
        Whether rows are drawn by their weights, with replacement, as many as there are or the
        share given; else the tree sees all of them and their weights.

    Examples
    --------
    >>> CartPerClass(resample=0.5)
    CartPerClass(resample=0.5)
    """

    def __init__(
        self,
        max_depth: int | None = None,
        *,
        max_features: int | float | str | None = "sqrt",
        resample: bool | float = True,
    ) -> None:
        self.max_depth = max_depth
        self.max_features = max_features
        self.resample = resample

    def check(self) -> None:
        """Refuse parameters that cannot be."""
        super().check()
        if self.max_depth is not None and self.max_depth < 1:
            raise PalmetteError(f"max_depth={self.max_depth!r}: expected a positive integer, None.")
        if not isinstance(self.resample, bool | np.bool_) and not 0 < self.resample <= 1:
            raise PalmetteError(
                f"resample={self.resample!r}: expected True, False or a share above 0 and up to 1."
            )
        count_features(self.max_features, 1)

    def _fit_one(
        self, rows: TrainingRows, column: Floats, used: NDArray[np.bool_] | None, seed: int
    ) -> Tree:
        from palmette._kernels.binary_cart import draw_rows, grow_cart, weigh_rows

        order = rows.by_content if used is None else rows.by_content[used[rows.by_content]]
        signed = np.ascontiguousarray(column, dtype=np.float64)
        state = np.array([seed], dtype=np.uint64)
        if self.resample:
            n_draws = self.n_draws(rows.weights[order])
            seen, weights, positive = draw_rows(signed, order, n_draws, state)
        else:
            seen, weights, positive = weigh_rows(signed, order)
        return grow_cart(  # type: ignore[no-any-return]
            rows.by_feature, seen, weights, positive, *self.growth(rows.n_features), state
        )

    def n_draws(self, weights: Floats) -> int:
        """Number of rows to draw from some of given weights; 0 for all of them."""
        # a weight of k is k rows; weights of a small sum are no fewer rows than there are
        n_rows, total = len(weights), float(weights.sum(dtype=np.float64))
        number = min(max(total, n_rows), _MOST_DRAWS * n_rows)
        return max(1, round(float(self.resample) * number)) if self.resample else 0

    def growth(self, n_features: int) -> tuple[int, int]:
        """Number of features that compete at a split, and the largest depth."""
        depth = _NO_LIMIT if self.max_depth is None else self.max_depth
        return count_features(self.max_features, n_features), depth

    def _ask(self, model: Tree, rows: TrainingRows) -> NDArray[np.bool_]:
        return Carts.of([model]).places(rows.codes)[:, 0] == 2

    def _keep(self, models: list[Tree]) -> Carts:
        return Carts.of(models)
