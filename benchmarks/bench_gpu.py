"""Fits on a CUDA device beside the same fits on all cores of the CPU: seconds and differences.

    python benchmarks/bench_gpu.py
    python benchmarks/bench_gpu.py --only boosting --rows 200000 --labels 100 --profile
    python benchmarks/bench_gpu.py --device cpu --rows 3000 --labels 40 --network-rows 300 \
        --hirr-rows 500 --hirr-features 100

`boosting` makes rounds of HierarchicalBoostingClassifier (softmax over labels, otherwise defaults)
on made-up rows, first on the device and then with all cores, and compares trees, losses and
probabilities. The first round is warm-up: it compiles kernels or starts the device, and is not in
the medians. If trees differ, what led to the first of them is printed: labels are drawn, splits
chosen, and votes of the leaves computed. `network` is the made-up problem of bench_network.py: 25
epochs, twice, and the seconds of its training steps. `hirr` is HiRR-FS at 21 nodes: ten sweeps of
reweighted least squares, as published, whose scores are compared with the CPU's after two sweeps,
and the default, block coordinate descent. ``--hirr-default`` compares its scores, too, which takes
minutes. ``--device cpu`` is torch on the CPU, to try the script without a GPU.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.special import softmax

sys.path.insert(0, str(Path(__file__).parent))

from palmette.base._fitting import Threads
from palmette.boosting import _device_tree, _weak
from palmette.boosting._boost import boost, scores_of
from palmette.boosting._device_objective import DeviceObjective
from palmette.boosting._device_tree import DeviceTreeLearner
from palmette.boosting._hypotheses import Samples
from palmette.boosting._objectives import GradientObjective, LeafSoftmax
from palmette.boosting._weak import SharedTree, TrainingRows, draw_columns
from palmette.trees._binning import BinMapper

BEGIN = time.perf_counter()


def say(text: str) -> None:
    print(f"[{time.perf_counter() - BEGIN:6.1f} s] {text}", flush=True)


@contextmanager
def stopwatch(what: str, times: list[float] | None = None, quiet: bool = False) -> Any:
    """Measure wall-clock seconds, with what the device still has to do."""
    _wait()
    start = time.perf_counter()
    yield
    _wait()
    seconds = time.perf_counter() - start
    if times is not None:
        times.append(seconds)
    if not quiet:
        say(f"{what}: {seconds:.3f} s")


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


# ---------------------------------------------------------------------- boosting


def made_rows(n_rows: int, n_features: int, n_labels: int) -> tuple[Any, Any]:
    """Labels are cells of a grid of three features, for nine rows of ten; normal features."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    side = int(np.ceil(n_labels ** (1 / 3)))
    # the standard normal in equal shares, by a logistic approximation
    cells = (side / (1 + np.exp(-1.7 * X[:, :3]))).astype(np.int32).clip(0, side - 1)
    labels = (cells @ np.array([side * side, side, 1], dtype=np.int32)) % n_labels
    noise = rng.random(n_rows) < 0.1
    labels[noise] = rng.integers(0, n_labels, int(noise.sum()))
    labels[:n_labels] = np.arange(n_labels)  # every label has a row
    return X, labels.astype(np.int32)


class Rounds(NamedTuple):
    """Trees, losses before each and seconds of some rounds, and the labels that were drawn."""

    trees: list[Any]
    losses: list[float]
    seconds: list[float]
    drawn: list[Any]


def rounds_of(objective: Any, learner: Any, rows: TrainingRows, n_rounds: int, what: str) -> Rounds:
    """Make some rounds, after one that is not in the seconds."""
    times: list[float] = []
    found, coming = [], boost(objective, learner, rows, seed=0)
    with drawn_labels() as drawn:
        for turn in range(n_rounds + 1):
            with stopwatch("", times, quiet=True):
                found += islice(coming, 1)
            if turn == 0:
                say(f"{what}: first round {times[0]:.2f} s")
    say(f"{what}: median of {n_rounds} rounds {1000 * np.median(times[1:]):.1f} ms")
    trees, losses = [each.hypothesis for each in found], [each.loss for each in found]
    return Rounds(trees, losses, times[1:], drawn)


@contextmanager
def drawn_labels() -> Iterator[list[Any]]:
    """Note the labels that are drawn, and the sums of squares by which they are."""
    noted: list[Any] = []

    def draw(sizes: Any, *arguments: Any) -> Any:
        found = draw_columns(sizes, *arguments)
        noted.append((found[0], sizes))
        return found

    for module in (_weak, _device_tree):
        module.draw_columns = draw
    try:
        yield noted
    finally:
        for module in (_weak, _device_tree):
            module.draw_columns = draw_columns


def first_difference(here: Rounds, there: Rounds) -> str:
    """Describe the first tree that differs, and the first of its stages that does."""

    def votes(turn: int) -> float:
        return float(np.abs(here.trees[turn].values - there.trees[turn].values).max(initial=0))

    n_same = [same_splits(*pair) for pair in zip(here.trees, there.trees, strict=True)].index(False)
    told = [
        f"tree {n_same + 1} is the first to differ; the loss before it differs by "
        f"{abs(here.losses[n_same] - there.losses[n_same]):.1e}, votes of trees before by up to "
        f"{max(map(votes, range(n_same)), default=0.0):.1e}"
    ]
    if here.drawn:
        (one, sizes), (other, others) = here.drawn[n_same], there.drawn[n_same]
        n_labels = len(np.setxor1d(one, other))
        told.append(
            f"sums of squares by {np.abs(others / sizes - 1).max():.1e}, drawn labels by {n_labels}"
        )
        if n_labels:
            return "; ".join(told) + ": the draw of labels is the cause"
    a, b = here.trees[n_same], there.trees[n_same]
    node = int(np.flatnonzero((a.features != b.features) | (a.cuts != b.cuts))[0])
    told.append(
        f"node {node}, of level {node.bit_length() - 1}, is split at {a.features[node]} <= "
        f"{a.cuts[node]} and at {b.features[node]} <= {b.cuts[node]}: the gains are the cause"
    )
    return "; ".join(told)


def same_splits(a: Any, b: Any) -> bool:
    return np.array_equal(a.features, b.features) and np.array_equal(a.cuts, b.cuts)


def boosting(given: argparse.Namespace, device: Any) -> None:
    say(f"boosting: {given.rows} rows x {given.features} features, {given.labels} labels")
    X, targets = made_rows(given.rows, given.features, given.labels)
    n_jobs = given.jobs or os.cpu_count() or 1
    with Threads(n_jobs) as threads:
        bins = BinMapper.fit(X, threads=threads)
        codes = bins.transform(X, threads)
        weights = np.ones(given.rows)
        rows = TrainingRows(codes, bins.n_bins, np.ones(given.rows, np.float32), threads=threads)
        say(f"rows and their codes are made; {n_jobs} threads")
        loss, tree = LeafSoftmax(targets, weights, given.labels), SharedTree(5)
        objective = DeviceObjective(loss, weights, 0.1, device)
        if given.profile:
            profile(objective, DeviceTreeLearner(tree, device), rows)
            objective = DeviceObjective(loss, weights, 0.1, device)
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else "torch on the CPU"
        there = rounds_of(objective, DeviceTreeLearner(tree, device), rows, given.rounds, name)
        if device.type == "cuda":
            say(
                f"largest memory of the device: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB"
            )
        del objective
        here = rounds_of(
            GradientObjective(loss, weights, 0.1), tree, rows, given.rounds, f"{n_jobs} threads"
        )
    same = [same_splits(*pair) for pair in zip(here.trees, there.trees, strict=True)]
    samples, start = Samples(codes[:: max(1, given.rows // 2000)]), loss.start()
    proba = [softmax(scores_of(samples, each.trees, start), axis=1) for each in (here, there)]
    ratio = np.median(here.seconds) / np.median(there.seconds)
    say(
        f"boosting: {sum(same)} of {len(same)} trees are the same, largest difference of "
        f"probabilities {np.abs(proba[0] - proba[1]).max():.1e}, of losses "
        f"{np.abs(np.subtract(here.losses, there.losses)).max():.1e}; {ratio:.1f} times as fast a "
        "round"
    )
    if not all(same):
        say(f"boosting: {first_difference(here, there)}")


def profile(objective: Any, learner: Any, rows: TrainingRows) -> None:
    """Print where the time of three rounds goes, after one without the clock."""
    coming = boost(objective, learner, rows, seed=0)
    next(coming)
    _wait()
    with torch.profiler.profile() as found:
        list(islice(coming, 3))
        _wait()
    key = "self_cuda_time_total" if torch.cuda.is_available() else "self_cpu_time_total"
    print(found.key_averages().table(sort_by=key, row_limit=25, max_name_column_width=60))


# ---------------------------------------------------------------------- feature selection


def made_nodes(n_rows: int, n_features: int) -> Any:
    """A tree of 1 + 4 + 16 parents and 80 leaves; one feature of a hundred tells leaves apart."""
    from palmette import Hierarchy
    from palmette.feature_selection._base import ScoringProblem
    from palmette.labels._space import LabelSpace

    paths = [
        (f"{a}", f"{a}{b}", f"{a}{b}{c}") for a in range(4) for b in range(4) for c in range(5)
    ]
    hierarchy = Hierarchy.from_paths(paths)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, len(paths), n_rows).astype(np.int32)
    X = rng.standard_normal((n_rows, n_features))
    X[:, ::100] += 0.5 * rng.standard_normal((len(paths), X[:, ::100].shape[1]))[codes]
    return ScoringProblem(X, LabelSpace(hierarchy, hierarchy.leaves), codes)


def hirr(given: argparse.Namespace, device: Any) -> None:
    from palmette.feature_selection import _hirr
    from palmette.feature_selection._hirr import HirrScore

    if device.type == "cpu":
        _hirr.torch_device = lambda name: device
    problem = made_nodes(given.hirr_rows, given.hirr_features)
    say(
        f"hirr: {given.hirr_rows} rows x {given.hirr_features} features, {len(problem.nodes)} nodes"
    )
    problem.n_jobs = given.jobs or os.cpu_count()

    def scored(what: str, score: Any) -> Any:
        with stopwatch(f"hirr, {what}: all"):
            found = score.score(problem)
            rows = np.array(list(found.rows()))
        return rows, found.facts["objective_"][-1]

    for name in ("hier-fs", "hirrpar-fs", "hirrfam-fs"):
        score = HirrScore.preset(name, device="cuda")
        if name == "hier-fs":
            scored("the first time", score)
        with stopwatch(f"hirr, {name}: rows and matrices on the device"):
            posed, _ = score.pose(problem)
        with stopwatch(f"hirr, {name}: ten sweeps on the device"):
            score.solve(posed)
        del posed
        if name == "hirrpar-fs":  # ties to parents are among those of families
            continue
        compared(
            *(
                scored(
                    f"{name}, two sweeps, device={where}",
                    score.set_params(max_iter=2, device=where),
                )
                for where in ("cpu", "cuda")
            )
        )
    there = scored("default, device=cuda", HirrScore(tol=1e-8, device="cuda"))
    if given.hirr_default:
        compared(scored("default, device=cpu", HirrScore(tol=1e-8)), there)


def compared(here: Any, there: Any) -> None:
    worst = np.abs(here[0] - there[0]).max() / np.abs(here[0]).max()
    say(
        f"hirr: largest difference of scores, relative to the largest score, {worst:.1e}; of the "
        f"objective {abs(here[1] / there[1] - 1):.1e}"
    )


# ---------------------------------------------------------------------- the network


def network(given: argparse.Namespace, device: Any) -> None:
    import bench_network

    from palmette import CoherentNetworkClassifier
    from palmette.multipath import _network

    say(f"network: {given.network_rows} rows x 200 features, 1,110 nodes")
    X, y, hierarchy = bench_network.made_up(given.network_rows)
    steps: list[float] = []
    train = _network.train_with_torch

    def watched(*arguments: Any, **options: Any) -> Any:
        with stopwatch("", steps, quiet=True):
            return train(*arguments, **options)

    _network.train_with_torch = watched
    for turn in ("first fit", "second fit"):
        model = CoherentNetworkClassifier(backend="torch", hierarchy=hierarchy, random_state=0)
        with stopwatch(f"network, {turn}"):
            model.fit(X, y)
        say(
            f"network: {model.n_epochs_} epochs, {steps[-1]:.3f} s of it are training, "
            f"loss {model.loss_curve_[-1]:.6f}"
        )
    _network.train_with_torch = train


SECTIONS = {"boosting": boosting, "network": network, "hirr": hirr}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--labels", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5, help="with the clock, after one without")
    parser.add_argument("--jobs", type=int, default=None, help="threads of the CPU; all by default")
    parser.add_argument("--profile", action="store_true", help="of the rounds on the device")
    parser.add_argument("--hirr-rows", type=int, default=10_000)
    parser.add_argument("--hirr-features", type=int, default=4_096)
    parser.add_argument("--hirr-default", action="store_true", help="on the CPU, too: minutes")
    parser.add_argument("--network-rows", type=int, default=20_000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    device = torch.device(given.device)
    say(f"torch {torch.__version__}, numpy {np.__version__}, {os.cpu_count()} cores, {device}")
    for name in given.only:
        SECTIONS[name](given, device)


if __name__ == "__main__":
    main()
