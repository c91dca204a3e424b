"""Larger than memory, and more than one process: tables on disk, and workers of a Dask cluster.

    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py make --rows 10000000 --out big.parquet
    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py table big.parquet --memory 2 [--model NAME]
    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py report MODEL big.parquet [--command eval]
    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py workers [local forest grid boosting]
    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py together [--times 5] [--rows 20000]
    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py calls [--times 300]
    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py messages [--workers 1 2 16 64]
    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py classes 10000 100000 --out classes.jsonl

`make` writes a table of 20 numbers, a text of six words and a path of three levels (200 leaves).
`table` runs ``palmette fit`` on a table with a class tree, or another model, and no
cross-validation, and prints rows, seconds, CPU seconds and their microseconds per row, and the
largest memory of the process: anonymous pages, which are its own, and resident ones, which count
the pages of mapped files that the system may drop at any time. With a large ``--memory`` the same
model is fitted in memory. ``--options="--drop text"`` are further ones of ``palmette fit``.
`report` prints the same of ``palmette report``, or ``palmette eval``, for a model of that command.

`workers` fits the same models with no cluster, one worker process and two, all started before:
522 local logistic regressions, a structured forest, a grid of 50 cells of a comparison, and 40
rounds of boosting on 1,000,000 rows. Overhead is what one worker takes beyond no cluster. A line
per run has the CPU seconds of this process, with the scheduler, and of all workers: on a busy
machine they count, and the larger of both sides bounds what several machines would take. With
``--again`` a fit is measured after another one on the same workers, which have loaded everything.

`together` fits the local models on two workers with small jobs sent together, as they are, and with
a message per job, one after the other, several times, and prints medians.

`calls` calls a method of an object on each of two workers, by connections of Palmette and by those
of Dask, alternately, and prints wall-clock and CPU milliseconds per call.

`messages` boosts with rows on workers that are objects of this process, counts the messages and
their bytes, and prints beside them what they are on paper. Trees must be those of one process.

`classes` fits a class tree, linear routers along a tree of four levels, to 2,000,000 rows of 20
words out of 100,000, for growing numbers of classes, each in a process of its own. It appends what
it measures to the file, and prints all lines of the file with the exponents between them. Peak
memory is that of the process, with X and the libraries.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scale_cell import label_sets, one_path
from scipy import sparse

import palmette as pm
from palmette.compare import Problem, compare, environment

N_LEAVES, N_WORDS = 200, 20_000
PART_ROWS = 250_000


def make(rows, out, seed=0):
    """Write a Parquet file, a quarter of a million rows at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    own = rng.integers(N_WORDS, size=(N_LEAVES, 60))
    means = rng.normal(size=(N_LEAVES, 20)).astype(np.float32)
    vocabulary = np.array([f"w{i:05d}" for i in range(N_WORDS)])
    names = np.array([f"Dept {k // 20}/Aisle {k // 5}/Shelf {k}" for k in range(N_LEAVES)])
    writer = None
    for start in range(0, rows, PART_ROWS):
        n = min(PART_ROWS, rows - start)
        leaf = (N_LEAVES * rng.random(n) ** 1.5).astype(int)
        common = (N_WORDS * rng.random((n, 6)) ** 2).astype(int)
        mine = own[leaf[:, None], rng.integers(60, size=(n, 6))]
        chosen = vocabulary[np.where(rng.random((n, 6)) < 0.4, mine, common)]
        X = rng.standard_normal((n, 20), dtype=np.float32) * 3 + means[leaf]
        columns = {f"x{j}": X[:, j] for j in range(20)}
        part = pa.table(
            {
                "text": pa.array([" ".join(row) for row in chosen]),
                **columns,
                "path": pa.array(names[leaf]).dictionary_encode(),
            }
        )
        writer = writer or pq.ParquetWriter(out, part.schema)
        writer.write_table(part)
    writer.close()


def table(path, memory, model, options):
    """Run `palmette fit` in a process of its own, and watch its memory."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-m", "palmette.cli.main", "fit", path, "--target", "path"),
            *("--model", model, "--folds", "0", "--time", "0", *options.split()),
            *("--out", str(Path(folder, "model.palmette"))),
            *(() if memory is None else ("--memory", str(memory))),
        ]
        watched(command, path, f"palmette fit, {model}")


def report(model, path, name, options):
    """Run `palmette report`, or `palmette eval`, in a process of its own, and watch its memory."""
    command = [sys.executable, "-m", "palmette.cli.main", name, model, path, *options.split()]
    watched(command, path, f"palmette {name}")


def watched(command, path, title):
    """Run a command, and print its seconds and its memory, with the rows of its table."""
    import pyarrow.parquet as pq

    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    largest, cpu = {"RssAnon": 0, "VmRSS": 0}, 0.0
    while process.poll() is None:
        for name, value in memory_of(process.pid).items():
            largest[name] = max(largest[name], value)
        cpu = max(cpu, cpu_of(process.pid))
        time.sleep(0.2)
    seconds = time.perf_counter() - begun
    if process.returncode:
        raise SystemExit(f"{title} ended with {process.returncode}")
    anonymous, resident = (value / 2**20 for value in largest.values())
    rows = pq.read_metadata(path).num_rows
    print(
        f"{title}, {rows:,} rows: {seconds:.0f} s, {cpu:.0f} CPU s ({cpu / rows * 1e6:.0f} us per "
        f"row), {anonymous:.2f} GiB of its own, {resident:.2f} GiB with mapped files"
    )


def memory_of(pid):
    """Return KiB by kind; nothing once the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.split(":") for line in lines)
    return {k: int(v.split()[0]) for k, v in pairs if k in ("RssAnon", "VmRSS")}


def cpu_of(pid):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / 100  # ticks of user and system time


def local_models(client, rows=20_000):
    from sklearn.linear_model import LogisticRegression

    X, names = one_path(rows, 50, 500)
    model = pm.LocalPerNodeClassifier(LogisticRegression(), client=client)
    return lambda: model.fit(X, names)


def forest(client):
    X, Y = label_sets(10_000, 40, 20)
    model = pm.StructuredForestClassifier(random_state=0, client=client)
    return lambda: model.fit(X, Y)


def grid(client):
    rng = np.random.default_rng(0)
    codes = rng.integers(10, size=3000)
    X = rng.normal(size=(3000, 30)) + rng.normal(size=(10, 30))[codes]
    names = np.array([f"group {k // 3}/class {k}" for k in range(10)])
    h = pm.Hierarchy.from_paths([tuple(name.split("/")) for name in names])
    problem = Problem("made up", h, X, names[codes])
    models = ["class-tree", "mf-tree", "local-per-parent", "flat-extra-trees", "adaboost-bhc"]
    return lambda: compare([problem], models, n_splits=10, client=client)


def boosting(client, rows=1_000_000, labels=20, rounds=40):
    X, names = one_path(rows, 20, labels)
    h = pm.Hierarchy.from_paths([tuple(name.split("/")) for name in np.unique(names)])
    model = pm.HierarchicalBoostingClassifier(
        h, n_estimators=rounds, random_state=0, n_bags=1, client=client
    )
    return lambda: model.fit(X, names)


JOBS = {"local": local_models, "forest": forest, "grid": grid, "boosting": boosting}


def workers(names, again=False):
    from distributed import Client, LocalCluster

    print("| job | no cluster, s | 1 worker | 2 workers | times | overhead | CPU s here, there |")
    print("|---|---|---|---|---|---|---|")
    for name in names:
        JOBS[name](None)()  # kernels are compiled
        seconds, cpu = [timed(JOBS[name](None))], []
        for n in (1, 2):
            with (
                LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=None) as cluster,
                Client(cluster, set_as_default=False) as client,
            ):
                client.run(_load)
                fit = JOBS[name](client)
                if again:
                    fit()
                before = time.process_time(), client.run(time.process_time)
                seconds.append(timed(fit))
                here = time.process_time() - before[0]
                there = client.run(time.process_time)
                cpu.append((here, [there[key] - before[1][key] for key in there]))
        alone, one, two = seconds
        used = "; ".join(
            f"{here:.1f}, {' + '.join(f'{each:.1f}' for each in there)}" for here, there in cpu
        )
        print(
            f"| {name} | {alone:.1f} | {one:.1f} | {two:.1f} | {one / two:.2f} | "
            f"{one - alone:.1f} | {used} |"
        )


def together(times, rows):
    """Compare jobs that are sent together with one message per job, alternately."""
    from distributed import Client, LocalCluster

    from palmette.base import _cluster

    found = {"together": [], "one by one": []}
    local_models(None, rows)()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.run(_load)
        fit = local_models(client, rows)
        fit()
        for _ in range(times):
            for name, groups in (("together", _cluster._GROUPS), ("one by one", 10**9)):
                before = time.process_time(), sum(client.run(time.process_time).values())
                with patch.object(_cluster, "_GROUPS", groups):
                    seconds = timed(fit)
                here = time.process_time() - before[0]
                there = sum(client.run(time.process_time).values()) - before[1]
                found[name].append((seconds, here, there))
    print("| jobs are sent | seconds | CPU s here | CPU s of the workers |")
    print("|---|---|---|---|")
    for name, runs in found.items():
        cells = " | ".join(f"{each:.2f}" for each in np.median(runs, axis=0))
        print(f"| {name} | {cells} |")


class Echo:
    """An object on a worker that returns numbers, as many as the sums of a level."""

    def __init__(self, size):
        self.numbers = np.zeros(size, np.float32)

    def give(self, size):
        return self.numbers[:size]


def calls(times):
    """Compare calls by connections of Palmette with those of Dask, alternately."""
    from distributed import Client, LocalCluster

    from palmette.boosting._team import team_on

    found = {}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
        team_on(client, Echo, lambda threads: [(50_000,)] * len(threads)) as team,
    ):
        lines = team._lines
        for turn in range(4):  # the first one is not counted
            for way, used in (("of Palmette", lines), ("of Dask", ())):
                for size in (10, 50_000):
                    team._lines = used
                    before = time.process_time(), sum(client.run(time.process_time).values())
                    begun = time.perf_counter()
                    for _ in range(times):
                        team.call("give", size)
                    wall = time.perf_counter() - begun
                    here = time.process_time() - before[0]
                    there = sum(client.run(time.process_time).values()) - before[1]
                    if turn:
                        found.setdefault((way, size), []).append((wall, here, there / 2))
        team._lines = lines
    print("| connections | bytes of an answer | ms per call | CPU ms here | of each worker |")
    print("|---|---|---|---|---|")
    for (way, size), runs in found.items():
        cells = " | ".join(f"{each / times * 1e3:.2f}" for each in np.median(runs, axis=0))
        print(f"| {way} | {4 * size:,} | {cells} |")


def _load():
    """Import what a worker needs, which happens once."""
    from palmette import StructuredForestClassifier  # noqa: F401
    from palmette.compare import compare  # noqa: F401


# ---------------------------------------------------------------------- messages


class CountedTeam:
    """Workers that are objects of this process; messages and their bytes are counted."""

    def __init__(self, kind, parts):
        self.members = [kind(*part) for part in parts]
        self.n_messages = self.n_sent = self.n_received = 0

    def call(self, method, *given):
        return self.call_each(method, [given] * len(self.members))

    def call_each(self, method, given):
        found = []
        for member, own in zip(self.members, given, strict=True):
            found.append(getattr(member, method)(*own))
            self.n_messages += 2
            self.n_sent += len(pickle.dumps((method, own), pickle.HIGHEST_PROTOCOL))
            self.n_received += len(pickle.dumps(found[-1], pickle.HIGHEST_PROTOCOL))
        return found


def messages(numbers, rows=200_000, labels=100, rounds=3):
    """Boost on simulated workers, and print messages and bytes beside those on paper."""
    from palmette.boosting import _on_workers

    depth, n_draws, n_blocks = 5, 4, 64  # of 20 features
    print(f"boosting, {rows:,} rows, {labels} labels, depth {depth}, {n_draws} draws: per round")
    print(
        "| workers | messages | on paper | MiB received | on paper | KiB sent per worker | trees |"
    )
    print("|---|---|---|---|---|---|---|")
    expected = trees_of(boosting(None, rows, labels, rounds)())
    # a level has sums of all rows and of those left of every draw, and their weights and counts
    splits = (2**depth - 1) * (1 + n_draws) * (4 * labels + 16)
    leaves = 2**depth * (8 * labels + 8)
    for n in numbers:
        on_paper = 2 * n * (2 * depth + 1 + 1 / rounds)  # ranges of codes are asked for once
        teams = []

        @contextmanager
        def team_on(client, kind, divide, *, direct, n=n, teams=teams):
            teams.append(CountedTeam(kind, divide([1] * n)))
            yield teams[-1]

        _on_workers.team_on = team_on
        same = trees_of(boosting("simulated", rows, labels, rounds)()) == expected
        [team] = teams
        print(
            f"| {n} | {team.n_messages / rounds:,.0f} | {on_paper:,.0f} | "
            f"{team.n_received / rounds / 2**20:.2f} | "
            f"{n_blocks * (splits + leaves) / 2**20:.2f} | "
            f"{team.n_sent / rounds / n / 2**10:.1f} | {'the same' if same else 'DIFFERENT'} |"
        )


def trees_of(model):
    return [(tree.features.tobytes(), tree.values.tobytes()) for tree in model.rounds_]


# ---------------------------------------------------------------------- many classes

OWN, SHARED, BRANCHING = (8, 12), (4, 40), 30  # words of a row, and those that they are drawn from
N_LEVELS, TITLE_WORDS = 3, 20
ASKED = 10_000


def titles(rows, features, classes, seed=0):
    """Return sparse rows of 20 words: 8 of their class, 4 of each of three groups around it.

    Groups have 30, 900 and 27,000 classes.
    """
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(rows) % classes)
    own = rng.integers(features, size=(classes, OWN[1]), dtype=np.int32)
    groups = [BRANCHING**level for level in range(1, N_LEVELS + 1)]
    shared = [
        rng.integers(features, size=(-(-classes // size), SHARED[1]), dtype=np.int32)
        for size in groups
    ]
    words = np.empty((rows, TITLE_WORDS), dtype=np.int32)
    values = np.empty((rows, TITLE_WORDS))
    for start in range(0, rows, PART_ROWS):
        some = codes[start : start + PART_ROWS]
        here, drawn = slice(start, start + len(some)), [(some, own, OWN)]
        drawn += [(some // size, known, SHARED) for size, known in zip(groups, shared, strict=True)]
        words[here] = np.hstack(
            [
                known[number[:, None], rng.integers(n_known, size=(len(some), n))]
                for number, known, (n, n_known) in drawn
            ]
        )
        lengths = rng.gamma(2.0, size=(len(some), TITLE_WORDS))
        values[here] = lengths / np.linalg.norm(lengths, axis=1, keepdims=True)
    starts = np.arange(0, rows * TITLE_WORDS + 1, TITLE_WORDS, dtype=np.int32)
    X = sparse.csr_array((values.ravel(), words.ravel(), starts), (rows, features))
    X.sum_duplicates()
    return X, codes


def one_size(n_classes, n_rows, n_features, n_jobs):
    """Fit one problem in this process, and print a line of JSON."""
    from bench_mf_tree import status_mib
    from bench_mf_tree import timed as timed_part

    from palmette.routing import LinearRouter

    fit_titles(*titles(5000, 1000, 900), 900, 1)  # kernels are compiled
    X, y = titles(n_rows + ASKED, n_features, n_classes)
    test, y_test, X, y = X[n_rows:], y[n_rows:], X[:n_rows], y[:n_rows]
    parts = {}
    LinearRouter.train = timed_part(LinearRouter.train, parts, "routers")
    wall, cpu = time.perf_counter(), time.process_time()
    model, paths = fit_titles(X, y, n_classes, n_jobs)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = status_mib("VmHWM") / 1024
    arrays = [each for each in vars(model.routes_).values() if isinstance(each, np.ndarray)]
    begun = time.process_time()
    found = model.predict(test)
    us = (time.process_time() - begun) / len(y_test) * 1e6
    pairs = list(zip(found, y_test.tolist(), strict=True))
    right = [
        float(np.mean([path[level] == paths[c][level] for path, c in pairs]))
        for level in range(N_LEVELS + 1)
    ]
    size = sum(each.nbytes for each in arrays) / 2**30
    facts = {"classes": n_classes, "rows": n_rows, **parts, "fit": cpu, "wall": wall}
    print(json.dumps({**facts, "peak": peak, "model": size, "us": us, "accuracy": right}))


def fit_titles(X, y, n_classes, n_jobs):
    """Fit linear routers along the tree of the groups; return the model and the paths."""
    from palmette.routing import LinearRouter

    sizes = [BRANCHING**level for level in range(N_LEVELS, -1, -1)]
    paths = [tuple(f"{size}: {c // size}" for size in sizes) for c in range(n_classes)]
    # the settings of `palmette fit` for texts: more passes cost time and gain little
    router = LinearRouter(siblings=True, tol=0.1, max_iter="auto", prune=0.03)
    tree = pm.Hierarchy.from_paths(paths)
    model = pm.ClassTreeClassifier(tree, router=router, n_jobs=n_jobs, random_state=0)
    return model.fit(X, [paths[c] for c in y.tolist()]), paths


def classes(sizes, rows, features, jobs, out):
    """Measure each size in a process of its own, and print all that the file has."""
    for n_classes in sizes:
        given = [str(each) for each in (n_classes, rows, features, jobs)]
        command = [sys.executable, __file__, "one", *given]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        with open(out, "a") as file:
            file.write(done.stdout.splitlines()[-1] + "\n")
    lines = [json.loads(line) for line in Path(out).read_text().splitlines()]
    lines.sort(key=lambda line: line["classes"])
    print(
        "| classes | rows | routers CPU s | fit CPU s | fit, s | peak GiB | model GiB | us per row "
        "| accuracy by level |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for line in lines:
        costs = " | ".join(f"{line[name]:.0f}" for name in ("routers", "fit", "wall"))
        room = " | ".join(f"{line[name]:.1f}" for name in ("peak", "model"))
        right = ", ".join(f"{share:.3f}" for share in line["accuracy"])
        print(
            f"| {line['classes']:,} | {line['rows']:,} | {costs} | {room} | {line['us']:.0f} | "
            f"{right} |"
        )
    for before, after in pairwise(lines):
        ratio = np.log(after["classes"] / before["classes"])
        names = ("routers", "fit", "peak", "model", "us")
        powers = [f"{name} {np.log(after[name] / before[name]) / ratio:.2f}" for name in names]
        print(f"exponents from {before['classes']:,} to {after['classes']:,}: {', '.join(powers)}")


def timed(function):
    begun = time.perf_counter()
    function()
    return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, dest="what")
    making = commands.add_parser("make")
    making.add_argument("--rows", type=int, default=1_000_000)
    making.add_argument("--out", required=True)
    fitting = commands.add_parser("table")
    fitting.add_argument("table")
    fitting.add_argument("--memory", type=float)
    fitting.add_argument("--model", default="class-tree")
    fitting.add_argument("--options", default="")
    evaluating = commands.add_parser("report")
    evaluating.add_argument("model")
    evaluating.add_argument("table")
    evaluating.add_argument("--command", choices=["report", "eval"], default="report")
    evaluating.add_argument("--options", default="")
    working = commands.add_parser("workers")
    working.add_argument("jobs", nargs="*", choices=[*JOBS, []], default=list(JOBS))
    working.add_argument("--again", action="store_true")
    sending = commands.add_parser("together")
    sending.add_argument("--times", type=int, default=5)
    sending.add_argument("--rows", type=int, default=20_000)
    commands.add_parser("calls").add_argument("--times", type=int, default=300)
    counting = commands.add_parser("messages")
    counting.add_argument("--workers", type=int, nargs="*", default=[1, 2, 16, 64])
    growing = commands.add_parser("classes")
    growing.add_argument("sizes", type=int, nargs="*")
    growing.add_argument("--rows", type=int, default=2_000_000)
    growing.add_argument("--features", type=int, default=100_000)
    growing.add_argument("--jobs", type=int, default=2)
    growing.add_argument("--out", default="classes.jsonl")
    commands.add_parser("one").add_argument("numbers", type=int, nargs=4)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.what == "make":
        make(given.rows, given.out)
        return
    if given.what == "one":
        one_size(*given.numbers)
        return
    print(environment(), end="\n\n")
    if given.what == "classes":
        classes(given.sizes, given.rows, given.features, given.jobs, given.out)
    elif given.what == "table":
        table(given.table, given.memory, given.model, given.options)
    elif given.what == "report":
        report(given.model, given.table, given.command, given.options)
    elif given.what == "together":
        together(given.times, given.rows)
    elif given.what == "calls":
        calls(given.times)
    elif given.what == "messages":
        messages(given.workers)
    else:
        workers(given.jobs, given.again)


if __name__ == "__main__":
    main()
