"""Attack commands by the cells of tables, and print what came of it.

python -m tests.attack.cells --cells 1000000 --jobs 16    # from the root of the project
python -m tests.attack.cells --seed 0 --only 17           # one of the tables again

Each table is fitted, predicted by its own model and by another one, sent to a server in requests,
and given to one further command, in a child process; see `runner`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from tests.attack.__main__ import failures
from tests.attack.calls import Call
from tests.attack.runner import BAD, OUTCOMES, Job, Result, attack
from tests.attack.strange_tables import FORMATS, StrangeTable, draw, frame_of, shape_of
from tests.attack.victims import Victim
from tests.serving.fitted import TestClient, of_tables
from tests.table.goods import make_goods

from palmette.persistence import save
from palmette.serving import make_app
from palmette.table import fit_table

__all__ = ["TableJob", "attacked", "jobs_for"]

_MODELS = ("flat-naive-bayes", "flat-naive-bayes", "flat-logistic", "class-tree")
_OUTS = ("out.csv", "out.jsonl", "out.parquet", "out.tsv")
_QUICK = ["--model", "flat-naive-bayes", "--folds", 0]
_GROUP = 40  # tables of one format that one process tries before the next format
_N_SINGLE = 4  # rows that are sent alone


@dataclass(frozen=True)
class TableJob(Job):
    """One table; the victim is its format."""

    @property
    def rng(self) -> Random:
        return Random(f"{self.seed}/{self.number}/{self.victim}")

    @property
    def n_cells(self) -> int:
        n_rows, n_columns = shape_of(self.rng)
        return n_rows * n_columns

    def bytes_of(self, victim: Victim) -> tuple[bytes, str]:
        """Return the file, and how it is used."""
        rng = self.rng
        _, values, write = FORMATS[self.victim]
        shape = shape_of(rng)
        table = draw(rng, shape, values)
        words = f"{shape[0]} rows, {shape[1]} columns"
        return write(rng, table) if write else json.dumps(asdict(self)).encode(), words

    @property
    def command(self) -> str:
        return f"python -m tests.attack.cells --seed {self.seed} --only {self.number}"


def job_of(number: int, seed: int) -> TableJob:
    """Return a job by its number; formats take turns."""
    return TableJob(list(FORMATS)[number % len(FORMATS)], "cells", seed, number)


def jobs_for(n_cells: int, seed: int) -> list[TableJob]:
    """Return the first jobs that have so many cells together."""
    jobs: list[TableJob] = []
    while n_cells > 0:
        jobs.append(job_of(len(jobs), seed))
        n_cells -= jobs[-1].n_cells
    return jobs


# ---------------------------------------------------------------------- what is done with a table


@dataclass
class _Read:
    """A table and how it is used, which follows from its bytes."""

    source: Any  # the name of a file, or a DataFrame
    folder: Path
    rng: Random


def _victim(name: str) -> Victim:
    suffix, _, write = FORMATS[name]
    goods = make_goods(40)
    table = StrangeTable(list(goods.columns), [goods[each].tolist() for each in goods.columns])
    content = write(Random(1), table) if write else b""

    def read(file: Path) -> _Read:
        content = file.read_bytes()
        if write is not None:
            source: Any = file.with_suffix(suffix)
            source.write_bytes(content)
        elif content:
            rng = TableJob(**json.loads(content)).rng
            source = frame_of(draw(rng, shape_of(rng), "objects"))
        else:
            source = goods
        return _Read(source, file.parent, Random(len(content)))

    return Victim(content, read, _calls)


def _calls(read: _Read) -> Iterator[Call]:
    """Yield what is done with a table: the fit first, whose model predicts and answers."""
    fitted: list[Any] = []
    model_name = read.rng.choice(_MODELS)

    def fit() -> None:
        fitted.append(fit_table(read.source, "kind", model=model_name, folds=0, **_given(read.rng)))

    yield Call("fit_table", fit)
    for model in [*fitted, of_tables()]:
        yield Call("predict", lambda model=model: model.predict(read.source))
        yield Call("serve", lambda model=model: _serve(model, read))
    commands = _commands(read)
    if commands:
        yield read.rng.choice(commands)


def _given(rng: Random) -> dict[str, Any]:
    """Return what a user says about columns, mostly nothing."""
    if rng.random() < 0.6:
        return {}
    kinds = {"price": "number", "since": "date", "title": "text", "colour": "category"}
    names = rng.sample(list(kinds), 2)
    found: dict[str, Any] = {"columns": {name: kinds[name] for name in names}}
    if rng.random() < 0.3:
        found["decimal"] = ","
    if rng.random() < 0.3:
        found["date_format"] = rng.choice(("%d.%m.%Y", "%Y-%m-%d|%m/%d/%y", "%H:%M"))
    return found


def _commands(read: _Read) -> list[Call]:
    """Return one call of every command that takes a table from a file."""
    if not isinstance(read.source, Path):
        return []
    out, page = read.folder / read.rng.choice(_OUTS), read.folder / "out.html"
    model, fitted, table = _model_file(read.folder), read.folder / "m.palmette", read.source
    words: list[tuple[Any, ...]] = [
        ("fit", table, "--target", "kind", *_QUICK, "--skip-bad-rows", "--out", fitted),
        ("predict", model, table, "--out", out, "--skip-bad-rows"),
        ("predict", model, table, "--top", 2, "--out", out),
        ("review", model, table, "--folds", 2, "--out", out),
        ("review", model, table, "--folds", 0, "--html", page),
        ("report", model, table, "--bootstrap", 0, "--html", page),
        ("eval", model, table),
        ("compare", table, "--target", "kind", "--models", "flat-naive-bayes", "--splits", 1),
    ]  # fmt: skip
    return [Call(each[0], lambda each=each: _run(*each)) for each in words]


def _model_file(folder: Path) -> Path:
    file = folder / "goods.palmette"
    if not file.exists():
        save(of_tables(), file)
    return file


@cache
def _command() -> Any:
    import typer

    from palmette.cli.main import app

    return typer.main.get_command(app)


def _run(*words: Any) -> None:
    """Run a command in this process."""
    nothing = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # refuses what a terminal refuses
    with contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
        _command()(["--debug", *map(str, words)], standalone_mode=False)


def _serve(model: Any, read: _Read) -> None:
    """Send the rows of a table to the server of a model, all together and some alone."""
    from palmette.table._reading import as_frame

    frame = as_frame(read.source)
    times = {n: c.to_numpy().astype(str) for n, c in frame.items() if c.dtype.kind == "M"}
    records = frame.assign(**times).to_dict("records")
    rng = Random(0)
    with TestClient(make_app(model), raise_server_exceptions=False) as client:
        parts = [records, *([each] for each in rng.sample(records, min(len(records), _N_SINGLE)))]
        for path, rows in zip(["/predict", "/suggest"] * _N_SINGLE, parts, strict=False):
            body = json.dumps({"rows": rows}, default=str)
            _check(client.post(path, content=body, headers={"Content-Type": "application/json"}))
        _check(client.get("/health"))


def _check(reply: Any) -> None:
    if reply.status_code >= 500:
        raise RuntimeError(f"status {reply.status_code}: {reply.text[:300]}")
    if reply.status_code >= 400 and reply.headers["content-type"] != "application/problem+json":
        raise RuntimeError(f"status {reply.status_code} without a reason: {reply.text[:300]}")
    json.loads(reply.content)


# ---------------------------------------------------------------------- all tables


def attacked(jobs: Sequence[TableJob]) -> list[Result]:
    """Try tables of one format, in child processes."""
    return attack(_victim(jobs[0].victim), jobs)


def _results_of(jobs: Sequence[TableJob], n_processes: int) -> Iterator[list[Result]]:
    by_format = [[job for job in jobs if job.victim == name] for name in FORMATS]
    groups = [each[k : k + _GROUP] for each in by_format for k in range(0, len(each), _GROUP)]
    if n_processes == 1:
        yield from map(attacked, groups)
        return
    with ProcessPoolExecutor(n_processes, mp_context=get_context("spawn")) as pool:
        jobs_of = {pool.submit(attacked, group): group for group in groups}
        for future in as_completed(jobs_of):
            try:
                yield future.result()
            except Exception as error:
                words = f"the group: {type(error).__name__}: {error}"
                traceback.print_exc()
                yield [Result(job, "raw", message=words) for job in jobs_of[future]]


def table(results: Sequence[Result]) -> str:
    """Return the outcomes by format as a table."""
    counts: Counter[tuple[str, str]] = Counter()
    largest: dict[str, int] = {}
    slowest: dict[str, float] = {}
    for each in results:
        for name in (each.job.victim, "all"):
            counts[name, "tables"] += 1
            counts[name, "cells"] += each.job.n_cells  # type: ignore[attr-defined]
            counts[name, each.outcome] += 1
            largest[name] = max(largest.get(name, 0), each.mebibytes)
            slowest[name] = max(slowest.get(name, 0.0), each.seconds)
    columns = ("cells", "tables", *(name for name in OUTCOMES if name != "of sklearn"))
    lines = [f"{'format':12}" + "".join(f"{c:>10}" for c in (*columns, "MiB", "CPU s"))]
    for name in [*FORMATS, "all"]:
        if counts[name, "tables"]:
            numbers = "".join(f"{counts[name, c]:10,}" for c in columns)
            lines.append(f"{name:12}{numbers}{largest[name]:10,}{slowest[name]:10.1f}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and return 1 if a table did what none may do."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack.cells", description=__doc__)
    parser.add_argument("--cells", type=int, default=10_000, help="number of cells")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--only", type=int, help="only this table, by its number")
    parser.add_argument("--write", type=Path, help="where to write the table of --only")
    parser.add_argument("--traceback", action="store_true", help="of --only, in this process")
    given = parser.parse_args(arguments)
    if given.only is not None:
        return _one(job_of(given.only, given.seed), given)
    began = time.monotonic()
    results: list[Result] = []
    for found in _results_of(jobs_for(given.cells, given.seed), given.jobs):
        results += found
        bad = sum(each.is_bad for each in found)
        print(f"{len(results)} tables tried, {bad} bad", file=sys.stderr, flush=True)
    print(table(results))
    is_quiet = not any(each.outcome == "act" for each in results)
    print(f"network: {'none' if is_quiet else 'see act'}")
    print(f"{time.monotonic() - began:.0f} s, seed {given.seed}, {given.jobs} processes\n")
    print(failures(results))
    return int(any(each.is_bad for each in results))


def _one(job: TableJob, given: argparse.Namespace) -> int:
    victim = _victim(job.victim)
    content, change = job.bytes_of(victim)
    print(f"{job.victim}: {change}")
    if given.write:
        given.write.write_bytes(content)
    if given.traceback:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "attacked.palmette"
            file.write_bytes(content)
            for call in victim.calls(victim.load(file)):
                try:
                    call.do()
                    print(f"---- {call.name}: answered")
                except Exception:
                    print(f"---- {call.name}\n{traceback.format_exc()}")
    [result] = attack(victim, [job])
    print(f"{result.outcome}: {result.message} {result.where} ({result.seconds} s)")
    return int(result.outcome in BAD)


if __name__ == "__main__":
    sys.exit(main())
