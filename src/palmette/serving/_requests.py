"""Reading requests: bodies within limits, JSON and forms, and the questions in them."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from palmette._text import visible
from palmette.exceptions import PalmetteError
from palmette.serving._answers import Answerer, Question

JSON_TYPE, FORM_TYPE = "application/json", "application/x-www-form-urlencoded"
_LARGE = 2**16  # bytes of a body that is parsed in a thread
_ROWS = ("text", "texts", "rows")
_OPTIONS = ("limit", "threshold", "language")
_MAX_LIMIT = 1_000
_MAX_DEPTH = 20  # of lists and objects in a body, which has four at most
_DEEP = "the body is nested too deeply: expected a JSON object."
_MAX_LANGUAGE = 35  # characters of a language tag that every program accepts (RFC 5646)


@dataclass(frozen=True)
class Limits:
    """Limits of a server.

    Parameters
    ----------
    body_bytes : int
        Maximum size of a body.
    rows : int
        Maximum number of rows of a request.
    read_seconds : float
        Time in which a client must have sent its body.
    seconds : float
        Time in which the model must have answered a request.
    waiting_rows : int
        Maximum number of rows that wait for the model.
    batch_rows : int
        Number of rows from which on a call of the model takes no further request.
    """

    body_bytes: int = 8 * 2**20
    rows: int = 1_000
    read_seconds: float = 10.0
    seconds: float = 30.0
    waiting_rows: int = 100_000
    batch_rows: int = 1_000

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise PalmetteError(f"{name}={value!r}: expected a positive number.")


class Problem(Exception):
    """A request that is refused.

    Parameters
    ----------
    status : int
        HTTP status.
    detail : str
        A sentence that says what came, what was expected and what to do.
    """

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, visible(detail)

    def body(self) -> dict[str, Any]:
        """Return the problem as a JSON object (RFC 9457)."""
        return {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
        }


# ---------------------------------------------------------------------- bodies


async def read_fields(
    request: Request, limits: Limits, types: tuple[str, ...] = (JSON_TYPE, FORM_TYPE)
) -> dict[str, Any]:
    """Return the body of a request as a dict: a JSON object, or the fields of a form.

    Parameters
    ----------
    request : Request
    limits : Limits
    types : tuple of str
        Media types that are accepted.
    """
    header = request.headers.get("content-type", "")
    media, _, parameters = header.partition(";")
    media = media.strip().lower()
    if media not in types:
        raise Problem(
            415,
            f"the content type is {_shown(header)}: expected {' or '.join(types)}. Set the header "
            "Content-Type.",
        )
    charset = parameters.lower().partition("charset=")[2].strip(' "')
    if charset not in ("", "utf-8", "utf8"):
        raise Problem(415, f"the charset is {_shown(charset)}: expected utf-8.")
    body = await _read_body(request, limits)
    parse = _parse_json if media == JSON_TYPE else _parse_form
    if len(body) > _LARGE:
        return await asyncio.to_thread(parse, body)
    return parse(body)


async def _read_body(request: Request, limits: Limits) -> bytes:
    """Read a body, and no more of it than is allowed, nor for longer."""
    most = limits.body_bytes
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told[:20]) > most:
        _too_large(f"{int(told[:20]):,} bytes", most)
    body = bytearray()
    try:
        async with asyncio.timeout(limits.read_seconds):
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    _too_large(f"more than {most:,} bytes", most)
    except TimeoutError:
        raise Problem(
            408,
            f"{len(body):,} bytes of the body arrived within {limits.read_seconds:g} s: expected "
            "all of it. Send it faster, or in smaller requests.",
        ) from None
    except ClientDisconnect:
        raise Problem(400, "the connection was closed before the end of the body.") from None
    return bytes(body)


def _too_large(came: str, most: int) -> NoReturn:
    raise Problem(
        413,
        f"the body has {came}: expected at most {most:,}. Send fewer rows per request.",
    )


def _parse_json(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise Problem(
            400, f"byte {error.start + 1} of the body is not UTF-8: expected JSON in UTF-8."
        ) from None
    except RecursionError:
        raise Problem(400, _DEEP) from None
    except json.JSONDecodeError as error:
        raise Problem(
            400,
            f"the body is not JSON: {error.msg} in line {error.lineno}, column {error.colno}. "
            'Expected an object such as {"text": "..."}.',
        ) from None
    except ValueError:
        raise Problem(400, "a number has thousands of digits: expected fewer than 300.") from None
    if _is_deep(found):  # later versions of Python parse it, and what it is shown to may fail
        raise Problem(400, _DEEP)
    if not isinstance(found, dict):
        raise Problem(
            422,
            f'the body is {_kind(found)}: expected an object such as {{"text": "..."}}.',
        )
    return found


def _is_deep(found: Any) -> bool:
    level = [found] if isinstance(found, dict | list) else []
    for _ in range(_MAX_DEPTH):
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [value for values in inside for value in values if isinstance(value, dict | list)]
    return bool(level)


def _no_constant(word: str) -> NoReturn:
    raise Problem(400, f"the body has {word}, which is not JSON. Write null for a missing value.")


def _parse_form(body: bytes) -> dict[str, Any]:
    """Read the fields of a form; numbers become numbers."""
    try:
        pairs = parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=100
        )
    except ValueError:  # not UTF-8, or too many fields
        raise Problem(
            400, "the body is not a form in UTF-8: expected fields such as text=...&limit=10."
        ) from None
    fields: dict[str, Any] = dict(pairs)
    for name, read in (("limit", int), ("threshold", float)):
        if name in fields:
            try:
                fields[name] = read(fields[name])
            except ValueError:
                raise Problem(
                    400, f"{name} is {_shown(fields[name])}: expected a number."
                ) from None
    return fields


# ---------------------------------------------------------------------- questions


def read_question(
    fields: Mapping[str, Any],
    answerer: Answerer,
    limits: Limits,
    *,
    predict: bool = False,
    allowed: tuple[str, ...] = (),
    status: int = 422,
) -> Question:
    """Return the question in the fields of a request.

    Parameters
    ----------
    fields : mapping
        One of text, texts and rows; optionally limit, threshold, language and tree.
    answerer : Answerer
    limits : Limits
    predict : bool
        Whether the decision of the model is asked for.
    allowed : tuple of str
        Further fields, which are ignored.
    status : int
        HTTP status of values that are not allowed.
    """
    try:
        options = (*_OPTIONS, "tree")
        unknown = [name for name in fields if name not in (*_ROWS, *options, *allowed)]
        if unknown:
            raise PalmetteError(
                f"got the field {_shown(unknown[0])}: expected {', '.join(_ROWS)}, "
                f"{', '.join(options)}."
            )
        rows = _read_rows(fields, answerer, limits)
        language = fields.get("language")
        if language == "":
            language = None
        if language is not None:
            if not isinstance(language, str) or len(language) > _MAX_LANGUAGE:
                raise PalmetteError(f"language is {_shown(language)}: expected a tag such as 'en'.")
            answerer.labels.check(language)
        if not predict and not answerer.has_scores:
            name = answerer.model.summary_.get("model")
            raise PalmetteError(
                f"the model {name!r} has no probabilities, which suggestions need: "
                "use /predict, or fit it again with --calibrate sigmoid."
            )
        tree = fields.get("tree", False)
        if not isinstance(tree, bool):
            raise PalmetteError(f"tree is {_shown(tree)}: expected true or false.")
        return Question(
            rows,
            predict=predict,
            limit=int(_number(fields, "limit", 10, _MAX_LIMIT, whole=True)),
            threshold=_number(fields, "threshold", 0.0, 1.0),
            language=language,
            tree=tree,
        )
    except PalmetteError as error:
        raise Problem(status, str(error)) from None


def _number(
    fields: Mapping[str, Any], name: str, default: float, most: float, whole: bool = False
) -> float:
    value = fields.get(name)
    if value is None:
        return default
    is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= most:
        kind = "a whole number" if whole else "a number"
        raise PalmetteError(f"{name} is {_shown(value)}: expected {kind} from 0 to {most:g}.")
    return float(value)


def _read_rows(
    fields: Mapping[str, Any], answerer: Answerer, limits: Limits
) -> list[dict[str, Any]]:
    given = [name for name in _ROWS if name in fields]
    if len(given) != 1:
        came = " and ".join(given) or "none of them"
        raise PalmetteError(f"got {came}: expected one of the fields {', '.join(_ROWS)}.")
    name, value = given[0], fields[given[0]]
    columns = list(answerer.kinds)
    if name == "text":
        value = [value]
    if not isinstance(value, list) or not value:
        came = "an empty list" if value == [] else _kind(value)
        raise PalmetteError(f"{name} is {came}: expected a list of at least one row.")
    if len(value) > limits.rows:
        raise Problem(
            413,
            f"got {len(value):,} rows: expected at most {limits.rows:,} per request. Send several "
            "requests.",
        )
    if name == "rows":
        return [_read_row(row, i, columns, name) for i, row in enumerate(value, start=1)]
    if len(columns) > 1:
        raise PalmetteError(
            f"got {name}, but the model reads the columns {_listed(columns)}: send rows, "
            'such as {"rows": [{' + ", ".join(f'"{c}": ...' for c in columns[:3]) + "}]}."
        )
    for i, text in enumerate(value, start=1):
        if not isinstance(text, str):
            where = "text" if name == "text" else f"text {i}"
            raise PalmetteError(f"{where} is {_kind(text)}: expected a string.")
    return [{columns[0]: _clean(text)} for text in value]


def _read_row(row: Any, number: int, columns: list[str], name: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise PalmetteError(
            f"row {number} is {_kind(row)}: expected an object with the columns {_listed(columns)}."
        )
    missing = [column for column in columns if column not in row]
    if missing:
        raise PalmetteError(
            f"row {number} has no column {_shown(missing[0])} (it has: {_listed(list(row))}). "
            "Add it; null is a missing value."
        )
    for column in columns:
        cell = row[column]
        if isinstance(cell, list | dict):
            raise PalmetteError(
                f"row {number}: {_shown(column)} is {_kind(cell)}: expected a string, a number, "
                "true, false or null."
            )
        if isinstance(cell, float) and not math.isfinite(cell):  # such as 1e999
            raise PalmetteError(
                f"row {number}: the number in {_shown(column)} is too large: expected one below "
                "1e308, or null."
            )
        if isinstance(cell, int) and abs(cell) >= 2**1023:
            raise PalmetteError(f"row {number}: the number in {_shown(column)} is too large.")
    return {column: _clean(row[column]) for column in columns}


def _clean(cell: Any) -> Any:
    """Replace lone surrogates, which JSON can write and UTF-8 cannot."""
    if isinstance(cell, str) and not cell.isascii():
        return cell.encode("utf-8", "replace").decode("utf-8")
    return cell


def _kind(value: Any) -> str:
    """Name the type of a JSON value."""
    if value is None:
        return "null"
    kinds = {bool: "a boolean", str: "a string", list: "a list", dict: "an object"}
    return kinds.get(type(value), "a number")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _listed(names: list[str]) -> str:
    return ", ".join(_shown(name) for name in names[:20]) + (", ..." if len(names) > 20 else "")
