"""Parameters of structured forests: checked, and turned into what trees are given."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

from palmette.engine.structured_forest import TreeDraws, part_of
from palmette.exceptions import PalmetteError
from palmette.forest._label_two_means import LabelTwoMeans
from palmette.routing import AxisSplit, Hellinger, LogisticSplit

__all__ = ["check_forest", "leaves_rows_out", "tree_draws", "tree_settings"]

_PARTITIONS: dict[str, Callable[[], Any]] = {"two_means": LabelTwoMeans}
_ROUTERS: dict[str, Callable[[], Any]] = {
    "hellinger": Hellinger,
    "logistic": LogisticSplit,
    "axis": AxisSplit,
}


def check_forest(forest: Any) -> None:
    """Refuse parameters that cannot be, naming what was expected."""
    for name, fine, wanted in (
        ("n_estimators", _is_count, "a positive integer"),
        ("min_samples_leaf", _is_count, "a positive integer"),
        ("max_depth", lambda v: v is None or _is_count(v), "a positive integer or None"),
        ("label_vote", lambda v: _is_number(v) and v > 0, "a positive number"),
        ("max_samples", _is_part, "a share above 0 and up to 1, or a positive integer"),
        ("max_labels", _is_part, "a share above 0 and up to 1, or a positive integer"),
        ("max_node_labels", _is_share, "a share above 0 and up to 1"),
        ("max_features", _is_part_or_root, "a share up to 1, a positive integer or 'sqrt'"),
        ("max_node_features", _is_part_or_root, "a share up to 1, a positive integer or 'sqrt'"),
    ):
        value = getattr(forest, name)
        if not fine(value):
            raise PalmetteError(f"{name}={value!r}: expected {wanted}.")
    if forest.multioutput and forest.hierarchy is not None:
        raise PalmetteError(
            "multioutput=True makes a hierarchy of the columns of y and their values: expected "
            "hierarchy=None."
        )
    if forest.multioutput and not _is_auto(forest.decoding):
        raise PalmetteError(
            f"decoding={forest.decoding!r}: with multioutput=True every output is answered with "
            "its most probable value: expected 'auto'."
        )
    if forest.oob_score and not leaves_rows_out(forest):
        raise PalmetteError(
            "oob_score=True asks for rows that trees leave out, but max_samples=1.0 without "
            "bootstrap leaves none. Lower max_samples, or set bootstrap=True."
        )


def leaves_rows_out(forest: Any) -> bool:
    """Whether trees leave rows out, for them to be tested on."""
    return bool(forest.bootstrap) or not (_is_share(forest.max_samples) and forest.max_samples == 1)


def tree_settings(forest: Any, n_features: int) -> dict[str, Any]:
    """Return the kernel's settings by name, those of the parts among them."""
    n_drawn = part_of(forest.max_features, n_features)
    return {
        **_part("partition", forest.partition, _PARTITIONS).tree_settings(),
        **_part("router", forest.router, _ROUTERS).tree_settings(),
        "feature_share": part_of(forest.max_node_features, n_drawn) / n_drawn,
        "label_share": float(forest.max_node_labels),
        "min_samples_leaf": int(forest.min_samples_leaf),
        "max_depth": -1 if forest.max_depth is None else int(forest.max_depth),
    }


def tree_draws(forest: Any) -> TreeDraws:
    """Return how much of the data a tree is given."""
    return TreeDraws(
        forest.max_samples, forest.max_features, forest.max_labels, bool(forest.bootstrap)
    )


def _part(name: str, given: Any, known: dict[str, Callable[[], Any]]) -> Any:
    if isinstance(given, str) and given in known:
        return known[given]()
    if not isinstance(given, str) and hasattr(given, "tree_settings"):
        return given
    names = ", ".join(map(repr, known))
    objects = ", ".join(getattr(part, "__name__", "") for part in known.values())
    raise PalmetteError(f"{name}={given!r}: expected {names}, or an object ({objects}).")


def _is_auto(decoding: Any) -> bool:
    return isinstance(decoding, str) and decoding == "auto"


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def _is_share(value: Any) -> bool:
    return _is_number(value) and not isinstance(value, Integral) and 0 < value <= 1


def _is_part(value: Any) -> bool:
    return _is_share(value) or _is_count(value)


def _is_part_or_root(value: Any) -> bool:
    return _is_part(value) or (isinstance(value, str) and value == "sqrt")
