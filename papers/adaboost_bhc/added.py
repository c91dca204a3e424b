"""The small tables of the paper alone, to be added to the results of a run that lacks them.

``python -m papers.adaboost_bhc.added --out FOLDER``, then
``python -m papers.claims --store FOLDER/results.json --add --command "..."`` and
``python -m papers.claims --judge adaboost-bhc``: minutes, where the whole run takes an hour.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from palmette.compare import Problem, environment, find_problem
from papers.adaboost_bhc.figures import draw_figures, glass_facts
from papers.adaboost_bhc.methods import LEARNERS, PAPER_PROTOCOL, Protocol, find_methods, paper_sets
from papers.adaboost_bhc.outcome import find_outcome
from papers.adaboost_bhc.run import GLASS, REFERENCE, ROUNDS
from papers.adaboost_bhc.sizes import find_clouds, find_sizes, size_tables
from papers.adaboost_bhc.tables import UNBALANCED, glass_table, least_tables
from papers.cells import Cells
from papers.result import PublishedResult

__all__ = ["find_added"]


def find_added(
    problems: Sequence[Problem],
    rounds: int = ROUNDS,
    protocol: Protocol = PAPER_PROTOCOL,
    seed: int = 0,
    *,
    with_curves: bool = True,
) -> PublishedResult:
    """Measure rows of nodes, memory and the tree of Glass; curves of the unbalanced sets only.

    Parameters
    ----------
    problems : sequence of Problem
    rounds : int
    protocol : Protocol
    seed : int
    with_curves : bool
        Whether the four methods are fitted to the unbalanced sets, which takes most of the time.

    Returns
    -------
    PublishedResult
        Without claims: `papers.claims --judge` makes them of all tables.
    """
    cells = Cells(None, environment())
    methods = [method for learner in LEARNERS for method in find_methods(learner)]
    sizes = [find_sizes(problem, cells) for problem in problems]
    tables = size_tables(sizes, *find_clouds(cells, seed))
    tables += [glass_table(glass_facts(one)) for one in problems if one.name == GLASS]
    outcomes = [
        find_outcome(one, methods, cells, rounds=rounds, protocol=protocol, seed=seed, n_jobs=1)
        for one in problems
        if with_curves and one.name in UNBALANCED
    ]
    tables += least_tables(outcomes) if outcomes else []
    made_with = ", ".join(f"{key} {value}" for key, value in environment().items())
    facts = {"added with": made_with}  # beside the facts of the run that they are added to
    return PublishedResult(
        "adaboost-bhc", REFERENCE, tables, [], {}, draw_figures, facts=facts, notes=cells.notes
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the tables into a folder."""
    parser = argparse.ArgumentParser(description="Small tables of the AdaBoost.BHC paper.")
    parser.add_argument("--out", type=Path, required=True, help="folder of results.json")
    parser.add_argument("--no-curves", action="store_true", help="without those of Figures 4 and 5")
    given = parser.parse_args(arguments)
    problems = [find_problem(name) for name in paper_sets()]
    for path in find_added(problems, with_curves=not given.no_curves).write(given.out):
        print(path)


if __name__ == "__main__":
    main()
