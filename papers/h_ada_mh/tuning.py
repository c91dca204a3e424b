"""Choose the parameters of the baselines by cross-validation on the training rows.

The paper says that "all baseline parameters are tuned", but neither which ones nor how.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "BAYES_GRID",
    "FOREST_GRID",
    "GLOBAL_GRID",
    "Grid",
    "fit_best",
    "search_over",
    "with_prefix",
]

Grid = list[dict[str, list[Any]]]

_INNER_FOLDS = 3
_VARIANCES = [1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]

# depth 2 is what comes nearest to the printed Local column: would it be chosen?
FOREST_GRID: Grid = [
    {"max_depth": [2]},
    {"max_features": ["sqrt", 0.2], "min_samples_leaf": [1, 3]},
]
BAYES_GRID: Grid = [{"var_smoothing": _VARIANCES}]
GLOBAL_GRID: Grid = [{"usefulness": [0.0, 0.5, 1.0], "var_smoothing": _VARIANCES}]


def with_prefix(grid: Grid, prefix: str) -> Grid:
    """Return a grid of the parameters of an estimator in another one.

    Examples
    --------
    >>> with_prefix([{"max_depth": [2]}], "estimator__")
    [{'estimator__max_depth': [2]}]
    """
    return [{f"{prefix}{name}": values for name, values in part.items()} for part in grid]


def search_over(estimator: Any, grid: Grid, scoring: str, seed: int) -> Any:
    """Return an unfitted search, which fits no final estimator; see `fit_best`.

    Parameters
    ----------
    estimator : classifier
        It may be smaller than the one that is fitted at last, such as a forest of fewer trees.
    grid : list of dict
    scoring : str
    seed : int

    Returns
    -------
    GridSearchCV
    """
    from sklearn.model_selection import GridSearchCV, KFold

    folds = KFold(_INNER_FOLDS, shuffle=True, random_state=seed)
    return GridSearchCV(estimator, grid, scoring=scoring, cv=folds, refit=False)


def fit_best(search: Any, estimator: Any, X: Any, y: Any) -> tuple[Any, str]:
    """Search, and fit an estimator with what was chosen.

    Parameters
    ----------
    search : GridSearchCV
    estimator : classifier
        Unfitted; it takes the chosen parameters.
    X, y
        Training rows.

    Returns
    -------
    estimator : classifier
        Fitted.
    words : str
        The chosen parameters, and the number of candidates.
    """
    search.fit(X, y)
    chosen = search.best_params_
    told = ", ".join(f"{name.removeprefix('estimator__')}={chosen[name]}" for name in chosen)
    words = f"{told} (of {len(search.cv_results_['params'])})"
    return estimator.set_params(**chosen).fit(X, y), words
