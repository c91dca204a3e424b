"""Strange tables through every command and output: an answer, or an error that says what came.

A cell may be missing, of any type, far too long or far too large, and so may a label or a name of a
column. No command may end in an error that is not Palmette's, and what it writes can be read again.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.serving.fitted import TestClient

from palmette import Hierarchy
from palmette.exceptions import ReadError
from palmette.persistence import load
from palmette.serving import make_app
from palmette.table._reading import read_whole
from palmette.table._sources import TableSource

N = 18
KINDS = ["Food > Fish", "Food > Bread", "Tools > Nails"]
DAY = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)
Columns = dict[str, Any]


def plain(n: int = N) -> Columns:
    return {
        "title": [f"{['cod', 'rye', 'iron'][i % 3]} number {i % 7}" for i in range(n)],
        "price": [i % 3 + i / 100 for i in range(n)],
        "kind": [KINDS[i % 3] for i in range(n)],
    }


def again(values: list[Any]) -> list[Any]:
    """Repeat some values for all rows."""
    return (values * N)[:N]


def as_csv(columns: Columns, **options: Any) -> Path:
    pd.DataFrame(columns).to_csv("t.csv", index=False, **options)
    return Path("t.csv")


def as_lines(columns: Columns) -> Path:
    rows = zip(*columns.values(), strict=True)
    lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
    Path("t.jsonl").write_text("\n".join(lines))
    return Path("t.jsonl")


def as_workbook(columns: Columns) -> Path:
    pd.DataFrame(columns).to_excel("t.xlsx", index=False)
    return Path("t.xlsx")


def as_parquet(columns: Columns) -> Path:
    pq.write_table(pa.table(columns), "t.parquet")
    return Path("t.parquet")


def _duplicates() -> Path:
    frame = pd.DataFrame(plain()).assign(more=1)
    frame.columns = ["title", "price", "kind", "title"]
    frame.to_csv("t.csv", index=False)
    return Path("t.csv")


def _missing() -> Columns:
    columns = {**plain(), "empty": [None] * N}
    for i in range(N):
        columns["price"][i] = None if i % 2 else columns["price"][i]
        columns["title"][i] = None if i % 3 == 1 else "same"  # equal rows, some without any value
        columns["kind"][i] = None if i % 5 == 4 else columns["kind"][i]
    return columns


HUGE = [10**400, 3, None, -(10**25)]
LISTS = [["a", "b"], [], None, ["b"], [1, None]]
MIXED = [True, 1, "x", 1.5, None, [1], {"a": [{}]}]

# tables that are read, with the number of rows that have a label
TABLES: dict[str, tuple[Callable[[], Path], int]] = {
    "missing values": (lambda: as_csv(_missing()), 15),
    "huge integers": (lambda: as_lines({**plain(), "price": again(HUGE), "big": again(HUGE)}), N),
    "dates": (
        lambda: as_parquet(
            {
                "day": pa.array([(DAY + datetime.timedelta(i)).date() for i in range(N)]),
                "zone": pa.array(again([DAY, None]), pa.timestamp("us", tz="Asia/Tokyo")),
                "late": pa.array(again([10**12, None]), pa.timestamp("s", tz="Asia/Tokyo")),
                "time": pa.array(again([datetime.time(1), None, datetime.time(5)])),
                "wait": pa.array(again([datetime.timedelta(seconds=5), None])),
                "price": plain()["price"],
                "kind": pa.array(again([DAY, DAY.replace(year=2023), None]), pa.timestamp("s")),
            }
        ),
        12,
    ),
    "dates in a workbook": (
        lambda: as_workbook(
            {
                **plain(),
                "price": again([1.5, DAY.replace(tzinfo=None), None, 2.5]),
                "kind": again([DAY.date(), DAY.date().replace(year=2023)]),
            }
        ),
        N,
    ),
    "lists": (
        lambda: as_lines({**plain(), "price": again([1.5, [1, 2], None]), "kind": again(LISTS)}),
        10,
    ),
    "mixed types": (
        lambda: as_lines(
            {"title": again(MIXED), "flag": again([True, None, False]), "kind": again(MIXED[:5])}
        ),
        15,
    ),
    "empty strings and zero characters": (
        lambda: as_lines(
            {
                **plain(),
                "title": again(["", "a\0", " ", None]),
                "\0": again(["\0", "x"]),
                "": [i % 4 for i in range(N)],
                "kind": again(["a", "a\0", "\0b", ""]),
            }
        ),
        14,
    ),
    "long cells": (
        lambda: as_csv(
            {
                **plain(),
                "title": [f"word{i % 5} " * 15_000 if i == 5 else "short" for i in range(N)],
                "kind": again(["x", "y > z", "x" * 100_000]),
            }
        ),
        N,
    ),
    "numbers without end": (
        lambda: as_parquet(
            {
                "price": again([np.inf, -np.inf, np.nan, 1.0]),
                "far": again([1e308, -1e308]),
                "near": again([5e-324, 0.0]),
                "kind": again(["nan", "inf", "NA"]),
            }
        ),
        N,
    ),
    "types of pyarrow": (
        lambda: as_parquet(
            {
                **plain(),
                "object": pa.array(again([{"a": 1, "b": [1, None]}, None])),
                "map": pa.array(again([[("a", 1)]]), pa.map_(pa.string(), pa.int32())),
                "bytes": pa.array(again([b"\xff\x00", None])),
                "decimal": pa.array(again([Decimal("1.50"), None, Decimal("2")])),
                "nothing": pa.nulls(N),
                "large": pa.array(again([2**64 - 1, None, 3]), pa.uint64()),
                "kind": pa.array(again(["a", "b", None])).dictionary_encode(),
            }
        ),
        12,
    ),
    "names of results": (
        lambda: as_csv(
            {
                **plain(),
                **{name: again(["=1+1", "-", "@x"]) for name in ("prediction", "line", "finding")},
                **{name: [i % 4 for i in range(N)] for name in ("index", "<b>", "a > b", "nan")},
            }
        ),
        N,
    ),
    "two rows": (lambda: as_csv(plain(2)), 2),
    "UTF-16 with single returns": (
        lambda: as_csv(plain(), encoding="utf-16", lineterminator="\r"), N
    ),
}  # fmt: skip

# tables with zero characters, or with more characters in a cell than a workbook holds
NO_WORKBOOK = {"types of pyarrow", "empty strings and zero characters", "long cells"}

# tables that fit refuses, with a word of the error; other commands get a model of the plain table
REFUSED: dict[str, tuple[Callable[[], Path], str]] = {
    "lone surrogates": (
        lambda: as_lines({**plain(), "title": again(["x\ud800", "y"])}), "half of a surrogate pair"
    ),
    "one row": (lambda: as_csv(plain(1)), "one label only"),
    "one class": (lambda: as_csv({**plain(), "kind": ["A"] * N}), "one label only"),
    "one column": (lambda: as_csv({"kind": plain()["kind"]}), "no columns to learn from"),
    "two columns of one name": (_duplicates, "two columns have the name 'title'"),
    "no label": (lambda: as_csv({**plain(), "kind": [None] * N}), "no row has a target"),
    "no rows": (lambda: as_csv(plain(0)), "the table has no rows"),
}  # fmt: skip


# ---------------------------------------------------------------------- commands


def commands(table: Path, part: int | None) -> Iterator[tuple[str, list[Any]]]:
    """Commands that read a table, with outputs: all, or some of them, others for another part."""

    def some(ends: str, every: int) -> list[str]:
        words = ends.split()
        return words if part is None else words[part % every :: every]

    for end in some("csv tsv jsonl parquet xlsx", 5):
        yield "predict", ["m.palmette", table, "--out", f"p.{end}", "--explain", "--top", 2]
    for end in some("xlsx parquet csv tsv jsonl", 5):
        page = ["--html", "r.html"] if end in ("csv", "jsonl") else []
        yield "review", ["m.palmette", table, "--folds", 2, "--out", f"r.{end}", *page]
    outputs = ["--html", "q.html", "--json", "q.json", "--md", "q.md"]
    yield "report", ["m.palmette", table, *outputs]
    for name in some("card eval learn compare", 3):
        yield name, OTHERS[name](table)
    for end in some("jsonl xlsx parquet csv tsv", 5):
        yield "split", [table, "--target", "kind", "--out", f"s.{end}", "--test-out", f"u.{end}"]
        changes = ["m.palmette", "--map", "map.csv", "--table", table, "--dry-run"]
        yield "migrate", [*changes, "--report", f"g.{end}"]
    yield "hierarchy", [table]


def outs(stem: str, ends: str) -> list[str]:
    return [word for end in ends.split() for word in ("--out", f"{stem}.{end}")]


OTHERS: dict[str, Callable[[Path], list[Any]]] = {
    "card": lambda table: ["m.palmette", table, "--out", "card.md"],
    "eval": lambda table: ["m.palmette", table, "--json", "e.json"],
    "compare": lambda table: [
        table, "--target", "kind", "--models", "flat-naive-bayes", "--splits", 1,
        *outs("c", "json md csv"),
    ],
    "learn": lambda table: [
        table, "--target", "kind", "--method", "balanced", *outs("l", "json csv html svg")
    ],
}  # fmt: skip


OUTPUT = re.compile(r".+\.(csv|tsv|jsonl|parquet|xlsx|html|json|md|svg)")


class _Page(HTMLParser):
    """Reads a page to its end, which is `</html>`."""

    ended = False

    def handle_endtag(self, tag: str) -> None:
        self.ended = tag == "html"


def check_output(path: Path, n_rows: int | None) -> None:
    """Read a file that a command has written, and check the number of rows of predictions."""
    if path.stem == "p":
        frame = read_whole(TableSource.of(path))
        assert n_rows in (None, len(frame))
        assert "prediction" in frame
    elif path.stem == "r" and path.suffix != ".html":
        with suppress(ReadError):  # without findings a table has no rows, and JSON lines no columns
            assert "finding" in read_whole(TableSource.of(path))
    elif path.stem in ("s", "u"):
        assert len(read_whole(TableSource.of(path)))
    elif path.stem == "g":
        assert "needs_rows" in read_whole(TableSource.of(path))
    elif path.suffix == ".json":
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
        if path.stem == "l":
            assert Hierarchy.read(path).n_nodes > 1
        assert content
    elif path.suffix == ".html":
        page = _Page()
        page.feed(path.read_text(encoding="utf-8"))
        assert page.ended
    else:
        assert path.read_text(encoding="utf-8").strip()


def run_all(palmette: Any, table: Path, n_rows: int | None, part: int | None) -> set[str]:
    """Run the commands; return those that succeeded."""
    Path("map.csv").write_text("old,new\nA,B\n")
    succeeded = set()
    for name, words in commands(table, part):
        result = palmette(name, *words)
        sentence = f"palmette {name} {' '.join(map(str, words))}: {result.output[-2000:]}"
        assert result.exit_code in (0, 2), sentence
        assert result.exception is None or isinstance(result.exception, SystemExit), sentence
        assert "unexpected error" not in result.output, sentence
        outputs = [Path(str(word)) for word in words[1:] if OUTPUT.fullmatch(str(word))]
        outputs = [path for path in outputs if path not in (table, Path("map.csv"))]
        if result.exit_code:
            message = result.stderr[result.stderr.index("error: ") :]
            assert re.search(r"[^:\s] \S+ \S+", message), sentence  # more than the name of an error
            assert not any(path.exists() for path in outputs), sentence
            continue
        succeeded.add(name)
        for path in outputs:
            check_output(path, n_rows)
    return succeeded


def serve(table: Path) -> None:
    """Ask the server for the rows of a table, as JSON has them."""
    frame = read_whole(TableSource.of(table))
    rows = json.loads(
        frame.head(6).to_json(orient="records", date_format="iso", default_handler=str)
    )
    with TestClient(make_app(load("m.palmette"), "m"), raise_server_exceptions=True) as client:
        reply = client.post("/predict", json={"rows": rows})
    assert reply.status_code in (200, 422), reply.text
    if reply.status_code == 200:
        assert len(reply.json()["predictions"]) == len(rows)
    else:
        assert reply.json()["detail"].endswith(".")


# ---------------------------------------------------------------------- tests


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


FIT = ["--target", "kind", "--model", "flat-naive-bayes", "--folds", 0, "--out", "m.palmette"]


def check_answers(palmette: Any, name: str, part: int | None) -> None:
    make, n_labelled = TABLES[name]
    table = make()
    result = palmette("fit", table, *FIT)
    assert result.exit_code == 0, result.output
    n_rows = 2 if name == "two rows" else N
    succeeded = run_all(palmette, table, n_rows, part)
    refused = {"predict"} if name in NO_WORKBOOK and part is not None and part % 5 == 4 else set()
    assert {"predict", "report"} <= succeeded | refused
    report = json.loads(Path("q.json").read_text(encoding="utf-8"))
    assert report["setting"]["data"]["rows"] == n_labelled
    serve(table)


@pytest.mark.parametrize("part", range(len(TABLES)), ids=list(TABLES))
def test_strange_tables_have_answers(palmette, part):
    check_answers(palmette, list(TABLES)[part], part)


@pytest.mark.thorough
@pytest.mark.parametrize("name", TABLES)
def test_strange_tables_have_answers_in_every_form(palmette, name):
    check_answers(palmette, name, None)
    assert len(palmette("predict", "m.palmette", next(Path().glob("t.*"))).stdout) > 100


@pytest.fixture(scope="module")
def plain_model(tmp_path_factory):
    from palmette.persistence import save
    from palmette.table import fit_table

    path = tmp_path_factory.mktemp("model") / "m.palmette"
    save(fit_table(plain(), "kind", model="flat-naive-bayes", folds=0), path)
    return path.read_bytes()


@pytest.mark.parametrize("part", range(len(REFUSED)), ids=list(REFUSED))
def test_strange_tables_are_refused_with_a_reason(palmette, fails, plain_model, part):
    make, words = list(REFUSED.values())[part]
    table = make()
    assert words in fails("fit", table, *FIT)
    assert not Path("m.palmette").exists()
    Path("m.palmette").write_bytes(plain_model)
    run_all(palmette, table, len(pd.read_csv(table)) if table.suffix == ".csv" else None, part)
