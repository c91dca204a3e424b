"""Score all methods on all splits of a data set, and rank them over data sets."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from palmette.compare import Problem, Split, fingerprint, measure
from palmette.exceptions import PalmetteError
from palmette.forest._oblique_trees import ObliqueTrees
from palmette.metrics import compare_over_datasets, multilabel_auc_score, multilabel_f1_score
from papers.cells import Cells, OutOfTime
from papers.soshf.methods import Method, Options, SetFacts, describe, even_split, facts_of, folds_of

__all__ = [
    "ALPHA",
    "Answer",
    "Gain",
    "Outcome",
    "Ranking",
    "find_outcome",
    "gain_of",
    "rank_methods",
    "rank_scores",
    "signed_rank_pvalue",
    "work",
]

# ---------------------------------------------------------------------- one method on one split


Results = dict[str, Any]
_COUNTS = 0.01  # of the largest weight of a split


def work(method: Method, split: Split, options: Options) -> Results:
    """Score a method on a split.

    Parameters
    ----------
    method : Method
    split : Split
        With 0/1 matrices as labels.
    options : Options

    Returns
    -------
    dict
        ``f_own``, macro-F by the rule that the paper uses with the method; ``f_tuned``, with
        thresholds of the best F on out-of-bag or cross-validated scores; ``auc``, macro-AUC;
        ``fit_s`` and ``predict_s``, CPU seconds, the former with the tuning; ``peak_mib``, memory
        that fitting needed; of structured forests ``depth``, the mean depth of the leaves of rows,
        and ``weights``, how many features a split has with a weight of at least 1% of its largest.
    """
    model = _with_thresholds(method, options)
    _warm(model, split)
    with measure() as fitting:
        model.fit(split.X_train, split.y_train)
    with measure() as asking:
        proba = model.predict_proba(split.X_test)
    tuned = model.predict(split.X_test)
    own = model.estimator_.predict(split.X_test) if method.folds else tuned
    return {
        "f_own": float(multilabel_f1_score(split.y_test, own)),
        "f_tuned": float(multilabel_f1_score(split.y_test, tuned)),
        "auc": float(multilabel_auc_score(split.y_test, proba)),
        "fit_s": fitting.cpu_seconds,
        "predict_s": asking.cpu_seconds,
        "peak_mib": fitting.peak_mib,
        **_shape_of(model),
    }


def _shape_of(model: Any) -> Results:
    """Return the mean depth of the rows' leaves, and the features of a split that count."""
    trees = getattr(model, "trees_", None)
    if not isinstance(trees, ObliqueTrees):
        return {}
    parent, depth = trees.parent, np.zeros(trees.n_nodes, dtype=np.int64)
    above = parent
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    node = np.repeat(np.arange(trees.n_nodes), np.diff(trees.weight_starts))
    sizes = np.abs(trees.weight_values)
    largest = np.zeros(trees.n_nodes, dtype=sizes.dtype)
    np.maximum.at(largest, node, sizes)
    n_splits = max(1, int((~trees.is_leaf).sum()))
    return {
        "depth": float(np.average(depth, weights=trees.row_weight)),
        "weights": float((sizes >= _COUNTS * largest[node]).sum() / n_splits),
    }


def _warm(model: Any, split: Split) -> None:
    """Fit two trees first: kernels may have to be compiled, which is no work of the method."""
    if "n_estimators" in model.get_params(deep=False):
        from sklearn.base import clone

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # two trees leave few rows out
            clone(model).set_params(n_estimators=2).fit(split.X_train, split.y_train)


def _with_thresholds(method: Method, options: Options) -> Any:
    model = method.make(options)
    if not method.folds:
        return model
    from palmette.multilabel import IterativeStratifiedKFold, ThresholdedMultilabel

    folds = IterativeStratifiedKFold(
        folds_of(method, options), shuffle=True, random_state=options.seed
    )
    return ThresholdedMultilabel(model, rule="f1", cv=folds, method="cv")


# ---------------------------------------------------------------------- all methods on all splits


_VALUES = ("f_own", "f_tuned", "auc", "fit_s", "predict_s", "peak_mib")


@dataclass(frozen=True)
class Answer:
    """Scores of a method on the splits of a data set.

    Parameters
    ----------
    method : str
    splits : list of dicts
        As `work` gives them, with the number of the split as ``number``.
    """

    method: str
    splits: list[dict[str, Any]]

    def mean(self, value: str) -> float:
        """Mean over the splits of a value such as "auc"; NaN where it is missing."""
        return float(np.mean(self._all(value)))

    def deviation(self, value: str) -> float | None:
        """Standard deviation over the splits; None of a single one."""
        found = self._all(value)
        return float(np.std(found, ddof=1)) if len(found) > 1 else None

    def _all(self, value: str) -> list[float]:
        found = [split.get(value) for split in self.splits]
        return [np.nan if one is None else one for one in found]

    def by_split(self, value: str) -> dict[int, float]:
        """Return a value by the number of its split."""
        numbers = [split.get("number", place) for place, split in enumerate(self.splits)]
        return dict(zip(numbers, self._all(value), strict=True))

    def means(self) -> dict[str, float]:
        """All means, by value."""
        return {value: self.mean(value) for value in _VALUES}


@dataclass(frozen=True)
class Gain:
    """The mean difference of two methods over the splits that both have.

    Parameters
    ----------
    mean : float
    error : float
        Standard error of the mean; NaN of a single split.
    n_splits : int
    """

    mean: float
    error: float
    n_splits: int

    def __str__(self) -> str:
        told = "" if np.isnan(self.error) else f" ± {self.error:.3f}"
        return f"{self.mean:+.3f}{told} ({self.n_splits})"


def gain_of(one: Answer, other: Answer, value: str) -> Gain | None:
    """Compare two methods split by split; None if they have no split in common.

    Examples
    --------
    >>> one, other = (Answer(m, [{"auc": a}, {"auc": b}]) for m, a, b in (("x", 0.5, 0.7),
    ...                                                                ("y", 0.4, 0.5)))
    >>> print(gain_of(one, other, "auc"))
    +0.150 ± 0.050 (2)
    """
    ours, theirs = one.by_split(value), other.by_split(value)
    found = np.array([ours[number] - theirs[number] for number in ours if number in theirs])
    if not found.size:
        return None
    error = np.std(found, ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
    return Gain(float(found.mean()), float(error), len(found))


@dataclass(frozen=True)
class Outcome:
    """The answers of all methods on a data set.

    Parameters
    ----------
    name : str
        Of the data set.
    facts : SetFacts
    n_splits : int
    answers : dict of str to Answer
        By method; without those that failed. If the time was up, some have fewer splits.
    failures : dict of str to str
        Why a method did not, by method.
    """

    name: str
    facts: SetFacts
    n_splits: int
    answers: dict[str, Answer]
    failures: dict[str, str] = field(default_factory=dict)


def find_outcome(
    problem: Problem,
    methods: Iterable[Method],
    cells: Cells,
    *,
    n_splits: int,
    seed: int = 0,
    n_jobs: int | None = None,
    quick: bool = False,
) -> Outcome:
    """Fit every method on every split, unless its results are there already.

    A method that fails is reported, and tried again in the next run; the others continue.

    Parameters
    ----------
    problem : Problem
        As `papers.soshf.methods.prepare` gives it.
    methods : iterable of Method
    cells : Cells
    n_splits : int
    seed, n_jobs, quick
        As in `papers.run`.

    Returns
    -------
    Outcome
    """
    data, chosen = fingerprint(problem), list(methods)
    found: dict[str, list[dict[str, Any]]] = {method.key: [] for method in chosen}
    failures: dict[str, str] = {}
    for number in range(n_splits):
        split = even_split(problem, number, seed)
        options = Options(problem.name, split.seed, n_jobs, quick)
        for method in chosen:
            if method.key in failures:
                continue
            try:
                result = _result(method, split, options, data, cells)
                found[method.key].append({**result, "number": number})
            except OutOfTime:  # results that are stored come nevertheless
                continue
            except Exception as error:  # code of any estimator runs here
                words = str(error).strip().partition("\n")[0]
                failures[method.key] = f"{split.name}: {type(error).__name__}: {words}"
    answers = {
        key: Answer(key, splits) for key, splits in found.items() if splits and key not in failures
    }
    return Outcome(problem.name, facts_of(problem), n_splits, answers, failures)


def _result(
    method: Method, split: Split, options: Options, data: str, cells: Cells
) -> dict[str, Any]:
    cell = {
        "dataset": options.dataset,
        "split": split.name,
        "model": method.key,
        "data": data,
        "seed": split.seed,
        "estimator": describe(method, options),
        "folds": folds_of(method, options),
    }
    return cells.results(cell, lambda: work(method, split, options))


# ------------------------------------- ranks: Friedman's test, mean ranks, Wilcoxon's signed ranks


ALPHA = 0.05  # as in the paper


@dataclass(frozen=True)
class Ranking:
    """Methods ranked over data sets, all compared with one of them.

    Parameters
    ----------
    control : str
    n_datasets : int
    mean_ranks : dict of str to float
        By method, best first.
    friedman_p : float
    distance : float
        Difference of mean ranks that is significant, by Bonferroni and Dunn.
    by_ranks, by_wilcoxon : dict of str to float
        p-values against the control, corrected for the number of comparisons.
    """

    control: str
    n_datasets: int
    mean_ranks: dict[str, float]
    friedman_p: float
    distance: float
    by_ranks: dict[str, float]
    by_wilcoxon: dict[str, float]

    def is_worse(self, method: str, pvalues: Mapping[str, float]) -> bool:
        """Whether the control is significantly better than a method."""
        behind = self.mean_ranks[method] > self.mean_ranks[self.control]
        return behind and pvalues[method] < ALPHA


def rank_methods(
    outcomes: Sequence[Outcome],
    methods: Sequence[str],
    value: Callable[[Answer], float],
    control: str,
) -> Ranking | None:
    """Rank methods by a score.

    Parameters
    ----------
    outcomes : sequence of Outcome
    methods : sequence of str
        If some have no answer on some set, either these methods or these sets are left out,
        whichever leaves more scores. Scores are means over the splits that all methods have.
    value : callable
        Takes an Answer and gives the score.
    control : str

    Returns
    -------
    Ranking or None
        None where there are fewer than two sets or three methods, or no control.
    """
    used = [outcome for outcome in outcomes if outcome.answers]
    known = [key for key in methods if any(key in outcome.answers for outcome in used)]
    there = [key for key in known if all(key in outcome.answers for outcome in used)]
    full = [o for o in used if all(key in o.answers for key in known)]
    if len(full) > 1 and len(full) * len(known) > len(used) * len(there):
        used, there = full, known
    scores = {o.name: [value(answer) for answer in _on_common_splits(o, there)] for o in used}
    return rank_scores(scores, there, control)


def _on_common_splits(outcome: Outcome, methods: Sequence[str]) -> list[Answer]:
    """Return the answers of methods on the splits that all of them have, or else on all."""
    answers = [outcome.answers[key] for key in methods]
    if not answers:
        return []
    common = set.intersection(*(set(answer.by_split("auc")) for answer in answers))
    if not common:
        return answers
    return [
        Answer(answer.method, [answer.splits[i] for i, n in enumerate(numbers) if n in common])
        for answer in answers
        for numbers in [answer.by_split("auc")]
    ]


def rank_scores(
    scores: Mapping[str, Sequence[float]], methods: Sequence[str], control: str
) -> Ranking | None:
    """Rank methods by their scores on data sets.

    Parameters
    ----------
    scores : mapping of str to sequences of floats
        By data set, in the order of `methods`.
    methods : sequence of str
    control : str

    Returns
    -------
    Ranking or None

    Examples
    --------
    >>> scores = {"x": [0.9, 0.8, 0.7], "y": [0.8, 0.7, 0.6], "z": [0.7, 0.8, 0.5]}
    >>> found = rank_scores(scores, ["a", "b", "c"], "a")
    >>> {key: round(rank, 2) for key, rank in found.mean_ranks.items()}
    {'a': 1.33, 'b': 1.67, 'c': 3.0}
    """
    if len(scores) < 2 or len(methods) < 3 or control not in methods:
        return None
    return _ranked(tuple(map(tuple, scores.values())), tuple(methods), control)


@cache  # tables, claims and figures ask for the same rankings
def _ranked(
    table: tuple[tuple[float, ...], ...], methods: tuple[str, ...], control: str
) -> Ranking | None:
    try:
        found = compare_over_datasets(
            table, methods=methods, posthoc="bonferroni-dunn", control=control, alpha=ALPHA
        )
    except PalmetteError:  # all scores are equal
        return None
    place = methods.index(control)
    against, scores, n_tests = found.pvalues[place], np.asarray(table), len(methods) - 1
    return Ranking(
        control,
        len(table),
        {methods[i]: float(found.average_ranks[i]) for i in found.order},
        float(found.friedman_pvalue),
        float(found.critical_difference),
        {methods[i]: float(against[i]) for i in found.order},
        {
            methods[i]: min(1.0, signed_rank_pvalue(scores[:, i] - scores[:, place]) * n_tests)
            for i in found.order
        },
    )


def signed_rank_pvalue(differences: Sequence[float]) -> float:
    """Return the exact two-sided p-value of Wilcoxon's signed-rank test.

    Equal sizes share the mean of their ranks, and those of zeros are split evenly between both
    sides (Demsar 2006): with few data sets and many ties no other form of the test is exact.

    Parameters
    ----------
    differences : sequence of float

    Returns
    -------
    float

    Examples
    --------
    >>> signed_rank_pvalue([0.1, 0.2, 0.3, 0.4, 0.5]), signed_rank_pvalue([0.1, -0.1])
    (0.0625, 1.0)
    """
    from scipy.stats import rankdata

    values = np.round(np.asarray(differences, dtype=np.float64), 12)
    doubled = np.rint(2 * rankdata(np.abs(values))).astype(np.int64)  # means may be halves
    moved, positive = doubled[values != 0], values[values != 0] > 0
    ways = np.ones(1)  # of the signs that give every sum of positive ranks
    for rank in moved.tolist():
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    observed = int(moved[positive].sum())
    tail = min(ways[: observed + 1].sum(), ways[observed:].sum()) / ways.sum()
    return float(min(1.0, 2 * tail))
