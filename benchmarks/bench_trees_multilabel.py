"""Memory and time of a saved `TreesMultilabel`: fit and save, then load and predict elsewhere.

One process fits and saves the model, another one loads it and predicts. Memory is the largest
resident size of a process less its size after ``import palmette``, in MiB.

    python benchmarks/bench_trees_multilabel.py --rows 1000 --classes 287   # 305 nodes
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import palmette

BEFORE = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def grown() -> float:
    """Return the memory that this process has needed since the import of palmette, in MiB."""
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - BEFORE) / 1024


def rows_of(given):
    """Return rows to fit on and rows to predict, with the label sets of the first."""
    from scale_cell import several_paths

    X, sets = several_paths(2 * given.rows, given.features, given.classes)
    return X[: given.rows], sets[: given.rows], X[given.rows :]


def fit_and_save(given, file):
    """Fit a model, write it to a file, and return what that needed."""
    X, sets, _ = rows_of(given)
    hierarchy = palmette.Hierarchy.from_paths(
        [name.split("/") for name in sorted(set().union(*sets))]
    )
    model = palmette.TreesMultilabel(
        n_estimators=given.trees, hierarchy=hierarchy, n_jobs=given.n_jobs, random_state=0
    )
    start = time.process_time()
    model.fit(X, sets)
    spent, needed = time.process_time() - start, grown()
    palmette.save(model, file)
    told = {"nodes": hierarchy.n_nodes, "fit: CPU s": spent, "fit: MiB": needed}
    return {**told, "fit and save: MiB": grown(), "file: MB": Path(file).stat().st_size / 1e6}


def load_and_predict(given, file):
    """Load the model and predict as many rows as it was fitted on; the second time is kept."""
    X = rows_of(given)[2]
    start = time.process_time()
    model = palmette.load(file).set_params(n_jobs=given.n_jobs)
    loading, loaded = time.process_time() - start, grown()
    model.predict(X)
    predicted = grown()
    start = time.process_time()
    proba = model.predict_proba(X)
    spent = time.process_time() - start
    told = {"load: CPU s": loading, "load: MiB": loaded, "load and predict: MiB": predicted}
    digest = hashlib.sha256(proba.tobytes()).hexdigest()[:12]
    return {**told, "predict_proba: CPU s": spent, "sha256 of probabilities": digest}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--features", type=int, default=60)
    parser.add_argument("--classes", type=int, default=287)
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--step", choices=["fit", "predict"], help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        work = fit_and_save if given.step == "fit" else load_and_predict
        print(json.dumps(work(given, given.file)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for step in ("fit", "predict"):
            own = ["--step", step, "--file", f"{folder}/model.palmette"]
            command = [sys.executable, __file__, *sys.argv[1:], *own]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            for name, value in json.loads(done.stdout.splitlines()[-1]).items():
                print(f"{name:<26}{value if isinstance(value, str) else format(value, ',.2f')}")


if __name__ == "__main__":
    main()
