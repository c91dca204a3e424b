"""Sample weights: checked once, and handed to an estimator under the name that it knows."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from palmette.exceptions import PalmetteError

__all__ = ["check_weights", "used_rows", "weight_keyword"]


def check_weights(sample_weight: Any, n_samples: int) -> NDArray[np.float64] | None:
    """Return weights as an array of shape (n_samples,), or None where there are none.

    Examples
    --------
    >>> check_weights([1, 2], n_samples=2)
    array([1., 2.])
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_samples,):
        raise PalmetteError(
            f"sample_weight has shape {weights.shape}: expected ({n_samples},), one for every row."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise PalmetteError(
            f"sample_weight[{row}] = {weights[row]}: expected finite numbers of at least 0."
        )
    if not weights.any():
        raise PalmetteError("sample_weight is zero for every row: expected some positive weight.")
    return weights


def used_rows(weights: NDArray[np.float64] | None) -> NDArray[np.bool_] | None:
    """Return which rows have a weight, or None where all have.

    Examples
    --------
    >>> used_rows(np.array([1.0, 0.0]))
    array([ True, False])
    """
    return None if weights is None or weights.all() else weights > 0


def weight_keyword(estimator: Any) -> str:
    """Name under which an estimator's `fit` takes sample weights; an error where it takes none.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> weight_keyword(make_pipeline(StandardScaler(), LogisticRegression()))
    'logisticregression__sample_weight'
    """
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if _hands_on(estimator):
        # with metadata routing the plain name finds its way to whoever requested it
        if get_config()["enable_metadata_routing"]:
            return "sample_weight"
        if isinstance(estimator, Pipeline):
            name, last = estimator.steps[-1]
            return f"{name}__{weight_keyword(last)}"
        return weight_keyword(estimator.estimator)
    raise PalmetteError(
        f"sample_weight was given, but {type(estimator).__name__}.fit does not take it. Use an "
        "estimator that does, or leave the weights out."
    )


def _hands_on(estimator: Any) -> bool:
    """Whether `fit` takes any keyword and hands it on to an inner estimator, as searches do."""
    parameters = inspect.signature(estimator.fit).parameters.values()
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    return takes_any and (isinstance(estimator, Pipeline) or hasattr(estimator, "estimator"))
