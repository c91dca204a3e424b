"""HTML that a fitted estimator adds to its scikit-learn diagram in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

from palmette.core.drawing import summarize
from palmette.core.html_tree import to_html

__all__ = ["FittedHTML", "fitted_html"]

_NODES = 150  # maximum number in the tree below the diagram


class FittedHTML:
    """Mixin of estimators with ``hierarchy_``: shows its size and tree below the diagram."""

    def _html_repr(self) -> str:
        return fitted_html(self)


def fitted_html(estimator: Any) -> str:
    """Return scikit-learn's diagram of an estimator, and its hierarchy below it."""
    from sklearn.utils import estimator_html_repr

    return str(estimator_html_repr(estimator)) + _fitted_part(estimator)


def _fitted_part(estimator: Any) -> str:
    hierarchy = getattr(estimator, "hierarchy_", None)
    if hierarchy is None:
        return ""
    facts = [summarize(hierarchy)]
    classes = getattr(estimator, "classes_", None)
    if classes is not None and not isinstance(classes, list):
        facts.append(f"{len(classes):,} classes")
    n_features = getattr(estimator, "n_features_in_", None)
    if n_features is not None:
        facts.append(f"{n_features:,} features")
    title = escape(f"Fitted hierarchy: {'; '.join(facts)}")
    return (
        f'<details style="font: 13px system-ui, sans-serif"><summary>{title}</summary>'
        f"{to_html(hierarchy, _NODES)}</details>"
    )
