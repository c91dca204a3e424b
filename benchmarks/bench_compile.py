"""How long the first `fit` and `predict` of every estimator compile, with an empty cache of numba.

    OMP_NUM_THREADS=1 python benchmarks/bench_compile.py
    OMP_NUM_THREADS=1 python benchmarks/bench_compile.py forest adaboost-bhc --functions 20
    OMP_NUM_THREADS=1 python benchmarks/bench_compile.py --check benchmarks/compile_times.json

Every estimator is fitted twice in fresh processes on the 150 rows of iris: first with an empty
cache, then with the cache that the first process has written. Columns: CPU seconds of `fit` and of
`predict` in the first process (imports are not counted), the number of functions that numba
compiled and of their specializations (one per combination of argument types, those of numba's own
functions included), the size of the cache, and CPU seconds of both in the second process. With
`--functions N` the N functions follow that took longest: CPU seconds without those of the
functions that they call.

`--check FILE` fails if the functions of some module take more than twice as long as FILE says, in
units of what a few plain functions take in the same process; `--write FILE` writes such a file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROWS = ("dense", "sparse")
SEVERAL_LABELS = {"multilabel-linear", "rakel", "coherent-network"}


# estimators that use most modules with kernels
CHECKED = ("forest", "boosting", "adaboost-mh", "adaboost-bhc", "mf-tree", "rakel")
MORE = 2.0  # times as long as before is too long
NOISE = 0.4  # seconds that count as nothing


def models() -> dict[str, Any]:
    """Return an estimator by name for every set of kernels."""
    import palmette as pm
    from palmette import weak

    few = {"n_estimators": 2, "random_state": 0}
    forest = pm.StructuredForestClassifier
    return {
        "forest": forest(**few),
        "forest-axis": forest(router="axis", **few),
        "forest-logistic": forest(router="logistic", **few),
        "forest-sf-h-cs": forest.preset("sf-h-cs", decoding="auto", **few),
        "boosting": pm.HierarchicalBoostingClassifier(**few),
        "adaboost-mh": pm.AdaBoostMHClassifier(**few),
        "adaboost-mh-shared-tree": pm.AdaBoostMHClassifier(weak_learner=weak.SharedTree(), **few),
        "h-ada-mh": pm.HierarchicalAdaBoostClassifier(**few),
        "adaboost-ecc": pm.AdaBoostECCClassifier(**few),
        "adaboost-bhc": pm.AdaBoostBHCClassifier(**few),
        "mf-tree": pm.MFTreeClassifier(),
        "class-tree": pm.ClassTreeClassifier(),
        "class-tree-logistic": pm.ClassTreeClassifier(router="logistic"),
        "multilabel-linear": pm.LinearMultilabel(random_state=0),
        "rakel": pm.RAkEL(random_state=0),
        "coherent-network": pm.CoherentNetworkClassifier((4,), n_epochs=1, random_state=0),
    }


class Compilations:
    """Counts what numba compiles, and its seconds without those of the functions called."""

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self._open: list[tuple[str, float, float]] = []

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        name = f"{dispatcher.__module__}.{dispatcher.py_func.__qualname__}"
        self._open.append((name, time.process_time(), 0.0))

    def on_end(self, event: Any) -> None:
        name, start, inner = self._open.pop()
        whole = time.process_time() - start
        self.times[name] += 1
        self.seconds[name] += whole - inner
        if self._open:
            caller, began, before = self._open.pop()
            self._open.append((caller, began, before + whole))


def measure(name: str, rows: str) -> dict[str, Any]:
    """Fit and ask one estimator in this process."""
    from numba.core import event
    from scipy import sparse
    from sklearn.datasets import load_iris

    class Listener(Compilations, event.Listener):  # type: ignore[misc]
        pass

    warnings.simplefilter("ignore")
    X, y = load_iris(return_X_y=True)
    X = sparse.csr_array(X * (X > 5.0)) if rows == "sparse" else X
    model, listener = models()[name], Listener()
    y = y.astype(str)
    if name in SEVERAL_LABELS:
        y = [{name, "3"} if i % 4 else {name} for i, name in enumerate(y.tolist())]
    unit = yardstick()
    with event.install_listener("numba:compile", listener):
        start = time.process_time()
        model.fit(X, y)
        fitted = time.process_time()
        model.predict(X)
        end = time.process_time()
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {
        "fit": fitted - start,
        "predict": end - fitted,
        "functions": len(listener.times),
        "specializations": sum(listener.times.values()),
        "files": len(files),
        "megabytes": sum(path.stat().st_size for path in files) / 2**20,
        "unit": unit,
        "seconds": dict(listener.seconds),
        "times": dict(listener.times),
    }


def yardstick() -> float:
    """Return the CPU seconds that plain functions take to compile, after numba has been loaded."""
    import numba
    import numpy as np

    def sums(table, weights, out):
        for i in range(table.shape[0]):
            total = 0.0
            for j in range(table.shape[1]):
                total += table[i, j] * weights[j]
                if total > 1e300:
                    total = np.sqrt(total)
            out[i] = total

    begun = 0.0
    for kind in (np.float64, np.float32, np.int64, np.int32, np.int16, np.uint8):
        numba.njit(sums)(np.ones((2, 2), kind), np.ones(2, kind), np.ones(2))
        begun = begun or time.process_time()
    return time.process_time() - begun


def module_times(names: Iterable[str]) -> tuple[dict[str, float], float]:
    """Return the units that the functions of every module take to compile, and the longest unit."""
    units: dict[str, float] = {}
    with ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory() as folder:
        folders = [str(Path(folder) / name) for name in names]
        found = list(pool.map(in_fresh_process, names, ["dense"] * len(folders), folders))
    for each in found:
        own: Counter[str] = Counter()
        for function, seconds in each["seconds"].items():
            if function.startswith("palmette."):
                own[function.split(".<")[0].rpartition(".")[0]] += seconds / each["unit"]
        for module, taken in own.items():
            units[module] = max(taken, units.get(module, 0.0))
    return units, max(each["unit"] for each in found)


def check(path: Path) -> int:
    """Compare with the units in a file; return how many modules take too long."""
    before = json.loads(path.read_text())
    units, second = module_times(CHECKED)
    wrong = 0
    for module in sorted(units):
        allowed = MORE * before.get(module, 0.0) + NOISE / second
        is_long = module in before and units[module] > allowed
        wrong += is_long
        mark = f"  more than {MORE:g} times as long as before" if is_long else ""
        print(f"{module:42}{before.get(module, float('nan')):8.1f}{units[module]:8.1f}{mark}")
    new = sorted(units.keys() - before.keys())
    if new:
        print(f"not in {path}: {', '.join(new)}; add them with --write")
    return wrong + len(new)


def in_fresh_process(name: str, rows: str, folder: str) -> dict[str, Any]:
    """Return what `measure` gives in a process with a folder as its cache."""
    command = [sys.executable, __file__, name, "--rows", rows, "--alone"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="estimators; all by default")
    parser.add_argument("--rows", choices=ROWS, default="dense")
    parser.add_argument("--functions", type=int, default=0, help="functions to print")
    parser.add_argument("--check", type=Path, help="fail if a module takes twice as long")
    parser.add_argument("--write", type=Path, help="write the units of all modules")
    parser.add_argument("--alone", action="store_true", help="measure one here, print JSON")
    given = parser.parse_args()
    if given.alone:
        print(json.dumps(measure(given.names[0], given.rows)))
        return
    if given.check is not None:
        sys.exit(min(check(given.check), 1))
    if given.write is not None:
        units = {name: round(value, 2) for name, value in sorted(module_times(CHECKED)[0].items())}
        given.write.write_text(json.dumps(units, indent=1) + "\n")
        return
    print(f"{'estimator':26}{'fit':>7}{'predict':>9}{'functions':>11}{'specialised':>13}", end="")
    print(f"{'files':>7}{'MB':>6}{'fit again':>11}{'predict again':>15}")
    for name in given.names or models():
        with tempfile.TemporaryDirectory() as folder:
            first = in_fresh_process(name, given.rows, folder)
            second = in_fresh_process(name, given.rows, folder)
        print(
            f"{name:26}{first['fit']:7.1f}{first['predict']:9.1f}{first['functions']:11}"
            f"{first['specializations']:13}{first['files']:7}{first['megabytes']:6.1f}"
            f"{second['fit']:11.2f}{second['predict']:15.2f}",
            flush=True,
        )
        for function, seconds in Counter(first["seconds"]).most_common(given.functions):
            print(f"    {seconds:6.2f} s {first['times'][function]:4} times  {function}")


if __name__ == "__main__":
    main()
