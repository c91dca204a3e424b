"""The boosting loop: rounds, the choice of rows, several models at once, and scores of rounds."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import FloatArray, IntArray, row_chunks
from palmette.base._fitting import Threads
from palmette.boosting._hypotheses import Bundle, ClassTrees, Hypothesis, Samples, add_class_trees
from palmette.boosting._weak import TrainingRows, WeakLearner
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import require


class BundledObjective:
    """Independent objectives whose columns are concatenated.

    Parameters
    ----------
    objectives : sequence of Objective
    """

    def __init__(self, objectives: Sequence[Any]) -> None:
        self.objectives = objectives
        self.start = np.concatenate([each.start for each in objectives])
        self._bounds = np.cumsum([0, *(len(each.start) for each in objectives)])
        self.edge = np.nan

    @property
    def threads(self) -> Threads:
        """Threads of every objective; they compute one after another."""
        threads: Threads = self.objectives[0].threads
        return threads

    @threads.setter
    def threads(self, threads: Threads) -> None:
        for each in self.objectives:
            each.threads = threads

    @property
    def loss(self) -> float:
        """Mean of the objectives' losses."""
        return float(np.mean([each.loss for each in self.objectives]))

    def gradients(self, turn_seed: int) -> list[NDArray[np.float32]]:
        """Return the gradients of every objective."""
        return [each.gradients(turn_seed) for each in self.objectives]

    def take(self, grown: list[Any]) -> Bundle:
        """Update every objective by its part."""
        parts = [each.take(part) for each, part in zip(self.objectives, grown, strict=True)]
        return Bundle(tuple(parts), self._bounds)

    def replay(self, hypothesis: Bundle, samples: Samples) -> None:
        """Update by a round of an earlier fit."""
        require(np.array_equal(hypothesis.bounds, self._bounds), "a round has other parts")
        for each, part in zip(self.objectives, hypothesis.parts, strict=True):
            each.replay(part, samples)


class BundledLearner:
    """One weak learner per objective of a bundle.

    Parameters
    ----------
    learners : sequence of WeakLearner
    """

    def __init__(self, learners: Sequence[Any]) -> None:
        self._learners = learners

    def grow(
        self, rows: Any, signed: list[NDArray[np.float32]], chosen: IntArray | None, seed: int
    ) -> list[Any]:
        """Grow one hypothesis per objective, each with its own seed."""

        def grow_one(i: int) -> Any:
            own_seed = int(np.random.SeedSequence([seed, i]).generate_state(1, np.uint64)[0] >> 1)
            return self._learners[i].grow(rows, signed[i], chosen, own_seed)

        members = range(len(self._learners))
        if len(members) < rows.threads.n_threads and all(
            getattr(learner, "grows_in_blocks", _never)(part)
            for learner, part in zip(self._learners, signed, strict=True)
        ):
            return [grow_one(i) for i in members]  # each by all threads
        grown: list[Any] = rows.threads.map(grow_one, members)
        return grown


def _never(_: Any) -> bool:
    return False


class Objective(Protocol):
    """The interface of an objective."""

    start: NDArray[np.float32]
    loss: float
    edge: float
    threads: Threads

    def gradients(self, turn_seed: int) -> NDArray[np.float32]:
        """Return signed weights, (n_samples, n_columns); `loss` is the loss before the round."""

    def take(self, grown: Any) -> Hypothesis | None:
        """Set the votes of a grown hypothesis and update by it; None if it has no edge."""

    def replay(self, hypothesis: Hypothesis, samples: Samples) -> None:
        """Update by a hypothesis of an earlier fit."""


@dataclass(frozen=True)
class Round:
    """The result of one round.

    Parameters
    ----------
    hypothesis : Hypothesis
    loss : float
        Mean loss of the training rows before the round.
    edge : float
        Edge of the hypothesis under the weights of the round; NaN for gradient boosting.
    """

    hypothesis: Hypothesis
    loss: float
    edge: float


@dataclass(frozen=True)
class RowChoice:
    """The choice of the rows that a round uses.

    Parameters
    ----------
    subsample : float
        Share of the rows, drawn again in every round.
    weight_trim : float
        Share of the total weight that may be omitted: the rows of the smallest weights.
    """

    subsample: float = 1.0
    weight_trim: float = 0.0

    def __call__(self, signed: Any, seed: int) -> IntArray | None:
        """Return the rows of a round in ascending order; None for all.

        `signed` is an array of shape (n_samples, n_columns), or a list of such arrays.
        """
        blocks = signed if isinstance(signed, list) else [signed]
        n_samples = len(blocks[0])
        if self.subsample >= 1.0 and self.weight_trim <= 0.0:
            return None
        kept = np.arange(n_samples, dtype=np.int32)
        if self.subsample < 1.0:
            rng = np.random.default_rng([seed, 4])
            size = max(1, round(self.subsample * n_samples))
            kept = np.sort(rng.choice(kept, size, replace=False))
        if self.weight_trim > 0.0:
            weights = sum(np.abs(block[kept]).sum(axis=1, dtype=np.float64) for block in blocks)
            order = np.argsort(weights, kind="stable")
            left_out = np.cumsum(weights[order]) <= self.weight_trim * weights.sum()
            kept = np.sort(kept[order[~left_out]])
        return kept


def boost(
    objective: Objective,
    learner: WeakLearner,
    rows: TrainingRows,
    seed: int,
    done: Sequence[Hypothesis] = (),
    choose_rows: RowChoice | None = None,
) -> Generator[Round, None, None]:
    """Yield one round after another, until a hypothesis has no edge.

    The seed of round ``t`` depends only on (seed, t): continuing from given rounds leads to the
    same model as an uninterrupted fit.

    Parameters
    ----------
    objective : Objective
    learner : WeakLearner
    rows : TrainingRows
    seed : int
    done : sequence of Hypothesis
        Rounds of an earlier fit on the same rows.
    choose_rows : RowChoice, optional

    Yields
    ------
    Round
    """
    samples = Samples(rows.codes, rows.X)
    objective.threads = rows.threads
    try:
        for hypothesis in done:
            objective.replay(hypothesis, samples)
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise _cannot_continue(error) from error
    choose = choose_rows or RowChoice()
    turn = len(done)
    while True:
        turn_seed = seed_of(seed, turn)
        try:
            signed = objective.gradients(turn_seed)
        except ArithmeticError as error:  # scores that are not finite
            raise _cannot_continue(error) if done else error from None
        loss = objective.loss
        grown = learner.grow(rows, signed, choose(signed, turn_seed), turn_seed)
        found = objective.take(grown)
        if found is None:
            return
        yield Round(found, loss, objective.edge)
        turn += 1


def _cannot_continue(error: Exception) -> PalmetteError:
    return PalmetteError(
        f"the rounds of an earlier fit cannot be continued ({error}). If they are from a "
        "checkpoint, it was changed: delete it to start over."
    )


def seed_of(seed: int, turn: int) -> int:
    """Return the seed of a round: an unsigned integer of 63 bits."""
    return int(np.random.SeedSequence([seed, turn]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def scores_of(
    samples: Samples, rounds: Sequence[Hypothesis], start: NDArray[np.float32]
) -> FloatArray:
    """Return the scores of rows after all rounds: (n_samples, n_columns)."""
    scores = np.tile(start.astype(np.float64), (len(samples.codes), 1))
    if rounds and isinstance(rounds[0], ClassTrees):
        for chunk in row_chunks(len(rounds), rounds[0].features.size, at_once=2**20):
            # all rounds have the same type
            add_class_trees(cast("list[ClassTrees]", list(rounds[chunk])), samples, scores)
        return scores
    for hypothesis in rounds:
        hypothesis.add_scores(samples, scores)
    return scores


def staged_scores(
    samples: Samples, rounds: Sequence[Hypothesis], start: NDArray[np.float32]
) -> Iterator[FloatArray]:
    """Yield the scores after every round, in one array that is updated in place."""
    scores = np.tile(start.astype(np.float64), (len(samples.codes), 1))
    for hypothesis in rounds:
        hypothesis.add_scores(samples, scores)
        yield scores
