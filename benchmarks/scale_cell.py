"""One cell of bench_scale: a generated problem, one fit and one prediction in this process.

    python benchmarks/scale_cell.py '{"model": "boosting", "rows": 1000, "features": 20, ...}'

Prints one JSON object: CPU seconds and wall-clock seconds of `fit`, CPU seconds of `predict` per
row, and the memory that each of them needed beyond what the process held before it, in MiB.
Kernels are compiled by a first fit on few rows; a fit that compiled one after all is repeated.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy import sparse

import palmette as pm
from palmette._kernels import seconds_compiling

WARM_ROWS = 300
ASKED_ROWS = 2000

# ---------------------------------------------------------------------- generated problems


def one_path(rows, features, classes, seed=0):
    """Return rows around class means, and the paths of their classes in a tree of two levels."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(rows) % classes)
    per_group = max(2, round(classes**0.5))
    X = many_means(rng, codes, features)
    names = np.array([f"group {code // per_group}/class {code}" for code in range(classes)])
    return X, names[codes]


def many_means(rng, codes, features):
    """Return float32 rows, each the mean of its class plus noise; half of the columns are noise."""
    means = rng.normal(size=(codes.max() + 1, features)).astype(np.float32)
    means[:, features // 2 :] = 0
    X = rng.standard_normal((len(codes), features), dtype=np.float32)
    X += means[codes]
    return X


def label_sets(rows, features, classes, seed=0):
    """Return rows, and an indicator matrix with about three labels in each."""
    X, labels = rows_with_labels(rows, features, classes, seed)
    Y = np.zeros((rows, classes), dtype=np.int8)
    np.put_along_axis(Y, labels, 1, axis=1)
    return X, Y


def rows_with_labels(rows, features, classes, seed):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(rows) % classes)
    others = rng.integers(classes, size=(rows, 2))
    return many_means(rng, codes, features), np.column_stack([codes, others])


def several_paths(rows, features, classes, seed=0):
    """Return rows, and for each the paths of about three leaves of a tree of two levels."""
    X, labels = rows_with_labels(rows, features, classes, seed)
    per_group = max(2, round(classes**0.5))
    names = np.array([f"group {code // per_group}/class {code}" for code in range(classes)])
    return X, [set(found) for found in names[labels].tolist()]


def words(rows, features, classes, seed=0):
    """Return sparse rows of 60 words, a quarter of them words of their class."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(rows) % classes)
    per_row, per_class = 60, 40
    own = rng.integers(features, size=(classes, per_class))
    group = rng.integers(features, size=(max(1, classes // 30), 10 * per_class))
    taken = np.empty((rows, per_row), dtype=np.int64)
    taken[:, :15] = own[codes[:, None], rng.integers(per_class, size=(rows, 15))]
    groups = codes % len(group)
    taken[:, 15:40] = group[groups[:, None], rng.integers(10 * per_class, size=(rows, 25))]
    taken[:, 40:] = (features * rng.random((rows, 20)) ** 3).astype(np.int64)
    values = rng.gamma(2.0, size=taken.shape)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    starts = np.arange(0, taken.size + 1, per_row)
    X = sparse.csr_array((values.ravel(), taken.ravel(), starts), (rows, features))
    X.sum_duplicates()
    return X, codes


# ---------------------------------------------------------------------- the models


@dataclass(frozen=True)
class Model:
    """A main estimator with its defaults, the problem that it gets, and why it grows as it does."""

    make: object
    problem: object = one_path
    options: dict = field(default_factory=dict)
    small: tuple[int, int, int] = (3000, 20, 10)  # rows, features and classes of the other axes
    first: tuple[int, int, int] = (1000, 20, 10)  # the smallest size along each axis
    note: str = ""


def selector(**options):
    return pm.HierarchicalFeatureSelector(pm.HirrScore(), **options)


FIRST_WORDS = (2000, 1000, 20)
MODELS: dict[str, Model] = {
    "HierarchicalBoostingClassifier": Model(pm.HierarchicalBoostingClassifier),
    "AdaBoostMHClassifier": Model(pm.AdaBoostMHClassifier),
    "HierarchicalAdaBoostClassifier": Model(pm.HierarchicalAdaBoostClassifier),
    "AdaBoostBHCClassifier": Model(pm.AdaBoostBHCClassifier),
    "LocalPerParentClassifier": Model(pm.LocalPerParentClassifier),
    "LocalPerNodeClassifier": Model(pm.LocalPerNodeClassifier),
    "LocalPerLevelClassifier": Model(pm.LocalPerLevelClassifier),
    "ClassTreeClassifier": Model(pm.ClassTreeClassifier),
    "ClassTreeClassifier, words": Model(
        pm.ClassTreeClassifier, words, small=(5000, 5000, 20), first=FIRST_WORDS
    ),
    "MFTreeClassifier, words": Model(
        pm.MFTreeClassifier, words, small=(5000, 5000, 20), first=FIRST_WORDS
    ),
    "HierarchicalFeatureSelector": Model(selector),
    "StructuredForestClassifier": Model(pm.StructuredForestClassifier, label_sets),
    "TreesMultilabel": Model(pm.TreesMultilabel, label_sets),
    "LinearMultilabel": Model(pm.LinearMultilabel, label_sets),
    "BinaryRelevance": Model(pm.BinaryRelevance, label_sets),
    "RAkEL": Model(pm.RAkEL, label_sets),
    "HOMER": Model(pm.HOMER, label_sets),
    "MLkNN": Model(pm.MLkNN, label_sets, note="all pairs of rows: neighbours by brute force"),
    "COCOA": Model(pm.COCOA, label_sets),
    "CoherentForestClassifier": Model(pm.CoherentForestClassifier, several_paths),
    "CoherentKernelClassifier": Model(
        pm.CoherentKernelClassifier, several_paths, note="a kernel between rows"
    ),
    "CoherentNetworkClassifier": Model(pm.CoherentNetworkClassifier, several_paths),
    "CoherentBlendClassifier": Model(pm.CoherentBlendClassifier, several_paths),
}


# ---------------------------------------------------------------------- measuring


@dataclass
class Cost:
    cpu: float = 0.0
    wall: float = 0.0
    mib: float = 0.0
    compiled: bool = True


@contextmanager
def measured():
    """Measure CPU seconds, seconds and the memory that was needed beyond what was held before."""
    cost = Cost()
    before = reset_peak()
    compiling, cpu, wall = seconds_compiling(), cpu_seconds(), time.perf_counter()
    yield cost
    cost.cpu = cpu_seconds() - cpu
    cost.wall = time.perf_counter() - wall
    cost.mib = peak() - before
    cost.compiled = seconds_compiling() > compiling


def cpu_seconds():
    """Return the CPU seconds of this process and of the children that have ended."""
    own, ended = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


def reset_peak():
    """Forget the largest memory of this process so far (Linux), and return what it has now."""
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def peak():
    return status("VmHWM")


def status(name):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    raise OSError(f"/proc/self/status has no {name}")


def parameters(model, jobs):
    given = dict(model.options)
    known = model.make().get_params()
    for name, value in (("random_state", 0), ("n_jobs", jobs)):
        if name in known:
            given[name] = value
    return given


def run(cell):
    model = MODELS[cell["model"]]
    rows, asked = cell["rows"], min(cell["rows"], ASKED_ROWS)
    X, y = model.problem(rows + asked, cell["features"], cell["classes"])
    options = parameters(model, cell["jobs"])
    few = min(rows, max(WARM_ROWS, 3 * cell["classes"]))
    model.make(**options).fit(X[:few], y[:few])
    fitting = Cost()
    while fitting.compiled:
        estimator = model.make(**options)
        with measured() as fitting:
            estimator.fit(X[:rows], y[:rows])
    answer = estimator.transform if hasattr(estimator, "transform") else estimator.predict
    answer(X[rows : rows + 5])
    with measured() as asking:
        answer(X[rows:])
    data = X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
    return {
        **cell,
        "status": "ok",
        "cpu": fitting.cpu,
        "wall": fitting.wall,
        "mib": fitting.mib,
        "x_mib": data / 2**20,
        "us": asking.cpu / asked * 1e6,
        "predict_mib": asking.mib,
    }


def main():
    warnings.simplefilter("ignore")
    print(json.dumps(run(json.loads(sys.argv[1]))))


if __name__ == "__main__":
    main()
