"""Kill work at random moments, fill its disk, or forbid its folder: nothing written is lost.

`python -m tests.attack.kills --kills 20` prints two tables in Markdown; the exit code is 1 if
something was lost. Kills are SIGKILL, half of them at a random moment of the whole run and half
just after a temporary file appeared; SIGTERM with `--signal TERM`. Work runs in forks of this
process, which has imported the libraries but compiled no kernels.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import pickle
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.table.goods import make_goods

import palmette as pm
import palmette.cli._terminal
import palmette.compare
import palmette.reporting
from palmette.cli.main import main as command_line
from palmette.compare import ResultStore
from palmette.persistence import load, save
from palmette.persistence.checkpoints import read_checkpoint
from palmette.table._predicting import predict_chunks
from palmette.table._sources import TableSource

OLD = "what was there before"
MOMENTS = ("whole run", "temporary file")


# ---------------------------------------------------------------------- the work


@dataclass(frozen=True)
class Task:
    """Something that writes files.

    Parameters
    ----------
    name : str
    prepare, work : callable
        Called with a folder: they make the input, and do the work.
    result : callable
        Returns what two complete runs must have in common.
    output : str
        The file that is replaced.
    is_whole : callable
        Whether the bytes of the output are complete.
    keeps : callable
        Returns what an interrupted run must not lose.
    """

    name: str
    prepare: Callable[[Path], None]
    work: Callable[[Path], None]
    result: Callable[[Path], Any]
    output: str
    is_whole: Callable[[Path], bool]
    keeps: Callable[[Path], Any] = field(default=lambda folder: None)


def _run(*words: object) -> None:
    sys.argv = ["palmette", *map(str, words)]
    try:
        command_line()
    except SystemExit as end:
        if end.code:
            raise


def _write_old(folder: Path, name: str) -> None:
    (folder / name).write_text(OLD)


def _is_old_or(check: Callable[[Path], Any], name: str) -> Callable[[Path], bool]:
    """Return a test whether a file is the old one, or a new one that passes a check."""

    def is_whole(folder: Path) -> bool:
        path = folder / name
        if not path.exists() or path.read_bytes() == OLD.encode():
            return True
        try:
            check(path)
        except Exception:
            return False
        return True

    return is_whole


# a checkpointed fit


def _boosting() -> Any:
    return pm.HierarchicalBoostingClassifier(n_bags=1, n_estimators=25, random_state=0)


def _rows() -> tuple[Any, list[str]]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 8, 400)
    return rng.normal(size=(400, 6)) + y[:, None], [("ab"[k % 2], f"c{k}") for k in y.tolist()]


def _fit_and_save(folder: Path) -> None:
    clf = _boosting().set_callbacks(pm.Checkpoint(folder / "run.ckpt", every_rounds=1))
    save(clf.fit(*_rows()).set_callbacks(), folder / "model.palmette")


def _proba(folder: Path) -> Any:
    return load(folder / "model.palmette").predict_proba(_rows()[0]).tobytes()


# the command line


def _goods(folder: Path) -> None:
    make_goods(300).to_csv(folder / "goods.csv", index=False)


def _fit_table(folder: Path) -> None:
    words = ["--target", "kind", "--model", "flat-logistic", "--folds", 0]
    _run("fit", folder / "goods.csv", *words, "--out", folder / "model.palmette")


def _answers(folder: Path) -> Any:
    rows = TableSource.of(folder / "goods.csv")
    return pd.concat(list(predict_chunks(load(folder / "model.palmette"), rows))).to_csv()


def _make_model(folder: Path) -> None:
    _goods(folder)
    _fit_table(folder)
    _write_old(folder, "out.csv")


def _predict(folder: Path) -> None:
    words = [folder / "model.palmette", folder / "goods.csv", "--chunk-rows", 5, "--explain"]
    _run("predict", *words, "--out", folder / "out.csv")


def _save(folder: Path) -> None:
    model = load(folder / "model.palmette")
    for _ in range(2):
        save(model, folder / "copy.palmette")


def _compare(folder: Path) -> None:
    words = ["--target", "kind", "--models", "flat,flat-logistic", "--splits", 3]
    store, out = folder / "run.jsonl", folder / "out.csv"
    _run("compare", folder / "goods.csv", *words, "--resume", store, "--out", out)


def _scores(folder: Path) -> Any:
    rows = pd.read_csv(folder / "out.csv").drop(columns=["fit_cpu_s", "predict_cpu_s", "peak_mib"])
    return rows.to_csv().replace(str(folder), "")


def _lines(folder: Path) -> list[bytes]:
    """Return the complete lines of the store: finished fits, which are not computed again."""
    path = folder / "run.jsonl"
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def _is_table(path: Path) -> None:
    assert len(pd.read_csv(path)) == 300


TASKS = [
    Task("fit with Checkpoint", lambda folder: None, _fit_and_save, _proba, "run.ckpt",
         _is_old_or(read_checkpoint, "run.ckpt")),
    Task("save", _make_model, _save, lambda folder: (folder / "copy.palmette").read_bytes(),
         "copy.palmette", _is_old_or(load, "copy.palmette")),
    Task("palmette fit", lambda f: (_goods(f), _write_old(f, "model.palmette")), _fit_table,
         _answers, "model.palmette", _is_old_or(load, "model.palmette")),
    Task("palmette predict", _make_model, _predict,
         lambda folder: (folder / "out.csv").read_bytes(), "out.csv",
         _is_old_or(_is_table, "out.csv")),
    Task("palmette compare --resume", lambda f: (_goods(f), _write_old(f, "out.csv")), _compare,
         _scores, "run.jsonl", lambda folder: bool([json.loads(x) for x in _lines(folder)] or 1),
         _lines),
]  # fmt: skip


# ---------------------------------------------------------------------- children


def _fork(work: Callable[[], Any], log: Path) -> int:
    """Run work in a fork, whose result is written to the log; return its number."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        with log.open("w") as stream, contextlib.redirect_stdout(stream):
            with contextlib.redirect_stderr(stream):
                answer = work()
            log.with_suffix(".answer").write_bytes(pickle.dumps(answer))
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        with log.open("a") as stream:
            traceback.print_exc(file=stream)
    finally:
        os._exit(code)


def _code(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _finish(work: Callable[[], Any], log: Path) -> Any:
    """Run work to its end, and return its result."""
    log.with_suffix(".answer").write_bytes(pickle.dumps(None))
    code = _code(_fork(work, log))
    if code:
        raise RuntimeError(f"ended with {code}:\n{log.read_text()}")
    return pickle.loads(log.with_suffix(".answer").read_bytes())


def _litter(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def _kill(child: int, folder: Path, moment: str, delay: float, number: int) -> None:
    end = time.monotonic() + delay
    if moment == MOMENTS[1]:
        while not [*folder.glob(".palmette-*")]:
            time.sleep(0.0005)
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return
        time.sleep(random.Random(delay).choice([0.0, 0.001, 0.01, 0.1]))
    else:
        time.sleep(max(end - time.monotonic(), 0))
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, number)


# ---------------------------------------------------------------------- kills


@dataclass
class Row:
    """Counts of one task."""

    kills: int = 0
    inside: int = 0
    litter: int = 0
    left: int = 0
    broken: int = 0
    different: int = 0
    lost: int = 0

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost."""
        return not (self.left or self.broken or self.different or self.lost)


def kill(task: Task, n_kills: int, number: int, seed: int, home: Path) -> Row:
    """Kill a task several times; after each kill, run it again to its end."""
    rng = random.Random(f"{seed}/{task.name}")
    log, start = home / "log", home / "start"
    start.mkdir()
    _finish(lambda: task.prepare(start), log)
    whole = home / "whole"
    shutil.copytree(start, whole)
    _finish(lambda: task.work(whole), log)  # compiles kernels
    shutil.rmtree(whole)
    shutil.copytree(start, whole)
    begin = time.monotonic()
    _finish(lambda: task.work(whole), log)
    seconds = time.monotonic() - begin
    wanted = _finish(lambda: task.result(whole), log)
    row = Row()
    for place in range(n_kills):
        folder = home / f"kill{place}"
        shutil.copytree(start, folder)
        child = _fork(lambda folder=folder: task.work(folder), log)
        _kill(child, folder, MOMENTS[place % 2], rng.random() * seconds, number)
        row.kills += 1
        row.inside += _code(child) != 0
        row.litter += len(_litter(folder))
        row.broken += not _finish(lambda folder=folder: task.is_whole(folder), log)
        kept = task.keeps(folder)
        _finish(lambda folder=folder: task.work(folder), log)
        row.left += len(_litter(folder))
        row.different += _finish(lambda folder=folder: task.result(folder), log) != wanted
        row.lost += kept is not None and task.keeps(folder)[: len(kept)] != kept
        shutil.rmtree(folder)
    return row


def _kills(names: list[str], n_kills: int, number: int, seed: int) -> bool:
    print(
        "| work | kills | killed before its end | temporary files left by the kills | left after "
        "the next run | incomplete files | other results after the next run | finished parts lost |"
    )
    print("|---|" + "---:|" * 7)
    good = True
    for task in TASKS:
        if names and task.name not in names:
            continue
        with tempfile.TemporaryDirectory() as home:
            row = kill(task, n_kills, number, seed, Path(home))
        cells = (row.kills, row.inside, row.litter, row.left, row.broken, row.different, row.lost)
        print(f"| {task.name} | {' | '.join(map(str, cells))} |", flush=True)
        good &= row.is_good
    return good


# ---------------------------------------------------------------------- full disks


@contextlib.contextmanager
def _small_disk(folder: Path, size: str = "64k") -> Iterator[Callable[[], None] | None]:
    """Mount a small disk; gives a function that makes it read-only, None if that is not allowed."""
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.name != "posix" or os.geteuid() or subprocess.run(words, capture_output=True).returncode:
        yield None
        return
    try:
        yield lambda: subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _write_checkpoint(model: Path, table: Path, out: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _boosting().set_callbacks(pm.Checkpoint(out, every_rounds=10)).fit(*_rows())
    print("a warning, no error:", caught[0].message)  # the fit goes on
    sys.exit(0)


def _write_model(model: Path, table: Path, out: Path) -> None:
    save(load(model), out)


def _fill_store(model: Path, table: Path, out: Path) -> None:
    words = ["--target", "kind", "--models", "flat", "--splits", 2]
    _run("compare", table, *words, "--resume", out)


WRITERS: list[tuple[str, str, Callable[[Path, Path, Path], None]]] = [
    ("save", "m.palmette", _write_model),
    ("Checkpoint", "run.ckpt", _write_checkpoint),
    ("palmette fit", "m.palmette", lambda model, table, out: _run(
        "fit", table, "--target", "kind", "--model", "flat-logistic", "--folds", 0, "--out", out)),
    ("palmette predict", "o.csv", lambda model, table, out: _run(
        "predict", model, table, "--out", out)),
    ("palmette predict", "o.parquet", lambda model, table, out: _run(
        "predict", model, table, "--out", out)),
    ("palmette report", "o.html", lambda model, table, out: _run(
        "report", model, table, "--bootstrap", 0, "--html", out)),
    ("palmette learn", "t.json", lambda model, table, out: _run(
        "learn", table, "--target", "kind", "--out", out)),
    ("palmette compare --resume", "r.jsonl", _fill_store),
]  # fmt: skip


def _old_content(home: Path, name: str) -> bytes:
    """Return the content of the file that is to be replaced; a store must be one."""
    if name.endswith(".jsonl"):
        path, cell = home / "old.jsonl", {"dataset": "d", "split": "s", "model": "m"}
        path.unlink(missing_ok=True)
        ResultStore(path).put(cell, {"a": ""})
        size = len(path.read_bytes())
        path.unlink()
        ResultStore(path).put(cell, {"a": " " * (4096 - size)})  # a full page
        return path.read_bytes()
    return OLD.encode()


def _disks() -> bool:
    print("\n| work | place | message | exit code | old file unchanged | other files |")
    print("|---|---|---|---:|---|---:|")
    good = True
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        log, (model, table) = home / "log", (home / "model.palmette", home / "goods.csv")
        _finish(lambda: _make_model(home), log)
        for title, file, work in WRITERS:
            for place in ("full disk", "read-only folder"):
                disk = home / "disk"
                disk.mkdir(exist_ok=True)
                with _small_disk(disk) as forbid:
                    good &= _refused(title, disk / file, place, work, (home, model, table, forbid))
    return good


def _refused(title: str, out: Path, place: str, work: Any, given: tuple[Any, ...]) -> bool:
    home, model, table, forbid = given
    for path in out.parent.iterdir():
        path.unlink()
    old = None if out.suffix == ".ckpt" else _old_content(home, out.name)
    if old is not None:
        out.write_bytes(old)
    log = home / "log"
    limit = None
    if place == "full disk" and forbid is not None:
        with contextlib.suppress(OSError), (out.parent / "filler").open("wb", 0) as stream:
            while True:
                stream.write(b"0" * 1024)
    elif place == "full disk":
        limit = len(old or b"") + 100
    elif forbid is None:
        if os.geteuid() == 0:
            return True  # nothing is forbidden
        out.parent.chmod(0o555)
    else:
        forbid()

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        work(model, table, out)

    code = _code(_fork(limited, log))
    out.parent.chmod(0o755) if forbid is None else None
    lines = log.read_text().strip().splitlines()
    words = next((x for x in reversed(lines) if "rror" in x or "cannot" in x), "no message")
    kept = not out.exists() if old is None else out.read_bytes() == old
    others = [path for path in out.parent.iterdir() if path.name not in (out.name, "filler")]
    place = place if forbid is not None or place != "full disk" else "limit of the size of files"
    shown = words.replace(str(out.parent), "DISK").replace("|", "/")
    ended = code if title.startswith("palmette") else "–"
    print(f"| {title} | {place} | {shown} | {ended} | {'yes' if kept else 'NO'} | {len(others)} |")
    sys.stdout.flush()
    is_said = code == 2 if title.startswith("palmette") else words != "no message"
    return is_said and kept and not others


def _import_all(few: bool) -> None:
    """Import what commands import, so that forks need not."""
    with (
        tempfile.TemporaryDirectory() as home,
        open(os.devnull, "w") as nothing,
        contextlib.redirect_stdout(nothing),
        contextlib.redirect_stderr(nothing),
    ):
        for work in (_make_model, _save, _predict) + (() if few else (_compare,)):
            work(Path(home))
    gc.freeze()  # forks share the memory


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--task", action="append", choices=[task.name for task in TASKS])
    parser.add_argument("--signal", choices=["KILL", "TERM"], default="KILL")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-disks", action="store_true")
    given = parser.parse_args()
    _import_all(bool(given.task) and "palmette compare --resume" not in given.task)
    number = signal.SIGKILL if given.signal == "KILL" else signal.SIGTERM
    good = _kills(given.task or [], given.kills, number, given.seed)
    if not given.no_disks:
        good &= _disks()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
