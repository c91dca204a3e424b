"""Boosting with rows on the workers of a cluster: what is decided here, and what is asked of them.

Every worker has whole blocks of rows (`_worker_rows`). Here are the trees that grow and the random
draws; ranges of codes and sums of blocks come from the workers, block after block, as they come
from threads. Rows never travel after they are placed. If a worker is lost, the rows are placed
again on those that are left, and the trees so far are added to their scores.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette.base._clients import workers_of
from palmette.base._fitting import Threads
from palmette.boosting._block_sums import add_leaf_parts, block_rows, rows_of_leaves
from palmette.boosting._block_tree import rows_of_level
from palmette.boosting._growing_rows import widest
from palmette.boosting._objectives import newton_steps
from palmette.boosting._team import retried, team_on
from palmette.boosting._weak import GrownTree, SharedTree, TrainingRows, draw_columns
from palmette.boosting._worker_rows import WorkerRows
from palmette.trees._binning import count_features

Codes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]
Indices: TypeAlias = NDArray[np.int32]
Sums: TypeAlias = NDArray[np.float64]


class PlacedRows:
    """The rows of a fit on the workers.

    Parameters
    ----------
    team : Team
        Its members are `WorkerRows`.
    bounds : sequence of int
        Rows of member i are those from ``bounds[i]`` to ``bounds[i + 1]``.
    """

    def __init__(self, team: Any, bounds: Sequence[int]) -> None:
        self._team, self._bounds = team, bounds
        self.all_ranges = widest(team.call("all_ranges"), 2)

    def call(self, method: str, *given: Any) -> list[Any]:
        """Return what a method of every member returns."""
        found: list[Any] = self._team.call(method, *given)
        return found

    def begin(self, number: int, chosen: Any, columns: Any, scale: Any) -> None:
        """Begin a tree of a model, see `WorkerRows.begin`; `chosen` are rows, or None for all."""
        bits: list[Any] = [None] * (len(self._bounds) - 1)
        if chosen is not None:
            mask = np.zeros(self._bounds[-1], np.bool_)
            mask[chosen] = True
            bits = [np.packbits(mask[start:stop]) for start, stop in pairwise(self._bounds)]
        self._team.call_each("begin", [(number, own, columns, scale) for own in bits])


class PlacedGradients:
    """Gradients of a model that are on the workers.

    Parameters
    ----------
    rows : PlacedRows
    number : int
        Of the model.
    shape : (int, int)
        Numbers of rows and of columns.
    """

    def __init__(self, rows: PlacedRows, number: int, shape: tuple[int, int]) -> None:
        self.rows, self.number, self.shape = rows, number, shape

    def __len__(self) -> int:
        return self.shape[0]

    def squares(self) -> Sums:
        """Return the sums of squares of the columns, (n_columns,)."""
        parts = self.rows.call("squares", self.number, block_rows(*self.shape))
        return np.asarray(np.concatenate(parts).sum(axis=0))


class _Growing:
    """A tree that grows on the workers; it has the methods of `GrowingRows`."""

    def __init__(
        self, rows: PlacedRows, number: int, shape: tuple[int, int], chosen: Indices | None
    ) -> None:
        self._rows, self._number, self.shape = rows, number, shape
        self.is_whole = chosen is None
        self.n_chosen = shape[0] if chosen is None else len(chosen)

    def _call(self, method: str, *given: Any) -> list[Any]:
        return self._rows.call(method, self._number, *given)

    def move(self, *given: Any) -> Codes:
        return widest(self._call("move", *given), 2)

    def ranges(self, *given: Any) -> Codes:
        return widest(self._call("ranges", *given), 2)

    def sums(self, *given: Any) -> tuple[Floats, Sums]:
        sums, masses = zip(*self._call("sums", *given), strict=True)
        return np.concatenate(sums), np.concatenate(masses)

    def leaves(self, features: Indices, cuts: Codes, leaf_at: Indices) -> None:
        """Rows move to their leaves as soon as sums of leaves are asked for."""


class WorkersLearner:
    """Grows the trees of a `SharedTree` with random thresholds on rows of workers.

    Parameters
    ----------
    settings : SharedTree
    """

    def __init__(self, settings: SharedTree) -> None:
        self._settings = settings

    def grows_in_blocks(self, signed: Any) -> bool:
        """Whether trees of several models are grown one after another: workers are the same."""
        return True

    def grow(
        self, rows: TrainingRows, signed: PlacedGradients, chosen: Indices | None, seed: int
    ) -> GrownTree:
        """Grow a tree; see `WeakLearner`. The leaves of rows are known to the workers only."""
        settings, (n_samples, n_columns) = self._settings, signed.shape
        columns = scale = None
        n_kept = settings.n_sketched(n_columns)
        if n_kept is not None:
            columns, scale = draw_columns(signed.squares(), n_kept, settings.criterion, seed)
            n_columns = len(columns)
        if columns is not None or chosen is not None:
            signed.rows.begin(signed.number, chosen, columns, scale)
        growing = _Growing(signed.rows, signed.number, (n_samples, n_columns), chosen)
        return settings.grow_on(growing, signed.rows.all_ranges, rows.threads, seed)

    def unit(self, n_samples: int, n_columns: int, n_features: int) -> int:
        """Return the number of rows of the largest blocks that are summed."""
        settings = self._settings
        n_leaves = 2**settings.max_depth
        n_draws = count_features(settings.max_features, n_features)
        # of columns that are drawn, a few or one may be distinct
        n_some = n_columns if settings.n_sketched(n_columns) is None else 1
        return max(
            block_rows(n_samples, n_columns),
            rows_of_leaves(n_samples, n_columns, n_leaves),
            rows_of_level(n_samples, n_some, n_leaves // 2, n_draws),
        )


class WorkersObjective:
    """Newton steps as of `GradientObjective`, with scores and gradients on workers.

    Parameters
    ----------
    loss : Loss
    weights : array of shape (n_samples,)
        Positive.
    learning_rate : float

    Attributes
    ----------
    rows : PlacedRows
        Set before the first round.
    number : int
        Of this model among those of the workers.
    """

    rows: PlacedRows
    number = 0

    def __init__(self, loss: Any, weights: Sums, learning_rate: float) -> None:
        single = weights.astype(np.float32)
        self.of_rows = loss.of_rows
        self._total = float(single.sum(dtype=np.float64))
        self._rate = learning_rate
        self.start = loss.start()
        self._shape = len(weights), len(self.start)
        self._last: Floats | None = None  # votes that are still to add
        self.threads = Threads(1)
        self.edge = np.nan
        self.loss = np.nan

    def placed(self, rows: PlacedRows, number: int) -> None:
        """Begin with the initial scores, which the workers have."""
        self.rows, self.number, self._last = rows, number, None

    def gradients(self, turn_seed: int) -> PlacedGradients:
        """Compute the weighted gradients, and set `loss`."""
        n_rows = block_rows(*self._shape)
        parts = self.rows.call("gradients", self.number, self._last, n_rows)
        self._last = None
        self.loss = float(sum(loss for part in parts for loss in part)) / self._total
        return PlacedGradients(self.rows, self.number, self._shape)

    def take(self, grown: GrownTree) -> Any:
        """Set the votes of the leaves of a tree, which the next gradients add to the scores."""
        n_rows = rows_of_leaves(*self._shape, grown.n_leaves)
        tree = grown.features, grown.cuts, grown.leaf_at
        found = self.rows.call("leaf_sums", self.number, *tree, grown.n_leaves, n_rows)
        parts, covers = (np.concatenate(each) for each in zip(*found, strict=True))
        sums, curvature, cover = add_leaf_parts(parts, covers, self.threads)
        steps = newton_steps(sums, curvature)
        made = grown.hypothesis(self._rate * steps.T, np.empty(0, np.float32), cover=cover)
        self._last = made.values
        return made

    def replay(self, hypothesis: Any, samples: Any) -> None:
        """Update by a tree of an earlier fit, as `take` did."""
        self.rows.call("replay", self.number, hypothesis)


def rounds_on_workers(
    client: Any,
    objectives: Sequence[WorkersObjective],
    learners: Sequence[WorkersLearner],
    rows: TrainingRows,
    begin: Callable[[], Iterator[Any]],
) -> Generator[Any, None, None]:
    """Yield rounds whose rows are on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client or str
    objectives : sequence of WorkersObjective
        One per model.
    learners : sequence of WorkersLearner
        One per model.
    rows : TrainingRows
    begin : callable
        Returns an iterator of rounds that goes on after those that were yielded. It is called once
        the rows are placed, and again after a worker was lost.

    Yields
    ------
    Round
    """
    n_samples, n_features = rows.codes.shape
    starts = [each.start for each in objectives]
    unit = max(
        learner.unit(n_samples, len(start), n_features)
        for learner, start in zip(learners, starts, strict=True)
    )
    weights = np.asarray(rows.weights, dtype=np.float32)

    def part(start: int, stop: int, n_threads: int) -> tuple[Any, ...]:
        losses = [each.of_rows(start, stop) for each in objectives]
        return rows.codes[start:stop], weights[start:stop], losses, starts, n_threads

    def attempt(number: int) -> Iterator[Any]:
        bounds: list[int] = []

        def divide(n_threads: Sequence[int]) -> list[tuple[Any, ...]]:
            bounds[:] = _divide(n_samples, unit, n_threads)
            return [
                part(start, stop, n)
                for start, stop, n in zip(bounds, bounds[1:], n_threads, strict=False)
            ]

        with team_on(client, WorkerRows, divide, direct=number == 0) as team:
            placed = PlacedRows(team, bounds)
            for i, objective in enumerate(objectives):
                objective.placed(placed, i)
            yield from begin()

    yield from retried(attempt)


def load_on_workers(client: Any, kind: type, loss: Any) -> None:
    """Let workers load modules and compiled code, which takes a second, while rows are read here.

    Parameters
    ----------
    client : distributed.Client or str
        Nothing is done for an address, which has no connection yet.
    kind : type
        `HierarchicalBoostingClassifier`.
    loss : str or tuple
        Its parameter.
    """
    try:
        from distributed import Client, fire_and_forget
    except ImportError:
        return
    if isinstance(client, Client):
        known = loss if isinstance(loss, str) else tuple(loss)
        for address in workers_of(client):
            there = {"workers": [address], "allow_other_workers": True, "pure": False}
            fire_and_forget(client.submit(_load, kind, known, **there))


@cache
def _load(kind: type, loss: Any) -> None:
    """Fit a small model whose rows are in blocks; once on a worker."""
    codes = np.arange(10_000) % 8  # in vectors, and more than `is_small` allows
    model = kind(loss=loss, n_bags=1, n_estimators=2, max_depth=2)
    model.fit(np.column_stack([codes, codes // 2]).astype(np.float32), codes)


def _divide(n_samples: int, unit: int, n_threads: Sequence[int]) -> list[int]:
    """Return bounds of the rows of workers: whole units, by their numbers of threads.

    There are at most as many parts as units; workers beyond them have no rows.

    Examples
    --------
    >>> _divide(1000, 100, [1, 1, 2])
    [0, 200, 500, 1000]
    >>> _divide(150, 100, [1, 1, 1])
    [0, 100, 150]
    """
    n_units = -(-n_samples // unit)
    ends = np.cumsum(n_threads[:n_units])
    bounds = [0]
    for i, wanted in enumerate(np.rint(n_units * ends / ends[-1]).astype(int).tolist()):
        # everyone has one unit at least
        last = max(bounds[-1] + 1, min(wanted, n_units - len(ends) + 1 + i))
        bounds.append(last)
    return [min(each * unit, n_samples) for each in bounds]
