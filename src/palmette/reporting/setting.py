"""What the report is about: the model, its parameters, the rows and the versions."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from palmette.core.rows import is_text
from palmette.engine.adapters import find_in_parts, model_parts
from palmette.reporting.evaluation import Evaluation
from palmette.reporting.plain import cut, plain_facts

__all__ = ["setting_facts"]

_PACKAGES = ("palmette", "scikit-learn", "numpy", "scipy", "skrub", "pandas")
_LONGEST_VALUE = 160


def setting_facts(
    model: Any, X: Any, evaluation: Evaluation, n_left_out: int = 0
) -> dict[str, Any]:
    """Describe model and data.

    Parameters
    ----------
    model : fitted classifier
    X : rows
    evaluation : Evaluation
    n_left_out : int
        Rows of the table without a label to be judged by.

    Returns
    -------
    dict
        ``model``, ``wraps``, ``parameters`` (as texts), ``data``, ``hierarchy``, ``fitted`` (what a
        model of tables remembers of its fit), ``versions``.
    """
    parts = [type(part).__name__ for part in model_parts(model)]
    innermost = list(model_parts(model))[-1]
    hierarchy = evaluation.hierarchy
    return plain_facts(
        {
            "model": parts[0],
            "wraps": parts[1:],
            "parameters": _parameters(innermost),
            "data": {
                "rows": evaluation.n_rows,
                "features": _n_features(model, X),
                "labels": len(set(evaluation.pair.true.specific.indices.tolist())),
                "rows_with_unseen_labels": evaluation.n_unseen,
                "rows_left_out": n_left_out,
                "several_paths": evaluation.several,
            },
            "hierarchy": {
                "is_tree": hierarchy.is_tree,
                "nodes": hierarchy.n_nodes - 1,
                "leaves": hierarchy.n_leaves,
                "depth": hierarchy.max_depth,
                "by_level": hierarchy.level_sizes[1:],
            },
            "fitted": find_in_parts(model, "summary_"),
            "versions": _versions(),
        }
    )


def _parameters(model: Any) -> dict[str, str]:
    if not hasattr(model, "get_params"):
        return {}
    found = model.get_params(deep=False)
    return {name: cut(repr(value), _LONGEST_VALUE) for name, value in found.items()}


def _n_features(model: Any, X: Any) -> int | None:
    found = find_in_parts(model, "n_features_in_")
    if found is not None:
        return int(found)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return None if is_text(X) or len(shape) < 2 else int(shape[1])


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # not everything is needed
            continue
    return found
