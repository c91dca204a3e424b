"""Score all methods on all splits of a data set."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from palmette.compare import Problem, Split, fingerprint, measure
from palmette.forest._oblique_trees import ObliqueTrees
from palmette.metrics import multilabel_auc_score, multilabel_f1_score
from papers.cells import Cells, OutOfTime
from papers.soshf.methods import Method, Options, SetFacts, describe, even_split, facts_of, folds_of

__all__ = ["Answer", "Gain", "Outcome", "find_outcome", "gain_of", "work"]

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
        ``fit_s`` and ``predict_s``, CPU seconds, the former with the tuning by ``method.folds``, if
        any; ``peak_mib``, memory that fitting needed; of structured forests ``depth``, the mean
        depth of the leaves of rows, and ``weights``, how many features a split has with a weight of
        at least 1% of its largest.
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
        return dict(getattr(model, "shape_", {}))  # of `LabelTrees`
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
        """Mean of a value such as "auc" over the splits that have it; NaN if none has."""
        found = list(self.by_split(value).values())
        return float(np.mean(found)) if found else np.nan

    def deviation(self, value: str) -> float | None:
        """Standard deviation over the splits that have a value; None of a single one."""
        found = list(self.by_split(value).values())
        return float(np.std(found, ddof=1)) if len(found) > 1 else None

    def by_split(self, value: str) -> dict[int, float]:
        """Return a value by the number of its split, of those that have it."""
        return {
            split.get("number", place): split[value]
            for place, split in enumerate(self.splits)
            if split.get(value) is not None
        }

    def means(self) -> dict[str, float]:
        """All means, by value, of what there is."""
        return {value: self.mean(value) for value in _VALUES if self.by_split(value)}


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

    @property
    def margin(self) -> float:
        """Half the width of the 95% interval of the mean, by t; NaN of a single split.

        Examples
        --------
        >>> round(Gain(0.1, 0.01, 3).margin, 4)
        0.043
        """
        from scipy.stats import t

        return self.error * float(t.ppf(0.975, self.n_splits - 1)) if self.n_splits > 1 else np.nan

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

    Methods are fitted as the paper does first, then again with tuned thresholds, which takes a fit
    per fold more: if the time is up, the figures that the paper has are complete sooner, and the
    seconds of a method are without our tuning. A quick look fits once for both. A method that fails
    is reported, and tried again in the next run; the others continue.

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
    found: dict[str, dict[int, Results]] = {method.key: {} for method in chosen}
    failures: dict[str, str] = {}
    for tuned in (True,) if quick else (False, True):
        for number in range(n_splits):
            split = even_split(problem, number, seed)
            options = Options(problem.name, split.seed, n_jobs, quick)
            for method in chosen:
                if method.key in failures or (tuned and not quick and not method.folds):
                    continue
                fitted = method if tuned else replace(method, folds=0)
                try:
                    name = f"{method.key}, tuned" if tuned and not quick else method.key
                    result = _result(name, fitted, split, options, data, cells)
                except OutOfTime:  # results that are stored come nevertheless
                    continue
                except Exception as error:  # code of any estimator runs here
                    words = str(error).strip().partition("\n")[0]
                    failures[method.key] = f"{split.name}: {type(error).__name__}: {words}"
                    continue
                known = found[method.key].setdefault(number, {"number": number})
                known.update(_kept(result, method, tuned=tuned, quick=quick))
    answers = {
        key: Answer(key, [splits[number] for number in sorted(splits)])
        for key, splits in found.items()
        if splits and key not in failures
    }
    return Outcome(problem.name, facts_of(problem), n_splits, answers, failures)


def _kept(result: Results, method: Method, *, tuned: bool, quick: bool) -> Results:
    """Return what a fit tells: without tuning all but the tuned F, with it this alone."""
    if quick or not method.folds:
        return result
    return {name: value for name, value in result.items() if (name == "f_tuned") == tuned}


def _result(
    name: str, method: Method, split: Split, options: Options, data: str, cells: Cells
) -> Results:
    cell = {
        "dataset": options.dataset,
        "split": split.name,
        "model": name,
        "data": data,
        "seed": split.seed,
        "estimator": describe(method, options),
        "folds": folds_of(method, options),
    }
    return cells.results(cell, partial(work, method, split, options))
