"""Tables with cells of strangers, as files of every format and as DataFrames."""

from __future__ import annotations

import csv
import datetime
import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any
from xml.sax.saxutils import escape

from tests.attack.strange import THEMES, VALUES, plain, strange

__all__ = ["FORMATS", "StrangeTable", "draw", "frame_of", "shape_of"]

# columns of the model that has to predict all these tables; the first three are numbers and so on
_FIXED = ("title", "price", "colour", "since")
_LABELS = ("Food > Fruit", "Food > Fish", "Tools > Saws", "Tools > Nails")
_POOLS = (2, 3, 8, 39, 45, None)  # distinct cells of a column; None for as many as rows
_SHARES = (1.0, 0.97, 0.9, 0.5)  # of the cells of a column that are of its theme
_RARE = 0.03  # share of the tables with something that ends the reading of most files


@dataclass
class StrangeTable:
    """Columns of cells, with the target ``kind``.

    Parameters
    ----------
    names : list of str
    columns : list of list
        Cells by column: texts, None, and what else the format can have.
    """

    names: list[str]
    columns: list[list[Any]]

    @property
    def rows(self) -> list[list[Any]]:
        """The cells by row."""
        return [list(row) for row in zip(*self.columns, strict=True)]


def shape_of(rng: Random) -> tuple[int, int]:
    """Draw the numbers of rows and columns of a table, the target included."""
    return rng.choice((1, 3, 20, 30, 40, 60, 60)), rng.randint(6, 24)


def draw(rng: Random, shape: tuple[int, int], values: str | None) -> StrangeTable:
    """Return a table of a shape, with cells of `VALUES` among the texts if the format has them."""
    n_rows, n_columns = shape
    themes = [name for name in THEMES if name != "surrogates" or rng.random() < _RARE]
    names = [*_FIXED, *(f"column {i}" for i in range(n_columns - len(_FIXED) - 1))]
    if rng.random() < 3 * _RARE:
        names[-1] = strange(rng)
    columns = [_column(rng, n_rows, themes, values) for _ in names]
    if rng.random() < 0.85:
        target: list[Any] = [rng.choice(_LABELS) for _ in range(n_rows)]
    else:
        target = _column(rng, n_rows, themes, values if rng.random() < 0.5 else None)
    return StrangeTable([*names, "kind"], [*columns, target])


def _column(rng: Random, n_rows: int, themes: list[str], values: str | None) -> list[Any]:
    theme = rng.choice([*themes, "plain"])
    make = plain if theme == "plain" else THEMES[theme]
    if values and rng.random() < 0.3:
        make = VALUES[values]
    share, pool = rng.choice(_SHARES), rng.choice(_POOLS)
    cells = [
        make(rng) if rng.random() < share else rng.choice((plain, strange, _nothing))(rng)
        for _ in range(min(pool or n_rows, n_rows))
    ]
    return cells if pool is None else rng.choices(cells, k=n_rows)


def _nothing(rng: Random) -> None:
    return None


# ---------------------------------------------------------------------- files


def _delimited(rng: Random, table: StrangeTable, delimiter: str) -> bytes:
    text = io.StringIO()
    rows = [["" if cell is None else cell for cell in row] for row in table.rows]
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting)
    writer.writerows([table.names, *rows])
    return _encoded(rng, text.getvalue())


def _encoded(rng: Random, text: str) -> bytes:
    encoding = rng.choice(("utf-16", "utf-8-sig")) if rng.random() < _RARE else "utf-8"
    return text.encode(encoding, "surrogatepass")


def _csv(rng: Random, table: StrangeTable) -> bytes:
    return _delimited(rng, table, rng.choice(",,;|"))


def _tsv(rng: Random, table: StrangeTable) -> bytes:
    return _delimited(rng, table, "\t")


def _json_lines(rng: Random, table: StrangeTable) -> bytes:
    records = [dict(zip(table.names, row, strict=True)) for row in table.rows]
    is_ascii = rng.random() < 0.5
    if rng.random() < 0.2:
        return _encoded(rng, json.dumps(records, ensure_ascii=is_ascii))
    lines = [json.dumps(record, ensure_ascii=is_ascii) for record in records]
    if rng.random() < 0.1:  # a number that Python writes in no other way
        lines = [line.replace(" true", f" {rng.choice(_TOKENS)}") for line in lines]
    return _encoded(rng, "\n".join(lines))


_TOKENS = ("1e999", "-0.0", "1E400", "0.1e-999", "9" * 300, "9" * 5000, "1e-400", "-1e7872688807")


def _parquet(rng: Random, table: StrangeTable) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    named = {}
    for name, cells in zip(table.names, table.columns, strict=True):
        whole = None if name == "kind" else _typed(rng, len(cells))
        is_fine = whole is not None and _can_be_written(whole)
        named[_clean(name)] = whole if is_fine else _texts(rng, cells)
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(named), sink, store_schema=rng.random() < 0.8)
    return bytes(sink.getvalue())


def _can_be_written(column: Any) -> bool:
    """Whether Parquet has these values: seconds, for one, become milliseconds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.write_table(pa.table({"a": column}), pa.BufferOutputStream())
    except pa.ArrowException:
        return False
    return True


# openpyxl lets some of them pass, and lxml, by which it writes where it is installed, none
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def _clean(text: str) -> str:
    return text.encode(errors="replace").decode()


def _texts(rng: Random, cells: list[Any]) -> Any:
    import pyarrow as pa

    if rng.random() < _RARE:  # what is said to be text and is not
        raw = [None if c is None else str(c).encode(errors="surrogatepass") for c in cells]
        return pa.array(raw, pa.binary()).view(pa.string())
    texts = pa.array([None if c is None else _clean(str(c)) for c in cells], pa.string())
    kind = rng.choice((pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())))
    return texts.cast(kind)


def _typed(rng: Random, n_rows: int) -> Any:
    """Return a column of Parquet that is no text, or None."""
    import pyarrow as pa

    if rng.random() < 0.6:
        return None
    bits = [rng.choice((0, 1, -1, 2**31, 2**63 - 1, -(2**63), rng.getrandbits(62), None))
            for _ in range(n_rows)]  # fmt: skip
    made = pa.array(bits, pa.int64())
    units = ("s", "ms", "us", "ns")
    timestamps = [pa.timestamp(unit, zone) for unit in units for zone in (None, "UTC", "+23:59")]
    views = [pa.uint64(), pa.float64(), pa.date64(), pa.time64("ns"), pa.time64("us"), *timestamps]
    views += [pa.duration(unit) for unit in units]
    if rng.random() < 0.6:
        return made.view(rng.choice(views))
    few = [bit if bit is None else bit % 100 for bit in bits]
    others: list[tuple[list[Any], Any]] = [
        ([f if f is None else bool(f % 2) for f in few], pa.bool_()),
        (few, pa.decimal128(38, 0)), (few, pa.decimal256(76, 3)), (few, pa.int8()),
        (few, pa.float32()), (few, pa.date32()), (few, pa.null()) if None in few else (few, None),
        ([f if f is None else [f, None] for f in few], pa.list_(pa.int64())),
        ([f if f is None else {"a": f} for f in few], None),
        ([f if f is None else [("k", f)] for f in few], pa.map_(pa.string(), pa.int64())),
        ([f if f is None else bytes([f]) * 4 for f in few], pa.binary(4)),
        ([f if f is None else b"\xff" for f in few], pa.binary()),
    ]  # fmt: skip
    cells, kind = rng.choice(others)
    cells = [None] * n_rows if kind == pa.null() else cells
    return pa.array(cells, kind)


def _workbook(rng: Random, table: StrangeTable) -> bytes:
    import openpyxl

    def cell(value: Any) -> Any:
        if isinstance(value, str):
            return _clean(_NOT_XML.sub("", value))[:32_000]
        is_number = isinstance(value, float) or (isinstance(value, int) and abs(value) < 10**300)
        return value if value is None or is_number else _clean(json.dumps(value))[:32_000]

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in [table.names, *table.rows]:
        sheet.append([datetime.date(2024, 1, 3) if c == "1" else cell(c) for c in row])
    buffer = io.BytesIO()
    book.save(buffer)
    return _with_odd_numbers(rng, buffer.getvalue()) if rng.random() < 0.3 else buffer.getvalue()


def _with_odd_numbers(rng: Random, content: bytes) -> bytes:
    """Return a workbook with texts in cells of numbers, which no program of offices writes."""

    def odd(value: re.Match[bytes]) -> bytes:
        if rng.random() < 0.9:
            return value.group()
        text = escape(THEMES["numbers"](rng)[:2000])
        return b"<v>" + text.encode(errors="replace") + b"</v>"

    done = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(done, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name.startswith("xl/worksheets/"):
                part = re.sub(rb"<v>[^<]*</v>", odd, part)
            new.writestr(name, part)
    return done.getvalue()


def frame_of(table: StrangeTable) -> Any:
    """Return a table as a DataFrame of objects."""
    import pandas as pd

    series = {}
    for place, cells in enumerate(table.columns):
        series[place] = pd.Series([None] * len(cells), dtype=object)
        for row, cell in enumerate(cells):
            series[place].iat[row] = cell
    return pd.DataFrame(series).set_axis(table.names, axis=1)


FORMATS: dict[str, tuple[str, str | None, Callable[[Random, StrangeTable], bytes] | None]] = {
    "CSV": (".csv", None, _csv),
    "TSV": (".tsv", None, _tsv),
    "JSON lines": (".jsonl", "JSON", _json_lines),
    "Parquet": (".parquet", None, _parquet),
    "Excel": (".xlsx", "JSON", _workbook),
    "DataFrame": (".seed", "objects", None),  # is drawn again where it is read
}
