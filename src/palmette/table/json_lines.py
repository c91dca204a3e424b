"""JSON lines by chunks of rows: an object a line; or one list of objects."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from palmette.exceptions import ReadError
from palmette.table.sources import TableSource

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["json_chunks"]

_LOOK = 2**16


def json_chunks(source: TableSource, rows: int) -> Iterator[pd.DataFrame]:
    """Read objects by chunks; see `read_chunks`.

    The columns are the keys of the first chunk: objects may lack some, which are then missing, and
    a key that comes up later is an error.
    """
    import pandas as pd

    with source.open() as binary:
        buffered = binary if hasattr(binary, "peek") else io.BufferedReader(binary)
        is_list = buffered.peek(_LOOK)[:_LOOK].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
        text = io.TextIOWrapper(buffered, encoding=source.encoding or "utf-8-sig")
        objects = _listed(text, source) if is_list else _by_line(text, source)
        names: list[str] | None = None
        while part := list(islice(objects, rows)):
            keys = dict.fromkeys(key for _, record in part for key in record)
            if names is None:
                names = list(keys)
            for key in keys:
                if key not in names:
                    line = next(number for number, record in part if key in record)
                    raise ReadError(
                        f"the key {key!r} is not among those of the first rows "
                        f"({', '.join(names[:10])}). Name it in the first object, as null",
                        path=source.title,
                        line=line,
                    )
            yield pd.DataFrame(
                {i: [record.get(name) for _, record in part] for i, name in enumerate(names)},
                dtype=object,
            ).set_axis(names, axis=1)


def _by_line(text: Any, source: TableSource) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            column = getattr(error, "colno", 1) - 1
            raise ReadError(
                f"this is no JSON object ({getattr(error, 'msg', 'too deep')})",
                path=source.title,
                line=number,
                text=line,
                column=column,
            ) from error
        yield number, _require_object(record, number, source)


def _listed(text: Any, source: TableSource) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        records = json.load(text)
    except json.JSONDecodeError as error:
        raise ReadError(
            f"this is no list in JSON ({error.msg})", path=source.title, line=error.lineno
        ) from error
    for number, record in enumerate(records, start=1):
        yield number, _require_object(record, number, source)


def _require_object(record: Any, number: int, source: TableSource) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise ReadError(
            f'expected an object, such as {{"title": "..."}}, got a {type(record).__name__}',
            path=source.title,
            line=number,
        )
    return record
