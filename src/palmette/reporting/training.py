"""The training curve, of models that are fitted round by round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.engine.adapters import model_parts
from palmette.reporting.plain import plain_facts

__all__ = ["training_facts"]

_MOST_POINTS = 300
# attributes of ours and of scikit-learn's estimators, with what they are
_SERIES = (
    ("train_loss_", "training loss"),
    ("validation_loss_", "validation loss"),
    ("train_score_", "training score"),
    ("validation_score_", "validation score"),
    ("loss_curve_", "training loss"),
    ("validation_scores_", "validation score"),
    ("objective_", "objective"),
)


def training_facts(model: Any) -> dict[str, Any] | None:
    """Find the curve of a model, or of what it wraps or selects its features by.

    Parameters
    ----------
    model : fitted classifier

    Returns
    -------
    dict or None
        ``n_rounds`` and ``series``, each with ``name``, ``rounds`` and ``values``; long ones are
        thinned out, their ends kept.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> training_facts(SimpleNamespace(train_loss_=np.array([0.5, 0.25])))["series"]
    [{'name': 'training loss', 'rounds': [1, 2], 'values': [0.5, 0.25]}]
    """
    for part in model_parts(model):
        for source in (part, getattr(part, "feature_selector_", None)):
            series = [_series(name, values) for name, values in _curves(source)]
            if series:
                n_rounds = max(each["rounds"][-1] for each in series)
                return plain_facts({"n_rounds": n_rounds, "series": series})
    return None


def _curves(source: Any) -> list[tuple[str, NDArray[np.float64]]]:
    found = []
    for attribute, name in _SERIES:
        values = getattr(source, attribute, None)
        if values is None or isinstance(values, dict | str):
            continue
        curve = np.asarray(values)
        if curve.ndim == 1 and curve.dtype.kind in "fiu" and len(curve) > 1:
            found.append((name, curve.astype(np.float64)))
    return found


def _series(name: str, values: NDArray[np.float64]) -> dict[str, Any]:
    kept = np.unique(np.linspace(0, len(values) - 1, _MOST_POINTS).round().astype(int))
    return {"name": name, "rounds": (kept + 1).tolist(), "values": values[kept].tolist()}
