"""Published settings by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.base import BaseEstimator, clone

from palmette.exceptions import PalmetteError

__all__ = ["Preset", "PresetsMixin"]


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


class PresetsMixin:
    """Gives an estimator `preset` and `presets`."""

    _presets: ClassVar[Mapping[str, Preset]] = {}

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Any:
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
        if name not in cls._presets:
            raise PalmetteError(
                f"{cls.__name__} has no preset {name!r}: expected one of {sorted(cls._presets)}."
            )
        # parts are copied, so that changing those of one estimator leaves the preset alone
        parts = {
            key: clone(value) if isinstance(value, BaseEstimator) else value
            for key, value in cls._presets[name].parameters.items()
        }
        return cls(**{**parts, **changes})

    @classmethod
    def presets(cls) -> dict[str, Preset]:
        """Return the presets by name, each with its parameters and reference."""
        return dict(cls._presets)
