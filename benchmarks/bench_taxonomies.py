"""Time and memory of reading, checking, drawing and writing deep and wide taxonomies.

    python benchmarks/bench_taxonomies.py [--sizes 2000 20000 200000] [--json FILE]

A chain has one child per node, as many levels as nodes; a star has all nodes below its root. Each
is written in the formats that can hold it and goes through `Hierarchy.read`, `check_hierarchy` and
its text, `draw`, and the SVG and HTML pictures; a line is printed per shape, format and size. Every
case runs in a process of its own, so that the memory is that of the case, without the 0.1 GiB of
the imports. Paths and indented text of a chain have lines as long as their depth: their files are
quadratic in it, so that the time is to be compared with the size of the file.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path

STEPS = ("read", "check", "text", "draw", "svg", "html", "write")
LARGEST = 64 * 2**20  # bytes of a text file that is read


def lines_of(shape, format, n):
    """Yield the lines of a file of about `n` nodes."""
    if format == "edges":
        yield from (f"r n{i}" if shape == "star" or not i else f"n{i - 1} n{i}" for i in range(n))
    elif format == "paths":
        steps = [f"n{i}" for i in range(n)]
        if shape == "star":
            yield from (f"r > {step}" for step in steps)
        else:
            yield from (" > ".join(steps[: i + 1]) for i in range(n))
    elif format == "path":  # a single line: the other nodes are implied
        yield " > ".join(f"n{i}" for i in range(n))
    elif format == "indented":
        yield from ("r" if not i else "\t" * (i if shape == "chain" else 1) + "n" + str(i)
                    for i in range(n))  # fmt: skip
    elif format == "newick":
        names = [f"n{i}" for i in range(n)]
        chain = "(" * n + "leaf)" + ")".join(names) + ";"
        yield chain if shape == "chain" else f"({','.join(names)})r;"
    else:  # json rows
        parents = [-1, *(range(n - 1) if shape == "chain" else [0] * (n - 1))]
        rows = {"names": [f"n{i}" for i in range(n)], "parents": parents}
        yield json.dumps({"format": "palmette.hierarchy", "version": 1, **rows})


def measure(shape, format, n, folder, queue):
    """Put seconds of each step, the size of the file and the peak memory into a queue."""
    from palmette import Hierarchy
    from palmette.hierarchy._pictures import to_page, to_svg
    from palmette.hierarchy.checking import check_hierarchy

    file = Path(folder) / "file.txt"
    with file.open("w") as stream:
        for line in lines_of(shape, format, n):
            stream.write(line + "\n")
            if stream.tell() > LARGEST:
                queue.put(None)
                return
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {}

    def timed(name, function):
        begun = time.process_time()
        result = function()
        found[name] = time.process_time() - begun
        return result

    h = timed("read", lambda: Hierarchy.read(file))
    checked = timed("check", lambda: check_hierarchy(file))
    assert not checked.faults, checked.faults[0]
    timed("text", checked.to_text)
    timed("draw", lambda: (h.draw(), h.draw(max_lines=None)))
    timed("svg", lambda: to_svg(h))
    timed("html", lambda: to_page(h))
    timed("write", lambda: h.write(Path(folder) / "out.json"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    queue.put({"bytes": file.stat().st_size, "nodes": h.n_nodes, "gib": peak / 2**20, **found})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    formats = ("edges", "newick", "json", "path", "paths", "indented")
    parser.add_argument("--sizes", type=int, nargs="+", default=[2_000, 20_000, 200_000])
    parser.add_argument("--formats", nargs="+", choices=formats, default=formats)
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    given = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    results = []
    print(f"{'':24}{'nodes':>10}{'MB':>8}" + "".join(f"{step:>8}" for step in STEPS) + "     GiB")
    for shape in ("chain", "star"):
        for format in given.formats:
            if shape == "star" and format == "path":
                continue
            for n in given.sizes:
                with tempfile.TemporaryDirectory() as folder:
                    queue = context.Queue()
                    task = context.Process(target=measure, args=(shape, format, n, folder, queue))
                    task.start()
                    found = queue.get(timeout=600)
                    task.join()
                title = f"{shape} {format}"
                if found is None:
                    print(f"{title:24}{n:10,}  the file would exceed {LARGEST // 2**20} MiB")
                    continue
                results.append({"shape": shape, "format": format, **found})
                times = "".join(f"{found[step]:8.2f}" for step in STEPS)
                size = found["bytes"] / 1e6
                print(f"{title:24}{n:10,}{size:8.2f}{times}{found['gib']:8.2f}", flush=True)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
