"""How time and memory of every main estimator grow with rows, features and classes or nodes.

    OMP_NUM_THREADS=1 python benchmarks/bench_scale.py run --out scale.jsonl [--limit 60]
    python benchmarks/bench_scale.py table scale.jsonl

Every estimator is fitted with its defaults to generated problems (scale_cell.py) that grow tenfold
along one axis while the others keep a small size; classes are those of one path per row, labels of
label sets, or leaves of a tree with several paths per row, which has about as many nodes. Each
cell runs in a process of its own. After `--limit` CPU seconds it is stopped, and no larger size is
tried. `run` skips the cells that FILE has, so that the same command goes on where it was stopped.

The exponent is log10 of the ratio of the last two sizes: 1 is linear, 2 is quadratic. Memory is
what `fit` needed beyond the data and the libraries that were loaded before; below 30 MiB it has no
exponent.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from scale_cell import MODELS

from palmette.compare import environment

AXES = ("rows", "features", "classes")
STEEP = 1.2
LEAST_MIB = 30.0
LEAST_SECONDS = 0.05


def cells(name, axis, n_sizes, jobs):
    """Return the cells of a model along one axis, the smallest first."""
    model = MODELS[name]
    place = AXES.index(axis)
    found = []
    for step in range(n_sizes):
        sizes = list(model.small)
        sizes[place] = model.first[place] * 10**step
        if axis == "classes":  # enough rows for every class
            sizes[0] = max(sizes[0], model.first[place] * 10 ** (n_sizes - 1) * 5)
        cell = {"model": name, "axis": axis, "jobs": jobs}
        found.append(cell | dict(zip(AXES, sizes, strict=True)))
    return found


def key(cell):
    return tuple(cell[name] for name in ("model", "axis", "jobs", *AXES))


def read(path):
    lines = Path(path).read_text().splitlines() if Path(path).exists() else []
    records = [json.loads(line) for line in lines]
    return {key(record): record for record in records if "model" in record}


def run(options):
    done = read(options.out)
    append(options.out, {"environment": environment()})
    for name in options.models or MODELS:
        for axis in options.axes:
            for cell in cells(name, axis, options.sizes, options.jobs):
                record = done.get(key(cell))
                if record is None or (record["status"] != "ok" and record["limit"] < options.limit):
                    record = measure(cell, options.limit)
                    append(options.out, record)
                    print(summary(record), flush=True)
                if record["status"] != "ok":
                    break


def measure(cell, limit):
    """Return the record of a cell, measured in a process of its own."""
    script = Path(__file__).with_name("scale_cell.py")
    command = [sys.executable, str(script), json.dumps(cell)]
    bounded = ["bash", "-c", f'ulimit -t {round(limit)}; exec "$@"', "_", *command]
    done = subprocess.run(bounded, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if lines:
        return {**json.loads(lines[-1]), "limit": limit}
    if done.returncode < 0 or done.returncode > 128:
        return {**cell, "status": "limit", "limit": limit}
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    return {**cell, "status": "error", "message": last, "limit": limit}


def append(path, record):
    with open(path, "a") as file:
        file.write(json.dumps(record) + os.linesep)


def summary(record):
    sizes = " x ".join(f"{record[name]:,}" for name in AXES)
    if record["status"] != "ok":
        return f"{record['model']}, {sizes}: {record['status']} {record.get('message', '')}"
    return (
        f"{record['model']}, {sizes}: fit {record['cpu']:.2f} CPU s, {record['mib']:.0f} MiB, "
        f"{record['us']:.0f} us per row"
    )


# ---------------------------------------------------------------------- the table


def table(options):
    records = read(options.file).values()
    print("| estimator | axis | sizes | fit CPU s | exponent | MiB | exponent | us per row |")
    print("|---|---|---|---|---|---|---|---|")
    steep = []
    for name in MODELS:
        for axis in AXES:
            found = sorted(
                (r for r in records if r["model"] == name and r["axis"] == axis),
                key=lambda record: record[axis],
            )
            if found:
                growth = row(name, axis, found)
                if axis == "rows" and growth is not None and growth > STEEP:
                    steep.append(f"{name} ({growth:.2f}): {MODELS[name].note or 'no reason given'}")
    if steep:
        print(f"\nAbove {STEEP} in rows: " + "; ".join(steep) + ".")


def row(name, axis, found):
    """Print the row of an estimator and an axis, and return the exponent of its time."""
    measured = [record for record in found if record["status"] == "ok"]
    stopped = [record["status"] for record in found if record["status"] != "ok"]
    sizes = ", ".join(f"{record[axis]:,}" for record in measured)
    seconds = [record["cpu"] for record in measured]
    memory = [record["mib"] for record in measured]
    growth, room = exponent(seconds, LEAST_SECONDS), exponent(memory, LEAST_MIB)
    print(
        f"| {name} | {axis} | {sizes} | {join(seconds, 2)}{', limit' * bool(stopped)} | "
        f"{shown(growth)} | {join(memory, 0)} | {shown(room)} | "
        f"{join([record['us'] for record in measured], 0)} |"
    )
    return growth


def exponent(values, least):
    """Return log10 of the ratio of the last two values, None if they are too small to say."""
    if len(values) < 2 or values[-1] < least:
        return None
    return float(np.log10(values[-1] / max(values[-2], least / 10)))


def shown(value):
    return "" if value is None else f"{value:.2f}"


def join(values, digits):
    return ", ".join(f"{value:.{digits}f}" for value in values)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.set_defaults(call=run)
    running.add_argument("--out", required=True)
    running.add_argument("--models", nargs="+", choices=list(MODELS), metavar="NAME")
    running.add_argument("--axes", nargs="+", choices=AXES, default=list(AXES))
    running.add_argument("--sizes", type=int, default=3, help="sizes per axis, growing tenfold")
    running.add_argument("--limit", type=float, default=60.0, help="CPU seconds of a cell")
    running.add_argument("--jobs", type=int, default=1)
    printing = commands.add_parser("table")
    printing.set_defaults(call=table)
    printing.add_argument("file")
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    main()
