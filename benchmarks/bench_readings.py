"""Are tables read as their owners mean them? A hundred small ones, without options.

    python benchmarks/bench_readings.py
    python benchmarks/bench_readings.py --all

The tables and what is meant by each are those of `tests.table.readings`. A table is read right if
the path, or set of paths, of every row and the kind of every input are those that were meant. It is
announced if it is not, and a sentence or an error says which doubt there is and what to pass before
anything is fitted; else it is misread in silence.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.table.readings import SCRIPTS, TABLES, read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="also say what was told about each")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    start = time.process_time()
    print("| table | read as | meant | verdict |\n|---|---|---|---|")
    for table in TABLES:
        with tempfile.TemporaryDirectory() as folder:
            found = read(table, Path(folder))
        counts[found.verdict] += 1
        meant = "the same" if found.was == found.meant else found.meant
        name = table.name.replace("|", "\\|")
        print(f"| {name} | {found.was} | {meant} | {found.verdict} |")
        for sentence in found.said if options.all or found.verdict != "right" else []:
            print(f"|  | {sentence[:300]} |  |  |".replace("\n", " "))
    n_scripts = sum(any(script in table.name for script in SCRIPTS) for table in TABLES)
    print(
        f"\n{len(TABLES)} tables, {n_scripts} of them in Chinese, Japanese, Thai, Arabic, Hindi or "
        f"emoji: {counts['right']} right, {counts['announced']} announced, "
        f"{counts['silent']} misread in silence; {time.process_time() - start:.1f} CPU s"
    )


if __name__ == "__main__":
    main()
