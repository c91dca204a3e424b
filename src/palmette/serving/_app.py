"""The web service of a model: its routes and its errors."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from threadpoolctl import threadpool_limits

from palmette.serving._answers import Answer, Answerer, Question
from palmette.serving._batches import Batcher, Full, Metrics
from palmette.serving._pages import model_card, openapi, own_version, web_page
from palmette.serving._process import Lives
from palmette.serving._requests import (
    FORM_TYPE,
    JSON_TYPE,
    Limits,
    Problem,
    read_fields,
    read_question,
)
from palmette.table import TableModel

_LOG = logging.getLogger("palmette.serving")
_ANNIF_DOCUMENTS = 32  # of a request, as Annif allows
_STUCK = 2  # time limits after which a call of the model is taken not to end
_BEATING = 0.5  # seconds between two heartbeats
_PATIENCE = 10.0  # seconds without one that a worker has at least: its threads may be held up


def make_app(
    model: TableModel,
    name: str = "model",
    *,
    limits: Limits | None = None,
    n_jobs: int = 1,
    language: str | None = None,
) -> Starlette:
    """Return the web service of a model, an ASGI application.

    Parameters
    ----------
    model : TableModel
    name : str
        Name of the model in pages and of the project in Annif's paths.
    limits : Limits, optional
    n_jobs : int
        Number of calls of the model at the same time, in threads.
    language : str, optional
        Language of labels where a request names none.

    Returns
    -------
    Starlette
    """
    return _Service(model, name, limits or Limits(), n_jobs, language).app()


class _Reply(JSONResponse):
    """JSON in UTF-8 without NaN; characters that UTF-8 does not have are escaped."""

    def render(self, content: Any) -> bytes:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


def _refusal(problem: Problem) -> Response:
    headers = {"Retry-After": "1"} if problem.status == 503 else {}
    if problem.status in (408, 413):  # the rest of the body is not read
        headers["Connection"] = "close"
    return _Reply(
        problem.body(), problem.status, headers=headers, media_type="application/problem+json"
    )


# ---------------------------------------------------------------------- routes


class _Service:
    """The routes of a server."""

    def __init__(
        self, model: TableModel, name: str, limits: Limits, n_jobs: int, language: str | None
    ) -> None:
        self.answerer, self.name, self.limits = Answerer(model, language), name, limits
        self.metrics = Metrics()
        self._longest = _STUCK * limits.seconds
        self.lives = Lives(max(self._longest, _PATIENCE))
        self.batcher = Batcher(
            self.answerer.answer, n_jobs, limits.batch_rows, limits.waiting_rows, self.metrics,
            stuck=(self._longest, self._when_stuck),
        )  # fmt: skip
        with threadpool_limits(1):  # threads would not be in the workers, which are forks
            self.answerer.warm()
        self._language = language
        self._page, self._policy = web_page(self.answerer, name, language)
        self._card = model_card(self.answerer, name, limits)
        self._openapi = openapi(self.answerer, name, limits)

    def app(self) -> Starlette:
        routes = [
            Route("/", self.page),
            Route("/suggest", self.suggest, methods=["POST"]),
            Route("/predict", self.predict, methods=["POST"]),
            Route("/health", self.health),
            Route("/card", self.card),
            Route("/metrics", self.show_metrics),
            Route("/openapi.json", self.openapi),
            Route("/v1/", self.annif_info),
            Route("/v1/projects", self.annif_projects),
            Route("/v1/projects/{project_id}", self.annif_project),
            Route("/v1/projects/{project_id}/suggest", self.annif_suggest, methods=["POST"]),
            Route("/v1/projects/{project_id}/suggest-batch", self.annif_batch, methods=["POST"]),
        ]
        app = Starlette(
            routes=routes,
            exception_handlers={Problem: _on_problem, HTTPException: _on_http_error},
            lifespan=self._lifespan,
        )
        app.state.lives = self.lives
        paths = {route.endpoint: route.path for route in routes}
        app.add_middleware(_Watch, metrics=self.metrics, paths=paths)
        return app

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self.lives.began()
        beating = asyncio.create_task(self._beat())
        yield
        beating.cancel()
        await self.batcher.stop()

    async def _beat(self) -> None:
        while True:
            self.lives.beat()
            await asyncio.sleep(_BEATING)

    def _when_stuck(self) -> None:
        """End this process, if another one replaces it: a thread cannot be ended."""
        if self.lives.is_supervised:
            _LOG.error("a call of the model did not end in %g s", self._longest)
            os._exit(1)

    async def page(self, request: Request) -> Response:
        headers = {"Content-Security-Policy": self._policy, "Referrer-Policy": "no-referrer"}
        return HTMLResponse(self._page, headers=headers)

    async def card(self, request: Request) -> Response:
        return _Reply(self._card)

    async def openapi(self, request: Request) -> Response:
        return _Reply(self._openapi)

    async def health(self, request: Request) -> Response:
        is_stuck = self.batcher.seconds_running > self._longest  # where nothing replaces it
        found = {
            "status": "stuck" if is_stuck else "ok",
            "model": self.name,
            "waiting_rows": self.batcher.n_waiting,
        }
        return _Reply(found | self.lives.facts(), 503 if is_stuck else 200)

    async def show_metrics(self, request: Request) -> Response:
        text = self.metrics.text(self.batcher.n_waiting, self.lives.replaced)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def suggest(self, request: Request) -> Response:
        fields = await read_fields(request, self.limits)
        question = read_question(fields, self.answerer, self.limits, allowed=("project",))
        answer = await self._ask(question)
        found = answer.rows[0] if "text" in fields else {"answers": answer.rows}
        return _Reply(_with_notes(found, answer))

    async def predict(self, request: Request) -> Response:
        fields = await read_fields(request, self.limits, (JSON_TYPE,))
        question = read_question(fields, self.answerer, self.limits, predict=True)
        answer = await self._ask(question)
        return _Reply(_with_notes({"predictions": answer.rows}, answer))

    async def _ask(self, question: Question) -> Answer:
        seconds = self.limits.seconds
        try:
            return await self.batcher.ask(question, seconds)
        except Full:
            raise Problem(
                503,
                f"{self.batcher.n_waiting:,} rows wait already: expected at most "
                f"{self.limits.waiting_rows:,}. Try again later.",
            ) from None
        except TimeoutError:
            raise Problem(
                503,
                f"the model has not answered in {seconds:g} s. Try again later, or send fewer rows "
                "per request.",
            ) from None

    # ------------------------------------------------------------------ as Annif

    async def annif_info(self, request: Request) -> Response:
        return _Reply({"title": f"Palmette: {self.name}", "version": own_version()})

    async def annif_projects(self, request: Request) -> Response:
        return _Reply({"projects": [self._project()]})

    async def annif_project(self, request: Request) -> Response:
        self._check_project(request)
        return _Reply(self._project())

    async def annif_suggest(self, request: Request) -> Response:
        self._check_project(request)
        fields = await read_fields(request, self.limits, (FORM_TYPE,))
        question = read_question(
            {"text": "", **fields} if "text" in fields else {}, self.answerer, self.limits,
            allowed=("project",), status=400,
        )  # fmt: skip
        answer = await self._ask(question)
        return _Reply({"results": answer.rows[0]["results"]})

    async def annif_batch(self, request: Request) -> Response:
        self._check_project(request)
        fields = await read_fields(request, self.limits, (JSON_TYPE,))
        documents = fields.get("documents")
        if not isinstance(documents, list) or not all(
            isinstance(each, dict) and isinstance(each.get("text"), str) for each in documents
        ):
            raise Problem(
                400, 'expected {"documents": [{"text": "...", "document_id": "..."}, ...]}.'
            )
        if len(documents) > _ANNIF_DOCUMENTS:
            raise Problem(
                400, f"got {len(documents)} documents: expected at most {_ANNIF_DOCUMENTS}."
            )
        if not documents:
            return _Reply([])
        asked: dict[str, Any] = {"texts": [each["text"] for each in documents]}
        for key, read in (("limit", int), ("threshold", float), ("language", str)):
            value = request.query_params.get(key)
            try:
                asked |= {} if value is None else {key: read(value)}
            except ValueError:
                raise Problem(400, f"{key} is {value!r}: expected a number.") from None
        answer = await self._ask(read_question(asked, self.answerer, self.limits, status=400))
        return _Reply(
            [
                {"results": row["results"], "document_id": document.get("document_id")}
                for row, document in zip(answer.rows, documents, strict=True)
            ]
        )

    def _check_project(self, request: Request) -> None:
        came = request.path_params["project_id"]
        if came != self.name:
            raise Problem(404, f"there is no project {came[:60]!r}: expected {self.name!r}.")

    def _project(self) -> dict[str, Any]:
        languages = self.answerer.labels.languages
        return {
            "project_id": self.name,
            "name": self.name,
            "language": self._language or (languages[0] if languages else "") or "en",
            "backend": {"backend_id": "palmette"},
            "is_trained": True,
            "modification_time": self._card["fit"]["when"],
        }


def _with_notes(found: dict[str, Any], answer: Answer) -> dict[str, Any]:
    return {**found, "notes": answer.notes} if answer.notes else found


# ---------------------------------------------------------------------- errors and counts


async def _on_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return _refusal(error)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path = request.url.path[:60]
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "GET")
        reply = _refusal(Problem(405, f"got {request.method[:10]} {path}: expected {allowed}."))
        reply.headers["Allow"] = allowed
        return reply
    if error.status_code == 404:
        return _refusal(
            Problem(404, f"there is no {path}: /openapi.json lists all paths, / is a page.")
        )
    return _refusal(Problem(error.status_code, str(error.detail)))


class _Watch:
    """Counts requests, and answers those that end in an unexpected error."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: dict[Any, str]) -> None:
        self._app, self._metrics, self._paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            _LOG.exception("a request failed")
            if not status:
                words = (
                    f"the model failed with {type(error).__name__}. The log of the server says why."
                )
                await _refusal(Problem(500, words))(scope, receive, note)
        finally:
            route = self._paths.get(scope.get("endpoint"), "other")
            self._metrics.count_request(route, status, time.perf_counter() - start)
