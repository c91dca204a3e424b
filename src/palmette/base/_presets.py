"""Presets: published settings of an estimator by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator, clone

from palmette.exceptions import PalmetteError

__all__ = ["Preset", "preset", "presets"]


@dataclass(frozen=True)
class Preset:
    """Parameters that were published, or that serve a purpose.

    Parameters
    ----------
    summary : str
        One line.
    parameters : mapping
        Parameters of the estimator that are not at their default.
    reference : str
        Publication of the parameters, with its equations or table.
    differs : str
        What differs from print, and why; empty if nothing does, or if nothing was printed.
    """

    summary: str
    parameters: Mapping[str, Any]
    reference: str = ""
    differs: str = ""


def preset(cls: Any, /, name: str, **changes: Any) -> Any:
    """Return an estimator with the parameters of a preset.

    Parameters
    ----------
    name : str
        One of `presets`, in upper or lower case.
    **changes
        Parameters that replace those of the preset.

    Returns
    -------
    estimator
    """
    known: Mapping[str, Preset] = cls._presets
    found = [one for one in known if isinstance(name, str) and one.lower() == name.lower()]
    if not found:
        raise PalmetteError(
            f"{cls.__name__} has no preset {name!r}: expected one of {sorted(known)}."
        )
    # inner estimators are cloned, so that changing one does not change the preset
    parts = {
        key: clone(value) if isinstance(value, BaseEstimator) else value
        for key, value in known[found[0]].parameters.items()
    }
    return cls(**{**parts, **changes})


def presets(cls: Any, /) -> dict[str, Preset]:
    """Return the presets by name: parameters, reference, and what differs from print."""
    return dict(cls._presets)
