"""Requests that wait are answered together, in threads; and counts of all that happens."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from palmette.serving._answers import Answer, Question

Answering = Callable[[Sequence[Question]], list[Answer]]


class Full(Exception):
    """Too many rows wait already."""


class _Waiting(NamedTuple):
    question: Question
    reply: asyncio.Future[Answer]


class Batcher:
    """Answers questions in threads, those that wait together by one call.

    A call begins as soon as a thread is free, so that a single request never waits for others;
    while the threads are busy, requests gather, and the next call takes them all.

    Parameters
    ----------
    answer : callable
        From questions to answers; called in a thread.
    n_jobs : int
        Number of threads, each of which has its share of the cores for BLAS and OpenMP.
    batch_rows : int
        Number of rows from which on a call takes no further question.
    max_waiting : int
        Maximum number of rows that wait.
    metrics : Metrics, optional
    stuck : (float, callable), optional
        Seconds after which a call counts as one that never ends, and what is done then.
    """

    def __init__(
        self,
        answer: Answering,
        n_jobs: int = 1,
        batch_rows: int = 1_000,
        max_waiting: int = 100_000,
        metrics: Metrics | None = None,
        stuck: tuple[float, Callable[[], None]] | None = None,
    ) -> None:
        self._stuck = stuck
        self._answer, self._n_jobs = answer, n_jobs
        self._batch_rows, self._max_waiting = batch_rows, max_waiting
        self.metrics = Metrics() if metrics is None else metrics
        self._waiting: deque[_Waiting] = deque()
        self.n_waiting = 0  # rows of the questions in it
        self._running: set[asyncio.Task[None]] = set()
        self._begun: list[float] = []  # when each call that runs began
        self._pool = ThreadPoolExecutor(
            n_jobs, "model", initializer=_take_share, initargs=(n_jobs,)
        )

    @property
    def seconds_running(self) -> float:
        """Seconds since the first call that runs began; 0 if none runs."""
        return time.monotonic() - min(self._begun) if self._begun else 0.0

    async def ask(self, question: Question, seconds: float | None = None) -> Answer:
        """Return the answer to a question.

        Parameters
        ----------
        question : Question
        seconds : float, optional
            A `TimeoutError` is raised after this time. A question that still waits then is dropped.
        """
        if self.n_waiting and self.n_waiting + len(question.rows) > self._max_waiting:
            raise Full
        each = _Waiting(question, asyncio.get_running_loop().create_future())
        self._waiting.append(each)
        self.n_waiting += len(question.rows)
        self._begin()
        return await asyncio.wait_for(each.reply, seconds)

    async def stop(self) -> None:
        """Wait for the calls that run, and end the threads."""
        while self._running:
            await asyncio.wait(self._running)
        self._pool.shutdown(wait=True)

    def _begin(self) -> None:
        """Begin calls while there are questions and free threads."""
        while len(self._running) < self._n_jobs:
            batch, rows = [], 0
            while self._waiting and rows < self._batch_rows:
                each = self._waiting.popleft()
                self.n_waiting -= len(each.question.rows)
                if not each.reply.done():  # its client waits still
                    batch.append(each)
                    rows += len(each.question.rows)
            if not batch:
                return
            task = asyncio.get_running_loop().create_task(self._run(batch))
            self._running.add(task)
            task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._begin()

    async def _call(self, questions: list[Question]) -> list[Answer]:
        loop = asyncio.get_running_loop()
        alarm = None if self._stuck is None else loop.call_later(*self._stuck)
        began = time.monotonic()
        self._begun.append(began)
        try:
            return await loop.run_in_executor(self._pool, self._answer, questions)
        finally:
            self._begun.remove(began)
            if alarm is not None:
                alarm.cancel()

    async def _run(self, batch: list[_Waiting]) -> None:
        try:
            answers = await self._call([each.question for each in batch])
        except Exception as error:
            if len(batch) == 1:
                if not batch[0].reply.done():
                    batch[0].reply.set_exception(error)
                return
            for each in batch:  # a question that has no answer takes none from the others
                await self._run([each])
            return
        self.metrics.count_call(sum(len(each.question.rows) for each in batch))
        for each, answer in zip(batch, answers, strict=True):
            if not each.reply.done():
                each.reply.set_result(answer)


def _take_share(n_jobs: int) -> None:
    """Let BLAS and OpenMP use a share of the cores in this thread."""
    from joblib import cpu_count
    from threadpoolctl import threadpool_limits

    threadpool_limits(max(1, cpu_count() // n_jobs))


# ---------------------------------------------------------------------- metrics

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counts of requests, in the text format of Prometheus.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.count_request("/suggest", 200, 0.02)
    >>> print(metrics.text().splitlines()[2])
    palmette_requests_total{route="/suggest",status="200"} 1
    """

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self._rows = self._calls = 0

    def count_request(self, route: str, status: int, seconds: float) -> None:
        """Count a request by its route, its status and its time."""
        self._requests[route, status] += 1
        buckets = self._buckets.setdefault(route, [0] * (len(_BOUNDS) + 1))
        buckets[bisect_left(_BOUNDS, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]

    def count_call(self, rows: int) -> None:
        """Count a call of the model and its rows."""
        self._calls += 1
        self._rows += rows

    def text(self, waiting_rows: int = 0, replaced: int = 0) -> str:
        """Return all counts."""
        lines = _head("requests_total", "counter", "Requests by route and status.")
        errors: Counter[str] = Counter()
        for (route, status), count in sorted(self._requests.items()):
            lines.append(f'palmette_requests_total{{route="{route}",status="{status}"}} {count}')
            errors[route] += count if status >= 400 else 0
        lines += _head("errors_total", "counter", "Requests with a status of 400 or more.")
        lines += [f'palmette_errors_total{{route="{r}"}} {n}' for r, n in sorted(errors.items())]
        lines += _head("rows_total", "counter", "Rows that the model has answered.")
        lines.append(f"palmette_rows_total {self._rows}")
        lines += _head("model_calls_total", "counter", "Calls of the model.")
        lines.append(f"palmette_model_calls_total {self._calls}")
        lines += _head("waiting_rows", "gauge", "Rows that wait for the model.")
        lines.append(f"palmette_waiting_rows {waiting_rows}")
        lines += _head("workers_replaced_total", "counter", "Workers that died and were replaced.")
        lines.append(f"palmette_workers_replaced_total {replaced}")
        lines += _head("request_seconds", "histogram", "Seconds from a request to its reply.")
        for route, buckets in sorted(self._buckets.items()):
            total = 0
            for bound, count in zip([*map(str, _BOUNDS), "+Inf"], buckets, strict=True):
                total += count
                lines.append(
                    f'palmette_request_seconds_bucket{{route="{route}",le="{bound}"}} {total}'
                )
            lines.append(
                f'palmette_request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            )
            lines.append(f'palmette_request_seconds_count{{route="{route}"}} {total}')
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, words: str) -> list[str]:
    return [f"# HELP palmette_{name} {words}", f"# TYPE palmette_{name} {kind}"]
