"""Tables I and II beside those of the paper, in both spaces.

References
----------
C. Chelmis, W. Qi (2021). Hierarchical multiclass AdaBoost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from papers.h_ada_mh.outcome import Outcome
from papers.h_ada_mh.spaces import paths_of
from papers.result import Cell, Table

__all__ = [
    "MEASURES",
    "METHODS",
    "PaperSet",
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
