"""Random samples, as in the paper, and the objective that its trees maximize."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from palmette.compare import Problem
from papers.mf_tree.judging import CONTESTS, Contest
from papers.mf_tree.outcome import GIVEN, Outcome
from papers.result import Cell, Claim, Table

__all__ = [
    "Samples",
    "halved",
    "judge_objectives",
    "judge_samples",
    "sample_tables",
    "tables_of",
]

# ---------------------------------------------------------------------- samples


@dataclass(frozen=True)
class Samples:
    """The outcomes of one data set on several random halves.

    Parameters
    ----------
    name : str
    outcomes : list of Outcome
    """

    name: str
    outcomes: list[Outcome]


def halved(problem: Problem, seed: int) -> Problem:
    """Return all rows of a problem, divided at random into halves with all classes.

    Parameters
    ----------
    problem : Problem
        Its training and test rows are put together. Classes of one row are left out.
    seed : int

    Returns
    -------
    Problem
        Of the same name.
    """
    from sklearn.model_selection import train_test_split

    parts = problem.X_train, problem.X_test
    stack = sparse.vstack if sparse.issparse(parts[0]) else np.vstack
    X = stack(parts)
    X = sparse.csr_array(X) if sparse.issparse(X) else X
    y = np.concatenate([problem.y_train, problem.y_test])
    _, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    kept = np.flatnonzero(sizes[codes] > 1)
    # as many rows of every class on either side, up to one
    train, test = train_test_split(kept, test_size=0.5, stratify=codes[kept], random_state=seed)
    return Problem(problem.name, problem.hierarchy, X[train], y[train], X[test], y[test])


def sample_tables(samples: Iterable[Samples]) -> list[Table]:
    """Return Table 2 as the paper has it: means over samples, with standard deviations."""
    columns = ("method", "macro F1", "accuracy", "µs per row", "depth")
    tables = []
    for each in samples:
        titles = list(each.outcomes[0].answers)
        rows: list[tuple[Cell, ...]] = []
        for title in titles:
            answers = [outcome.answers[title] for outcome in each.outcomes]
            rows.append(
                (
                    title,
                    _spread([answer.macro_f1 for answer in answers]),
                    _spread([answer.accuracy for answer in answers]),
                    _spread([answer.us for answer in answers], digits=1),
                    _spread([float(answer.depth) for answer in answers], digits=1),
                )
            )
        n = len(each.outcomes)
        note = (
            f"Means and standard deviations of {n} random halves of all rows, seeds 0 to {n - 1}."
        )
        tables.append(Table(f"Table 2, {n} samples. {each.name}", columns, rows, [note]))
    return tables


def judge_samples(samples: Iterable[Samples]) -> Iterator[Claim]:
    """Say whether MF-Tree has the best macro F1 and the least time, on average over the samples.

    Parameters
    ----------
    samples : iterable of Samples

    Yields
    ------
    Claim
    """
    for each in samples:
        for contest in CONTESTS:
            yield from _judged(each, contest)


def _judged(each: Samples, contest: Contest) -> Iterator[Claim]:
    there = each.outcomes[0].answers
    rivals = [title for title in contest.rivals if title in there]
    if contest.ours not in there or not rivals:
        return
    where = f"Table 2, {each.name}, {len(each.outcomes)} samples"

    def of(title: str, name: str) -> list[float]:
        return [getattr(outcome.answers[title], name) for outcome in each.outcomes]

    for name, unit, sign, place, best_of in (
        ("macro_f1", "macro F1", 1, "best F1", "best"),
        ("us", "µs per row", -1, "least test time", "quickest"),
    ):
        digits = 3 if name == "macro_f1" else 1
        means = [sign * float(np.mean(of(title, name))) for title in rivals]
        best = rivals[int(np.argmax(means))]
        ours, other = of(contest.ours, name), of(best, name)
        holds = bool(sign * np.mean(ours) > sign * np.mean(other))
        text = (
            f"{where}: {unit} {_spread(ours, digits)} by {contest.ours}, {_spread(other, digits)} "
            f"by {best}, the {best_of} of {len(rivals)} rivals: that it has the {place} "
            f"{contest.against}, {'holds' if holds else 'does not hold'}."
        )
        yield Claim(where, text, holds)


def _spread(values: Sequence[float], digits: int = 3) -> str:
    deviation = np.std(values, ddof=1) if len(values) > 1 else 0.0
    return f"{np.mean(values):.{digits}f} ± {deviation:.{digits}f}"


# ---------------------------------------------------------------------- the objective


def objective_table(outcome: Outcome) -> Table | None:
    """Return Equation 5 of all trees; None if there is none."""
    found = outcome.objectives
    if not found:
        return None
    unit = max(value for value, _ in found.values()) or 1.0
    columns = ("tree", "objective", "relative", "depth")
    ordered = sorted(found, key=lambda key: -found[key][0])
    given = {GIVEN: int(outcome.problem.hierarchy.max_depth)}
    depths = {key: int(grown.tree.max_depth) for key, grown in outcome.grown.items()} | given
    rows: list[tuple[Cell, ...]] = [
        (
            key,
            f"{found[key][0] / unit:.3f}",
            f"{found[key][1]:.4g}",
            depths.get(key.removesuffix(", best parents")),
        )
        for key in ordered
    ]
    note = (
        f"HSIC of the training rows and the tree, with linear kernels, in units of the largest, "
        f"{unit:.4g}. Every level adds to it, so that deep trees have the largest values; "
        "'relative' is divided by the length of the centred kernel of the tree, which grows with "
        "the depth, too. In DAGs every node keeps the best of its parents."
    )
    return Table(f"Equation 5. {outcome.name}", columns, rows, [note])


_PUBLISHED, _BINARY = "MF-Tree as published", "MF-Tree, binary"


def judge_objectives(outcomes: Iterable[Outcome]) -> Iterator[Claim]:
    """Say whether the trees of MF-Tree have the largest objective, which they are made for.

    The given tree is no learned one, and is left out.
    """
    for outcome in outcomes:
        found = {key: value for key, value in outcome.objectives.items() if "=" not in key}
        for name in (_PUBLISHED, _BINARY):
            others = {
                key: value
                for key, value in found.items()
                if key != GIVEN and not key.startswith("MF-Tree")
            }
            if name not in found or not others:
                continue
            for place, kind in enumerate(("objective", "relative objective")):
                best = max(others, key=lambda key: others[key][place])
                ours, other = found[name][place], others[best][place]
                holds = ours > other
                where = f"Equation 5, {outcome.name}"
                verdict = "holds" if holds else "does not hold"
                text = (
                    f"{where}: the {kind} is {ours:.4g} by {name}, {other:.4g} by the best of the "
                    f"others, {best}: that MF-Tree maximizes it {verdict}."
                )
                yield Claim(where, text, holds)


def tables_of(outcomes: Iterable[Outcome]) -> list[Table]:
    """Return the tables of the objective."""
    found: list[Any] = [objective_table(outcome) for outcome in outcomes]
    return [table for table in found if table is not None]
