"""Routers by name, as objects, or made of scikit-learn classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from palmette.exceptions import PalmetteError
from palmette.routing.base import Router
from palmette.routing.estimator import EstimatorRouter
from palmette.routing.linear import LinearRouter
from palmette.routing.spectral import SpectralRouter

__all__ = ["resolve_router"]


def _adaboost() -> Router:
    from palmette.engine.boosted_router import BoostedRouter

    return BoostedRouter()


_ROUTERS: dict[str, Callable[[], Router]] = {
    "adaboost": _adaboost,
    "linear": LinearRouter,
    "logistic": lambda: LinearRouter("logistic"),
    "spectral": SpectralRouter,
}


def resolve_router(router: Any) -> Router:
    """Return a router of one's own.

    Parameters
    ----------
    router : str, Router or scikit-learn classifier

    Returns
    -------
    Router

    Examples
    --------
    >>> resolve_router("logistic")
    LinearRouter(loss='logistic')
    """
    if isinstance(router, Router):
        return clone(router)
    if isinstance(router, str) and router in _ROUTERS:
        return _ROUTERS[router]()
    if hasattr(router, "fit") and not isinstance(router, type):
        return EstimatorRouter(router)
    raise PalmetteError(
        f"router={router!r} is unknown: expected one of {sorted(_ROUTERS)}, an object of "
        "palmette.routing, or a scikit-learn classifier."
    )
