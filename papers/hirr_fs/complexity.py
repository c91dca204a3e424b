"""Section 3.4: seconds of HiRRfam-FS by numbers of features, rows and classes, and exponents.

The paper states O(R (n^3 + n^2 d) + n^2 m + n m d) for n features, d options of a node, m rows and
R sweeps. ``python -m papers.hirr_fs.complexity`` prints the seconds and the slopes of their
logarithms.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from palmette.feature_selection._base import ScoringProblem
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace
from papers.cells import Cells
from papers.result import Cell, Claim, Table

__all__ = ["Curve", "complexity_table", "find_curves", "judge_curves", "measure_curve", "slope"]

SWEEPS = 10
_FIXED, _FIXED_SMALL = {"n": 400, "m": 2000, "d": 4}, {"n": 80, "m": 400, "d": 2}
_SIZES = {"n": (200, 400, 800, 1600), "m": (4000, 8000, 16000, 32000), "d": (4, 16, 64)}
_SMALL = {"n": (80, 160, 320), "m": (400, 1600, 6400), "d": (2, 4, 8)}
# steps, and the exponents that the formula has for them: of n, m and d
STEPS = {
    "matrices": {"n": 2.0, "m": 1.0, "d": 1.0},
    "sweeps": {"n": 3.0, "m": 0.0, "d": 1.0},
    "descent": {},  # ours: without matrices of all features
}
_REPEATS = 2
_TOLERANCE = 0.5


@dataclass(frozen=True)
class Curve:
    """Seconds of the steps, by one of the three sizes.

    Parameters
    ----------
    variable : {"n", "m", "d"}
    fixed : dict of str to int
        The other sizes.
    sizes : list of int
    seconds : dict of str to list of float
        CPU seconds by step: "matrices" (X'X and X'Y of all nodes), "sweeps" (ten of the paper) and
        "descent" (block coordinate descent from the rows, to a gap of a millionth).
    """

    variable: str
    fixed: dict[str, int]
    sizes: list[int]
    seconds: dict[str, list[float]]

    def slope(self, step: str) -> float:
        """Return the exponent between the two largest sizes."""
        return slope(self.sizes[-2:], self.seconds[step][-2:])


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the slope of the logarithms of seconds over those of sizes.

    Examples
    --------
    >>> round(slope([1, 2, 4], [3.0, 12.0, 48.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-9)), 1)[0])


def make_problem(n: int, m: int, d: int) -> ScoringProblem:
    """Make rows of two nodes below the root, each with d classes that d features tell apart."""
    rng = np.random.default_rng(0)
    tree = Hierarchy.from_paths([(a, f"{a}{k}") for a in "pq" for k in range(d)])
    classes = (np.arange(m) % (2 * d)).astype(np.int32)
    X = rng.normal(size=(m, n))
    X[np.arange(m), classes % n] += 2.0
    return ScoringProblem(X, LabelSpace(tree, tree.leaves), classes)


def _seconds(n: int, m: int, d: int) -> dict[str, float]:
    """Return the CPU seconds of the steps, the least of some repeats."""
    from palmette.feature_selection._hirr import HirrScore
    from palmette.feature_selection._hirr_problem import gram_designs

    problem = make_problem(n, m, d)
    published = HirrScore.preset("hirrfam-fs")
    ours = HirrScore(parent=0.1, sibling=0.1)
    hirr, _ = published.pose(problem)
    found: dict[str, list[float]] = {step: [] for step in STEPS}
    for _ in range(_REPEATS):
        begun = time.process_time()
        gram_designs(problem, np.full(3, max(d, 2), dtype=np.int32), False)
        found["matrices"].append(time.process_time() - begun)
        begun = time.process_time()
        published.solve(hirr)
        found["sweeps"].append(time.process_time() - begun)
        begun = time.process_time()
        ours.score(problem)
        found["descent"].append(time.process_time() - begun)
    return {step: min(values) for step, values in found.items()}


def measure_curve(
    variable: str, sizes: Sequence[int], fixed: dict[str, int]
) -> dict[str, list[float]]:
    """Return the seconds by one size, the others fixed, as plain values."""
    _seconds(50, 200, 2)  # what is compiled or imported at first
    by_size = [_seconds(**{**fixed, variable: size}) for size in sizes]
    return {step: [each[step] for each in by_size] for step in STEPS}


def find_curves(cells: Cells, *, quick: bool = False) -> list[Curve]:
    """Measure the three curves, unless they are there already."""
    curves = []
    fixed = _FIXED_SMALL if quick else _FIXED
    for variable, sizes in (_SMALL if quick else _SIZES).items():
        cell = {"dataset": "generated", "model": f"seconds by {variable}", "sizes": list(sizes)}
        found = cells.results(
            {**cell, "fixed": fixed}, partial(measure_curve, variable, sizes, fixed)
        )
        seconds = {step: found[step] for step in STEPS}
        curves.append(Curve(variable, fixed, list(sizes), seconds))
    return curves


def complexity_table(curves: Sequence[Curve]) -> Table:
    """Return the seconds and the exponents."""
    rows: list[tuple[Cell, ...]] = []
    for curve in curves:
        for place, size in enumerate(curve.sizes):
            cells = [f"{curve.seconds[step][place]:.4f}" for step in STEPS]
            rows.append((f"{curve.variable} = {size:,}", *cells))
        slopes = []
        for step, formula in STEPS.items():
            told = f" ({formula[curve.variable]:g})" if formula else ""
            slopes.append(f"{curve.slope(step):.2f}{told}")
        rows.append((f"exponent of {curve.variable}", *slopes))
    fixed = ", ".join(f"{name} = {size:,}" for name, size in curves[0].fixed.items())
    notes = [
        f"CPU seconds of one thread, the least of {_REPEATS}; three nodes; {fixed} if not given. "
        "'matrices' are X'X and X'Y of all nodes; 'sweeps' ten of HiRRfam-FS, with the duality gap "
        "after each; 'descent' is our solver from the rows to a gap of a millionth, with relative "
        "couplings of .1. Exponents between the two largest sizes; in brackets the formula's."
    ]
    title = "Section 3.4. Seconds by features n, rows m and options d"
    return Table(title, ("size", *STEPS), rows, notes)


def judge_curves(curves: Sequence[Curve]) -> Iterator[Claim]:
    """Judge whether no exponent exceeds that of the formula."""
    for curve in curves:
        where = f"Section 3.4, {curve.variable}"
        found = {step: curve.slope(step) for step, formula in STEPS.items() if formula}
        shown = ", ".join(
            f"{step} {value:.2f} (formula {STEPS[step][curve.variable]:g})"
            for step, value in found.items()
        )
        words = (
            f"{where}: exponents of {curve.variable} from {curve.sizes[-2]:,} to "
            f"{curve.sizes[-1]:,}: {shown}; our descent {curve.slope('descent'):.2f}"
        )
        holds = all(
            value <= STEPS[step][curve.variable] + _TOLERANCE for step, value in found.items()
        )
        verdict = "" if holds else "it does not hold that "
        yield Claim(where, f"{words}; {verdict}the formula bounds the cost.", holds)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table and the verdicts."""
    parser = argparse.ArgumentParser(description="Seconds of HiRRfam-FS by its sizes.")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    given = parser.parse_args(arguments)
    curves = find_curves(Cells(None, {}), quick=given.quick)
    lines = [complexity_table(curves).to_markdown(), *(c.words for c in judge_curves(curves))]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
