"""Class weights of table models: rare labels weigh as much as frequent ones."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from palmette._arrays import FloatArray
from palmette.base._fitting import weight_keyword
from palmette.exceptions import PalmetteError


def check_class_weight(class_weight: str | None) -> str | None:
    """Return "balanced" or None; other values are errors."""
    if class_weight not in (None, "none", "balanced"):
        raise PalmetteError(f"class_weight={class_weight!r}: expected 'balanced' or 'none'.")
    return None if class_weight == "none" else class_weight


def set_balance(estimator: Any, class_weight: str | None, several_paths: bool, name: str) -> Any:
    """Prepare an unfitted estimator for class weights.

    Parameters
    ----------
    estimator : estimator
    class_weight : "balanced" or None
    several_paths : bool
        With several labels per row, models that balance the rows of each label do so.
    name : str
        Name of the model, for the error if it takes no weights.
    """
    if class_weight is None:
        return estimator
    if several_paths and "balance" in estimator.get_params(deep=False):
        return estimator.set_params(balance="cost")
    try:
        weight_keyword(estimator)
    except PalmetteError:
        raise PalmetteError(
            f"class_weight='balanced', but {name} does not accept sample weights. Choose another "
            "model, or class_weight='none'."
        ) from None
    return estimator


def fit_balanced(estimator: Any, X: Any, y: list[Any], class_weight: str | None) -> Any:
    """Fit an estimator, with weights of rows unless it balances labels itself.

    Parameters
    ----------
    estimator : estimator
        Result of `set_balance`, or a wrapper of it.
    X : rows
    y : list of labels
    class_weight : "balanced" or None
    """
    parameters = estimator.get_params()
    balances = any(parameters.get(key) == "cost" for key in ("balance", "estimator__balance"))
    if class_weight is None or balances:
        return estimator.fit(X, y)
    return estimator.fit(X, y, **{weight_keyword(estimator): balanced_weights(y)})


def balanced_weights(y: list[Any]) -> FloatArray:
    """Return weights of rows that give every label the same total weight, with a mean of 1.

    A row with several labels has the mean of their weights, one without labels the weight 1.

    Parameters
    ----------
    y : list of n_samples labels, or sets of labels

    Returns
    -------
    array of shape (n_samples,)

    Examples
    --------
    >>> balanced_weights(["a", "a", "a", "b"]).round(3).tolist()
    [0.667, 0.667, 0.667, 2.0]
    """
    rows = [tuple(row) if isinstance(row, set | frozenset) else (row,) for row in y]
    counts = Counter(label for row in rows for label in row)
    total = sum(counts.values())
    each = {label: total / (len(counts) * count) for label, count in counts.items()}
    weights = np.array([np.mean([each[label] for label in row]) if row else 1.0 for row in rows])
    return np.asarray(weights / weights.mean())
