"""A class tree of 10,000 to 1,000,000 classes: CPU seconds and memory as classes grow.

    OMP_NUM_THREADS=1 python benchmarks/bench_many_classes.py 10000 100000 --out classes.jsonl

It fits a class tree, linear routers along a tree of four levels, to 2,000,000 rows of 20
words out of 100,000, for growing numbers of classes, each in a process of its own. It appends what
it measures to the file, and prints all lines of the file with the exponents between them. Peak
memory is that of the process, with X and the libraries.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse

import palmette as pm
from palmette.compare import environment

PART_ROWS = 250_000
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
        command = [sys.executable, __file__, "--one", *given]
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", type=int, nargs="*")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--features", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", default="classes.jsonl")
    parser.add_argument("--one", type=int, nargs=4, help="classes, rows, features, jobs of a fit")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.one:
        one_size(*given.one)
        return
    print(environment(), end="\n\n")
    classes(given.sizes, given.rows, given.features, given.jobs, given.out)


if __name__ == "__main__":
    main()
