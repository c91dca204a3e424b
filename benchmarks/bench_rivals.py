"""Ours beside the common libraries: boosting, forests and logistic regression, on many sets.

    pip install '.[bench]' xgboost catboost
    python benchmarks/bench_rivals.py run --jobs 8 --limit 600 --out rivals.jsonl
    python benchmarks/bench_rivals.py run --validate --sets zoo glass --out validation.jsonl
    python benchmarks/bench_rivals.py table rivals.jsonl

A cell is one method on one set with one seed, with its defaults or with a small search; it runs in
a process of its own with one thread, cheap cells first. `run` skips the cells that FILE has, so
that the same command resumes an interrupted run; a cell that needs more than `--limit` CPU seconds
is recorded as such, and tried again with a higher limit only. Libraries that are not installed are
reported as missing. The data sets are found through the environment variable PALMETTE_DATA.

The search is the same for every method: six candidates, the defaults first, by cross-validation on
the training rows (three folds, one of them if there are more than 3,000 rows), and no candidate is
begun after 300 CPU seconds; the best one is fitted to all training rows. Where one fit with the
defaults needs half of the limit no search is tried, since it could hardly reach a second candidate;
it is recorded as over. On label sets the search of a rival also gives it one threshold for all
labels, that of the best mean of micro and macro F1 on the held-out rows; its default is one half.
`--validate` scores by three folds of the training
rows and leaves the test rows alone.

Sets with a published test part have one seed; of those without, a third of the rows is for
testing, drawn anew for each of five seeds if there are fewer than 2,000 rows. Rivals see the
labels of one-path sets as classes, and every node of a hierarchy with several paths as one label.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import rivals_cell
from rivals_cell import MEASURES, METHODS, N_FOLDS, PROBLEMS, RECOMMENDED
from scipy.stats import rankdata

LIBRARIES_OF_THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")

# ---------------------------------------------------------------------- running cells


def cells(options):
    """Return the cells of a run, cheap ones first."""
    found = []
    for name, problem in PROBLEMS.items():
        for label, method in METHODS.items():
            if name not in options.sets or problem.kind not in method.kinds:
                continue
            n_seeds = min(options.seeds, N_FOLDS if options.validate else problem.n_seeds)
            cost = problem.rows * problem.features * problem.outputs * method.cost
            for mode in options.modes:
                for seed in range(n_seeds):
                    cell = {"set": name, "method": label, "mode": mode, "seed": seed}
                    found.append((cost * (15 if mode == "search" else 1), cell))
    found.sort(key=lambda pair: pair[0])
    return [{**cell, "validate": options.validate} for _, cell in found]


def key(record):
    return tuple(record[name] for name in ("set", "method", "mode", "seed", "validate"))


def read(path):
    """Return the last record of every cell, and the environments of all runs."""
    records, machines = {}, []
    for line in Path(path).read_text().splitlines() if Path(path).exists() else ():
        record = json.loads(line)
        if "environment" in record:
            machines.append(record["environment"])
        else:
            records[key(record)] = record
    return records, machines


def is_done(record, limit):
    if record is None or record["status"] in ("missing", "error"):
        return False
    return record["status"] == "ok" or record["limit"] >= limit


def is_hopeless(cell, done):
    """Return whether a search would hardly reach a second candidate within its limit."""
    default = done.get(key({**cell, "mode": "default"}))
    if cell["mode"] != "search" or default is None:
        return False
    seconds = default["limit"] if default["status"] == "over" else default.get("fit_s", 0.0)
    return seconds >= cell["limit"] / 2


def run(options):
    done, _ = read(options.out)
    queue = []
    for cell in cells(options):
        library = METHODS[cell["method"]].library
        if is_done(done.get(key(cell)), options.limit):
            continue
        cell["limit"] = options.limit
        if is_hopeless(cell, done):
            write(options.out, {**cell, "status": "over", "message": "not tried"})
        elif importlib.util.find_spec(library) is None:
            write(options.out, {**cell, "status": "missing", "message": library})
        else:
            queue.append(cell)
    print(f"{len(queue)} cells to run, {len(done)} in {options.out}", flush=True)
    write(options.out, {"environment": machine()})
    begun, running = time.monotonic(), []
    try:
        while queue or running:
            late = time.monotonic() - begun > options.wall
            while queue and len(running) < options.jobs and not late:
                running.append(Child(queue.pop(0)))
            for child in list(running):
                record = child.finished()
                if record is not None:
                    running.remove(child)
                    write(options.out, record)
            if late:
                break
            time.sleep(0.05)
    finally:
        for child in running:
            child.process.kill()
    print(f"{len(queue) + len(running)} cells are left: the same command runs them", flush=True)


def write(path, record):
    with open(path, "a") as file:
        file.write(json.dumps(record) + "\n")


def machine():
    from importlib.metadata import PackageNotFoundError, version

    from palmette.compare import environment

    facts = environment()
    for name in ("lightgbm", "xgboost", "xgboost-cpu", "catboost"):
        with contextlib.suppress(PackageNotFoundError):
            facts[name] = version(name)
    return facts


class Child:
    """The process of a running cell."""

    def __init__(self, cell):
        self.cell = cell
        self.output = tempfile.TemporaryFile("w+")  # noqa: SIM115, closed when it is read
        self.begun = time.monotonic()
        command = [sys.executable, rivals_cell.__file__, json.dumps(cell)]
        one = dict.fromkeys((f"{name}_NUM_THREADS" for name in LIBRARIES_OF_THREADS), "1")
        self.process = subprocess.Popen(
            command, stdout=self.output, stderr=subprocess.STDOUT, env={**os.environ, **one}
        )

    def finished(self):
        """Return the record of the cell, or None if it is running."""
        code = self.process.poll()
        if code is None:
            if time.monotonic() - self.begun < 3 * self.cell["limit"] + 120:
                return None
            self.process.kill()
            code = self.process.wait() and -signal.SIGXCPU
        self.output.seek(0)
        lines = self.output.read().splitlines() or [""]
        self.output.close()
        if code == 0:
            return json.loads(lines[-1])
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            over = code == -signal.SIGXCPU
            return {**self.cell, "status": "over" if over else "error", "message": "killed"}
        print(self.cell, lines[-1], flush=True)
        return {**self.cell, "status": "error", "message": lines[-1][:300]}


# ---------------------------------------------------------------------- tables


def table(options):
    records, machines = read(options.file)
    if options.validate:
        print("By three folds of the training rows.\n")
    records = [each for each in records.values() if each["validate"] == options.validate]
    for each in dict.fromkeys(json.dumps(each) for each in machines):
        print(each, end="\n\n")
    for mode, title in (("default", "Defaults"), ("search", "Search of six candidates")):
        chosen = [each for each in records if each["mode"] == mode]
        if chosen:
            print(f"### {title}\n")
            sets = sorted({each["set"] for each in chosen})
            n_seeds = 1 + max(each["seed"] for each in chosen)
            wanted = cells(
                argparse.Namespace(
                    sets=sets, modes=[mode], validate=options.validate, seeds=n_seeds
                )
            )
            if len(chosen) < len(wanted):
                print(f"{len(wanted) - len(chosen)} of {len(wanted)} cells have not been run.\n")
            print_mode(chosen)


def print_mode(records):
    values = means(records)
    missing = {r["method"] for r in records if r["status"] == "missing"}
    for title, shown in (
        ("One path per row: hierarchical F1 (accuracy on flat sets)", ("path",)),
        ("Label sets and several paths per row", ("labels", "paths")),
    ):
        rows = [(name, m) for name in PROBLEMS for m in rows_of(name, shown) if (name, m) in values]
        if rows:
            print_scores(title, rows, values, missing)
    print_ranks(values, missing)
    print_losses(values)
    print_costs(records, "s", "CPU seconds of search, fit and predict; the mean over seeds")
    print_costs(records, "mib", "Peak memory beyond the data, MiB")


def rows_of(name, kinds):
    kind = PROBLEMS[name].kind
    more = ("AU(PRC)", "labels per row") if kind == "labels" else ()
    return (*MEASURES[kind], *more) if kind in kinds else ()


def means(records):
    """Return {(set, measure): {method: mean over seeds, or the reason why there is none}}."""
    found: dict[Any, Any] = {}
    for each in records:
        for measure in rows_of(each["set"], ("path", "labels", "paths")):
            cell = found.setdefault((each["set"], measure), {}).setdefault(each["method"], [])
            cell.append(each["scores"][measure] if each["status"] == "ok" else reason(each))
            if measure == "labels per row" and each["status"] == "ok":
                found[each["set"], measure]["truth"] = [each["scores"]["true labels per row"]]
    return {place: {m: mean_of(v) for m, v in by.items()} for place, by in found.items()}


def reason(record):
    if record["status"] == "over":
        return f"over {record['limit']:.0f} s"
    return record["status"]


def mean_of(values):
    wrong = [each for each in values if isinstance(each, str)]
    return wrong[0] if wrong else float(np.mean(values))


def numbers(by):
    return {m: v for m, v in by.items() if m in METHODS and not isinstance(v, str)}


def shown_methods(rows, values):
    return [m for m in METHODS if any(m in values[row] for row in rows)]


def print_scores(title, rows, values, missing):
    methods = [m for m in shown_methods(rows, values) if m not in missing]
    print(f"{title}\n\n| set | measure | {' | '.join(methods)} |")
    print("|" + "---|" * (len(methods) + 2))
    for name, measure in rows:
        by = values[name, measure]
        is_score = measure != "labels per row"
        best = max(numbers(by).values(), default=None) if is_score else None
        line = [text_of(by.get(m), best, 3 if is_score else 2) for m in methods]
        label = measure if is_score else f"{measure} (truth {by.get('truth', np.nan):.2f})"
        print(f"| {name} | {label} | {' | '.join(line)} |")
    print()
    if missing:
        print(f"Not installed: {', '.join(sorted(missing))}.\n")


def text_of(value, best, digits):
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    text = f"{value:.{digits}f}"
    return f"**{text}**" if best is not None and text == f"{best:.{digits}f}" else text


def print_ranks(values, missing):
    """Print mean ranks of the recommended estimator of ours and of all rivals that are installed.

    The rank on a set is the mean of those by its measures. A method that needed more than the
    limit, or failed, is last.
    """
    rivals = [m for m in METHODS if not METHODS[m].ours and m not in missing]
    ranks: dict[str, list[Any]] = {"path": [], "labels": [], "paths": []}
    waiting = []
    for name, problem in PROBLEMS.items():
        contenders = [RECOMMENDED[problem.kind], *rivals]
        found = [values.get((name, measure), {}) for measure in MEASURES[problem.kind]]
        if all(m in by for by in found for m in contenders):
            rows = [
                rankdata([-round(numbers(by).get(m, -1.0), 4) for m in contenders]) for by in found
            ]
            ranks[problem.kind].append(np.mean(rows, axis=0))
        elif any(found):
            waiting.append(name)
    if waiting:
        print(f"Without ranks until all methods have been run: {', '.join(waiting)}.\n")
    if not any(ranks.values()):
        return
    kinds = [kind for kind in ranks if ranks[kind]]
    every = [row for kind in kinds for row in ranks[kind]]
    columns = [np.mean(every, axis=0), *(np.mean(ranks[kind], axis=0) for kind in kinds)]
    heads = [f"all ({len(every)})", *(f"{kind} ({len(ranks[kind])})" for kind in kinds)]
    print(f"Mean ranks over sets\n\n| method | {' | '.join(heads)} |")
    print("|" + "---|" * (len(heads) + 1))
    for i in np.argsort(columns[0], kind="stable"):
        name = ["palmette, as recommended", *rivals][i]
        print(f"| {name} | {' | '.join(f'{column[i]:.2f}' for column in columns)} |")
    print()


def print_losses(values):
    """Print where a rival scores higher than the recommended estimator of ours."""
    lines = []
    for (name, measure), by in values.items():
        kind = PROBLEMS[name].kind
        if measure not in MEASURES[kind]:
            continue
        found = numbers(by)
        ours = found.get(RECOMMENDED[kind])
        rivals = {m: v for m, v in found.items() if not METHODS[m].ours}
        if not rivals:
            continue
        best = max(rivals, key=rivals.get)
        if ours is None or rivals[best] > ours:
            own = "none" if ours is None else f"{ours:.3f}"
            gap = "" if ours is None else f"{rivals[best] - ours:.3f}"
            above = sum(v > (ours or 0.0) for v in rivals.values())
            lines.append(
                f"| {name} | {measure} | {own} | {best} {rivals[best]:.3f} | {gap} | {above} |"
            )
    print(f"Where the recommended estimator of ours is not first: {len(lines)} rows\n")
    print(
        "| set | measure | palmette | best rival | gap | rivals above |\n|---|---|---|---|---|---|"
    )
    print("\n".join(lines) + "\n")


def print_costs(records, what, title):
    found: dict[Any, Any] = {}
    for each in records:
        if each["status"] == "ok":
            seconds = each["search_s"] + each["fit_s"] + each["predict_s"]
            value = seconds if what == "s" else each["mib"]
        else:
            value = reason(each)
        found.setdefault(each["set"], {}).setdefault(each["method"], []).append(value)
    methods = [m for m in METHODS if any(m in by for by in found.values())]
    print(f"{title}\n\n| set | {' | '.join(methods)} |")
    print("|" + "---|" * (len(methods) + 1))
    for name in PROBLEMS:
        if name in found:
            by = {m: mean_of(v) for m, v in found[name].items()}
            digits = 1 if what == "s" else 0
            print(f"| {name} | {' | '.join(text_of(by.get(m), None, digits) for m in methods)} |")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    sub = commands.add_parser("run", help="run the cells that FILE does not have")
    sub.add_argument("--out", required=True, metavar="FILE.jsonl")
    sub.add_argument("--jobs", type=int, default=1, help="cells at a time")
    sub.add_argument("--limit", type=float, default=600, help="CPU seconds of a cell")
    sub.add_argument("--wall", type=float, default=np.inf, help="seconds after which to stop")
    sub.add_argument("--sets", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    sub.add_argument("--modes", nargs="+", default=["default", "search"])
    sub.add_argument("--seeds", type=int, default=5, help="maximum number of seeds of a set")
    sub.add_argument("--validate", action="store_true", help="three folds of the training rows")
    sub.set_defaults(call=run)
    sub = commands.add_parser("table", help="print Markdown")
    sub.add_argument("file", metavar="FILE.jsonl")
    sub.add_argument("--validate", action="store_true")
    sub.set_defaults(call=table)
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    main()
