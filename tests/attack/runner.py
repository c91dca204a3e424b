"""Try changed files in child processes: what they do to a process is seen from outside.

A file is made ready and used once unchanged, so that kernels are compiled; then the process forks.
The child tries many changes and reports each; if it dies or hangs, the parent knows which change it
was at, and forks another one for the rest. In a child nothing may be done outside: see `guard`.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import random
import re
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sklearn.exceptions import NotFittedError
from tests.attack.acts import acting_inside
from tests.attack.calls import Call
from tests.attack.guard import Acted, guarded
from tests.attack.mutators import MUTATORS, mutate
from tests.attack.victims import Victim, victims
from threadpoolctl import threadpool_limits

from palmette.exceptions import PalmetteError
from palmette.persistence import load
from palmette.persistence._skops import skops_io

__all__ = ["BAD", "OUTCOMES", "Job", "Result", "attack", "job_of", "jobs_of", "results_of"]

SECONDS = 10.0  # of processor time that one change may take
WAITING = 60.0  # seconds by the clock: a machine that runs other tests too is slower
BYTES = 2**30  # of memory that it may take
# "of sklearn": where the file holds an estimator of scikit-learn around ours, its own methods raise
# what they raise
OUTCOMES = ("refused", "answered", "of sklearn", "raw", "memory", "act", "hang", "signal")
BAD = OUTCOMES[3:]  # the worst last
_PER_CHILD = 500  # changes that a child tries
_ELEVENTH = 11  # every eleventh number is of a checkpoint


@dataclass(frozen=True)
class Job:
    """One change of a file; the same job always makes the same bytes."""

    victim: str
    mutator: str
    seed: int
    number: int

    def bytes_of(self, victim: Victim) -> tuple[bytes, str]:
        """Return the changed file, and what was done to it."""
        rng = random.Random(f"{self.seed}/{self.number}/{self.victim}/{self.mutator}")
        return mutate(victim.content, self.mutator, rng)

    @property
    def command(self) -> str:
        """The command that repeats it."""
        return (
            f"python -m tests.attack --seed {self.seed} --only {self.number}"
            f"    # {self.victim}, {self.mutator}"
        )


@dataclass
class Result:
    """What came of a job."""

    job: Job
    outcome: str
    change: str = ""  # what was done to the file
    message: str = ""  # of the error
    where: str = ""  # the last line of the package that was at work
    seconds: float = 0.0  # of processor time
    compiled: bool = False  # whether a kernel was compiled for other types of arrays
    mebibytes: int = 0  # of memory that it took at most

    @property
    def is_bad(self) -> bool:
        """Whether nothing of the kind may come of a file."""
        return self.outcome in BAD


def job_of(number: int, seed: int) -> Job:
    """Return a job by its number, which does not depend on how many there are.

    The files take turns, and so do the mutators of each.
    """
    lap, place = divmod(number, _ELEVENTH)
    is_checkpoint = place == _ELEVENTH - 1
    files = [n for n in victims() if n.startswith("checkpoint") == is_checkpoint]
    lap, place = divmod(lap if is_checkpoint else number - lap, len(files))
    mutators = list(MUTATORS)
    return Job(files[place], mutators[(place + lap) % len(mutators)], seed, number)


def jobs_of(n_files: int, n_checkpoints: int, seed: int) -> dict[str, list[Job]]:
    """Return jobs by file: the first of model files, and the first of checkpoints."""
    numbers = [k + k // (_ELEVENTH - 1) for k in range(n_files)]
    numbers += [_ELEVENTH * k + _ELEVENTH - 1 for k in range(n_checkpoints)]
    found: dict[str, list[Job]] = {}
    for number in numbers:
        job = job_of(number, seed)
        found.setdefault(job.victim, []).append(job)
    return found


def _run(name: str, jobs: Sequence[Job]) -> list[Result]:
    """Try all jobs of a file."""
    return attack(victims()[name](), jobs)


def results_of(by_file: dict[str, list[Job]], n_processes: int) -> Iterator[list[Result]]:
    """Yield the results of one file after the other, from some processes at the same time."""
    if n_processes == 1:
        yield from (_run(name, jobs) for name, jobs in by_file.items())
        return
    # checkpoints take longest, each a fit, and then tables of skrub
    slow = ("checkpoint", "Skrub", "Transformers")
    longest_first = sorted(by_file.items(), key=lambda item: not item[0].startswith(slow))
    with ProcessPoolExecutor(n_processes, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(_run, *item) for item in longest_first]):
            yield future.result()


def attack(victim: Victim, jobs: Sequence[Job]) -> list[Result]:
    """Try all changes of one file, in child processes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "attacked.palmette"
        _warm(victim, file)
        gc.freeze()  # a collection in a child would copy all memory that it shares
        found: list[Result] = []
        while len(found) < len(jobs):
            found += _in_child(victim, jobs[len(found) : len(found) + _PER_CHILD], file)
        return found


def _warm(victim: Victim, file: Path) -> None:
    skops_io()  # looks for many optional libraries, which is no act of a file
    file.write_bytes(victim.content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = victim.load(file)
        for call in victim.calls(loaded):
            outcome, *told = _outcome_of(call, loaded)
            if outcome in BAD:
                raise RuntimeError(f"of an unchanged file: {told}")


# ---------------------------------------------------------------------- the parent


def _in_child(victim: Victim, jobs: Sequence[Job], file: Path) -> list[Result]:
    """Return the results of the jobs that a child has done, and of the one that ended it."""
    log = file.with_suffix(".log")
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _run_child(victim, jobs, file, log, writing)  # does not return
    os.close(writing)
    found: list[Result] = []
    change, began, used = "", time.monotonic(), 0.0
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        pending = b""
        while True:
            ready, _, _ = select.select([pipe], [], [], 0.2)
            if not ready and not _is_over(pid, used, began):
                continue
            piece = pipe.read(2**16) if ready else None
            if piece is None:
                os.kill(pid, signal.SIGABRT)  # writes where it was
                os.waitpid(pid, 0)
                where = _where_in_log(log)
                result = Result(jobs[len(found)], "hang", change, "", where, SECONDS)
                return [*found, result]
            if not piece:
                break
            *lines, pending = (pending + piece).split(b"\n")
            for line in lines:
                told = json.loads(line)
                if "change" in told and "outcome" not in told:
                    change, began, used = told["change"], time.monotonic(), _used(pid)
                elif "failure" in told:
                    os.waitpid(pid, 0)
                    raise RuntimeError(f"{jobs[len(found)].command}: {told['failure']}")
                else:
                    found.append(Result(jobs[len(found)], **told))
    _, status = os.waitpid(pid, 0)
    if len(found) < len(jobs):
        code = os.waitstatus_to_exitcode(status)
        name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        found.append(Result(jobs[len(found)], "signal", change, name, _where_in_log(log)))
    return found


def _is_over(pid: int, used: float, began: float) -> bool:
    return _used(pid) - used > SECONDS or time.monotonic() - began > WAITING


def _used(pid: int) -> float:
    """Return the processor time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _where_in_log(log: Path) -> str:
    """Return the innermost line of Python that a process was at when it ended."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    found = [line.strip() for line in lines if line.strip().startswith("File ")]
    ours = [line for line in found if "palmette" in line or "sklearn" in line]
    return _short((ours or found or [""])[0])


def _short(line: str) -> str:
    for mark in ("site-packages/", "src/"):
        line = line.rpartition(mark)[2]
    return line.replace('"', "")


# ---------------------------------------------------------------------- the child


def _run_child(victim: Victim, jobs: Sequence[Job], file: Path, log: Path, writing: int) -> None:
    code = 0
    try:
        with os.fdopen(writing, "wb", buffering=0) as pipe, open(log, "wb", buffering=0) as trace:
            faulthandler.enable(trace, all_threads=False)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            with open(os.devnull, "wb") as nothing:
                os.dup2(nothing.fileno(), 1)
                os.dup2(nothing.fileno(), 2)
            _watch_compiler()
            _reserve_little()
            warnings.simplefilter("ignore")
            for job in jobs:
                trace.seek(0)
                trace.truncate()
                _try(victim, job, file, pipe)
    except BaseException:
        code = 70
    os._exit(code)


def _reserve_little() -> None:
    """Reserve little of the address space, which has a limit, for stacks of threads and pyarrow.

    OpenBLAS sends SIGINT if it cannot start a thread; pyarrow reserves up to 1 GiB at once.
    """
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        last = os.getpid() % len(allowed)
        os.sched_setaffinity(0, {allowed[last - 1], allowed[last]})
    threadpool_limits(1)
    if "pyarrow" in sys.modules:
        pyarrow: Any = sys.modules["pyarrow"]
        pyarrow.set_memory_pool(pyarrow.system_memory_pool())
        pyarrow.set_cpu_count(1)
        pyarrow.set_io_thread_count(1)


def _try(victim: Victim, job: Job, file: Path, pipe: Any) -> None:
    def tell(**told: Any) -> None:
        pipe.write(json.dumps(told).encode() + b"\n")

    try:
        content, change = job.bytes_of(victim)
    except BaseException:
        tell(failure=traceback.format_exc())
        raise
    file.write_bytes(content)
    change = change[:200]
    del content
    tell(change=change)
    before = len(_compiled)
    resident = _resident("VmRSS")
    with suppress(OSError):  # forget the largest so far; some containers do not allow it
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    began = time.process_time()
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + BYTES, resource.RLIM_INFINITY))
    try:
        outcome, message, where = _outcome(victim, file)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    tell(
        outcome=outcome,
        change=change,
        message=message,
        where=where,
        seconds=round(time.process_time() - began, 3),
        compiled=len(_compiled) > before,
        mebibytes=max(0, _resident("VmHWM") - resident) // 1024,
    )


def _resident(name: str) -> int:
    """Return the memory of this process, now (VmRSS) or at most (VmHWM), in KiB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition(f"{name}:")[2].split()[0])


def _outcome(victim: Victim, file: Path) -> tuple[str, str, str]:
    """Return the worst outcome of loading a file and of all calls, its message and its place."""
    worst = ("answered", "", "")
    tempfile.tempdir = str(file.parent)
    try:
        with guarded(folders=[file.parent]):
            loaded = victim.load(file)
            acting = next(acting_inside(loaded), None) if victim.load is load else None
            if acting is not None:
                worst = ("act", f"load: {acting[:200]} came from the file", "")
            for call in victim.calls(loaded):
                worst = max(worst, _outcome_of(call, loaded), key=_badness)
    except BaseException as error:
        worst = max(worst, _named(error, "load"), key=_badness)
    outcome, message, where = worst
    return outcome, message.replace(f"{file.parent}/", ""), where


def _badness(found: tuple[str, str, str]) -> int:
    # what is refused once is refused, whatever else is answered
    return ("answered", "refused", *OUTCOMES[2:]).index(found[0])


def _outcome_of(call: Call, loaded: Any) -> tuple[str, str, str]:
    try:
        call.do()
    except BaseException as error:
        outcome, message, where = _named(error, call.name)
        if outcome == "raw" and _says_that_it_is_missing(error, loaded, call.name):
            outcome = "refused"
        is_foreign = type(loaded).__module__.startswith("sklearn.")
        if outcome == "raw" and is_foreign and isinstance(error, Exception):
            outcome = "of sklearn"
        return outcome, message, where
    return "answered", "", ""


def _named(error: BaseException, step: str) -> tuple[str, str, str]:
    told = f"{step}: {type(error).__name__}: {str(error)[:200]}", _where(error)
    chain: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in chain:
        chain.append(each)
        each = each.__cause__ or each.__context__
    if any(isinstance(each, Acted) for each in chain):
        return "act", *told
    if any(isinstance(each, MemoryError) for each in chain):
        return "memory", *told
    if isinstance(error, PalmetteError) or (step != "load" and _is_of_the_input(error)):
        return "refused", *told
    return "raw", *told


def _is_of_the_input(error: BaseException) -> bool:
    """Whether scikit-learn says that a model is not fitted, or was fitted on other columns."""
    if isinstance(error, NotFittedError):
        return True
    frames = traceback.extract_tb(error.__traceback__)
    checks = ("_check_n_features", "_check_feature_names")
    return isinstance(error, ValueError) and frames[-1].name in checks


def _says_that_it_is_missing(error: BaseException, loaded: Any, name: str) -> bool:
    """Whether a model says that it has no such method, as `hasattr` does of it then."""
    words = f"{type(loaded).__name__}.* has no attribute {name!r}"
    return isinstance(error, AttributeError) and bool(re.search(words, str(error)))


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/palmette/" in f.filename or "/sklearn/" in f.filename]
    last = (ours or frames)[-1]
    return _short(f"{last.filename}, line {last.lineno} in {last.name}")


def _address_space() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


_compiled: list[Any] = []


def _watch_compiler() -> None:
    """Note each kernel that is compiled, and keep it out of the cache on disk."""
    from numba.core import caching, event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            _compiled.append(event.data)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())
    caching.Cache.save_overload = lambda *_: None  # type: ignore[method-assign]


if sys.platform == "win32":  # pragma: no cover
    raise ImportError("children are forked")
