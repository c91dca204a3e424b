"""Cached results of fits, identified by everything that they depend on, and what fits take."""

from __future__ import annotations

import gc
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from palmette.compare import ResultStore, measure

__all__ = ["Cells", "Options", "OutOfTime"]

Results = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What every method of a run takes.

    Parameters
    ----------
    seed : int
    n_jobs : int or None
    """

    seed: int = 0
    n_jobs: int | None = None


class OutOfTime(Exception):
    """The time is up, and the results of a cell are not in the store."""


class Cells:
    """Results of fits, which are computed unless they are in the store.

    Parameters
    ----------
    store : ResultStore, optional
    made_with : dict
        Values that all results depend on, such as library versions.
    watch : callable, optional
        Called with (data set, method) before a cell is computed.
    minutes : float, optional
        After this time only stored results are given; `OutOfTime` is raised for others.

    Examples
    --------
    >>> cells = Cells(None, {})
    >>> found = cells.results({"dataset": "toy", "model": "m"}, lambda: {"score": 0.5})
    >>> found["score"], found["notes"]
    (0.5, [])
    """

    def __init__(
        self,
        store: ResultStore | None,
        made_with: dict[str, Any],
        watch: Callable[[str, str], None] | None = None,
        minutes: float | None = None,
    ) -> None:
        self._store = ResultStore() if store is None else store
        self._made_with, self._watch = made_with, watch
        self._until = None if minutes is None else time.monotonic() + 60 * minutes
        self._noted: dict[tuple[str, str], list[str]] = {}
        self._made: Counter[str] = Counter()  # where results were computed, if not here
        self._n_found = 0

    @property
    def notes(self) -> list[str]:
        """Where results come from that were not computed with `made_with`, and distinct warnings.

        Warnings are those of the fits, and the reasons why results were computed again.
        """
        return [
            *(
                f"{number} of {self._n_found} fits were made elsewhere, with {where}"
                for where, number in self._made.items()
            ),
            *(
                f"{dataset}: {note} ({', '.join(models)})"
                for (dataset, note), models in self._noted.items()
            ),
        ]

    def _note(self, cell: dict[str, Any], note: str) -> None:
        self._noted.setdefault((cell["dataset"], note), []).append(cell["model"])

    def results(self, cell: dict[str, Any], compute: Callable[[], Results]) -> Results:
        """Return the results of a cell with its ``cpu_s`` and the ``notes`` of its warnings.

        Parameters
        ----------
        cell : dict
            ``dataset``, ``model`` and everything else that the results depend on, as plain values.
        compute : callable
            Returns a dict of plain values.
        """
        cell = {**cell, "made_with": self._made_with}
        found = self._store.get(cell)
        if found is None:
            if self._until is not None and time.monotonic() >= self._until:
                raise OutOfTime
            changes = self._store.changes(cell)
            if changes:
                words = f"computed again, as these have changed: {', '.join(changes)}"
                self._note(cell, words)
            if self._watch is not None:
                self._watch(cell["dataset"], cell["model"])
            found = _computed(compute)
            self._store.put(cell, found)
        self._n_found += 1
        stored = self._store.find(cell)
        if stored is not None and stored["made_with"] != self._made_with:
            facts = stored["made_with"].items()
            self._made[", ".join(f"{key} {value}" for key, value in facts)] += 1
        for note in found["notes"]:
            self._note(cell, note)
        return found


def _computed(compute: Callable[[], Results]) -> Results:
    gc.collect()  # frees the memory of the previous model
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1), measure() as usage:
        warnings.simplefilter("default")
        found = compute()
    texts = [str(warning.message).strip() or warning.category.__name__ for warning in caught]
    notes = list(dict.fromkeys(text.splitlines()[0] for text in texts))
    return {**found, "cpu_s": usage.cpu_seconds, "notes": notes}
