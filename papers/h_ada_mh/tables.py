"""Tables I and II beside those of the paper, in both spaces, and the claims of the paper.

References
----------
C. Chelmis, W. Qi (2021). Hierarchical multiclass AdaBoost.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from papers.h_ada_mh.outcome import Outcome
from papers.h_ada_mh.scoring import paths_of
from papers.result import Cell, Claim, Table

__all__ = [
    "MEASURES",
    "METHODS",
    "PaperSet",
    "judge",
    "paper_set",
    "rows_per_leaf",
    "score_tables",
    "set_table",
]

# ------------------------------------------ the numbers of the paper, and its experimental setting


MEASURES = ("micro_f1", "macro_f1", "h_f", "hmc_loss")
METHODS = ("H-Ada.MH", "Local", "Global")


@dataclass(frozen=True)
class PaperSet:
    """Values of the paper for a data set.

    Parameters
    ----------
    title : str
        Its name in the paper.
    rounds : int
        Base learners (Section V.B).
    n_train, n_test, n_classes, n_leaves, depth, n_features : int
        Table I.
    scores : dict of str to tuple of 4 floats
        Table II: by method, Micro-F1, Macro-F1, H-F and HMC-loss.
    rows_per_leaf : tuple of 2 floats, or None
        Section V.A: mean and standard deviation of the training rows per class (x_c of Table I).
    """

    title: str
    rounds: int
    n_train: int
    n_test: int
    n_classes: int
    n_leaves: int
    depth: int
    n_features: int
    scores: dict[str, tuple[float, float, float, float]]
    rows_per_leaf: tuple[float, float] | None = None


_SETS = {
    "imclef07a": PaperSet(
        "ImageCLEF07A", 600, 10000, 1006, 26, 11, 3, 80,
        {
            "H-Ada.MH": (0.7143, 0.5096, 0.7445, 0.075),
            "Local": (0.569, 0.1504, 0.573, 0.137),
            "Global": (0.6633, 0.470, 0.691, 0.079),
        },
    ),
    "imclef07d": PaperSet(
        "ImageCLEF07D", 600, 10000, 1006, 22, 9, 3, 80,
        {
            "H-Ada.MH": (0.7216, 0.3992, 0.7607, 0.129),
            "Local": (0.646, 0.1546, 0.662, 0.2047),
            "Global": (0.644, 0.4552, 0.670, 0.1948),
        },
    ),
    "diatoms": PaperSet(
        "Diatoms", 200, 2065, 1054, 343, 258, 2, 371,
        {
            "H-Ada.MH": (0.487, 0.5587, 0.4542, 0.012),
            "Local": (0.174, 0.0138, 0.1176, 0.0174),
            "Global": (0.205, 0.2391, 0.1812, 0.0187),
        },
        (7.53, 7.245),
    ),
}  # fmt: skip


def paper_set(name: str) -> PaperSet | None:
    """Return the values of the paper for a data set, None if it has none.

    Examples
    --------
    >>> paper_set("diatoms").scores["H-Ada.MH"][0]
    0.487
    """
    return _SETS.get(name)


# ---------------------------------------------------------------------- tables


_COLUMNS = ("micro_f1", "macro_f1", "h_f", "hmc_loss")
_TITLES = ("Micro-F1", "Macro-F1", "H-F", "HMC-loss")
# how the paper's figures must have been computed, for its Global column to come out
_AS_IN_THE_PAPER = {"macro_f1": "macro_f1_by_level", "hmc_loss": "hmc_loss_unscaled"}
_SAME = 0.0006  # the paper prints three or four digits
_NOTE_COLLAPSED = (
    "A class is a symbol of a level, whatever is above it. Macro-F1 is the mean over the levels of "
    "each level's own, HMC-loss takes the costs of Eq. 6 as they are, and H-F reads the symbols of "
    "a row as one path. These conventions, and the baselines 'forest of depth 2' and 'naive Bayes "
    "a level', are not stated in the paper: they were chosen after the fact, of several tried, as "
    "those that come nearest to its Local and Global columns."
)
_NOTE_TREE = (
    "A class is a node: the paper's rows, from the collapsed space, are not to be compared with "
    "these, but only shown beside them. Macro-F1 is over the nodes that are true or predicted "
    "in the test part; HMC-loss has costs that sum to one. 'one path' is the share of rows whose "
    "nodes are one path from the top."
)


def set_table(outcomes: Iterable[Outcome]) -> Table:
    """Return Table I: the data sets as the paper counts them, as read by symbols, and as trees.

    Parameters
    ----------
    outcomes : iterable of Outcome

    Returns
    -------
    Table
    """
    columns = ("data set", "train", "test", "classes", "leaves", "depth", "features", "x_c")
    rows: list[tuple[Cell, ...]] = []
    notes = []
    for outcome in outcomes:
        problem, space, paper = outcome.setting.problem, outcome.setting.space, None
        n_train, n_features = problem.X_train.shape
        sizes = (n_train, problem.X_test.shape[0])
        tree = problem.hierarchy
        paper = paper_set(outcome.name)
        symbols = (len(space.classes), space.n_leaves, space.n_levels)
        if paper is not None:
            published = (paper.n_classes, paper.n_leaves, paper.depth)
            shape = (paper.n_train, paper.n_test, *published, paper.n_features)
            rows.append((f"{outcome.name}: paper", *shape, _spread(paper.rows_per_leaf)))
            notes.append(_comparison(outcome.name, published, symbols))
        found = _spread(rows_per_leaf(outcome))
        rows.append((f"{outcome.name}: symbols of a level", *sizes, *symbols, n_features, found))
        nodes = (tree.n_nodes - 1, tree.n_leaves, tree.max_depth)
        rows.append((f"{outcome.name}: the tree", *sizes, *nodes, n_features, None))
        outside = space.n_outside(paths_of(problem.y_test, tree))
        if outside:
            notes.append(
                f"{outcome.name}: {outside} symbols of the test rows occur in no training row; "
                "they are no classes of the collapsed space, and not counted there."
            )
    return Table("Table I. The data sets", columns, rows, notes)


def rows_per_leaf(outcome: Outcome) -> tuple[float, float]:
    """Mean and standard deviation of the training rows of the symbols of the last level."""
    problem = outcome.setting.problem
    counts = outcome.setting.space.rows_of_leaves(paths_of(problem.y_train, problem.hierarchy))
    return float(counts.mean()), float(counts.std())


def _spread(found: tuple[float, float] | None) -> str | None:
    return None if found is None else f"{found[0]:.3f} ± {found[1]:.3f}"


def _comparison(name: str, published: tuple[int, ...], symbols: tuple[int, ...]) -> str:
    same = published == symbols
    words = "are" if same else "are NOT"
    return (
        f"{name}: the paper's {published[0]} classes and {published[1]} leaves {words} the symbols "
        "of its levels in the training rows"
        + ("." if same else f" ({symbols[0]} and {symbols[1]}).")
    )


def score_tables(outcomes: Iterable[Outcome]) -> list[Table]:
    """Return Table II, twice for every data set: in the collapsed space and on the tree.

    Parameters
    ----------
    outcomes : iterable of Outcome

    Returns
    -------
    list of Table
    """
    tables = []
    for outcome in outcomes:
        tables.append(_table(outcome, "collapsed", "the collapsed space", _NOTE_COLLAPSED))
        tables.append(_table(outcome, "tree", "the tree", _NOTE_TREE))
    return tables


def _table(outcome: Outcome, space: str, words: str, note: str) -> Table:
    names = [
        _AS_IN_THE_PAPER.get(name, name) if space == "collapsed" else name for name in _COLUMNS
    ]
    rows = _paper_rows(outcome.name)
    for key in outcome.keys(space):
        scores = outcome.scores[key]
        rows.append((outcome.answers[key].title, *(scores[n] for n in (*names, "one_path"))))
    notes = [note, *_agreement(outcome, names)] if space == "collapsed" else [note]
    title = f"Table II. {outcome.name}, {words}"
    return Table(title, ("method", *_TITLES, "one path"), _in_order(rows), notes)


def _agreement(outcome: Outcome, names: Sequence[str]) -> list[str]:
    """Say where a baseline comes out as published, which tells how the paper computed."""
    paper = paper_set(outcome.name)
    if paper is None or "global-bayes" not in outcome.answers:
        return []
    scores = outcome.scores["global-bayes"]
    pairs = zip(_TITLES, names, paper.scores["Global"], strict=True)
    same = [title for title, name, told in pairs if abs(scores[name] - told) < _SAME]
    differ = [title for title in _TITLES if title not in same]
    found = [f"agrees in {', '.join(same)}"] if same else []
    found += [f"does not agree in {', '.join(differ)}"] if differ else []
    title = outcome.answers["global-bayes"].title
    return [f"With the paper's Global column (to {_SAME:g}) '{title}' {', but '.join(found)}."]


def _paper_rows(name: str) -> list[tuple[Cell, ...]]:
    paper = paper_set(name)
    if paper is None:
        return []
    return [(f"{method} (paper)", *paper.scores[method], None) for method in METHODS]


def _in_order(rows: Sequence[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """Put the paper's Local and Global in front of ours; the rest begins with its H-Ada.MH."""
    kinds = ("Local", "Global")
    ordered = [row for row in rows if not str(row[0]).startswith(kinds)]
    for kind in kinds:
        ordered += [row for row in rows if str(row[0]).startswith(kind)]
    return ordered


# ---------------------------------------------------------------------- claims


_TREE_BASELINES = ("local-tuned", "global-tuned")
_FORESTS = ("local-forest", "global-forest")
_WEAK = ("local-shallow", "global-bayes")
_CLOSEST = "the baselines closest to the paper's"
_MEASURES = {
    "micro_f1": "Micro-F1",
    "macro_f1_by_level": "Macro-F1",
    "h_f": "H-F",
    "hmc_loss_unscaled": "HMC-loss",
}
_TREE_MEASURES = {
    "micro_f1": "Micro-F1",
    "macro_f1": "Macro-F1",
    "h_f": "H-F",
    "hmc_loss": "HMC-loss",
}


def judge(outcomes: Iterable[Outcome]) -> list[Claim]:
    """Say of every claim and data set, in words, whether it holds.

    Parameters
    ----------
    outcomes : iterable of Outcome

    Returns
    -------
    list of Claim
        Claims about answers that are not there are left out.
    """
    claims: list[Claim] = []
    for outcome in outcomes:
        claims += _few_rows(outcome)
        claims += _smaller_loss(outcome)
        claims += _better_scores(outcome, _WEAK, _CLOSEST)
        claims += _better_scores(outcome, _FORESTS, "forests that are not cut short")
        claims += _better_scores(
            outcome, _TREE_BASELINES, "tuned baselines on the tree", "literal-sign", _TREE_MEASURES
        )
        claims += _better_top_k(outcome)
        claims += _better_levels(outcome)
        claims += _more_consistent(outcome)
    return claims


def _verdict(what: str, holds: bool, place: str) -> str:
    return f"the claim of {what} {'holds' if holds else 'does not hold'} {place}"


def _few_rows(outcome: Outcome) -> Iterator[Claim]:
    """Figure 3: the classes of the last level have 7.53 +- 7.245 rows; its digits are cut off."""
    paper = paper_set(outcome.name)
    if paper is None or paper.rows_per_leaf is None:
        return
    mean, deviation = rows_per_leaf(outcome)
    told = paper.rows_per_leaf
    holds = abs(mean - told[0]) < 0.01 and abs(deviation - told[1]) < 0.001
    where = f"Figure 3, {outcome.name}"
    text = (
        f"{where}: {mean:.4f} ± {deviation:.4f} training rows per symbol of the last level, "
        f"{told[0]} ± {told[1]} in the paper: {_verdict('Figure 3', holds, 'to its digits')}."
    )
    yield Claim(where, text, holds)


_CONTESTS_OF_BOOSTING = (
    ("H-Ada.MH", "AdaBoost.MH", "on the tree"),
    ("H-Ada.MH, collapsed", "AdaBoost.MH, collapsed", "in the collapsed space"),
)


def _smaller_loss(outcome: Outcome) -> Iterator[Claim]:
    """Figure 4: H-Ada.MH has the smallest test error in all cases."""
    stages = outcome.stages
    losses = (
        ("hamming", "share of wrong cells"),
        ("hierarchical_hamming", "share of cells that are wrong or below a wrong one"),
    )
    contests = itertools.product(_CONTESTS_OF_BOOSTING, enumerate(losses))
    for (mine, theirs, place), (number, (loss, words)) in contests:
        if not {mine, theirs} <= stages.keys():
            continue
        ours, other = stages[mine][loss][-1], stages[theirs][loss][-1]
        holds = ours < other
        side = "below" if holds else "above" if ours > other else "equal to"
        where = f"Figure 4, {outcome.name}"
        text = (
            f"{where}: {words} {_with_error(ours, stages[mine], number)} by H-Ada.MH after "
            f"{stages[mine]['rounds'][-1]} rounds, {side} the "
            f"{_with_error(other, stages[theirs], number)} by AdaBoost.MH after "
            f"{stages[theirs]['rounds'][-1]}: {_verdict('Figure 4', holds, place)}."
        )
        yield Claim(where, text, holds)


def _with_error(loss: float, stages: Mapping[str, Sequence[float]], number: int) -> str:
    """Write a loss with its standard error over the rows."""
    found = stages.get("standard_errors")
    return f"{loss:.4g}" if found is None else f"{loss:.4f} ± {found[number]:.4f}"


def _better_scores(
    outcome: Outcome,
    baselines: Sequence[str],
    words: str,
    key: str = "h-ada-first",
    measures: Mapping[str, str] = _MEASURES,
) -> Iterator[Claim]:
    """Table II: H-Ada.MH is better than both baselines, Macro-F1 on ImageCLEF07D excepted."""
    if not {key, *baselines} <= outcome.answers.keys():
        return
    ours = outcome.scores[key]
    lost = []
    for measure, title in measures.items():
        sign = -1.0 if "loss" in measure else 1.0
        best = max(sign * outcome.scores[key][measure] for key in baselines) * sign
        if sign * ours[measure] <= sign * best:
            lost.append(f"{title} ({ours[measure]:.3f}, the best of them {best:.3f})")
    excepted = outcome.name == "imclef07d" and all(one.startswith("Macro-F1") for one in lost)
    holds = not lost or excepted
    found = f"not better in {', '.join(lost)}" if lost else "better in all four measures"
    where = f"Table II, {outcome.name}"
    verdict = _verdict("Table II", holds, f"against {words}")
    text = (
        f"{where}: {outcome.answers[key].title} (Micro-F1 {ours['micro_f1']:.3f}, 95% "
        f"{ours['micro_f1_low']:.3f} to {ours['micro_f1_high']:.3f}) is {found}: {verdict}."
    )
    yield Claim(where, text, holds)


def _better_top_k(outcome: Outcome) -> Iterator[Claim]:
    """Figure 5: H-Ada.MH has the best top-k accuracy, k being the depth."""
    for ours, baselines, place in _contests(outcome):
        value = outcome.answers[ours].top_k[-1]
        best = max(outcome.answers[key].top_k[-1] for key in baselines)
        where = f"Figure 5, {outcome.name}"
        holds = value > best
        text = (
            f"{where}: top-{len(outcome.answers[ours].top_k)} accuracy {value:.3f} by H-Ada.MH, "
            f"{best:.3f} by the best baseline ({_most_error(outcome)}): "
            f"{_verdict('Figure 5', holds, place)}."
        )
        yield Claim(where, text, holds)


def _better_levels(outcome: Outcome) -> Iterator[Claim]:
    """Figure 6: H-Ada.MH is the most accurate on every level."""
    for ours, baselines, place in _contests(outcome):
        levels = outcome.level_accuracy[ours]
        others = (outcome.level_accuracy[key] for key in baselines)
        best = [max(each) for each in zip(*others, strict=True)]
        holds = all(a > b for a, b in zip(levels, best, strict=True))
        where = f"Figure 6, {outcome.name}"
        text = (
            f"{where}: accuracy by level {_numbers(levels)} by H-Ada.MH, {_numbers(best)} by the "
            f"best baseline of each ({_level_errors(outcome, ours)}): "
            f"{_verdict('Figure 6', holds, place)}."
        )
        yield Claim(where, text, holds)


def _most_error(outcome: Outcome) -> str:
    """Say how large the standard error of a share of the test rows is at most."""
    return f"standard error {0.5 / math.sqrt(len(outcome.setting.tree.truth)):.3f} at most"


def _level_errors(outcome: Outcome, key: str) -> str:
    """Say how large the standard errors of accuracies by level are; rows count where they reach."""
    space = outcome.setting.answers(outcome.answers[key].space)
    found = []
    for level in range(1, int(space.level.max()) + 1):
        n_rows = int(space.truth[:, space.level == level].any(axis=1).sum())
        found.append(0.5 / math.sqrt(max(n_rows, 1)))
    return f"standard errors {_numbers(found)} at most"


def _contests(outcome: Outcome) -> Iterator[tuple[str, Sequence[str], str]]:
    for ours, baselines, place in (
        ("h-ada-first", _WEAK, f"in the collapsed space, against {_CLOSEST}"),
        ("h-ada-first", _FORESTS, "in the collapsed space, against forests that are not cut short"),
        ("literal-sign", _TREE_BASELINES, "on the tree, against tuned baselines"),
    ):
        if {ours, *baselines} <= outcome.answers.keys():
            yield ours, baselines, place


def _more_consistent(outcome: Outcome) -> Iterator[Claim]:
    """Section V.E: H-Ada.MH gives more consistent labels, one path from the root."""
    if not {"literal-sign", "mh-sign"} <= outcome.answers.keys():
        return
    ours, other = (outcome.scores[key]["one_path"] for key in ("literal-sign", "mh-sign"))
    holds = ours > other
    where = f"Section V.E, {outcome.name}"
    verdict = _verdict("more consistent labels", holds, "on the tree")
    text = (
        f"{where}: the signs are one path from the top in {ours:.3f} of the rows by H-Ada.MH, in "
        f"{other:.3f} by AdaBoost.MH ({_most_error(outcome)}): {verdict}."
    )
    yield Claim(where, text, holds)


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)
