"""Several models boosted side by side, one tree each a round, whose scores stand side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.engine.hypotheses import Bundle, Samples

__all__ = ["BundledLearner", "BundledObjective"]


class BundledObjective:
    """Objectives that do not know of each other.

    Parameters
    ----------
    objectives : sequence of Objective
    """

    def __init__(self, objectives: Sequence[Any]) -> None:
        self._objectives = objectives
        self.start = np.concatenate([each.start for each in objectives])
        self._bounds = np.cumsum([0, *(len(each.start) for each in objectives)])
        self.edge = np.nan

    @property
    def loss(self) -> float:
        """Mean of the objectives' losses."""
        return float(np.mean([each.loss for each in self._objectives]))

    def gradients(self, turn_seed: int) -> list[NDArray[np.float32]]:
        """Return the gradients of all objectives."""
        return [each.gradients(turn_seed) for each in self._objectives]

    def take(self, grown: list[Any]) -> Bundle:
        """Move every objective on by its part."""
        parts = [each.take(part) for each, part in zip(self._objectives, grown, strict=True)]
        return Bundle(tuple(parts), self._bounds)

    def replay(self, hypothesis: Bundle, samples: Samples) -> None:
        """Move on by a round of an earlier fit."""
        for each, part in zip(self._objectives, hypothesis.parts, strict=True):
            each.replay(part, samples)


class BundledLearner:
    """A weak learner for every objective of a bundle.

    Parameters
    ----------
    learners : sequence of WeakLearner
    """

    def __init__(self, learners: Sequence[Any]) -> None:
        self._learners = learners

    def grow(
        self,
        rows: Any,
        signed: list[NDArray[np.float32]],
        chosen: NDArray[np.int32] | None,
        seed: int,
    ) -> list[Any]:
        """Grow one hypothesis for every objective, each from a seed of its own."""

        def grow_one(i: int) -> Any:
            own_seed = int(np.random.SeedSequence([seed, i]).generate_state(1, np.uint64)[0] >> 1)
            return self._learners[i].grow(rows, signed[i], chosen, own_seed)

        grown: list[Any] = rows.threads.map(grow_one, range(len(self._learners)))
        return grown
