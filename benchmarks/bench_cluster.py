"""More than one process: the workers of a Dask cluster, and what they send each other.

    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py workers [local forest grid boosting]
    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py together [--times 5] [--rows 20000]
    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py calls [--times 300]
    OMP_NUM_THREADS=1 python benchmarks/bench_cluster.py messages [--workers 1 2 16 64]

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
"""

from __future__ import annotations

import argparse
import pickle
import time
import warnings
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
from scale_cell import label_sets, one_path

import palmette as pm
from palmette.compare import Problem, compare, environment


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


def timed(function):
    begun = time.perf_counter()
    function()
    return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, dest="what")
    working = commands.add_parser("workers")
    working.add_argument("jobs", nargs="*", choices=[*JOBS, []], default=list(JOBS))
    working.add_argument("--again", action="store_true")
    sending = commands.add_parser("together")
    sending.add_argument("--times", type=int, default=5)
    sending.add_argument("--rows", type=int, default=20_000)
    commands.add_parser("calls").add_argument("--times", type=int, default=300)
    counting = commands.add_parser("messages")
    counting.add_argument("--workers", type=int, nargs="*", default=[1, 2, 16, 64])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(environment(), end="\n\n")
    if given.what == "together":
        together(given.times, given.rows)
    elif given.what == "calls":
        calls(given.times)
    elif given.what == "messages":
        messages(given.workers)
    else:
        workers(given.jobs, given.again)


if __name__ == "__main__":
    main()
