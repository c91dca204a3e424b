"""MFTreeClassifier beside one classifier per class: accuracy, dot products, seconds.

    OMP_NUM_THREADS=1 python benchmarks/bench_mf_tree.py accuracy
    OMP_NUM_THREADS=1 python benchmarks/bench_mf_tree.py scale
    python benchmarks/bench_mf_tree.py growth --sizes 1000 10000 100000 --features 200000 --jobs 16

`accuracy` needs the data home (PALMETTE_DATA) and learns from the training rows of six sets, whose
features are made ready as for ``palmette bench mf-tree``. Dot products are those of a row of
features with weights that a prediction takes on average. `scale` is a synthetic problem of 10,000
classes, 100,000 training rows and 50,000 features, with weights pruned at several thresholds. With
``--peers PYTHON``, an interpreter that has them, PECOS and napkinXC learn from the same rows.
`growth` fits problems of growing numbers of classes, each in a process of its own, and prints
exponents in the number of classes: peak memory is that of the process during the fit, less what it
held before except X, and predictions are timed in one thread, for several numbers of rows at a
time. 100,000 classes with ten rows each take about 6 GiB.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import tempfile
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
from bench_class_trees import class_sums
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from palmette.class_tree import MFTree, _similarity, _spectral
from palmette.class_tree._classifier import ClassTreeClassifier
from palmette.class_tree._dag_svm import DAGSVMClassifier
from palmette.class_tree._mf_classifier import MFTreeClassifier
from palmette.compare import environment, measure
from palmette.routing import LinearRouter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where papers/ is
from papers.mf_tree.methods import DATASETS, read_set


class Counting:
    """Routes that count the classifiers they evaluate."""

    def __init__(self, routes):
        self.routes, self.n_products = routes, 0

    def __getattr__(self, name):
        return getattr(self.routes, name)

    def follow(self, X, table, width):
        return None  # so that the search asks for scores

    def score(self, X, rows, nodes, starts):
        self.n_products += int(np.diff(self.routes.first_lane)[nodes].sum())
        return self.routes.score(X, rows, nodes, starts)


def dot_products(classifier, X):
    """Classifiers that a prediction evaluates for a row, on average."""
    routes = classifier.routes_
    classifier.routes_ = Counting(routes)
    classifier.predict(X)
    n_products, classifier.routes_ = classifier.routes_.n_products, routes
    return n_products / X.shape[0]


def line(name, classifier, problem, products=None):
    with measure() as fitting:
        classifier.fit(problem.X_train, problem.y_train)
    classifier.predict(problem.X_test[:10])  # kernels are compiled outside of the clock
    with measure() as predicting:
        predicted = classifier.predict(problem.X_test)
    n_rows = problem.X_test.shape[0]
    score = np.mean(predicted == problem.y_test)
    if products is None:
        products = dot_products(classifier, problem.X_test)
    print(
        f"| {problem.name} | {name} | {score:.3f} | {products:.0f} | {fitting.cpu_seconds:.1f} | "
        f"{predicting.cpu_seconds / n_rows * 1e6:.0f} |",
        flush=True,
    )


def accuracy(sets, rivals, peers):
    print("| set | model | accuracy | dot products per row | fit s | us per row |")
    print("|---|---|---|---|---|---|")
    for name in sets:
        problem = read_set(name)
        n_classes = len(set(problem.y_train))
        line("MFTreeClassifier()", MFTreeClassifier(), problem)
        line("... preset('wide')", MFTreeClassifier.preset("wide"), problem)
        line("... preset('pairwise')", MFTreeClassifier.preset("pairwise"), problem)
        line("... preset('refitted')", MFTreeClassifier.preset("refitted"), problem)
        line("... preset('published')", MFTreeClassifier.preset("published"), problem)
        if rivals:
            line("DAGSVMClassifier()", DAGSVMClassifier(), problem)
            line("LinearSVC()", LinearSVC(), problem, n_classes)
        if peers is not None and sparse.issparse(problem.X_train):
            rows = problem.X_train, problem.y_train, problem.X_test, problem.y_test
            for found in run_peers(peers, *rows):
                print(
                    f"| {name} | {found['name']} | {found['accuracy']:.3f} | | "
                    f"{found['fit_cpu_s']:.1f} | {found['us_a_row']:.0f} |",
                    flush=True,
                )


# ---------------------------------------------------------------------- many classes


def many_classes(n_classes, n_rows, n_features, n_words, seed=0):
    """Sparse rows of length one, and their classes.

    The words of a class are those of its sum in `bench_class_trees`: 516, a quarter of them its
    own. A row holds some of them, drawn anew.
    """
    sums, _ = class_sums(n_classes, n_features, seed=seed)
    rng = np.random.default_rng(seed)
    classes = rng.permutation(np.arange(n_rows) % n_classes)
    first, sizes = sums.indptr[classes][:, None], np.diff(sums.indptr)[classes][:, None]
    words = np.empty((n_rows, n_words), dtype=np.int32)
    for low in range(0, n_rows, 100_000):  # in the order of one draw
        here = slice(low, low + 100_000)
        drawn = rng.random((len(first[here]), n_words)) * sizes[here]
        words[here] = sums.indices[first[here] + drawn.astype(np.int64)]
    values = rng.gamma(2.0, size=words.shape)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    starts = np.arange(0, words.size + 1, n_words)
    X = sparse.csr_array((values.ravel(), words.ravel(), starts), (n_rows, n_features))
    X.sum_duplicates()
    return X, classes


def scale(n_classes, n_rows, n_features, n_words, prunes, peers):
    X, y = many_classes(n_classes, n_rows + n_rows // 5, n_features, n_words)
    train, test = slice(0, n_rows), slice(n_rows, None)
    compile_kernels()
    print("| model | accuracy | fit CPU s | us per row | weights, million | peak MiB |")
    print("|---|---|---|---|---|---|")
    for prune in prunes:
        router = LinearRouter(prune=prune, tol=0.1)
        classifier = MFTreeClassifier(router=router, beam_width=5)
        with measure() as fitting:
            classifier.fit(X[train], y[train])
        report(
            f"MFTreeClassifier(beam_width=5), prune={prune}",
            classifier.predict,
            X,
            y,
            test,
            fitting,
        )
        print(f" {classifier.routes_.n_weights / 1e6:.1f} | {fitting.peak_mib:.0f} |", flush=True)
    if peers is not None:
        for found in run_peers(peers, X[train], y[train], X[test], y[test]):
            print(
                f"| {found['name']} | {found['accuracy']:.3f} | {found['fit_cpu_s']:.1f} | "
                f"{found['us_a_row']:.0f} | | {found['peak_mib']:.0f} |",
                flush=True,
            )


def run_peers(python, X_train, y_train, X_test, y_test):
    """Run other libraries in an interpreter of their own, on the same rows."""
    script = Path(__file__).with_name("peers_of_many_classes.py")
    _, codes = np.unique(np.concatenate([y_train, y_test]), return_inverse=True)
    with tempfile.TemporaryDirectory() as folder:
        for part, rows in (("train", X_train), ("test", X_test)):
            sparse.save_npz(Path(folder, f"X_{part}.npz"), sparse.csr_matrix(rows))
        split = len(y_train)
        np.savez(Path(folder, "y.npz"), train=codes[:split], test=codes[split:])
        done = subprocess.run([python, script, folder], capture_output=True, text=True, check=True)
    return [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]


def report(name, predict, X, y, test, fitting):
    with measure() as predicting:
        predicted = predict(X[test])
    score = np.mean(predicted == y[test])
    us = predicting.cpu_seconds / len(predicted) * 1e6
    print(f"| {name} | {score:.3f} | {fitting.cpu_seconds:.1f} | {us:.0f} |", end="")


# ---------------------------------------------------------------------- growth

PARTS = ("classes", "tree", "routers", "fit", "wall", "peak MiB", "X MiB", "model MiB", "us")
AT_A_TIME = (10, 100, 1_000, 10_000)  # rows of a prediction


def growth(sizes, rows_per_class, n_features, n_words, n_jobs):
    """Print what problems of growing numbers of classes cost, and the exponents of it."""
    print(
        "| classes | rows | tree CPU s | routers CPU s | fit CPU s | fit wall s | peak MiB | X MiB "
        "| model MiB | "
        + " | ".join(f"us per row, {n:,} rows" for n in AT_A_TIME)
        + " | accuracy |"
    )
    print("|" + "---|" * (10 + len(AT_A_TIME)))
    found = []
    for n_classes in sizes:
        n_rows = n_classes * rows_per_class
        given = [str(each) for each in (n_classes, n_rows, n_features, n_words, n_jobs)]
        done = subprocess.run(
            [sys.executable, __file__, "one", "--numbers", *given],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found.append(json.loads(done.stdout.splitlines()[-1]))
        line_of = found[-1]
        us = " | ".join(f"{each:.0f}" for each in line_of["us"])
        print(
            f"| {n_classes:,} | {n_rows:,} | {line_of['tree']:.1f} | {line_of['routers']:.1f} | "
            f"{line_of['fit']:.1f} | {line_of['wall']:.1f} | {line_of['peak MiB']:,.0f} | "
            f"{line_of['X MiB']:,.0f} | {line_of['model MiB']:,.0f} | {us} | "
            f"{line_of['accuracy']:.3f} |",
            flush=True,
        )
    for before, after in pairwise(found):
        ratio = np.log(after["classes"] / before["classes"])
        names = ("tree", "routers", "fit", "wall", "peak MiB", "model MiB")
        powers = [f"{name} {np.log(after[name] / before[name]) / ratio:.2f}" for name in names]
        print(f"exponents from {before['classes']:,} to {after['classes']:,}: {', '.join(powers)}")


def one_size(n_classes, n_rows, n_features, n_words, n_jobs):
    """Measure one problem in this process, and print a line of JSON."""
    compile_kernels()
    n_test = max(AT_A_TIME)
    X, y = many_classes(n_classes, n_rows + n_test, n_features, n_words)
    test, y_test, X, y = X[n_rows:], y[n_rows:], X[:n_rows], y[:n_rows]
    size = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20
    parts = {}
    for owner, name, part in (
        (ClassTreeClassifier, "_read_labels", "tree"),
        (LinearRouter, "train", "routers"),
    ):
        setattr(owner, name, timed(getattr(owner, name), parts, part))
    classifier = MFTreeClassifier(n_jobs=n_jobs)
    gc.collect()
    held = status_mib("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    started, cpu = time.perf_counter(), time.process_time()
    classifier.fit(X, y)
    wall, cpu = time.perf_counter() - started, time.process_time() - cpu
    peak = status_mib("VmHWM") - held + size
    routes = classifier.routes_
    model = sum(each.nbytes for each in vars(routes).values() if isinstance(each, np.ndarray))
    classifier.n_jobs = 1
    classifier.predict(test[:10])
    us = []
    for n in AT_A_TIME:
        starts = [k * n for k in range(max(1, min(20, 1000 // n)))]
        cpu_before = time.process_time()
        for start in starts:
            classifier.predict(test[start : start + n])
        us.append((time.process_time() - cpu_before) / len(starts) / n * 1e6)
    accuracy = float(np.mean(classifier.predict(test) == y_test))
    numbers = (n_classes, parts["tree"], parts["routers"], cpu, wall, peak, size, model / 2**20, us)
    print(json.dumps(dict(zip(PARTS, numbers, strict=True)) | {"accuracy": accuracy}))


def timed(function, parts, name):
    def wrapped(*arguments, **keywords):
        before = time.process_time()
        result = function(*arguments, **keywords)
        parts[name] = time.process_time() - before
        return result

    return wrapped


def status_mib(name):
    for text in Path("/proc/self/status").read_text().splitlines():
        if text.startswith(f"{name}:"):
            return int(text.split()[1]) / 1024
    return float("nan")


def compile_kernels():
    X, y = many_classes(40, 400, 1000, 40)
    MFTreeClassifier().fit(X, y).predict(X)
    before = _similarity._COMPILED, _spectral._COMPILED
    _similarity._COMPILED = _spectral._COMPILED = 0  # those for many classes
    X, y = many_classes(600, 1200, 1000, 40)
    MFTree("auto", leaf_size="auto").fit(X, y)
    _similarity._COMPILED, _spectral._COMPILED = before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["accuracy", "scale", "growth", "one"])
    parser.add_argument("--sets", default=",".join(DATASETS))
    parser.add_argument("--no-rivals", action="store_true", help="leave DAGSVM and LinearSVC out")
    parser.add_argument("--classes", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=50_000)
    parser.add_argument("--words", type=int, default=60, help="a row")
    parser.add_argument("--prune", type=float, nargs="+", default=[0.0, 0.02, 0.05])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000], help="of growth")
    parser.add_argument("--rows-per-class", type=int, default=10, help="of growth")
    parser.add_argument("--jobs", type=int, default=1, help="threads of the fits of growth")
    parser.add_argument("--numbers", type=int, nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--peers", help="a Python that has PECOS and napkinXC")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if arguments.what == "one":
        one_size(*arguments.numbers)
        return
    print(environment())
    if arguments.what == "growth":
        growth(
            arguments.sizes,
            arguments.rows_per_class,
            arguments.features,
            arguments.words,
            arguments.jobs,
        )
    elif arguments.what == "accuracy":
        accuracy(arguments.sets.split(","), not arguments.no_rivals, arguments.peers)
    else:
        scale(
            arguments.classes,
            arguments.rows,
            arguments.features,
            arguments.words,
            arguments.prune,
            arguments.peers,
        )


if __name__ == "__main__":
    main()
