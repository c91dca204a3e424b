"""Published settings by name.

A class with presets has a mapping ``_presets`` and, as class methods, the two functions here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator, clone

from palmette.exceptions import PalmetteError

__all__ = ["Preset", "preset", "presets"]


@dataclass(frozen=True)
class Preset:
    """Settings that have been published, or that serve a purpose.

    Parameters
    ----------
    summary : str
        One line.
    parameters : mapping
        Of the estimator; what is left out is at its default.
    reference : str
        Where they come from.
    """

    summary: str
    parameters: Mapping[str, Any]
    reference: str = ""


def preset(cls: Any, name: str, **changes: Any) -> Any:
    """Make an estimator with settings by name.

    Parameters
    ----------
    name : str
        One of `presets`.
    **changes
        Parameters that differ from the preset.

    Returns
    -------
    estimator
    """
    known: Mapping[str, Preset] = cls._presets
    if name not in known:
        raise PalmetteError(
            f"{cls.__name__} has no preset {name!r}: expected one of {sorted(known)}."
        )
    # parts are copied, so that changing those of one estimator leaves the preset alone
    parts = {
        key: clone(value) if isinstance(value, BaseEstimator) else value
        for key, value in known[name].parameters.items()
    }
    return cls(**{**parts, **changes})


def presets(cls: Any) -> dict[str, Preset]:
    """Return the presets by name, each with its parameters and reference."""
    return dict(cls._presets)
