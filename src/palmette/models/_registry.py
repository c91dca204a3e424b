"""The registry of models that comparisons can name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy


@dataclass(frozen=True)
class ModelContext:
    """What a model is made for.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
    random_state : int
    n_jobs : int, optional
    text : bool
        Whether the features are tf-idf weights of words, whose rows have length one.
    """

    hierarchy: Hierarchy | None = None
    random_state: int = 0
    n_jobs: int | None = None
    text: bool = False


Make = Callable[[ModelContext], Any]


@dataclass(frozen=True)
class ModelSpec:
    """A model by name.

    Parameters
    ----------
    name : str
    make : callable
        Takes a ModelContext and gives an unfitted estimator.
    summary : str
        One line for the list of models.
    scale : bool
        Whether features should be standardized before it.
    takes_missing : bool
        Whether it accepts missing values.
    takes_codes : bool
        Whether it accepts categories as numbers, as trees do; else they become columns of 0/1.
    takes_sparse : bool
        Whether it accepts sparse matrices of numbers; all models accept those of texts.
    several_paths : bool
        Whether it takes several paths per row.
    in_place : bool
        Whether its `fit` reads the rows of X in place and keeps no copy in memory, so that X may be
        a file that is mapped and larger than memory. If it has a parameter `scratch`, that must be
        set, and `scratch_bytes` tells how much is written there.
    in_passes : bool
        Whether it is `palmette.local.fit_in_passes` that reads such rows, not `fit`.
    """

    name: str
    make: Make
    summary: str
    scale: bool = False
    takes_missing: bool = False
    takes_codes: bool = False
    takes_sparse: bool = True
    several_paths: bool = False
    in_place: bool = False
    in_passes: bool = False


_MODELS: dict[str, ModelSpec] = {}


def register_model(spec: ModelSpec) -> None:
    """Add a model to the registry; a name can be taken once."""
    if spec.name in _MODELS:
        raise PalmetteError(f"a model named {spec.name!r} is registered already.")
    _MODELS[spec.name] = spec


def list_models() -> list[ModelSpec]:
    """Return all models, by name."""
    return [_MODELS[name] for name in sorted(_MODELS)]


def find_model(name: str) -> ModelSpec:
    """Return the model of a name."""
    if name in _MODELS:
        return _MODELS[name]
    near = difflib.get_close_matches(name, _MODELS, n=3, cutoff=0.5)
    hint = f" Did you mean {', '.join(near)}?" if near else ""
    raise PalmetteError(
        f"there is no model {name!r} among the {len(_MODELS)} registered.{hint} "
        "`palmette models` names them all."
    )


def find_models(names: Iterable[str]) -> list[ModelSpec]:
    """Return the models of some names, in their order; each can be named once."""
    specs = [find_model(name) for name in names]
    twice = [spec.name for i, spec in enumerate(specs) if spec in specs[:i]]
    if not specs or twice:
        raise PalmetteError(
            f"the model {twice[0]!r} is named twice." if twice else "no model is named."
        )
    return specs


def make_model(
    name: str,
    hierarchy: Hierarchy | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    text: bool = False,
) -> Any:
    """Return the unfitted estimator of a name.

    Parameters
    ----------
    name : str
    hierarchy : Hierarchy, optional
    random_state : int
    n_jobs : int, optional
    text : bool
        Whether it will see tf-idf weights of words.

    Returns
    -------
    estimator

    Examples
    --------
    >>> make_model("flat-forest").estimator.n_estimators
    100
    """
    return find_model(name).make(ModelContext(hierarchy, random_state, n_jobs, text))
